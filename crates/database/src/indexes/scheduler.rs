//! The scheduler of indexing: an index that is stale gets a turn, and a replacement that is complete takes the place of its
//! predecessor.
//!
//! ```text
//! commit ─► announce ─► pool: look (which are stale?) ─► a turn for each of those ─► pool: one batch ─► again, or done
//! ```
//!
//! The cost of a commit does not depend on the number of indexes: it records the etag and schedules a look unless one is pending. The
//! look marks indexes that are up to date, which wakes waiting queries. A turn is one batch, or several while no other index needs the
//! thread. Between two rounds indexes pause as long as the first round took, 10 ms at most: documents written meanwhile form one
//! batch, which costs half of what they would cost alone.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use documents::{Etag, ItemKind, LastEtags};
use query::definition::{AutomaticIndex, IndexDefinition, Priority};
use query::indexing::BatchControl;
use script::Stop;

use super::open::Index;
use super::outputs::Left;
use super::pool::IndexingPool;
use super::registry::Indexes;
use super::turns::Scratch;
use super::usage::Usage;
use crate::limits::{INDEXING_BATCH_TIME, INDEXING_LOOK_EVERY, INDEXING_PAUSE_MAX, INDEXING_TURN_MAX};
use crate::{Database, Error, IndexChange, Result};

/// Measures rounds of indexing, to pace the pause between two of them.
#[derive(Default)]
pub(super) struct RoundPacer {
    /// Duration of the turns since the last look.
    busy: Duration,
    /// When the last of them ended.
    ended: Option<Instant>,
}

impl RoundPacer {
    fn end_turn(&mut self, began: Instant) {
        let now = Instant::now();
        self.busy += now.duration_since(began);
        self.ended = Some(now);
    }

    /// The remaining pause before the next round.
    fn pause(&self) -> Duration {
        let Some(ended) = self.ended else { return Duration::ZERO };
        self.busy.min(INDEXING_PAUSE_MAX).saturating_sub(ended.elapsed())
    }
}

/// Ends the turn of an index: at once if the index or its database is closed, soon if others wait for the thread.
struct TurnControl<'t> {
    /// Whether the index or its database is closed, or the node stops.
    stop: &'t Stop,
    pool: &'t IndexingPool,
    /// When the turn began.
    began: Instant,
    /// When it was last asked whether the index is stopped and whether others wait: both take a lock.
    looked_at: Cell<Instant>,
}

impl BatchControl for TurnControl<'_> {
    fn goes_on(&self) -> bool {
        !self.is_stopped() && self.began.elapsed() < INDEXING_TURN_MAX && self.pool.has_spare_thread()
    }

    fn ends_batch(&self, began: Instant) -> bool {
        let now = Instant::now();
        if now.duration_since(self.looked_at.get()) < INDEXING_LOOK_EVERY {
            return false;
        }
        self.looked_at.set(now);
        let is_due = now.duration_since(began) >= INDEXING_BATCH_TIME;
        self.is_stopped() || is_due && !self.pool.has_spare_thread()
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}

/// Whether the index and its database are open, and the index is not paused.
fn may_go_on(database: &Database, index: &Index) -> bool {
    !database.is_closed() && !index.is_removed() && index.is_running()
}

impl Indexes {
    /// Records a commit. Called on the committing thread: it only stores the etag and schedules a look.
    #[inline]
    pub(crate) fn committed(&self, last_etag: Etag) {
        self.last_etag.fetch_max(last_etag, SeqCst);
        if self.open.load().is_empty() || self.is_announced.swap(true, SeqCst) {
            return;
        }
        let owner = self.owner.clone();
        let pause = self.pace.lock().pause();
        self.pool.add_after(
            pause,
            Priority::High,
            &self.share,
            Box::new(move |_| {
                let Some(database) = owner.get() else { return };
                if let Err(error) = database.indexes().look(&database) {
                    tracing::error!(database = database.name(), %error, "the changes that indexes lack cannot be read");
                }
            }),
        );
    }

    /// Pauses all indexes and wakes their waiters.
    pub(crate) fn rest(&self) {
        self.open.load_full().iter().for_each(|index| index.rest());
    }

    /// Resumes indexing with the changes made while the database was closed.
    pub(crate) fn go_on(&self) {
        self.open.load_full().iter().for_each(|index| index.go_on());
        self.committed(0);
    }

