//! Keeps the text of what scripts do not touch.
//!
//! JavaScript has doubles only: `12.7500`, `1.0` and integers of 64 bits would come back otherwise, and names that are whole numbers in
//! another order. A text that has any of these is *odd*. Of an odd text each object and array is noted with where it comes from, and
//! when it is written, a number that is still the double of the text there is written as that text. Other texts come back letter
//! for letter anyway, and cost nothing of this.

use json::{Kind, Raw};
use rquickjs::{Function, Object, Value};

use crate::number;

/// Whether checked JSON has something that would not come back as it is.
pub(crate) fn is_odd(json: &[u8]) -> bool {
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => {
                let start = at + 1;
                at = start;
                while let Some(byte) = json.get(at) {
                    match byte {
                        b'"' => break,
                        b'\\' => at += 2,
                        _ => at += 1,
                    }
                }
                let name = json.get(start..at).unwrap_or_default();
                at += 1;
                if json.get(at) == Some(&b':') && is_whole_number(name) {
                    return true;
                }
            }
            b'-' | b'0'..=b'9' => {
                let size = json[at..].iter().take_while(|byte| !matches!(byte, b',' | b'}' | b']')).count();
                if !number::is_plain(&json[at..at + size]) {
                    return true;
                }
                at += size;
            }
            _ => at += 1,
        }
    }
    false
}

/// Properties that are named so come first in an object of JavaScript.
fn is_whole_number(name: &[u8]) -> bool {
    !name.is_empty() && name.len() <= 10 && name.iter().all(u8::is_ascii_digit)
}

/// Where an object or array comes from: a text, and the bytes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub text: usize,
    pub start: usize,
    pub end: usize,
}

/// Notes all objects and arrays of a value that was parsed of `raw`.
///
/// * `text`: the number of the text, which begins with `raw`'s outermost value.
/// * `origins`: receives where they come from; the engine remembers the places in it.
pub(crate) fn note<'js>(
    noting: &Function<'js>,
    value: &Value<'js>,
    (text, whole, raw): (usize, &[u8], Raw<'_>),
    origins: &mut Vec<Origin>,
) -> rquickjs::Result<()> {
    let Some(object) = value.as_object() else { return Ok(()) };
    // A slice of `whole`, whose place follows from the addresses.
    let start = (raw.bytes().as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    noting.call::<_, ()>((object.clone(), origins.len()))?;
    origins.push(Origin { text, start, end: start + raw.bytes().len() });
    let is_container = |raw: Raw<'_>| matches!(raw.kind(), Kind::Object | Kind::Array);
    if let Some(array) = value.as_array() {
        for (at, element) in raw.elements().enumerate().filter(|(_, element)| is_container(*element)) {
            note(noting, &array.get(at)?, (text, whole, element), origins)?;
        }
    } else {
        for (name, member) in raw.members().filter(|(_, member)| is_container(*member)) {
            note(noting, &object.get(&*name.decode())?, (text, whole, member), origins)?;
        }
    }
    Ok(())
}

/// The properties of an object in the order of the text they come from; those that are new stay behind.
pub(crate) fn in_order<'js>(origin: Raw<'_>, properties: Vec<(String, Value<'js>)>) -> Vec<(String, Value<'js>)> {
    if !origin.members().any(|(name, _)| is_whole_number(name.escaped())) {
        return properties;
    }
    let places: std::collections::HashMap<String, usize> =
        origin.members().enumerate().map(|(place, (name, _))| (name.decode().into_owned(), place)).collect();
    let mut properties = properties;
    properties.sort_by_key(|(name, _)| places.get(name).copied().unwrap_or(usize::MAX));
    properties
}

/// The text of a number that is still what it was.
pub(crate) fn unchanged<'a>(origin: Option<Raw<'a>>, value: f64) -> Option<&'a [u8]> {
    let origin = origin.filter(|origin| origin.kind() == Kind::Number)?;
    (origin.as_f64() == Some(value)).then(|| origin.bytes())
}

/// What writing asks of the engine.
pub(crate) struct Asking<'js> {
    pub origin: Function<'js>,
    /// The number of a document.
    pub place: Function<'js>,
    pub date_text: Function<'js>,
    pub well_formed: Function<'js>,
    pub date: Object<'js>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_is_what_would_not_come_back() {
        for text in [r#"{"a":1,"b":[0.5,-2],"c":"1.0 \"2.0","d":{"e1":12345}}"#, r#"{"a":"1"}"#] {
            assert!(!is_odd(text.as_bytes()), "{text}");
        }
        for text in [r#"{"a":1.0}"#, r#"[12.750]"#, r#"{"a":{"10":1}}"#, r#"[1e2]"#, r#"[9007199254740993]"#, "[-0]"] {
            assert!(is_odd(text.as_bytes()), "{text}");
        }
    }
}
