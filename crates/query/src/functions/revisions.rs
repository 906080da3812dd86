//! `revisions(..)` in `include`: revisions whose change vectors documents have, and the states of documents at a time.

use documents::Date;

use super::{Argument, Function, Kind, Use};
use crate::plan::{Includes, Parameters, Refused};
use crate::rql::{Call, Expression};

pub(super) static REVISIONS: Function = Function {
    name: "revisions",
    aliases: &[],
    arguments: &[Argument::required("pathsOrTimes", Kind::Texts)],
    about: "Answers with `RevisionIncludes`: the revisions whose change vectors results have at a path, and the states that they had at a time.",
    example: "from Orders include revisions('Approved.Revision'), revisions('2026-01-31T12:00:00.0000000Z')",
    uses: &[Use::Include(revisions)],
    missing: &[],
};

fn revisions(includes: &mut Includes, call: &Call<'_>, parameters: Parameters<'_>) -> Result<(), Refused> {
    if call.arguments.is_empty() {
        return Err(wrong());
    }
    for argument in &call.arguments {
        let texts = match argument {
            Expression::Field(field) => vec![field.text().into_owned()],
            Expression::Value(value) if !matches!(value.kind, crate::rql::ValueKind::Number(_)) => {
                parameters.texts(value)?
            }
            _ => return Err(wrong()),
        };
        if texts.is_empty() {
            return Err(wrong());
        }
        for text in texts {
            match Date::parse(&text) {
                Some(time) => includes.revision_times.push(time),
                None => includes.revision_paths.push(text),
            }
        }
    }
    Ok(())
}

fn wrong() -> Refused {
    let message = "Parameters of method `revisions` must be paths to change vectors, or times such as '2026-01-31T12:00:00.0000000Z'";
    Refused::Invalid(message.to_owned())
}
