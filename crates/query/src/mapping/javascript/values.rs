//! From what a script gives to values of maps.

use super::super::special::{DynamicField, FieldOptions};
use super::super::value::{Names, Object, Value};
use super::{spatial, vector};
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
            if let Some(vector) = vector::made(value) {
                return vector;
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
