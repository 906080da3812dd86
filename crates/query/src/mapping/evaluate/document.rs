//! Functions of documents and of what is indexed.

use super::super::convert::convert;
use super::super::display::display;
use super::super::error::{MapError, Result};
use super::super::expression::{Conversion, Type};
use super::super::function::Function;
use super::super::host::{Attachment, Following};
use super::super::special::{Boosted, DynamicField, FieldOptions, Spatial};
use super::super::value::{Names, Object, Value};
use super::Evaluator;
use std::borrow::Cow;
use std::rc::Rc;

impl<'d> Evaluator<'_, 'd> {
    /// A function of a document, an id or a key that is not null.
    pub(super) fn of_document(
        &mut self,
        function: Function,
        first: Value<'d>,
        rest: &[Value<'d>],
    ) -> Result<Value<'d>> {
        let second = rest.first().cloned().unwrap_or(Value::Missing);
        match (function, &first) {
            (Function::LoadDocument, _) => self.load_all(first, &second, Following::Followed),
            (Function::LoadDocumentUnfollowed, _) => self.load_all(first, &second, Following::Ignored),
            (Function::LoadCompareExchangeValue, _) if first.is_array() => {
                let mut found = Vec::new();
                for key in self.elements(first)? {
                    found.push(Value::of_found(self.host.load_compare_exchange(&display(&key))?));
                }
                Ok(Value::array(found))
            }
            (Function::LoadCompareExchangeValue, _) => {
                Ok(Value::of_found(self.host.load_compare_exchange(&display(&first))?))
            }
            (Function::Id, Value::Document(document)) => Ok(Value::Text(Cow::Borrowed(document.id))),
            (Function::Id, Value::Json(raw)) if raw.kind() == json::Kind::Object => {
                let id = raw.get("@metadata").and_then(|metadata| metadata.get("@id"));
                Ok(Value::of_found(id.or_else(|| raw.get("Id"))))
            }
            (Function::AsJson, Value::Document(_) | Value::Json(_) | Value::Object(_)) => Ok(first),
            (Function::MetadataFor, Value::Document(document)) => Ok(Value::Metadata(Rc::clone(document))),
            (Function::MetadataFor, Value::Json(raw)) => Ok(Value::of_found(raw.get("@metadata"))),
            (Function::AttachmentsFor, Value::Document(document)) => Ok(list(document.of_metadata("@attachments"))),
            (Function::CounterNamesFor, Value::Document(document)) => Ok(list(document.of_metadata("@counters"))),
            (Function::TimeSeriesNamesFor, Value::Document(document)) => Ok(list(document.of_metadata("@timeseries"))),
            (Function::LoadAttachment, Value::Document(document)) => {
                let found = self.host.load_attachment(document.id, &display(&second))?;
                Ok(found.map_or(Value::Missing, |found| attachment(document.id, found)))
            }
            (Function::LoadAttachments, Value::Document(document)) => {
                let document = Rc::clone(document);
                let mut found = Vec::new();
                for described in self.elements(list(document.of_metadata("@attachments")))? {
                    let name = super::member::member(&described, "Name", None)?;
                    found.extend(self.host.load_attachment(document.id, &display(&name))?);
                }
                Ok(Value::array(found.into_iter().map(|found| attachment(document.id, found)).collect()))
            }
            (Function::GetContentAsString, Value::Object(object)) => {
                let Some(place) = object.get(CONTENT).map(display) else { return Ok(Value::Missing) };
                let Some((id, name)) = place.split_once('\0') else { return Ok(Value::Missing) };
                let content = self.host.load_content(id, name)?;
                Ok(content.map_or(Value::Missing, |content| Value::Text(Cow::Owned(content))))
            }
            (Function::IfEntityIs, Value::Document(document)) => {
                let is_it = |name: &Value<'_>| display(name).eq_ignore_ascii_case(&document.collection);
                Ok(if rest.iter().any(is_it) { first.clone() } else { Value::Missing })
            }
            _ => Err(MapError::Argument { function: function.name(), found: first.type_name() }),
        }
    }

    /// One document, or those of an array of ids.
    fn load_all(&mut self, ids: Value<'d>, collection: &Value<'d>, following: Following) -> Result<Value<'d>> {
        if !ids.is_array() {
            return self.load(&ids, collection, following);
        }
        let mut documents = Vec::new();
        for id in self.elements(ids)? {
            documents.push(self.load(&id, collection, following)?);
        }
        Ok(Value::array(documents))
    }

    fn load(&mut self, id: &Value<'d>, collection: &Value<'d>, following: Following) -> Result<Value<'d>> {
        let Some(id) = id.as_text().filter(|id| !id.is_empty()) else { return Ok(Value::Missing) };
        let found = self.host.load_document(&id, &display(collection), following)?;
        Ok(found.map_or(Value::Missing, |document| Value::Document(Rc::new(document))))
    }
}

