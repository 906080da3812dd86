//! Every schedule, and everything that the memory model allows, of the lock-free parts: announcing a snapshot against
//! publishing and using pages again, the chain of versions, slots, and the hand-over of a job. The code is the engine's; the
//! models only call it as transactions do.
//!
//! `make schedules` runs them. Complete up to 3 preemptions (Musuvathi and Qadeer, "Iterative Context Bounding", PLDI 2007: few
//! faults need more). With the feature `planted-bugs` each bug of [`crate::planted`] that is about schedules has to be found.

use crate::ids::{PageNumber, SnapshotWord, TransactionId};
use crate::io::simulated::SimulatedIo;
use crate::io::{Io, OpenMode};
use crate::limits::PAGE_SIZE;
use crate::page::{self, Kind};
use crate::pager::Page;
use crate::pager::changes::{Lines, PageMut};
use crate::pager::readers::{Announced, Older, Readers};
use crate::pager::table::PageTable;
use crate::pager::version::VersionPointer;
use crate::transaction::job::{StackJob, Wake};
use crate::transaction::reclaim::Reclaim;
use loom::thread::spawn;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const PREEMPTIONS_MAX: usize = 3;
const NUMBER: PageNumber = PageNumber(1);
const ENVIRONMENT: u128 = 7;

/// Runs a model in every schedule, and says how many there were.
fn check(name: &str, model: impl Fn() + Sync + Send + 'static) {
    let count = Arc::new(AtomicU64::new(0));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS_MAX);
    builder.max_branches = 20_000;
    let counted = count.clone();
    builder.check(move || {
        #[cfg(feature = "planted-bugs")]
        crate::sync::planted_tests::plant_if_asked();
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let count = count.load(Ordering::Relaxed);
    println!("{name}: complete, {count} executions");
}

fn word_of(transaction: u64) -> SnapshotWord {
    SnapshotWord::of(TransactionId(transaction))
}

fn mark_of(page: &Page) -> u8 {
    page[PAGE_SIZE / 2]
}

/// What the parts of the models share.
struct Core {
    table: PageTable,
    readers: Arc<Readers>,
}

impl Core {
    /// Transaction 1 is published, and page [`NUMBER`] is marked by it.
    fn in_memory() -> Arc<Core> {
        let table = PageTable::new(None, PathBuf::new(), ENVIRONMENT, verify);
        table.extend(4).unwrap();
        let core = Core { table, readers: Readers::new(word_of(1)) };
        core.change(1);
        Arc::new(core)
    }

    /// The same, but that the page is in the file, of this level in a tree.
    fn over_file(level: u8) -> Arc<Core> {
        let file = SimulatedIo::new().open(Path::new("/data"), OpenMode::Create).unwrap();
        let (mut bytes, mut lines) = ([1; PAGE_SIZE], Lines::NONE);
        page::set_kind(&mut PageMut::new(&mut bytes, &mut lines), Kind::Tree, level);
        file.write_at(&bytes.repeat(4), 0).unwrap();
        let table = PageTable::new(Some(file), PathBuf::new(), ENVIRONMENT, verify);
        table.extend(4).unwrap();
        Arc::new(Core { table, readers: Readers::new(word_of(1)) })
    }

    /// A change of the page in a transaction that is not published yet, as `WriteTransaction` makes it.
    fn change(&self, transaction: u64) -> VersionPointer {
        self.change_beside(transaction, &mut Reclaim::default(), &Older::default())
    }

    /// The same beside snapshots that are older than what is published.
    fn change_beside(&self, transaction: u64, reclaim: &mut Reclaim, older: &Older) -> VersionPointer {
        let previous = self.table.newest(NUMBER).unwrap();
        let mut version = match previous {
            Some(previous) => self.table.versions.copy(previous, reclaim.recycle(previous, older)).unwrap(),
            None => {
                let mut version = self.table.versions.take().unwrap();
                version.page_mut().fill(0);
                version
            }
        };
        version.start(TransactionId(transaction), 1, previous);
        version.changes().set_u8(PAGE_SIZE / 2, transaction as u8);
        self.table.install(NUMBER, version).unwrap();
        version.changes().set_u8(PAGE_SIZE - 1, transaction as u8);
        version
    }

    /// A transaction, from giving back what nobody needs to publishing.
    fn commit(&self, transaction: u64, reclaim: &mut Reclaim) {
        let mut older = Older::default();
        let oldest = self.readers.older(&mut older);
        reclaim.collect(oldest, &self.table.versions);
        let version = self.change_beside(transaction, reclaim, &older);
        if let Some(previous) = version.previous() {
            reclaim.replaced(word_of(transaction), previous, version);
        }
        self.readers.publish(word_of(transaction));
    }

    /// What a flush does when the file has the newest version: takes it out of the table, and lets it go when no snapshot
    /// can have a pointer to it.
    fn unlink(&self, reclaim: &mut Reclaim) {
        let Some(version) = self.table.newest(NUMBER).unwrap() else { return };
        self.table.set(NUMBER, None).unwrap();
        let next = self.readers.published().next_epoch().unwrap();
        self.readers.publish(next);
        reclaim.unlinked(next, version);
        reclaim.collect(self.readers.oldest(), &self.table.versions);
    }

    /// A snapshot, which shows the same whenever it looks.
    fn read(&self) -> u64 {
        let announced = self.readers.announce();
        let transaction = announced.word.transaction();
        for _ in 0..2 {
            let page = self.table.page(NUMBER, transaction).unwrap();
            assert_eq!(u64::from(mark_of(page)), transaction.0, "the snapshot of {transaction}");
        }
        transaction.0
    }

    fn end(&self, mut reclaim: Reclaim) {
        reclaim.collect(SnapshotWord(u64::MAX), &self.table.versions);
    }
}

fn verify(_: &Page, _: &[u8], _: PageNumber, _: u128) -> Result<(), &'static str> {
    Ok(())
}

