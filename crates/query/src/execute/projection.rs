//! Writing projected values of a document.

use crate::plan::{Projected, ProjectedColumn, Projection, Step};
use documents::Document;
use json::{Kind, Raw};

impl Projection {
    /// Appends the properties of a result, without braces and without metadata.
    pub fn write(&self, document: &Document<'_>, out: &mut Vec<u8>) {
        for ProjectedColumn { name, value } in &self.columns {
            let start = out.len();
            out.extend_from_slice(if start_of_object(out) { b"\"" } else { b",\"" });
            json::escape_into(out, name);
            out.extend_from_slice(b"\":");
            let is_there = match value {
                Projected::Path(steps) => write_path(steps, document.body(), out),
                Projected::Metadata(steps) => {
                    let stored = [b"{", document.stored_metadata(), b"}"].concat();
                    write_path(steps, Raw::new(&stored), out)
                }
                Projected::Id => {
                    out.push(b'"');
                    json::escape_into(out, document.id());
                    out.push(b'"');
                    true
                }
                Projected::Literal(json) => {
                    out.extend_from_slice(json);
                    true
                }
            };
            match is_there {
                true => {}
                false if self.omits_missing => out.truncate(start),
                false => out.extend_from_slice(b"null"),
            }
        }
    }
}

/// Whether the next property is the first one of its object.
fn start_of_object(out: &[u8]) -> bool {
    out.last() == Some(&b'{')
}

/// Appends what stands at a path. False: nothing does, and nothing is appended.
///
/// The depth of the recursion is that of the path, or of arrays in arrays, both bounded.
fn write_path(steps: &[Step], value: Raw<'_>, out: &mut Vec<u8>) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        out.extend_from_slice(value.bytes());
        return true;
    };
    match (step, value.kind()) {
        (Step::Name(name), Kind::Object) => match value.get(name) {
            Some(value) => write_path(rest, value, out),
            None => false,
        },
        (Step::Name(name), Kind::Array) if rest.is_empty() && is_count(name) => {
            write_count(value.elements().count(), out)
        }
        (Step::Name(name), Kind::String) if rest.is_empty() && name == "Length" => {
            write_count(value.as_str().map_or(0, |text| text.encode_utf16().count()), out)
        }
        (Step::Name(_), Kind::Array) => write_elements(steps, value, false, out),
        (Step::Elements, Kind::Array) => write_elements(rest, value, true, out),
        (Step::Elements, _) => write_path(rest, value, out),
        (Step::Name(_), _) => false,
    }
}

/// * `with_null`: those that lack it are null, instead of being left out.
fn write_elements(steps: &[Step], array: Raw<'_>, with_null: bool, out: &mut Vec<u8>) -> bool {
    out.push(b'[');
    let start = out.len();
    for element in array.elements() {
        let before = out.len();
        if before > start {
            out.push(b',');
        }
        match write_path(steps, element, out) {
            true => {}
            false if with_null => out.extend_from_slice(b"null"),
            false => out.truncate(before),
        }
    }
    out.push(b']');
    true
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
        let document = br#"{"Name":"Ann","A":{"City":"Oslo","Zip":null},"L":[{"P":"x","Q":1},{"P":"y"},{"Z":1}],"T":["a","b"],"E":[],"O":{"P":5}}"#;
        let step = |step: &&str| if *step == "[]" { Step::Elements } else { Step::Name((*step).to_owned()) };
        let steps: Vec<Step> = steps.iter().map(step).collect();
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
        check(&["Name", "Length"], Some("3"));
    }
}
