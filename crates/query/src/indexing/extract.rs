//! Reading the fields of an index out of a document, in one pass over its text.
//!
//! Paths are put together into a tree, so that an object's properties are walked through once, however many fields lie below
//! it. Arrays are entered with and without `[]`; a field of several values has several terms. Texts that are dates or durations have parts.

use crate::mapping::{Property, part_named, part_of};
use json::{Kind, Raw};

/// The paths of several fields as a tree.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    root: PathNode,
}

#[derive(Debug, Default)]
struct PathNode {
    /// The fields that end here: `Lines[].P` and `Lines.P` are two.
    fields: Vec<Field>,
    /// What follows, by name.
    next: Vec<(String, PathNode)>,
    /// The part of a date or a duration that has the name of the step.
    part: Option<Property>,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    number: usize,
    /// It ends with `[]`: an array that is null has none of it.
    is_of_elements: bool,
}

/// A value of a field.
pub(crate) enum ExtractedValue<'d> {
    /// A scalar, or an object.
    Value(Raw<'d>),
    /// How many elements an array has, characters a text, or properties an object.
    Count(usize),
    /// The JSON of a part of a date or a duration.
    Part(Vec<u8>),
}

/// What follows an array, a text or an object to say how long it is.
const COUNTS: [&str; 2] = ["Count", "Length"];

impl Paths {
    /// Adds a field. `Lines[].Product` and `Lines.Product` lead to the same.
    pub fn add(&mut self, path: &str, field: usize) -> &mut Paths {
        let mut step = &mut self.root;
        for name in path.split('.').map(|part| part.trim_end_matches("[]")).filter(|name| !name.is_empty()) {
            let found = step.next.iter().position(|(other, _)| other == name);
            let at = found.unwrap_or_else(|| {
                let part = part_named(name);
                step.next.push((name.to_owned(), PathNode { part, ..PathNode::default() }));
                step.next.len() - 1
            });
            step = &mut step.next[at].1;
        }
        step.fields.push(Field { number: field, is_of_elements: path.ends_with("[]") });
        self
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.root.next.is_empty()
    }
}

/// Whether a value is counted by the step that leads to it: elements are not, the array that they are in is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    Value,
    Element,
}

impl Paths {
    /// Calls `found` with each value of each field.
    pub fn visit<'d, E>(
        &self,
        document: Raw<'d>,
        found: &mut dyn FnMut(usize, ExtractedValue<'d>) -> Result<(), E>,
    ) -> Result<(), E> {
        visit(&self.root, document, As::Value, found)
    }
}

/// The recursion ends: each call goes one step down a path, or into an array of a document, whose depth is bounded.
fn visit<'d, E>(
    step: &PathNode,
    value: Raw<'d>,
    standing: As,
    found: &mut dyn FnMut(usize, ExtractedValue<'d>) -> Result<(), E>,
) -> Result<(), E> {
    let kind = value.kind();
    if kind != Kind::Array {
        let is_no_array = kind == Kind::Null && standing == As::Value;
        let mut fields = step.fields.iter().filter(|field| !(is_no_array && field.is_of_elements));
        fields.try_for_each(|field| found(field.number, ExtractedValue::Value(value)))?;
    }
    // What is counted, and whether a property of the name stands in the way.
    let count = match kind {
        Kind::Array => {
            let mut count = 0;
            for element in value.elements() {
                count += 1;
                visit(step, element, As::Element, found)?;
            }
            Some(count)
        }
        _ if step.next.is_empty() => return Ok(()),
        Kind::Object => visit_members(step, value, found)?,
        Kind::String => visit_text(step, &value.as_str().unwrap_or_default(), found)?,
        Kind::Null | Kind::Bool | Kind::Number => None,
    };
    match count.filter(|_| standing == As::Value) {
        Some(count) => visit_count(step, count, found),
        None => Ok(()),
    }
}

/// Gives how many there are, unless one of them has the name of a count.
fn visit_members<'d, E>(
    step: &PathNode,
    object: Raw<'d>,
    found: &mut dyn FnMut(usize, ExtractedValue<'d>) -> Result<(), E>,
) -> Result<Option<usize>, E> {
    let (mut count, mut has_count) = (0, false);
    for (name, value) in object.members() {
        count += 1;
        for (next, step) in &step.next {
            if name.is(next) {
                has_count |= COUNTS.contains(&next.as_str());
                visit(step, value, As::Value, found)?;
            }
        }
    }
    Ok((!has_count).then_some(count))
}

