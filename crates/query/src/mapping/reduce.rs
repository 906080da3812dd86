//! A reduce: from mapped values with one key to one value.
//!
//! Mapped values and results are JSON objects with the same properties, so a result can be reduced again together with
//! others: groups are reduced part by part, and the parts' results once more.

use super::error::{CompileError, MapError};
use super::expression::Program;
use super::host::NoHost;
use super::identity::identity;
use super::javascript::{self, ScriptReduce};
use super::linq;
use super::map::{Emit, Map, ScriptRefused, run};
use super::partial::is_partial;
use super::value::{Group, Names, Object, Value};
use json::Raw;
use std::collections::HashMap;
use std::rc::Rc;

/// A compiled reduce.
#[derive(Debug)]
pub struct Reduce {
    /// From a mapped value to what is grouped: the key's values, and the element behind them.
    before: Program,
    after: After,
    /// Whether the key is an object, `new { … }`, rather than one value.
    has_object_key: bool,
    makes_spatial: bool,
}

/// From a group to its outputs.
#[derive(Debug)]
enum After {
    Native(Program),
    Script(ScriptReduce),
}

/// The key of a group.
#[derive(Clone, Debug)]
pub struct ReduceKey<'d> {
    /// The values of the key, as many as [`Reduce::key_fields`].
    pub values: Vec<Value<'d>>,
    /// Bytes that are equal for keys that are, and for no others. Equal numbers are one key, whatever their types.
    pub identity: Vec<u8>,
}

impl Reduce {
    /// Compiles a reduce that is written in C#.
    ///
    /// # Errors
    ///
    /// [`CompileError`] with its place if it is no C#, does not group the results, or uses what is unknown or not supported.
    pub fn compile(text: &str) -> Result<Reduce, CompileError> {
        let linq::CompiledReduce { before, after, has_object_key, makes_spatial } = linq::compile_reduce(text)?;
        Ok(Reduce { before, after: After::Native(after), has_object_key, makes_spatial })
    }

    /// Compiles a reduce that is written in JavaScript.
    ///
    /// * `sources`: functions that it may call.
    ///
    /// # Errors
    ///
    /// [`ScriptRefused`]
    pub fn compile_script(text: &str, sources: &str) -> Result<Reduce, ScriptRefused> {
        let javascript::CompiledReduce { before, after, has_object_key } = javascript::compile_reduce(text, sources)?;
        let after = match after {
            javascript::After::Native(after) => After::Native(after),
            javascript::After::Script(after) => After::Script(after),
        };
        // What would make places in JavaScript was refused by name.
        Ok(Reduce { before, after, has_object_key, makes_spatial: false })
    }

    /// Whether it gives the same from parts' results as from all values at once, so that parts can be kept.
    pub fn is_partial(&self) -> bool {
        match &self.after {
            After::Native(after) => is_partial(&self.before, after, self.has_object_key),
            After::Script(_) => false,
        }
    }

    /// The names of the key's fields; that of a key that is no field is empty.
    pub fn key_fields(&self) -> &[Box<str>] {
        self.before.names.split_last().map_or(&[], |(_, names)| names)
    }

    /// The names of the fields of its outputs.
    pub fn output_fields(&self) -> &[Box<str>] {
        match &self.after {
            After::Native(after) => &after.names,
            After::Script(script) => &script.names,
        }
    }

    /// Whether its outputs may have fields whose names are known only when it runs.
    pub fn makes_fields(&self) -> bool {
        matches!(&self.after, After::Script(script) if script.makes_fields)
    }

    /// Whether it makes places or shapes (`CreateSpatialField`).
    pub fn makes_spatial_fields(&self) -> bool {
        self.makes_spatial
    }

    /// Whether the outputs of a map have the fields that those of this reduce have, as they must: in any order.
    pub fn fits(&self, map: &Map) -> bool {
        let sorted = |names: &[Box<str>]| {
            let mut names = names.to_vec();
            names.sort();
            names
        };
        sorted(map.output_fields()) == sorted(self.output_fields())
    }

    /// Gives the key of a mapped value: once, unless the reduce leaves it out or takes it apart before it groups.
    ///
    /// # Errors
    ///
    /// [`MapError`] if the key cannot be computed.
    pub fn key<'d>(
        &'d self,
        mapped: Raw<'d>,
        found: &mut dyn FnMut(ReduceKey<'d>) -> Result<(), MapError>,
    ) -> Result<(), MapError> {
        self.grouped(mapped, &mut |key, _| found(key))
    }

    /// Reduces mapped values, or results of this reduce, or both: gives the output of each group, in the order of their first
    /// values. Values of one key give one group.
    ///
    /// * `is_wanted`: whether a group of this identity is wanted; a value may belong to several.
    ///
    /// # Errors
    ///
    /// [`MapError`] for an error of the index in its reduce.
    pub fn run<'d>(
        &'d self,
        mapped: &[Raw<'d>],
        is_wanted: &dyn Fn(&[u8]) -> bool,
        emit: Emit<'_, 'd>,
    ) -> Result<(), MapError> {
        let mut groups: Vec<(ReduceKey<'d>, Vec<Value<'d>>)> = Vec::new();
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        for value in mapped {
            self.grouped(*value, &mut |key, element| {
                match places.get(&key.identity).and_then(|place| groups.get_mut(*place)) {
                    Some((_, elements)) => elements.push(element),
                    None if !is_wanted(&key.identity) => {}
                    None => {
                        places.insert(key.identity.clone(), groups.len());
                        groups.push((key, vec![element]));
                    }
                }
                Ok(())
            })?;
        }
        for (key, elements) in groups {
            let key = self.key_value(key.values);
            match &self.after {
                After::Native(after) => {
                    let group = Value::Group(Rc::new(Group { key, elements }));
                    run(after, group, &mut NoHost, emit)?;
                }
                After::Script(script) => script.run(&key, &elements, emit)?,
            }
        }
        Ok(())
    }

    /// Calls `found` with key and element of each row that a mapped value gives.
    fn grouped<'d>(
        &'d self,
        mapped: Raw<'d>,
        found: &mut dyn FnMut(ReduceKey<'d>, Value<'d>) -> Result<(), MapError>,
    ) -> Result<(), MapError> {
        run(&self.before, Value::of(mapped), &mut NoHost, &mut |row| {
            let Some((element, values)) = row.values.split_last() else { return Ok(()) };
            let identity = identity(&Value::array(values.to_vec()));
            found(ReduceKey { values: values.to_vec(), identity }, element.clone())
        })
    }

    /// The key as the definition sees it: one value, or an object if it was written as one.
    fn key_value<'d>(&'d self, mut values: Vec<Value<'d>>) -> Value<'d> {
        if !self.has_object_key && values.len() == 1 {
            return values.remove(0);
        }
        Value::Object(Rc::new(Object { names: Names::Static(self.key_fields()), values }))
    }
}
