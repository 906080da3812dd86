//! `when(value, condition)`: a condition that counts if a value is true.

use super::{Argument, Function, Kind, Use};
use crate::definition::Analysis;
use crate::plan::{Condition, FilterCondition, FilterPlanner, Parameters, Planner, Refused, Scalar};
use crate::rql::{Call, Expression};

pub(super) static WHEN: Function = Function {
    name: "when",
    aliases: &[],
    arguments: &[Argument::required("value", Kind::Any), Argument::required("condition", Kind::Condition)],
    about: "The condition if the value, mostly a parameter, is true. If it is false or null, the query is as if the condition did not stand there.",
    example: "from Orders where when(true, Freight > 10) and Employee = 'employees/1-A'",
    uses: &[Use::Condition(plan), Use::Filter(filter)],
    missing: &[],
};

fn parts<'c, 'q>(call: &'c Call<'q>) -> Result<(&'c Expression<'q>, &'c Expression<'q>), Refused> {
    match call.arguments.as_slice() {
        [value, condition] => Ok((value, condition)),
        _ => Err(WHEN.wrong_arguments()),
    }
}

/// Whether a condition is to be left out, because all that it is made of stands in `when` with a false value.
///
/// # Errors
///
/// A value of `when` is neither true, false nor null.
pub(crate) fn is_left_out(condition: &Expression<'_>, parameters: Parameters<'_>) -> Result<bool, Refused> {
    match condition {
        Expression::Call(call) if WHEN.is(&call.name) => {
            let (Expression::Value(value), condition) = parts(call)? else { return Err(WHEN.wrong_arguments()) };
            match parameters.scalar(value)? {
                Scalar::Boolean(true) => is_left_out(condition, parameters),
                Scalar::Boolean(false) | Scalar::Null => Ok(true),
                _ => Err(Refused::Invalid("the first argument of when() is true, false or null".to_owned())),
            }
        }
        Expression::And(operands) | Expression::Or(operands) => {
            for operand in operands {
                if !is_left_out(operand, parameters)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Expression::Not(operand) => is_left_out(operand, parameters),
        _ => Ok(false),
    }
}

fn plan(planner: &mut Planner<'_>, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
    planner.condition(parts(call)?.1, analysis)
}

fn filter(planner: &mut FilterPlanner<'_, '_>, call: &Call<'_>) -> Result<FilterCondition, Refused> {
    planner.condition(parts(call)?.1)
}
