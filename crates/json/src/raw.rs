//! Reading checked text by field, without a tree.
//!
//! A [`Raw`] is one JSON value as text that was checked before: it came out of [`Minifier`](crate::Minifier) or of
//! storage. Iterating finds each value's end by skipping over it. Text that was not checked gives missing or short values,
//! never a panic.

use std::borrow::Cow;

use crate::escape::{Text, plain_run};

/// One value of checked JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(&'a [u8]);

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Object,
}

impl<'a> Raw<'a> {
    /// Takes text that was checked: exactly one value, no white space around it.
    pub fn new(checked: &'a [u8]) -> Self {
        Raw(checked)
    }

    /// The text of the value.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// What the value is, from its first byte.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.0.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The properties in their order; none if this is not an object.
    #[inline]
    pub fn members(self) -> Members<'a> {
        Members { rest: if self.kind() == Kind::Object { &self.0[1..] } else { &[] } }
    }

    /// The elements in their order; none if this is not an array.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        Elements { rest: if self.kind() == Kind::Array { &self.0[1..] } else { &[] } }
    }

    /// The property with this name.
    pub fn get(self, name: &str) -> Option<Raw<'a>> {
        Properties(self.members().rest).get(name)
    }

    /// What stands between the quotes, if this is a string.
    #[inline]
    pub fn text(self) -> Option<Text<'a>> {
        match self.0 {
            [b'"', text @ .., b'"'] => Some(Text(text)),
            _ => None,
        }
    }

    /// The string, if this is one.
    #[inline]
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        self.text().map(Text::decode)
    }

    /// The text of the number, if this is one.
    pub fn number_text(self) -> Option<&'a str> {
        if self.kind() == Kind::Number { std::str::from_utf8(self.0).ok() } else { None }
    }

    /// The number, if it is an integer that 64 bits hold.
    pub fn as_i64(self) -> Option<i64> {
        self.number_text()?.parse().ok()
    }

    /// The number, if it is an integer from 0 on that 64 bits hold.
    pub fn as_u64(self) -> Option<u64> {
        self.number_text()?.parse().ok()
    }

    /// The number as the nearest double.
    pub fn as_f64(self) -> Option<f64> {
        self.number_text()?.parse().ok()
    }

    /// The truth value, if this is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.0 {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }
}

/// The properties of an object as text without braces, as records have those of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties<'a>(&'a [u8]);

impl<'a> Properties<'a> {
    /// Takes text that was checked: names and values with commas between them, or nothing.
    pub fn new(checked: &'a [u8]) -> Self {
        Properties(checked)
    }

    /// Their text.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// The properties in their order.
    pub fn members(self) -> Members<'a> {
        Members { rest: self.0 }
    }

    /// The property with this name.
    pub fn get(self, name: &str) -> Option<Raw<'a>> {
        self.members().find(|(key, _)| key.is(name)).map(|(_, value)| value)
    }
}

/// The properties of an object: names as they stand between their quotes, and values.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    rest: &'a [u8],
}

impl<'a> Members<'a> {
    /// The text that is not read yet; with a value's own text this gives its place in the object.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Text<'a>, Raw<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.first() != Some(&b'"') {
            return None;
        }
        let name_end = string_size(self.rest);
        let name = self.rest.get(1..name_end.checked_sub(1)?)?;
        let after_colon = self.rest.get(name_end + 1..)?;
        let (value, rest) = after_colon.split_at_checked(value_size(after_colon))?;
        // What follows is a comma or the closing brace, one byte either way.
        self.rest = rest.get(1..).unwrap_or_default();
        Some((Text(name), Raw(value)))
    }
}

/// The elements of an array.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    #[inline]
    fn next(&mut self) -> Option<Raw<'a>> {
        if matches!(self.rest.first(), None | Some(b']')) {
            return None;
        }
        let (value, rest) = self.rest.split_at_checked(value_size(self.rest))?;
        self.rest = rest.get(1..).unwrap_or_default();
        Some(Raw(value))
    }
}

/// The size of the string, quotes included, at the start of `text`.
#[inline]
fn string_size(text: &[u8]) -> usize {
    let mut at = 1;
    loop {
        at += plain_run(text.get(at..).unwrap_or_default());
        match text.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}

/// The size of the value at the start of `text`.
#[inline]
pub(crate) fn value_size(text: &[u8]) -> usize {
    match text.first() {
        Some(b'"') => string_size(text),
        Some(b'{' | b'[') => container_size(text),
        _ => text.iter().take_while(|byte| !matches!(byte, b',' | b'}' | b']')).count(),
    }
}

fn container_size(text: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at += string_size(&text[at..]);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = br#"{"a":1,"b":{"x":[1,{"y":"}]\"{"}],"z":null},"c\n":"q\"r","d":true,"e":-1.5e3,"":[]}"#;

    #[test]
    fn members_come_in_their_order_with_whole_values() {
        let found: Vec<String> = Raw::new(TEXT)
            .members()
            .map(|(key, value)| format!("{}={}", key.decode(), String::from_utf8_lossy(value.bytes())))
            .collect();
        assert_eq!(
            found,
            ["a=1", r#"b={"x":[1,{"y":"}]\"{"}],"z":null}"#, "c\n=\"q\\\"r\"", "d=true", "e=-1.5e3", "=[]"]
        );
    }

    #[test]
    fn fields_are_read_by_name_and_type() {
        let raw = Raw::new(TEXT);
        assert_eq!(raw.get("a").and_then(Raw::as_i64), Some(1));
        assert_eq!(raw.get("c\n").and_then(Raw::as_str).as_deref(), Some("q\"r"));
        assert_eq!(raw.get("d").and_then(Raw::as_bool), Some(true));
        assert_eq!(raw.get("e").and_then(Raw::as_f64), Some(-1500.0));
        assert_eq!(raw.get("e").and_then(Raw::as_i64), None);
        assert_eq!(raw.get("").map(|value| value.elements().count()), Some(0));
        assert!(raw.get("b").and_then(|b| b.get("z")).is_some_and(Raw::is_null));
        assert!(raw.get("missing").is_none());
    }

    #[test]
    fn properties_need_no_braces() {
        let bare = Properties::new(&TEXT[1..TEXT.len() - 1]);
        assert!(bare.members().eq(Raw::new(TEXT).members()));
        assert_eq!(bare.get("e").and_then(Raw::as_f64), Some(-1500.0));
        assert_eq!(Properties::new(br#""a":12"#).get("a").and_then(Raw::as_i64), Some(12));
        assert_eq!(Properties::new(b"").members().count(), 0);
    }

    #[test]
    fn broken_text_gives_missing_values() {
        for end in 0..TEXT.len() {
            let bare = Properties::new(&TEXT[1.min(end)..end]);
            bare.members().for_each(|(key, value)| drop((key.decode(), value.as_str())));
            let raw = Raw::new(&TEXT[..end]);
            raw.members().for_each(|(key, value)| drop((key.decode(), value.as_str(), value.as_f64())));
            raw.elements().for_each(|value| drop(value.as_str()));
        }
    }
}
