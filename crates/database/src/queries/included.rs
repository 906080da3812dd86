//! Includes: documents that results refer to by a path (join by reference).
//!
//! As in the reference, paths are looked for in the results: in documents where those are given, else in what is made of them or what a
//! group is.

use std::collections::{BTreeSet, HashSet};

use documents::{CounterIncludes, Document, IncludePath, IncludedRevision, RevisionIncludes};
use json::Raw;
use query::plan::CounterClause;
use storage::memory::MemoryReservation;

use super::collection::keep;
use super::hits::Hit;
use super::included_values::IncludedValues;
use super::run::QueryRun;
use super::timings::{Stage, timed};
use crate::Result;

/// Gathers what is included, while results are written.
pub struct Included<'a> {
    paths: Vec<IncludePath>,
    /// Those of keys of compare-exchange values.
    value_paths: Vec<IncludePath>,
    /// Whether results are documents, which are kept and asked in the end.
    are_documents: bool,
    kept: Vec<Document<'a>>,
    /// What other results refer to.
    ids: BTreeSet<String>,
    /// Keys of compare-exchange values that other results name.
    keys: BTreeSet<String>,
    ids_size: usize,
    /// Counters of the results, or of documents that they name.
    counters: CounterIncludes,
    /// Revisions that results name, or states that they had.
    revisions: RevisionIncludes,
    reservation: MemoryReservation,
}

