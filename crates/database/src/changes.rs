//! The signal that something was committed, for everything that pulls changes.

use std::sync::Arc;

use documents::Etag;
use parking_lot::RwLock;

/// What was committed. It says that there is something to pull, not what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The last etag of the database after this commit. Signals may come out of order; only the highest counts.
    pub last_etag: Etag,
}

/// Is told after each commit that changed documents. Called on the thread that committed: it must only note and wake.
pub trait ChangeListener: Send + Sync {
    /// Something was committed.
    fn committed(&self, committed: Committed);

    /// The database was closed: there will be no more commits, and it is to be let go of.
    fn closed(&self) {}
}

#[derive(Default)]
pub(crate) struct Listeners {
    all: RwLock<Vec<Arc<dyn ChangeListener>>>,
}

impl Listeners {
    pub fn add(&self, listener: Arc<dyn ChangeListener>) {
        self.all.write().push(listener);
    }

    pub fn remove(&self, listener: &Arc<dyn ChangeListener>) {
        self.all.write().retain(|other| !Arc::ptr_eq(other, listener));
    }

    pub fn tell_closed(&self) {
        self.all.read().iter().for_each(|listener| listener.closed());
    }

    pub fn tell(&self, last_etag: Etag) {
        self.all.read().iter().for_each(|listener| listener.committed(Committed { last_etag }));
    }
}