/// Two transactions, of which the second takes the memory of what the first replaced, beside a reader.
fn reuse_beside_a_reader() {
    let core = Core::in_memory();
    let reader = spawn({
        let core = core.clone();
        move || core.read()
    });
    let mut reclaim = Reclaim::default();
    (2..4).for_each(|transaction| core.commit(transaction, &mut reclaim));
    reader.join().unwrap();
    core.end(reclaim);
}

#[test]
fn a_page_is_not_used_again_under_a_reader() {
    check("reuse beside a reader", reuse_beside_a_reader);
}

#[test]
fn a_page_is_not_used_again_under_either_of_two_readers() {
    check("reuse beside two readers", || {
        let core = Core::in_memory();
        let readers = [0, 1].map(|_| {
            let core = core.clone();
            spawn(move || core.read())
        });
        let mut reclaim = Reclaim::default();
        (2..4).for_each(|transaction| core.commit(transaction, &mut reclaim));
        for reader in readers {
            reader.join().unwrap();
        }
        core.end(reclaim);
    });
}

/// Transactions beside a snapshot that stays open, which is looked at meanwhile; the last is made of what it need not see.
fn recycle_beside(others: usize) {
    let core = Core::in_memory();
    let old = core.readers.announce().word.transaction();
    let held = core.readers.announce();
    assert_eq!(held.word.transaction(), old);
    let looking = spawn({
        let core = core.clone();
        move || {
            let page = core.table.page(NUMBER, old).unwrap();
            assert_eq!(u64::from(mark_of(page)), old.0, "the snapshot of {old}");
        }
    });
    let others: Vec<_> = (0..others)
        .map(|_| {
            spawn({
                let core = core.clone();
                move || core.read()
            })
        })
        .collect();
    let mut reclaim = Reclaim::default();
    (2..5).for_each(|transaction| core.commit(transaction, &mut reclaim));
    looking.join().unwrap();
    assert_eq!(mark_of(core.table.page(NUMBER, old).unwrap()), 1, "the snapshot of 1");
    if others.is_empty() {
        assert_eq!(reclaim.len(), 2, "what it sees, and what was replaced last");
    }
    others.into_iter().for_each(|other| drop(other.join().unwrap()));
    drop(held);
    core.end(reclaim);
}

#[test]
fn a_version_that_nobody_sees_is_used_again_on_the_way_of_an_old_snapshot() {
    check("recycle beside an old snapshot", || recycle_beside(0));
}

#[test]
fn a_version_that_a_new_snapshot_sees_is_not_used_again() {
    check("recycle beside an old and a new snapshot", || recycle_beside(1));
}

#[test]
fn snapshots_of_one_thread_only_get_newer() {
    check("two snapshots", || {
        let core = Core::in_memory();
        let reader = spawn({
            let core = core.clone();
            move || {
                let first = core.read();
                assert!(core.read() >= first, "a later snapshot is not older");
            }
        });
        let mut reclaim = Reclaim::default();
        (2..4).for_each(|transaction| core.commit(transaction, &mut reclaim));
        reader.join().unwrap();
        core.end(reclaim);
    });
}

/// A flush takes a version out of the table while a reader may be on its way to it, and its memory is another page's next.
fn unlink_beside_a_reader() {
    let core = Core::over_file(0);
    let version = core.change(1);
    let reader = spawn({
        let core = core.clone();
        move || core.read()
    });
    let mut reclaim = Reclaim::default();
    core.unlink(&mut reclaim);
    let mut other = core.table.versions.take().unwrap();
    other.page_mut().fill(9);
    assert!(other == version || reclaim.len() == 1, "it is used again at once, or waits");
    core.table.versions.give_back([other]);
    reader.join().unwrap();
    core.end(reclaim);
}