/// The property of an attachment that only [`Function::GetContentAsString`] reads: the id of its document, a NUL character and its name.
const CONTENT: &str = "@content";

fn attachment<'d>(id: &str, attachment: Attachment<'d>) -> Value<'d> {
    let text = |text: &'d str| Value::Text(Cow::Borrowed(text));
    let names = ["Name", "ContentType", "Hash", "Size", CONTENT].map(Cow::Borrowed).into();
    let values = vec![
        text(attachment.name),
        text(attachment.content_type),
        Value::Text(Cow::Owned(attachment.hash)),
        Value::Long(i64::try_from(attachment.size).unwrap_or(i64::MAX)),
        Value::Text(Cow::Owned(format!("{id}\0{}", attachment.name))),
    ];
    Value::Object(Rc::new(Object { names: Names::Dynamic(names), values }))
}

/// The array that is there, or an empty one.
fn list(found: Option<json::Raw<'_>>) -> Value<'_> {
    found.map_or_else(|| Value::array(Vec::new()), Value::of)
}

/// `value.Boost(by)`.
pub(super) fn boost<'d>(value: Value<'d>, by: Value<'d>) -> Result<Value<'d>> {
    match double(by)? {
        Some(boost) if boost.is_finite() && boost >= 0.0 => Ok(Value::Boosted(Rc::new(Boosted { value, boost }))),
        _ => Err(MapError::Range { function: "Boost" }),
    }
}

/// `CreateField(name, value)`, and options, or whether it is stored and analysed.
pub(super) fn create_field<'d>(name: Value<'d>, mut rest: Vec<Value<'d>>) -> Result<Value<'d>> {
    let name = match display(&name) {
        name if name.is_empty() => return Err(MapError::Argument { function: "CreateField", found: "null" }),
        name => name,
    };
    let options = rest.split_off(rest.len().min(1));
    let value = rest.pop().unwrap_or(Value::Missing);
    let mut found = FieldOptions::default();
    for (index, option) in options.into_iter().enumerate() {
        match (option.read(), index) {
            (Value::Bool(true), 0) => found.storage = Some("Yes".to_owned()),
            (Value::Bool(false), 0) => found.storage = Some("No".to_owned()),
            (Value::Bool(true), _) => found.indexing = Some("Search".to_owned()),
            (Value::Bool(false), _) => found.indexing = Some("Exact".to_owned()),
            (Value::Object(object), _) => {
                let option = |name| object.get(name).filter(|value| !value.is_null());
                let text = |name| option(name).map(|value| word(&display(value)));
                found = FieldOptions {
                    storage: text("Storage"),
                    indexing: text("Indexing"),
                    term_vector: text("TermVector"),
                };
            }
            (Value::Missing | Value::Null, _) => {}
            (other, _) => return Err(MapError::Argument { function: "CreateField", found: other.type_name() }),
        }
    }
    Ok(Value::Field(Rc::new(DynamicField { name, value, options: found })))
}

/// The last part of `FieldStorage.Yes`.
fn word(option: &str) -> String {
    option.rsplit('.').next().unwrap_or_default().to_owned()
}

/// `CreateVector(value)`. Of null there is no vector.
pub(super) fn create_vector(value: Value<'_>) -> Value<'_> {
    if value.is_null() { Value::Missing } else { Value::Vector(Rc::new(value)) }
}

/// `CreateSpatialField(latitude, longitude)` or `CreateSpatialField(wkt)`. Of null there is no field.
pub(super) fn create_spatial_field<'d>(first: Value<'d>, rest: Vec<Value<'d>>) -> Result<Value<'d>> {
    let spatial = match rest.into_iter().next() {
        None => match first.as_text() {
            Some(text) => Spatial::Wkt(text),
            None if first.is_null() => return Ok(Value::Missing),
            None => {
                return Err(MapError::Argument { function: "CreateSpatialField", found: first.type_name() });
            }
        },
        Some(second) => match (double(first)?, double(second)?) {
            (Some(latitude), Some(longitude)) => Spatial::Point { latitude, longitude },
            _ => return Ok(Value::Missing),
        },
    };
    Ok(Value::Spatial(Rc::new(spatial)))
}

/// A coordinate; a text is one that is written as a number.
fn double(value: Value<'_>) -> Result<Option<f64>> {
    let value = match value.as_text() {
        Some(text) => match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => return Ok(Some(number)),
            _ => value,
        },
        None => value,
    };
    match convert(Conversion { to: Type::Double, is_nullable: true, parses: false }, value)? {
        Value::Double(double) => Ok(Some(double)),
        _ => Ok(None),
    }
}
