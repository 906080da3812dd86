//! `exact(condition)`

use super::{Argument, Function, Kind, Use};
use crate::definition::Analysis;
use crate::plan::{Condition, FilterCondition, FilterPlanner, Planner, Refused};
use crate::rql::Call;

pub(super) static EXACT: Function = Function {
    name: "exact",
    aliases: &[],
    arguments: &[Argument::required("condition", Kind::Condition)],
    about: "Compares texts in the condition as they are, not lower-cased, and all vectors instead of those that the graph leads to.",
    example: "from Products where exact(Name = 'Chai')",
    uses: &[Use::Condition(plan), Use::Filter(filter)],
    missing: &[],
};

fn plan(planner: &mut Planner<'_>, call: &Call<'_>, _analysis: Analysis) -> Result<Condition, Refused> {
    match call.arguments.as_slice() {
        [condition] => planner.condition(condition, Analysis::Exact),
        _ => Err(EXACT.wrong_arguments()),
    }
}

/// `filter` compares texts as they are in any case.
fn filter(planner: &mut FilterPlanner<'_, '_>, call: &Call<'_>) -> Result<FilterCondition, Refused> {
    match call.arguments.as_slice() {
        [condition] => planner.condition(condition),
        _ => Err(EXACT.wrong_arguments()),
    }
}
