//! JSON as a tree, where one is handy: database records and settings. Documents never become one.

use crate::{Error, Kind, Minifier, Raw, Writer};

/// One JSON value. Numbers keep their text; objects keep their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is written
    Number(String),
    /// A string
    String(String),
    /// An array
    Array(Vec<Value>),
    /// An object
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Checks and reads text.
    ///
    /// # Errors
    ///
    /// [`Error`] if it is not acceptable JSON.
    pub fn parse(text: &[u8]) -> Result<Value, Error> {
        Ok(Value::from(Minifier::new().minify(text)?))
    }

    /// The same, and numbers may be of any size. For what is compared and not kept: documents have none beyond a double.
    ///
    /// # Errors
    ///
    /// [`Error`] if it is not acceptable JSON.
    pub fn parse_with_any_number(text: &[u8]) -> Result<Value, Error> {
        Ok(Value::from(Minifier::with_any_number().minify(text)?))
    }

    /// An empty object.
    pub fn object() -> Value {
        Value::Object(Vec::new())
    }

    /// The property with this name, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Sets a property: in place if it is there, else at the end. A value that is no object becomes one.
    pub fn set(&mut self, name: &str, value: Value) {
        if !matches!(self, Value::Object(_)) {
            *self = Value::object();
        }
        if let Value::Object(members) = self {
            match members.iter_mut().find(|(key, _)| key == name) {
                Some(member) => member.1 = value,
                None => members.push((name.to_owned(), value)),
            }
        }
    }

    /// Takes a property out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let Value::Object(members) = self else { return None };
        let at = members.iter().position(|(key, _)| key == name)?;
        Some(members.remove(at).1)
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = self { Some(text) } else { None }
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number, if it is an integer that 64 bits hold.
    pub fn as_i64(&self) -> Option<i64> {
        if let Value::Number(text) = self { text.parse().ok() } else { None }
    }

    /// The properties, if this is an object.
    pub fn members(&self) -> &[(String, Value)] {
        if let Value::Object(members) = self { members } else { &[] }
    }

    /// Appends the text of the value.
    pub fn write(&self, json: &mut Writer<'_>) {
        match self {
            Value::Null => drop(json.null()),
            Value::Bool(value) => drop(json.bool(*value)),
            Value::Number(text) => drop(json.raw(text.as_bytes())),
            Value::String(text) => drop(json.string(text)),
            Value::Array(elements) => drop(json.array(|json| elements.iter().for_each(|element| element.write(json)))),
            Value::Object(members) => drop(json.object(|json| {
                members.iter().for_each(|(key, value)| value.write(json.name(key)));
            })),
        }
    }

    /// The text of the value.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut Writer::new(&mut out));
        out
    }
}

/// Text that was checked is at most [`DEPTH_MAX`](crate::DEPTH_MAX) deep, which bounds the recursion.
impl From<Raw<'_>> for Value {
    fn from(raw: Raw<'_>) -> Value {
        match raw.kind() {
            Kind::Null => Value::Null,
            Kind::Bool => Value::Bool(raw.as_bool() == Some(true)),
            Kind::Number => Value::Number(raw.number_text().unwrap_or("0").to_owned()),
            Kind::String => Value::String(raw.as_str().unwrap_or_default().into_owned()),
            Kind::Array => Value::Array(raw.elements().map(Value::from).collect()),
            Kind::Object => Value::Object(
                raw.members().map(|(key, value)| (key.decode().into_owned(), Value::from(value))).collect(),
            ),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.to_owned())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Number(value.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_changed_and_written() {
        let mut value = Value::parse(br#" {"A": 1.50, "B": {"c": [true, null, "x\u0041"]}, "D": 1} "#).unwrap();
        value.set("A", Value::from(2));
        value.set("New", Value::from("n"));
        assert_eq!(value.remove("D").and_then(|value| value.as_i64()), Some(1));
        assert_eq!(value.to_vec(), br#"{"A":2,"B":{"c":[true,null,"xA"]},"New":"n"}"#);
    }
}