/// Gives the parts of a date or a duration. Gives how many characters the text has.
fn visit_text<'d, E>(
    step: &PathNode,
    text: &str,
    found: &mut dyn FnMut(usize, ExtractedValue<'d>) -> Result<(), E>,
) -> Result<Option<usize>, E> {
    for (_, step) in step.next.iter().filter(|(_, step)| !step.fields.is_empty()) {
        let Some(part) = step.part.and_then(|part| part_of(text, part)) else { continue };
        step.fields.iter().try_for_each(|field| found(field.number, ExtractedValue::Part(part.clone())))?;
    }
    Ok(Some(text.encode_utf16().count()))
}

fn visit_count<'d, E>(
    step: &PathNode,
    count: usize,
    found: &mut dyn FnMut(usize, ExtractedValue<'d>) -> Result<(), E>,
) -> Result<(), E> {
    for (_, step) in step.next.iter().filter(|(next, _)| COUNTS.contains(&next.as_str())) {
        step.fields.iter().try_for_each(|field| found(field.number, ExtractedValue::Count(count)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, paths: &[&str], expected: &[&str]) {
        let mut tree = Paths::default();
        paths.iter().enumerate().for_each(|(field, path)| _ = tree.add(path, field));
        let mut values = Vec::new();
        let found = &mut |field: usize, found: ExtractedValue<'_>| {
            values.push(match found {
                ExtractedValue::Value(value) => format!("{}={}", paths[field], String::from_utf8_lossy(value.bytes())),
                ExtractedValue::Part(json) => format!("{}={}", paths[field], String::from_utf8(json).unwrap()),
                ExtractedValue::Count(count) => format!("{}={count}", paths[field]),
            });
            Ok::<(), ()>(())
        };
        tree.visit(Raw::new(document.as_bytes()), found).unwrap();
        assert_eq!(values, expected);
    }

    #[test]
    fn values_are_found_at_their_paths() {
        let text = r#"{"A":1,"B":{"C":null,"D":[true,[{"E":"x"},"y"]]},"L":[{"P":"p"},{"P":["q","r"]},7]}"#;
        check(text, &["A", "B.C", "Missing", "A.B"], &["A=1", "B.C=null"]);
        check(text, &["B.D"], &["B.D=true", r#"B.D={"E":"x"}"#, r#"B.D="y""#]);
        check(text, &["B.D.E"], &[r#"B.D.E="x""#]);
        for path in ["L[].P", "L.P", "L[].P[]"] {
            check(text, &[path], &["p", "q", "r"].map(|value| format!("{path}=\"{value}\"")).each_ref().map(|v| &**v));
        }
        check(r#"{"L":[{"P":1}]}"#, &["L[].P", "L.P"], &["L[].P=1", "L.P=1"]);
        check(text, &["B"], &[r#"B={"C":null,"D":[true,[{"E":"x"},"y"]]}"#]);
        check(r#"{"A":[]}"#, &["A", "A.Count"], &["A.Count=0"]);
    }

    #[test]
    fn an_array_that_is_null_has_no_elements() {
        check(r#"{"A":null}"#, &["A", "A[]", "A[].P"], &["A=null"]);
        check(r#"{"A":[null]}"#, &["A", "A[]"], &["A=null", "A[]=null"]);
        check(r#"{"A":[{"P":null}]}"#, &["A[].P", "A[].P[]"], &["A[].P=null"]);
    }

    #[test]
    fn dates_and_durations_have_parts() {
        let text =
            r#"{"D":"2023-04-30T08:30:00Z","S":"02:10:00","L":["2020-01-02","x",{"Year":7}],"O":{"D":{"Year":1}}}"#;
        check(
            text,
            &["D.Year", "D.DayOfWeek", "D"],
            &["D=\"2023-04-30T08:30:00Z\"", "D.Year=2023", "D.DayOfWeek=\"Sunday\""],
        );
        check(text, &["S.Hours", "S.Year", "O.D.Year"], &["S.Hours=2", "O.D.Year=1"]);
        check(text, &["L.Year"], &["L.Year=2020", "L.Year=7"]);
        check(text, &["D.Date.Year", "D.Nope"], &[]);
    }

    #[test]
    fn counts_are_those_of_arrays_texts_and_objects() {
        check(r#"{"A":["four",[1,2],{"x":1}]}"#, &["A.Length"], &["A.Length=3"]);
        check(r#"{"A":[1,2,3]}"#, &["A.Length", "A.Count"], &["A.Length=3", "A.Count=3"]);
        check(r#"{"A":[{"Count":9},{"x":1}]}"#, &["A.Count"], &["A.Count=9", "A.Count=2"]);
        check(r#"{"A":{"Count":9}}"#, &["A.Count"], &["A.Count=9"]);
        check(r#"{"A":{"x":9}}"#, &["A.Count"], &["A.Count=1"]);
        check("{\"A\":\"\u{1f426}b\"}", &["A.Length"], &["A.Length=3"]);
        check(r#"{"A":5}"#, &["A.Length"], &[]);
    }
}
