//! `/databases/{name}/indexes`: what indexes there are, how far they are, what they hold; defining them.
//!
//! PUT (also `admin/indexes`): `{"Indexes":[definition]}`; 201. POST `has-changed`: a definition; `{"Changed"}`.
//! GET: `name`, or `start` and `pageSize`, `namesOnly`; 404 for an unknown name. `stats`, `errors`, `status`, `staleness`,
//! `terms` (`field`, `fromValue`, `pageSize`). DELETE: `name`; 204, or 404. RESET: `name`; 204.

use std::ops::Bound;
use std::sync::Arc;

use database::documents::{Date, LastEtags};
use database::{Database, Index, IndexStatistics};
use hyper::StatusCode;
use json::Value;
use query::definition::{AutomaticIndex, COUNT, Field, IndexDefinition, IndexSource, MapIndex, name_of};
use query::index::{Direction, Kind, Progress as IndexProgress, StoredTerm, TermRange};

use super::statistics::write_origin;
use crate::bridge::Pool;
use crate::date::NEVER;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::reply::{self, Reply};

/// All, or one by name.
pub(crate) fn list(exchange: &Exchange) -> Result<Reply> {
    let query = exchange.query();
    let (start, count) = (query.page_start()?, query.page_size()?);
    let names_only = query.is_true("namesOnly")?;
    let found = match query.get_nonempty("name") {
        Some(name) => match exchange.database().indexes().by_name(&name) {
            Some(index) => vec![index],
            None => return Ok(reply::empty(StatusCode::NOT_FOUND)),
        },
        None => page(exchange, start, count),
    };
    Ok(reply::object(StatusCode::OK, |json| {
        write_origin(json, exchange);
        json.name("Results").array(|json| {
            for index in &found {
                match names_only {
                    true => _ = json.string(index.name()),
                    false => write_definition(json, index),
                }
            }
        });
    }))
}

fn page(exchange: &Exchange, start: u64, count: u64) -> Vec<Arc<Index>> {
    let [start, count] = [start, count].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    exchange.database().indexes().all().iter().skip(start).take(count).cloned().collect()
}

/// All, or those by name; an unknown one is an error.
fn named(exchange: &Exchange) -> Result<Vec<Arc<Index>>> {
    let query = exchange.query();
    let (start, count) = (query.page_start()?, query.page_size()?);
    let names: Vec<_> = query.all("name").filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Ok(page(exchange, start, count));
    }
    names.iter().map(|name| by_name(exchange.database(), name)).collect()
}

fn by_name(database: &Database, name: &str) -> Result<Arc<Index>> {
    let found = database.indexes().by_name(name);
    found.ok_or_else(|| Error::UnknownIndex { name: name.chars().take(128).collect() })
}

/// Properties that definitions of ours never have.
const ABSENT: [&str; 5] = [
    "OutputReduceToCollection",
    "DeploymentMode",
    "ReduceOutputIndex",
    "PatternForOutputReduceToCollectionReferences",
    "PatternReferencesCollectionName",
];

fn write_definition(json: &mut json::Writer<'_>, index: &Index) {
    let definition = index.definition();
    let map = definition.as_map();
    json.object(|json| {
        json.name("Name").string(index.name()).name("SourceType").string("Documents");
        json.name("Type").string(kind(index)).name("LockMode").string(lock_mode(index));
        json.name("ArchivedDataProcessingBehavior").null();
        json.name("Priority").string("Normal").name("State").string(state(index));
        for absent in ABSENT {
            json.name(absent).null();
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
            write_field(json, &field.name.path, "Default", field.needs.is_suggested, false);
        }
        for field in index.fields() {
            let path = &field.name.path;
            if field.needs.is_exact {
                write_field(json, &format!("exact({path})"), "Exact", false, false);
            }
            if field.needs.is_searched {
                write_field(json, &format!("search({path})"), "Search", false, field.needs.is_highlighted);
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
                json.name("Spatial").null().name("Vector").null();
            });
        }
    });
}

