//! `vector.search(field, vector[, similarity[, candidates]])`
//!
//! ```text
//! field:   a field; of documents also embedding.f32_i8(field), f32_i1, i8, i1, and f32, which is the field alone
//! vector:  a parameter or a text: an array of numbers, their bytes in base64, or several of these; or embedding.forDoc(id)
//! ```
//!
//! In `exact(..)` all vectors are compared. Embeddings of texts need a model, and are refused.

use super::{Argument, Clause, Function, Kind, Use, find};
use crate::definition::{Analysis, VectorField};
use crate::limits::VECTOR_CANDIDATES_MAX;
use crate::plan::{Condition, FieldUse, Planner, Refused, Scalar, VectorQuery, VectorTarget};
use crate::rql::{Call, Expression, Value};
use crate::vector::{Embedding, VectorOptions};

/// Vectors that are found where nothing is said, as in the reference.
const CANDIDATES_DEFAULT: usize = 16;

/// The name of the function, as errors have it.
const FUNCTION: &str = "vector.search";

pub(super) static SEARCH: Function = Function {
    name: FUNCTION,
    aliases: &[],
    arguments: &[
        Argument::required("field", Kind::VectorField),
        Argument::required("vector", Kind::Vector),
        Argument::optional("similarity", Kind::Number),
        Argument::optional("candidates", Kind::WholeNumber),
    ],
    about: "Finds as many vectors as candidates, 16 unless said, that are nearest to the vector and have at least the similarity, from 0 to 1. A vector is an array of numbers, their bytes in base64, or several of these.",
    example: "from Items where vector.search(Embedding, $vector, 0.8)",
    uses: &[Use::Condition(|planner, call, analysis| planner.vector_search(call, analysis))],
    missing: &[Clause::Select],
};

const EMBEDDED: &[Argument] = &[Argument::required("field", Kind::Field)];

pub(super) static F32: Function = Function {
    name: "embedding.f32",
    aliases: &[],
    arguments: EMBEDDED,
    about: "Vectors of numbers, which is what a field alone means.",
    example: "from Items where vector.search(embedding.f32(Embedding), $vector)",
    uses: &[Use::VectorField(VectorOptions::of(Embedding::Single, Embedding::Single))],
    missing: &[],
};

pub(super) static F32_I8: Function = Function {
    name: "embedding.f32_i8",
    aliases: &[],
    arguments: EMBEDDED,
    about: "Vectors of numbers, which the index keeps as bytes.",
    example: "from Items where exact(vector.search(embedding.f32_i8(Embedding), $vector))",
    uses: &[Use::VectorField(VectorOptions::of(Embedding::Single, Embedding::Int8))],
    missing: &[],
};

pub(super) static F32_I1: Function = Function {
    name: "embedding.f32_i1",
    aliases: &[],
    arguments: EMBEDDED,
    about: "Vectors of numbers, which the index keeps as bits.",
    example: "from Items where vector.search(embedding.f32_i1(Embedding), $vector)",
    uses: &[Use::VectorField(VectorOptions::of(Embedding::Single, Embedding::Binary))],
    missing: &[],
};

pub(super) static I8: Function = Function {
    name: "embedding.i8",
    aliases: &[],
    arguments: EMBEDDED,
    about: "Vectors of whole numbers from -128 to 127.",
    example: "from Items where vector.search(embedding.i8(Embedding), $vector)",
    uses: &[Use::VectorField(VectorOptions::of(Embedding::Int8, Embedding::Int8))],
    missing: &[],
};

pub(super) static I1: Function = Function {
    name: "embedding.i1",
    aliases: &[],
    arguments: EMBEDDED,
    about: "Vectors of bits, eight to a byte.",
    example: "from Items where vector.search(embedding.i1(Embedding), $vector)",
    uses: &[Use::VectorField(VectorOptions::of(Embedding::Binary, Embedding::Binary))],
    missing: &[],
};

pub(super) static FOR_DOCUMENT: Function = Function {
    name: "embedding.forDoc",
    aliases: &[],
    arguments: &[Argument::required("id", Kind::Id)],
    about: "The vectors that a document has in the index.",
    example: "from Items where vector.search(Embedding, embedding.forDoc('items/1-A'))",
    uses: &[Use::Vector(|planner, call| planner.vectors_of_document(call))],
    missing: &[],
};

fn invalid<T>(message: String) -> Result<T, Refused> {
    Err(Refused::Invalid(message))
}

fn unknown<T>(call: &Call<'_>) -> Result<T, Refused> {
    match find(&call.name) {
        Some(function) if function.is_missing(Clause::Vector) => {
            Err(Refused::call(function.name, &format!("in {FUNCTION}()")))
        }
        _ => invalid(format!("Method '{}' is not supported.", call.name)),
    }
}

impl Planner<'_> {
    /// `vector.search(field, vector[, similarity[, candidates]])`
    fn vector_search(&mut self, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
        let (operand, asked, similarity, candidates) = match call.arguments.as_slice() {
            [operand, asked] => (operand, asked, None, None),
            [operand, asked, similarity] => (operand, asked, Some(similarity), None),
            [operand, asked, similarity, candidates] => (operand, asked, Some(similarity), Some(candidates)),
            _ => return invalid(format!("Method {FUNCTION}() expects 2-4 arguments to be provided")),
        };
        let field = self.vector_field(operand)?;
        let asked = match asked {
            Expression::Value(value) => VectorTarget::Given(self.parameters.json(value)?),
            Expression::Call(call) => match find(&call.name).and_then(Function::vector) {
                Some(plan) => plan(self, call)?,
                None => return unknown(call),
            },
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

    /// `embedding.forDoc(id)`
    fn vectors_of_document(&self, call: &Call<'_>) -> Result<VectorTarget, Refused> {
        let name = FOR_DOCUMENT.name;
        match call.arguments.as_slice() {
            [Expression::Value(value)] => match self.parameters.scalar(value)? {
                Scalar::Text(id) => Ok(VectorTarget::Document(id)),
                _ => invalid(format!("Method {name}() expects the id of a document")),
            },
            _ => invalid(format!("Method {name}() expects the id of a document")),
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
                    Err(
                        refused @ (Refused::MissingFeature(_) | Refused::NotSupported(_) | Refused::NoSuchSorter(_)),
                    ) => Err(refused),
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
                let Some(options) = find(&call.name).and_then(Function::vector_field) else { return unknown(call) };
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
        Ok(self.need(field, Analysis::LowerCase))
    }
}
