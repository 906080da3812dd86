//! Parts of definitions of indexes as clients know them, which records of databases and dumps have in common.

use json::Writer;
use query::definition::{Field, Places, VectorField};
use query::spatial::SpatialOptions;

use super::Index;

impl Index {
    /// Its type, as clients call it.
    pub fn wire_type(&self) -> &'static str {
        let definition = self.definition();
        let is_script = definition.as_map().is_some_and(|map| map.is_script());
        match (definition.as_map().is_some(), definition.is_grouped()) {
            (true, false) if is_script => "JavaScriptMap",
            (true, true) if is_script => "JavaScriptMapReduce",
            (true, false) => "Map",
            (true, true) => "MapReduce",
            (false, false) => "AutoMap",
            (false, true) => "AutoMapReduce",
        }
    }
}

/// How a field of an automatic index is analysed.
pub fn automatic_indexing(field: &Field) -> String {
    let needs = field.needs;
    let kinds =
        [(needs.is_searched, "Search, "), (needs.is_exact, "Exact, "), (needs.is_highlighted, "Highlighting, ")];
    let kinds: String = kinds.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, kind)| kind).collect();
    kinds + "Default"
}

/// Writes what the places of a field are made of, and how they are kept; `null` of any other field.
pub fn write_places(json: &mut Writer<'_>, field: &Field) {
    let (method, arguments) = match Places::of(field) {
        None => {
            json.null();
            return;
        }
        Some(Places::Point(latitude, longitude)) => ("Point", vec![latitude, longitude]),
        Some(Places::Wkt(path)) => ("Wkt", vec![path]),
    };
    json.object(|json| {
        json.name("MethodType").string(method);
        json.name("MethodArguments").array(|json| arguments.iter().for_each(|path| _ = json.string(path)));
        SpatialOptions::default().write_members(json);
    });
}

/// Writes which vectors a field keeps, and how; `null` of any other field.
pub fn write_vectors(json: &mut Writer<'_>, field: &Field) {
    match VectorField::of(field) {
        None => _ = json.null(),
        Some(VectorField { path, options }) => {
            _ = json.object(|json| {
                json.name("SourceFieldName").string(path).name("EmbeddingsGenerationTaskIdentifier").null();
                options.write_members(json);
            })
        }
    }
}
