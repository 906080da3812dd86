//! Wakes the connections of subscriptions, and readers of the change feed, whose collection has something new.
//!
//! A commit rings one bell for each database. A task then looks at the last etag of everything that connections wait for, and wakes
//! those whose has risen: a thousand subscriptions that rest cost a write nothing but the bell.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use database::documents::{Etag, ItemKind, Snapshot};
use database::{ChangeListener, Committed, Database};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

/// What a reader waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Watched {
    /// Whose items.
    pub kinds: Vec<ItemKind>,
    /// In any case; `None`: of all collections.
    pub collection: Option<String>,
    /// Whether deletions count.
    pub deletions: bool,
}

impl Watched {
    /// The last etag of it.
    fn last(&self, snapshot: &Snapshot<'_>) -> database::documents::Result<Etag> {
        let mut last = 0;
        for kind in &self.kinds {
            let etags = snapshot.last_etags(*kind, self.collection.as_deref())?;
            last = etags.items.max(if self.deletions { etags.tombstones } else { 0 }).max(last);
        }
        Ok(last)
    }
}

/// The bells of all databases where a reader waits.
#[derive(Debug, Default)]
pub(crate) struct Bells {
    open: Mutex<Vec<Weak<Bell>>>,
}

impl Bells {
    /// That of a database; who first asks for it starts it.
    pub fn of(&self, database: &Arc<Database>) -> Arc<Bell> {
        let mut open = self.open.lock();
        open.retain(|bell| bell.strong_count() > 0);
        let found = open.iter().filter_map(Weak::upgrade).find(|bell| Arc::ptr_eq(&bell.database, database));
        found.unwrap_or_else(|| {
            let bell = Bell::start(database.clone());
            open.push(Arc::downgrade(&bell));
            bell
        })
    }
}

/// The bell of one database.
#[derive(Debug)]
pub(crate) struct Bell {
    database: Arc<Database>,
    listener: Arc<Listener>,
    /// The last etag that was seen of what is waited for.
    seen: Mutex<HashMap<Watched, watch::Sender<Etag>>>,
}

#[derive(Debug, Default)]
struct Listener {
    rung: Notify,
    is_closed: AtomicBool,
}

impl ChangeListener for Listener {
    fn committed(&self, _: Committed) {
        self.rung.notify_one();
    }

    fn closed(&self) {
        self.is_closed.store(true, Relaxed);
        self.rung.notify_one();
    }
}

impl Bell {
    fn start(database: Arc<Database>) -> Arc<Bell> {
        let bell = Arc::new(Bell { database, listener: Arc::default(), seen: Mutex::default() });
        bell.database.add_listener(bell.listener.clone());
        tokio::spawn(follow(Arc::downgrade(&bell), bell.listener.clone()));
        bell
    }

    /// Changes when something of this was written, or the database was closed.
    pub fn watch(&self, watched: Watched) -> watch::Receiver<Etag> {
        let mut seen = self.seen.lock();
        seen.retain(|_, sender| sender.receiver_count() > 0);
        seen.entry(watched).or_insert_with(|| watch::channel(0).0).subscribe()
    }

    /// Looks at the database once.
    fn look(&self) -> database::Result<()> {
        let snapshot = self.database.read();
        for (watched, sender) in &*self.seen.lock() {
            let last = watched.last(&snapshot)?;
            sender.send_if_modified(|seen| std::mem::replace(seen, last) != last);
        }
        Ok(())
    }

    /// Wakes all, who then find out why.
    fn wake_all(&self) {
        self.seen.lock().values().for_each(|sender| sender.send_modify(|_| ()));
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        let listener: Arc<dyn ChangeListener> = self.listener.clone();
        self.database.remove_listener(&listener);
        // Its task finds it gone.
        self.listener.rung.notify_one();
    }
}

async fn follow(bell: Weak<Bell>, listener: Arc<Listener>) {
    loop {
        listener.rung.notified().await;
        let Some(held) = bell.upgrade() else { return };
        if listener.is_closed.load(Relaxed) {
            return held.wake_all();
        }
        // On a thread that may wait: pages may have to come from the disk.
        let looked = tokio::task::spawn_blocking(move || {
            let looked = held.look();
            if let Err(error) = &looked {
                tracing::warn!(database = held.database.name(), %error, "what is new cannot be seen");
                // Those who wait read themselves, and tell their clients.
                held.wake_all();
            }
        });
        if let Err(error) = looked.await {
            tracing::error!(%error, "a look at what is new met a bug");
        }
    }
}
