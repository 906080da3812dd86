//! `intersect(condition, condition, …)`

use super::{Argument, Function, Kind, Use};
use crate::definition::Analysis;
use crate::plan::{Condition, Planner, Refused};
use crate::rql::Call;

pub(super) static INTERSECT: Function = Function {
    name: "intersect",
    aliases: &[],
    arguments: &[Argument::required("condition, condition, …", Kind::Conditions)],
    about: "Finds documents that have, for each condition, an entry that matches it. The entries may differ: a map may produce several for one document.",
    example: "from index 'Orders/ByLine' where intersect(Product = 'products/1-A', Product = 'products/2-A')",
    uses: &[Use::Condition(plan)],
    missing: &[],
};

/// Entries of the first, of documents that the others find, too.
fn plan(planner: &mut Planner<'_>, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
    match call.arguments.as_slice() {
        [] | [_] => Err(INTERSECT.wrong_arguments()),
        operands => {
            let mut conditions = planner.conditions(operands, analysis)?.into_iter();
            let first = conditions.next();
            let others = conditions.map(|condition| Condition::OfDocuments(Box::new(condition)));
            Ok(Condition::And(first.into_iter().chain(others).collect()))
        }
    }
}
