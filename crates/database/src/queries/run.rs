//! One run of a query on its snapshots.
//!
//! [`QueryRun::new`] finds the entries of an index; `hits.rs` goes through the results, `row.rs` and `rows.rs` write them, `counts.rs`
//! counts them.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use documents::Snapshot;
use query::execute::{self, FoundEntries, Highlighter, Operator, ScriptProjection};
use query::index::{FieldNumber, IndexSnapshot};
use query::plan::{CollectionQuery, Find, IndexQuery, Plan, ScriptForm};
use storage::memory::{Memory, MemoryReservation};

use super::deadline::Deadline;
use super::error::QueryError;
use super::facets::{self, CountedFacet};
use super::filtering::{Filtered, Filtering, filter};
use super::hits::{page_of, wanted_of};
use super::marks::Marks;
use super::ready::OpenedIndex;
use super::repeats;
use super::timings::{Stage, Timings, timed};
use crate::{Error, Index, Result};

/// The resources of a run, apart from its snapshots.
#[derive(Clone)]
pub struct RunContext<'a> {
    /// The account of the memory that the run holds.
    pub memory: Arc<Memory>,
    /// When the run has to end.
    pub deadline: &'a Deadline,
    /// The limits of scripts, for each result.
    pub script_limits: script::Limits,
    /// Measures the steps, if they are to be measured.
    pub timings: Option<&'a Timings>,
}

/// A query and the snapshots that it is answered from.
pub struct QueryRun<'a> {
    pub(super) plan: &'a Plan,
    pub(super) documents: &'a Snapshot<'a>,
    pub(super) memory: Arc<Memory>,
    pub(super) deadline: &'a Deadline,
    pub(super) timings: Option<&'a Timings>,
    pub(super) results: Results<'a>,
    /// The words of each of the plan's suggestions.
    suggested: Vec<Vec<String>>,
    faceted: Vec<CountedFacet<'a>>,
    _facets_reservation: Option<MemoryReservation>,
    /// What the clause `filter` has read.
    pub(super) filtered: Cell<Filtered>,
    /// Entries that were left out, because their documents are among the results already.
    pub(super) repeated: u64,
    /// True if properties that a result lacks are left out.
    pub(super) omits_missing: bool,
    pub(super) script: Option<ScriptProjection<'a>>,
    pub(super) script_limits: script::Limits,
    /// Ids of documents that scripts include.
    pub(super) script_includes: RefCell<BTreeSet<String>>,
    /// Keys of compare-exchange values that scripts include.
    pub(super) script_values: RefCell<BTreeSet<String>>,
    /// How the entries were found, if the query is to be explained.
    pub(super) explained: Option<Operator>,
    /// Fragments and explanations of results.
    pub(super) marks: Marks<'a>,
}

#[expect(clippy::large_enum_variant, reason = "one for each query, and never moved")]
pub(super) enum Results<'a> {
    Collection(&'a CollectionQuery),
    Index {
        index: &'a Index,
        snapshot: IndexSnapshot<'a>,
        found: FoundEntries,
        is_stale: bool,
        has_documents: bool,
        _reservation: MemoryReservation,
    },
}

