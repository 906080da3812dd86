//! `include`: documents that come with results, and what is told about results besides.

use super::{Parameters, Refused, highlight, without_alias};
use crate::rql::{Expression, Query};

/// What comes with results.
#[derive(Clone, Debug, Default)]
pub(super) struct Includes {
    /// Paths to ids of documents, without the alias.
    pub paths: Vec<String>,
}

impl Includes {
    /// # Errors
    ///
    /// [`Refused`]
    pub fn plan(query: &Query<'_>, parameters: Parameters<'_>) -> Result<Includes, Refused> {
        let alias = query.from.alias.as_deref();
        let mut includes = Includes::default();
        let wrong = || Refused::Invalid("'include' needs a path to ids of documents".to_owned());
        for include in &query.include {
            match include {
                // Planned with the fields of the index.
                include if highlight::highlight(include).is_some() => {}
                Expression::Field(path) => includes.paths.push(without_alias(path, alias)),
                Expression::Value(value) => match parameters.texts(value)?.as_slice() {
                    [path] => includes.paths.push(path.clone()),
                    _ => return Err(wrong()),
                },
                Expression::Call(call) => {
                    return Err(Refused::NotSupported(format!("'include' of {}()", call.name)));
                }
                _ => return Err(wrong()),
            }
        }
        Ok(includes)
    }
}
