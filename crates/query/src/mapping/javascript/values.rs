//! From what a script gives to values of maps.

use super::super::special::{DynamicField, FieldOptions};
use super::super::value::{Names, Object, Value};
use super::spatial;
use json::{Kind, Raw};
use std::borrow::Cow;
use std::rc::Rc;

/// A value that borrows nothing. The depth of the recursion is that of JSON, which is bounded.
pub(super) fn owned<'d>(value: Raw<'_>) -> Value<'d> {
    match value.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(value.as_bool() == Some(true)),
        Kind::Number => match value.as_i64() {
            Some(number) => Value::Long(number),
            None => Value::Double(value.as_f64().unwrap_or_default()),
        },
        Kind::String => Value::Text(Cow::Owned(value.as_str().unwrap_or_default().into_owned())),
        Kind::Array => Value::array(value.elements().map(owned).collect()),
        Kind::Object => {
            if let Some(place) = spatial::made(value) {
                return place;
            }
            let (names, values) =
                value.members().map(|(name, member)| (Cow::Owned(name.decode().into_owned()), owned(member))).unzip();
            Value::Object(Rc::new(Object { names: Names::Dynamic(names), values }))
        }
    }
}

/// A field with a name of its own.
pub(super) fn field<'d>(name: &str, value: Raw<'_>) -> Value<'d> {
    let options = FieldOptions::default();
    Value::Field(Rc::new(DynamicField { name: Cow::Owned(name.to_owned()), value: owned(value), options }))
}

/// The fields that a value makes: it is `{ $name, $value, $options }`, or an array of those.
pub(super) fn made_fields<'d>(value: Raw<'_>) -> Option<Vec<Value<'d>>> {
    match value.kind() {
        Kind::Object => made_field(value).map(|field| vec![field]),
        Kind::Array => value.elements().map(made_field).collect::<Option<Vec<_>>>().filter(|fields| !fields.is_empty()),
        _ => None,
    }
}

fn made_field<'d>(value: Raw<'_>) -> Option<Value<'d>> {
    let name = value.get("$name")?.as_str()?.into_owned();
    let options = value.get("$options");
    let option = |name: &str| match options?.get(name)?.kind() {
        Kind::Bool => Some(if options?.get(name)?.as_bool() == Some(true) { "Yes" } else { "No" }.to_owned()),
        _ => options?.get(name)?.as_str().map(|text| text.into_owned()),
    };
    let options =
        FieldOptions { storage: option("storage"), indexing: option("indexing"), term_vector: option("termVector") };
    Some(Value::Field(Rc::new(DynamicField { name: Cow::Owned(name), value: owned(value.get("$value")?), options })))
}
