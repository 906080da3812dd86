//! The cases of `tests/linq/`: a map or a reduce, documents, and what comes out.
//!
//! A file begins with lines after `#` that say what it is about. Each of its cases is a definition, a line `----`, its input one
//! value a line, a line `----`, the outcome, and a line `====`. The input of a map is documents, each with its id before it, and
//! `cmpxchg` with key and value; that of a reduce is mapped values. Documents of the map's source are mapped, all can be
//! loaded. A reduce is run over all values, and again over its results of both halves: `again:` stands where that differs.
//!
//! A file of `tests/linq_expressions/` has a document, then lines of an expression over it as `d`, ` --> `, and its value.
//! `UPDATE=1` writes what comes out now; the diff is read.

use crate::fixture_files::check;
use json::{Minifier, Properties, Raw, Writer};
use rookery_query::mapping::*;
use std::collections::BTreeMap;
use std::fmt::Write;

const END_OF_PART: &str = "----";
const END_OF_CASE: &str = "====";

/// A document with its parts apart.
struct Document {
    id: String,
    body: Vec<u8>,
    metadata: Vec<u8>,
    collection: String,
}

impl Document {
    fn new(line: &str) -> Document {
        let (id, text) = line.split_once(' ').unwrap();
        let text = minified(text);
        let (mut body, mut metadata) = (Vec::new(), b"{}".to_vec());
        Writer::new(&mut body).object(|json| {
            for (name, value) in Raw::new(&text).members() {
                match &*name.decode() {
                    "@metadata" => metadata = value.bytes().to_vec(),
                    name => drop(json.name(name).raw(value.bytes())),
                }
            }
        });
        let collection = Raw::new(&metadata).get("@collection").and_then(Raw::as_str).map(|name| name.into_owned());
        Document { id: id.to_owned(), body, metadata, collection: collection.unwrap_or_else(|| "@empty".to_owned()) }
    }

    fn view(&self) -> DocumentView<'_> {
        DocumentView {
            is_archived: false,
            id: &self.id,
            body: Raw::new(&self.body),
            metadata: Properties::new(&self.metadata[1..self.metadata.len() - 1]),
            server_metadata: json::Properties::new(b""),
            collection: self.collection.as_str().into(),
            change_vector: "A:1-abc".into(),
            last_modified: documents::Date::parse("2024-05-06T07:08:09.0000000Z").unwrap(),
        }
    }
}

/// What can be loaded.
struct Store<'d> {
    documents: &'d [Document],
    compare_exchange: &'d BTreeMap<String, Vec<u8>>,
}

impl<'d> Host<'d> for Store<'d> {
    fn load_document(
        &mut self,
        id: &str,
        collection: &str,
        _: Following,
    ) -> Result<Option<DocumentView<'d>>, MapError> {
        let fits = |document: &&Document| document.id == id && document.collection.eq_ignore_ascii_case(collection);
        Ok(self.documents.iter().find(fits).map(Document::view))
    }

    fn load_compare_exchange(&mut self, key: &str) -> Result<Option<Raw<'d>>, MapError> {
        Ok(self.compare_exchange.get(key).map(|value| Raw::new(value)))
    }

    fn load_attachment(&mut self, id: &str, name: &str) -> Result<Option<Attachment<'d>>, MapError> {
        let found = Attachment { name: "a.txt", content_type: "text/plain", hash: "h".to_owned(), size: 25 };
        Ok((id != "none" && name == "a.txt").then_some(found))
    }

    fn load_content(&mut self, _: &str, _: &str) -> Result<Option<String>, MapError> {
        Ok(Some("content of the attachment".to_owned()))
    }
}

fn minified(text: &str) -> Vec<u8> {
    Minifier::new().minify(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}")).bytes().to_vec()
}

