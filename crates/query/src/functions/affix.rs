//! `startsWith(field, text)` and `endsWith(field, text)`

use super::{Argument, Function, Kind, Use};
use crate::definition::Analysis;
use crate::plan::{
    Condition, Filter, FilterCondition, FilterPlanner, Parameters, Planner, Refused, check_bound, is_id,
};
use crate::rql::{Call, Expression};

const ARGUMENTS: &[Argument] = &[Argument::required("field", Kind::Field), Argument::required("text", Kind::Text)];

pub(super) static STARTS_WITH: Function = Function {
    name: "startsWith",
    aliases: &[],
    arguments: ARGUMENTS,
    about: "Finds texts that begin with the text. `startsWith(id(), text)` alone needs no index.",
    example: "from Products where startsWith(Name, 'ch')",
    uses: &[Use::Condition(starts_with), Use::Collection(ids), Use::Filter(filter_start)],
    missing: &[],
};

pub(super) static ENDS_WITH: Function = Function {
    name: "endsWith",
    aliases: &[],
    arguments: ARGUMENTS,
    about: "Finds texts that end with the text.",
    example: "from Products where endsWith(Name, 'lager')",
    uses: &[Use::Condition(ends_with), Use::Filter(filter_end)],
    missing: &[],
};

fn starts_with(planner: &mut Planner<'_>, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
    let (operand, text) = planner.field_and_text(call, &STARTS_WITH)?;
    if planner.is_id(operand) {
        return Ok(Condition::IdPrefix(text));
    }
    let field = planner.field(operand, analysis)?;
    check_bound(&text)?;
    Ok(Condition::Prefix(field, text))
}

fn ends_with(planner: &mut Planner<'_>, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
    let (operand, text) = planner.field_and_text(call, &ENDS_WITH)?;
    if planner.is_id(operand) {
        return Err(Refused::NotSupported("endsWith() of id()".to_owned()));
    }
    let field = planner.field(operand, analysis)?;
    check_bound(&text)?;
    Ok(Condition::Suffix(field, text))
}

/// `startsWith(id(), text)` alone: a range of a collection.
fn ids(call: &Call<'_>, alias: Option<&str>, parameters: Parameters<'_>) -> Result<Option<Filter>, Refused> {
    match call.arguments.as_slice() {
        [id, Expression::Value(value)] if is_id(id, alias) => match parameters.texts(value)?.as_slice() {
            [prefix] => Ok(Some(Filter::IdPrefix(prefix.clone()))),
            _ => Err(Refused::Invalid("startsWith() needs one text".to_owned())),
        },
        _ => Ok(None),
    }
}

fn filter_start(planner: &mut FilterPlanner<'_, '_>, call: &Call<'_>) -> Result<FilterCondition, Refused> {
    let (operand, text) = planner.operand_and_text(call, &STARTS_WITH)?;
    Ok(FilterCondition::Prefix(operand, text))
}

fn filter_end(planner: &mut FilterPlanner<'_, '_>, call: &Call<'_>) -> Result<FilterCondition, Refused> {
    let (operand, text) = planner.operand_and_text(call, &ENDS_WITH)?;
    Ok(FilterCondition::Suffix(operand, text))
}