    /// Schedules a turn for each stale index, and marks the others as up to date.
    fn look(&self, database: &Arc<Database>) -> Result<()> {
        self.is_announced.store(false, SeqCst);
        self.pace.lock().busy = Duration::ZERO;
        let documents = database.read();
        let last_etag = documents.last_etag()?;
        let mut sources: HashMap<(ItemKind, Option<&str>), LastEtags> = HashMap::new();
        let open = self.open.load_full();
        let mut last = Vec::new();
        for index in open.iter() {
            last.clear();
            for source in index.sources() {
                let source = (source.kind, source.collection.as_deref());
                // Many indexes have few sources.
                last.push(match sources.get(&source) {
                    Some(last) => *last,
                    None => *sources.entry(source).or_insert(documents.last_etags(source.0, source.1)?),
                });
            }
            let lacks = index.lacks(&last);
            if !lacks {
                index.is_current(last_etag);
            }
            // What it stands in for goes in a turn.
            let is_unfinished = index.has_failed_turn.load(SeqCst) || !index.has_replaced.load(SeqCst);
            if index.is_running() && (lacks || is_unfinished) {
                self.give_turn(index);
            }
        }
        Ok(())
    }

    /// Schedules a turn, unless one is pending.
    pub(super) fn give_turn(&self, index: &Arc<Index>) {
        if !index.has_turn.swap(true, SeqCst) {
            self.add_turn(index.clone());
        }
    }

    fn add_turn(&self, index: Arc<Index>) {
        let owner = self.owner.clone();
        let priority = index.settings().priority;
        // A turn that waits keeps neither of them open: whoever opens the database again would find the index's folder locked.
        let (weak, open) = (Arc::downgrade(&index), index);
        self.pool.add(
            priority,
            &self.share,
            &open.time_used,
            Box::new(move |scratch| {
                let (Some(database), Some(index)) = (owner.get(), weak.upgrade()) else { return };
                if !may_go_on(&database, &index) {
                    index.has_turn.store(false, SeqCst);
                    // Whoever opened the database again meanwhile, or started the index, saw that it had a turn.
                    if may_go_on(&database, &index) {
                        database.indexes().give_turn(&index);
                    }
                    return;
                }
                database.indexes().take_turn(&database, &index, scratch);
            }),
        );
    }

    fn take_turn(&self, database: &Arc<Database>, index: &Arc<Index>, scratch: &mut Scratch) {
        let Some(_turn) = index.turn.try_lock() else {
            // It is compacted. What ends that gives it a turn, if it sees that it has none.
            index.has_turn.store(false, SeqCst);
            if may_go_on(database, index) {
                self.give_turn(index);
            }
            return;
        };
        let (began, documents) = (Instant::now(), database.read());
        let stop: Stop = {
            let (pool, database, index) = (self.pool.clone(), database.clone(), index.clone());
            Rc::new(move || pool.is_closed() || !may_go_on(&database, &index))
        };
        let control = TurnControl { stop: &stop, pool: &self.pool, began, looked_at: Cell::new(began) };
        let take = || {
            let turn = || index.take_turn(&documents, scratch, &control);
            script::stoppable(stop.clone(), || database.with_memory(turn))
        };
        let turn = documents.last_etag().map_err(Error::from).and_then(|last_etag| Ok((last_etag, safely(take)?)));
        drop(documents);
        let time = began.elapsed();
        index.time_used.add(time);
        self.share.add(index.settings().priority, time);
        let turn = match turn {
            Ok((last_etag, (has_some, is_done))) if index.outputs.is_some() => {
                match safely(|| self.take_turn_of_outputs(database, index, last_etag, is_done)) {
                    Ok(Some(is_done)) => Ok((last_etag, (has_some, is_done))),
                    Ok(None) => return,
                    Err(error) => Err(error),
                }
            }
            turn => turn,
        };
        if matches!(turn, Ok((_, (true, _)))) {
            database.tell_of_index(IndexChange::BatchCompleted, index.name());
        }
        if turn.is_ok() {
            index.has_failed_turn.store(false, SeqCst);
        }
        match turn {
            Ok((_, (_, false))) => self.add_turn(index.clone()),
            Ok((last_etag, (_, true))) => {
                self.pace.lock().end_turn(began);
                index.has_turn.store(false, SeqCst);
                if self.last_etag.load(SeqCst) > last_etag {
                    // Who looked meanwhile saw that it had a turn.
                    self.committed(last_etag);
                }
                if !index.has_replaced.swap(true, SeqCst) && !self.replace_former(index) {
                    // The next round of maintenance tries again.
                    index.has_replaced.store(false, SeqCst);
                }
            }
            Err(error) => {
                index.has_turn.store(false, SeqCst);
                self.end_turn_with(database, index, error);
            }
        }
    }

