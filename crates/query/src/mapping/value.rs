//! Values: what an expression gives.
//!
//! What comes from a document is a view of its text ([`Value::Json`]) until something is done with it: a field that is passed
//! on is found, not read. [`Value::read`] makes a scalar of it.

use super::date::{DateTime, TimeSpan};
use super::host::DocumentView;
use super::special::{Boosted, DynamicField, Spatial};
use json::{Kind, Raw};
use rust_decimal::Decimal;
use std::borrow::Cow;
use std::rc::Rc;

/// A value. `'d` is the life of the documents' text and of the definition.
#[derive(Clone, Debug)]
pub enum Value<'d> {
    /// What is not there: a property that a document lacks, and all that is made of it.
    Missing,
    /// `null`. Differs from [`Value::Missing`] only in what an index makes of it.
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number
    Long(i64),
    /// A double
    Double(f64),
    /// A number of 28 decimal digits
    Decimal(Decimal),
    /// A text
    Text(Cow<'d, str>),
    /// A date with its time
    Date(DateTime),
    /// A duration
    Span(TimeSpan),
    /// Any value of a document, not read yet; never `null`
    Json(Raw<'d>),
    /// An array that was made
    Array(Rc<[Value<'d>]>),
    /// An object that was made
    Object(Rc<Object<'d>>),
    /// The elements of a group, with their key
    Group(Rc<Group<'d>>),
    /// A document: its properties, and what else is known of it
    Document(Rc<DocumentView<'d>>),
    /// The metadata of a document
    Metadata(Rc<DocumentView<'d>>),
    /// What `CreateField` gives
    Field(Rc<DynamicField<'d>>),
    /// What `CreateSpatialField` gives
    Spatial(Rc<Spatial<'d>>),
    /// What `CreateVector` gives: what the vectors are read from
    Vector(Rc<Value<'d>>),
    /// What `Boost` gives
    Boosted(Rc<Boosted<'d>>),
}

/// An object that was made: as many names as values.
#[derive(Clone, Debug)]
pub struct Object<'d> {
    /// The names of its properties, in order.
    pub names: Names<'d>,
    /// Their values.
    pub values: Vec<Value<'d>>,
}

/// The names of an object: known when the definition is compiled, or only when it runs.
#[derive(Clone, Debug)]
pub enum Names<'d> {
    /// Of an object expression.
    Static(&'d [Box<str>]),
    /// Of a dictionary.
    Dynamic(Vec<Cow<'d, str>>),
    /// `Key` and `Value`, of what a dictionary consists of.
    Pair,
}

/// The elements that have one key.
#[derive(Clone, Debug)]
pub struct Group<'d> {
    /// The key.
    pub key: Value<'d>,
    /// The elements in their order, at least one.
    pub elements: Vec<Value<'d>>,
}

impl<'d> Object<'d> {
    /// The properties in their order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Value<'d>)> {
        (0..self.values.len()).map(|index| (self.name(index), &self.values[index]))
    }

    /// The property with this name.
    pub fn get(&self, name: &str) -> Option<&Value<'d>> {
        self.members().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    pub(crate) fn name(&self, index: usize) -> &str {
        match &self.names {
            Names::Static(names) => names.get(index).map_or("", |name| name),
            Names::Dynamic(names) => names.get(index).map_or("", |name| name),
            Names::Pair => ["Key", "Value"].get(index).copied().unwrap_or_default(),
        }
    }
}

impl<'d> Value<'d> {
    /// A view of a value of a document.
    #[inline]
    pub fn of(raw: Raw<'d>) -> Value<'d> {
        if raw.is_null() { Value::Null } else { Value::Json(raw) }
    }

    /// A property that may not be there.
    #[inline]
    pub(crate) fn of_found(raw: Option<Raw<'d>>) -> Value<'d> {
        raw.map_or(Value::Missing, Value::of)
    }

    /// An array of these.
    pub(crate) fn array(values: Vec<Value<'d>>) -> Value<'d> {
        Value::Array(values.into())
    }

    /// A text that was made.
    pub(crate) fn text(text: String) -> Value<'d> {
        Value::Text(Cow::Owned(text))
    }

    /// Whether it is null or missing.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Missing | Value::Null)
    }

    /// The scalar that a view shows. Arrays and objects of a document stay views, and a boosted value is what was boosted.
    /// A number is a long if it is written as a whole number that 64 bits hold, else a double; a string that is written as a
    /// date is one.
    #[inline]
    pub fn read(self) -> Value<'d> {
        match self {
            Value::Json(raw) => read(raw),
            Value::Boosted(boosted) => boosted.value.clone().read(),
            other => other,
        }
    }

    /// The text of a string, if this is one.
    pub(crate) fn as_text(&self) -> Option<Cow<'d, str>> {
        match self {
            Value::Text(text) => Some(text.clone()),
            Value::Json(raw) => raw.as_str(),
            Value::Boosted(boosted) => boosted.value.as_text(),
            _ => None,
        }
    }

    /// What it is, as errors call it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Missing | Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Long(_) => "long",
            Value::Double(_) => "double",
            Value::Decimal(_) => "decimal",
            Value::Text(_) => "string",
            Value::Date(_) => "DateTime",
            Value::Span(_) => "TimeSpan",
            Value::Json(raw) => match raw.kind() {
                Kind::Null => "null",
                Kind::Bool => "bool",
                Kind::Number if raw.as_i64().is_some() => "long",
                Kind::Number => "double",
                Kind::String => "string",
                Kind::Array => "array",
                Kind::Object => "object",
            },
            Value::Array(_) => "array",
            Value::Object(_) | Value::Metadata(_) => "object",
            Value::Group(_) => "group",
            Value::Document(_) => "document",
            Value::Field(_) => "field",
            Value::Spatial(_) => "spatial field",
            Value::Vector(_) => "vector field",
            Value::Boosted(boosted) => boosted.value.type_name(),
        }
    }
}

fn read(raw: Raw<'_>) -> Value<'_> {
    match raw.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(raw.as_bool() == Some(true)),
        Kind::String => match raw.as_str() {
            Some(text) => DateTime::parse(&text).map_or(Value::Text(text), Value::Date),
            None => Value::Missing,
        },
        Kind::Number => match raw.as_i64() {
            Some(long) => Value::Long(long),
            None => raw.as_f64().map_or(Value::Missing, Value::Double),
        },
        Kind::Array | Kind::Object => Value::Json(raw),
    }
}
