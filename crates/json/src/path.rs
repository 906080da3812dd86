//! Paths into documents, as includes write them: `Lines[].Product`, `Address.CityId`, `Prices.$Keys`.
//!
//! A name leads into an object; `[]` to every element of an array; `$Keys` and `$Values` to what an object has. Arrays are
//! also entered without `[]`, since clients leave it out.

use std::borrow::Cow;

use crate::{Kind, Raw};

/// A path, taken apart once and used for many documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    steps: Vec<PathStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Name(String),
    Elements,
    Keys,
    Values,
}

impl Path {
    /// Takes a path apart. Every text is a path; one that fits no document finds nothing.
    pub fn new(text: &str) -> Self {
        let mut steps = Vec::new();
        for part in text.split('.').filter(|part| !part.is_empty()) {
            let (name, is_array) = match part.strip_suffix("[]") {
                Some(name) => (name, true),
                None => (part, false),
            };
            match name {
                "$Keys" => steps.push(PathStep::Keys),
                "$Values" => steps.push(PathStep::Values),
                "" => {}
                name => steps.push(PathStep::Name(name.to_owned())),
            }
            if is_array {
                steps.push(PathStep::Elements);
            }
        }
        Path { steps }
    }

    /// Calls `found` with every value at this path, in the document's order. Keys come as strings.
    pub fn visit<'a>(&self, value: Raw<'a>, found: &mut dyn FnMut(PathMatch<'a>)) {
        visit(&self.steps, value, found);
    }

    /// The texts at this path: strings as they are, numbers as they are written, the elements of arrays; nothing else.
    pub fn texts<'a>(&self, value: Raw<'a>) -> Vec<Cow<'a, str>> {
        let mut texts = Vec::new();
        self.visit(value, &mut |found| match found {
            PathMatch::Key(key) => texts.push(key),
            PathMatch::Value(value) => push_texts(value, &mut texts),
        });
        texts
    }
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathMatch<'a> {
    /// The name of a property, by `$Keys`.
    Key(Cow<'a, str>),
    /// A value.
    Value(Raw<'a>),
}

// The depth of the recursion is at most the number of steps plus the depth of arrays in arrays, both bounded.
fn visit<'a>(steps: &[PathStep], value: Raw<'a>, found: &mut dyn FnMut(PathMatch<'a>)) {
    let Some((step, rest)) = steps.split_first() else { return found(PathMatch::Value(value)) };
    match (step, value.kind()) {
        (PathStep::Elements, Kind::Array) => value.elements().for_each(|element| visit(rest, element, found)),
        (_, Kind::Array) => value.elements().for_each(|element| visit(steps, element, found)),
        (PathStep::Name(name), Kind::Object) => {
            if let Some(value) = value.get(name) {
                visit(rest, value, found);
            }
        }
        (PathStep::Keys, Kind::Object) => value.members().for_each(|(key, _)| found(PathMatch::Key(key.decode()))),
        (PathStep::Values, Kind::Object) => value.members().for_each(|(_, value)| visit(rest, value, found)),
        _ => {}
    }
}

fn push_texts<'a>(value: Raw<'a>, texts: &mut Vec<Cow<'a, str>>) {
    match value.kind() {
        Kind::String => texts.extend(value.as_str()),
        Kind::Number => texts.extend(value.number_text().map(Cow::Borrowed)),
        Kind::Array => value.elements().for_each(|element| push_texts(element, texts)),
        Kind::Null | Kind::Bool | Kind::Object => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: &[&str]) {
        let text = br#"{"Company":"companies/1","N":7,"Lines":[{"Product":"p/1"},{"Product":["p/2","p/3"]},{"X":null}],"Address":{"CityId":"c/1"},"Dict":{"k/1":"v/1","k/2":"v/2"},"Ids":["i/1",2]}"#;
        assert_eq!(Path::new(path).texts(Raw::new(text)), expected, "{path}");
    }

    #[test]
    fn paths_find_names_elements_keys_and_values() {
        check("Company", &["companies/1"]);
        check("N", &["7"]);
        check("Lines[].Product", &["p/1", "p/2", "p/3"]);
        check("Lines.Product", &["p/1", "p/2", "p/3"]);
        check("Address.CityId", &["c/1"]);
        check("Dict.$Keys", &["k/1", "k/2"]);
        check("Dict.$Values", &["v/1", "v/2"]);
        check("Ids", &["i/1", "2"]);
        check("Ids[]", &["i/1", "2"]);
        check("Missing.Deep[].X", &[]);
        check("Company.X", &[]);
    }
}
