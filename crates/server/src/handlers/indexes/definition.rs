//! Definitions of indexes, as clients send and expect them.

use database::{Database, Index};
use json::Value;
use query::definition::{
    AutomaticIndex, COUNT, Field, IndexDefinition, MapIndex, Measure, MeasuredField, VectorField, name_of,
};
use query::spatial::SpatialOptions;
use query::vector::VectorOptions;

/// Appends the definition of an index.
pub(crate) fn write(json: &mut json::Writer<'_>, database: &Database, index: &Index) {
    let definition = index.definition();
    let (map, settings) = (definition.as_map(), index.settings());
    json.object(|json| {
        json.name("Name").string(index.name()).name("SourceType").string(definition.source_type());
        json.name("Type").string(index.wire_type()).name("LockMode").string(settings.lock_mode.name());
        let given = |key| map.and_then(|map| map.given().get(key)).and_then(Value::as_str);
        json.name("ArchivedDataProcessingBehavior").optional_string(given("ArchivedDataProcessingBehavior"));
        json.name("Priority").string(settings.priority.name()).name("State").string(state(database, index));
        json.name("OutputReduceToCollection").optional_string(given("OutputReduceToCollection"));
        json.name("DeploymentMode").null();
        match index.output_number() {
            Some(number) => _ = json.name("ReduceOutputIndex").unsigned(number),
            None => _ = json.name("ReduceOutputIndex").null(),
        }
        for key in ["PatternForOutputReduceToCollectionReferences", "PatternReferencesCollectionName"] {
            json.name(key).optional_string(given(key));
        }
        match map.and_then(|map| map.given().get("Configuration")).filter(|given| !given.members().is_empty()) {
            Some(given) => given.write(json.name("Configuration")),
            None => _ = json.name("Configuration").object(|_| {}),
        }
        match map.and_then(|map| map.given().get("AdditionalSources")).filter(|given| !given.members().is_empty()) {
            Some(given) => given.write(json.name("AdditionalSources")),
            None => _ = json.name("AdditionalSources").object(|_| {}),
        }
        json.name("AdditionalAssemblies").array(|_| {}).name("CompoundFields").array(|_| {});
        match map.and_then(|map| map.given().get("Reduce")) {
            Some(reduce) => reduce.write(json.name("Reduce")),
            None if definition.is_grouped() => _ = json.name("Reduce").string(&reduce_text(definition)),
            None => _ = json.name("Reduce").null(),
        }
        match definition {
            IndexDefinition::Automatic(index) => write_automatic(json, index),
            IndexDefinition::Map(index) => write_map(json, index),
        }
    });
}

fn write_automatic(json: &mut json::Writer<'_>, index: &AutomaticIndex) {
    json.name("Maps").array(|json| _ = json.string(&map_text(index)));
    json.name("Fields").object(|json| {
        for field in index.fields() {
            let spatial = field.needs.is_spatial.then(SpatialOptions::default);
            let vector = VectorField::of(field).map(|field| field.options);
            let is_suggested = field.needs.is_suggested;
            write_field(json, &field.name.path, &Shown { is_suggested, spatial, vector, ..Shown::DEFAULT });
        }
        for field in index.fields() {
            let path = &field.name.path;
            if field.needs.is_exact {
                write_field(json, &format!("exact({path})"), &Shown { indexing: "Exact", ..Shown::DEFAULT });
            }
            if field.needs.is_searched {
                let shown = Shown { indexing: "Search", is_highlighted: field.needs.is_highlighted, ..Shown::DEFAULT };
                write_field(json, &format!("search({path})"), &shown);
            }
        }
    });
}

