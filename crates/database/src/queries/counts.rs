//! The number of results of a run, and the number that changes with them.

use documents::{Date, ItemKind};
use query::execute;
use query::indexing::state_hash;
use query::plan::{CollectionQuery, FacetClause, Filter, Find, Plan, SortBy, Source};

use super::collection;
use super::hits::wanted_of;
use super::ready::OpenedIndex;
use super::run::{QueryRun, Results};
use crate::Result;

/// The number of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Without paging; -1 if that is not known because the page ended before the prefix did.
    pub total: i64,
    /// On the page.
    pub taken: u64,
}

/// The number of entries or documents that a query reads, at most; `u64::MAX` if that is not known without reading them.
///
/// # Errors
///
/// The index cannot be read.
pub fn examined_count_max(plan: &Plan, index: Option<&OpenedIndex<'_>>) -> Result<u64> {
    match (&plan.find, index) {
        (Find::Index(query), Some(OpenedIndex { ready, snapshot, .. })) => {
            Ok(execute::entry_count_max(snapshot, ready.index.definition().fields(), query)?)
        }
        (Find::Collection(query), _) => Ok(collection::document_count_max(query, wanted_of(plan))),
        (Find::Index(_), None) => Ok(u64::MAX),
    }
}

impl QueryRun<'_> {
    /// Counts the results: at once for whole collections and indexes, else by executing the query.
    ///
    /// # Errors
    ///
    /// The time is up; storage fails.
    pub fn counts(&self) -> Result<Counts> {
        match &self.results {
            Results::Collection(_) if self.plan.filter.is_some() => {
                let mut taken = 0;
                let total = self.each::<crate::Error>(&mut |_| {
                    taken += 1;
                    Ok(())
                })?;
                Ok(Counts { total, taken })
            }
            Results::Collection(query) => {
                collection::count(self.documents, query, self.plan.page, &self.memory, self.deadline)
            }
            Results::Index { found, .. } => {
                Ok(Counts { total: found.total.cast_signed(), taken: found.entries.len() as u64 })
            }
        }
    }

    /// The total, or -1 where it is not known without reading all that is found.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn quick_total(&self) -> Result<i64> {
        match &self.results {
            Results::Collection(CollectionQuery { filter: Filter::IdPrefix(_), .. }) => Ok(-1),
            Results::Collection(_) if self.plan.filter.is_some() => Ok(-1),
            _ => Ok(self.counts()?.total),
        }
    }

    /// Changes whenever the answer may change: with every write to the collection, or to anything if there are includes, and
    /// with each batch of the index.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn etag(&self) -> Result<i64> {
        let plan = self.plan;
        let mut bytes = Vec::with_capacity(64);
        let mut add = |number: u64| bytes.extend(number.to_le_bytes());
        let sources: Vec<Option<&str>> = match &self.results {
            Results::Collection(CollectionQuery { source: Source::Collection(name), .. }) => vec![Some(name)],
            Results::Collection(_) => vec![None],
            Results::Index { index, .. } => index.sources().iter().map(|source| source.collection.as_deref()).collect(),
        };
        let mut has_setup = plan.facets().iter().any(|facet| matches!(facet, FacetClause::Setup(_)));
        has_setup |= matches!(&plan.find, Find::Index(query) if query.condition.lacks_stop_words());
        for source in sources {
            // What is included, loaded by a script, or has facets or stop words may be of any collection.
            let is_alone = plan.includes.is_empty() && plan.counters.is_empty() && plan.revisions.is_empty();
            match source.filter(|_| is_alone && !plan.runs_scripts() && !has_setup) {
                Some(name) => {
                    let last = self.documents.last_etags(ItemKind::Document, Some(name))?;
                    let count = self.documents.collection(name)?.map_or(0, |collection| collection.documents().count);
                    [last.items, last.tombstones, count].into_iter().for_each(&mut add);
                }
                None => add(self.documents.last_etag()?),
            }
        }
        if plan.reads_values {
            let last = self.documents.last_etags(ItemKind::CompareExchange, None)?;
            [last.items, last.tombstones].into_iter().for_each(&mut add);
        }
        if plan.reads_time {
            add(Date::now().ticks());
        }
        if let Find::Index(query) = &plan.find {
            // An order by chance is another one with each request.
            for key in &query.order {
                if let SortBy::Random(seed) = &key.by {
                    add(xxhash_rust::xxh3::xxh3_64(seed.as_deref().unwrap_or_default().as_bytes()));
                }
            }
        }
        if let Results::Index { index, snapshot, is_stale, .. } = &self.results {
            add(state_hash(snapshot, index.sources())?);
            add(u64::from(*is_stale));
            add(index.created().ticks());
            bytes.extend_from_slice(index.name().as_bytes());
        }
        Ok(xxhash_rust::xxh3::xxh3_64_with_seed(&bytes, plan.includes.len() as u64).cast_signed())
    }
}