/// `Users:[<Name:Age>;<Name:Name>]`, `Users:[<Name:Count#Operation:Count>]`: nothing reads it but people.
fn map_text(definition: &AutomaticIndex) -> String {
    if definition.group_by().is_empty() {
        return fields_text(definition, definition.fields().iter(), |_| "");
    }
    let operation = |field: &Field| if field.name.path == COUNT { "#Operation:Count" } else { "#Operation:Sum" };
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

fn write_field(json: &mut json::Writer<'_>, name: &str, indexing: &str, is_suggested: bool, is_highlighted: bool) {
    let (storage, vector) = if is_highlighted { ("Yes", "WithPositionsAndOffsets") } else { ("No", "No") };
    json.name(name).object(|json| {
        json.name("Analyzer").null().name("Indexing").string(indexing).name("Storage").string(storage);
        json.name("Suggestions").bool(is_suggested).name("TermVector").string(vector);
        json.name("Spatial").null().name("Vector").null();
    });
}

fn kind(index: &Index) -> &'static str {
    let definition = index.definition();
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

fn lock_mode(index: &Index) -> &str {
    index.definition().as_map().map_or("Unlock", |map| map.lock_mode())
}

fn state(index: &Index) -> &'static str {
    if index.failure().is_some() { "Error" } else { "Normal" }
}

fn date(date: Option<Date>) -> String {
    date.map_or(NEVER.to_owned(), |date| date.to_string())
}

/// An index as it is now.
pub(crate) struct Seen {
    index: Arc<Index>,
    is_stale: bool,
    statistics: IndexStatistics,
    /// How far each of its sources is.
    last: Vec<LastEtags>,
}

impl Seen {
    fn of(database: &Database, index: Arc<Index>) -> Result<Seen> {
        let statistics = index.statistics()?;
        // That of the index is opened before that of its documents.
        let snapshot = if index.failure().is_none() { Some(index.read()?) } else { None };
        let documents = database.read();
        let is_stale = snapshot.map_or(Ok(true), |snapshot| index.is_stale(&snapshot, 0, &documents, None))?;
        let last = index.sources().iter().map(|source| Ok(documents.last_etags(source.collection.as_deref())?));
        let last = last.collect::<Result<_>>()?;
        Ok(Seen { index, is_stale, statistics, last })
    }

    /// All of a database.
    pub(crate) fn all(database: &Database) -> Result<Vec<Seen>> {
        database.indexes().all().iter().map(|index| Seen::of(database, index.clone())).collect()
    }

    /// When it last took something.
    pub(crate) fn last_indexed(&self) -> Option<Date> {
        self.statistics.last_indexed
    }

    /// What other answers list of an index.
    pub(crate) fn write_summary(&self, json: &mut json::Writer<'_>) {
        json.object(|json| {
            json.name("IsStale").bool(self.is_stale).name("State").string(state(&self.index));
            json.name("LastIndexingTime").string(&date(self.statistics.last_indexed));
            json.name("Name").string(self.index.name());
            json.name("LockMode").string(lock_mode(&self.index)).name("Priority").string("Normal");
            json.name("Type").string(kind(&self.index)).name("SourceType").string("Documents");
            json.name("ArchivedDataProcessingBehavior").null();
        });
    }

    fn write_statistics(&self, json: &mut json::Writer<'_>) {
        let Seen { index, is_stale, statistics, .. } = self;
        json.object(|json| {
            json.name("Name").string(index.name());
            json.name("MapAttempts").unsigned(statistics.indexed_count);
            json.name("MapSuccesses").unsigned(statistics.indexed_count.saturating_sub(statistics.failed_count));
            json.name("MapErrors").unsigned(statistics.failed_count);
            for absent in [
                "MapReferenceAttempts",
                "MapReferenceSuccesses",
                "MapReferenceErrors",
                "ReduceAttempts",
                "ReduceSuccesses",
                "ReduceErrors",
                "ReduceOutputCollection",
                "ReduceOutputReferencePattern",
                "PatternReferencesCollectionName",
            ] {
                json.name(absent).null();
            }
            json.name("MappedPerSecondRate").unsigned(0).name("ReducedPerSecondRate").unsigned(0);
            json.name("MaxNumberOfOutputsPerDocument").unsigned(1);
            json.name("Collections").object(|json| {
                for (source, progress, last) in self.sources().filter(|(source, ..)| !source.is_referenced) {
                    json.name(source.name()).object(|json| {
                        json.name("LastProcessedDocumentEtag").unsigned(progress.documents);
                        json.name("LastProcessedTombstoneEtag").unsigned(progress.tombstones);
                        json.name("LastProcessedTimeSeriesDeletedRangeEtag").unsigned(0);
                        json.name("DocumentLag").unsigned(last.documents.saturating_sub(progress.documents));
                        json.name("TombstoneLag").unsigned(last.tombstones.saturating_sub(progress.tombstones));
                    });
                }
            });
            json.name("LastQueryingTime").string(&date(statistics.last_query));
            json.name("State").string(state(index)).name("Priority").string("Normal");
            json.name("CreatedTimestamp").string(&index.created().to_string());
            json.name("LastIndexingTime").string(&date(statistics.last_indexed));
            json.name("IsStale").bool(*is_stale).name("LockMode").string(lock_mode(index));
            json.name("Type").string(kind(index));
            json.name("SearchEngineType").string("Rookery").name("ArchivedDataProcessingBehavior").null();
            json.name("Status").string("Running").name("EntriesCount").unsigned(statistics.entry_count);
            json.name("ErrorsCount").unsigned(index.errors().len() as u64).name("SourceType").string("Documents");
            json.name("ReferencedCollections").array(|json| {
                for source in index.sources().iter().filter(|source| source.is_referenced) {
                    json.string(source.name());
                }
            });
            json.name("IsInvalidIndex").bool(false);
            json.name("IsTestIndex").bool(false).name("Memory").null().name("LastBatchStats").null();
        });
    }

