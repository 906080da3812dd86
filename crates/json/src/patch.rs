//! JSON Patch (RFC 6902), on text: each operation finds its place by a pointer (RFC 6901) and exchanges the bytes there. No tree is built,
//! and what no operation names keeps its bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::limits::{DEPTH_MAX, PATCH_OPERATIONS_MAX, PATCH_WORK_MAX};
use crate::{Kind, Raw, escape_into};

/// A list of operations, checked once and applied to many documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    operations: Vec<Operation>,
}

/// Why a patch is none, or cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {number} of the JSON Patch {rule}")]
pub struct PatchError {
    /// Which operation, from 1 on.
    pub number: usize,
    /// What is wrong with it: a sentence that goes on after its number.
    pub rule: String,
}

/// A path to a value: the names and places that lead to it, unescaped.
type Pointer = Vec<String>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operation {
    Add { path: Pointer, value: Vec<u8> },
    Remove { path: Pointer },
    Replace { path: Pointer, value: Vec<u8> },
    Move { from: Pointer, path: Pointer },
    Copy { from: Pointer, path: Pointer },
    Test { path: Pointer, value: Vec<u8> },
}

impl Patch {
    /// Reads `[{"op","path","value","from"}]`.
    ///
    /// # Errors
    ///
    /// An operation that RFC 6902 does not know, or that lacks something; more than [`PATCH_OPERATIONS_MAX`].
    pub fn parse(operations: Raw<'_>) -> Result<Patch, PatchError> {
        let mut patch = Patch { operations: Vec::new() };
        for operation in operations.elements() {
            let number = patch.operations.len() + 1;
            if number > PATCH_OPERATIONS_MAX {
                let rule = format!("is one more than the limit PATCH_OPERATIONS_MAX of {PATCH_OPERATIONS_MAX} allows");
                return Err(PatchError { number, rule });
            }
            let parsed = Operation::parse(operation).map_err(|rule| PatchError { number, rule })?;
            patch.operations.push(parsed);
        }
        Ok(patch)
    }

    /// Bytes in memory, about.
    pub fn size(&self) -> usize {
        let of_pointer =
            |pointer: &Pointer| pointer.iter().map(|token| size_of::<String>() + token.len()).sum::<usize>();
        let sizes = self.operations.iter().map(|operation| match operation {
            Operation::Add { path, value } | Operation::Replace { path, value } | Operation::Test { path, value } => {
                of_pointer(path) + value.len()
            }
            Operation::Remove { path } => of_pointer(path),
            Operation::Move { from, path } | Operation::Copy { from, path } => of_pointer(from) + of_pointer(path),
        });
        self.operations.len() * size_of::<Operation>() + sizes.sum::<usize>()
    }

    /// Applies all operations, or none.
    ///
    /// * `document`: checked JSON without white space.
    /// * `size_max`: bytes that it may have after each operation. All operations together go through [`PATCH_WORK_MAX`] bytes at most.
    ///
    /// The result may be nested deeper than [`DEPTH_MAX`].
    ///
    /// # Errors
    ///
    /// The place that an operation names is not there, a test fails, or the document becomes too large; there are too many operations for
    /// a document of its size.
    pub fn apply(&self, document: &[u8], size_max: usize) -> Result<Vec<u8>, PatchError> {
        let (mut text, mut work) = (document.to_vec(), 0);
        for (place, operation) in self.operations.iter().enumerate() {
            let number = place + 1;
            // Each looks for its place from the beginning.
            work += text.len() as u64;
            if work > PATCH_WORK_MAX {
                let rule = format!(
                    "is one too many for a document of {} bytes: operations go through PATCH_WORK_MAX = {PATCH_WORK_MAX} bytes; send several patches",
                    text.len()
                );
                return Err(PatchError { number, rule });
            }
            operation.apply(&mut text).map_err(|rule| PatchError { number, rule })?;
            if text.len() > size_max {
                let rule = format!("would make a document of {} bytes, over the limit of {size_max}", text.len());
                return Err(PatchError { number, rule });
            }
        }
        Ok(text)
    }
}

