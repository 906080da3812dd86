//! `proximity(search(field, words), distance)`

use super::search::{SEARCH, Search};
use super::{Argument, Function, Kind, Use};
use crate::definition::Analysis;
use crate::plan::{Condition, Planner, Refused, TextQuery, Wildcard};
use crate::rql::{Call, Expression};

pub(super) static PROXIMITY: Function = Function {
    name: "proximity",
    aliases: &[],
    arguments: &[
        Argument::required("search(field, words)", Kind::Search),
        Argument::required("distance", Kind::WholeNumber),
    ],
    about: "Finds texts that have all words of the search near each other: moved by no more than the distance, in words, they are a phrase.",
    example: "from Employees where proximity(search(Notes, 'degree psychology'), 3)",
    uses: &[Use::Condition(plan)],
    missing: &[],
};

fn plan(planner: &mut Planner<'_>, call: &Call<'_>, _analysis: Analysis) -> Result<Condition, Refused> {
    let wrong = || PROXIMITY.wrong_arguments();
    let [Expression::Call(search), Expression::Value(distance)] = call.arguments.as_slice() else {
        return Err(wrong());
    };
    if !SEARCH.is(&search.name) {
        return Err(wrong());
    }
    let is_whole = |number: &f32| *number >= 0.0 && number.fract() == 0.0;
    let distance = planner.number(distance).filter(is_whole).ok_or_else(wrong)?;
    let Search { field, parts, .. } = Search::of(planner, search)?;
    if parts.iter().any(|part| part.wildcard != Wildcard::None) {
        let message = "Proximity search works only on simple string terms, not wildcard or prefix ones";
        return Err(Refused::Invalid(message.to_owned()));
    }
    Ok(Condition::Words(field, TextQuery::Proximity { parts, distance: distance as u32 }))
}
