//! Fields whose names are known only when a map in JavaScript runs: `createField(name, value, options)`, or the same as an object
//! `{ $name, $value, $options }`.

use super::super::error::MapError;
use super::super::special::{DynamicField, FieldOptions};
use super::super::value::Value;
use super::values::owned;
use json::{Kind, Raw};
use std::borrow::Cow;
use std::rc::Rc;

/// The name of the function.
pub(super) const FUNCTION: &str = "createField";

/// The function. As in the reference, options have to be there.
pub(super) const DECLARATION: &str = "function createField(name, value, options) { \
     if (typeof name !== 'string' || name === '') throw new TypeError('createField(name, value, options) needs a name'); \
     if (typeof options !== 'object' || options === null || Array.isArray(options)) \
     throw new TypeError('createField(name, value, options) needs an object of options'); \
     if (value === undefined) return { $name: name, $options: options }; \
     return { $name: name, $value: value, $options: options }; }";

/// The fields that a value makes: it is `{ $name, $value, $options }`, or an array of those. `None`: it is any other value.
///
/// # Errors
///
/// [`MapError`] for options that there are none of.
pub(super) fn made_fields<'d>(value: Raw<'_>) -> Result<Option<Vec<Value<'d>>>, MapError> {
    let fields: Vec<Raw<'_>> = match value.kind() {
        Kind::Object if is_field(value) => vec![value],
        Kind::Array if value.elements().next().is_some() && value.elements().all(is_field) => {
            value.elements().collect()
        }
        _ => return Ok(None),
    };
    let mut made = Vec::new();
    for field in fields {
        // Of what is not defined there is no field.
        let Some(value) = field.get("$value") else { continue };
        let name = field.get("$name").and_then(Raw::as_str).unwrap_or_default().into_owned();
        let options = field.get("$options").map(options).transpose()?.unwrap_or_default();
        made.push(Value::Field(Rc::new(DynamicField { name: Cow::Owned(name), value: owned(value), options })));
    }
    Ok(Some(made))
}

/// Whether an object is a field with a name of its own.
pub(super) fn is_field(value: Raw<'_>) -> bool {
    value.get("$name").is_some_and(|name| name.kind() == Kind::String)
}

/// The words of index definitions, whose case does not matter.
const STORAGES: [&str; 2] = ["Yes", "No"];
const INDEXINGS: [&str; 4] = ["Default", "Search", "Exact", "No"];
const TERM_VECTORS: [&str; 5] = ["No", "Yes", "WithPositions", "WithOffsets", "WithPositionsAndOffsets"];

fn options(given: Raw<'_>) -> Result<FieldOptions, MapError> {
    let mut options = FieldOptions::default();
    for (name, value) in given.members() {
        let name = name.decode();
        let text = match value.kind() {
            Kind::Null => continue,
            Kind::Bool => Cow::Borrowed(if value.as_bool() == Some(true) { "Yes" } else { "No" }),
            _ => value.as_str().unwrap_or_default(),
        };
        let of = |words: &[&str]| match words.iter().find(|word| word.eq_ignore_ascii_case(&text)) {
            Some(word) => Ok(Some((*word).to_owned())),
            None => Err(MapError::Script(format!("the option '{name}' of a field cannot be '{text}'"))),
        };
        match name.to_ascii_lowercase().as_str() {
            "storage" => options.storage = of(&STORAGES)?,
            "indexing" => options.indexing = of(&INDEXINGS)?,
            "termvector" => options.term_vector = of(&TERM_VECTORS)?,
            _ => return Err(MapError::Script(format!("the option '{name}' of a field is not supported"))),
        }
    }
    Ok(options)
}
