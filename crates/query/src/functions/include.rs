//! What `include` tells about results: `explanations([options])`, `timings()`.

use super::{Argument, Function, Kind, Use};
use crate::plan::{Explanations, Includes, Options, Parameters, Refused};
use crate::rql::{Call, Expression};

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
