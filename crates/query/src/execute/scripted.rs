//! Projections by JavaScript: what a script makes of each document that is found.

use super::projection::write_stored;
use super::{LoadRefused, Loads};
use crate::plan::{ScriptClause, ScriptForm};
use documents::{Document, Snapshot};
use json::{Kind, Raw};
use script::{Body, Input, Limits, Outcome, Program, Run, Stored};
use std::rc::Rc;

/// A projection that is ready to be run.
pub struct ScriptProjection<'p> {
    program: Program,
    form: &'p ScriptForm,
    /// The values of the query's parameters: all of them, then those that scripts can name.
    values: Vec<&'p [u8]>,
    loads: Loads<'p>,
    /// The declared functions, which name fields as the script does.
    declarations: &'p str,
    text: &'p str,
}

/// What a script is run for.
#[derive(Clone, Copy)]
pub enum Scripted<'r> {
    /// A document.
    Document(&'r Document<'r>),
    /// A document, of which an index stores an object; what the script names of that is read in place of the document's own.
    Overlaid(&'r Document<'r>, Raw<'r>),
    /// What an index stores of a document, alone.
    Stored(&'r Document<'r>, Raw<'r>),
    /// What an index has where no document is.
    Group(Raw<'r>),
}

impl<'r> Scripted<'r> {
    /// What an index stores of a document.
    fn stored(self) -> Option<Raw<'r>> {
        match self {
            Scripted::Overlaid(_, stored) | Scripted::Stored(_, stored) => Some(stored),
            Scripted::Document(_) | Scripted::Group(_) => None,
        }
    }

    fn body(self) -> Raw<'r> {
        match self {
            Scripted::Document(document) | Scripted::Overlaid(document, _) => document.body(),
            Scripted::Stored(_, stored) | Scripted::Group(stored) => stored,
        }
    }

    fn of_script(self) -> script::Document {
        match self {
            Scripted::Document(document) | Scripted::Overlaid(document, _) => of_script(document),
            Scripted::Stored(document, stored) => {
                script::Document { json: stored.bytes().into(), ..of_script(document) }
            }
            Scripted::Group(group) => script::Document { id: String::new(), json: group.bytes().into(), stored: None },
        }
    }
}

/// Why a projection fails.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ScriptFailure {
    /// The script is none, or fails.
    #[error(transparent)]
    Script(#[from] script::Error),
    /// What it gives is no result.
    #[error("Query returning a single function call result must return an object, but got: {0}")]
    NoObject(String),
    /// It puts or deletes documents.
    #[error("Cannot make modifications in readonly context")]
    ReadOnly,
    /// `load` found several documents where there has to be one, or too many.
    #[error(transparent)]
    Load(#[from] LoadRefused),
    /// A document cannot be read.
    #[error(transparent)]
    Documents(#[from] documents::Error),
}

/// One result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptRow {
    /// Its properties without braces and metadata.
    pub values: Vec<u8>,
    /// The properties of its metadata, but for those that belong to the document that was found; without braces.
    pub metadata: Vec<u8>,
    /// Whether it is the document itself, rather than a projection.
    pub is_document: bool,
}

/// What a script gives for one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptRows {
    /// The results.
    pub rows: Vec<ScriptRow>,
    /// Ids of documents to include.
    pub includes: Vec<String>,
    /// Keys of compare-exchange values to include.
    pub included_values: Vec<String>,
}

