//! Counters: `counter(name)` and `counterRaw(name)` as columns, `counters(..)` in `include`.

use super::{Argument, Clause, Function, Kind, Use};
use crate::plan::{CounterClause, Includes, Parameters, Refused};
use crate::rql::{Call, Expression};

pub(crate) static COUNTER: Function = Function {
    name: "counter",
    aliases: &[],
    arguments: &[Argument::required("name", Kind::Any)],
    about: "The value of a counter of the document; null if there is none. An alias before the name means that document: `counter(o, 'likes')`.",
    example: "from Orders as o select counter(o, 'likes') as Likes, o.Company",
    uses: &[Use::Known(Clause::Select)],
    missing: &[],
};

pub(crate) static COUNTER_RAW: Function = Function {
    name: "counterRaw",
    aliases: &[],
    arguments: &[Argument::required("name", Kind::Any)],
    about: "The value of a counter on each node: an object. An alias may stand before the name.",
    example: "from Orders select counterRaw('likes')",
    uses: &[Use::Known(Clause::Select)],
    missing: &[],
};

pub(super) static COUNTERS: Function = Function {
    name: "counters",
    aliases: &[],
    arguments: &[Argument::optional("path", Kind::Field), Argument::optional("names", Kind::Texts)],
    about: "Answers with `CounterIncludes`: counters of the results, or of the documents whose ids are at the path; all of them if no name is given.",
    example: "from Orders as o include counters('likes'), counters(o.Company, 'views')",
    uses: &[Use::Include(counters)],
    missing: &[],
};

fn counters(includes: &mut Includes, call: &Call<'_>, parameters: Parameters<'_>) -> Result<(), Refused> {
    let (mut path, mut names) = (None, Vec::new());
    for (at, argument) in call.arguments.iter().enumerate() {
        match argument {
            Expression::Field(field) if field.first.is_quoted && field.rest.is_empty() => {
                names.push(field.first.text.to_string());
            }
            Expression::Field(field) if at == 0 => path = Some(field.text().into_owned()),
            Expression::Value(value) => {
                let texts = parameters.texts(value)?;
                if texts.is_empty() || matches!(value.kind, crate::rql::ValueKind::Number(_)) {
                    return Err(wrong());
                }
                names.extend(texts);
            }
            _ => return Err(wrong()),
        }
    }
    includes.counters.push(CounterClause { path, names });
    Ok(())
}

fn wrong() -> Refused {
    let message =
        "Parameters of method `counters` must be a path to ids, and names of counters as texts or arrays of texts";
    Refused::Invalid(message.to_owned())
}
