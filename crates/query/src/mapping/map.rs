//! A map: from a document to what is indexed of it.

use super::error::{CompileError, MapError};
use super::evaluate::Evaluator;
use super::expression::Program;
use super::host::{DocumentView, Host};
use super::javascript::{self, Compiled, OTHERS, Refusal, ScriptMap};
use super::linq;
use super::source::Source;
use super::value::Value;
use documents::MissingFeature;
use std::ops::ControlFlow;
use std::rc::Rc;

/// A compiled map. It can be shared between threads and run for any number of documents.
#[derive(Debug)]
pub struct Map {
    kind: Kind,
    source: Source,
    reads_metadata: bool,
    referenced: Vec<String>,
    reads_compare_exchange: bool,
    missing: Option<MissingFeature>,
    makes: linq::Makes,
}

/// How it runs.
#[derive(Debug)]
enum Kind {
    Native(Program),
    Script(ScriptMap),
}

/// Why a map or a reduce in JavaScript is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptRefused {
    /// It is none.
    #[error(transparent)]
    Wrong(#[from] CompileError),
    /// It has a form that is not supported: which.
    #[error("{0}")]
    NotSupported(String),
    /// It needs a feature that is missing.
    #[error(transparent)]
    MissingFeature(#[from] MissingFeature),
}

impl From<Refusal> for ScriptRefused {
    fn from(refusal: Refusal) -> ScriptRefused {
        match refusal {
            Refusal::Wrong(error) => ScriptRefused::Wrong(error),
            Refusal::NotSupported(form) => ScriptRefused::NotSupported(form),
            Refusal::MissingFeature(missing) => ScriptRefused::MissingFeature(missing),
        }
    }
}

/// One output of a map or a reduce: an entry of an index.
#[derive(Clone, Copy, Debug)]
pub struct Output<'o, 'd> {
    /// The names of the fields, the same for all outputs of one definition.
    pub names: &'d [Box<str>],
    /// Their values, as many.
    pub values: &'o [Value<'d>],
    /// How much more the entry counts in scores.
    pub boost: Option<f64>,
}

impl<'d> Output<'_, 'd> {
    /// The fields in their order.
    pub fn fields(&self) -> impl Iterator<Item = (&'d str, &Value<'d>)> {
        self.names.iter().map(|name| &**name).zip(self.values)
    }

    /// Writes the result of a map as the reduce reads it: as [`Self::write_json`], but whole decimals have a fraction, as in the reference,
    /// by which their sums have one too.
    pub fn write_mapped(&self, json: &mut json::Writer<'_>) {
        self.write(json, &|value, json| match value {
            Value::Decimal(decimal) if decimal.scale() == 0 => drop(json.raw(format!("{decimal}.0").as_bytes())),
            value => value.write_json(json),
        });
    }

    /// Writes it as a JSON object. Fields of JavaScript whose names were known only when it ran stand beside the others.
    pub fn write_json(&self, json: &mut json::Writer<'_>) {
        self.write(json, &|value, json| value.write_json(json));
    }

    fn write(&self, json: &mut json::Writer<'_>, write: &dyn Fn(&Value<'_>, &mut json::Writer<'_>)) {
        json.object(|json| {
            for (name, value) in self.fields() {
                match value {
                    Value::Missing if name == OTHERS => {}
                    Value::Array(values) if values.iter().any(|value| matches!(value, Value::Field(_))) => {
                        for value in values.iter() {
                            if let Value::Field(made) = value {
                                write(&made.value, json.name(&made.name));
                            }
                        }
                    }
                    value => write(value, json.name(name)),
                }
            }
        });
    }
}

/// Takes outputs; an error ends the map with it.
pub type Emit<'e, 'd> = &'e mut dyn FnMut(Output<'_, 'd>) -> Result<(), MapError>;

impl Map {
    /// Compiles a map that is written in C#.
    ///
    /// # Errors
    ///
    /// [`CompileError`] with its place if it is no C#, or uses what is unknown or not supported.
    pub fn compile(text: &str) -> Result<Map, CompileError> {
        let compiled = linq::compile_map(text)?;
        let linq::CompiledMap { program, source, reads_metadata, referenced, .. } = compiled;
        let linq::CompiledMap { reads_compare_exchange, missing, makes, .. } = compiled;
        let kind = Kind::Native(program);
        Ok(Map { kind, source, reads_metadata, referenced, reads_compare_exchange, missing, makes })
    }

