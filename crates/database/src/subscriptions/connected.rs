//! The workers of all subscriptions of a database.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::live::{Live, WorkerEnd};

/// The subscriptions of a database, as far as they are in memory.
#[derive(Default)]
pub(crate) struct Subscriptions {
    /// By id. One that has no workers is left out.
    pub(super) live: Mutex<HashMap<u64, Arc<Live>>>,
    /// Changes one after the other, and none while a worker connects.
    pub(super) changing: RwLock<()>,
}

impl Subscriptions {
    pub(super) fn live(&self, id: u64) -> Arc<Live> {
        let mut live = self.live.lock();
        // Those without a worker go when another one is looked for.
        live.retain(|known, live| *known == id || Arc::strong_count(live) > 1 || !live.is_unused());
        live.entry(id).or_default().clone()
    }

    pub(super) fn find(&self, id: u64) -> Option<Arc<Live>> {
        self.live.lock().get(&id).cloned()
    }

    pub(super) fn send_away(&self, id: u64, end: WorkerEnd, worker_id: Option<&str>) {
        if let Some(live) = self.find(id) {
            live.send_away(end, worker_id);
        }
    }
}