impl<'a> Included<'a> {
    /// Nothing so far.
    pub fn new(running: &QueryRun<'_>, is_metadata_only: bool) -> Included<'a> {
        let plan = running.plan;
        // A pair of revisions is made for its row alone.
        let has_documents =
            !plan.is_of_revisions && running.index().is_none_or(|index| index.definition().gives_documents());
        Included {
            paths: plan.includes.iter().map(|path| IncludePath::new(path)).collect(),
            value_paths: plan.included_values.iter().map(|path| IncludePath::new(path)).collect(),
            are_documents: is_metadata_only || (plan.projection.is_none() && plan.script.is_none() && has_documents),
            kept: Vec::new(),
            ids: BTreeSet::new(),
            keys: BTreeSet::new(),
            ids_size: 0,
            counters: CounterIncludes::default(),
            revisions: RevisionIncludes::default(),
            reservation: running.memory.reservation(),
        }
    }

    /// Notes what a result refers to.
    ///
    /// * `json`: all of it, as it was written.
    pub(super) fn note(&mut self, running: &QueryRun<'_>, json: &[u8]) -> Result<()> {
        if self.are_documents {
            return Ok(());
        }
        if running.plan.revisions.has_paths() {
            self.revisions.add_vectors(&running.plan.revisions, Raw::new(json))?;
        }
        for (paths, found) in [(&self.paths, &mut self.ids), (&self.value_paths, &mut self.keys)] {
            for id in paths.iter().flat_map(|path| path.ids(Raw::new(json))) {
                let size = id.len() + size_of::<String>();
                if found.insert(id) {
                    self.ids_size += size;
                }
            }
        }
        self.charge()
    }

    /// True once results have referred to documents, or may have.
    pub(super) fn has_references(&self, running: &QueryRun<'_>) -> bool {
        let by_path = !self.kept.is_empty() || !self.ids.is_empty() || self.counters.size() > 0;
        by_path || !running.script_includes.borrow().is_empty()
    }

    /// Charges what is kept beside documents.
    fn charge(&mut self) -> Result<()> {
        Ok(self.reservation.grow(self.ids_size + self.counters.size() + self.revisions.size())?)
    }

    /// Keeps what is needed of a result that was written.
    pub(super) fn keep(&mut self, running: &QueryRun<'_>, hit: Hit<'a, '_>) -> Result<()> {
        self.add_counters(running, &hit)?;
        self.add_revisions(running, &hit)?;
        running.marks.note(&hit.row(), hit.explanation, running.deadline, running.timings)?;
        let is_kept = self.are_documents && !(self.paths.is_empty() && self.value_paths.is_empty());
        match hit.document.filter(|_| is_kept) {
            Some(document) => keep(&mut self.kept, document, &mut self.reservation),
            None => Ok(()),
        }
    }

    /// Reads the counters that come with a result.
    fn add_counters(&mut self, running: &QueryRun<'_>, hit: &Hit<'_, '_>) -> Result<()> {
        let clauses = &running.plan.counters;
        let id = hit.document.as_ref().map(Document::id).or_else(|| hit.entry.map(|entry| entry.document()));
        // A group has no counters, and neither has a counter.
        let Some(id) = id.filter(|id| !clauses.is_empty() && !id.is_empty() && !hit.is_grouped) else { return Ok(()) };
        for CounterClause { path, names } in clauses {
            let Some(path) = path else {
                self.counters.add(running.documents, id, names)?;
                continue;
            };
            let found = match &hit.document {
                Some(document) => Some(*document),
                None => running.documents.get(id)?,
            };
            for id in found.map(|document| IncludePath::new(path).ids(document.body())).unwrap_or_default() {
                self.counters.add(running.documents, &id, names)?;
            }
        }
        self.charge()
    }

    /// Notes the revisions that come with a result.
    fn add_revisions(&mut self, running: &QueryRun<'_>, hit: &Hit<'_, '_>) -> Result<()> {
        let clause = &running.plan.revisions;
        if clause.is_empty() {
            return Ok(());
        }
        if let Some(document) = hit.document.filter(|_| self.are_documents && clause.has_paths()) {
            self.revisions.add_vectors(clause, document.body())?;
        }
        let id = hit.document.as_ref().map(Document::id).or_else(|| hit.entry.map(|entry| entry.document()));
        if let Some(id) = id.filter(|id| !id.is_empty() && !hit.is_grouped) {
            self.revisions.add_times(clause, id);
        }
        self.charge()
    }

    /// The revisions that come with the results.
    ///
    /// # Errors
    ///
    /// The time is up; storage fails.
    pub fn revisions(&self, running: &QueryRun<'_>) -> Result<Vec<IncludedRevision>> {
        let mut found = Vec::new();
        for revision in self.revisions.find(running.documents) {
            running.deadline.look()?;
            found.extend(revision?);
        }
        Ok(found)
    }

    /// The counters; `None`: the query asks for none.
    pub fn counters(&self, running: &QueryRun<'_>) -> Option<&CounterIncludes> {
        (!running.plan.counters.is_empty()).then_some(&self.counters)
    }

    /// The compare-exchange values, by their keys.
    ///
    /// # Errors
    ///
    /// The time is up; storage fails.
    pub fn values<'s>(&self, running: &'s QueryRun<'a>) -> Result<IncludedValues<'s>> {
        let mut values = IncludedValues::default();
        for document in self.kept.iter().filter(|_| !self.value_paths.is_empty()) {
            running.deadline.look()?;
            values.add_all(running.documents, &self.value_paths, document.body())?;
        }
        for key in self.keys.union(&running.script_values.borrow()) {
            running.deadline.look()?;
            values.add(running.documents, key.clone())?;
        }
        Ok(values)
    }

    /// The documents, each once; those that are results are not among them where results are documents.
    ///
    /// # Errors
    ///
    /// The time is up; storage fails.
    pub fn load<'s>(&self, running: &'s QueryRun<'a>) -> Result<Vec<Document<'s>>> {
        if self.are_documents {
            let documents: Vec<&Document<'_>> = self.kept.iter().collect();
            let load = || running.deadline.includes(running.documents, &documents, &self.paths);
            return if self.paths.is_empty() { Ok(Vec::new()) } else { timed(running.timings, Stage::Include, load) };
        }
        let of_scripts = running.script_includes.borrow();
        let ids = self.ids.union(&of_scripts).map(String::as_str);
        let load = || running.documents.get_many(ids);
        let found = if self.paths.is_empty() { load()? } else { timed(running.timings, Stage::Include, load)? };
        // Ids may differ by their case alone.
        let mut seen = HashSet::new();
        let is_new = |document: &Document<'_>| seen.insert(document.id().to_owned());
        Ok(found.into_iter().flatten().filter(is_new).collect())
    }
}