    /// Its sources, how far it is with each, and how far that is.
    fn sources(&self) -> impl Iterator<Item = (&IndexSource, &IndexProgress, &LastEtags)> {
        let sources = self.index.sources().iter().zip(&self.statistics.progress).zip(&self.last);
        sources.map(|((source, progress), last)| (source, progress, last))
    }

    /// What it lacks, in words.
    fn staleness_reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        for (source, progress, last) in self.sources() {
            for (what, last, reached) in [
                ("documents", last.documents, progress.documents),
                ("tombstones", last.tombstones, progress.tombstones),
            ] {
                if reached < last {
                    reasons.push(format!(
                        "The last of the {what} of '{}' has etag {last}, the index is at {reached}",
                        source.name()
                    ));
                }
            }
        }
        reasons.extend(self.index.failure().map(|failure| format!("The index failed: {failure}")));
        reasons
    }
}

/// Counts and dates.
pub(crate) fn statistics(exchange: &Exchange) -> Result<Reply> {
    let found = match named(exchange) {
        Err(Error::UnknownIndex { .. }) => return Ok(reply::empty(StatusCode::NOT_FOUND)),
        found => found?,
    };
    let seen = found.into_iter().map(|index| Seen::of(exchange.database(), index)).collect::<Result<Vec<_>>>()?;
    Ok(reply::object(StatusCode::OK, |json| {
        write_origin(json, exchange);
        json.name("Results").array(|json| seen.iter().for_each(|seen| seen.write_statistics(json)));
    }))
}

/// Documents that could not be indexed.
pub(crate) fn errors(exchange: &Exchange) -> Result<Reply> {
    let found = named(exchange)?;
    Ok(reply::object(StatusCode::OK, |json| {
        write_origin(json, exchange);
        json.name("Results").array(|json| {
            for index in &found {
                json.object(|json| {
                    json.name("Name").string(index.name());
                    json.name("Errors").array(|json| {
                        for error in index.errors() {
                            json.object(|json| {
                                json.name("Timestamp").string(&error.at.to_string());
                                json.name("Document").optional_string(error.document.as_deref());
                                let action = if error.document.is_some() { "Map" } else { "Reduce" };
                                json.name("Action").string(action).name("Error").string(&error.message);
                            });
                        }
                    });
                });
            }
        });
    }))
}

/// Whether indexing goes on.
pub(crate) fn status(exchange: &Exchange) -> Result<Reply> {
    let indexes = exchange.database().indexes().all();
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Status").string("Running");
        json.name("Indexes").array(|json| {
            for index in indexes.iter() {
                json.object(|json| _ = json.name("Name").string(index.name()).name("Status").string("Running"));
            }
        });
    }))
}

/// Whether an index lacks something, and what.
pub(crate) fn staleness(exchange: &Exchange) -> Result<Reply> {
    let seen = Seen::of(exchange.database(), by_name(exchange.database(), &exchange.required("name")?)?)?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("IsStale").bool(seen.is_stale);
        let reasons = if seen.is_stale { seen.staleness_reasons() } else { Vec::new() };
        json.name("StalenessReasons").array(|json| reasons.iter().for_each(|reason| _ = json.string(reason)));
    }))
}

