//! `fuzzy(field = text, similarity)`

use super::{Argument, Function, Kind, Use};
use crate::definition::Analysis;
use crate::plan::{Condition, Planner, Refused, Scalar, TextQuery, check_bound};
use crate::rql::{Call, Expression, Operator};

pub(super) static FUZZY: Function = Function {
    name: "fuzzy",
    aliases: &[],
    arguments: &[
        Argument::required("field = text", Kind::Equality),
        Argument::required("similarity", Kind::Similarity),
    ],
    about: "Finds texts that differ from the text in a few characters. The similarity is from 0 to below 1: the higher, the fewer may differ.",
    example: "from Companies where fuzzy(Name = 'Ernst Handl', 0.5)",
    uses: &[Use::Condition(plan)],
    missing: &[],
};

fn plan(planner: &mut Planner<'_>, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
    let wrong = || FUZZY.wrong_arguments();
    let [Expression::Compare(comparison), Expression::Value(similarity)] = call.arguments.as_slice() else {
        return Err(wrong());
    };
    let (Operator::Equal, Expression::Value(value)) = (comparison.operator, &comparison.right) else {
        return Err(wrong());
    };
    let Scalar::Text(text) = planner.parameters.scalar(value)? else { return Err(wrong()) };
    let similarity = planner.number(similarity).filter(|number| (0.0..1.0).contains(number)).ok_or_else(wrong)?;
    check_bound(&text)?;
    let field = planner.field(&comparison.left, analysis)?;
    Ok(Condition::Words(field, TextQuery::Fuzzy { text, similarity }))
}
