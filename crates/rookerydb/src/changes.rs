//! The documents that are written from now on.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use database::documents::{DocumentChange, Etag};
use database::{ChangeListener, Committed, TombstoneHolder};
use parking_lot::{Condvar, Mutex};

use crate::error::of_documents;
use crate::limits::CHANGES_AT_ONCE;
use crate::{Error, Result};

/// A document that was written or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// The id.
    pub id: String,
    /// The collection, if the document has one.
    pub collection: Option<String>,
    /// The version.
    pub change_vector: String,
    /// The number of the write. Rises from one change to the next.
    pub etag: u64,
}

/// What happened to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was stored.
    Put,
    /// It was deleted.
    Delete,
}

/// The documents that are written and deleted from now on, in the order of their writes. A document that is written again before it was
/// read here comes once, with its last write.
///
/// The iterator waits for the next change. It ends when the database is deleted, and when the last other handle to the store is dropped:
/// it does not keep the store open, and changes that it has not read by then are not returned. While it lives the database keeps the
/// tombstones (records of deletions) that it has not read.
///
/// ```
/// use rookerydb::ChangeKind;
/// use std::time::Duration;
///
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// let mut changes = shop.changes()?;
/// shop.put_json("users/1", "{}")?;
/// shop.delete("users/1")?;
/// shop.put_json("users/2", "{}")?;
///
/// let change = changes.next_within(Duration::from_secs(5))?.unwrap();
/// assert_eq!((change.kind, change.id.as_str()), (ChangeKind::Delete, "users/1"));
/// let change = changes.next_within(Duration::from_secs(5))?.unwrap();
/// assert_eq!((change.kind, change.id.as_str()), (ChangeKind::Put, "users/2"));
/// assert!(changes.next_within(Duration::ZERO)?.is_none());
/// # Ok(())
/// # }
/// ```
pub struct Changes {
    /// Weak: the files of a store must not stay open because a thread waits for changes.
    database: Weak<database::Database>,
    bell: Arc<Bell>,
    /// Changes that were read and not taken.
    read: VecDeque<Change>,
}

/// Is rung by commits.
#[derive(Default)]
struct Bell {
    state: Mutex<FeedState>,
    rung: Condvar,
    /// The etag up to which changes were read.
    seen: AtomicU64,
}

#[derive(Default)]
struct FeedState {
    last_etag: Etag,
    is_closed: bool,
}

impl Change {
    fn of(change: DocumentChange) -> Change {
        let DocumentChange { etag, id, collection, change_vector, is_deletion, counter: _ } = change;
        let kind = if is_deletion { ChangeKind::Delete } else { ChangeKind::Put };
        Change { kind, id, collection, change_vector, etag }
    }
}

impl ChangeListener for Bell {
    fn committed(&self, committed: Committed) {
        let mut state = self.state.lock();
        state.last_etag = state.last_etag.max(committed.last_etag);
        self.rung.notify_all();
    }

    fn closed(&self) {
        self.state.lock().is_closed = true;
        self.rung.notify_all();
    }
}

impl TombstoneHolder for Bell {
    fn seen_etag(&self) -> Etag {
        self.seen.load(SeqCst)
    }
}

impl Changes {
    pub(crate) fn begin(database: &Arc<database::Database>) -> Result<Changes> {
        let bell = Arc::new(Bell::default());
        // Nothing is lost in between: first it listens, then it looks where it begins.
        database.add_listener(bell.clone());
        database.add_tombstone_holder(bell.clone());
        let changes = Changes { database: Arc::downgrade(database), bell, read: VecDeque::new() };
        changes.bell.seen.store(database.read().last_etag().map_err(of_documents)?, SeqCst);
        if database.is_closed() {
            // It was closed before it had this listener.
            changes.bell.closed();
        }
        Ok(changes)
    }

    /// The next change. `None`: there was none within `wait`, or the database is closed.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn next_within(&mut self, wait: Duration) -> Result<Option<Change>> {
        self.next_until(Instant::now().checked_add(wait))
    }

    /// True once the database is closed or deleted: there will be no more changes.
    pub fn is_closed(&self) -> bool {
        self.bell.state.lock().is_closed
    }

    /// * `end`: `None` waits as long as it takes.
    fn next_until(&mut self, end: Option<Instant>) -> Result<Option<Change>> {
        loop {
            if self.read.is_empty() {
                self.read_more()?;
            }
            if let Some(change) = self.read.pop_front() {
                return Ok(Some(change));
            }
            let mut state = self.bell.state.lock();
            let is_gone = self.database.strong_count() == 0;
            if state.last_etag > self.bell.seen.load(SeqCst) && !is_gone {
                continue;
            }
            if state.is_closed || is_gone {
                return Ok(None);
            }
            match end {
                None => self.bell.rung.wait(&mut state),
                Some(end) => {
                    if self.bell.rung.wait_until(&mut state, end).timed_out() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn read_more(&mut self) -> Result<()> {
        let Some(database) = self.database.upgrade() else { return Ok(()) };
        let seen = self.bell.seen.load(SeqCst);
        let (changes, until) = database.read().document_changes(seen, CHANGES_AT_ONCE).map_err(of_documents)?;
        self.read.extend(changes.into_iter().map(Change::of));
        self.bell.seen.store(until, SeqCst);
        Ok(())
    }
}

impl Iterator for Changes {
    type Item = Result<Change, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_until(None).transpose()
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        let Some(database) = self.database.upgrade() else { return };
        let listener: Arc<dyn ChangeListener> = self.bell.clone();
        database.remove_listener(&listener);
        let holder: Arc<dyn TombstoneHolder> = self.bell.clone();
        database.remove_tombstone_holder(&holder);
    }
}
