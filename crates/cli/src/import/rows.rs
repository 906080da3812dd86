//! Rows of a file, and the bulk-insert command that each becomes.

use std::io::BufRead;

use json::{Kind, Minifier, Raw, Writer};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// One JSON object a line.
    Jsonl,
    /// A line of names, then lines of values.
    Csv,
}

/// What documents get that they do not have of themselves.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) collection: String,
    pub(crate) id_field: Option<String>,
    pub(crate) id_prefix: Option<String>,
}

/// A file, row by row.
pub(crate) struct Rows {
    text: Box<dyn BufRead>,
    format: Format,
    separator: u8,
    line_number: u64,
    names: Option<Vec<String>>,
    line: Vec<u8>,
    minifier: Minifier,
}

/// One row: the text of a JSON object.
pub(crate) struct Row<'a>(Raw<'a>);

/// Longer rows are refused: no document is that large.
const ROW_SIZE_MAX: usize = 64 << 20;

impl Rows {
    pub(crate) fn new(text: Box<dyn BufRead>, format: Format, separator: u8) -> Rows {
        Rows { text, format, separator, line_number: 0, names: None, line: Vec::new(), minifier: Minifier::new() }
    }

    /// The next row with the number of its first line. A row that is not one is an `Err` with the reason; others follow.
    pub(crate) fn next(&mut self) -> Option<(u64, Result<Row<'_>, String>)> {
        let first_line = loop {
            let first_line = match self.read_row() {
                Ok(0) => return None,
                Ok(lines) => {
                    self.line_number += lines;
                    self.line_number - lines + 1
                }
                // What was not read cannot be numbered either.
                Err(error) => {
                    self.text = Box::new(std::io::empty());
                    return Some((self.line_number + 1, Err(format!("reading the file: {error}"))));
                }
            };
            if self.line.len() > ROW_SIZE_MAX {
                return Some((first_line, Err(format!("longer than {ROW_SIZE_MAX} bytes"))));
            }
            if self.line_number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
            }
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            if self.format == Format::Csv {
                let fields = match split_fields(&self.line, self.separator) {
                    Ok(fields) => fields,
                    Err(message) => return Some((first_line, Err(message))),
                };
                let Some(names) = &self.names else {
                    self.names = Some(fields);
                    continue;
                };
                if fields.len() != names.len() {
                    let message = format!("{} fields, but the first line names {}", fields.len(), names.len());
                    return Some((first_line, Err(message)));
                }
                self.line = fields_to_json(names, &fields);
            }
            break first_line;
        };
        let row = match self.minifier.minify(&self.line) {
            Ok(raw) if raw.kind() == Kind::Object => Ok(Row(raw)),
            Ok(_) => Err("not a JSON object".to_owned()),
            Err(error) => Err(format!("{}, column {}", error.reason, error.column)),
        };
        Some((first_line, row))
    }

    /// Reads one row into `line`; returns how many lines it has. In CSV an open quote continues on the next line.
    fn read_row(&mut self) -> std::io::Result<u64> {
        self.line.clear();
        let mut lines = 0;
        loop {
            let mut limited = std::io::Read::take(&mut self.text, ROW_SIZE_MAX as u64 + 1);
            if limited.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(lines);
            }
            lines += 1;
            let is_open = self.format == Format::Csv && self.line.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
            if !is_open || self.line.len() > ROW_SIZE_MAX {
                return Ok(lines);
            }
        }
    }
}

impl Row<'_> {
    /// Appends `{"Id":..,"Type":"PUT","Document":..}`.
    pub(crate) fn write_command(&self, shape: &Shape, out: &mut Vec<u8>) -> Result<(), String> {
        let id = self.id(shape)?;
        let metadata = self.0.get("@metadata").filter(|metadata| metadata.kind() == Kind::Object);
        let has_collection = metadata.is_some_and(|metadata| metadata.get("@collection").is_some());
        Writer::new(out).object(|json| {
            json.name("Id").string(&id);
            json.name("Type").string("PUT");
            json.name("Document").object(|json| {
                for (name, value) in self.0.members().filter(|(name, _)| !name.is("@metadata")) {
                    json.name(&name.decode()).raw(value.bytes());
                }
                json.name("@metadata").object(|json| {
                    if !has_collection {
                        json.name("@collection").string(&shape.collection);
                    }
                    for (name, value) in metadata.into_iter().flat_map(Raw::members) {
                        json.name(&name.decode()).raw(value.bytes());
                    }
                });
            });
        });
        Ok(())
    }

    fn id(&self, shape: &Shape) -> Result<String, String> {
        let prefix = shape.id_prefix.as_deref().unwrap_or_default();
        let Some(field) = &shape.id_field else {
            let own = self.0.get("@metadata").and_then(|metadata| metadata.get("@id")).and_then(Raw::as_str);
            return Ok(match (own, prefix) {
                (Some(id), _) => id.into_owned(),
                // The server completes what ends with a slash.
                (None, "") => format!("{}/", shape.collection.to_lowercase()),
                (None, prefix) => format!("{}/", prefix.trim_end_matches('/')),
            });
        };
        let value = self.0.get(field).ok_or_else(|| format!("there is no field '{field}' for the id"))?;
        let text = value.as_str().or_else(|| value.number_text().map(Into::into));
        let text = text.filter(|text| !text.is_empty());
        Ok(format!("{prefix}{}", text.ok_or_else(|| format!("the field '{field}' is no text or number for the id"))?))
    }
}