impl<'p> ScriptProjection<'p> {
    /// Compiles it.
    ///
    /// # Errors
    ///
    /// [`ScriptFailure::Script`]
    pub fn new(clause: &'p ScriptClause, limits: Limits) -> Result<ScriptProjection<'p>, ScriptFailure> {
        let mut names = vec!["args".to_owned()];
        let mut values = vec![clause.values.as_slice()];
        for (name, value) in Raw::new(&clause.values).members() {
            let name = format!("${}", name.decode());
            if script::is_name(&name) {
                names.push(name);
                values.push(value.bytes());
            }
        }
        // The document comes first, so that it is known if it is the result.
        let alias = clause.alias.as_deref().into_iter();
        let loads = clause.loads.iter().map(|load| load.alias.as_str());
        let parameters: Vec<&str> = alias.chain(names.iter().map(String::as_str)).chain(loads).collect();
        let program = Program::new(&clause.declarations, &parameters, Body::Expression(clause.text()), limits)?;
        program.check()?;
        Ok(ScriptProjection {
            program,
            form: &clause.form,
            values,
            loads: Loads::new(&clause.loads),
            declarations: &clause.declarations,
            text: clause.text(),
        })
    }

    /// The results of a document, or of what an index has in its place.
    ///
    /// # Errors
    ///
    /// [`ScriptFailure`]
    pub fn rows(&self, found: Scripted<'_>, snapshot: &Snapshot<'_>) -> Result<ScriptRows, ScriptFailure> {
        let outcome = self.run(found, snapshot)?;
        let value = Raw::new(&outcome.json);
        let mut rows = Vec::new();
        match (value.kind(), self.form) {
            (Kind::Object, ScriptForm::Columns { fields, .. }) => {
                // Fields are what they are without a script: numbers that are stored are texts.
                let field_of = |name: &str| fields.iter().find(|(column, _)| column == name).map(|(_, field)| field);
                let of_index = |name: &str| field_of(name).and_then(|field| found.stored()?.get(field));
                rows.push(row(value, false, &of_index));
            }
            (Kind::Object, form) => {
                let is_metadata = matches!(form, ScriptForm::Metadata(_));
                let is_document = outcome.is_first_argument && !matches!(found, Scripted::Stored(..));
                rows.push(row(value, is_document || is_metadata, &|_| None));
            }
            (Kind::Array, ScriptForm::Call(_)) => {
                for element in value.elements() {
                    match element.kind() {
                        Kind::Object => rows.push(row(element, false, &|_| None)),
                        _ => return Err(no_object(element)),
                    }
                }
            }
            _ => return Err(no_object(value)),
        }
        Ok(ScriptRows { rows, includes: outcome.includes, included_values: outcome.included_values })
    }

    /// What it gives, whatever that is, as JSON.
    ///
    /// # Errors
    ///
    /// [`ScriptFailure`]
    pub(super) fn value(&self, found: Scripted<'_>, snapshot: &Snapshot<'_>) -> Result<Vec<u8>, ScriptFailure> {
        Ok(self.run(found, snapshot)?.json)
    }

    /// What the script names of what an index stores: an object; `None`: nothing.
    fn named(&self, stored: Raw<'_>) -> Option<Vec<u8>> {
        let is_named = |name: &str| self.text.contains(name) || self.declarations.contains(name);
        let mut members = stored.members().filter(|(name, _)| is_named(&name.decode())).peekable();
        members.peek()?;
        let mut named = Vec::new();
        json::Writer::new(&mut named).object(|json| {
            for (name, value) in members {
                json.name(&name.decode()).raw(value.bytes());
            }
        });
        Some(named)
    }

    fn run(&self, found: Scripted<'_>, snapshot: &Snapshot<'_>) -> Result<Outcome, ScriptFailure> {
        let find = |id: &str| Ok::<_, ScriptFailure>(snapshot.get(id)?.as_ref().map(of_script));
        let loaded = self.loads.load(found.body(), found.stored(), find)?;
        let document = found.of_script();
        let named = match found {
            Scripted::Overlaid(_, stored) => self.named(stored),
            Scripted::Document(_) | Scripted::Stored(..) | Scripted::Group(_) => None,
        };
        let mut arguments = Vec::with_capacity(1 + self.values.len() + loaded.len());
        arguments.push(match &named {
            Some(named) => Input::Overlaid(&document, named),
            None => Input::Document(&document),
        });
        arguments.extend(self.values.iter().map(|json| Input::Json(json)));
        arguments.extend(self.loads.inputs(&loaded));
        let mut host = SnapshotHost { snapshot, failed: None };
        let omits_undefined = matches!(self.form, ScriptForm::Columns { .. });
        let run = Run { arguments: &arguments, omits_undefined, names_documents: true, ..Run::default() };
        let outcome = self.program.run(&run, &mut host);
        if let Some(failed) = host.failed {
            return Err(failed.into());
        }
        let outcome = outcome?;
        match outcome.effects.is_empty() {
            true => Ok(outcome),
            false => Err(ScriptFailure::ReadOnly),
        }
    }
}

fn no_object(value: Raw<'_>) -> ScriptFailure {
    let text = value.as_str().map(|text| text.into_owned());
    let text = text.unwrap_or_else(|| String::from_utf8_lossy(value.bytes()).into_owned());
    ScriptFailure::NoObject(text.chars().take(200).collect())
}

/// Takes a result apart.
///
/// * `of_index`: what an index stores, that stands in the result as it is.
fn row<'r>(value: Raw<'_>, is_document: bool, of_index: &dyn Fn(&str) -> Option<Raw<'r>>) -> ScriptRow {
    let mut row = ScriptRow { is_document, ..ScriptRow::default() };
    for (name, member) in value.members() {
        if name.is("@metadata") {
            for (name, member) in member.members().filter(|(name, _)| !is_of_found_document(&name.decode())) {
                push(&mut row.metadata, name.escaped(), member);
            }
        } else {
            push_name(&mut row.values, name.escaped());
            match of_index(&name.decode()) {
                Some(stored) => write_stored(stored, &mut row.values),
                None => row.values.extend_from_slice(member.bytes()),
            }
        }
    }
    row
}

