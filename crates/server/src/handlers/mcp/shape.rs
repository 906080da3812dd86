//! The shape of documents: which fields they have, of which types, how often, and with which values.
//!
//! A path joins names by `.`, and `[]` stands for the elements of an array: `Lines[].Product`. Bounds: paths, depth, elements of one array,
//! and examples ([`crate::limits`]), so that documents with ids as names give an answer of bounded size.

use std::collections::HashMap;

use json::{Kind, Raw, Writer};

use crate::limits::{
    MCP_EXAMPLE_SIZE_MAX, MCP_SHAPE_DEPTH_MAX, MCP_SHAPE_ELEMENTS_MAX, MCP_SHAPE_EXAMPLES_MAX, MCP_SHAPE_PATHS_MAX,
};

/// What documents have in common.
#[derive(Debug, Default)]
pub(super) struct Shape {
    documents: u64,
    ids: Vec<String>,
    fields: Vec<FieldShape>,
    /// Places in `fields`.
    places: HashMap<String, usize>,
    is_cut: bool,
}

#[derive(Debug)]
struct FieldShape {
    path: String,
    /// Documents that have it, and the last of them.
    documents: u64,
    last_document: u64,
    /// Values of each type, in the order in which they came.
    types: Vec<(&'static str, u64)>,
    examples: Vec<String>,
}

impl Shape {
    /// Looks at one more document.
    pub(super) fn add(&mut self, document: Raw<'_>) {
        self.documents += 1;
        for (name, value) in document.members() {
            let name = name.decode();
            if name == "@metadata" {
                let id = value.get("@id").and_then(Raw::as_str);
                if self.ids.len() < MCP_SHAPE_EXAMPLES_MAX {
                    self.ids.extend(id.map(|id| id.into_owned()));
                }
                continue;
            }
            self.add_value(&name, value, 1);
        }
    }

    fn add_value(&mut self, path: &str, value: Raw<'_>, depth: usize) {
        let documents = self.documents;
        let Some(field) = self.field(path) else { return };
        if field.last_document != documents {
            (field.last_document, field.documents) = (documents, field.documents + 1);
        }
        let kind = type_of(value);
        match field.types.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => field.types.push((kind, 1)),
        }
        match value.kind() {
            Kind::Object | Kind::Array if depth == MCP_SHAPE_DEPTH_MAX => {}
            Kind::Object => {
                for (name, member) in value.members() {
                    self.add_value(&format!("{path}.{}", name.decode()), member, depth + 1);
                }
            }
            Kind::Array => {
                let path = format!("{path}[]");
                value
                    .elements()
                    .take(MCP_SHAPE_ELEMENTS_MAX)
                    .for_each(|element| self.add_value(&path, element, depth + 1));
            }
            _ if field.examples.len() < MCP_SHAPE_EXAMPLES_MAX => {
                let example = example_of(value);
                if !field.examples.contains(&example) {
                    field.examples.push(example);
                }
            }
            _ => {}
        }
    }

    /// `None`: there are too many paths for one more.
    fn field(&mut self, path: &str) -> Option<&mut FieldShape> {
        if let Some(&place) = self.places.get(path) {
            return self.fields.get_mut(place);
        }
        if self.fields.len() == MCP_SHAPE_PATHS_MAX {
            self.is_cut = true;
            return None;
        }
        self.places.insert(path.to_owned(), self.fields.len());
        let path = path.to_owned();
        self.fields.push(FieldShape { path, documents: 0, last_document: 0, types: Vec::new(), examples: Vec::new() });
        self.fields.last_mut()
    }

    /// Writes `sampled`, `ids` and `fields`.
    pub(super) fn write(&self, json: &mut Writer<'_>) {
        json.name("sampled").unsigned(self.documents);
        json.name("ids").array(|json| self.ids.iter().for_each(|id| _ = json.string(id)));
        json.name("fields").array(|json| {
            for field in &self.fields {
                json.object(|json| {
                    json.name("path").string(&field.path);
                    json.name("types").object(|json| {
                        field.types.iter().for_each(|(kind, count)| _ = json.name(kind).unsigned(*count));
                    });
                    // Two digits are enough to see what is rare.
                    let share = (100 * field.documents).div_ceil(self.documents.max(1)) as f64 / 100.0;
                    json.name("share").double(share);
                    json.name("examples").array(|json| {
                        field.examples.iter().for_each(|example| _ = json.raw(example.as_bytes()));
                    });
                });
            }
        });
    }

