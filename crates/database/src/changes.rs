//! The signal that something was committed, for everything that pulls changes.

use std::sync::Arc;

use arc_swap::ArcSwap;
use documents::Etag;

/// What was committed. It says that there is something to pull, not what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The last etag of the database after this commit. Signals may come out of order; only the highest counts.
    pub last_etag: Etag,
}

/// What happened to an index.
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

/// Is told after each commit that changed documents, and what happens to indexes. Called on the thread that committed: it must
/// only note and wake.
pub trait ChangeListener: Send + Sync {
    /// Something was committed.
    fn committed(&self, committed: Committed);

    /// Something happened to the index of this name.
    fn index_changed(&self, _change: IndexChange, _name: &str) {}

    /// The database was closed: there will be no more commits, and it is to be let go of.
    fn closed(&self) {}
}

#[derive(Default)]
pub(crate) struct Listeners {
    /// No lock: each commit reads it, and listeners may add and remove while they are told.
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

    pub fn tell(&self, last_etag: Etag) {
        self.all.load_full().iter().for_each(|listener| listener.committed(Committed { last_etag }));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};
    use std::time::Duration;

    use super::*;

    /// Who is told may let go of the database, or add another: a lock that is held meanwhile would wait for itself.
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
            listeners.tell(1);
            sender.send(listeners.is_empty()).unwrap();
        });
        assert_eq!(told.recv_timeout(Duration::from_secs(20)), Ok(true));
    }
}