#[test]
fn a_flushed_version_is_not_used_again_under_a_reader() {
    check("flush beside a reader", unlink_beside_a_reader);
}

#[test]
fn a_branch_that_a_reader_keeps_meets_the_writer_who_changes_it() {
    check("kept branch and writer", || {
        let core = Core::over_file(1);
        let reader = spawn({
            let core = core.clone();
            move || core.read()
        });
        let mut reclaim = Reclaim::default();
        // The first cannot be told from the file's page by the snapshot of transaction 1; what counts is that it is found.
        core.commit(2, &mut reclaim);
        reader.join().unwrap();
        assert_eq!(core.read(), 2);
        let older = core.table.page(NUMBER, TransactionId(1)).unwrap();
        assert_eq!(mark_of(older), 1, "behind the new version comes the kept one, or the file");
        core.end(reclaim);
    });
}

#[test]
fn two_readers_keep_one_copy_of_a_branch() {
    check("two readers of a branch", || {
        let core = Core::over_file(1);
        let other = spawn({
            let core = core.clone();
            move || core.read()
        });
        core.read();
        other.join().unwrap();
        assert!(core.table.newest(NUMBER).unwrap().is_some_and(|version| version.is_kept()));
        assert_eq!(core.table.versions.bytes(), 0, "the other copy went back");
    });
}

#[test]
fn every_slot_has_one_owner_also_when_its_thread_has_ended() {
    check("slots", || {
        // A snapshot that is sent to another thread outlives what it was opened with.
        let readers: &'static Arc<Readers> = Box::leak(Box::new(Readers::new(word_of(1))));
        let ended = spawn(|| readers.announce());
        let beside = spawn(|| readers.announce());
        let sent: [Announced<'_>; 2] = [ended.join().unwrap(), beside.join().unwrap()];
        readers.publish(word_of(2));
        let ours = readers.announce();
        assert_eq!(readers.open_count(), 3, "each in a slot of its own");
        assert_eq!(readers.oldest(), word_of(1));
        drop(sent);
        assert_eq!(readers.oldest(), word_of(2));
        drop(ours);
        assert_eq!(readers.open_count(), 0);
    });
}

#[test]
fn an_abandoned_slot_is_taken_over_by_one_thread() {
    check("abandoned slot", || {
        let readers: &'static Arc<Readers> = Box::leak(Box::new(Readers::new(word_of(1))));
        let sent = spawn(|| readers.announce()).join().unwrap();
        let others = [0, 1].map(|_| spawn(|| readers.announce()));
        drop(sent);
        let open = others.map(|other| other.join().unwrap());
        assert_eq!(readers.open_count(), 2, "each in a slot of its own");
        drop(open);
        assert_eq!(readers.open_count(), 0);
    });
}

#[test]
fn a_job_that_is_made_to_lead_and_answered_wakes_its_owner() {
    check("hand-over of a job", || {
        let mut run = |_: &mut crate::WriteTransaction<'_>| true;
        let job = StackJob::new(&mut run);
        let pointer = job.pointer();
        // A leader that panics right after it handed the lead on answers all that wait: both, one after the other.
        let other = spawn(move || {
            pointer.lead();
            pointer.done(Ok(TransactionId(5)));
        });
        while job.wait() == Wake::Lead {}
        assert_eq!(job.into_outcome().unwrap().unwrap(), TransactionId(5));
        other.join().unwrap();
    });
}

#[cfg(feature = "planted-bugs")]
mod planted {
    //! That the models can fail.

    use crate::planted::Bug;
    use crate::sync::planted_tests::check_that_it_is_found;

    #[track_caller]
    fn check(bug: Bug) {
        for model in ["a_page_is_not_used_again_under_a_reader", "a_flushed_version_is_not_used_again_under_a_reader"] {
            check_that_it_is_found(
                bug,
                &format!("sync::loom_tests::{model}"),
                &["Causality violation", "the snapshot of"],
            );
        }
    }

    #[test]
    fn a_reader_that_does_not_look_again_is_found() {
        check(Bug::AnnouncementUnchecked);
    }

    #[test]
    fn a_version_that_becomes_the_next_while_a_reader_needs_it_is_found() {
        let reasons = ["Causality violation", "the snapshot of"];
        for model in [
            "a_version_that_nobody_sees_is_used_again_on_the_way_of_an_old_snapshot",
            "a_version_that_a_new_snapshot_sees_is_not_used_again",
        ] {
            check_that_it_is_found(Bug::SeenRecycled, &format!("sync::loom_tests::{model}"), &reasons);
        }
    }

    #[test]
    fn a_page_that_is_used_again_while_a_reader_needs_it_is_found() {
        check(Bug::ReadersIgnored);
    }
}
