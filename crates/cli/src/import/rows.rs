//! Rows of a file, and the bulk-insert command that each becomes.

use std::io::BufRead;
use std::ops::RangeInclusive;

use json::{Kind, Minifier, Raw, Writer};

use super::elements::{Element, Elements, ROW_SIZE_MAX};
use crate::similar::similar;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// JSON: one object a line, or an array of objects.
    #[value(alias = "json")]
    Jsonl,
    /// A line of names, then lines of values.
    Csv,
}

/// What documents get that they do not have of themselves.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The collection of documents whose metadata name none.
    pub collection: Option<String>,
    /// The same for documents without any metadata. A dump has metadata in each document, and what was in no collection stays in
    /// none.
    pub bare_collection: Option<String>,
    /// The field that holds the id.
    pub id_field: Option<String>,
    /// What stands before the value of that field in the id.
    pub id_prefix: Option<String>,
    /// What ids begin with where nothing else says it.
    pub made_prefix: String,
}

/// A file, row by row.
pub struct Rows {
    text: Box<dyn BufRead>,
    format: Format,
    separator: u8,
    line_number: u64,
    names: Option<Vec<String>>,
    /// `None` if the text is no array; known from the first row on.
    elements: Option<Elements>,
    line: Vec<u8>,
    minifier: Minifier,
}

/// What was read for one row.
pub struct Read<'a> {
    /// The lines that it has, counted from 1.
    pub lines: RangeInclusive<u64>,
    /// Why it is none, if it is none; others follow.
    pub row: Result<Row<'a>, String>,
}

/// One row: the text of a JSON object.
pub struct Row<'a>(Raw<'a>);

/// Rows of more lines are refused: a quote that nobody closed costs no more than these.
const ROW_LINES_MAX: u64 = 10_000;

impl Rows {
    /// Rows of `text`; `separator` stands between the values of CSV.
    pub fn new(text: Box<dyn BufRead>, format: Format, separator: u8) -> Rows {
        Rows {
            text,
            format,
            separator,
            line_number: 0,
            names: None,
            elements: None,
            line: Vec::new(),
            minifier: Minifier::new(),
        }
    }

    /// The line that was read last.
    pub fn line_number(&self) -> u64 {
        self.elements.as_ref().map_or(self.line_number, Elements::line_number)
    }

    /// Reads the names of columns, which a table begins with. Nothing to do if the file is no table, or is empty.
    ///
    /// # Errors
    ///
    /// Outer: the file cannot be read. Inner: why no row of the table can become a document, for the person who wrote the file.
    pub fn begin(&mut self, id_field: Option<&str>) -> std::io::Result<Result<(), String>> {
        if self.format == Format::Jsonl {
            return Ok(Ok(()));
        }
        while self.names.is_none() {
            let line_number = self.line_number;
            if let Err(message) = self.read_row()?.and_then(|()| self.take_fields()) {
                return Ok(Err(format!("line {}, which names the columns: {message}", line_number + 1)));
            }
            if self.line_number == line_number {
                return Ok(Ok(()));
            }
        }
        let names = self.names.as_deref().unwrap_or_default();
        let repeated = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
        if let Some((_, name)) = repeated {
            return Ok(Err(format!("two columns have the name '{name}'; rename one in the first line")));
        }
        let Some(field) = id_field.filter(|field| !names.iter().any(|name| name == field)) else { return Ok(Ok(())) };
        let hint = match similar(field, names.iter().map(String::as_str)) {
            Some(name) => format!("did you mean '{name}'?"),
            None => format!("the columns are {}", names.join(", ")),
        };
        Ok(Err(format!("there is no column '{field}' for the id; {hint}")))
    }