impl Operation {
    fn parse(operation: Raw<'_>) -> Result<Operation, String> {
        if operation.kind() != Kind::Object {
            return Err("is no object".to_owned());
        }
        let text = |name: &str| match operation.get(name) {
            None => Err(format!("has no '{name}'")),
            Some(value) => value.as_str().ok_or_else(|| format!("has a '{name}' that is no text")),
        };
        let pointer = |name: &str| parse_pointer(&text(name)?, name);
        let value = || operation.get("value").map(|value| value.bytes().to_vec()).ok_or("has no 'value'");
        Ok(match &*text("op")? {
            "add" => Operation::Add { path: pointer("path")?, value: value()? },
            "remove" => Operation::Remove { path: pointer("path")? },
            "replace" => Operation::Replace { path: pointer("path")?, value: value()? },
            "move" => Operation::Move { from: pointer("from")?, path: pointer("path")? },
            "copy" => Operation::Copy { from: pointer("from")?, path: pointer("path")? },
            "test" => Operation::Test { path: pointer("path")?, value: value()? },
            other => {
                let other: String = other.chars().take(40).collect();
                return Err(format!("has the unknown 'op' '{other}': it is add, remove, replace, move, copy or test"));
            }
        })
    }

    fn apply(&self, text: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Operation::Add { path, value } => add(text, path, value),
            Operation::Remove { path } => remove(text, path),
            Operation::Replace { path, value } => {
                let at = find(text, path)?;
                text.splice(at, value.iter().copied());
                Ok(())
            }
            Operation::Move { from, path } => {
                if path.len() > from.len() && path.starts_with(from) {
                    return Err(format!("moves '{}' into itself", display(from)));
                }
                let value = copy(text, from)?;
                if path == from {
                    return Ok(());
                }
                remove(text, from)?;
                add(text, path, &value)
            }
            Operation::Copy { from, path } => {
                let value = copy(text, from)?;
                add(text, path, &value)
            }
            Operation::Test { path, value } => {
                let at = find(text, path)?;
                let found = Raw::new(text.get(at).unwrap_or_default());
                match is_equal(found, Raw::new(value), 0) {
                    true => Ok(()),
                    false => Err(format!("fails: the value at '{}' is another one", display(path))),
                }
            }
        }
    }
}

/// Takes a pointer apart (RFC 6901, 3).
fn parse_pointer(text: &str, name: &str) -> Result<Pointer, String> {
    let Some(rest) = text.strip_prefix('/') else {
        return match text {
            "" => Ok(Vec::new()),
            _ => Err(format!("has a '{name}' that does not begin with '/'")),
        };
    };
    Ok(rest.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect())
}

fn display(pointer: &[String]) -> String {
    let text: String =
        pointer.iter().map(|token| format!("/{}", token.replace('~', "~0").replace('/', "~1"))).collect();
    text.chars().take(200).collect()
}

/// The value of an object or array that a token names, and the entry around it: with the name of a member.
struct Entry {
    whole: Range<usize>,
    value: Range<usize>,
}

/// Looks for an entry of the object or array at a place of the text. `Err`: how many elements the array has, or `None` if it is none.
fn entry(text: &[u8], within: &Range<usize>, token: &str) -> Result<Entry, Option<usize>> {
    let container = text.get(within.clone()).unwrap_or_default();
    let raw = Raw::new(container);
    match raw.kind() {
        Kind::Object => {
            let mut members = raw.members();
            loop {
                let start = within.end - members.rest().len();
                let Some((name, value)) = members.next() else { return Err(None) };
                if name.is(token) {
                    // A comma or the brace follows.
                    let end = within.end - members.rest().len() - 1;
                    return Ok(Entry { whole: start..end, value: end - value.bytes().len()..end });
                }
            }
        }
        Kind::Array => {
            let wanted = place_of(token);
            let (mut start, mut count) = (within.start + 1, 0);
            for element in raw.elements() {
                let end = start + element.bytes().len();
                if Some(count) == wanted {
                    return Ok(Entry { whole: start..end, value: start..end });
                }
                (start, count) = (end + 1, count + 1);
            }
            Err(Some(count))
        }
        _ => Err(None),
    }
}

