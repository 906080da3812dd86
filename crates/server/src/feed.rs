//! The change feed of one database: one reader with fan-out to all watchers.
//!
//! Writers only send a wake-up. One task for each watched database pulls the changes after an etag from a snapshot, like all consumers
//! of changes, and buffers them until each watcher has taken them. A document that is written twice in between is reported once, with
//! its latest state, and a slow watcher delays no other. No watcher misses a change: tombstones stay until they are pulled, and a
//! watcher that falls behind the buffer ([`CHANGES_KEPT_SIZE_MAX`]) is notified of that.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use database::documents::{ChangedCounter, DocumentChange, Etag, id};
use database::{ChangeListener, Committed, Database, IndexChange, TombstoneHolder};
use parking_lot::Mutex;
use tokio::sync::{Notify, broadcast, watch};

use crate::error::Result;
use crate::limits::{CHANGES_FRAME_COUNT_MAX, CHANGES_KEPT_SIZE_MAX, INDEX_CHANGES_KEPT_MAX};

/// One change of a document, or of a counter of it.
#[derive(Debug)]
pub(crate) struct Change {
    etag: Etag,
    pub(crate) kind: &'static str,
    pub(crate) id: String,
    pub(crate) collection: Option<String>,
    pub(crate) change_vector: String,
    /// Keys of id and collection, by which they are compared.
    pub(crate) id_key: String,
    pub(crate) collection_key: Option<String>,
    /// The counter, with the key of its name; `None`: the document itself was changed.
    pub(crate) counter: Option<(ChangedCounter, String)>,
}

impl Change {
    fn of(change: DocumentChange) -> Arc<Change> {
        let DocumentChange { etag, id, collection, change_vector, is_deletion, counter } = change;
        let kind = match &counter {
            _ if is_deletion => "Delete",
            Some(counter) if !counter.is_new => "Increment",
            _ => "Put",
        };
        let counter = counter.map(|counter| {
            let key = id::lower_text(&counter.name);
            (counter, key)
        });
        let (id_key, collection_key) = (id::lower_text(&id), collection.as_deref().map(id::lower_text));
        Arc::new(Change { etag, kind, id, collection, change_vector, id_key, collection_key, counter })
    }

    /// Bytes in memory, about.
    fn size(&self) -> usize {
        let collection = self.collection.as_ref().map_or(0, String::len);
        let counter = self.counter.as_ref().map_or(0, |(counter, _)| counter.name.len());
        size_of::<Change>() + 2 * (self.id.len() + collection + counter) + self.change_vector.len()
    }
}

/// The feeds of all databases that are watched.
#[derive(Debug, Default)]
pub(crate) struct Feeds {
    open: Mutex<Vec<Weak<Feed>>>,
}

impl Feeds {
    /// The feed of a database; who first asks for it starts it.
    pub(crate) fn of(&self, database: &Arc<Database>) -> Result<Arc<Feed>> {
        if let Some(feed) = self.find(database) {
            return Ok(feed);
        }
        let feed = Feed::start(database.clone())?;
        // Somebody else may have been quicker; then there are two for a while, which does no harm.
        self.open.lock().push(Arc::downgrade(&feed));
        Ok(feed)
    }

    fn find(&self, database: &Arc<Database>) -> Option<Arc<Feed>> {
        let mut open = self.open.lock();
        open.retain(|feed| feed.strong_count() > 0);
        let mut feeds = open.iter().filter_map(Weak::upgrade);
        feeds.find(|feed| Arc::ptr_eq(&feed.database, database) && !feed.bell.is_closed.load(Relaxed))
    }
}

/// The recent changes of one database.
#[derive(Debug)]
pub(crate) struct Feed {
    database: Arc<Database>,
    bell: Arc<Bell>,
    recent: Mutex<Recent>,
    news: watch::Sender<News>,
}

/// A notification of a feed to its watchers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    /// There may be changes to take.
    Changes,
    /// There will be none any more, because of this.
    End(&'static str),
}

/// An event of an index.
#[derive(Clone, Debug)]
pub(crate) struct IndexNews {
    pub(crate) change: IndexChange,
    pub(crate) name: Arc<str>,
    /// In lower case, which is how it is compared.
    pub(crate) key: Arc<str>,
}

/// The changes that somebody has not taken yet, by etag.
#[derive(Debug, Default)]
struct Recent {
    /// The last change that was forgotten.
    since: Etag,
    /// What was pulled.
    until: Etag,
    changes: VecDeque<Arc<Change>>,
    size: usize,
    /// Up to where each watcher has taken them.
    places: HashMap<u64, Etag>,
    next_place: u64,
    /// The watchers of counters. Without one, changes of counters are not pulled.
    of_counters: HashSet<u64>,
}