/// A value with its type to be seen.
fn shown(value: &Value<'_>) -> String {
    let json = |value: &Value<'_>| String::from_utf8(value.to_json()).unwrap();
    match value {
        Value::Missing => "missing".to_owned(),
        Value::Double(_) => json(value) + "d",
        Value::Decimal(_) => json(value) + "m",
        Value::Date(_) => format!("date {}", json(value)),
        Value::Span(_) => format!("span {}", json(value)),
        Value::Array(values) => format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(", ")),
        Value::Object(object) => {
            let members = object.members().map(|(name, value)| format!("{name}: {}", shown(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Field(field) => format!("field {}: {} {:?}", field.name, shown(&field.value), field.options),
        Value::Spatial(spatial) => format!("{spatial:?}"),
        Value::Vector(made) => format!("vector {}", shown(made)),
        Value::Boosted(boosted) => format!("{} boosted by {}", shown(&boosted.value), boosted.boost),
        value => json(value),
    }
}

fn line(output: Output<'_, '_>) -> String {
    let fields: Vec<_> = output.fields().map(|(name, value)| format!("{name} = {}", shown(value))).collect();
    let boost = output.boost.map(|boost| format!(" boosted by {boost}")).unwrap_or_default();
    fields.join(", ") + &boost
}

fn map(definition: &str, input: &[&str]) -> String {
    let map = match Map::compile(definition) {
        Ok(map) => map,
        Err(error) => return format!("error: {error}"),
    };
    let (mut documents, mut compare_exchange) = (Vec::new(), BTreeMap::new());
    for line in input {
        match line.strip_prefix("cmpxchg ").and_then(|line| line.split_once(' ')) {
            Some((key, value)) => drop(compare_exchange.insert(key.to_owned(), minified(value))),
            None => documents.push(Document::new(line)),
        }
    }
    let mut out = format!("{:?}", map.source());
    for (name, is_so) in
        [("reads metadata", map.reads_metadata()), ("reads compare exchange", map.reads_compare_exchange())]
    {
        if is_so {
            write!(out, ", {name}").unwrap();
        }
    }
    if !map.referenced_collections().is_empty() {
        write!(out, ", references {:?}", map.referenced_collections()).unwrap();
    }
    for document in &documents {
        let is_wanted = match map.source() {
            Source::AllDocuments => true,
            Source::Collections(names) => names.iter().any(|name| name.eq_ignore_ascii_case(&document.collection)),
            Source::Counters { .. } => false,
        };
        if !is_wanted {
            continue;
        }
        let mut lines = Vec::new();
        let mut store = Store { documents: &documents, compare_exchange: &compare_exchange };
        let result = map.run(document.view(), &mut store, &mut |output| {
            lines.push(line(output));
            Ok(())
        });
        lines.extend(result.err().map(|error| format!("error: {error}")));
        lines.iter().for_each(|line| write!(out, "\n{} -> {line}", document.id).unwrap());
    }
    out
}

fn reduce(definition: &str, input: &[&str]) -> String {
    let reduce = match Reduce::compile(definition) {
        Ok(reduce) => reduce,
        Err(error) => return format!("error: {error}"),
    };
    let mapped: Vec<_> = input.iter().map(|line| minified(line)).collect();
    let run = |values: &[Vec<u8>]| {
        let raw: Vec<_> = values.iter().map(|value| Raw::new(value)).collect();
        let (mut lines, mut results) = (Vec::new(), Vec::new());
        let ended = reduce.run(&raw, &|_| true, &mut |output| {
            lines.push(line(output));
            let mut result = Vec::new();
            output.write_json(&mut Writer::new(&mut result));
            results.push(result);
            Ok(())
        });
        lines.extend(ended.err().map(|error| format!("error: {error}")));
        (lines, results)
    };
    let (lines, results) = run(&mapped);
    let (left, right) = mapped.split_at(mapped.len() / 2);
    let parts = [run(left).1, run(right).1].concat();
    let again = run(&parts).1;
    let mut out = format!("by {:?}", reduce.key_fields());
    lines.iter().for_each(|line| write!(out, "\n{line}").unwrap());
    if again != results {
        let again: Vec<_> = again.into_iter().map(|result| String::from_utf8(result).unwrap()).collect();
        write!(out, "\nagain: {}", again.join(" ")).unwrap();
    }
    out
}

fn outcome(definition: &str, input: &[&str]) -> String {
    if definition.contains("results") { reduce(definition, input) } else { map(definition, input) }
}

/// The file as it should be, and how many cases it has.
fn rewritten(text: &str) -> (String, usize) {
    let mut lines = text.lines().peekable();
    let mut result = String::new();
    while let Some(comment) = lines.next_if(|line| line.starts_with('#') || line.is_empty()) {
        writeln!(result, "{comment}").unwrap();
    }
    let mut count = 0;
    while lines.peek().is_some() {
        let definition: Vec<_> = lines.by_ref().take_while(|line| *line != END_OF_PART).collect();
        let input: Vec<_> = lines.by_ref().take_while(|line| *line != END_OF_PART).collect();
        lines.by_ref().find(|line| *line == END_OF_CASE);
        let definition = definition.join("\n");
        let outcome = outcome(&definition, &input);
        writeln!(result, "{definition}\n{END_OF_PART}").unwrap();
        input.iter().for_each(|line| writeln!(result, "{line}").unwrap());
        writeln!(result, "{END_OF_PART}\n{outcome}\n{END_OF_CASE}").unwrap();
        count += 1;
    }
    (result, count)
}

/// The file of expressions as it should be, and how many there are.
fn rewritten_expressions(text: &str) -> (String, usize) {
    let (mut result, mut count, mut document) = (String::new(), 0, None);
    for line in text.lines() {
        if line.is_empty() || line.starts_with('#') {
            writeln!(result, "{line}").unwrap();
        } else if document.is_none() {
            document = Some(line.to_owned());
            writeln!(result, "{line}").unwrap();
        } else {
            let (expression, _) = line.split_once(" -->").unwrap_or((line, ""));
            let definition = format!("docs.Select(d => new {{ V = {expression} }})");
            let outcome = map(&definition, &[document.as_deref().unwrap(), "cmpxchg k {\"A\":5}"]);
            let shown = outcome.rsplit_once("-> ").map_or(&*outcome, |(_, value)| value.trim_start_matches("V = "));
            writeln!(result, "{expression} --> {}", shown.replace('\n', " ")).unwrap();
            count += 1;
        }
    }
    (result, count)
}

#[test]
fn definitions_give_what_their_files_say() {
    let count = check("linq", rewritten);
    assert!(count > 80, "{count} cases are too few: were the files found?");
}

#[test]
fn expressions_give_what_their_files_say() {
    let count = check("linq_expressions", rewritten_expressions);
    assert!(count > 250, "{count} cases are too few: were the files found?");
}
