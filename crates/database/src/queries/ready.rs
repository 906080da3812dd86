//! The index that answers a query: found or created, and waited for as far as the query requires.
//!
//! [`Preparation`] decides and does not wait, so that a server can wait without a thread. [`Database::ready`] drives it on a thread that
//! may block.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use documents::{ChangeVector, Etag, Snapshot};
use query::definition::{AutomaticIndex, Field};
use query::index::IndexSnapshot;
use query::plan::{Find, IndexChoice, IndexQuery};

use super::error::QueryError;
use super::query::Query;
use super::run::{QueryRun, RunContext};
use super::timings::Stage;
use crate::limits::STALE_WAIT;
use crate::{AutomaticIndexes, Database, Error, Index, QuerySwitch, Result};

/// How fresh the index of a query has to be.
#[derive(Clone, Debug, Default)]
pub struct Freshness {
    /// How long the query waits for an index that has everything that was written before the query came; `None`: it takes what is there.
    pub stale_wait: Option<Duration>,
    /// The change vector that a write returned: the index must have that write.
    pub after_write: Option<String>,
    /// True if the query waits, [`STALE_WAIT`] at most, where `stale_wait` does not say how long; `None`: as the database is set.
    pub reads_fresh: Option<bool>,
}

/// An index that may answer a query now.
#[derive(Clone, Debug)]
pub struct ReadyIndex {
    /// The index.
    pub index: Arc<Index>,
    /// The results are stale if the index lacks something up to this etag; `None`: if it lacks anything.
    pub cutoff: Option<Etag>,
}

impl ReadyIndex {
    /// Has an index that turned out to be damaged built anew.
    pub fn fail_if_damaged(&self, error: &Error) {
        if let Error::Index(error) = error
            && error.is_damage()
        {
            self.index.fail(error.clone());
        }
    }
}

/// The index of a query with a snapshot of it.
pub struct OpenedIndex<'a> {
    /// The index.
    pub ready: &'a ReadyIndex,
    /// The etag up to which everything was in it before the snapshot was opened.
    pub reached: Etag,
    /// The snapshot.
    pub snapshot: IndexSnapshot<'a>,
}

/// The next step of making the index of a query ready.
#[derive(Debug)]
pub enum PreparationStep {
    /// Create this index on a thread that may block, with [`Indexes::covering_or_made`](crate::Indexes::covering_or_made), and hand it to
    /// [`Preparation::made`].
    Make(AutomaticIndex, AutomaticIndexes),
    /// Wait until the index has an etag, with [`Index::when_indexed`], or until `wait` is over.
    Wait {
        /// The index.
        index: Arc<Index>,
        /// The etag.
        etag: Etag,
        /// How long, at most.
        wait: Duration,
    },
    /// The index answers now. `None`: the query needs no index.
    Ready(Option<ReadyIndex>),
}

/// The way to the index of one query: call [`Self::advance`] and do what it says, until it is [`PreparationStep::Ready`].
pub struct Preparation<'q> {
    database: &'q Database,
    query: &'q Query,
    stale_wait: Option<Duration>,
    automatic: AutomaticIndexes,
    run_time: Duration,
    /// The last etag when the query came.
    arrival: Etag,
    /// The etag that the index must have.
    written: Option<Etag>,
    state: PreparationState,
    began: Instant,
}

enum PreparationState {
    Choose,
    Chosen(Arc<Index>),
    AwaitsWrite(Arc<Index>),
    AwaitedWrite(Arc<Index>),
    Waited(Arc<Index>),
}