/// The place of an element: digits without a leading zero.
fn place_of(token: &str) -> Option<usize> {
    let is_place = token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    is_place.then(|| token.parse().ok()).flatten()
}

/// Where the value at a pointer is.
fn find(text: &[u8], pointer: &[String]) -> Result<Range<usize>, String> {
    let mut at = 0..text.len();
    for (depth, token) in pointer.iter().enumerate() {
        at = entry(text, &at, token).map_err(|_| absent(pointer.get(..=depth).unwrap_or_default()))?.value;
    }
    Ok(at)
}

fn absent(pointer: &[String]) -> String {
    format!("names '{}', which is not there", display(pointer))
}

fn copy(text: &[u8], pointer: &[String]) -> Result<Vec<u8>, String> {
    let at = find(text, pointer)?;
    Ok(text.get(at).unwrap_or_default().to_vec())
}

fn add(text: &mut Vec<u8>, pointer: &[String], value: &[u8]) -> Result<(), String> {
    let Some((token, parent)) = pointer.split_last() else {
        *text = value.to_vec();
        return Ok(());
    };
    let within = find(text, parent)?;
    let kind = Raw::new(text.get(within.clone()).unwrap_or_default()).kind();
    let mut new = Vec::with_capacity(value.len() + token.len() + 4);
    let is_empty = within.len() == 2;
    let found = if token == "-" && kind == Kind::Array { None } else { Some(entry(text, &within, token)) };
    match (kind, found) {
        (Kind::Object, Some(Ok(entry))) => {
            text.splice(entry.value, value.iter().copied());
            return Ok(());
        }
        (Kind::Object, _) => {
            new.extend_from_slice(if is_empty { b"\"" } else { b",\"" });
            escape_into(&mut new, token);
            new.extend_from_slice(b"\":");
            new.extend_from_slice(value);
        }
        (Kind::Array, Some(Ok(entry))) => {
            new.extend_from_slice(value);
            new.push(b',');
            text.splice(entry.whole.start..entry.whole.start, new);
            return Ok(());
        }
        (Kind::Array, Some(Err(count))) if count.is_none() || place_of(token) != count => {
            let count = count.unwrap_or_default();
            let token: String = token.chars().take(40).collect();
            return Err(format!("adds element '{token}' to '{}', which has {count} elements", display(parent)));
        }
        (Kind::Array, _) => {
            if !is_empty {
                new.push(b',');
            }
            new.extend_from_slice(value);
        }
        _ => return Err(format!("adds to '{}', which is neither an object nor an array", display(parent))),
    }
    // Before the closing brace or bracket.
    text.splice(within.end - 1..within.end - 1, new);
    Ok(())
}

fn remove(text: &mut Vec<u8>, pointer: &[String]) -> Result<(), String> {
    let Some((token, parent)) = pointer.split_last() else { return Err("removes the whole document".to_owned()) };
    let within = find(text, parent)?;
    let Range { start, end } = entry(text, &within, token).map_err(|_| absent(pointer))?.whole;
    // With one of the commas beside it.
    let at = match text.get(end) {
        Some(b',') => start..end + 1,
        _ if start > within.start + 1 => start - 1..end,
        _ => start..end,
    };
    text.drain(at);
    Ok(())
}