    /// Writes results of an index as documents, behind a batch. Gives whether nothing is left to do; `None`: the documents cannot be
    /// written now, and the next look at the index tries again.
    fn take_turn_of_outputs(
        &self,
        database: &Arc<Database>,
        index: &Arc<Index>,
        last_etag: Etag,
        is_done: bool,
    ) -> Result<Option<bool>> {
        match index.write_outputs(database, is_done) {
            Ok(Left::Something) => Ok(Some(false)),
            Ok(Left::Nothing) => {
                if is_done {
                    index.is_current(last_etag);
                }
                Ok(Some(is_done))
            }
            Err(error @ Error::Index(_)) => Err(error),
            Err(error) => {
                if !database.is_closed() {
                    tracing::warn!(database = database.name(), index = index.name(), %error, "results of an index could not be written as documents");
                }
                index.has_turn.store(false, SeqCst);
                Ok(None)
            }
        }
    }

    /// An index that meets what passes by itself answers what it has, and the next look at it or maintenance tries again; else it fails.
    fn end_turn_with(&self, database: &Database, index: &Arc<Index>, error: Error) {
        let error = match error {
            Error::Index(error) => error,
            Error::Storage(error) => error.into(),
            Error::Documents(error) => error.into(),
            _ => query::index::Error::Corrupt { rule: "its documents can be read" },
        };
        if !error.passes() {
            self.fail(index, error);
        } else if matches!(error, query::index::Error::Interrupted) {
            // One that was started again meanwhile was seen to have a turn.
            if !self.pool.is_closed() && may_go_on(database, index) {
                self.give_turn(index);
            }
        } else if !index.has_failed_turn.swap(true, SeqCst) {
            tracing::warn!(database = database.name(), index = index.name(), %error, "an index cannot go on for now; it tries again");
        }
    }

    fn fail(&self, index: &Arc<Index>, error: query::index::Error) {
        index.fail(error);
        // One that was built anew meanwhile has its name, and did not fail.
        if self.open.load().iter().any(|open| Arc::ptr_eq(open, index)) {
            self.tell(index, IndexChange::Failed);
        }
    }

    /// Puts an index, which has all that there is now, in place of what it stands in for. False: that failed.
    fn replace_former(&self, index: &Arc<Index>) -> bool {
        let done = match index.definition() {
            IndexDefinition::Automatic(definition) => self.remove_superseded(index, definition),
            IndexDefinition::Map(_) if index.is_replacement() => self.replace(index),
            IndexDefinition::Map(_) => Ok(()),
        };
        if let Err(error) = &done {
            tracing::warn!(database = index.database_name(), index = index.name(), %error, "an index could not replace another");
        }
        done.is_ok()
    }

    /// Removes those that answer nothing that a new, complete one does not.
    fn remove_superseded(&self, by: &Arc<Index>, definition: &AutomaticIndex) -> Result<()> {
        let _changing = self.changing.lock();
        let is_superseded = |index: &&Arc<Index>| {
            let other = index.definition().as_automatic().filter(|_| !Arc::ptr_eq(index, by));
            other.is_some_and(|other| definition.covers(other) && !other.covers(definition))
        };
        if !self.open.load().iter().any(|index| Arc::ptr_eq(index, by)) {
            return Ok(());
        }
        // One in which documents failed answers less than they do.
        if !by.is_sound() {
            return Ok(());
        }
        self.open.load_full().iter().filter(is_superseded).try_for_each(|index| self.remove_open(index))
    }

