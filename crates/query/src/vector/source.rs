//! Reading vectors from JSON, of documents and of parameters of queries.
//!
//! ```text
//! one:      [0.5, 1]   "AAAAPwAAgD8=", the bytes of its components   {"@vector": [0.5, 1]}
//! several:  an array of these
//! ```
//!
//! Vectors of [`Embedding::Int8`] end, as the published clients make them, in four bytes that say what their greatest component was
//! before. An angle does not depend on that, so they are read and left out.

use super::stored::{put_int8, put_single, put_single_as_binary, put_single_as_int8};
use super::{Embedding, VectorOptions};
use crate::limits::VECTOR_DIMENSIONS_MAX;
use documents::base64;
use json::{Kind, Raw};

/// Why something is no vector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// It is something else.
    #[error("{0}")]
    Invalid(String),
    /// It has another number of components than the field.
    #[error(
        "Attempted to index embedding with {found} dimensions, but field {field} already contains indexed embedding with {known} dimensions, or was explicitly configured for embeddings with {known} dimensions."
    )]
    Dimensions {
        /// The field.
        field: String,
        /// Its own.
        found: usize,
        /// Those of the field.
        known: usize,
    },
    /// A query asks with another number of components than the field has.
    #[error(
        "Vector field `{field}` has {known} dimensions, but the vector passed to vector.search() has {found} dimensions."
    )]
    AskedDimensions {
        /// The field.
        field: String,
        /// Those of the query.
        found: usize,
        /// Those of the field.
        known: usize,
    },
}

/// Bytes behind the components of a vector of [`Embedding::Int8`].
const GREATEST_SIZE: usize = 4;

/// The property of an object that is a vector, as clients write it.
const VECTOR: &str = "@vector";

fn invalid<T>(message: impl Into<String>) -> Result<T, VectorError> {
    Err(VectorError::Invalid(message.into()))
}

/// Takes a vector as it is to be kept, and how many components it has.
pub type Take<'t, E> = &'t mut dyn FnMut(usize, &[u8]) -> Result<(), E>;

/// Gives each vector that a value holds as it is to be kept, with how many components it has, those of [`Embedding::Binary`] in bytes. Null
/// and empty arrays hold none.
///
/// # Errors
///
/// [`VectorError`]; those of `each`.
pub fn read<E: From<VectorError>>(value: Raw<'_>, options: &VectorOptions, each: Take<'_, E>) -> Result<(), E> {
    let mut kept = Vec::new();
    let mut one = |value: Raw<'_>| {
        kept.clear();
        match read_one(value, options, &mut kept)? {
            Some(dimensions) => each(dimensions, &kept),
            None => Ok(()),
        }
    };
    if value.kind() != Kind::Array {
        return one(value);
    }
    match value.elements().find(|element| !element.is_null()).map(Raw::kind) {
        None => Ok(()),
        Some(Kind::Number) => one(value),
        Some(_) => value.elements().try_for_each(one),
    }
}

/// `None`: there is none.
fn read_one(value: Raw<'_>, options: &VectorOptions, kept: &mut Vec<u8>) -> Result<Option<usize>, VectorError> {
    let dimensions = match value.kind() {
        Kind::Null => return Ok(None),
        Kind::Object => match value.get(VECTOR).filter(|vector| vector.kind() == Kind::Array) {
            Some(vector) => return read_one(vector, options, kept),
            None => return invalid("A vector is an array of numbers, or its bytes in base64, and not an object"),
        },
        Kind::Array => {
            let mut numbers = value.elements().take(VECTOR_DIMENSIONS_MAX + GREATEST_SIZE + 1).peekable();
            if numbers.peek().is_none() {
                return Ok(None);
            }
            match options.source {
                Embedding::Single => put_numbers(&numbers.map(single).collect::<Result<Vec<_>, _>>()?, options, kept)?,
                Embedding::Int8 => put_whole(&numbers.map(whole).collect::<Result<Vec<i8>, _>>()?, kept)?,
                Embedding::Binary => put_bits(&numbers.map(whole).collect::<Result<Vec<u8>, _>>()?, kept)?,
            }
        }
        Kind::String => {
            let text = value.as_str().unwrap_or_default();
            let bytes = base64::decode(&text).filter(|bytes| !bytes.is_empty());
            let Some(bytes) = bytes else {
                let start: String = text.chars().take(32).collect();
                return invalid(format!(
                    "Expected array encoded with base64, however got: '{start}'. Embeddings of texts are not supported."
                ));
            };
            match options.source {
                Embedding::Single => {
                    let (numbers, rest) = bytes.as_chunks::<4>();
                    if !rest.is_empty() {
                        return invalid(format!("{} bytes are not numbers of four bytes each", bytes.len()));
                    }
                    let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
                    if numbers.iter().any(|number| !number.is_finite()) {
                        return invalid("A vector has only finite numbers");
                    }
                    put_numbers(&numbers, options, kept)?
                }
                Embedding::Int8 => put_whole(&bytes.iter().map(|byte| byte.cast_signed()).collect::<Vec<i8>>(), kept)?,
                Embedding::Binary => put_bits(&bytes, kept)?,
            }
        }
        Kind::Bool | Kind::Number => {
            return invalid("A vector is an array of numbers, or its bytes in base64, and not a single value");
        }
    };
    if dimensions > VECTOR_DIMENSIONS_MAX {
        return invalid(format!("a vector exceeds the limit VECTOR_DIMENSIONS_MAX = {VECTOR_DIMENSIONS_MAX}"));
    }
    Ok(Some(dimensions))
}

