//! A query on its snapshots: what it finds, and how many there are.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use database::Index;
use database::documents::{Document, Etag, ItemKind, Snapshot};
use database::script;
use query::execute::{self, Distance, Found, Highlighter, Operator, ScriptProjection};
use query::index::{FieldNumber, IndexEntry, IndexSnapshot};
use query::indexing::state_hash;
use query::plan::{
    CollectionQuery, FacetClause, Filter, FilterClause, Find, IndexQuery, Page, Plan, Projection, SortBy, Source,
};

use super::collection;
use super::facets::{self, Counted};
use super::filtering::{Filtered, Filtering, Verdict, filter};
use super::lookups::{LOOKED_UP_AT_ONCE, look_up};
use super::marks::Marks;
use super::ready::Ready;
use super::repeats;
use super::timings::{Stage, Timings, timed};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::memory::{Memory, Room};

/// What an index query scores where nothing scores.
const SCORE: f64 = 1.0;

/// A query and the states that it is answered from.
pub(crate) struct Running<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) documents: &'a Snapshot<'a>,
    /// What this query may hold.
    pub(crate) memory: Arc<Memory>,
    pub(crate) deadline: &'a Deadline,
    /// What measures its steps, if that is asked for.
    pub(super) timings: Option<&'a Timings>,
    results: Results<'a>,
    /// The words of each of the plan's suggestions.
    pub(crate) suggested: Vec<Vec<String>>,
    /// The facets, counted.
    pub(super) faceted: Vec<Counted<'a>>,
    _facets_room: Option<Room>,
    /// What the plan's filter has seen.
    pub(super) filtered: Cell<Filtered>,
    /// Entries that were left out, because their documents are among the results already.
    pub(super) repeated: u64,
    /// Whether properties of results that are missing are left out.
    omits_missing: bool,
    pub(super) script: Option<ScriptProjection<'a>>,
    /// Of scripts, for each result.
    script_limits: script::Limits,
    /// Ids that scripts want to be included.
    pub(super) script_includes: RefCell<BTreeSet<String>>,
    /// How the entries were found, if that is asked for.
    pub(super) explained: Option<Operator>,
    /// What is told about results besides.
    pub(super) marks: Marks<'a>,
}

#[expect(clippy::large_enum_variant, reason = "one for each query, and never moved")]
enum Results<'a> {
    Collection(&'a CollectionQuery),
    Index {
        index: &'a Index,
        snapshot: IndexSnapshot<'a>,
        found: Found,
        is_stale: bool,
        has_documents: bool,
        _room: Room,
    },
}

/// One result: a document, or what the index keeps of it, or both.
pub(crate) struct Hit<'a, 's> {
    pub(crate) document: Option<Document<'a>>,
    pub(crate) entry: Option<IndexEntry<'s>>,
    /// Whether the entry is the result of a reduce.
    pub(crate) is_grouped: bool,
    /// How well it fits, if an index says so.
    pub(crate) score: Option<f64>,
    /// How far it is, where results are sorted by that; inside: `None` for one without a place.
    pub(crate) distance: Option<Option<Distance>>,
    /// Why, if that is asked for.
    pub(crate) explanation: Option<&'s str>,
}

impl Hit<'_, '_> {
    pub(super) fn row(&self) -> execute::Row<'_> {
        execute::Row { document: self.document.as_ref(), entry: self.entry, is_grouped: self.is_grouped }
    }
}

/// What is called with each document.
type Taking<'t, 'd> = &'t mut dyn FnMut(Document<'d>) -> Result<()>;

/// The index of a query, opened.
pub(crate) struct Opened<'a> {
    pub(crate) ready: &'a Ready,
    /// Up to where all was in it before the snapshot was opened.
    pub(crate) reached: Etag,
    pub(crate) snapshot: IndexSnapshot<'a>,
}