impl<'a> QueryRun<'a> {
    /// Finds the entries of an index query. A collection query is executed when its results are read.
    ///
    /// * `index`: opened before the snapshot of the documents ([`Database::with_snapshots`](crate::Database::with_snapshots)).
    ///
    /// # Errors
    ///
    /// The query does not fit the index or a document that it names; the time is up; storage fails.
    pub fn new(
        plan: &'a Plan,
        index: Option<OpenedIndex<'a>>,
        documents: &'a Snapshot<'a>,
        context: RunContext<'a>,
    ) -> Result<QueryRun<'a>> {
        let RunContext { memory, deadline, script_limits: limits, timings } = context;
        let (mut suggested, mut faceted, mut highlighter, mut explained) = (Vec::new(), Vec::new(), None, None);
        let (filtered, mut repeated, mut omits_missing, mut facets_reservation) = (Cell::default(), 0, false, None);
        let results = match (&plan.find, index) {
            (Find::Index(query), Some(OpenedIndex { ready, reached, mut snapshot })) => {
                snapshot.set_memory(memory.clone());
                let staleness = || ready.index.is_stale(&snapshot, reached, documents, ready.cutoff);
                let is_stale = timed(timings, Stage::Staleness, staleness)?;
                let fields = ready.index.definition().fields();
                let look = || deadline.look();
                let asked = match plan.suggestions() {
                    [] => with_stop_words(query, documents)?,
                    // What is suggested does not depend on the condition.
                    _ => Cow::Borrowed(query),
                };
                let mut find = |page| match plan.is_explained {
                    false => execute::find(&snapshot, fields, &asked, page, &look),
                    true => {
                        let start = Instant::now();
                        let clock: execute::Clock = Rc::new(move || start.elapsed());
                        let found = execute::explain(&snapshot, fields, &asked, page, &clock, &look);
                        found.map(|(found, operator)| {
                            explained = Some(operator);
                            found
                        })
                    }
                };
                let has_documents = ready.index.definition().gives_documents();
                let found = match plan.gives_in_place_of_results() {
                    None => {
                        timed(timings, Stage::Search, || match repeats::may_repeat(plan, &snapshot, has_documents) {
                            false => find(wanted_of(plan)),
                            true => {
                                let (found, count) =
                                    repeats::find_once(&snapshot, wanted_of(plan), (&memory, deadline), &mut find)?;
                                repeated = count;
                                Ok(found)
                            }
                        })
                    }
                    Some(_) => Ok(FoundEntries::default()),
                };
                if !query.highlights.is_empty() {
                    let make = || Highlighter::new(&snapshot, fields, &query.highlights, &asked, &look);
                    highlighter = Some(timed(timings, Stage::HighlightSetup, make)?);
                }
                let mut found = found?;
                for suggestion in &query.suggestions {
                    let suggest = || execute::suggest(&snapshot, fields, suggestion, &look);
                    suggested.push(timed(timings, Stage::Search, suggest)?);
                }
                if !query.facets.is_empty() {
                    let count = || facets::count(&asked, &query.facets, &ready.index, &snapshot, documents, deadline);
                    let (counted, reservation) = timed(timings, Stage::Search, count)?;
                    (faceted, facets_reservation) = (counted, Some(reservation));
                }
                let mut reservation = memory.reservation();
                reservation.grow(found.entries.len() * size_of::<execute::EntryId>())?;
                let projection = plan.projection.as_ref();
                if projection.is_some_and(|projection| !has_documents && !projection.behavior.asks_index()) {
                    return Err(QueryError::NoDocuments.into());
                }
                let may_store = |field: &str| ready.index.definition().may_store(field);
                omits_missing =
                    has_documents && projection.is_some_and(|projection| projection.omits_missing_in(may_store));
                if let Some(clause) = &plan.filter {
                    let filtering = Filtering::new(clause, page_of(plan).take, limits)?;
                    filtered.set(filter(filtering, &mut found, &snapshot, (documents, has_documents), deadline)?);
                }
                Results::Index {
                    index: &ready.index,
                    snapshot,
                    found,
                    is_stale,
                    has_documents,
                    _reservation: reservation,
                }
            }
            (Find::Index(_), None) => return Err(Error::NoSuchIndex { name: String::new() }),
            (Find::Collection(query), _) => Results::Collection(query),
        };
        let script = match plan.script.as_ref().filter(|clause| !matches!(clause.form, ScriptForm::Update(_))) {
            Some(clause) => Some(ScriptProjection::new(clause, limits)?),
            None => None,
        };
        Ok(QueryRun {
            plan,
            documents,
            deadline,
            timings,
            results,
            suggested,
            faceted,
            _facets_reservation: facets_reservation,
            filtered,
            repeated,
            omits_missing,
            script,
            script_limits: limits,
            script_includes: RefCell::default(),
            script_values: RefCell::default(),
            explained,
            marks: Marks::new(highlighter, plan.explanations.as_ref(), &memory),
            memory,
        })
    }

    /// The name of the index, or what stands for it in a query of a collection.
    pub fn index_name(&self) -> String {
        match &self.results {
            Results::Collection(query) => query.source.index_name(),
            Results::Index { index, .. } => index.name().to_owned(),
        }
    }

    /// The index, if one answers.
    pub fn index(&self) -> Option<&'a Index> {
        match &self.results {
            Results::Collection(_) => None,
            Results::Index { index, .. } => Some(index),
        }
    }

    /// The names and numbers of the fields of the index, by name, if one answers.
    ///
    /// # Errors
    ///
    /// The index cannot be read.
    pub fn index_fields(&self) -> Result<Option<Vec<(String, FieldNumber)>>> {
        match &self.results {
            Results::Collection(_) => Ok(None),
            Results::Index { snapshot, .. } => {
                let mut fields = snapshot.fields()?;
                fields.sort();
                Ok(Some(fields))
            }
        }
    }

    /// True if the index lacks something that it should have.
    pub fn is_stale(&self) -> bool {
        matches!(&self.results, Results::Index { is_stale: true, .. })
    }

    /// The plan.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// The snapshot of the documents.
    pub fn documents(&self) -> &'a Snapshot<'a> {
        self.documents
    }

    /// When the run has to end.
    pub fn deadline(&self) -> &'a Deadline {
        self.deadline
    }

    /// The timings of its steps, if they are measured.
    pub fn timings(&self) -> Option<&'a Timings> {
        self.timings
    }

    /// The words of each of the plan's suggestions.
    pub fn suggested(&self) -> &[Vec<String>] {
        &self.suggested
    }

    /// The facets.
    pub fn faceted(&self) -> &[CountedFacet<'a>] {
        &self.faceted
    }

    /// Counts of what the clause `filter` has read so far.
    pub fn filtered(&self) -> Filtered {
        self.filtered.get()
    }

    /// The number of entries that were left out because their documents are among the results already.
    pub fn repeated_count(&self) -> u64 {
        self.repeated
    }

    /// Fragments and explanations of the results that were written so far.
    pub fn marks(&self) -> &Marks<'a> {
        &self.marks
    }
}

/// A query with the stop words that are stored in documents.
fn with_stop_words<'q>(query: &'q IndexQuery, documents: &Snapshot<'_>) -> Result<Cow<'q, IndexQuery>> {
    if !query.condition.lacks_stop_words() {
        return Ok(Cow::Borrowed(query));
    }
    let mut query = query.clone();
    query.condition.likenesses(&mut |like| -> Result<()> {
        let Some(id) = &like.stop_words_document else { return Ok(()) };
        let Some(document) = documents.get(id)? else {
            return Err(QueryError::Invalid(format!("Stop words document {id} could not be found")).into());
        };
        let words = document.body().get("StopWords");
        let words = words.into_iter().flat_map(|words| words.elements()).filter_map(|word| word.as_str());
        like.stop_words = words.map(|word| word.to_lowercase()).collect();
        Ok(())
    })?;
    Ok(Cow::Owned(query))
}