    /// Says where the shape was cut.
    pub(super) fn note(&self) -> Option<String> {
        self.is_cut.then(|| format!("cut at {MCP_SHAPE_PATHS_MAX} fields; get_document shows a document whole"))
    }
}

fn type_of(value: Raw<'_>) -> &'static str {
    match value.kind() {
        Kind::Object => "object",
        Kind::Array => "array",
        Kind::Bool => "boolean",
        Kind::Null => "null",
        Kind::Number if value.number_text().is_some_and(|text| text.contains(['.', 'e', 'E'])) => "number",
        Kind::Number => "integer",
        Kind::String if value.as_str().is_some_and(|text| is_date(&text)) => "date",
        Kind::String => "string",
    }
}

/// Whether a text begins as `2015-01-15` and ends there, or goes on with a time.
fn is_date(text: &str) -> bool {
    let digits = |byte: &u8, place: usize| if place == 4 || place == 7 { *byte == b'-' } else { byte.is_ascii_digit() };
    let bytes = text.as_bytes();
    let (Some(date), rest) = (bytes.get(..10), bytes.get(10)) else { return false };
    date.iter().enumerate().all(|(place, byte)| digits(byte, place)) && matches!(rest, None | Some(b'T' | b' '))
}

/// A value as JSON; a long text is cut.
fn example_of(value: Raw<'_>) -> String {
    match value.as_str() {
        Some(text) if text.len() > MCP_EXAMPLE_SIZE_MAX => {
            let mut quoted = vec![b'"'];
            json::escape_into(&mut quoted, &text[..text.floor_char_boundary(MCP_EXAMPLE_SIZE_MAX)]);
            quoted.extend_from_slice("…\"".as_bytes());
            String::from_utf8_lossy(&quoted).into_owned()
        }
        _ => String::from_utf8_lossy(value.bytes()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(documents: &[&str], expected: &str) {
        let mut shape = Shape::default();
        documents.iter().for_each(|document| shape.add(Raw::new(document.as_bytes())));
        let mut out = Vec::new();
        Writer::new(&mut out).object(|json| shape.write(json));
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn types_shares_and_examples_of_each_path() {
        check(
            &[
                r#"{"Name":"A","At":"2015-01-15T00:41:16.6616631Z","Lines":[{"N":1},{"N":2.5}],"@metadata":{"@id":"a/1"}}"#,
                r#"{"Name":null,"Lines":[],"@metadata":{"@id":"a/2"}}"#,
            ],
            concat!(
                r#"{"sampled":2,"ids":["a/1","a/2"],"fields":["#,
                r#"{"path":"Name","types":{"string":1,"null":1},"share":1,"examples":["A",null]},"#,
                r#"{"path":"At","types":{"date":1},"share":0.5,"examples":["2015-01-15T00:41:16.6616631Z"]},"#,
                r#"{"path":"Lines","types":{"array":2},"share":1,"examples":[]},"#,
                r#"{"path":"Lines[]","types":{"object":2},"share":0.5,"examples":[]},"#,
                r#"{"path":"Lines[].N","types":{"integer":1,"number":1},"share":0.5,"examples":[1,2.5]}]}"#,
            ),
        );
    }

    #[test]
    fn documents_with_any_number_of_names_give_a_bounded_shape() {
        let mut shape = Shape::default();
        for number in 0..1000 {
            let deep = format!("{{\"{}\":{}1{}}}", number, "{\"a\":".repeat(90), "}".repeat(90));
            shape.add(Raw::new(deep.as_bytes()));
        }
        assert_eq!(shape.fields.len(), MCP_SHAPE_PATHS_MAX);
        assert!(shape.note().is_some());
        assert!(shape.fields.iter().all(|field| field.path.matches('.').count() < MCP_SHAPE_DEPTH_MAX));
    }

    #[test]
    fn a_long_text_is_cut() {
        let text = format!("\"{}\\\"é\"", "é".repeat(40));
        let example = example_of(Raw::new(text.as_bytes()));
        assert_eq!(example, format!("\"{}…\"", "é".repeat(30)));
    }
}