    /// The next row; `None` at the end of the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read on.
    #[allow(clippy::should_implement_trait, reason = "a row borrows from the reader, which iterators cannot lend")]
    pub fn next(&mut self) -> std::io::Result<Option<Read<'_>>> {
        if self.format == Format::Jsonl && self.line_number == 0 && self.elements.is_none() {
            self.elements = begins_with_bracket(&mut *self.text)?.then(Elements::default);
        }
        if self.elements.is_some() {
            return self.next_element();
        }
        loop {
            let first_line = self.line_number + 1;
            let read = self.read_row()?;
            if self.line_number < first_line {
                return Ok(None);
            }
            let lines = first_line..=self.line_number;
            let Err(message) = read.and_then(|()| self.take_fields()) else {
                if self.line.trim_ascii().is_empty() {
                    continue;
                }
                // Without the end of the line, behind which a text that is cut off would seem to end.
                let row = match self.minifier.minify(self.line.trim_ascii_end()) {
                    Ok(raw) if raw.kind() == Kind::Object => Ok(Row(raw)),
                    Ok(_) => Err(NO_OBJECT.to_owned()),
                    Err(error) => Err(format!("{} at column {}", error.reason, error.column)),
                };
                return Ok(Some(Read { lines, row }));
            };
            return Ok(Some(Read { lines, row: Err(message) }));
        }
    }

    /// The next element of the array.
    fn next_element(&mut self) -> std::io::Result<Option<Read<'_>>> {
        let Some(elements) = &mut self.elements else { return Ok(None) };
        let Some(Element { lines, outcome }) = elements.next(&mut *self.text, &mut self.line)? else { return Ok(None) };
        if let Err(message) = outcome {
            return Ok(Some(Read { lines, row: Err(message) }));
        }
        let row = match self.minifier.minify(&self.line) {
            Ok(raw) if raw.kind() == Kind::Object => Ok(Row(raw)),
            Ok(_) => Err(NO_OBJECT.to_owned()),
            Err(error) if error.line > 1 => {
                let line = lines.start() + error.line as u64 - 1;
                Err(format!("{} at line {line}, column {}", error.reason, error.column))
            }
            Err(error) => Err(error.reason.to_string()),
        };
        Ok(Some(Read { lines, row }))
    }

    /// Reads one row into `line`. In CSV an open quote continues on the next line.
    fn read_row(&mut self) -> std::io::Result<Result<(), String>> {
        self.line.clear();
        let first_line = self.line_number + 1;
        let mut place = Place::Start;
        loop {
            let start = self.line.len();
            let mut limited = std::io::Read::take(&mut self.text, (ROW_SIZE_MAX - start) as u64 + 1);
            if limited.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(if place == Place::Quoted { Err(OPEN_QUOTE.to_owned()) } else { Ok(()) });
            }
            self.line_number += 1;
            if self.line.len() > ROW_SIZE_MAX {
                if self.line.last() != Some(&b'\n') {
                    self.text.skip_until(b'\n')?;
                }
                return Ok(Err(format!("longer than {ROW_SIZE_MAX} bytes")));
            }
            if self.line_number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
            }
            if self.format == Format::Jsonl {
                return Ok(Ok(()));
            }
            place = self.line[start..].iter().fold(place, |place, byte| place.after(*byte, self.separator));
            if place != Place::Quoted {
                return Ok(Ok(()));
            }
            if self.line_number - first_line + 1 == ROW_LINES_MAX {
                return Ok(Err(OPEN_QUOTE.to_owned()));
            }
        }
    }

    /// Makes JSON of a row of CSV. Of the first, which has the names, nothing is left.
    fn take_fields(&mut self) -> Result<(), String> {
        if self.format == Format::Jsonl || self.line.trim_ascii().is_empty() {
            return Ok(());
        }
        let fields = split_fields(&self.line, self.separator)?;
        let Some(names) = &self.names else {
            self.names = Some(fields);
            self.line.clear();
            return Ok(());
        };
        if fields.len() != names.len() {
            return Err(format!("{} fields, but the first line names {}", fields.len(), names.len()));
        }
        self.line = fields_to_json(names, &fields);
        Ok(())
    }
}

/// Whether the first letter of a text is the bracket of an array. Reads nothing of the text away.
fn begins_with_bracket(text: &mut dyn BufRead) -> std::io::Result<bool> {
    let beginning = text.fill_buf()?;
    let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    Ok(beginning.trim_ascii_start().starts_with(b"["))
}

const NO_OBJECT: &str = "not a JSON object";
const OPEN_QUOTE: &str = "a quoted field has no end";

/// Where in a row of CSV one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before a field.
    Start,
    /// In a field without quotes; a quote in it is only a character.
    Plain,
    Quoted,
    /// At the end of a quoted field, or at the first of two quotes that stand for one.
    Quote,
}

