//! Reduces in JavaScript: `groupBy(x => x.city).aggregate(g => ({ city: g.key, count: g.values.reduce((n, v) => n + v.count, 0) }))`.
//!
//! What is grouped by is a property or an object of properties, as in the reference, and never needs the engine. A group whose output is
//! made of its key and of sums does not either; others are given to the engine as `{ key, values }`.

use super::super::error::MapError;
use super::super::expression::Program;
use super::super::limits::{SCRIPT_REDUCE_MEMORY_MAX, SCRIPT_REDUCE_STEPS_PER_VALUE, SCRIPT_REDUCE_TIME_MAX};
use super::super::map::Emit;
use super::super::value::Value;
use super::loading::{self, NoLoader};
use super::reduction::{Key, Reduction};
use super::{Refusal, as_syntax_error, emit_object, groups, made, spatial, vector, wrong_script};
use documents::Feature;
use json::{Kind, Raw, Writer};
use script::{Body, Input, Limits, Run};

/// A compiled reduce.
pub(crate) struct CompiledReduce {
    /// From a mapped value to the values of the key, and itself.
    pub before: Program,
    pub after: After,
    /// Whether the key is an object.
    pub has_object_key: bool,
}

/// From a group to its outputs.
pub(crate) enum After {
    Native(Program),
    Script(ScriptReduce),
}

/// What is made of groups, by the engine.
#[derive(Debug)]
pub(crate) struct ScriptReduce {
    program: script::Program,
    /// The names of its fields, [`OTHERS`](super::OTHERS) behind them.
    pub names: Vec<Box<str>>,
    /// Whether there may be fields that are not among the names.
    pub makes_fields: bool,
}

/// What only maps may call.
const OF_MAPS: [&str; 5] = [loading::LOAD, loading::NO_TRACKING, made::FUNCTION, spatial::FUNCTION, vector::FUNCTION];

/// Compiles a reduce.
///
/// * `sources`: JavaScript that it may call.
pub(crate) fn compile_reduce(text: &str, sources: &str) -> Result<CompiledReduce, Refusal> {
    compile_parsed(text, sources).map_err(|refusal| as_syntax_error(refusal, text, sources))
}

fn compile_parsed(text: &str, sources: &str) -> Result<CompiledReduce, Refusal> {
    let Reduction { key, function, declarations } = Reduction::of(text)?;
    if let Some(name) = function.missing() {
        return Err(Feature::of_script_function(name).missing_for(format!("{name}() in a reduce")).into());
    }
    if let Some(name) = OF_MAPS.into_iter().find(|name| function.calls(name)) {
        return Err(Refusal::NotSupported(format!("{name}() in a reduce")));
    }
    let before = groups::before(&key);
    let has_object_key = matches!(key, Key::Object(_));
    if let Some(after) = groups::after(&function, &key) {
        return Ok(CompiledReduce { before, after: After::Native(after), has_object_key });
    }
    let (names, makes_fields) = function.fields();
    let limits = Limits { time: SCRIPT_REDUCE_TIME_MAX, memory: SCRIPT_REDUCE_MEMORY_MAX, ..Limits::default() };
    let call = format!("({})(__group)", function.text);
    let declarations = format!("{sources}\n{declarations}");
    let program = script::Program::new(&declarations, &["__group"], Body::Expression(&call), limits);
    let program = program.map_err(wrong_script)?;
    program.check().map_err(wrong_script)?;
    let script = ScriptReduce { program, names, makes_fields };
    Ok(CompiledReduce { before, after: After::Script(script), has_object_key })
}

impl ScriptReduce {
    /// Gives the output of a group.
    pub fn run<'d>(&'d self, key: &Value<'d>, elements: &[Value<'d>], emit: Emit<'_, 'd>) -> Result<(), MapError> {
        let mut group = Vec::new();
        Writer::new(&mut group).object(|json| {
            key.write_json(json.name("key"));
            json.name("values").array(|json| elements.iter().for_each(|element| element.write_json(json)));
        });
        let run = Run {
            arguments: &[Input::Json(&group)],
            steps_more: SCRIPT_REDUCE_STEPS_PER_VALUE.saturating_mul(elements.len() as u64),
            ..Run::default()
        };
        let outcome = self.program.run(&run, &mut NoLoader)?;
        let value = Raw::new(&outcome.json);
        match value.kind() {
            Kind::Object => emit_object(&self.names, value, emit),
            _ => Err(MapError::Script("The function of 'aggregate' has to give an object".to_owned())),
        }
    }
}
