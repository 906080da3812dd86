//! Entries of indexes that users define: what their maps make of a document.

use super::extract::ExtractedValue;
use super::field_failures::FieldFailures;
use super::indexer::{MakesEntries, Unmapped};
use super::limits::ENTRIES_KEPT_MAX;
use super::map_runner::{Loading, MapRunner};
use super::places;
use super::results_reservation::ResultsReservation;
use super::terms;
use super::vectors::Dimensions;
use crate::analysis::Analyzer;
use crate::definition::{Analysis, Fields, MapIndex};
use crate::index::{Entry, FieldNumber, Index, Norm, Result, Term};
use crate::mapping::{Map, MapError, Output, Spatial, Value};
use crate::spatial::{Geometry, SpatialOptions, geometry_of_text};
use crate::vector::VectorOptions;
use documents::Document;
use json::{Kind, Raw};
use std::sync::Arc;

pub(super) struct MappedEntries {
    runner: MapRunner,
    /// For each map its fields, in the order of its outputs.
    fields: Vec<Vec<MappedField>>,
    entries: Vec<Entry>,
    results: ResultsReservation,
    /// For each map whether its fields are stored; `None`: none is.
    stored: Vec<Option<Vec<bool>>>,
    lower: Vec<u8>,
    json: Vec<u8>,
    dimensions: Dimensions,
}

/// How a field of a map's outputs is kept; `None`: its values are not indexed.
type MappedField = Option<KeptField>;

struct KeptField {
    number: FieldNumber,
    analysis: Analysis,
    spatial: SpatialOptions,
    vector: VectorOptions,
}

impl KeptField {
    fn new(definition: &MapIndex, index: &Index, name: &str, analysis: Analysis) -> Result<KeptField> {
        let spatial = definition.spatial_options(name).unwrap_or_default();
        let vector = definition.vector_options(name);
        Ok(KeptField { number: index.field(name)?, analysis, spatial, vector })
    }
}

impl MappedEntries {
    pub fn new(definition: &Arc<MapIndex>, index: &Index) -> Result<MappedEntries> {
        let field = |name: &str| match definition.analysis(name) {
            Some(analysis) => KeptField::new(definition, index, name, analysis).map(Some),
            None => Ok(None),
        };
        let of_map = |map: &Map| map.output_fields().iter().map(|name| field(name)).collect::<Result<Vec<_>>>();
        let fields = definition.maps().iter().map(of_map).collect::<Result<_>>()?;
        let stored = definition.maps().iter().map(|map| stored_of(definition, map)).collect();
        let runner = MapRunner::new(definition);
        let (entries, lower, json, dimensions) = (Vec::new(), Vec::new(), Vec::new(), Dimensions::default());
        let results = ResultsReservation::new();
        Ok(MappedEntries { runner, fields, entries, results, stored, lower, json, dimensions })
    }
}

fn stored_of(definition: &MapIndex, map: &Map) -> Option<Vec<bool>> {
    let stored: Vec<bool> = map.output_fields().iter().map(|name| definition.stores(name)).collect();
    (map.makes_fields() || stored.contains(&true)).then_some(stored)
}