    /// Compiles a map that is written in JavaScript.
    ///
    /// * `sources`: functions that it may call.
    ///
    /// # Errors
    ///
    /// [`ScriptRefused`]
    pub fn compile_script(text: &str, sources: &str) -> Result<Map, ScriptRefused> {
        let (source, compiled) = javascript::compile(text, sources)?;
        match compiled {
            Compiled::Native(text) => Ok(Map { source, ..Map::compile(&text)? }),
            Compiled::Script(mut script) => Ok(Map {
                source,
                reads_metadata: true,
                referenced: std::mem::take(&mut script.referenced),
                reads_compare_exchange: script.reads_values,
                missing: None,
                makes: linq::Makes {
                    fields: script.makes_fields,
                    spatial: script.makes_spatial,
                    vectors: script.makes_vectors,
                    ..linq::Makes::default()
                },
                kind: Kind::Script(script),
            }),
        }
    }

    /// Where its documents come from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The names of the fields of its outputs. Fields that `CreateField` makes are not among them.
    pub fn output_fields(&self) -> &[Box<str>] {
        match &self.kind {
            Kind::Native(program) => &program.names,
            Kind::Script(script) => &script.names,
        }
    }

    /// Whether it reads metadata but the id and the collection; if not, views may leave them out.
    pub fn reads_metadata(&self) -> bool {
        self.reads_metadata
    }

    /// The collections of documents that it loads, each once: its outputs depend on them.
    pub fn referenced_collections(&self) -> &[String] {
        &self.referenced
    }

    /// Whether it reads the cluster-wide map of compare exchange values.
    pub fn reads_compare_exchange(&self) -> bool {
        self.reads_compare_exchange
    }

    /// What it needs, if one of its functions reads from a missing feature: attachments, counters, time series.
    pub fn missing(&self) -> Option<&MissingFeature> {
        self.missing.as_ref()
    }

    /// Whether it makes fields whose names are known only when it runs (`CreateField`).
    pub fn makes_fields(&self) -> bool {
        self.makes.fields
    }

    /// Whether it makes places or shapes (`CreateSpatialField`).
    pub fn makes_spatial_fields(&self) -> bool {
        self.makes.spatial
    }

    /// Whether it makes vectors (`CreateVector`).
    pub fn makes_vectors(&self) -> bool {
        self.makes.vectors
    }

    /// Whether values or entries of it count more in scores than others (`Boost`).
    pub fn boosts(&self) -> bool {
        self.makes.boosts
    }

    /// Maps a document, which is of [`Self::source`]: gives each output, of which there may be none or several.
    ///
    /// # Errors
    ///
    /// [`MapError`] for an error of the index for this document. Outputs before it were given; the caller drops them.
    pub fn run<'d>(
        &'d self,
        document: DocumentView<'d>,
        host: &mut dyn Host<'d>,
        emit: Emit<'_, 'd>,
    ) -> Result<(), MapError> {
        match &self.kind {
            Kind::Native(program) => run(program, Value::Document(Rc::new(document)), host, emit),
            Kind::Script(script) => script.run(&document, host, emit),
        }
    }
}

/// Runs a program over its input.
pub(super) fn run<'d>(
    program: &'d Program,
    input: Value<'d>,
    host: &mut dyn Host<'d>,
    emit: Emit<'_, 'd>,
) -> Result<(), MapError> {
    let mut values = Vec::with_capacity(program.values.len());
    let mut evaluator = Evaluator::new(program, input, host);
    let _ = evaluator.rows(&program.steps, &mut |evaluator| {
        values.clear();
        for expression in &program.values {
            values.push(evaluator.evaluate(expression)?);
        }
        let boost = match &program.boost {
            Some(boost) => match evaluator.evaluate(boost)?.read() {
                Value::Long(boost) => Some(boost as f64),
                Value::Double(boost) => Some(boost),
                other => return Err(MapError::Argument { function: "Boost", found: other.type_name() }),
            },
            None => None,
        };
        emit(Output { names: &program.names, values: &values, boost })?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(())
}
