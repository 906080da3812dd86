//! `regex(field, pattern)`

use super::{Argument, Function, Kind, Use};
use crate::definition::Analysis;
use crate::limits::REGEX_SIZE_MAX;
use crate::plan::{Condition, FilterCondition, FilterPlanner, Planner, Refused};
use crate::rql::Call;
use regex::{Regex, RegexBuilder};

pub(super) static REGEX: Function = Function {
    name: "regex",
    aliases: &[],
    arguments: &[Argument::required("field", Kind::Field), Argument::required("pattern", Kind::Text)],
    about: "Finds texts in which the regular expression matches a part. All terms of the field are tried.",
    example: "from Products where regex(Name, '^ch.*e$')",
    uses: &[Use::Condition(plan), Use::Filter(filter)],
    missing: &[],
};

fn plan(planner: &mut Planner<'_>, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
    let (operand, pattern) = planner.field_and_text(call, &REGEX)?;
    if planner.is_id(operand) {
        return Err(Refused::NotSupported("regex() of id()".to_owned()));
    }
    let is_lower_cased = analysis == Analysis::LowerCase;
    let field = planner.field(operand, analysis)?;
    // The terms are lower-cased, and it fits in any case, as with the reference.
    Ok(Condition::Pattern(field, compile(&pattern, is_lower_cased)?))
}

fn filter(planner: &mut FilterPlanner<'_, '_>, call: &Call<'_>) -> Result<FilterCondition, Refused> {
    let (operand, pattern) = planner.operand_and_text(call, &REGEX)?;
    Ok(FilterCondition::Pattern(operand, compile(&pattern, false)?))
}

fn compile(pattern: &str, is_case_insensitive: bool) -> Result<Regex, Refused> {
    let mut builder = RegexBuilder::new(pattern);
    let regex = builder.case_insensitive(is_case_insensitive).size_limit(REGEX_SIZE_MAX).build();
    regex.map_err(|error| Refused::Invalid(format!("'{pattern}': {error}")))
}
