//! Counters that are sent along with documents: `counter=` of a load, `include counters(…)` of a query.

use std::collections::BTreeMap;

use json::Writer;

use crate::ids::id;
use crate::{Etag, Result, ResultsHash, Snapshot};

/// The name that stands for all counters of a document.
pub const ALL_COUNTERS: &str = "@all_counters";

/// Counters of documents, each read once.
#[derive(Debug, Default)]
pub struct CounterIncludes {
    documents: Vec<IncludedCounters>,
    /// Lower-cased id to place.
    places: BTreeMap<Vec<u8>, usize>,
    size: usize,
}

/// Counters of one document.
#[derive(Debug)]
pub struct IncludedCounters {
    document_id: String,
    /// The names asked for; empty: all.
    names: Vec<String>,
    /// None: there is no such counter.
    counters: Vec<(String, Option<(i64, Etag)>)>,
}

/// Bytes of a counter as JSON, with its name among those that were asked for.
fn size_of_one(document_id: &str, name: &str) -> usize {
    const NAMES_AND_VALUE: usize = 80;
    document_id.len() + 2 * name.len() + NAMES_AND_VALUE
}

impl CounterIncludes {
    /// Adds counters of a document.
    ///
    /// * `document_id`: as its document spells it.
    /// * `names`: in any case; empty: all.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn add(&mut self, snapshot: &Snapshot<'_>, document_id: &str, names: &[String]) -> Result<()> {
        let key = id::lower(document_id);
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None => {
                let (document_id, counters) = (document_id.to_owned(), Vec::new());
                self.size += document_id.len() + size_of::<IncludedCounters>();
                self.documents.push(IncludedCounters { document_id, names: names.to_vec(), counters });
                self.places.insert(key, self.documents.len() - 1);
                self.documents.len() - 1
            }
        };
        let included = &mut self.documents[place];
        if names.is_empty() {
            let all = snapshot.counters(document_id)?;
            included.names.clear();
            included.counters = all
                .iter()
                .map(|counter| (counter.name().to_owned(), Some((counter.total(), counter.etag()))))
                .collect();
            self.size += included.counters.iter().map(|(name, _)| size_of_one(document_id, name)).sum::<usize>();
            return Ok(());
        }
        for name in names {
            let is_there = included.counters.iter().any(|(there, _)| id::is_same(there, name));
            if is_there {
                continue;
            }
            if !included.names.is_empty() && !included.names.iter().any(|there| id::is_same(there, name)) {
                included.names.push(name.clone());
            }
            let found = snapshot.counter(document_id, name)?.map(|counter| (counter.total(), counter.etag()));
            included.counters.push((name.clone(), found));
            self.size += size_of_one(document_id, name);
        }
        Ok(())
    }

    /// Bytes that it takes as JSON, about, which are more than it holds in memory.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The documents in the order in which they were added, each once.
    pub fn documents(&self) -> &[IncludedCounters] {
        &self.documents
    }

    /// Adds all of it to the ETag of an answer.
    pub fn add_to(&self, hash: &mut ResultsHash) {
        for included in &self.documents {
            for (name, found) in &included.counters {
                hash.add_counter(&included.document_id, name, found.map(|(_, etag)| etag));
            }
        }
    }

    /// Writes the object `CounterIncludes`.
    pub fn write(&self, json: &mut Writer<'_>) {
        json.object(|json| {
            for included in &self.documents {
                included.write(json.name(&included.document_id));
            }
        });
    }

    /// Writes the object `IncludedCounterNames`: the names asked for of each document, none for all.
    pub fn write_names(&self, json: &mut Writer<'_>) {
        json.object(|json| {
            for included in &self.documents {
                json.name(&included.document_id).array(|json| {
                    included.names.iter().for_each(|name| _ = json.string(name));
                });
            }
        });
    }
}

impl IncludedCounters {
    /// The document that the counters belong to.
    pub fn document_id(&self) -> &str {
        &self.document_id
    }

    /// Writes the array of the counters, with `null` for a name that has none.
    pub fn write(&self, json: &mut Writer<'_>) {
        json.array(|json| {
            for (name, found) in &self.counters {
                let Some((total, _)) = found else {
                    json.null();
                    continue;
                };
                json.object(|json| {
                    json.name("DocumentId").string(&self.document_id).name("CounterName").string(name);
                    json.name("TotalValue").signed(*total);
                });
            }
        });
    }
}