impl<'q> Preparation<'q> {
    /// * `run_time`: how long a query waits for an index that it created, whose results would mean nothing yet.
    ///
    /// # Errors
    ///
    /// [`QueryError::BadChangeVector`]; storage fails.
    pub fn new(
        database: &'q Database,
        query: &'q Query,
        freshness: &Freshness,
        run_time: Duration,
    ) -> Result<Preparation<'q>> {
        let arrival = database.read().last_etag()?;
        let written = freshness.after_write.as_deref();
        let written = written.map(|vector| etag_of(vector, database, arrival)).transpose()?;
        let (state, began) = (PreparationState::Choose, Instant::now());
        let settings = database.query_settings();
        let reads_fresh = freshness.reads_fresh.unwrap_or(settings.reads_fresh);
        let stale_wait = freshness.stale_wait.or(reads_fresh.then_some(STALE_WAIT));
        let automatic = settings.automatic_indexes();
        Ok(Preparation { database, query, stale_wait, automatic, run_time, arrival, written, state, began })
    }

    /// Restricts what the query may do where no index covers it, beyond the settings of the database.
    #[must_use]
    pub fn restricted_to(self, automatic: AutomaticIndexes) -> Preparation<'q> {
        Preparation { automatic: self.automatic.max(automatic), ..self }
    }

    /// Decides the next step.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchIndex`]; the index lacks a field; it does not have the write in time that the query has to see.
    pub fn advance(&mut self) -> Result<PreparationStep> {
        let Find::Index(query) = &self.query.plan.find else { return Ok(PreparationStep::Ready(None)) };
        loop {
            match std::mem::replace(&mut self.state, PreparationState::Choose) {
                PreparationState::Choose => {
                    self.began = Instant::now();
                    match self.chosen(query)? {
                        Ok(index) => self.made(index),
                        Err(needed) => return Ok(PreparationStep::Make(needed.clone(), self.automatic)),
                    }
                }
                PreparationState::Chosen(index) => {
                    let wait = match self.stale_wait {
                        None if !index.was_complete() => Some(self.run_time),
                        wait => wait,
                    };
                    match wait {
                        None => self.state = PreparationState::AwaitsWrite(index),
                        // Writes to other collections do not concern it.
                        Some(_) if index.indexed_to() < self.arrival && index.has_all_of(&self.database.read())? => {
                            self.state = PreparationState::AwaitsWrite(index);
                        }
                        Some(wait) => {
                            self.state = PreparationState::AwaitsWrite(index.clone());
                            return Ok(PreparationStep::Wait { index, etag: self.arrival, wait });
                        }
                    }
                }
                PreparationState::AwaitsWrite(index) => match self.written {
                    None => self.state = PreparationState::Waited(index),
                    Some(etag) => {
                        self.state = PreparationState::AwaitedWrite(index.clone());
                        return Ok(PreparationStep::Wait { index, etag, wait: self.stale_wait.unwrap_or(STALE_WAIT) });
                    }
                },
                PreparationState::AwaitedWrite(index) => {
                    let etag = self.written.unwrap_or_default();
                    if index.indexed_to() < etag && !index.is_removed() {
                        let wait = self.stale_wait.unwrap_or(STALE_WAIT);
                        return Err(QueryError::NotIndexed { etag, wait, index: index.name().to_owned() }.into());
                    }
                    self.state = PreparationState::Waited(index);
                }
                PreparationState::Waited(index) => {
                    self.note(Stage::Staleness);
                    // An index that was replaced meanwhile is no longer brought up to date: the next one is chosen.
                    if !index.is_removed() {
                        let cutoff = self.stale_wait.map(|_| self.arrival).or(self.written);
                        return Ok(PreparationStep::Ready(Some(ReadyIndex { index, cutoff })));
                    }
                }
            }
        }
    }

    /// Goes on with the index that [`PreparationStep::Make`] asked for.
    pub fn made(&mut self, index: Arc<Index>) {
        self.note(Stage::Optimizer);
        self.state = PreparationState::Chosen(index);
    }

    /// The index, or the definition of the one that is to be created.
    fn chosen(&self, query: &'q IndexQuery) -> Result<Result<Arc<Index>, &'q AutomaticIndex>> {
        let indexes = self.database.indexes();
        match &query.index {
            IndexChoice::Named(name, fields) => {
                let index = indexes.by_name(name).ok_or_else(|| Error::NoSuchIndex { name: name.clone() })?;
                check_fields(&index, fields, &self.query.text)?;
                Ok(Ok(index))
            }
            IndexChoice::Covering(needed) => {
                let covering = match self.automatic {
                    AutomaticIndexes::Refused => None,
                    _ => indexes.covering(needed),
                };
                match (covering, self.automatic) {
                    (None, AutomaticIndexes::NotCreated | AutomaticIndexes::Refused) => {
                        Err(no_automatic_index(needed, self.automatic).into())
                    }
                    (covering, _) => Ok(covering.ok_or(needed)),
                }
            }
        }
    }

    fn note(&mut self, stage: Stage) {
        if let Some(timings) = &self.query.timings {
            let now = Instant::now();
            timings.add(stage, now.duration_since(self.began));
            self.began = now;
        }
    }
}

/// The refusal of a query that needs an automatic index: the sentence of the reference, and what to do.
fn no_automatic_index(needed: &AutomaticIndex, automatic: AutomaticIndexes) -> QueryError {
    let fields: Vec<&str> = needed.fields().iter().map(|field| field.name.path.as_str()).collect();
    let fields = if fields.is_empty() { String::new() } else { format!(" with the fields {}", fields.join(", ")) };
    let remedy = format!("define an index of {}{fields} and query it by its name (from index '..')", needed.source());
    match automatic {
        AutomaticIndexes::Refused => QueryError::AutomaticIndexesDisabled(format!(
            "Dynamic queries are not supported by this database because the configuration '{name}' is set to true and the query \
             optimizer needs an index for this query. Set {name} to false, or {remedy}.",
            name = QuerySwitch::DISABLE_AUTOMATIC
        )),
        _ => QueryError::NoAutomaticIndex(format!(
            "Creation of Auto Indexes was disabled and no Auto Index matching the given query was found. Leave out \
             'disableAutoIndexCreation' once, or {remedy}."
        )),
    }
}