impl Recent {
    /// Forgets what all have taken, and the oldest beyond the bound.
    fn trim(&mut self) {
        let taken = self.places.values().copied().min().unwrap_or(self.until);
        while let Some(first) = self.changes.front() {
            if first.etag > taken && self.size <= CHANGES_KEPT_SIZE_MAX {
                return;
            }
            self.size -= first.size();
            self.since = first.etag;
            self.changes.pop_front();
        }
    }
}

/// Wakes a feed.
#[derive(Debug)]
struct Bell {
    rung: Notify,
    is_closed: AtomicBool,
    /// Tombstones above it are still needed.
    seen_etag: AtomicU64,
    indexes: broadcast::Sender<IndexNews>,
}

impl ChangeListener for Bell {
    fn index_changed(&self, change: IndexChange, name: &str) {
        if self.indexes.receiver_count() > 0 {
            let key = id::lower_text(name).into();
            // Without a receiver no change is missed.
            let _ = self.indexes.send(IndexNews { change, name: name.into(), key });
        }
    }

    fn committed(&self, _: Committed) {
        self.rung.notify_one();
    }

    fn closed(&self) {
        self.is_closed.store(true, Relaxed);
        self.rung.notify_one();
    }
}

impl TombstoneHolder for Bell {
    fn seen_etag(&self) -> Etag {
        self.seen_etag.load(Relaxed)
    }
}

impl Feed {
    fn start(database: Arc<Database>) -> Result<Arc<Feed>> {
        let (indexes, _) = broadcast::channel(INDEX_CHANGES_KEPT_MAX);
        let (is_closed, seen_etag) = (AtomicBool::new(false), AtomicU64::new(0));
        let bell = Arc::new(Bell { rung: Notify::new(), is_closed, seen_etag, indexes });
        // It rings for whatever comes after the etag that is read next.
        let feed =
            Feed { database, bell: bell.clone(), recent: Mutex::default(), news: watch::channel(News::Changes).0 };
        feed.database.add_listener(bell.clone());
        feed.database.add_tombstone_holder(bell.clone());
        let etag = feed.database.read().last_etag()?;
        bell.seen_etag.store(etag, Relaxed);
        let mut recent = feed.recent.lock();
        (recent.since, recent.until) = (etag, etag);
        drop(recent);
        if feed.database.is_closed() || feed.database.has_moved() {
            bell.closed();
        }
        let feed = Arc::new(feed);
        tokio::spawn(follow(Arc::downgrade(&feed), bell));
        Ok(feed)
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Becomes new when there is something to take, or the end.
    pub(crate) fn news(&self) -> watch::Receiver<News> {
        self.news.subscribe()
    }

    /// What happens to indexes from now on.
    pub(crate) fn watch_indexes(&self) -> broadcast::Receiver<IndexNews> {
        self.bell.indexes.subscribe()
    }

    /// Watches from now on: whatever is committed after this is told.
    pub(crate) fn watch(self: &Arc<Self>) -> Result<FeedCursor> {
        let etag = self.database.read().last_etag()?;
        let mut recent = self.recent.lock();
        let (number, etag) = (recent.next_place, etag.max(recent.until));
        recent.next_place += 1;
        recent.places.insert(number, etag);
        Ok(FeedCursor { feed: self.clone(), number })
    }

    /// Sends all watchers away, and takes no new ones.
    fn end(&self, reason: &'static str) {
        self.bell.is_closed.store(true, Relaxed);
        self.news.send_replace(News::End(reason));
    }

    /// Looks once at the database; true if there is more behind it already.
    fn pull(&self) -> Result<bool> {
        let snapshot = self.database.read();
        let now = snapshot.last_etag()?;
        // After the snapshot: a watcher of counters that comes later has seen what it shows.
        let (since, has_counters) = {
            let mut recent = self.recent.lock();
            if recent.places.is_empty() {
                recent.until = now.max(recent.until);
                recent.trim();
                self.bell.seen_etag.store(now, Relaxed);
                return Ok(false);
            }
            (recent.until, !recent.of_counters.is_empty())
        };
        let (changes, until) = match has_counters {
            true => snapshot.document_and_counter_changes(since, CHANGES_FRAME_COUNT_MAX)?,
            false => snapshot.document_changes(since, CHANGES_FRAME_COUNT_MAX)?,
        };
        let changes: Vec<_> = changes.into_iter().map(Change::of).collect();
        let mut recent = self.recent.lock();
        recent.size += changes.iter().map(|change| change.size()).sum::<usize>();
        recent.changes.extend(changes);
        recent.until = until;
        recent.trim();
        self.bell.seen_etag.store(until, Relaxed);
        Ok(until < now)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        let listener: Arc<dyn ChangeListener> = self.bell.clone();
        self.database.remove_listener(&listener);
        let holder: Arc<dyn TombstoneHolder> = self.bell.clone();
        self.database.remove_tombstone_holder(&holder);
        // Its task finds it gone.
        self.bell.rung.notify_one();
    }
}

/// Pulls after each wake-up, until the feed has no holder or the database is closed.
async fn follow(feed: Weak<Feed>, bell: Arc<Bell>) {
    loop {
        bell.rung.notified().await;
        let Some(held) = feed.upgrade() else { return };
        if bell.is_closed.load(Relaxed) {
            return held.end("its database was disabled or deleted");
        }
        // On a thread that may wait: pages may have to come from the disk.
        let pulled = tokio::task::spawn_blocking(move || (held.pull(), held)).await;
        match pulled {
            Ok((Ok(is_cut), held)) => {
                held.news.send_replace(News::Changes);
                if is_cut {
                    bell.rung.notify_one();
                }
            }
            Ok((Err(error), held)) => {
                tracing::warn!(database = held.database.name(), %error, "changes cannot be told");
                return held.end("changes cannot be read");
            }
            Err(error) => {
                tracing::error!(%error, "a look at changes met a bug");
                return feed.upgrade().map_or((), |held| held.end("changes cannot be read"));
            }
        }
    }
}

/// A watcher's place in a feed. What it has not taken is kept while it lives.
#[derive(Debug)]
pub(crate) struct FeedCursor {
    feed: Arc<Feed>,
    number: u64,
}

/// The changes that one call of [`FeedCursor::take`] returns.
#[derive(Debug, Default)]
pub(crate) struct ChangePage {
    pub(crate) changes: Vec<Arc<Change>>,
    /// There is more.
    pub(crate) is_cut: bool,
}

impl FeedCursor {
    /// Whether it takes changes of counters, those after this call.
    pub(crate) fn set_watches_counters(&self, watches: bool) {
        let mut recent = self.feed.recent.lock();
        match watches {
            true => recent.of_counters.insert(self.number),
            false => recent.of_counters.remove(&self.number),
        };
    }