fn put_numbers(numbers: &[f32], options: &VectorOptions, kept: &mut Vec<u8>) -> Result<usize, VectorError> {
    match options.destination {
        Embedding::Single => put_single(numbers, kept),
        Embedding::Int8 => put_single_as_int8(numbers, kept),
        Embedding::Binary => put_single_as_binary(numbers, kept),
    }
    Ok(numbers.len())
}

fn put_whole(numbers: &[i8], kept: &mut Vec<u8>) -> Result<usize, VectorError> {
    match numbers.len().checked_sub(GREATEST_SIZE).filter(|count| *count > 0) {
        Some(count) => {
            put_int8(&numbers[..count], kept);
            Ok(count)
        }
        None => invalid("A vector of Int8 has four bytes behind its components, and at least one of these"),
    }
}

fn put_bits(bytes: &[u8], kept: &mut Vec<u8>) -> Result<usize, VectorError> {
    kept.extend_from_slice(bytes);
    Ok(bytes.len())
}

fn shown(value: Raw<'_>) -> String {
    String::from_utf8_lossy(value.bytes()).chars().take(32).collect()
}

fn single(value: Raw<'_>) -> Result<f32, VectorError> {
    let number = if value.kind() == Kind::Number { value.as_f64() } else { None };
    match number.map(|number| number as f32).filter(|number| number.is_finite()) {
        Some(number) => Ok(number),
        None => invalid(format!("A component of a vector must be a number of 32 bits, and not {}", shown(value))),
    }
}

fn whole<N: TryFrom<i64>>(value: Raw<'_>) -> Result<N, VectorError> {
    let number = if value.kind() == Kind::Number { value.as_i64() } else { None };
    match number.and_then(|number| N::try_from(number).ok()) {
        Some(number) => Ok(number),
        None => {
            invalid(format!("A component of a vector must be a whole number of one byte, and not {}", shown(value)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Embedding::{Binary, Int8, Single};

    /// How many components each vector has, or what is wrong.
    fn dimensions(text: &str, source: Embedding, destination: Embedding) -> Result<Vec<usize>, String> {
        let mut found = Vec::new();
        let given = json::Value::parse(text.as_bytes()).unwrap().to_vec();
        let read = read(Raw::new(&given), &VectorOptions::of(source, destination), &mut |dimensions, _| {
            found.push(dimensions);
            Ok::<(), VectorError>(())
        });
        read.map(|()| found).map_err(|error| error.to_string())
    }

    #[test]
    fn vectors_are_arrays_texts_and_objects_alone_or_several() {
        for (text, expected) in [
            ("[1, 0.5]", vec![2]),
            (r#""AACAPwAAAAA=""#, vec![2]),
            (r#"{"@vector":[1,2,3]}"#, vec![3]),
            (r#"[[1,2],[3]]"#, vec![2, 1]),
            (r#"["AACAPwAAAAA=",{"@vector":[1]},null]"#, vec![2, 1]),
            ("null", vec![]),
            ("[]", vec![]),
            ("[[]]", vec![]),
            ("[null]", vec![]),
        ] {
            assert_eq!(dimensions(text, Single, Single), Ok(expected), "{text}");
        }
        assert_eq!(dimensions("[127,-128,0,0,-128,63]", Int8, Int8), Ok(vec![2]));
        assert_eq!(dimensions("[255,0]", Binary, Binary), Ok(vec![2]));
        assert_eq!(dimensions("[1,2,3,4,5,6,7,8,9]", Single, Binary), Ok(vec![9]));
    }

    #[test]
    fn what_is_no_vector_is_told() {
        for text in ["5", "true", r#""zzz""#, r#""""#, r#"["a",1]"#, "[1,null]", "[1e300]", r#"{"a":1}"#, r#""AAA=""#] {
            assert!(dimensions(text, Single, Single).is_err(), "{text}");
        }
        for text in ["[128,0,0,0,0]", "[1.5,0,0,0,0]", "[1,2,3,4]"] {
            assert!(dimensions(text, Int8, Int8).is_err(), "{text}");
        }
        assert!(dimensions("[-1]", Binary, Binary).is_err());
        let long = format!("[{}1]", "1,".repeat(VECTOR_DIMENSIONS_MAX));
        assert!(dimensions(&long, Single, Single).unwrap_err().contains("VECTOR_DIMENSIONS_MAX"));
    }
}
