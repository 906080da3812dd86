//! JSON as a tree, where one is handy: database records and settings. Documents never become one.

use crate::{Error, Kind, Minifier, Raw, Writer};

/// Bytes that a [`Value`] takes in an array: 32 in a vector that grows by doubling, with the old one beside it, and its text.
const ELEMENT_SIZE: usize = 128;
/// Bytes more that it takes in an object, with its name.
const MEMBER_SIZE: usize = 104;
/// Bytes more of an array or an object: room for four in it.
const CONTAINER_SIZE: usize = 64;

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

    /// Bytes of memory that a tree of this text takes while it is made, at most about; the text need not be JSON. For reservations: a
    /// tree takes up to 70 times the size of its text.
    pub fn tree_size(text: &[u8]) -> usize {
        let (mut size, mut is_in_string, mut is_escaped) = (ELEMENT_SIZE + 2 * text.len(), false, false);
        for byte in text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = is_in_string,
                b'"' => is_in_string = !is_in_string,
                _ if is_in_string => {}
                b',' => size += ELEMENT_SIZE,
                b':' => size += MEMBER_SIZE,
                b'[' | b'{' => size += ELEMENT_SIZE + CONTAINER_SIZE,
                _ => {}
            }
        }
        size
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
    fn the_size_of_a_tree_counts_what_is_outside_of_strings() {
        let size = |text: &str| Value::tree_size(text.as_bytes()) - ELEMENT_SIZE - 2 * text.len();
        assert_eq!(size(r#""a,b[{:,\",,,""#), 0);
        assert_eq!(size("[1,2,3]"), 3 * ELEMENT_SIZE + CONTAINER_SIZE);
        assert_eq!(size(r#"{"a":1,"b":[]}"#), 3 * ELEMENT_SIZE + 2 * (CONTAINER_SIZE + MEMBER_SIZE));
        // A tree has a vector of twice its length at most, beside the old one while it grows.
        assert!(3 * size_of::<Value>() < ELEMENT_SIZE && 3 * size_of::<(String, Value)>() < ELEMENT_SIZE + MEMBER_SIZE);
    }

    #[test]
    fn a_record_is_read_changed_and_written() {
        let mut value = Value::parse(br#" {"A": 1.50, "B": {"c": [true, null, "x\u0041"]}, "D": 1} "#).unwrap();
        value.set("A", Value::from(2));
        value.set("New", Value::from("n"));
        assert_eq!(value.remove("D").and_then(|value| value.as_i64()), Some(1));
        assert_eq!(value.to_vec(), br#"{"A":2,"B":{"c":[true,null,"xA"]},"New":"n"}"#);
    }
}
