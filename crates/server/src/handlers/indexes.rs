//! `/databases/{name}/indexes`: what indexes there are, how far they are, what they hold. So far all are made by queries.
//!
//! GET: `name`, or `start` and `pageSize`, `namesOnly`; 404 for an unknown name. `stats`, `errors`, `status`, `staleness`,
//! `terms` (`field`, `fromValue`, `pageSize`). DELETE: `name`; 204, or 404. RESET: `name`; 204.

use std::ops::Bound;
use std::sync::Arc;

use database::documents::{Date, Etag, LastEtags};
use database::{Database, Index, IndexStatistics};
use hyper::StatusCode;
use query::definition::AutomaticIndex;
use query::index::{Direction, Kind, StoredTerm, TermRange};

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

fn write_definition(json: &mut json::Writer<'_>, index: &Index) {
    let definition = index.definition();
    json.object(|json| {
        json.name("Name").string(index.name()).name("SourceType").string("Documents");
        json.name("Type").string("AutoMap").name("LockMode").string("Unlock");
        json.name("ArchivedDataProcessingBehavior").null();
        json.name("Priority").string("Normal").name("State").string(state(index));
        for absent in [
            "OutputReduceToCollection",
            "DeploymentMode",
            "ReduceOutputIndex",
            "PatternForOutputReduceToCollectionReferences",
            "PatternReferencesCollectionName",
        ] {
            json.name(absent).null();
        }
        json.name("Configuration").object(|_| {}).name("AdditionalSources").object(|_| {});
        json.name("AdditionalAssemblies").array(|_| {}).name("CompoundFields").array(|_| {});
        json.name("Reduce").null();
        json.name("Maps").array(|json| _ = json.string(&map_text(definition)));
        json.name("Fields").object(|json| {
            for field in definition.fields() {
                write_field(json, &field.name.path, "Default");
            }
            for field in definition.fields().iter().filter(|field| field.is_exact) {
                write_field(json, &format!("exact({})", field.name.path), "Exact");
            }
        });
    });
}

/// `Users:[<Name:Age>;<Name:Name>]`: nothing reads it but people.
fn map_text(definition: &AutomaticIndex) -> String {
    let mut names: Vec<&str> = definition.fields().iter().map(|field| field.name.path.as_str()).collect();
    names.sort_unstable();
    let fields: Vec<String> = names.iter().map(|name| format!("<Name:{name}>")).collect();
    format!("{}:[{}]", definition.source(), fields.join(";"))
}

fn write_field(json: &mut json::Writer<'_>, name: &str, indexing: &str) {
    json.name(name).object(|json| {
        json.name("Analyzer").null().name("Indexing").string(indexing).name("Storage").string("No");
        json.name("Suggestions").bool(false).name("TermVector").string("No");
        json.name("Spatial").null().name("Vector").null();
    });
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
    /// How far its source is.
    last: LastEtags,
}

impl Seen {
    fn of(database: &Database, index: Arc<Index>) -> Result<Seen> {
        let statistics = index.statistics()?;
        // That of the index is opened before that of its documents.
        let snapshot = if index.failure().is_none() { Some(index.read()?) } else { None };
        let documents = database.read();
        let is_stale = snapshot.map_or(Ok(true), |snapshot| index.is_stale(&snapshot, &documents, Etag::MAX))?;
        let last = documents.last_etags(index.definition().collection.as_deref())?;
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
            json.name("LockMode").string("Unlock").name("Priority").string("Normal");
            json.name("Type").string("AutoMap").name("SourceType").string("Documents");
            json.name("ArchivedDataProcessingBehavior").null();
        });
    }

    fn write_statistics(&self, json: &mut json::Writer<'_>) {
        let Seen { index, is_stale, statistics, last } = self;
        let progress = statistics.progress;
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
                json.name(index.definition().source()).object(|json| {
                    json.name("LastProcessedDocumentEtag").unsigned(progress.documents);
                    json.name("LastProcessedTombstoneEtag").unsigned(progress.tombstones);
                    json.name("LastProcessedTimeSeriesDeletedRangeEtag").unsigned(0);
                    json.name("DocumentLag").unsigned(last.documents.saturating_sub(progress.documents));
                    json.name("TombstoneLag").unsigned(last.tombstones.saturating_sub(progress.tombstones));
                });
            });
            json.name("LastQueryingTime").string(&date(statistics.last_query));
            json.name("State").string(state(index)).name("Priority").string("Normal");
            json.name("CreatedTimestamp").string(&index.created().to_string());
            json.name("LastIndexingTime").string(&date(statistics.last_indexed));
            json.name("IsStale").bool(*is_stale).name("LockMode").string("Unlock").name("Type").string("AutoMap");
            json.name("SearchEngineType").string("Rookery").name("ArchivedDataProcessingBehavior").null();
            json.name("Status").string("Running").name("EntriesCount").unsigned(statistics.entry_count);
            json.name("ErrorsCount").unsigned(index.errors().len() as u64).name("SourceType").string("Documents");
            json.name("ReferencedCollections").array(|_| {}).name("IsInvalidIndex").bool(false);
            json.name("IsTestIndex").bool(false).name("Memory").null().name("LastBatchStats").null();
        });
    }

    /// What it lacks, in words.
    fn staleness_reasons(&self) -> Vec<String> {
        let progress = self.statistics.progress;
        let reason = |what, last: Etag, reached: Etag| {
            let source = self.index.definition().source();
            (reached < last)
                .then(|| format!("The last of the {what} of '{source}' has etag {last}, the index is at {reached}"))
        };
        let reasons = [
            reason("documents", self.last.documents, progress.documents),
            reason("tombstones", self.last.tombstones, progress.tombstones),
            self.index.failure().map(|failure| format!("The index failed: {failure}")),
        ];
        reasons.into_iter().flatten().collect()
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
                                json.name("Document").string(&error.document);
                                json.name("Action").string("Map").name("Error").string(&error.message);
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
        let etag = [progress.documents.to_le_bytes(), progress.tombstones.to_le_bytes()].concat();
        let etag = xxhash_rust::xxh3::xxh3_64(&etag).cast_signed();
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