/// Properties of the metadata that are written for each result.
fn is_of_found_document(name: &str) -> bool {
    matches!(name, "@id" | "@change-vector" | "@last-modified" | "@flags" | "@index-score" | "@projection")
}

fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    out.extend_from_slice(if out.is_empty() { b"\"" } else { b",\"" });
    out.extend_from_slice(name);
    out.extend_from_slice(b"\":");
}

fn push(out: &mut Vec<u8>, name: &[u8], value: Raw<'_>) {
    push_name(out, name);
    out.extend_from_slice(value.bytes());
}

/// A document as scripts see it.
fn of_script(document: &Document<'_>) -> script::Document {
    script::Document {
        id: document.id().to_owned(),
        json: document.json_of_scripts().into(),
        stored: Some(Stored {
            change_vector: document.change_vector(),
            last_modified: document.last_modified().to_string(),
            ticks: document.last_modified().ticks(),
        }),
    }
}

/// Answers from the snapshot of a query.
struct SnapshotHost<'h> {
    snapshot: &'h Snapshot<'h>,
    failed: Option<documents::Error>,
}

impl script::Host for SnapshotHost<'_> {
    fn key(&self) -> script::Key {
        documents::id::lower
    }

    fn load(&mut self, id: &str) -> Result<Option<script::Document>, String> {
        match self.snapshot.get(id) {
            Ok(document) => Ok(document.as_ref().map(of_script)),
            Err(error) => {
                let message = error.to_string();
                self.failed.get_or_insert(error);
                Err(message)
            }
        }
    }

    fn counter(&mut self, id: &str, name: &str) -> Result<script::Counter, String> {
        let own = self.snapshot.counter_database();
        match self.snapshot.counter(id, name) {
            Ok(counter) => Ok(script::Counter { values: counter.map(|counter| counter.values()), own }),
            Err(error) => {
                let message = error.to_string();
                self.failed.get_or_insert(error);
                Err(message)
            }
        }
    }

    fn value(&mut self, key: &str) -> Result<Option<Rc<[u8]>>, String> {
        match self.snapshot.compare_exchange_value(key) {
            Ok(value) => Ok(value.and_then(|value| value.object()).map(|object| object.bytes().into())),
            Err(error) => {
                let message = error.to_string();
                self.failed.get_or_insert(error);
                Err(message)
            }
        }
    }

    fn new_id(&mut self, given: &str) -> Result<String, String> {
        Err(format!("a query puts no document under '{given}'"))
    }
}