impl MakesEntries for MappedEntries {
    fn entries_of(
        &mut self,
        index: &Index,
        document: &Document<'_>,
        loading: Loading<'_>,
        _: &mut FieldFailures,
    ) -> Result<&mut [Entry], Unmapped> {
        self.rest();
        let MappedEntries { runner, fields, entries, results, stored, lower, json, dimensions } = self;
        dimensions.begin();
        let definition = runner.definition.clone();
        let mut count = 0;
        // An error of ours, on its way through the map.
        let mut failed = None;
        let mapped = runner.run(document, loading, &mut |map, output| {
            // As in the reference: a document that has none of the fields is not in the index, unless one of them is a place.
            let keeps_empty =
                || definition.indexes_empty() || definition.maps().get(map).is_some_and(Map::makes_spatial_fields);
            if output.values.iter().all(|value| matches!(value, Value::Missing)) && !keeps_empty() {
                return Ok(());
            }
            if entries.len() == count {
                entries.push(Entry::new());
            }
            let entry = &mut entries[count];
            entry.clear();
            count += 1;
            let added = match stored.get(map) {
                // It is the whole result.
                _ if document.counter_name().is_some() => {
                    json.clear();
                    output.write_json(&mut json::Writer::new(json));
                    entry.store(json)
                }
                Some(Some(stored)) => {
                    store(&definition, &output, stored, json);
                    entry.store(json)
                }
                _ => Ok(()),
            };
            let fields = fields.get(map).map(Vec::as_slice).unwrap_or_default();
            let mut values = Values { index, definition: &definition, entry, lower, dimensions: &mut *dimensions };
            let added = added.and_then(|()| values.add_output(output, fields));
            added.and_then(|()| results.add(entries[count - 1].memory_size(), || index.reservation())).map_err(
                |error| {
                    let stopped = MapError::Stopped(error.to_string());
                    failed = Some(error);
                    stopped
                },
            )
        });
        match (mapped, failed) {
            (_, Some(error)) => Err(error.into()),
            (Err(error), None) => Err(error.into()),
            (Ok(()), None) => {
                dimensions.end();
                Ok(&mut self.entries[..count])
            }
        }
    }

    fn rest(&mut self) {
        if self.entries.len() > ENTRIES_KEPT_MAX {
            self.entries.truncate(ENTRIES_KEPT_MAX);
            self.entries.shrink_to_fit();
        }
        self.results.clear();
    }
}

/// Makes the object of an output's stored values: those of the fields that are stored, without what is missing. Empty: there are none.
fn store(definition: &MapIndex, output: &Output<'_, '_>, stored: &[bool], json: &mut Vec<u8>) {
    json.clear();
    json::Writer::new(json).object(|json| {
        for ((name, value), is_stored) in output.fields().zip(stored) {
            store_value(definition, name, value, *is_stored, json);
        }
    });
    if json == b"{}" {
        json.clear();
    }
}

/// The recursion ends: it goes into arrays only, whose depth is bounded.
fn store_value(definition: &MapIndex, name: &str, value: &Value<'_>, is_stored: bool, json: &mut json::Writer<'_>) {
    match value {
        // What it is found by is no value of it, as in the reference.
        Value::Missing | Value::Spatial(_) | Value::Vector(_) => {}
        Value::Field(made) => {
            let is_stored = match made.options.storage.as_deref() {
                Some(storage) => storage == "Yes",
                None => definition.stores(&made.name),
            };
            store_value(definition, &made.name, &made.value, is_stored, json);
        }
        Value::Array(values) if values.iter().any(|value| matches!(value, Value::Field(_))) => {
            values.iter().for_each(|value| store_value(definition, name, value, is_stored, json));
        }
        value if is_stored => {
            let text = value.to_json();
            write_stored(Raw::new(&text), json.name(name));
        }
        _ => {}
    }
}

/// As in the reference, `true` and `false` are stored as texts, alone and in arrays; objects as they are. Numbers become texts where they
/// are projected: scripts read numbers. The depth of the recursion is that of the document.
fn write_stored(value: Raw<'_>, json: &mut json::Writer<'_>) {
    match value.kind() {
        Kind::Bool => _ = json.string(&String::from_utf8_lossy(value.bytes())),
        Kind::Array => _ = json.array(|json| value.elements().for_each(|element| write_stored(element, json))),
        _ => _ = json.raw(value.bytes()),
    }
}

/// What `CreateSpatialField` was given.
fn made_geometry(made: &Spatial<'_>) -> Result<Geometry> {
    match made {
        Spatial::Point { latitude, longitude } => Ok(Geometry::point(*longitude, *latitude)),
        Spatial::Wkt(text) => Ok(geometry_of_text(text)?),
    }
}