impl Place {
    fn after(self, byte: u8, separator: u8) -> Place {
        match (self, byte) {
            (Place::Start | Place::Quote, b'"') => Place::Quoted,
            (Place::Quoted, b'"') => Place::Quote,
            (Place::Quoted, _) => Place::Quoted,
            (_, byte) if byte == separator => Place::Start,
            _ => Place::Plain,
        }
    }
}

impl<'r> Row<'r> {
    /// The row as an object.
    pub fn object(&self) -> Raw<'r> {
        self.0
    }
}

impl Row<'_> {
    /// Name and value, if the row is what `rookery dump` writes for an identity.
    pub fn identity(&self) -> Option<(String, i64)> {
        let identity = self.0.get("@identity").filter(|_| self.0.members().count() == 1)?;
        Some((identity.get("Name")?.as_str()?.into_owned(), identity.get("Value")?.as_i64()?))
    }

    /// Appends the command that raises a counter by its value, if the row is what `rookery dump` writes for one.
    pub fn write_counter(&self, out: &mut Vec<u8>) -> bool {
        let Some(counter) = self.0.get("@counter").filter(|_| self.0.members().count() == 1) else { return false };
        let text = |name: &str| counter.get(name).and_then(Raw::as_str);
        let value = counter.get("TotalValue").and_then(Raw::as_i64);
        let (Some(id), Some(name), Some(value)) = (text("DocumentId"), text("CounterName"), value) else {
            return false;
        };
        Writer::new(out).object(|json| {
            json.name("Id").string(&id).name("Type").string("Counters");
            json.name("Counters").object(|json| {
                json.name("DocumentId").string(&id).name("Operations").array(|json| {
                    json.object(|json| {
                        json.name("Type").string("Increment").name("CounterName").string(&name);
                        json.name("Delta").signed(value);
                    });
                });
            });
        });
        true
    }

    /// Whether the row is what `rookery dump` writes for a revision.
    pub fn is_revision(&self) -> bool {
        self.0.get("@revision").is_some_and(|revision| revision.kind() == Kind::Object) && self.0.members().count() == 1
    }

    /// Key and value, if the row is what `rookery dump` writes for a compare-exchange value.
    pub fn compare_exchange_value(&self) -> Option<(String, &[u8])> {
        let value = self.0.get("@compare-exchange").filter(|_| self.0.members().count() == 1)?;
        Some((value.get("Key")?.as_str()?.into_owned(), value.get("Value")?.bytes()))
    }

    /// Appends `{"Id":..,"Type":"PUT","Document":..}`. True: the document has an id of its own; false: the server makes one.
    ///
    /// # Errors
    ///
    /// Why the row is no document, for the person who wrote the file.
    pub fn write_command(&self, shape: &Shape, out: &mut Vec<u8>) -> Result<bool, String> {
        let id = self.id(shape)?;
        let metadata = self.0.get("@metadata");
        if metadata.is_some_and(|metadata| metadata.kind() != Kind::Object) {
            return Err("@metadata is not an object".to_owned());
        }
        let has_collection = metadata.is_some_and(|metadata| metadata.get("@collection").is_some());
        let bare = shape.bare_collection.as_ref().filter(|_| metadata.is_none());
        let collection = shape.collection.as_ref().or(bare).filter(|_| !has_collection);
        Writer::new(out).object(|json| {
            json.name("Id").string(&id);
            json.name("Type").string("PUT");
            json.name("Document").object(|json| {
                for (name, value) in self.0.members().filter(|(name, _)| !name.is("@metadata")) {
                    json.name(&name.decode()).raw(value.bytes());
                }
                json.name("@metadata").object(|json| {
                    if let Some(collection) = collection {
                        json.name("@collection").string(collection);
                    }
                    for (name, value) in metadata.into_iter().flat_map(Raw::members) {
                        json.name(&name.decode()).raw(value.bytes());
                    }
                });
            });
        });
        Ok(!id.ends_with(['/', '|']))
    }

    fn id(&self, shape: &Shape) -> Result<String, String> {
        let Some(field) = &shape.id_field else {
            let own = self.0.get("@metadata").and_then(|metadata| metadata.get("@id")).and_then(Raw::as_str);
            let prefix = shape.id_prefix.as_ref().unwrap_or(&shape.made_prefix);
            // The server completes what ends with a slash.
            return Ok(own.map_or_else(|| format!("{}/", prefix.trim_end_matches('/')), Into::into));
        };
        let prefix = shape.id_prefix.as_deref().unwrap_or_default();
        let value = self.0.get(field).ok_or_else(|| format!("there is no field '{field}' for the id"))?;
        let text = value.as_str().or_else(|| value.number_text().map(Into::into));
        let text = text.filter(|text| !text.is_empty());
        Ok(format!("{prefix}{}", text.ok_or_else(|| format!("the field '{field}' is no text or number for the id"))?))
    }
}

