//! The functions of queries with `group by`: `key()`, `count()`, `sum(field)`, and `array(field)` as a key.

use super::clause::GroupField;
use super::facet::Measures;
use super::{Argument, Clause, Function, Kind, Use};

pub(super) static KEY: Function = Function {
    name: "key",
    aliases: &[],
    arguments: &[],
    about: "The key of the group: a value, or an object where there are several keys, which can only be selected.",
    example: "from Orders group by Company select key() as Company, count()",
    uses: &[Use::Group(GroupField::Key)],
    missing: &[Clause::Select],
};

pub(super) static COUNT: Function = Function {
    name: "count",
    aliases: &[],
    arguments: &[],
    about: "How many documents the group has, or elements of an array by which it groups.",
    example: "from Orders group by Company where count() > 5 order by count() as long desc select key(), count()",
    uses: &[Use::Group(GroupField::Count)],
    missing: &[Clause::Where],
};

pub(super) static SUM: Function = Function {
    name: "sum",
    aliases: &[],
    arguments: &[Argument::required("field", Kind::Field)],
    about: "The sum of the numbers that the field has in the group or the facet.",
    example: "from Orders group by Company select key(), sum(Freight) as Freight",
    uses: &[Use::Group(GroupField::Sum), Use::Measure(Measures { sum: true, ..Measures::NONE })],
    missing: &[Clause::Where],
};

pub(super) static ARRAY: Function = Function {
    name: "array",
    aliases: &[],
    arguments: &[Argument::required("field", Kind::Field)],
    about: "Groups by the whole array that the path leads to, instead of by each of its elements.",
    example: "from Orders group by array(Lines[].Product) select key(), count()",
    uses: &[Use::Known(Clause::GroupBy)],
    missing: &[],
};