/// The etag that this database gave to the write that returned a change vector.
///
/// * `last`: the last etag of the database.
fn etag_of(vector: &str, database: &Database, last: Etag) -> Result<Etag, QueryError> {
    let wrong = |reason: &str| QueryError::BadChangeVector(format!("'WaitForChangeVector' {reason}"));
    let parsed = ChangeVector::parse(vector).map_err(|error| wrong(&format!("is no change vector: {error}")))?;
    match parsed.etag_of(database.documents().database_id()) {
        0 => Err(wrong("is not of a write to this database")),
        etag if etag > last => Err(wrong(&format!("names etag {etag}, and the last of this database is {last}"))),
        etag => Ok(etag),
    }
}

/// Checks that an index has the fields that a query reads.
///
/// # Errors
///
/// [`QueryError::MissingField`], [`QueryError::Invalid`].
pub fn check_fields(index: &Index, fields: &[Field], text: &str) -> Result<(), QueryError> {
    let definition = index.definition();
    for field in fields.iter().filter(|field| field.needs.is_suggested) {
        let (path, index) = (&field.name.path, index.name());
        if definition.suggests(path) {
            continue;
        }
        if definition.missing(field).is_some() {
            return Err(QueryError::Invalid(format!("Index '{index}' does not have a field '{path}'.")));
        }
        let message = format!("Index '{index}' does not have suggestions configured for field '{path}'.");
        return Err(QueryError::Invalid(message));
    }
    // A field with suggestions need not be one that maps give; in a field that is not there nothing is highlighted.
    let mut needed = fields.iter().filter(|field| !field.needs.is_suggested && !field.needs.is_highlighted);
    match needed.find_map(|field| index.definition().missing(field)) {
        None => Ok(()),
        Some(field) => Err(QueryError::MissingField(format!(
            "The field '{field}' is not indexed in '{}', cannot query/sort on fields that are not indexed in query: {text}",
            index.name()
        ))),
    }
}

/// Waits on this thread until an index has everything up to an etag, or the time is up.
pub fn wait_for(index: &Index, etag: Etag, wait: Duration) {
    let (sender, reached) = mpsc::channel();
    index.when_indexed(etag, wait, move || _ = sender.send(()));
    let _ = reached.recv_timeout(wait);
}

impl Database {
    /// Makes the index of a query ready, on a thread that may block.
    ///
    /// * `run_time`: how long the query may wait for an index that it creates.
    ///
    /// # Errors
    ///
    /// As [`Preparation::advance`]; an index cannot be created.
    pub fn ready(&self, query: &Query, freshness: &Freshness, run_time: Duration) -> Result<Option<ReadyIndex>> {
        let mut preparation = Preparation::new(self, query, freshness, run_time)?;
        loop {
            match preparation.advance()? {
                PreparationStep::Make(needed, automatic) => {
                    preparation.made(self.indexes().covering_or_made(&needed, automatic)?);
                }
                PreparationStep::Wait { index, etag, wait } => wait_for(&index, etag, wait),
                PreparationStep::Ready(ready) => return Ok(ready),
            }
        }
    }

    /// Runs a query on this thread: makes its index ready, and calls `work` with the run.
    ///
    /// * `run_time`: how long it may wait for an index that it creates.
    ///
    /// # Errors
    ///
    /// As [`Self::ready`] and [`QueryRun::new`]; those of `work`.
    pub fn query<T>(
        &self,
        query: &Query,
        freshness: &Freshness,
        run_time: Duration,
        context: &RunContext<'_>,
        work: impl for<'a> FnOnce(&QueryRun<'a>) -> Result<T>,
    ) -> Result<T> {
        let ready = self.ready(query, freshness, run_time)?;
        let outcome = self.with_snapshots(ready.as_ref(), |index, documents| {
            let context = context.clone();
            work(&QueryRun::new(&query.plan, index, documents, context)?)
        });
        outcome.inspect_err(|error| ready.iter().for_each(|ready| ready.fail_if_damaged(error)))
    }

    /// Opens the snapshots of a query in their order: what the index names is in that of the documents, or was deleted since.
    ///
    /// # Errors
    ///
    /// The index cannot be read; the errors of `work`.
    pub fn with_snapshots<T, E: From<Error>>(
        &self,
        ready: Option<&ReadyIndex>,
        work: impl for<'a> FnOnce(Option<OpenedIndex<'a>>, &'a Snapshot<'a>) -> Result<T, E>,
    ) -> Result<T, E> {
        let index = match ready {
            Some(ready) => {
                let reached = ready.index.indexed_to();
                Some(OpenedIndex { ready, reached, snapshot: ready.index.read()? })
            }
            None => None,
        };
        work(index, &self.read())
    }
}