const NOT_UTF_8: &str = "not UTF-8; save the file as UTF-8 (in Excel: 'CSV UTF-8')";

/// The separators that are recognized.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The separator that the first line of a table has most often outside of quotes; a comma if it has none. Reads nothing away.
///
/// # Errors
///
/// The text cannot be read.
pub fn separator_of(text: &mut dyn BufRead) -> std::io::Result<u8> {
    let beginning = text.fill_buf()?;
    let mut counts = [0; SEPARATORS.len()];
    let mut is_quoted = false;
    for byte in beginning {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => break,
            _ if is_quoted => {}
            byte => SEPARATORS.iter().position(|known| known == byte).into_iter().for_each(|at| counts[at] += 1),
        }
    }
    // The first of equals: the commonest stands first.
    let most = (0..counts.len()).rev().max_by_key(|at| counts[*at]).unwrap_or_default();
    Ok(SEPARATORS[most])
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
                let end = rest.iter().position(|byte| *byte == b'"').ok_or(OPEN_QUOTE)?;
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
        fields.push(String::from_utf8(field).map_err(|_| NOT_UTF_8)?);
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

    fn shape(collection: Option<&str>, id_field: Option<&str>, id_prefix: Option<&str>) -> Shape {
        Shape {
            collection: collection.map(str::to_owned),
            bare_collection: None,
            id_field: id_field.map(str::to_owned),
            id_prefix: id_prefix.map(str::to_owned),
            made_prefix: "towns".to_owned(),
        }
    }

    fn rows(text: &str, format: Format) -> Rows {
        Rows::new(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())), format, b',')
    }

    /// Each row as its lines and its command.
    fn commands(text: &str, format: Format, shape: &Shape) -> Vec<(RangeInclusive<u64>, Result<String, String>)> {
        let mut rows = rows(text, format);
        let mut commands = Vec::new();
        while let Some(Read { lines, row }) = rows.next().unwrap() {
            let mut out = Vec::new();
            let written = row.and_then(|row| row.write_command(shape, &mut out));
            commands.push((lines, written.map(|_| String::from_utf8(out).unwrap())));
        }
        commands
    }

    #[test]
    fn json_lines_keep_their_metadata_and_bad_ones_their_number() {
        let text = "\u{feff}{\"Name\":\"Oslo\"}\n\n{\"a\":\n[1]\n{\"@metadata\":{\"@collection\":\"X\",\"@id\":\"x/1\"},\"b\": 2}\n{\"@metadata\":1}";
        let commands = commands(text, Format::Jsonl, &shape(Some("Cities"), None, None));
        let put = r#"{"Id":"towns/","Type":"PUT","Document":{"Name":"Oslo","@metadata":{"@collection":"Cities"}}}"#;
        assert_eq!(commands[0], (1..=1, Ok(put.to_owned())));
        assert_eq!(commands[1].0, 3..=3);
        assert!(commands[1].1.is_err());
        assert_eq!(commands[2], (4..=4, Err("not a JSON object".to_owned())));
        let put = r#"{"Id":"x/1","Type":"PUT","Document":{"b":2,"@metadata":{"@collection":"X","@id":"x/1"}}}"#;
        assert_eq!(commands[3], (5..=5, Ok(put.to_owned())));
        assert_eq!(commands[4], (6..=6, Err("@metadata is not an object".to_owned())));
    }

    #[test]
    fn no_collection_is_made_up() {
        let text = "{\"a\":1}\n{\"@metadata\":{\"@id\":\"x\"}}";
        let commands = commands(text, Format::Jsonl, &shape(None, None, Some("t/")));
        assert_eq!(commands[0].1.as_deref(), Ok(r#"{"Id":"t/","Type":"PUT","Document":{"a":1,"@metadata":{}}}"#));
        assert_eq!(commands[1].1.as_deref(), Ok(r#"{"Id":"x","Type":"PUT","Document":{"@metadata":{"@id":"x"}}}"#));
    }

    #[test]
    fn the_name_of_the_file_is_the_collection_of_documents_without_metadata_only() {
        let shape = Shape { bare_collection: Some("Towns".to_owned()), ..shape(None, None, None) };
        let commands = commands("{\"a\":1}\n{\"@metadata\":{\"@id\":\"x\"}}", Format::Jsonl, &shape);
        let put = r#"{"Id":"towns/","Type":"PUT","Document":{"a":1,"@metadata":{"@collection":"Towns"}}}"#;
        assert_eq!(commands[0].1.as_deref(), Ok(put));
        assert_eq!(commands[1].1.as_deref(), Ok(r#"{"Id":"x","Type":"PUT","Document":{"@metadata":{"@id":"x"}}}"#));
    }

    #[test]
    fn an_array_has_a_document_in_each_element() {
        let text =
            "[\n  {\"id\": 1,\n   \"Name\": \"Oslo, ]\"},\n  7,\n  {\"id\": 2,\n \"x\": oops},\n {\"id\": 3}\n]\n";
        let commands = commands(text, Format::Jsonl, &shape(Some("Cities"), Some("id"), Some("c/")));
        let put =
            r#"{"Id":"c/1","Type":"PUT","Document":{"id":1,"Name":"Oslo, ]","@metadata":{"@collection":"Cities"}}}"#;
        assert_eq!(commands[0], (2..=3, Ok(put.to_owned())));
        assert_eq!(commands[1], (4..=4, Err("not a JSON object".to_owned())));
        assert_eq!(commands[2].0, 5..=6);
        assert!(commands[2].1.as_ref().is_err_and(|error| error.contains("line 6, column ")), "{:?}", commands[2]);
        assert!(commands[3].1.as_ref().is_ok_and(|put| put.contains("c/3")));
        assert_eq!(commands.len(), 4);
    }

    #[test]
    fn a_table_whose_first_line_is_wrong_fails_at_once() {
        let check = |text: &str, id_field: Option<&str>, expected: Result<(), &str>| {
            let begun = rows(text, Format::Csv).begin(id_field).unwrap();
            assert_eq!(begun, expected.map_err(str::to_owned), "{text}");
        };
        check("a,b\n1,2\n", Some("b"), Ok(()));
        check("", Some("b"), Ok(()));
        check("\n\na,b", Some("b"), Ok(()));
        check("a,b,a\n1,2,3\n", None, Err("two columns have the name 'a'; rename one in the first line"));
        let hint = "there is no column 'emial' for the id; did you mean 'email'?";
        check("email,name\n", Some("emial"), Err(hint));
        check("a,b\n", Some("email"), Err("there is no column 'email' for the id; the columns are a, b"));
        check("\"a,b\n", None, Err("line 1, which names the columns: a quoted field has no end"));
        assert_eq!(rows("{}", Format::Jsonl).begin(Some("id")).unwrap(), Ok(()));
    }

    #[test]
    fn the_separator_is_the_one_that_the_first_line_has_most_often() {
        let check = |text: &str, expected: char| {
            let found = separator_of(&mut text.as_bytes()).unwrap();
            assert_eq!(char::from(found), expected, "{text}");
        };
        check("a,b;c,d\n;;;;", ',');
        check("a;b;c\n", ';');
        check("a\tb", '\t');
        check("a|b|\"c;d;e;f\"", '|');
        check("name\n1;2\n", ',');
        check("", ',');
    }

    #[test]
    fn a_row_tells_whether_its_id_is_its_own() {
        let has_own_id = |text: &str, shape: &Shape| {
            let mut rows = rows(text, Format::Jsonl);
            rows.next().unwrap().unwrap().row.ok().unwrap().write_command(shape, &mut Vec::new()).unwrap()
        };
        assert!(!has_own_id("{\"a\":1}", &shape(None, None, None)));
        assert!(has_own_id("{\"a\":1}", &shape(None, Some("a"), None)));
        assert!(has_own_id("{\"@metadata\":{\"@id\":\"x/1\"}}", &shape(None, None, None)));
    }

    #[test]
    fn identities_are_told_from_documents() {
        let check = |text: &str, expected: Option<(&str, i64)>| {
            let mut rows = rows(text, Format::Jsonl);
            let row = rows.next().unwrap().unwrap().row.ok().unwrap();
            assert_eq!(row.identity(), expected.map(|(name, value)| (name.to_owned(), value)), "{text}");
        };
        check(r#"{"@identity":{"Name":"orders|","Value":7}}"#, Some(("orders|", 7)));
        check(r#"{"@identity":{"Name":"orders|","Value":7},"@metadata":{}}"#, None);
        check(r#"{"@identity":7}"#, None);
        check(r#"{"@counter":{"DocumentId":"a","CounterName":"b","TotalValue":7}}"#, None);
    }

    #[test]
    fn compare_exchange_values_are_told_from_documents() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let mut rows = rows(text, Format::Jsonl);
            let row = rows.next().unwrap().unwrap().row.ok().unwrap();
            let found = row.compare_exchange_value();
            assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.as_bytes())), "{text}");
        };
        check(r#"{"@compare-exchange":{"Key":"a","Value":{"Object":1}}}"#, Some(("a", r#"{"Object":1}"#)));
        check(r#"{"@compare-exchange":{"Key":"a","Value":{}},"b":1}"#, None);
        check(r#"{"@compare-exchange":{"Key":"a"}}"#, None);
    }

    #[test]
    fn csv_has_numbers_quotes_and_lines_in_fields() {
        let text = "id,Name,Zip,Ok\r\n7,\"Oslo, \"\"the\"\" city\",0150,true\r\n8,x\n9,\"two\nlines\",,1.5\n";
        let commands = commands(text, Format::Csv, &shape(Some("Cities"), Some("id"), Some("cities/")));
        let put = r#"{"Id":"cities/7","Type":"PUT","Document":{"id":7,"Name":"Oslo, \"the\" city","Zip":"0150","Ok":true,"@metadata":{"@collection":"Cities"}}}"#;
        assert_eq!(commands[0], (2..=2, Ok(put.to_owned())));
        assert_eq!(commands[1], (3..=3, Err("2 fields, but the first line names 4".to_owned())));
        let put = r#"{"Id":"cities/9","Type":"PUT","Document":{"id":9,"Name":"two\nlines","Ok":1.5,"@metadata":{"@collection":"Cities"}}}"#;
        assert_eq!(commands[2], (4..=5, Ok(put.to_owned())));
    }

    #[test]
    fn a_quote_that_nobody_closes_costs_a_bounded_number_of_lines() {
        let text = format!("id,Name\n1,\"open\n{}", "2,x\n".repeat(60_000));
        let commands = commands(&text, Format::Csv, &shape(None, Some("id"), None));
        assert_eq!(commands[0], (2..=10_001, Err("a quoted field has no end".to_owned())));
        assert_eq!(commands.len(), 1 + 60_002 - 10_001);
        assert!(commands[1..].iter().all(|(_, row)| row.is_ok()));
        let commands = super::tests::commands("id\n\"a\nb\nc", Format::Csv, &shape(None, Some("id"), None));
        assert_eq!(commands, [(2..=4, Err("a quoted field has no end".to_owned()))]);
    }

    #[test]
    fn a_quote_in_a_field_without_quotes_is_a_character() {
        let commands = commands("id,Size\n1,5\" disk\n2,x\n", Format::Csv, &shape(None, Some("id"), None));
        assert_eq!(commands.len(), 2);
        assert!(commands[0].1.as_ref().unwrap().contains(r#""Size":"5\" disk""#));
    }

    #[test]
    fn a_missing_id_is_an_error_of_its_line() {
        let commands = commands("{\"a\":1}", Format::Jsonl, &shape(None, Some("id"), None));
        assert_eq!(commands[0], (1..=1, Err("there is no field 'id' for the id".to_owned())));
    }
}