/// Whether two values are equal (RFC 6902, 4.6): numbers by their values, objects without regard to the order of their members.
fn is_equal(one: Raw<'_>, other: Raw<'_>, depth: usize) -> bool {
    if one.bytes() == other.bytes() {
        return true;
    }
    // Operations can nest deeper than what comes in may be; such values are equal if their texts are.
    if one.kind() != other.kind() || depth > DEPTH_MAX {
        return false;
    }
    match one.kind() {
        Kind::Number => is_equal_number(one, other),
        Kind::String => one.as_str() == other.as_str(),
        Kind::Array => {
            let (mut ones, mut others) = (one.elements(), other.elements());
            loop {
                match (ones.next(), others.next()) {
                    (None, None) => return true,
                    (Some(one), Some(other)) if is_equal(one, other, depth + 1) => {}
                    _ => return false,
                }
            }
        }
        Kind::Object => {
            let others: HashMap<Cow<'_, str>, Raw<'_>> =
                other.members().map(|(name, value)| (name.decode(), value)).collect();
            let mut count = 0;
            let all = one.members().all(|(name, value)| {
                count += 1;
                others.get(&name.decode()).is_some_and(|other| is_equal(value, *other, depth + 1))
            });
            all && count == others.len()
        }
        Kind::Bool | Kind::Null => false,
    }
}

