//! `boost(condition, factor)`

use super::{Argument, Function, Kind, Use};
use crate::definition::Analysis;
use crate::plan::{Condition, Planner, Refused};
use crate::rql::{Call, Expression};

pub(super) static BOOST: Function = Function {
    name: "boost",
    aliases: &[],
    arguments: &[Argument::required("condition", Kind::Condition), Argument::required("factor", Kind::Number)],
    about: "Finds what the condition finds, and multiplies its part of the score by the factor. Without `order by` the best score comes first.",
    example: "from Products where boost(Name = 'Chai', 2.5) or Category = 'categories/1-A'",
    uses: &[Use::Condition(plan)],
    missing: &[],
};

fn plan(planner: &mut Planner<'_>, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
    let [condition, Expression::Value(value)] = call.arguments.as_slice() else {
        return Err(BOOST.wrong_arguments());
    };
    let boost = planner.number(value).ok_or_else(|| BOOST.wrong_arguments())?;
    Ok(Condition::Boosted(Box::new(planner.condition(condition, analysis)?), boost))
}