/// A query with the stop words that it keeps in documents.
pub(super) fn with_stop_words<'q>(query: &'q IndexQuery, documents: &Snapshot<'_>) -> Result<Cow<'q, IndexQuery>> {
    if !query.condition.lacks_stop_words() {
        return Ok(Cow::Borrowed(query));
    }
    let mut query = query.clone();
    query.condition.likenesses(&mut |like| {
        let Some(id) = &like.stop_words_document else { return Ok(()) };
        let Some(document) = documents.get(id)? else {
            return Err(Error::InvalidOperation(format!("Stop words document {id} could not be found")));
        };
        let words = document.body().get("StopWords");
        let words = words.into_iter().flat_map(|words| words.elements()).filter_map(|word| word.as_str());
        like.stop_words = words.map(|word| word.to_lowercase()).collect();
        Ok(())
    })?;
    Ok(Cow::Owned(query))
}

/// What a query comes to, without its documents.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    /// Without paging; -1 if that is not known because the page ended before the prefix did.
    pub(crate) total: i64,
    /// Documents of the page.
    pub(crate) taken: u64,
}

impl<'a> Running<'a> {
    /// Finds what an index query finds; a collection query is executed when its documents are asked for.
    ///
    /// * `snapshot`: of the index, opened before that of the documents; `memory`: what the query may hold.
    pub(crate) fn new(
        plan: &'a Plan,
        ready: Option<Opened<'a>>,
        documents: &'a Snapshot<'a>,
        memory: Arc<Memory>,
        deadline: &'a Deadline,
        limits: script::Limits,
        timings: Option<&'a Timings>,
    ) -> Result<Running<'a>> {
        let (mut suggested, mut faceted, mut highlighter, mut explained) = (Vec::new(), Vec::new(), None, None);
        let (filtered, mut repeated, mut omits_missing, mut facets_room) = (Cell::default(), 0, false, None);
        let results = match (&plan.find, ready) {
            (Find::Index(query), Some(Opened { ready, reached, mut snapshot })) => {
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
                let has_documents = !ready.index.definition().is_grouped();
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
                    Some(_) => Ok(Found::default()),
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
                    let (counted, room) = timed(timings, Stage::Search, count)?;
                    (faceted, facets_room) = (counted, Some(room));
                }
                let mut room = memory.room();
                room.grow(found.entries.len() * size_of::<execute::EntryId>())?;
                let projection = plan.projection.as_ref();
                if projection.is_some_and(|projection| !has_documents && !projection.behavior.asks_index()) {
                    return Err(Error::NoDocuments);
                }
                let may_store = |field: &str| ready.index.definition().may_store(field);
                omits_missing =
                    has_documents && projection.is_some_and(|projection| projection.omits_missing_in(may_store));
                if let Some(clause) = &plan.filter {
                    let filtering = Filtering::new(clause, page_of(plan).take, limits)?;
                    filtered.set(filter(filtering, &mut found, &snapshot, (documents, has_documents), deadline)?);
                }
                Results::Index { index: &ready.index, snapshot, found, is_stale, has_documents, _room: room }
            }
            (Find::Index(_), None) => unreachable!("a query that needs an index was made ready with one"),
            (Find::Collection(query), _) => Results::Collection(query),
        };
        let script = match &plan.script {
            Some(clause) => Some(ScriptProjection::new(clause, limits)?),
            None => None,
        };
        Ok(Running {
            plan,
            documents,
            deadline,
            timings,
            results,
            suggested,
            faceted,
            _facets_room: facets_room,
            filtered,
            repeated,
            omits_missing,
            script,
            script_limits: limits,
            script_includes: RefCell::default(),
            explained,
            marks: Marks::new(highlighter, plan.explanations.as_ref(), &memory),
            memory,
        })
    }

    /// What `IndexName` says.
    pub(crate) fn index_name(&self) -> String {
        match &self.results {
            Results::Collection(query) => query.source.index_name(),
            Results::Index { index, .. } => index.name().to_owned(),
        }
    }

    /// The index, if one answers.
    pub(crate) fn index(&self) -> Option<&'a Index> {
        match &self.results {
            Results::Collection(_) => None,
            Results::Index { index, .. } => Some(index),
        }
    }

    /// The names and numbers of the fields of the index, by name, if one answers.
    pub(crate) fn index_fields(&self) -> Result<Option<Vec<(String, FieldNumber)>>> {
        match &self.results {
            Results::Collection(_) => Ok(None),
            Results::Index { snapshot, .. } => {
                let mut fields = snapshot.fields()?;
                fields.sort();
                Ok(Some(fields))
            }
        }
    }

    pub(crate) fn is_stale(&self) -> bool {
        matches!(&self.results, Results::Index { is_stale: true, .. })
    }

    /// Calls `found` with each result of the page, and gives how many there are without paging: -1 if that is not known.
    pub(crate) fn each<'s>(&'s self, found: &mut dyn FnMut(Hit<'a, 's>) -> Result<()>) -> Result<i64> {
        match &self.results {
            Results::Collection(query) => {
                let found = &mut |document| {
                    found(Hit {
                        document: Some(document),
                        entry: None,
                        is_grouped: false,
                        score: None,
                        distance: None,
                        explanation: None,
                    })
                };
                match self.timings {
                    None => self.execute(query, found),
                    Some(timings) => self.execute_timed(query, timings, found),
                }
            }
            Results::Index {
                snapshot,
                found: Found { total, entries, scores, distances, explanations },
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

    fn execute(&self, query: &CollectionQuery, found: Taking<'_, 'a>) -> Result<i64> {
        match &self.plan.filter {
            None => collection::execute(self.documents, query, page_of(self.plan), &self.memory, self.deadline, found),
            Some(clause) => self.execute_filtered(query, clause, found),
        }
    }

    /// The same with a filter: the total is that of the documents which fit, as far as they were looked at.
    fn execute_filtered(&self, query: &CollectionQuery, clause: &FilterClause, found: Taking<'_, 'a>) -> Result<i64> {
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
                    Err(database::Error::Canceled.into())
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
    fn execute_timed(&self, query: &CollectionQuery, timings: &Timings, found: Taking<'_, 'a>) -> Result<i64> {
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

    /// Appends what a result is in the answer.
    ///
    /// # Errors
    ///
    /// [`Error::MissingValue`] if the projection wants a value that is not there.
    pub(crate) fn write_row(&self, hit: &Hit<'_, '_>, is_metadata_only: bool, out: &mut Vec<u8>) -> Result<()> {
        let stage = if self.plan.projection.is_some() { Stage::Project } else { Stage::Write };
        timed(self.timings, stage, || self.write_whole(hit, is_metadata_only, out))
    }

    fn write_whole(&self, hit: &Hit<'_, '_>, is_metadata_only: bool, out: &mut Vec<u8>) -> Result<()> {
        self.write_result(hit, is_metadata_only, out)?;
        if let Some(distance) = hit.distance {
            // Into the metadata, which is the last property.
            let end = out.len().saturating_sub(METADATA_END.len());
            out.truncate(end);
            write_distance(distance, out);
            out.extend_from_slice(METADATA_END);
        }
        Ok(())
    }

    /// Appends a result, the metadata last.
    fn write_result(&self, hit: &Hit<'_, '_>, is_metadata_only: bool, out: &mut Vec<u8>) -> Result<()> {
        let score = hit.score;
        let projection = self.plan.projection.as_ref().filter(|_| !is_metadata_only);
        let (projection, document) = match (projection, &hit.document) {
            (None, Some(document)) => {
                document.write(out, is_metadata_only, score);
                return Ok(());
            }
            (projection, document) => (projection, document),
        };
        out.push(b'{');
        if !is_metadata_only {
            self.write_values(projection, hit, out)?;
        }
        out.extend_from_slice(if out.ends_with(b"{") { b"" } else { b"," });
        out.extend_from_slice(b"\"@metadata\":{");
        if projection.is_some() {
            out.extend_from_slice(b"\"@projection\":true,");
        }
        match (document, hit.entry) {
            (Some(document), _) => document.write_computed_metadata(out, Some(score.unwrap_or(0.0))),
            (None, entry) => {
                out.extend_from_slice(b"\"@change-vector\":null");
                // What is grouped is untracked by clients, because it has no id.
                if let Some(entry) = entry.filter(|_| !hit.is_grouped) {
                    out.extend_from_slice(b",\"@id\":\"");
                    json::escape_into(out, entry.document());
                    out.push(b'"');
                }
            }
        }
        out.extend_from_slice(b"}}");
        Ok(())
    }

    /// Appends the properties of a result, without braces and without metadata.
    ///
    /// # Errors
    ///
    /// As [`Self::write_row`].
    pub(crate) fn write_values(
        &self,
        projection: Option<&Projection>,
        hit: &Hit<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match projection {
            Some(projection) => {
                projection.write(&hit.row(), self.omits_missing, out)?;
                Ok(())
            }
            None => {
                let stored = hit.row().stored().map_or(&b"{}"[..], |stored| stored.bytes());
                out.extend_from_slice(stored.strip_prefix(b"{").unwrap_or(stored).strip_suffix(b"}").unwrap_or(stored));
                Ok(())
            }
        }
    }

    /// Counts what it finds: at once for whole collections and indexes, else by executing it.
    pub(crate) fn counts(&self) -> Result<Counts> {
        match &self.results {
            Results::Collection(_) if self.plan.filter.is_some() => {
                let mut taken = 0;
                let total = self.each(&mut |_| {
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
    pub(crate) fn quick_total(&self) -> Result<i64> {
        match &self.results {
            Results::Collection(CollectionQuery { filter: Filter::IdPrefix(_), .. }) => Ok(-1),
            Results::Collection(_) if self.plan.filter.is_some() => Ok(-1),
            _ => Ok(self.counts()?.total),
        }
    }

    /// Changes whenever the answer may change: with every write to the collection, or to anything if there are includes, and
    /// with each batch of the index.
    pub(crate) fn etag(&self) -> Result<i64> {
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
            match source.filter(|_| plan.includes.is_empty() && !plan.runs_scripts() && !has_setup) {
                Some(name) => {
                    let last = self.documents.last_etags(ItemKind::Document, Some(name))?;
                    let count = self.documents.collection(name)?.map_or(0, |collection| collection.documents().count);
                    [last.items, last.tombstones, count].into_iter().for_each(&mut add);
                }
                None => add(self.documents.last_etag()?),
            }
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

/// How a result ends.
const METADATA_END: &[u8] = b"}}";

/// Appends how far a result is to its metadata: `{"Distance","Latitude","Longitude"}`, texts where there is no place, as the reference does.
fn write_distance(distance: Option<Distance>, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"@spatial\":");
    json::Writer::new(out).object(|json| {
        let numbers = distance.map(|found| [found.distance, found.latitude, found.longitude]);
        for (at, name) in ["Distance", "Latitude", "Longitude"].into_iter().enumerate() {
            match numbers.and_then(|numbers| numbers.get(at).copied()) {
                Some(number) => json.name(name).double(number),
                None => json.name(name).string("NaN"),
            };
        }
    });
}

/// The part of what is found that is looked at: to its end, if a filter chooses.
pub(crate) fn wanted_of(plan: &Plan) -> Page {
    if plan.filter.is_some() { Page { take: None, ..plan.page } } else { page_of(plan) }
}

/// The documents that are looked at. How many of them are equal in the results is not known before they are there, and what is left out
/// is looked at too: what was on the pages before does not come again.
pub(crate) fn page_of(plan: &Plan) -> Page {
    if plan.is_distinct() { Page { skip: 0, take: None, ..plan.page } } else { plan.page }
}

/// The part of a page that documents which are there have.
pub(crate) fn taken(page: Page, count: u64) -> u64 {
    count.saturating_sub(page.skip).min(page.take.unwrap_or(u64::MAX))
}
