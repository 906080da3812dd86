//! The value that stands at a path of a document.

use crate::mapping::{part_named, part_of};
use crate::plan::clauses::projection::PathStep;
use json::{Kind, Raw};

/// Appends what stands at a path. False: nothing does, and nothing is appended.
///
/// The depth of the recursion is that of the path, or of arrays in arrays, both bounded.
pub(crate) fn write_path(steps: &[PathStep], value: Raw<'_>, out: &mut Vec<u8>) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        out.extend_from_slice(value.bytes());
        return true;
    };
    match (step, value.kind()) {
        (PathStep::Name(name), Kind::Object) => match value.get(name) {
            Some(value) => write_path(rest, value, out),
            None if rest.is_empty() && is_count(name) => write_count(value.members().count(), out),
            None => false,
        },
        (PathStep::Name(name), Kind::Array) if rest.is_empty() && is_count(name) => {
            write_count(value.elements().count(), out)
        }
        (PathStep::Name(name), Kind::String) if rest.is_empty() => {
            write_part(name, &value.as_str().unwrap_or_default(), out)
        }
        (PathStep::Name(_), Kind::Array) => write_elements(steps, value, false, out),
        (PathStep::Elements, Kind::Array) => write_elements(rest, value, true, out),
        (PathStep::Elements, _) => write_path(rest, value, out),
        (PathStep::Element(number), Kind::Array) => match value.elements().nth(*number) {
            Some(element) => write_path(rest, element, out),
            None => false,
        },
        (PathStep::Element(number), Kind::String) if rest.is_empty() => write_character(*number, value, out),
        (PathStep::Element(_), Kind::Null) => {
            out.extend_from_slice(b"null");
            true
        }
        (PathStep::Element(_), _) => false,
        (PathStep::Name(_), _) => false,
    }
}

/// * `with_null`: those that lack it are null, instead of being left out. Then, as in the reference, what stands there in arrays is given
///   one by one.
fn write_elements(steps: &[PathStep], array: Raw<'_>, with_null: bool, out: &mut Vec<u8>) -> bool {
    out.push(b'[');
    let start = out.len();
    for element in array.elements() {
        let before = out.len();
        if before > start {
            out.push(b',');
        }
        let at = out.len();
        match write_path(steps, element, out) {
            true if with_null && !steps.is_empty() && is_empty_without_brackets(at, out) => out.truncate(before),
            true => {}
            false if with_null => out.extend_from_slice(b"null"),
            false => out.truncate(before),
        }
    }
    out.push(b']');
    true
}

/// Takes the brackets off a value that was appended, if it is an array. True: nothing was in them.
fn is_empty_without_brackets(at: usize, out: &mut Vec<u8>) -> bool {
    if out.get(at) != Some(&b'[') {
        return false;
    }
    out.pop();
    out.remove(at);
    out.get(at..).is_none_or(|elements| elements.trim_ascii().is_empty())
}

fn write_character(number: usize, text: Raw<'_>, out: &mut Vec<u8>) -> bool {
    let text = text.as_str().unwrap_or_default();
    let Some(character) = text.chars().nth(number) else { return false };
    out.push(b'"');
    json::escape_into(out, character.encode_utf8(&mut [0; 4]));
    out.push(b'"');
    true
}

/// Appends how long a text is, or a part of a date or a duration.
fn write_part(name: &str, text: &str, out: &mut Vec<u8>) -> bool {
    if is_count(name) {
        return write_count(text.encode_utf16().count(), out);
    }
    match part_named(name).and_then(|part| part_of(text, part)) {
        Some(json) => {
            out.extend_from_slice(&json);
            true
        }
        None => false,
    }
}

fn is_count(name: &str) -> bool {
    matches!(name, "Count" | "Length")
}

fn write_count(count: usize, out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(count.to_string().as_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(steps: &[&str], expected: Option<&str>) {
        let document = br#"{"Name":"Ann","A":{"City":"Oslo","Zip":null},"L":[{"P":"x","Q":1},{"P":"y"},{"Z":1}],"T":["a","b"],"E":[],"O":{"P":5},"N":[["a"],["b"]],"D":[{"S":["a","b"],"M":[{"P":1},{}]},{"S":[ ],"M":[{"P":2}]},{"Z":1},{"S":[["c"]]},{"S":"d"},{"S":null}],"At":"2023-04-30T08:30:00Z","Span":"02:10:00","Ds":[{"At":"2020-01-02"},{"At":"x"}]}"#;
        let step = |step: &&str| if *step == "[]" { PathStep::Elements } else { PathStep::Name((*step).to_owned()) };
        let steps: Vec<PathStep> = steps.iter().map(step).collect();
        let mut out = b"before".to_vec();
        let is_there = write_path(&steps, Raw::new(document), &mut out);
        let written = String::from_utf8(out).unwrap();
        assert_eq!(is_there.then(|| &written["before".len()..]), expected, "{steps:?}");
        assert!(is_there || written == "before");
    }

    /// As the reference projects them.
    #[test]
    fn paths_are_projected() {
        check(&["Name"], Some("\"Ann\""));
        check(&["A", "City"], Some("\"Oslo\""));
        check(&["A", "Zip"], Some("null"));
        check(&["A", "Zip", "X"], None);
        check(&["Nope"], None);
        check(&["L", "[]", "P"], Some(r#"["x","y",null]"#));
        check(&["L", "P"], Some(r#"["x","y"]"#));
        check(&["L", "[]", "Q"], Some("[1,null,null]"));
        check(&["O", "[]", "P"], Some("5"));
        check(&["O", "[]", "Q"], None);
        check(&["E", "[]", "Q"], Some("[]"));
        check(&["L", "Length"], Some("3"));
        check(&["T", "Count"], Some("2"));
        check(&["O", "Count"], Some("1"));
        check(&["Name", "Count"], Some("3"));
        check(&["At", "Year"], Some("2023"));
        check(&["At", "Date"], Some(r#""2023-04-30T00:00:00.0000000Z""#));
        check(&["At", "Hours"], None);
        check(&["Span", "Hours"], Some("2"));
        check(&["Ds", "[]", "At", "Year"], Some("[2020,null]"));
        check(&["Ds", "At", "Year"], Some("[2020]"));
        check(&["Name", "Length"], Some("3"));
        check(&["D", "[]", "S"], Some(r#"["a","b",null,["c"],"d",null]"#));
        check(&["D", "[]", "S", "[]"], Some(r#"["a","b",null,["c"],"d",null]"#));
        check(&["D", "[]", "M", "[]", "P"], Some("[1,null,2,null,null,null,null]"));
        check(&["T", "[]"], Some(r#"["a","b"]"#));
        check(&["N", "[]"], Some(r#"[["a"],["b"]]"#));
    }
}
