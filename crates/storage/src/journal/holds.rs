//! Holds: journal files that are kept although a checkpoint passed them (WAL retention, as by replication slots of PostgreSQL), for an
//! image that is being written and for an archive.
//!
//! A hold is bounded in bytes. Past its bound the oldest files are let go all the same: no write ever waits for a slow destination. The
//! reader that needed them sees that its hold was raised beyond its place ([`HoldFrom`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of the first file that a hold keeps. The reader of the files looks here without the writer's lock.
pub(crate) type HoldFrom = Arc<AtomicU64>;

struct Hold {
    from: HoldFrom,
    bytes_max: u64,
}

/// The holds of one environment. Behind the writer's lock.
#[derive(Default)]
pub(crate) struct Holds {
    images: Vec<Hold>,
    archive: Option<Hold>,
}

impl Holds {
    /// Keeps the files from number `from` on, until the hold is released.
    pub fn add(&mut self, from: u64, bytes_max: u64) -> HoldFrom {
        let from: HoldFrom = Arc::new(AtomicU64::new(from));
        self.images.push(Hold { from: from.clone(), bytes_max });
        from
    }

    pub fn release(&mut self, from: &HoldFrom) {
        self.images.retain(|hold| !Arc::ptr_eq(&hold.from, from));
    }

    /// Keeps the files from number `from` on for an archive, or changes the bound of that; `None` ends it.
    pub fn set_archive(&mut self, from: u64, bytes_max: Option<u64>) {
        self.archive = bytes_max.map(|bytes_max| match self.archive.take() {
            Some(hold) => Hold { bytes_max, ..hold },
            None => Hold { from: Arc::new(AtomicU64::new(from)), bytes_max },
        });
    }

    /// The first file that is kept for the archive, if there is one.
    pub fn archive(&self) -> Option<&HoldFrom> {
        self.archive.as_ref().map(|hold| &hold.from)
    }

    /// The first file that has to be kept: `needed_from`, or an earlier one that is held.
    ///
    /// * `older`: number and bytes of the files before `needed_from`, by rising number. Holds that keep more of them than they may are
    ///   raised.
    pub fn kept_from(&self, needed_from: u64, older: impl Iterator<Item = (u64, u64)> + Clone) -> u64 {
        let mut kept_from = needed_from;
        for hold in self.images.iter().chain(&self.archive) {
            let from = hold.from.load(Ordering::Relaxed);
            let mut bytes = 0;
            let mut held: Vec<(u64, u64)> = older.clone().filter(|(number, _)| *number >= from).collect();
            // From the newest back, as many as the bound allows.
            let lost = held.iter().rposition(|(_, size)| {
                bytes += size;
                bytes > hold.bytes_max
            });
            if let Some(lost) = lost {
                held.drain(..=lost);
                let raised = held.first().map_or(needed_from, |(number, _)| *number);
                hold.from.store(raised, Ordering::Relaxed);
                tracing::warn!(
                    bytes_max = hold.bytes_max,
                    "a journal that was kept for a backup grew over its bound and is not kept any more"
                );
            }
            kept_from = kept_from.min(hold.from.load(Ordering::Relaxed));
        }
        kept_from
    }
}

/// Says that the files before `from` are not needed any more by the reader of a hold.
pub(crate) fn raise(hold: &HoldFrom, from: u64) {
    hold.fetch_max(from, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_keeps_files_up_to_its_bound() {
        let mut holds = Holds::default();
        let older = || (1..=4).map(|number| (number, 10));
        assert_eq!(holds.kept_from(5, older()), 5);
        let image = holds.add(2, 30);
        assert_eq!(holds.kept_from(5, older()), 2);
        assert_eq!(holds.kept_from(6, (2..=5).map(|number| (number, 10))), 3, "the oldest is let go");
        assert_eq!(image.load(Ordering::Relaxed), 3);
        holds.set_archive(1, Some(1000));
        assert_eq!(holds.kept_from(5, older()), 1);
        raise(holds.archive().unwrap(), 4);
        assert_eq!(holds.kept_from(5, older()), 3);
        holds.release(&image);
        assert_eq!(holds.kept_from(5, older()), 4);
        holds.set_archive(1, Some(5));
        assert_eq!(holds.kept_from(5, older()), 5, "no file is within the bound");
        holds.set_archive(1, None);
        assert!(holds.archive().is_none());
    }
}
