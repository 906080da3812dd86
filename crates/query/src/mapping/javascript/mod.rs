//! Maps in JavaScript: `map('Users', u => ({ Name: u.Name }))`.
//!
//! ```text
//! text ─► definition ─► a collection and a function ─► native: plain properties, as if it were C#
//!                                                   └► script: the engine, and values of what it gives
//! ```
//!
//! What the function reads and names is known from its tokens (`definition.rs`): which fields there are, as far as they can be known before
//! it runs, and what of the protocol's functions is not there yet. A function that gives one object of plain properties runs without the
//! engine, at the speed of C#.

mod definition;
mod fields;
mod groups;
mod loading;
mod made;
mod reduce;
mod reduction;
mod spatial;
mod syntax;
mod values;
mod vector;

use super::error::{CompileError, MapError};
use super::host::{DocumentView, Host};
use super::map::{Emit, Output};
use super::value::Value;
use definition::{Definition, SourceFunction};
use documents::{Feature, MissingFeature};
use json::Raw;
use loading::Loader;
use script::{Body, Document, Input, Limits, Program, Run, Stored};

pub(crate) use fields::OTHERS;
pub(crate) use reduce::{After, CompiledReduce, ScriptReduce, compile_reduce};

/// A map that the engine runs.
#[derive(Debug)]
pub(crate) struct ScriptMap {
    program: Program,
    /// The names of its fields, [`OTHERS`] behind them.
    pub names: Vec<Box<str>>,
    /// Whether there may be fields that are not among the names.
    pub makes_fields: bool,
    /// Whether it makes places or shapes.
    pub makes_spatial: bool,
    pub makes_vectors: bool,
    /// Whether it can read compare-exchange values.
    pub reads_values: bool,
    /// The collections of documents that it loads and follows, each once.
    pub referenced: Vec<String>,
}

/// What a text comes to.
#[derive(Debug)]
pub(crate) enum Compiled {
    /// C# that does the same.
    Native(String),
    /// A function for the engine.
    Script(ScriptMap),
}

/// Why a map in JavaScript is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is none.
    Wrong(CompileError),
    /// It has a form that is not supported: its name.
    NotSupported(String),
    /// It needs a feature that is missing.
    MissingFeature(MissingFeature),
}

impl From<MissingFeature> for Refusal {
    fn from(missing: MissingFeature) -> Refusal {
        Refusal::MissingFeature(missing)
    }
}

impl From<CompileError> for Refusal {
    fn from(error: CompileError) -> Refusal {
        Refusal::Wrong(error)
    }
}

/// Compiles a map.
///
/// * `sources`: JavaScript that it may call.
pub(crate) fn compile(text: &str, sources: &str) -> Result<(super::Source, Compiled), Refusal> {
    compile_parsed(text, sources).map_err(|refusal| as_syntax_error(refusal, text, sources))
}

fn compile_parsed(text: &str, sources: &str) -> Result<(super::Source, Compiled), Refusal> {
    let Definition { source, function } = Definition::of(text)?;
    let added = SourceFunction { text: sources, tokens: script::tokens(sources).unwrap_or_default(), whole: sources };
    if let Some(name) = function.missing().or_else(|| added.missing()) {
        return Err(Feature::of_script_function(name).missing_for(format!("{name}() in an index")).into());
    }
    let mut referenced = Vec::new();
    for code in [&function, &added] {
        code.add_loaded(&mut referenced)?;
    }
    if let Some(text) = function.as_csharp(&source) {
        return Ok((source, Compiled::Native(text)));
    }
    let (names, mut makes_fields) = function.fields();
    let is_called = |name: &str| function.calls(name) || added.calls(name);
    let makes_spatial = is_called(spatial::FUNCTION);
    let mut declarations = sources.to_owned();
    if makes_spatial {
        declarations.push_str(spatial::DECLARATION);
        declarations.push('\n');
    }
    let makes_vectors = is_called(vector::FUNCTION);
    if makes_vectors {
        declarations.push_str(vector::DECLARATION);
        declarations.push('\n');
    }
    if is_called(made::FUNCTION) {
        makes_fields = true;
        declarations.push_str(made::DECLARATION);
        declarations.push('\n');
    }
    if function.loads() || added.loads() {
        declarations.push_str(&loading::declaration(&referenced));
    }
    if loading::OF_ATTACHMENTS.into_iter().any(is_called) {
        declarations.push_str(loading::ATTACHMENTS);
        declarations.push('\n');
    }
    let call = format!("({})(__document)", function.text);
    let program = Program::new(&declarations, &["__document"], Body::Expression(&call), Limits::default())
        .map_err(wrong_script)?;
    program.check().map_err(wrong_script)?;
    let reads_values = function.reads_values() || added.reads_values();
    let map = ScriptMap { program, names, makes_fields, makes_spatial, makes_vectors, reads_values, referenced };
    Ok((source, Compiled::Script(map)))
}

