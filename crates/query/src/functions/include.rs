//! What `include` adds about results: `explanations([options])`, `timings()`, `revisions(..)`.

use documents::Date;

use super::{Argument, Function, Kind, Use};
use crate::plan::{Explanations, Includes, Options, Parameters, Refused};
use crate::rql::{Call, Expression, ValueKind};

pub(super) static EXPLANATIONS: Function = Function {
    name: "explanations",
    aliases: &[],
    arguments: &[Argument::optional("options", Kind::Options)],
    about: "Answers with `Explanations`: how the score of each result is computed. The option `GroupKey` names the field by whose value results are named in place of their ids.",
    example: "from Products where search(Name, 'lager') include explanations()",
    uses: &[Use::Include(explanations)],
    missing: &[],
};

pub(super) static TIMINGS: Function = Function {
    name: "timings",
    aliases: &[],
    arguments: &[],
    about: "Answers with `Timings`: the milliseconds of the query and of its steps.",
    example: "from Products where search(Name, 'lager') include timings()",
    uses: &[Use::Include(timings)],
    missing: &[],
};

pub(super) static REVISIONS: Function = Function {
    name: "revisions",
    aliases: &[],
    arguments: &[Argument::required("pathsOrTimes", Kind::Texts)],
    about: "Answers with `RevisionIncludes`: the revisions whose change vectors results have at a path, and the states that they had at a time.",
    example: "from Orders include revisions('Approved.Revision'), revisions('2026-01-31T12:00:00.0000000Z')",
    uses: &[Use::Include(revisions)],
    missing: &[],
};

fn explanations(includes: &mut Includes, call: &Call<'_>, parameters: Parameters<'_>) -> Result<(), Refused> {
    let options = match call.arguments.as_slice() {
        [] => None,
        [Expression::Value(options)] => Some(options),
        _ => {
            let message = "Method 'explanations()' expects zero or one argument(s) to be provided";
            return Err(Refused::Invalid(message.to_owned()));
        }
    };
    let options = Options::of(EXPLANATIONS.name, options, parameters)?;
    includes.explanations = Some(Explanations { group_key: options.text("GroupKey").map(str::to_owned) });
    Ok(())
}

fn timings(includes: &mut Includes, call: &Call<'_>, _parameters: Parameters<'_>) -> Result<(), Refused> {
    if !call.arguments.is_empty() {
        let message = "Method 'timings()' expects zero arguments to be provided";
        return Err(Refused::Invalid(message.to_owned()));
    }
    includes.has_timings = true;
    Ok(())
}

fn revisions(includes: &mut Includes, call: &Call<'_>, parameters: Parameters<'_>) -> Result<(), Refused> {
    if call.arguments.is_empty() {
        return Err(wrong_revisions());
    }
    for argument in &call.arguments {
        let texts = match argument {
            Expression::Field(field) => vec![field.text().into_owned()],
            Expression::Value(value) if !matches!(value.kind, ValueKind::Number(_)) => parameters.texts(value)?,
            _ => return Err(wrong_revisions()),
        };
        if texts.is_empty() {
            return Err(wrong_revisions());
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

fn wrong_revisions() -> Refused {
    let message = "Parameters of method `revisions` must be paths to change vectors, or times such as '2026-01-31T12:00:00.0000000Z'";
    Refused::Invalid(message.to_owned())
}
