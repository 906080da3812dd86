//! Wakes the connections of subscriptions whose collection has new documents.
//!
//! A commit rings one bell for each database. A task then looks at the last etag of each collection that connections wait for, and wakes
//! those whose has risen: a thousand subscriptions that rest cost a write nothing but the bell.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use database::documents::{Etag, ItemKind};
use database::{ChangeListener, Committed, Database};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

/// The bells of all databases that have subscriptions with workers.
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
    /// The last etag that was seen of each collection that connections wait for; `None`: of all documents.
    seen: Mutex<HashMap<Option<String>, watch::Sender<Etag>>>,
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

    /// Changes when a document of a collection was written, or the database was closed.
    ///
    /// * `collection`: `None`: any.
    pub fn watch(&self, collection: Option<String>) -> watch::Receiver<Etag> {
        let mut seen = self.seen.lock();
        seen.retain(|_, sender| sender.receiver_count() > 0);
        seen.entry(collection).or_insert_with(|| watch::channel(0).0).subscribe()
    }

    /// Looks at the database once.
    fn look(&self) -> database::Result<()> {
        let snapshot = self.database.read();
        for (collection, sender) in &*self.seen.lock() {
            let last = snapshot.last_etags(ItemKind::Document, collection.as_deref())?.items;
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
                tracing::warn!(database = held.database.name(), %error, "subscriptions cannot see what is new");
                // They read themselves, and tell their clients.
                held.wake_all();
            }
        });
        if let Err(error) = looked.await {
            tracing::error!(%error, "a look for subscriptions met a bug");
        }
    }
}
