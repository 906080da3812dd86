//! The indexes of a database in its record, and the definitions that they had.

use std::collections::BTreeMap;
use std::sync::Arc;

use database::documents::id;
use database::{Database, FormerDefinition, Index, automatic_indexing, write_places, write_vectors};
use hyper::StatusCode;
use json::{Value, Writer};
use query::definition::{AutomaticIndex, COUNT, Field};

use super::definition;
use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// The indexes of a database, as its record has them.
pub(crate) struct IndexesOfRecord {
    /// By name: those that were defined.
    pub(crate) defined: Vec<u8>,
    /// By name: those that queries made.
    pub(crate) automatic: Vec<u8>,
    /// By name: the definitions that the first had, the newest first.
    pub(crate) history: Vec<u8>,
}

impl IndexesOfRecord {
    pub(crate) fn of(database: &Database) -> IndexesOfRecord {
        let all = database.indexes().all();
        // An index that replaces another has its name for a moment while the other is still listed. The newer one counts.
        let mut by_name: BTreeMap<String, (&Index, bool)> = BTreeMap::new();
        for index in all.iter() {
            let is_replacement = index.is_replacement();
            let name = if is_replacement { index.replacement_name().to_owned() } else { index.definition().name() };
            let listed = by_name.entry(name).or_insert((index, is_replacement));
            if listed.0.created() < index.created() {
                *listed = (index, is_replacement);
            }
        }
        let (mut defined, mut automatic) = (Vec::new(), Vec::new());
        Writer::new(&mut defined).object(|json| {
            for (name, (index, _)) in by_name.iter().filter(|(_, (index, _))| index.definition().as_map().is_some()) {
                definition::write(json.name(name), database, index);
            }
        });
        Writer::new(&mut automatic).object(|json| {
            for (name, (index, _)) in &by_name {
                if let Some(definition) = index.definition().as_automatic() {
                    write_automatic(json.name(name), index, definition);
                }
            }
        });
        let mut history = Vec::new();
        // A replacement has the history of what it is to replace.
        let replacements = by_name.values().filter(|(_, is_replacement)| *is_replacement);
        let replaced: Vec<String> = replacements.map(|(index, _)| index.definition().name()).collect();
        Writer::new(&mut history).object(|json| {
            for (name, (index, is_replacement)) in &by_name {
                if index.definition().as_map().is_some() && (*is_replacement || !replaced.contains(name)) {
                    let entries = index.history();
                    json.name(&index.definition().name()).array(|json| {
                        entries.iter().for_each(|entry| write_entry(json, entry));
                    });
                }
            }
        });
        IndexesOfRecord { defined, automatic, history }
    }

    /// Takes out of a record that a client gives back what it was given.
    pub(crate) fn take_unchanged(&self, record: &mut Value) {
        for (key, own) in [("Indexes", &self.defined), ("AutoIndexes", &self.automatic)] {
            if record.get(key).is_some_and(|given| Value::parse(own).is_ok_and(|own| own == *given)) {
                record.remove(key);
            }
        }
    }
}

/// GET `/databases/{name}/indexes/history`: `name`. `{Index, History}`: the definitions that an index has and had, the newest first; 404
/// if there is none of that name, or a query made it.
pub(crate) fn history(exchange: &Exchange) -> Result<Reply> {
    let name = exchange.required("name")?;
    let wanted = id::lower_text(&name);
    let all = exchange.database().indexes().all();
    let is_meant = |index: &&Arc<Index>| {
        let definition = index.definition();
        definition.as_map().is_some() && id::lower_text(&definition.name()) == wanted
    };
    // A replacement has the history of what it is to replace.
    let Some(index) = all.iter().filter(is_meant).max_by_key(|index| index.is_replacement()) else {
        return Ok(reply::empty(StatusCode::NOT_FOUND));
    };
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Index").string(&index.definition().name());
        json.name("History").array(|json| index.history().iter().for_each(|entry| write_entry(json, entry)));
    }))
}

fn write_entry(json: &mut Writer<'_>, entry: &FormerDefinition) {
    json.object(|json| {
        entry.given.write(json.name("Definition"));
        json.name("Source").null().name("CreatedAt").string(&entry.created.to_string());
        json.name("RollingDeployment").object(|_| {});
    });
}

fn write_automatic(json: &mut Writer<'_>, index: &Index, definition: &AutomaticIndex) {
    let is_grouped = !definition.group_by().is_empty();
    json.object(|json| {
        json.name("Type").string(index.wire_type());
        json.name("Collection").string(definition.collection.as_deref().unwrap_or("@all_docs"));
        json.name("MapFields").object(|json| {
            let is_key = |field: &&Field| definition.group_by().iter().any(|key| key.path == field.name.path);
            for field in definition.fields().iter().filter(|field| !is_key(field)) {
                let aggregation = match (is_grouped, field.name.path == COUNT) {
                    (false, _) => "None",
                    (true, true) => "Count",
                    (true, false) => "Sum",
                };
                write_field(json, field, aggregation, "NotApplicable");
            }
        });
        json.name("GroupByFields").object(|json| {
            for key in definition.group_by() {
                if let Some(field) = definition.fields().iter().find(|field| field.name.path == key.path) {
                    let of_elements = if key.path.contains("[]") { "ByIndividualValues" } else { "NotApplicable" };
                    write_field(json, field, "None", if key.is_array { "ByContent" } else { of_elements });
                }
            }
        });
        json.name("GroupByFieldNames").array(|json| {
            definition.group_by().iter().for_each(|key| _ = json.string(&key.path));
        });
        json.name("Name").string(index.name()).name("Priority").string(index.settings().priority.name());
        json.name("State").string(definition::kept_state(index));
    });
}

fn write_field(json: &mut Writer<'_>, field: &Field, aggregation: &str, of_arrays: &str) {
    json.name(&field.name.path).object(|json| {
        json.name("Storage").string("No").name("Indexing").string(&automatic_indexing(field));
        json.name("Aggregation").string(aggregation);
        write_places(json.name("Spatial"), field);
        write_vectors(json.name("Vector"), field);
        json.name("GroupByArrayBehavior").string(of_arrays);
        json.name("Suggestions").bool(field.needs.is_suggested).name("IsNameQuoted").bool(field.name.is_quoted);
    });
}