/// The terms of a field, in order, after `fromValue`.
pub(crate) async fn terms(exchange: Exchange) -> Result<Reply> {
    let query = exchange.query();
    let (field, count) = (exchange.required("field")?.into_owned(), query.page_size()?);
    let from = query.get_nonempty("fromValue").map(|from| from.into_owned());
    let index = by_name(exchange.database(), &exchange.required("name")?)?;
    let read = move || {
        let terms = read_terms(&index, &field, from.as_deref(), count)?;
        let progress = index.statistics()?.progress;
        let etags = progress.iter().flat_map(|progress| [progress.documents, progress.tombstones]);
        let etags: Vec<u8> = etags.flat_map(u64::to_le_bytes).collect();
        let etag = xxhash_rust::xxh3::xxh3_64(&etags).cast_signed();
        Ok(reply::object(StatusCode::OK, |json| {
            json.name("IndexName").string(index.name()).name("ResultEtag").signed(etag);
            json.name("Terms").array(|json| terms.iter().for_each(|term| _ = json.string(term)));
        }))
    };
    exchange.node.bridge.run(Pool::Reads, read).await
}

/// What a present null is called among the terms of a field.
const NULL: &str = "NULL_VALUE";

fn read_terms(index: &Index, field: &str, from: Option<&str>, count: u64) -> Result<Vec<String>> {
    let snapshot = index.read()?;
    let mut terms = Vec::new();
    let Some(number) = snapshot.field(field)? else { return Ok(terms) };
    if from.is_none() && count > 0 && snapshot.present(number, Kind::Null)?.count() > 0 {
        terms.push(NULL.to_owned());
    }
    let after = from.filter(|from| *from != NULL).map_or(Bound::Unbounded, Bound::Excluded);
    let mut found = snapshot.terms(&TermRange::text(number, after, Bound::Unbounded), Direction::Ascending);
    while (terms.len() as u64) < count {
        match found.next()? {
            None => break,
            Some((StoredTerm::Text(text), _)) => terms.push(text),
            Some((StoredTerm::Cut(text), _)) => terms.push(text + "…"),
            Some(_) => {}
        }
    }
    Ok(terms)
}

/// Takes over definitions, all of which must be acceptable.
pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let database = exchange.database().clone();
    // Compiling a map may take an engine of scripts.
    let put = move || {
        let Some(Value::Array(given)) = body.get("Indexes") else {
            return Err(Error::Argument("The body must have an array 'Indexes'".to_owned()));
        };
        let definitions = given.iter().map(|given| MapIndex::from_json(given).map_err(Error::from));
        let definitions = definitions.collect::<Result<Vec<_>>>()?;
        let names: Vec<String> = definitions.iter().map(|definition| definition.name().to_owned()).collect();
        definitions.into_iter().try_for_each(|definition| database.indexes().put(definition))?;
        Ok(names)
    };
    let names = exchange.node.bridge.run(Pool::Short, put).await?;
    let raft_index = exchange.node.databases.raft_index()?;
    Ok(reply::object(StatusCode::CREATED, |json| {
        json.name("Results").array(|json| {
            for name in &names {
                json.object(|json| _ = json.name("Index").string(name).name("RaftCommandIndex").unsigned(raft_index));
            }
        });
    }))
}

/// Whether a definition asks for another index than there is.
pub(crate) async fn has_changed(mut exchange: Exchange) -> Result<Reply> {
    let given = exchange.read_object().await?;
    let name = given.get("Name").and_then(Value::as_str).unwrap_or_default();
    if name.is_empty() {
        return Err(Error::Argument("The definition must have a 'Name'".to_owned()));
    }
    let index = exchange.database().indexes().by_name(name);
    let is_same = index.is_some_and(|index| index.definition().as_map().is_some_and(|map| map.is_same(&given)));
    Ok(reply::object(StatusCode::OK, |json| _ = json.name("Changed").bool(!is_same)))
}

pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    let database = exchange.database().clone();
    let is_removed = exchange.node.bridge.run(Pool::Short, move || Ok(database.indexes().remove(&name)?)).await?;
    Ok(reply::empty(if is_removed { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }))
}

/// Builds an index anew.
pub(crate) async fn reset(exchange: Exchange) -> Result<Reply> {
    if let Some(mode) = exchange.query().get_nonempty("mode").filter(|mode| !mode.eq_ignore_ascii_case("InPlace")) {
        return Err(Error::not_supported(format!("the mode '{mode}' of resetting an index")));
    }
    let name = exchange.required("name")?.into_owned();
    let index = by_name(exchange.database(), &name)?;
    let database = exchange.database().clone();
    exchange.node.bridge.run(Pool::Short, move || Ok(database.indexes().reset(index.name())?)).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
