//! Notification of commits, for consumers that pull changes.

use std::sync::Arc;

use arc_swap::ArcSwap;
use documents::Etag;

/// A commit notification. It says that there are changes to pull, not which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The last etag of the database after this commit. Signals may come out of order; only the highest counts.
    pub last_etag: Etag,
}

/// An event of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexChange {
    /// It was made.
    Added,
    /// It was deleted.
    Removed,
    /// It took a batch of what was written.
    BatchCompleted,
    /// It stands in for another of its name now.
    Replaced,
    /// Too many documents failed, or it was damaged.
    Failed,
    /// It is not kept up to date for now.
    Paused,
    /// It is not kept up to date until it is enabled.
    Disabled,
    /// Whether it may be changed is another now.
    LockModeChanged,
    /// Its share of the threads is another now.
    PriorityChanged,
}

/// Listener of commits that changed documents, and of index events. It is called on the committing thread, so it must only record
/// the event and wake a consumer.
pub trait ChangeListener: Send + Sync {
    /// Something was committed.
    fn committed(&self, committed: Committed);

    /// Something happened to the index of this name.
    fn index_changed(&self, _change: IndexChange, _name: &str) {}

    /// The database was closed: there will be no further commits, and the listener must drop its handle.
    fn closed(&self) {}
}

#[derive(Default)]
pub(crate) struct Listeners {
    /// Lock-free: each commit reads it, and a listener may add or remove listeners while it is called.
    all: ArcSwap<Vec<Arc<dyn ChangeListener>>>,
}

impl Listeners {
    pub fn add(&self, listener: Arc<dyn ChangeListener>) {
        self.all.rcu(|all| all.iter().chain([&listener]).cloned().collect::<Vec<_>>());
    }

    pub fn remove(&self, listener: &Arc<dyn ChangeListener>) {
        self.all.rcu(|all| all.iter().filter(|other| !Arc::ptr_eq(other, listener)).cloned().collect::<Vec<_>>());
    }

    pub fn is_empty(&self) -> bool {
        self.all.load().is_empty()
    }

    pub fn tell_closed(&self) {
        self.all.load_full().iter().for_each(|listener| listener.closed());
    }

    pub fn tell_of_index(&self, change: IndexChange, name: &str) {
        self.all.load_full().iter().for_each(|listener| listener.index_changed(change, name));
    }

    pub fn notify_committed(&self, last_etag: Etag) {
        self.all.load_full().iter().for_each(|listener| listener.committed(Committed { last_etag }));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use super::*;

    /// A listener may drop the database or add a listener, so a lock held during the calls would deadlock.
    #[test]
    fn a_listener_may_remove_itself_when_it_is_told() {
        struct Once {
            listeners: Arc<Listeners>,
            myself: Mutex<Option<Arc<dyn ChangeListener>>>,
        }
        impl ChangeListener for Once {
            fn committed(&self, _: Committed) {
                if let Some(myself) = self.myself.lock().unwrap().take() {
                    self.listeners.remove(&myself);
                }
            }
        }
        let listeners = Arc::new(Listeners::default());
        let once = Arc::new(Once { listeners: listeners.clone(), myself: Mutex::default() });
        *once.myself.lock().unwrap() = Some(once.clone());
        listeners.add(once);
        let (sender, told) = mpsc::channel();
        std::thread::spawn(move || {
            listeners.notify_committed(1);
            sender.send(listeners.is_empty()).unwrap();
        });
        assert_eq!(told.recv_timeout(testing::wait::LONG), Ok(true));
    }
}