    /// Housekeeping: flushes idle indexes, rebuilds failed ones, and removes unused ones.
    pub(crate) fn maintain(&self) {
        if let Err(error) = self.open_missing() {
            tracing::warn!(%error, "indexes that could not be opened cannot be looked for");
        }
        if let Err(error) = self.retire() {
            tracing::warn!(%error, "idle automatic indexes could not be deleted");
        }
        let is_unfinished = |index: &Arc<Index>| {
            let has_failed_turn = index.has_failed_turn.load(SeqCst);
            has_failed_turn || !index.has_replaced.load(SeqCst) || index.owes_outputs()
        };
        if self.open.load().iter().any(is_unfinished) {
            // Those that could not try again.
            self.committed(0);
        }
        for index in self.open.load_full().iter() {
            let done = match index.failure() {
                // It would fail again.
                Some(
                    query::index::Error::TooManyFailures { .. }
                    | query::index::Error::NoAnalyzer(_)
                    | query::index::Error::Bug,
                ) => Ok(()),
                Some(_) => self.build_anew(index.name(), false).map(drop),
                None => index.keep_last_query(Usage::is_due).and_then(|()| index.flush_if_idle().map(drop)),
            };
            if let Err(error) = done {
                tracing::warn!(database = index.database_name(), index = index.name(), %error, "an index could not be flushed or rebuilt");
            }
        }
    }

    /// Whether none has a turn coming, and none was stopped: that would be forgotten.
    pub(crate) fn are_at_rest(&self) -> bool {
        let is_at_rest = |index: &Arc<Index>| !index.has_turn.load(SeqCst) && !index.is_paused();
        !self.is_announced.load(SeqCst) && !self.are_paused() && self.open.load().iter().all(is_at_rest)
    }
}

/// A bug in indexing ends this index, and tells those who wait for it.
fn safely<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(query::index::Error::Bug.into()))
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use query::index::Error::Bug;
    use storage::{Environment, Options};
    use testing::wait::until_true;

    use super::super::pool::IndexingPool;
    use super::*;
    use crate::{ChangeListener, Committed, Limits};

    #[derive(Default)]
    struct RecordedEvents(Mutex<Vec<String>>);

    impl ChangeListener for RecordedEvents {
        fn committed(&self, _: Committed) {}

        fn index_changed(&self, change: IndexChange, name: &str) {
            if change == IndexChange::Failed {
                self.0.lock().push(name.to_owned());
            }
        }
    }

    #[test]
    fn a_failure_of_a_rebuilt_index_is_reported_under_its_own_name() {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let pool = Arc::new(IndexingPool::new(1));
        let database = Database::open("x", environment, true, "A", &Limits::default(), &pool).unwrap();
        let events = Arc::new(RecordedEvents::default());
        database.add_listener(events.clone());
        let indexes = database.indexes();
        let needed = AutomaticIndex::new(None, []);
        let old = indexes.covering_or_new(&needed).unwrap();
        assert!(indexes.reset(old.name()).unwrap());
        let anew = indexes.by_name(old.name()).unwrap();
        assert!(!Arc::ptr_eq(&old, &anew));
        indexes.fail(&old, Bug);
        assert!(events.0.lock().is_empty() && anew.failure().is_none());
        indexes.fail(&anew, Bug);
        assert_eq!(*events.0.lock(), [anew.name()]);
    }

    #[test]
    fn what_passes_by_itself_costs_an_index_nothing_but_a_turn() {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let pool = Arc::new(IndexingPool::new(1));
        let database = Database::open("x", environment, true, "A", &Limits::default(), &pool).unwrap();
        let indexes = database.indexes();
        let index = indexes.covering_or_new(&AutomaticIndex::new(None, [])).unwrap();
        until_true("the first turn ends", || !index.has_turn.load(SeqCst));
        let full = storage::Error::DiskFull { path: "x".into(), needed_bytes: 1 };
        for error in [Error::Storage(full.clone()), Error::Index(full.clone().into()), Error::Documents(full.into())] {
            indexes.end_turn_with(&database, &index, error);
            assert!(index.failure().is_none() && index.has_failed_turn.load(SeqCst));
            indexes.maintain();
            assert!(indexes.by_name(index.name()).is_some_and(|now| Arc::ptr_eq(&now, &index)), "it is not built anew");
            until_true("the next turn succeeds", || !index.has_failed_turn.load(SeqCst));
        }
        indexes.end_turn_with(&database, &index, storage::Error::Closed.into());
        assert!(index.failure().is_some());
        indexes.maintain();
        assert!(indexes.by_name(index.name()).is_some_and(|now| !Arc::ptr_eq(&now, &index)), "this one is");
    }
}
