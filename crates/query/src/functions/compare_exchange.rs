//! `cmpxchg(key)`: compare-exchange values, as a value that is compared, as a column, and beside the results.

use super::{Argument, Clause, Function, Kind, Use};

pub(crate) static CMPXCHG: Function = Function {
    name: "cmpxchg",
    aliases: &[],
    arguments: &[Argument::required("key", Kind::Any)],
    about: "The `Object` of the compare-exchange value with a key, `null` if there is none. As a value it is read when the query begins. In `include` its \
            argument is a path to keys: the answer has their values in `CompareExchangeValueIncludes`.",
    example: "from Users select Name, cmpxchg('names/best') as Best",
    uses: &[Use::Known(Clause::Value), Use::Known(Clause::Select), Use::Known(Clause::Include)],
    missing: &[],
};