fn write_map(json: &mut json::Writer<'_>, index: &MapIndex) {
    match index.given().get("Maps") {
        Some(maps) => maps.write(json.name("Maps")),
        None => _ = json.name("Maps").array(|_| {}),
    }
    json.name("Fields").object(|json| {
        for (name, options) in index.given().get("Fields").map(Value::members).unwrap_or_default() {
            let option = |key| options.get(key).and_then(Value::as_str);
            json.name(name).object(|json| {
                json.name("Analyzer").optional_string(option("Analyzer"));
                json.name("Indexing").optional_string(option("Indexing"));
                json.name("Storage").optional_string(option("Storage"));
                json.name("Suggestions")
                    .bool(index.suggests(name))
                    .name("TermVector")
                    .optional_string(option("TermVector"));
                let spatial = options.get("Spatial").filter(|given| **given != Value::Null);
                write_spatial(json, spatial.and_then(|_| index.spatial_options(name)));
                let vector = options.get("Vector").filter(|given| **given != Value::Null);
                write_vector(json, vector.map(|_| index.vector_options(name)));
            });
        }
    });
}

/// `Users:[<Name:Age>;<Name:Name>]`, `Users:[<Name:Count#Operation:Count>]`: nothing reads it but people.
fn map_text(definition: &AutomaticIndex) -> String {
    if definition.group_by().is_empty() {
        return fields_text(definition, definition.fields().iter(), |_| "");
    }
    let operation = |field: &Field| match MeasuredField::of_name(&field.name.path).map(|measured| measured.measure) {
        _ if field.name.path == COUNT => "#Operation:Count",
        None => "#Operation:Sum",
        Some(Measure::Least) => "#Operation:Min",
        Some(Measure::Greatest) => "#Operation:Max",
        Some(Measure::Average) => "#Operation:Average",
    };
    fields_text(definition, definition.aggregates(), operation)
}

/// The keys of its groups likewise.
fn reduce_text(definition: &IndexDefinition) -> String {
    definition.as_automatic().map_or_else(String::new, |index| fields_text(index, index.keys(), |_| ""))
}

fn fields_text<'f>(
    definition: &AutomaticIndex,
    fields: impl Iterator<Item = &'f Field>,
    more: impl Fn(&Field) -> &'static str,
) -> String {
    let mut fields: Vec<String> = fields.map(|field| format!("<Name:{}{}>", field.name.path, more(field))).collect();
    fields.sort_unstable();
    format!("{}:[{}]", name_of(definition.collection.as_deref()), fields.join(";"))
}

/// What is shown of a field of an automatic index.
struct Shown {
    indexing: &'static str,
    is_suggested: bool,
    is_highlighted: bool,
    spatial: Option<SpatialOptions>,
    vector: Option<VectorOptions>,
}

impl Shown {
    const DEFAULT: Shown =
        Shown { indexing: "Default", is_suggested: false, is_highlighted: false, spatial: None, vector: None };
}

fn write_spatial(json: &mut json::Writer<'_>, options: Option<SpatialOptions>) {
    match options {
        Some(options) => _ = json.name("Spatial").object(|json| options.write_members(json)),
        None => _ = json.name("Spatial").null(),
    }
}

fn write_vector(json: &mut json::Writer<'_>, options: Option<VectorOptions>) {
    match options {
        Some(options) => _ = json.name("Vector").object(|json| options.write_members(json)),
        None => _ = json.name("Vector").null(),
    }
}

fn write_field(json: &mut json::Writer<'_>, name: &str, shown: &Shown) {
    let (storage, vector) = if shown.is_highlighted { ("Yes", "WithPositionsAndOffsets") } else { ("No", "No") };
    json.name(name).object(|json| {
        json.name("Analyzer").null().name("Indexing").string(shown.indexing).name("Storage").string(storage);
        json.name("Suggestions").bool(shown.is_suggested).name("TermVector").string(vector);
        write_spatial(json, shown.spatial);
        write_vector(json, shown.vector);
    });
}

pub(super) fn state(database: &Database, index: &Index) -> &'static str {
    match kept_state(index) {
        "Normal" if database.indexes().is_idle(index) => "Idle",
        state => state,
    }
}

/// The same without what changes by itself: clients give back the record of a database, which has it.
pub(super) fn kept_state(index: &Index) -> &'static str {
    match (index.failure(), index.settings().is_disabled) {
        (Some(_), _) => "Error",
        (None, true) => "Disabled",
        (None, false) => "Normal",
    }
}
