//! `vector.search(field, vector[, similarity[, candidates]])`
//!
//! ```text
//! field:   a field; of documents also embedding.f32_i8(field), f32_i1, i8, i1, and f32, which is the field alone
//! vector:  a parameter or a text: an array of numbers, their bytes in base64, or several of these; or embedding.forDoc(id)
//! ```
//!
//! In `exact(..)` all vectors are compared. Embeddings of texts need a model, and are refused.

use super::Refused;
use super::condition::{Asked, Condition, FieldUse, VectorQuery};
use super::index_query::Planner;
use super::parameters::Scalar;
use crate::definition::{Analysis, EMBEDDING, VectorField};
use crate::limits::VECTOR_CANDIDATES_MAX;
use crate::rql::{Call, Expression, Value};
use crate::vector::VectorOptions;

/// Vectors that are found where nothing is said, as in the reference.
const CANDIDATES_DEFAULT: usize = 16;

/// The name of the function.
pub(super) const FUNCTION: &str = "vector.search";

/// The function that stands for the vectors of a document.
const FOR_DOCUMENT: &str = "embedding.forDoc";

/// What embeddings of texts are called, and what generates them.
const OF_TEXTS: [&str; 4] = ["embedding.text", "embedding.text_i8", "embedding.text_i1", "ai.task"];

fn invalid<T>(message: String) -> Result<T, Refused> {
    Err(Refused::Invalid(message))
}

fn unknown<T>(call: &Call<'_>) -> Result<T, Refused> {
    match OF_TEXTS.into_iter().find(|name| name.eq_ignore_ascii_case(&call.name)) {
        Some(name) => Err(Refused::NotSupported(format!("{name}() in {FUNCTION}()"))),
        None => invalid(format!("Method '{}' is not supported.", call.name)),
    }
}

impl Planner<'_> {
    /// `vector.search(field, vector[, similarity[, candidates]])`
    pub(super) fn vector_search(&mut self, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
        let (operand, asked, similarity, candidates) = match call.arguments.as_slice() {
            [operand, asked] => (operand, asked, None, None),
            [operand, asked, similarity] => (operand, asked, Some(similarity), None),
            [operand, asked, similarity, candidates] => (operand, asked, Some(similarity), Some(candidates)),
            _ => return invalid(format!("Method {FUNCTION}() expects 2-4 arguments to be provided")),
        };
        let field = self.vector_field(operand)?;
        let asked = match asked {
            Expression::Value(value) => Asked::Given(self.parameters.json(value)?),
            Expression::Call(call) if call.name.eq_ignore_ascii_case(FOR_DOCUMENT) => self.document_of(call)?,
            Expression::Call(call) => return unknown(call),
            _ => return invalid(format!("Method {FUNCTION}() expects a vector as second argument")),
        };
        let wrong_similarity = || Refused::Invalid(format!("{FUNCTION}() minimumMatch must be a float"));
        let similarity_min = match self.vector_number(similarity)? {
            None => 0.0,
            Some(text) => {
                let number = text.parse().ok().filter(|number: &f32| number.is_finite());
                number.ok_or_else(wrong_similarity)?
            }
        };
        let count_max = match self.vector_number(candidates)? {
            None => CANDIDATES_DEFAULT,
            Some(text) => match text.parse() {
                Ok(count) if (1..=VECTOR_CANDIDATES_MAX).contains(&count) => count,
                _ => {
                    return invalid(format!(
                        "{FUNCTION}() numberOfCandidates must be a whole number from 1 to VECTOR_CANDIDATES_MAX = {VECTOR_CANDIDATES_MAX}, but was: {text}"
                    ));
                }
            },
        };
        let is_exact = analysis == Analysis::Exact;
        Ok(Condition::Vector(field, Box::new(VectorQuery { asked, similarity_min, count_max, is_exact, found: None })))
    }

    fn document_of(&self, call: &Call<'_>) -> Result<Asked, Refused> {
        match call.arguments.as_slice() {
            [Expression::Value(value)] => match self.parameters.scalar(value)? {
                Scalar::Text(id) => Ok(Asked::Document(id)),
                _ => invalid(format!("Method {FOR_DOCUMENT}() expects the id of a document")),
            },
            _ => invalid(format!("Method {FOR_DOCUMENT}() expects the id of a document")),
        }
    }

    /// A number as it is written; `None` where there is none, or null.
    fn vector_number(&self, given: Option<&Expression<'_>>) -> Result<Option<String>, Refused> {
        match given {
            None => Ok(None),
            Some(Expression::Value(value)) => self.vector_scalar(value),
            Some(_) => invalid(format!("Method {FUNCTION}() expects numbers behind the vector")),
        }
    }

    fn vector_scalar(&self, value: &Value<'_>) -> Result<Option<String>, Refused> {
        match self.parameters.scalar(value)? {
            Scalar::Null => Ok(None),
            Scalar::Number(text) => Ok(Some(text)),
            Scalar::Text(_) | Scalar::Boolean(_) | Scalar::Object(_) => {
                invalid(format!("{FUNCTION}() minimumMatch must be a float, and numberOfCandidates a whole number"))
            }
        }
    }

    /// The field of an index that is named, or one that is made of a field of documents.
    fn vector_field(&mut self, operand: &Expression<'_>) -> Result<FieldUse, Refused> {
        if self.is_named {
            return match operand {
                Expression::Call(call) => match unknown::<()>(call) {
                    Err(refused @ (Refused::NotSupported(_) | Refused::NoSuchSorter(_))) => Err(refused),
                    _ => invalid(format!(
                        "Method {FUNCTION}() expects that first argument will be a field name when static index is queried"
                    )),
                },
                _ => self.field(operand, Analysis::LowerCase),
            };
        }
        if self.is_grouping() {
            return invalid(format!("{FUNCTION}() of groups: vectors are neither counted nor added up, nor keys"));
        }
        let (path, options) = match operand {
            Expression::Call(call) => {
                let start = call.name.get(..EMBEDDING.len()).filter(|start| start.eq_ignore_ascii_case(EMBEDDING));
                let options = start.and_then(|_| VectorOptions::of_function(&call.name[EMBEDDING.len()..]));
                let Some(options) = options else { return unknown(call) };
                match call.arguments.as_slice() {
                    [path] => (path, options),
                    _ => return invalid(format!("Method {}() expects a field", call.name)),
                }
            }
            path => (path, VectorOptions::default()),
        };
        let path = self.path(path)?;
        if path.starts_with("@metadata") {
            return Err(Refused::NotSupported(format!("{FUNCTION}() of metadata")));
        }
        let field = VectorField { path: &path, options }.field().ok_or_else(|| {
            Refused::NotSupported(format!("commas and parentheses in the name of a field of {FUNCTION}()"))
        })?;
        let name = field.name.clone();
        self.fields.push(field);
        Ok(FieldUse { name, analysis: Analysis::LowerCase })
    }
}
