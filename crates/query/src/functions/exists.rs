//! `exists(field)`

use super::{Argument, Function, Kind, Use};
use crate::definition::Analysis;
use crate::plan::{Condition, FilterCondition, FilterPlanner, Planner, Refused};
use crate::rql::Call;

pub(super) static EXISTS: Function = Function {
    name: "exists",
    aliases: &[],
    arguments: &[Argument::required("field", Kind::Field)],
    about: "Finds what has the field, also if its value is null.",
    example: "from Orders where exists(ShippedAt)",
    uses: &[Use::Condition(plan), Use::Filter(filter)],
    missing: &[],
};

fn plan(planner: &mut Planner<'_>, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
    match call.arguments.as_slice() {
        [field] => Ok(Condition::Exists(planner.field(field, analysis)?)),
        _ => Err(EXISTS.wrong_arguments()),
    }
}

fn filter(planner: &mut FilterPlanner<'_, '_>, call: &Call<'_>) -> Result<FilterCondition, Refused> {
    match call.arguments.as_slice() {
        [operand] => Ok(FilterCondition::Exists(planner.operand(operand)?)),
        _ => Err(EXISTS.wrong_arguments()),
    }
}