    /// The changes since the last time; None if some of them are no longer kept.
    pub(crate) fn take(&self) -> Option<ChangePage> {
        let mut recent = self.feed.recent.lock();
        let place = *recent.places.get(&self.number)?;
        if place < recent.since {
            return None;
        }
        let first = recent.changes.partition_point(|change| change.etag <= place);
        let changes: Vec<_> = recent.changes.range(first..).take(CHANGES_FRAME_COUNT_MAX).cloned().collect();
        let is_cut = first + changes.len() < recent.changes.len();
        let until = if is_cut { changes.last().map_or(place, |change| change.etag) } else { recent.until.max(place) };
        recent.places.insert(self.number, until);
        Some(ChangePage { changes, is_cut })
    }
}

impl Drop for FeedCursor {
    fn drop(&mut self) {
        let mut recent = self.feed.recent.lock();
        recent.places.remove(&self.number);
        recent.of_counters.remove(&self.number);
        recent.trim();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(etag: Etag, size: usize) -> Arc<Change> {
        let (id, change_vector) = ("x".repeat(size), String::new());
        Change::of(DocumentChange { etag, id, collection: None, change_vector, is_deletion: false, counter: None })
    }

    #[test]
    fn changes_are_kept_until_all_have_taken_them_or_they_are_too_many() {
        let mut recent = Recent::default();
        recent.places.extend([(1, 3), (2, 5)]);
        for etag in 1..=6 {
            recent.size += change(etag, 1).size();
            recent.changes.push_back(change(etag, 1));
            recent.until = etag;
        }
        recent.trim();
        assert_eq!((recent.changes.len(), recent.since), (3, 3), "the first watcher has not taken 4 to 6");
        recent.places.remove(&1);
        recent.trim();
        assert_eq!((recent.changes.len(), recent.since), (1, 5));
        for etag in 7..=10 {
            recent.size += change(etag, CHANGES_KEPT_SIZE_MAX / 8).size();
            recent.changes.push_back(change(etag, CHANGES_KEPT_SIZE_MAX / 8));
        }
        recent.trim();
        assert_eq!((recent.changes.len(), recent.since), (3, 7), "the second watcher has missed 6 and 7");
        assert_eq!(recent.size, recent.changes.iter().map(|change| change.size()).sum::<usize>());
    }
}
