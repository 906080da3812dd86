//! Epoch-based reclamation of page versions (MVCC garbage collection): a version is freed after every snapshot that might hold a
//! pointer to it has closed. Versions are recycled earlier beside a snapshot that stays open for long.
//!
//! A snapshot keeps the versions that it sees. A version that is newer than an open snapshot and was replaced again is visible to no
//! snapshot, but an older reader may still be traversing it in the version chain, so it cannot be freed. Instead it becomes the next
//! version *of the same page* ([`Reclaim::recycle`]). A reader that traverses it meanwhile finds it newer than its snapshot, before and
//! after, and behind it either the former rest of the chain or the newest versions once more: its path is longer, but ends at the same
//! version.
//!
//! So a page has about one version for each open snapshot, independent of the number of commits. Values over several pages (overflow
//! runs) are not recycled.

use crate::ids::SnapshotWord;
use crate::pager::frames::Versions;
use crate::pager::readers::Older;
use crate::pager::version::VersionPointer;
use std::collections::VecDeque;

/// Places of versions that were used again, beside fewer others, before the list is made anew.
const EMPTY_MIN: usize = 1024;

/// Versions that wait to be given back, oldest first. Behind the writer's lock.
#[derive(Default)]
pub(crate) struct Reclaim {
    waiting: VecDeque<Waiting>,
    /// The place of the first that waits; those behind it follow. Wraps.
    first_place: u32,
    /// Places whose version was used again.
    empty: usize,
    /// Versions that no snapshot can reach, but that a flush is still writing.
    pinned: Vec<VersionPointer>,
}

struct Waiting {
    /// Snapshots announced with this word or a newer one cannot reach the version.
    unreachable_from: SnapshotWord,
    /// `None`: it was used again.
    version: Option<VersionPointer>,
    /// The version that is in front of it: its way to `version` is cut when that goes.
    successor: Option<VersionPointer>,
}

impl Reclaim {
    /// A version was replaced by `successor` in a transaction whose snapshots carry `unreachable_from`.
    pub fn replaced(&mut self, unreachable_from: SnapshotWord, version: VersionPointer, successor: VersionPointer) {
        version.set_replaced(self.first_place.wrapping_add(self.waiting.len() as u32));
        self.waiting.push_back(Waiting { unreachable_from, version: Some(version), successor: Some(successor) });
    }

    /// A version was taken out of the page table altogether.
    pub fn unlinked(&mut self, unreachable_from: SnapshotWord, version: VersionPointer) {
        self.waiting.push_back(Waiting { unreachable_from, version: Some(version), successor: None });
    }

    /// Gives back what no snapshot from `oldest` on can reach, or keeps it for the next version of its page.
    pub fn collect(&mut self, oldest: SnapshotWord, versions: &Versions) {
        let ready = self.waiting.iter().take_while(|w| w.unreachable_from <= oldest).count();
        if ready == 0 {
            return;
        }
        self.first_place = self.first_place.wrapping_add(ready as u32);
        let (pinned, empty) = (&mut self.pinned, &mut self.empty);
        versions.give_back(self.waiting.drain(..ready).filter_map(|Waiting { version, successor, .. }| {
            let Some(version) = version else {
                *empty -= 1;
                return None;
            };
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

    /// Takes a version of the same page as `newest` out of the chain behind it that none of the open snapshots sees, nor any that will
    /// be opened: to be made the next version of that page, and nothing else. None is wanted where nothing old is open, which would keep
    /// it from being given back, or where `newest` has a spare.
    ///
    /// * `newest`: of a transaction that is sealed.
    /// * `older`: as seen when the running transaction began, after what could be given back had been.
    pub fn recycle(&mut self, newest: VersionPointer, older: &Older) -> Option<VersionPointer> {
        if older.is_empty() || newest.has_spare() {
            return None;
        }
        let mut successor = newest;
        while !older.is_published(successor.transaction()) {
            successor = successor.previous()?;
        }
        // Each snapshot sees one at most, and a flush may be writing one.
        for _ in 0..older.len() + 2 {
            let version = successor.previous()?;
            let is_seen = older.is_seen(version.transaction(), successor.transaction());
            if !is_seen && version.pages() == 1 && !version.is_pinned() {
                return self.take_out(version, successor);
            }
            successor = version;
        }
        None
    }

    fn take_out(&mut self, version: VersionPointer, successor: VersionPointer) -> Option<VersionPointer> {
        self.at(version)?.version = None;
        self.empty += 1;
        let behind = version.previous();
        if let Some(waiting) = behind.and_then(|behind| self.at(behind)) {
            waiting.successor = Some(successor);
        }
        successor.follows(version, behind);
        if self.empty > EMPTY_MIN && self.empty > self.waiting.len() / 2 {
            self.close_up();
        }
        Some(version)
    }

    /// What waits for a version that was replaced, if that is still there.
    fn at(&mut self, version: VersionPointer) -> Option<&mut Waiting> {
        let index = version.waits_at().wrapping_sub(self.first_place) as usize;
        self.waiting.get_mut(index).filter(|waiting| waiting.version == Some(version))
    }

    fn close_up(&mut self) {
        self.waiting.retain(|waiting| waiting.version.is_some());
        self.empty = 0;
        for (index, waiting) in self.waiting.iter().enumerate() {
            if let (Some(version), Some(_)) = (waiting.version, waiting.successor) {
                version.set_replaced(self.first_place.wrapping_add(index as u32));
            }
        }
    }

    /// The flush is over: gives back what it alone held.
    pub fn release_pinned(&mut self, versions: &Versions) {
        versions.give_back(self.pinned.drain(..));
    }

    /// Versions that wait.
    pub fn len(&self) -> usize {
        self.waiting.len() - self.empty
    }
}