/// The fields of one CSV row (RFC 4180: a quoted field may hold separators, line ends and doubled quotes).
fn split_fields(row: &[u8], separator: u8) -> Result<Vec<String>, String> {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    let row = row.strip_suffix(b"\r").unwrap_or(row);
    let mut fields = Vec::new();
    let mut rest = row;
    loop {
        let mut field = Vec::new();
        if let Some(quoted) = rest.strip_prefix(b"\"") {
            rest = quoted;
            loop {
                let end = rest.iter().position(|byte| *byte == b'"').ok_or("a quoted field has no end")?;
                field.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                match rest.strip_prefix(b"\"") {
                    Some(more) => {
                        field.push(b'"');
                        rest = more;
                    }
                    None => break,
                }
            }
            if rest.first().is_some_and(|byte| *byte != separator) {
                return Err("text follows the end of a quoted field".to_owned());
            }
        } else {
            let end = rest.iter().position(|byte| *byte == separator).unwrap_or(rest.len());
            field.extend_from_slice(&rest[..end]);
            rest = &rest[end..];
        }
        fields.push(String::from_utf8(field).map_err(|_| "not UTF-8")?);
        match rest.split_first() {
            Some((_, more)) => rest = more,
            None => return Ok(fields),
        }
    }
}

/// An object of the fields: numbers and truth values as such, empty fields left out, all else as text.
fn fields_to_json(names: &[String], fields: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).object(|json| {
        for (name, field) in names.iter().zip(fields).filter(|(_, field)| !field.is_empty()) {
            let json = json.name(name);
            if matches!(field.as_str(), "true" | "false") || is_number(field) {
                json.raw(field.as_bytes());
            } else {
                json.string(field);
            }
        }
    });
    out
}

/// Whether a field is a number as JSON writes it: `007` and `+1` are codes and stay text.
fn is_number(field: &str) -> bool {
    let digits = field.strip_prefix('-').unwrap_or(field);
    if !digits.starts_with(|first: char| first.is_ascii_digit()) || field.len() > 32 {
        return false;
    }
    matches!(json::Value::parse(field.as_bytes()), Ok(json::Value::Number(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(id_field: Option<&str>, id_prefix: Option<&str>) -> Shape {
        Shape {
            collection: "Cities".to_owned(),
            id_field: id_field.map(str::to_owned),
            id_prefix: id_prefix.map(str::to_owned),
        }
    }

    fn commands(text: &str, format: Format, shape: &Shape) -> Vec<(u64, Result<String, String>)> {
        let mut rows = Rows::new(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())), format, b',');
        let mut commands = Vec::new();
        while let Some((line, row)) = rows.next() {
            let mut out = Vec::new();
            let written = row.and_then(|row| row.write_command(shape, &mut out));
            commands.push((line, written.map(|()| String::from_utf8(out).unwrap())));
        }
        commands
    }

    #[test]
    fn json_lines_keep_their_metadata_and_bad_ones_their_number() {
        let text = "\u{feff}{\"Name\":\"Oslo\"}\n\n{\"a\":\n[1]\n{\"@metadata\":{\"@collection\":\"X\",\"@id\":\"x/1\"},\"b\": 2}";
        let commands = commands(text, Format::Jsonl, &shape(None, None));
        let put = r#"{"Id":"cities/","Type":"PUT","Document":{"Name":"Oslo","@metadata":{"@collection":"Cities"}}}"#;
        assert_eq!(commands[0], (1, Ok(put.to_owned())));
        assert_eq!(commands[1].0, 3);
        assert!(commands[1].1.is_err());
        assert_eq!(commands[2], (4, Err("not a JSON object".to_owned())));
        let put = r#"{"Id":"x/1","Type":"PUT","Document":{"b":2,"@metadata":{"@collection":"X","@id":"x/1"}}}"#;
        assert_eq!(commands[3], (5, Ok(put.to_owned())));
    }

    #[test]
    fn csv_has_numbers_quotes_and_lines_in_fields() {
        let text = "id,Name,Zip,Ok\r\n7,\"Oslo, \"\"the\"\" city\",0150,true\r\n8,x\n9,\"two\nlines\",,1.5\n";
        let commands = commands(text, Format::Csv, &shape(Some("id"), Some("cities/")));
        let put = r#"{"Id":"cities/7","Type":"PUT","Document":{"id":7,"Name":"Oslo, \"the\" city","Zip":"0150","Ok":true,"@metadata":{"@collection":"Cities"}}}"#;
        assert_eq!(commands[0], (2, Ok(put.to_owned())));
        assert_eq!(commands[1], (3, Err("2 fields, but the first line names 4".to_owned())));
        let put = r#"{"Id":"cities/9","Type":"PUT","Document":{"id":9,"Name":"two\nlines","Ok":1.5,"@metadata":{"@collection":"Cities"}}}"#;
        assert_eq!(commands[2], (4, Ok(put.to_owned())));
    }

    #[test]
    fn a_missing_id_is_an_error_of_its_line() {
        let commands = commands("{\"a\":1}", Format::Jsonl, &shape(Some("id"), None));
        assert_eq!(commands[0], (1, Err("there is no field 'id' for the id".to_owned())));
    }
}