/// What is wrong with a text that the engine cannot compile.
fn wrong_script(error: script::Error) -> Refusal {
    let (message, line) = match error {
        script::Error::Syntax { message, line, .. } => (message, line),
        error => (error.to_string(), 1),
    };
    Refusal::Wrong(CompileError { message, line: line as usize, column: 1, feature: None })
}

/// The refusal of a text that is no JavaScript, or whose added sources are none: what the engine says of that, and where. Others stay as
/// they are.
fn as_syntax_error(refusal: Refusal, text: &str, sources: &str) -> Refusal {
    if !matches!(refusal, Refusal::Wrong(_)) {
        return refusal;
    }
    for (text, of) in [(text, ""), (sources, " in the added sources")] {
        if let Ok(Some(script::SyntaxError { message, line, column })) = script::syntax_error(text) {
            let message = format!("JavaScript syntax error{of}: {message}");
            return Refusal::Wrong(CompileError { message, line, column, feature: None });
        }
    }
    refusal
}

impl ScriptMap {
    /// Maps a document: gives each object that the function gives.
    pub fn run<'d>(
        &'d self,
        view: &DocumentView<'d>,
        host: &mut dyn Host<'d>,
        emit: Emit<'_, 'd>,
    ) -> Result<(), MapError> {
        let document = document(view);
        let run = Run { arguments: &[Input::Document(&document)], omits_undefined: true, ..Run::default() };
        let outcome = self.program.run(&run, &mut Loader { host })?;
        let value = Raw::new(&outcome.json);
        match value.kind() {
            json::Kind::Object => emit_object(&self.names, value, emit),
            json::Kind::Array => value
                .elements()
                .filter(|element| element.kind() == json::Kind::Object)
                .try_for_each(|element| emit_object(&self.names, element, emit)),
            // Nothing is indexed of a document for which nothing is given.
            _ => Ok(()),
        }
    }
}

/// A document as scripts take it.
fn document(view: &DocumentView<'_>) -> Document {
    Document {
        id: view.id.to_owned(),
        json: whole(view).into(),
        stored: Some(Stored {
            change_vector: view.change_vector.to_string(),
            last_modified: view.last_modified.to_string(),
            ticks: view.last_modified.ticks(),
        }),
    }
}

/// Gives the properties of an object as fields; those that are not among the names are in the last one, [`OTHERS`].
fn emit_object<'d>(names: &'d [Box<str>], object: Raw<'_>, emit: Emit<'_, 'd>) -> Result<(), MapError> {
    if made::is_field(object) {
        return Err(MapError::Script("a field that is made has to be a property of what the map gives".to_owned()));
    }
    let mut values = vec![Value::Missing; names.len()];
    let mut others = Vec::new();
    for (name, member) in object.members() {
        let name = name.decode();
        let made = made::made_fields(member)?;
        match names.iter().position(|known| **known == *name).and_then(|place| values.get_mut(place)) {
            _ if made.is_some() => others.extend(made.into_iter().flatten()),
            Some(value) if name != OTHERS => *value = values::owned(member),
            _ => others.push(values::field(&name, member)),
        }
    }
    if let Some(last) = values.last_mut().filter(|_| !others.is_empty()) {
        *last = Value::array(others);
    }
    emit(Output { names, values: &values, boost: None })
}

/// A document with its metadata as one object.
fn whole(document: &DocumentView<'_>) -> Vec<u8> {
    let (body, metadata) = (document.body.bytes(), document.metadata.bytes());
    let mut json = Vec::with_capacity(body.len() + metadata.len() + 16);
    match body.strip_suffix(b"}") {
        Some(body) if body.len() > 1 => {
            json.extend_from_slice(body);
            json.push(b',');
        }
        _ => json.push(b'{'),
    }
    json.extend_from_slice(b"\"@metadata\":");
    json.push(b'{');
    let start = json.len();
    for part in [metadata, document.server_metadata.bytes()].into_iter().filter(|part| !part.is_empty()) {
        json.extend_from_slice(if json.len() == start { b"" } else { b"," });
        json.extend_from_slice(part);
    }
    if document.is_archived {
        json.extend_from_slice(if json.len() == start { b"" } else { b"," });
        json.extend_from_slice(b"\"@archived\":true");
    }
    json.extend_from_slice(b"}}");
    json
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod reduce_tests;