/// The boost of a value, those of its elements multiplied. The recursion is as deep as arrays in arrays and boosts, both bounded.
fn boost_of(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Boosted(boosted) => Some(boosted.boost * boost_of(&boosted.value).unwrap_or(1.0)),
        Value::Array(values) => values.iter().filter_map(boost_of).reduce(|one, other| one * other),
        _ => None,
    }
}

/// Adds values to an entry.
struct Values<'v> {
    index: &'v Index,
    definition: &'v MapIndex,
    entry: &'v mut Entry,
    lower: &'v mut Vec<u8>,
    dimensions: &'v mut Dimensions,
}

impl Values<'_> {
    fn add_output(&mut self, output: Output<'_, '_>, fields: &[MappedField]) -> Result<()> {
        for (field, value) in fields.iter().zip(output.values) {
            self.add(field.as_ref(), value)?;
        }
        if self.definition.bm25().is_some() {
            return self.entry.add_lengths();
        }
        if !self.definition.boosts() {
            return Ok(());
        }
        let entry_boost = output.boost.unwrap_or(1.0);
        for (KeptField { number, .. }, value) in
            fields.iter().zip(output.values).filter_map(|(field, value)| Some((field.as_ref()?, value)))
        {
            let boost = boost_of(value);
            if (output.boost.is_some() || boost.is_some()) && self.entry.has(*number) {
                let boost = entry_boost * boost.unwrap_or(1.0);
                self.entry.add_norm(*number, Norm::of(boost as f32, self.entry.word_count(*number)))?;
            }
        }
        Ok(())
    }

    /// The depth of the recursion is that of arrays in arrays and of boosts, both bounded.
    fn add(&mut self, field: Option<&KeptField>, value: &Value<'_>) -> Result<()> {
        if let Value::Field(made) = value {
            let Some(analysis) = self.definition.analysis(&made.name) else { return Ok(()) };
            let analysis = match made.options.indexing.as_deref() {
                Some("Exact") => Analysis::Exact,
                Some("Search") if !matches!(analysis, Analysis::Words(_)) => Analysis::Words(Analyzer::Standard),
                Some("No") => return Ok(()),
                _ => analysis,
            };
            let field = KeptField::new(self.definition, self.index, &made.name, analysis)?;
            return self.add(Some(&field), &made.value);
        }
        let Some(KeptField { number, analysis, spatial, vector }) = field else { return self.add_made(value) };
        let number = *number;
        match value {
            Value::Missing if !self.definition.missing_is_null() => Ok(()),
            Value::Missing | Value::Null => self.entry.add(number, Term::Null),
            Value::Json(raw) => self.add_json(number, analysis, *raw),
            Value::Array(values) => values.iter().try_for_each(|value| self.add(field, value)),
            Value::Boosted(boosted) => self.add(field, &boosted.value),
            Value::Spatial(made) => places::add(self.entry, number, spatial, made_geometry(made)?),
            Value::Vector(made) => {
                let json = made.to_json();
                self.dimensions.add(self.index, self.entry, number, vector, Raw::new(&json))
            }
            value => {
                let json = value.to_json();
                self.add_json(number, analysis, Raw::new(&json))
            }
        }
    }

    /// Of a field that is not indexed: fields that were made have names of their own.
    fn add_made(&mut self, value: &Value<'_>) -> Result<()> {
        match value {
            Value::Array(values) => values.iter().try_for_each(|value| self.add(None, value)),
            _ => Ok(()),
        }
    }

    fn add_json(&mut self, number: FieldNumber, analysis: &Analysis, json: Raw<'_>) -> Result<()> {
        match json.kind() {
            Kind::Array => json.elements().try_for_each(|element| self.add_json(number, analysis, element)),
            _ => terms::add(self.entry, number, analysis, &ExtractedValue::Value(json), self.lower),
        }
    }
}