/// Whole numbers are compared as such: beyond 2^53 several of them are one double.
fn is_equal_number(one: Raw<'_>, other: Raw<'_>) -> bool {
    let is_whole = |number: Raw<'_>| number.number_text().is_some_and(|text| !text.contains(['.', 'e', 'E']));
    match (one.as_i64(), other.as_i64()) {
        (Some(one), Some(other)) => one == other,
        // Their texts differ.
        _ if is_whole(one) && is_whole(other) => false,
        _ => one.as_f64().is_some() && one.as_f64() == other.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn apply(document: &str, operations: &str) -> Result<String, PatchError> {
        let patch = Patch::parse(Raw::new(operations.as_bytes()))?;
        patch.apply(document.as_bytes(), 1 << 20).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn operations_on_a_large_document_are_bounded_by_what_they_go_through() {
        let size = usize::try_from(PATCH_WORK_MAX / 100).unwrap();
        let document = format!(r#"{{"a":1,"b":"{}"}}"#, "x".repeat(size));
        let operations = |count: usize| {
            let operations = vec![r#"{"op":"test","path":"/a","value":1}"#; count].join(",");
            let patch = Patch::parse(Raw::new(format!("[{operations}]").as_bytes())).unwrap();
            patch.apply(document.as_bytes(), usize::MAX).map(|text| text.len())
        };
        assert_eq!(operations(3), Ok(document.len()));
        let refused = operations(100).unwrap_err();
        assert!(refused.number == 100 && refused.rule.contains("PATCH_WORK_MAX"), "{refused:?}");
    }

    /// The examples of appendix A of RFC 6902, and what surrounds them.
    #[test]
    fn the_examples_of_the_standard() {
        for (document, operations, expected) in [
            (r#"{"foo":"bar"}"#, r#"[{"op":"add","path":"/baz","value":"qux"}]"#, r#"{"foo":"bar","baz":"qux"}"#),
            (
                r#"{"foo":["bar","baz"]}"#,
                r#"[{"op":"add","path":"/foo/1","value":"qux"}]"#,
                r#"{"foo":["bar","qux","baz"]}"#,
            ),
            (r#"{"baz":"qux","foo":"bar"}"#, r#"[{"op":"remove","path":"/baz"}]"#, r#"{"foo":"bar"}"#),
            (r#"{"baz":"qux","foo":"bar"}"#, r#"[{"op":"remove","path":"/foo"}]"#, r#"{"baz":"qux"}"#),
            (r#"{"foo":["bar","qux","baz"]}"#, r#"[{"op":"remove","path":"/foo/1"}]"#, r#"{"foo":["bar","baz"]}"#),
            (r#"{"foo":["bar"]}"#, r#"[{"op":"remove","path":"/foo/0"}]"#, r#"{"foo":[]}"#),
            (r#"{"baz":"qux"}"#, r#"[{"op":"replace","path":"/baz","value":"boo"}]"#, r#"{"baz":"boo"}"#),
            (
                r#"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
                r#"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
                r#"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#,
            ),
            (
                r#"{"foo":["all","grass","cows","eat"]}"#,
                r#"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#,
                r#"{"foo":["all","cows","eat","grass"]}"#,
            ),
            (
                r#"{"baz":"qux","foo":["a",2,"c"]}"#,
                r#"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2.0}]"#,
                r#"{"baz":"qux","foo":["a",2,"c"]}"#,
            ),
            (
                r#"{"foo":"bar"}"#,
                r#"[{"op":"add","path":"/child","value":{"g":{}}}]"#,
                r#"{"foo":"bar","child":{"g":{}}}"#,
            ),
            (r#"{"/":9,"~1":10}"#, r#"[{"op":"test","path":"/~01","value":10}]"#, r#"{"/":9,"~1":10}"#),
            (r#"{"foo":["bar"]}"#, r#"[{"op":"add","path":"/foo/-","value":["abc"]}]"#, r#"{"foo":["bar",["abc"]]}"#),
            (r#"{"foo":[]}"#, r#"[{"op":"add","path":"/foo/-","value":1}]"#, r#"{"foo":[1]}"#),
            (r#"{}"#, r#"[{"op":"add","path":"/a~1b","value":1}]"#, r#"{"a/b":1}"#),
            (r#"{"a":1}"#, r#"[{"op":"replace","path":"","value":{"b":2}}]"#, r#"{"b":2}"#),
            (
                r#"{"a":{"x":1,"y":[1]}}"#,
                r#"[{"op":"test","path":"/a","value":{"y":[1.0],"x":1}}]"#,
                r#"{"a":{"x":1,"y":[1]}}"#,
            ),
            (r#"{"a":1}"#, r#"[{"op":"move","from":"/a","path":"/a"}]"#, r#"{"a":1}"#),
        ] {
            assert_eq!(apply(document, operations).as_deref(), Ok(expected), "{operations}");
        }
    }

    #[test]
    fn what_cannot_be_applied_names_its_operation_and_place() {
        for (document, operations, rule) in [
            (r#"{"a":1}"#, r#"[{"op":"add","path":"/b/c","value":1}]"#, "names '/b', which is not there"),
            (r#"{"a":1}"#, r#"[{"op":"add","path":"/a/c","value":1}]"#, "adds to '/a', which is neither"),
            (r#"{"a":[1]}"#, r#"[{"op":"add","path":"/a/2","value":1}]"#, "which has 1 elements"),
            (r#"{"a":[1]}"#, r#"[{"op":"add","path":"/a/01","value":1}]"#, "which has 1 elements"),
            (r#"{"a":[1]}"#, r#"[{"op":"remove","path":"/a/-"}]"#, "names '/a/-', which is not there"),
            (r#"{"a":1}"#, r#"[{"op":"remove","path":""}]"#, "removes the whole document"),
            (r#"{"a":{}}"#, r#"[{"op":"move","from":"/a","path":"/a/b"}]"#, "moves '/a' into itself"),
            (r#"{"a":"10"}"#, r#"[{"op":"test","path":"/a","value":10}]"#, "fails: the value at '/a'"),
            (r#"{"a":9007199254740992}"#, r#"[{"op":"test","path":"/a","value":9007199254740993}]"#, "fails"),
            (r#"{"a":{"b":1}}"#, r#"[{"op":"test","path":"/a","value":{"b":1,"c":2}}]"#, "fails"),
            (r#"{}"#, r#"[{"op":"add","path":"a","value":1}]"#, "does not begin with '/'"),
            (r#"{}"#, r#"[{"op":"add","path":"/a"}]"#, "has no 'value'"),
            (r#"{}"#, r#"[{"op":"copy","path":"/a"}]"#, "has no 'from'"),
            (r#"{}"#, r#"[{"op":"spam","path":"/a"}]"#, "unknown 'op' 'spam'"),
            (r#"{}"#, r#"[{"path":"/a"}]"#, "has no 'op'"),
            (r#"{}"#, r#"[1]"#, "is no object"),
        ] {
            let error = apply(document, operations).unwrap_err();
            assert_eq!(error.number, 1);
            assert!(error.rule.contains(rule), "{operations}: {error}");
        }
        let second = r#"[{"op":"add","path":"/a","value":1},{"op":"test","path":"/a","value":2}]"#;
        assert_eq!(apply("{}", second).unwrap_err().number, 2);
    }

    #[test]
    fn copies_of_copies_stay_bounded() {
        let copies = r#"{"op":"copy","from":"","path":"/a"},{"op":"copy","from":"","path":"/b"}"#;
        let operations = format!("[{}]", vec![copies; 50].join(","));
        let error = apply(r#"{"a":{},"b":"0123456789"}"#, &operations).unwrap_err();
        assert!(error.rule.contains("over the limit of 1048576"), "{error}");
        let many = format!("[{}]", vec![r#"{"op":"test","path":"/a","value":1}"#; PATCH_OPERATIONS_MAX + 1].join(","));
        assert!(apply("{}", &many).unwrap_err().rule.contains("PATCH_OPERATIONS_MAX"));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Value::from),
            (0..4i64).prop_map(Value::from),
            "[a-c\"\\\\/~]{0,2}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-c\"\\\\/~]{0,2}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// All pointers into a value, those of new entries included.
    fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
        let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
        found.push(at.to_owned());
        match value {
            Value::Object(map) => {
                found.push(format!("{at}/new"));
                map.iter().for_each(|(name, value)| pointers(value, &format!("{at}/{}", escaped(name)), found));
            }
            Value::Array(list) => {
                found.push(format!("{at}/{}", list.len()));
                list.iter().enumerate().for_each(|(place, value)| pointers(value, &format!("{at}/{place}"), found));
            }
            _ => {}
        }
    }

    /// The same by a tree; `None`: it cannot be applied.
    fn by_tree(document: &mut Value, op: &str, path: &str, value: &Value) -> Option<()> {
        let Some((parent, token)) = path.rsplit_once('/') else {
            match op {
                "remove" => return None,
                "test" => return (document == value).then_some(()),
                _ => *document = value.clone(),
            }
            return Some(());
        };
        let token = token.replace("~1", "/").replace("~0", "~");
        if op == "test" {
            return (document.pointer(path)? == value).then_some(());
        }
        match (document.pointer_mut(parent)?, op) {
            (Value::Object(map), "remove") => map.remove(&token).map(|_| ()),
            (Value::Object(map), "replace") => map.get_mut(&token).map(|place| *place = value.clone()),
            (Value::Object(map), _) => {
                map.insert(token, value.clone());
                Some(())
            }
            (Value::Array(list), op) => {
                let place: usize = token.parse().ok()?;
                match op {
                    "remove" if place < list.len() => _ = list.remove(place),
                    "replace" => *list.get_mut(place)? = value.clone(),
                    "add" if place <= list.len() => list.insert(place, value.clone()),
                    _ => return None,
                }
                Some(())
            }
            _ => None,
        }
    }

    proptest! {
        #[test]
        fn text_and_tree_come_to_the_same(document in values(), value in values(), choice in any::<prop::sample::Index>(), op in prop::sample::select(vec!["add", "remove", "replace", "test"])) {
            let mut all = Vec::new();
            pointers(&document, "", &mut all);
            let path = choice.get(&all);
            let operations = json!([{ "op": op, "path": path, "value": value }]).to_string();
            let text = apply(&document.to_string(), &operations);
            let mut tree = document.clone();
            match by_tree(&mut tree, op, path, &value) {
                None => prop_assert!(text.is_err(), "{operations} on {document}: {text:?}"),
                Some(()) => prop_assert_eq!(serde_json::from_str::<Value>(&text.unwrap()).unwrap(), tree),
            }
        }
    }
}
