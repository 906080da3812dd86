//! `getMetadata(document)` as a column. It is JavaScript, so its case counts, and scripts may call it anywhere.

use super::{Argument, Clause, Function, Kind, Use};

pub(crate) static GET_METADATA: Function = Function {
    name: "getMetadata",
    aliases: &[],
    arguments: &[Argument::required("alias", Kind::Alias)],
    about: "The metadata of the document, as in JavaScript. The case of its letters counts.",
    example: "from Orders as o select getMetadata(o)",
    uses: &[Use::Known(Clause::Select)],
    missing: &[],
};
