//! The fields of a collection, found in a sample of its documents.

use std::collections::BTreeSet;

use json::Value;

/// Documents of a sample.
pub(super) const SAMPLE_COUNT: u64 = 100;

/// Levels of objects whose fields are listed one by one.
const DEPTH_MAX: usize = 3;

/// Characters of an example.
const EXAMPLE_LENGTH_MAX: usize = 40;

/// A field of documents.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// As in a query: `ShipTo.City`, `Lines[].Product`.
    pub path: String,
    pub types: BTreeSet<&'static str>,
    /// Documents of the sample that have it.
    pub count: u64,
    pub example: String,
    /// The last document that it was counted for.
    last: usize,
}

/// The fields of documents in the order in which they come, metadata left out.
pub(super) fn fields(documents: &[Value]) -> Vec<Field> {
    let mut fields = Vec::new();
    for (at, document) in documents.iter().enumerate() {
        add(&mut fields, "", document, at + 1, 0);
    }
    fields
}

fn add(fields: &mut Vec<Field>, path: &str, value: &Value, document: usize, depth: usize) {
    if !path.is_empty() {
        note(fields, path, value, document);
    }
    match value {
        Value::Object(members) if depth < DEPTH_MAX => {
            for (name, value) in members.iter().filter(|(name, _)| depth > 0 || name != "@metadata") {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                add(fields, &path, value, document, depth + 1);
            }
        }
        Value::Array(elements) if depth < DEPTH_MAX => {
            let objects = elements.iter().filter(|element| matches!(element, Value::Object(_)));
            for (name, value) in objects.flat_map(Value::members) {
                add(fields, &format!("{path}[].{name}"), value, document, depth + 1);
            }
        }
        _ => {}
    }
}

fn note(fields: &mut Vec<Field>, path: &str, value: &Value, document: usize) {
    let at = fields.iter().position(|field| field.path == path).unwrap_or_else(|| {
        let path = path.to_owned();
        fields.push(Field { path, types: BTreeSet::new(), count: 0, example: String::new(), last: 0 });
        fields.len() - 1
    });
    let field = &mut fields[at];
    if field.last != document {
        field.last = document;
        field.count += 1;
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    field.types.insert(kind);
    if field.example.is_empty() && !matches!(value, Value::Null | Value::Object(_)) {
        let text = match value {
            Value::String(text) => text.clone(),
            value => String::from_utf8_lossy(&value.to_vec()).into_owned(),
        };
        field.example = text.chars().take(EXAMPLE_LENGTH_MAX).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_types_counts_and_examples() {
        let documents = [
            r#"{"Name":"Ann","Address":{"City":"Oslo"},"Lines":[{"Product":1},{"Product":"x"}],"@metadata":{"@id":"a"}}"#,
            r#"{"Name":null,"Age":5}"#,
        ];
        let documents = documents.map(|text| Value::parse(text.as_bytes()).unwrap());
        let shown: Vec<String> = fields(&documents)
            .iter()
            .map(|field| {
                let types: Vec<&str> = field.types.iter().copied().collect();
                format!("{} {} {} {}", field.path, types.join("/"), field.count, field.example)
            })
            .collect();
        let expected = [
            "Name null/string 2 Ann",
            "Address object 1 ",
            "Address.City string 1 Oslo",
            r#"Lines array 1 [{"Product":1},{"Product":"x"}]"#,
            "Lines[].Product number/string 1 1",
            "Age number 1 5",
        ];
        assert_eq!(shown, expected);
    }
}
