//! When old versions can go: after every snapshot that might hold a pointer to one has closed.

use crate::ids::SnapshotWord;
use crate::pager::frames::{VersionPointer, Versions};
use std::collections::VecDeque;

/// Versions that wait to be given back, oldest first. Behind the writer's lock.
#[derive(Default)]
pub(crate) struct Reclaim {
    waiting: VecDeque<Waiting>,
    /// What nobody can reach, but a flush is writing.
    pinned: Vec<VersionPointer>,
}

struct Waiting {
    /// Snapshots announced with this word or a newer one cannot reach the version.
    unreachable_from: SnapshotWord,
    version: VersionPointer,
    /// The version that was put in front of it: its way to `version` is cut when that goes.
    successor: Option<VersionPointer>,
}

impl Reclaim {
    /// A version was replaced by `successor` in a transaction whose snapshots carry `unreachable_from`.
    pub fn replaced(&mut self, unreachable_from: SnapshotWord, version: VersionPointer, successor: VersionPointer) {
        version.set_replaced();
        self.waiting.push_back(Waiting { unreachable_from, version, successor: Some(successor) });
    }

    /// A version was taken out of the page table altogether.
    pub fn unlinked(&mut self, unreachable_from: SnapshotWord, version: VersionPointer) {
        self.waiting.push_back(Waiting { unreachable_from, version, successor: None });
    }

    /// Gives back what no snapshot from `oldest` on can reach, or keeps it for the next version of its page.
    pub fn collect(&mut self, oldest: SnapshotWord, versions: &Versions) {
        let ready = self.waiting.iter().take_while(|w| w.unreachable_from <= oldest).count();
        if ready == 0 {
            return;
        }
        let pinned = &mut self.pinned;
        versions.give_back(self.waiting.drain(..ready).filter_map(|Waiting { version, successor, .. }| {
            if let Some(successor) = successor {
                // The successor is replaced later, so it waits further back and is still alive.
                successor.set_previous(None);
            }
            if version.is_pinned() {
                pinned.push(version);
                return None;
            }
            let is_spare = successor.is_some_and(|successor| versions.keep_as_spare(version, successor));
            (!is_spare).then_some(version)
        }));
    }

    /// The flush is over: gives back what it alone held.
    pub fn release_pinned(&mut self, versions: &Versions) {
        versions.give_back(self.pinned.drain(..));
    }

    /// Versions that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }
}
