//! The results that a run finds, one after another.

use std::time::{Duration, Instant};

use documents::{Document, Etag};
use query::execute::{self, Distance, FoundEntries};
use query::index::IndexEntry;
use query::plan::{CollectionQuery, FilterClause, Page, Plan};

use super::collection;
use super::filtering::{Filtering, Verdict};
use super::lookups::{LOOKED_UP_AT_ONCE, look_up};
use super::run::{QueryRun, Results};
use super::timings::{Stage, Timings};
use crate::{Error, Result};

/// The score of a result of an index where nothing scores.
const SCORE: f64 = 1.0;

/// One result: a document, or what the index stores of it, or both.
pub struct Hit<'a, 's> {
    /// The document. `None`: the result is a group, or needs only what the index stores.
    pub document: Option<Document<'a>>,
    /// The entry of the index. `None`: no index answers.
    pub entry: Option<IndexEntry<'s>>,
    /// True if the entry is the result of a reduce.
    pub is_grouped: bool,
    /// The score. `None`: no index answers.
    pub score: Option<f64>,
    /// The distance, where results are sorted by that; inside: `None` for a result without a place.
    pub distance: Option<Option<Distance>>,
    /// The explanation of the score, if the query asks for it.
    pub explanation: Option<&'s str>,
}

impl<'a> Hit<'a, '_> {
    /// A document that no index answers for.
    pub(super) fn of_document(document: Document<'a>) -> Self {
        Hit { document: Some(document), entry: None, is_grouped: false, score: None, distance: None, explanation: None }
    }

    pub(super) fn row(&self) -> execute::Row<'_> {
        execute::Row { document: self.document.as_ref(), entry: self.entry, is_grouped: self.is_grouped }
    }
}

/// What is called with each document.
type Taking<'t, 'd, E> = &'t mut dyn FnMut(Document<'d>) -> Result<(), E>;

impl<'a> QueryRun<'a> {
    /// Calls `found` with each result of the page, and returns how many there are without paging: -1 if that is not known.
    ///
    /// # Errors
    ///
    /// Those of `found`; the time is up; storage fails.
    pub fn each<'s, E: From<Error>>(&'s self, found: &mut dyn FnMut(Hit<'a, 's>) -> Result<(), E>) -> Result<i64, E> {
        match &self.results {
            Results::Collection(query) => {
                let found = &mut |document| found(Hit::of_document(document));
                match self.timings {
                    None => self.execute(query, found),
                    Some(timings) => self.execute_timed(query, timings, found),
                }
            }
            Results::Index {
                snapshot,
                found: FoundEntries { total, entries, scores, distances, explanations },
                has_documents,
                ..
            } => {
                let documents = has_documents.then_some(self.documents);
                let projection = self.plan.projection.as_ref();
                let needs =
                    |entry: &IndexEntry<'_>| projection.is_none_or(|projection| projection.needs_document(entry));
                for (group, ids) in entries.chunks(LOOKED_UP_AT_ONCE).enumerate() {
                    let rows = look_up(ids, snapshot, documents, needs, self.timings)?;
                    for (at, row) in rows.into_iter().enumerate() {
                        self.deadline.look()?;
                        let Some((entry, document)) = row else { continue };
                        let at = group * LOOKED_UP_AT_ONCE + at;
                        let score = scores.as_ref().and_then(|scores| scores.get(at));
                        let score = Some(score.map_or(SCORE, |score| f64::from(*score)));
                        let distance = distances.as_ref().and_then(|distances| distances.get(at).copied());
                        let explanation = explanations.as_ref().and_then(|texts| texts.get(at)).map(String::as_str);
                        found(Hit {
                            document,
                            entry: Some(entry),
                            is_grouped: !has_documents,
                            score,
                            distance,
                            explanation,
                        })?;
                    }
                }
                Ok(total.cast_signed())
            }
        }
    }

    fn execute<E: From<Error>>(&self, query: &CollectionQuery, found: Taking<'_, 'a, E>) -> Result<i64, E> {
        match &self.plan.filter {
            None => collection::execute(self.documents, query, page_of(self.plan), &self.memory, self.deadline, found),
            Some(clause) => self.execute_filtered(query, clause, found),
        }
    }

    /// The same with a filter: the total is that of the documents which fit, as far as they were looked at.
    fn execute_filtered<E: From<Error>>(
        &self,
        query: &CollectionQuery,
        clause: &FilterClause,
        found: Taking<'_, 'a, E>,
    ) -> Result<i64, E> {
        let mut filtering = Filtering::new(clause, page_of(self.plan).take, self.script_limits)?;
        let mut is_full = false;
        let looked = &mut |document| {
            self.deadline.look()?;
            match filtering
                .offer(&execute::Row { document: Some(&document), entry: None, is_grouped: false }, self.documents)?
            {
                Verdict::Taken => found(document),
                Verdict::Left => Ok(()),
                Verdict::Full => {
                    is_full = true;
                    Err(Error::Canceled.into())
                }
            }
        };
        let outcome =
            collection::execute(self.documents, query, wanted_of(self.plan), &self.memory, self.deadline, looked);
        if !is_full {
            outcome?;
        }
        self.filtered.set(filtering.seen);
        Ok(filtering.seen.fitting().cast_signed())
    }

    /// The same; what is done with the documents is not a part of loading them.
    fn execute_timed<E: From<Error>>(
        &self,
        query: &CollectionQuery,
        timings: &Timings,
        found: Taking<'_, 'a, E>,
    ) -> Result<i64, E> {
        let start = Instant::now();
        let mut taking = Duration::ZERO;
        let outcome = self.execute(query, &mut |document| {
            let start = Instant::now();
            let outcome = found(document);
            taking += start.elapsed();
            outcome
        });
        timings.add(Stage::Load, start.elapsed().saturating_sub(taking));
        outcome
    }
}

/// Calls `found` with the id and the etag of each document of the page, without loading documents that the index has found.
pub(super) fn each_id(run: &QueryRun<'_>, found: &mut dyn FnMut(&str, Etag) -> Result<()>) -> Result<()> {
    match &run.results {
        Results::Collection(query) => {
            run.execute(query, &mut |document| found(document.id(), document.etag()))?;
        }
        Results::Index { snapshot, found: FoundEntries { entries, .. }, .. } => {
            for ids in entries.chunks(LOOKED_UP_AT_ONCE) {
                for entry in snapshot.entries(ids)?.into_iter().flatten() {
                    run.deadline.look()?;
                    found(entry.document(), entry.etag())?;
                }
            }
        }
    }
    Ok(())
}

/// The part of what is found that is looked at: to its end, if a filter chooses.
pub(super) fn wanted_of(plan: &Plan) -> Page {
    if plan.filter.is_some() { Page { take: None, ..plan.page } } else { page_of(plan) }
}

/// The documents that are looked at. How many of them are equal in the results is not known before they are there, and what is left out
/// is looked at too: what was on the pages before does not come again.
pub(super) fn page_of(plan: &Plan) -> Page {
    if plan.is_distinct() { Page { skip: 0, take: None, ..plan.page } } else { plan.page }
}

/// The part of a page that documents which are there have.
pub(super) fn taken(page: Page, count: u64) -> u64 {
    count.saturating_sub(page.skip).min(page.take.unwrap_or(u64::MAX))
}
