//! What `order by` sorts by, other than fields, ids and distances: `score()`, `random([seed])`, `custom(field, sorter)`.

use super::{Argument, Clause, Function, Kind, Use};
use crate::plan::{Planner, Refused, SortBy};
use crate::rql::{Call, Expression};

pub(super) static SCORE: Function = Function {
    name: "score",
    aliases: &[],
    arguments: &[],
    about: "How well a result fits the query; the best comes first, with `desc` the worst.",
    example: "from Products where search(Name, 'lager') order by score()",
    uses: &[Use::Order(|_, _| Ok(SortBy::Score))],
    missing: &[],
};

pub(super) static RANDOM: Function = Function {
    name: "random",
    aliases: &[],
    arguments: &[Argument::optional("seed", Kind::Text)],
    about: "An order by chance: with a seed always the same, without one another with each request.",
    example: "from Products order by random('seed')",
    uses: &[Use::Order(random)],
    missing: &[],
};

/// A sorter that users write in C#, which cannot be stored here: the call is refused as with a sorter that does not exist.
pub(super) static CUSTOM: Function = Function {
    name: "custom",
    aliases: &[],
    arguments: &[Argument::required("field", Kind::Field), Argument::required("sorter", Kind::Sorter)],
    about: "An order by a sorter in C# of the user's.",
    example: "from Products order by custom(Name, 'MySorter')",
    uses: &[Use::Order(custom)],
    missing: &[Clause::OrderBy],
};

fn random(planner: &mut Planner<'_>, call: &Call<'_>) -> Result<SortBy, Refused> {
    match call.arguments.as_slice() {
        [] => Ok(SortBy::Random(None)),
        [Expression::Value(value)] => match planner.parameters.scalar(value)?.text() {
            Some(seed) => Ok(SortBy::Random(Some(seed))),
            None => Err(RANDOM.wrong_arguments()),
        },
        _ => Err(RANDOM.wrong_arguments()),
    }
}

fn custom(planner: &mut Planner<'_>, call: &Call<'_>) -> Result<SortBy, Refused> {
    let name = match call.arguments.as_slice() {
        [_, Expression::Value(name)] => planner.parameters.scalar(name).ok().and_then(|name| name.text()),
        _ => None,
    };
    Err(name.map_or_else(|| CUSTOM.wrong_arguments(), Refused::NoSuchSorter))
}
