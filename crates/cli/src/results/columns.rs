//! The columns of rows that are JSON objects: the id, then all fields in the order in which they come.

use json::Value;

/// The name of the column that has ids.
const ID: &str = "id";

/// Columns, found row by row.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// Where each column finds its values.
    pub paths: Vec<Path>,
    has_id: bool,
    /// Fields of the rows, each with the fields of the objects in it, and whether it is something else than an object somewhere.
    fields: Vec<Field>,
}

#[derive(Debug, PartialEq, Eq)]
struct Field {
    name: String,
    below: Vec<String>,
    is_plain: bool,
}

/// Where a value is in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Path {
    /// In the metadata.
    Id,
    Field(String),
    /// In an object that is a field.
    Below(String, String),
}

impl Columns {
    pub fn of(rows: &[Value]) -> Columns {
        let mut columns = Columns::default();
        rows.iter().for_each(|row| _ = columns.add(row));
        columns.finish();
        columns
    }

    /// Looks at a row. True: it has a column that no row before it has.
    pub fn add(&mut self, row: &Value) -> bool {
        let mut is_new = false;
        if !self.has_id && id_of(row).is_some() {
            (self.has_id, is_new) = (true, true);
        }
        for (name, value) in row.members().iter().filter(|(name, _)| name != "@metadata") {
            let at = self.fields.iter().position(|field| field.name == *name).unwrap_or_else(|| {
                self.fields.push(Field { name: name.clone(), below: Vec::new(), is_plain: false });
                self.fields.len() - 1
            });
            let field = &mut self.fields[at];
            match value {
                Value::Object(members) if !members.is_empty() => {
                    for (name, _) in members {
                        if !field.below.contains(name) {
                            field.below.push(name.clone());
                            is_new = true;
                        }
                    }
                }
                _ => {
                    is_new |= !field.is_plain;
                    field.is_plain = true;
                }
            }
        }
        is_new
    }

    /// Settles the columns. An object has a column for each of its fields, not one of its own; unless some rows have something
    /// else there.
    pub fn finish(&mut self) {
        let id = self.has_id.then_some(Path::Id);
        let fields = self.fields.iter().flat_map(|Field { name, below, is_plain }| {
            let own = is_plain.then(|| Path::Field(name.clone()));
            own.into_iter().chain(below.iter().map(|inner| Path::Below(name.clone(), inner.clone())))
        });
        self.paths = id.into_iter().chain(fields).collect();
    }

    pub fn names(&self) -> Vec<String> {
        let names = self.paths.iter().map(|path| match path {
            Path::Id => ID.to_owned(),
            Path::Field(name) => name.clone(),
            Path::Below(name, inner) => format!("{name}.{inner}"),
        });
        names.collect()
    }
}

fn id_of(row: &Value) -> Option<&Value> {
    row.get("@metadata").and_then(|metadata| metadata.get("@id"))
}

/// The value at a path as text; empty where there is none. A number keeps its digits.
pub(crate) fn cell(row: &Value, path: &Path) -> String {
    let value = match path {
        Path::Id => id_of(row),
        Path::Field(name) => {
            row.get(name).filter(|value| !matches!(value, Value::Object(members) if !members.is_empty()))
        }
        Path::Below(name, inner) => row.get(name).and_then(|value| value.get(inner)),
    };
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text) | Value::Number(text)) => text.clone(),
        Some(value) => String::from_utf8_lossy(&value.to_vec()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Value {
        Value::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn an_object_has_columns_for_its_fields_and_one_of_its_own_where_it_is_none() {
        let rows =
            [row(r#"{"a":{"x":1,"y":2.50}}"#), row(r#"{"a":"text","b":null}"#), row(r#"{"a":{"z":{"deep":true}}}"#)];
        let columns = Columns::of(&rows);
        assert_eq!(columns.names(), ["a", "a.x", "a.y", "a.z", "b"]);
        let cells = |row: &Value| columns.paths.iter().map(|path| cell(row, path)).collect::<Vec<_>>();
        assert_eq!(cells(&rows[0]), ["", "1", "2.50", "", ""]);
        assert_eq!(cells(&rows[1]), ["text", "", "", "", ""]);
        assert_eq!(cells(&rows[2]), ["", "", "", r#"{"deep":true}"#, ""]);
    }

    #[test]
    fn a_row_tells_whether_it_brings_a_column() {
        let mut columns = Columns::default();
        assert!(columns.add(&row(r#"{"a":1}"#)));
        assert!(!columns.add(&row(r#"{"a":2}"#)));
        assert!(columns.add(&row(r#"{"a":{"b":1}}"#)));
        assert!(columns.add(&row(r#"{"@metadata":{"@id":"x"}}"#)));
        assert!(!columns.add(&row("{}")));
    }
}
