//! `include`: documents that are returned with the results, and information about the results.

use documents::{Date, RevisionClause};

use crate::functions::{self, Function};
use crate::plan::{Parameters, Refused};
use crate::rql::{Call, Expression, Query};

/// What comes with results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Includes {
    /// Paths to ids of documents, without the alias.
    pub paths: Vec<String>,
    /// Paths to keys of compare-exchange values, without the alias.
    pub values: Vec<String>,
    pub explanations: Option<Explanations>,
    /// Counters.
    pub counters: Vec<CounterClause>,
    /// Paths to change vectors of revisions: with the alias, until the clause is planned.
    pub revision_paths: Vec<String>,
    /// Times whose states of the results come with them.
    pub revision_times: Vec<Date>,
    /// True if the clause has `timings()`.
    pub has_timings: bool,
}

/// `counters([path,] names)`: counters of results, or of documents that they name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterClause {
    /// The path to the ids of the documents, without the alias; `None`: the results themselves.
    pub path: Option<String>,
    /// The names; empty: all counters.
    pub names: Vec<String>,
}

/// `explanations([options])`: why results score what they do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanations {
    /// The field by whose value results are named; `None`: by their ids.
    pub group_key: Option<String>,
}

impl Includes {
    /// # Errors
    ///
    /// [`Refused`]
    pub fn plan(query: &Query<'_>, parameters: Parameters<'_>) -> Result<Includes, Refused> {
        let mut includes = Includes::default();
        let wrong = || Refused::Invalid("'include' needs a path to ids of documents".to_owned());
        for include in &query.include {
            match include {
                Expression::Field(path) => includes.paths.push(without_alias(&path.text(), query)?),
                Expression::Value(value) => match parameters.texts(value)?.as_slice() {
                    [path] => includes.paths.push(without_alias(path, query)?),
                    _ => return Err(wrong()),
                },
                Expression::Call(call) => match functions::find(&call.name).and_then(Function::include) {
                    Some(plan) => plan(&mut includes, call, parameters)?,
                    None if functions::CMPXCHG.is(&call.name) => {
                        includes.values.push(without_alias(&path_of_value(call, parameters)?, query)?);
                    }
                    None => return Err(Refused::call(&call.name, "in 'include'")),
                },
                _ => return Err(wrong()),
            }
        }
        for counters in &mut includes.counters {
            let is_alias = counters.path.is_some() && counters.path.as_deref() == query.from.alias.as_deref();
            counters.path = match counters.path.take().filter(|_| !is_alias) {
                Some(path) => Some(without_alias(&path, query)?),
                None => None,
            };
        }
        let paths = std::mem::take(&mut includes.revision_paths);
        includes.revision_paths = paths.iter().map(|path| without_alias(path, query)).collect::<Result<_, _>>()?;
        Ok(includes)
    }

    /// Which revisions come with results.
    pub fn revisions(&self) -> RevisionClause {
        let mut clause = RevisionClause::default();
        self.revision_paths.iter().for_each(|path| clause.add_path(path));
        self.revision_times.iter().for_each(|time| clause.add_time(*time));
        clause
    }
}

/// The path in `cmpxchg(path)`: a field, or a text.
fn path_of_value(call: &Call<'_>, parameters: Parameters<'_>) -> Result<String, Refused> {
    let wrong = || Refused::Invalid("cmpxchg(path) in 'include' needs a path to keys".to_owned());
    match call.arguments.as_slice() {
        [Expression::Field(path)] => Ok(path.text().into_owned()),
        [Expression::Value(value)] => match <[String; 1]>::try_from(parameters.texts(value)?) {
            Ok([path]) => Ok(path),
            Err(_) => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// A path to ids, without the alias that it begins with: that of `from`, in any case, or one of `load`.
///
/// # Errors
///
/// [`Refused::Invalid`] if a path of several names begins with another name, in a query with aliases.
fn without_alias(path: &str, query: &Query<'_>) -> Result<String, Refused> {
    let (Some(alias), Some((first, rest))) = (query.from.alias.as_deref(), path.split_once('.')) else {
        return Ok(path.to_owned());
    };
    if first.eq_ignore_ascii_case(alias) || query.load.iter().any(|load| load.alias == first) {
        return Ok(rest.to_owned());
    }
    let aliases: Vec<&str> = std::iter::once(alias).chain(query.load.iter().map(|load| &*load.alias)).collect();
    let aliases = aliases.join(", ");
    let message = format!("Unknown alias {first}, but there are aliases specified in the query ({aliases})");
    Err(Refused::Invalid(message))
}
