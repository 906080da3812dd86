//! Versions, words and maps as the engine uses them, small enough for an interpreter that sees undefined behaviour
//! (`make miri`): what one thread reads while another changes what is next to it is the point of most of these.

use super::*;
use crate::ids::SnapshotWord;
use crate::io::simulated::SimulatedIo;
use crate::io::{Io, OpenMode};
use crate::page::{self, Kind};
use crate::pager::changes::LINE;
use crate::pager::readers::{Older, Readers};
use crate::transaction::reclaim::Reclaim;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use testing::wait::{until_equal, until_true};

const ENVIRONMENT: u128 = 7;
const NUMBER: PageNumber = PageNumber(3);
const LEAF: u8 = 0;
const BRANCH: u8 = 1;

/// Of the rules of a page, the one that is about all of its bytes.
fn verify(page: &Page, bytes: &[u8], _: PageNumber, environment_id: u128) -> std::result::Result<(), &'static str> {
    let is_right = page::stored_checksum(page) == page::checksum(bytes, environment_id);
    if is_right { Ok(()) } else { Err("its checksum does not fit its content") }
}

fn in_memory() -> PageTable {
    let table = PageTable::new(None, PathBuf::new(), ENVIRONMENT, verify);
    table.extend(16).unwrap();
    table
}

/// The page of a file, with its checksum.
fn page_of_file(number: PageNumber, level: u8, mark: u8) -> Box<Page> {
    let (mut bytes, mut lines) = (Box::new([mark; PAGE_SIZE]), super::super::changes::Lines::NONE);
    let mut page = super::super::changes::PageMut::new(&mut bytes, &mut lines);
    page.clear(0..page::HEAD_SIZE);
    page::set_identity(&mut page, number, TransactionId(1));
    page::set_kind(&mut page, Kind::Tree, level);
    let checksum = page::checksum(&*bytes, ENVIRONMENT);
    page::store_checksum(&mut *bytes, checksum);
    bytes
}

/// A table over a file of 8 pages of trees, of a level, each filled with its number.
fn over_file(level: u8) -> (PageTable, Arc<dyn File>) {
    let file = SimulatedIo::new().open(Path::new("/data"), OpenMode::Create).unwrap();
    file.allocate(0, 8 * PAGE_SIZE as u64).unwrap();
    for number in 0..8 {
        let page = page_of_file(PageNumber(number), level, number as u8);
        file.write_at(&*page, number * PAGE_SIZE as u64).unwrap();
    }
    let table = PageTable::new(Some(file.clone()), PathBuf::new(), ENVIRONMENT, verify);
    table.extend(8).unwrap();
    (table, file)
}

/// What the writer does to a page in a transaction: a copy of the newest version, installed, then changed.
fn change(table: &PageTable, number: PageNumber, transaction: u64, mark: u8) -> VersionPointer {
    let previous = table.newest(number).unwrap();
    let mut version = match previous {
        Some(previous) => table.versions.copy(previous, None).unwrap(),
        None => table.versions.take().unwrap(),
    };
    version.start(TransactionId(transaction), 1, previous);
    if previous.is_none() {
        version.page_mut().fill(0);
        version.set_fresh(false);
    }
    table.install(number, version).unwrap();
    version.changes().write(PAGE_SIZE / 2, &[mark; 2 * LINE]);
    version
}

fn mark_of(page: &Page) -> u8 {
    page[PAGE_SIZE / 2 + LINE]
}

#[test]
fn each_snapshot_finds_its_version_or_the_file() {
    let (table, _) = over_file(LEAF);
    for transaction in [2, 4, 6] {
        let version = change(&table, NUMBER, transaction, transaction as u8 * 10);
        assert_eq!(table.newest(NUMBER).unwrap(), Some(version));
    }
    for (transaction, mark) in [(1, 3), (2, 20), (3, 20), (4, 40), (5, 40), (6, 60), (9, 60)] {
        assert_eq!(mark_of(table.page(NUMBER, TransactionId(transaction)).unwrap()), mark, "{transaction}");
    }
    assert!(matches!(table.place(PageNumber(4)).unwrap(), PageSource::File { verified: false }));
    assert_eq!(mark_of(table.page(PageNumber(4), TransactionId(1)).unwrap()), 4);
    assert!(matches!(table.place(PageNumber(4)).unwrap(), PageSource::File { verified: true }));
    table.verify_at_next_touch(PageNumber(4)).unwrap();
    assert!(matches!(table.place(PageNumber(4)).unwrap(), PageSource::File { verified: false }));
    assert!(table.page(PageNumber(8), TransactionId(1)).is_err(), "the file has no such page");
    assert!(table.page(PageNumber(SEGMENT_PAGES), TransactionId(1)).is_err(), "nor such a segment");
}

#[test]
fn the_next_version_is_made_of_a_spare() {
    let table = in_memory();
    let first = change(&table, NUMBER, 1, 1);
    let second = change(&table, NUMBER, 2, 2);
    let mut reclaim = Reclaim::default();
    reclaim.replaced(SnapshotWord::of(TransactionId(2)), first, second);
    reclaim.collect(SnapshotWord::of(TransactionId(1)), &table.versions);
    assert_eq!((reclaim.len(), second.previous()), (1, Some(first)), "a snapshot may see it");
    reclaim.collect(SnapshotWord::of(TransactionId(2)), &table.versions);
    assert_eq!((reclaim.len(), second.previous()), (0, None));
    let third = change(&table, NUMBER, 3, 3);
    assert_eq!(third, first, "the spare of the second");
    assert_eq!(mark_of(table.page(NUMBER, TransactionId(2)).unwrap()), 2);
    assert_eq!(mark_of(table.page(NUMBER, TransactionId(3)).unwrap()), 3);
}

/// A change of a page in a transaction that is published at once, beside what is open.
fn commit(table: &PageTable, readers: &Arc<Readers>, reclaim: &mut Reclaim, transaction: u64) -> VersionPointer {
    let mut older = Older::default();
    reclaim.collect(readers.older(&mut older), &table.versions);
    let newest = table.newest(NUMBER).unwrap().unwrap();
    let mut version = table.versions.copy(newest, reclaim.recycle(newest, &older)).unwrap();
    version.start(TransactionId(transaction), 1, Some(newest));
    table.install(NUMBER, version).unwrap();
    version.changes().write(PAGE_SIZE / 2, &[transaction as u8; 2 * LINE]);
    let word = SnapshotWord::of(TransactionId(transaction));
    reclaim.replaced(word, newest, version);
    readers.publish(word);
    version
}

#[test]
fn beside_snapshots_a_page_has_a_version_for_each_and_few_more() {
    const TRANSACTIONS: u64 = if cfg!(miri) { 30 } else { 10_000 };
    let table = in_memory();
    let readers = Readers::new(SnapshotWord::of(TransactionId(1)));
    change(&table, NUMBER, 1, 1);
    let mut reclaim = Reclaim::default();
    let mut open = Vec::new();
    for transaction in 2..TRANSACTIONS {
        if [3, 4, 9, 12].contains(&transaction) {
            open.push(readers.announce());
        }
        commit(&table, &readers, &mut reclaim, transaction);
        if transaction == 20 {
            drop(open.swap_remove(1));
        }
    }
    assert_eq!(reclaim.len(), 5, "three that are seen, one that was until then, one that was replaced last");
    for seen in &open {
        let transaction = seen.word.transaction();
        assert_eq!(mark_of(table.page(NUMBER, transaction).unwrap()), transaction.0 as u8);
    }
    drop(open);
    let last = commit(&table, &readers, &mut reclaim, TRANSACTIONS);
    reclaim.collect(readers.oldest(), &table.versions);
    assert_eq!((reclaim.len(), last.previous()), (0, None), "each way is cut when what it leads to goes");
}

#[test]
fn a_rollback_keeps_older_versions_reachable() {
    let table = in_memory();
    let readers = Readers::new(SnapshotWord::of(TransactionId(1)));
    change(&table, NUMBER, 1, 1);
    let mut reclaim = Reclaim::default();
    let old = readers.announce();
    for transaction in 2..6 {
        commit(&table, &readers, &mut reclaim, transaction);
    }
    let mut older = Older::default();
    readers.older(&mut older);
    let newest = table.newest(NUMBER).unwrap().unwrap();
    let recycled = reclaim.recycle(newest, &older).expect("that of transaction 4");
    assert_eq!(recycled.transaction(), TransactionId(4));
    let version = table.versions.copy(newest, Some(recycled)).unwrap();
    version.start(TransactionId(6), 1, Some(newest));
    table.install(NUMBER, version).unwrap();
    assert_eq!(mark_of(table.page(NUMBER, old.word.transaction()).unwrap()), 1);
    table.set(NUMBER, Some(newest)).unwrap();
    reclaim.unlinked(SnapshotWord::of(TransactionId(6)), version);
    assert_eq!(mark_of(table.page(NUMBER, old.word.transaction()).unwrap()), 1);
    assert_eq!(mark_of(table.page(NUMBER, TransactionId(5)).unwrap()), 5);
    drop(old);
    commit(&table, &readers, &mut reclaim, 6);
    reclaim.collect(readers.oldest(), &table.versions);
    assert_eq!(reclaim.len(), 0);
}

#[test]
fn jobs_of_one_transaction_save_the_lines_that_they_change() {
    let table = in_memory();
    let mut version = change(&table, NUMBER, 1, 1);
    let mut log = Vec::new();
    version.changes_by(1, &mut log).write(PAGE_SIZE / 2, &[2]);
    assert!(log.is_empty(), "the job that made it saves nothing");
    version.changes_by(2, &mut log).write(PAGE_SIZE / 2, &[3]);
    version.changes_by(2, &mut log).write(PAGE_SIZE / 2 + 1, &[3]);
    version.changes_by(2, &mut log).write(PAGE_SIZE - 1, &[3]);
    assert_eq!(log.iter().map(|saved| saved.offset).collect::<Vec<_>>(), [PAGE_SIZE / 2, PAGE_SIZE - LINE]);
    for saved in log.drain(..) {
        let mut version = saved.version;
        version.restore(saved.offset, &saved.bytes);
    }
    assert_eq!((version.page()[PAGE_SIZE / 2], version.page()[PAGE_SIZE - 1]), (2, 0));
    version.changes_by(3, &mut log).write(0, &[4]);
    assert_eq!(log.len(), 1, "the next job saves anew");
}

#[test]
fn a_run_is_one_range_of_bytes() {
    let table = in_memory();
    let before = table.versions.bytes();
    let mut run = table.versions.take_run(3).unwrap();
    run.start(TransactionId(1), 0, None);
    run.bytes_mut().fill(5);
    table.install(NUMBER, run).unwrap();
    assert!(table.run(NUMBER, 3, TransactionId(1)).unwrap().iter().all(|byte| *byte == 5));
    assert_eq!(table.page(NUMBER, TransactionId(1)).unwrap(), &[5; PAGE_SIZE]);
    assert!(table.run(NUMBER, 2, TransactionId(1)).is_err(), "it has another length");
    assert!(table.versions.bytes() >= before + 3 * PAGE_SIZE);
    table.set_unverified(NUMBER).unwrap();
    table.versions.give_back([run]);
    assert_eq!(table.versions.bytes(), before);
}

#[test]
fn a_branch_of_the_file_is_kept_by_the_first_of_many_who_read_it() {
    let (table, _) = over_file(BRANCH);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for number in 1..4 {
                    let page = table.page(PageNumber(number), TransactionId(1)).unwrap();
                    assert_eq!(mark_of(page), number as u8);
                }
            });
        }
    });
    for number in 1..4 {
        let version = table.newest(PageNumber(number)).unwrap().expect("a copy stays in memory");
        assert!(version.is_kept());
    }
    assert_eq!(table.versions.bytes(), 0, "what is only kept is not counted, and the copies of the others are gone");
}

#[test]
fn a_run_of_the_file_is_one_of_the_length_that_its_reference_says() {
    let (table, _) = over_file(LEAF);
    assert!(table.page(PageNumber(4), TransactionId(1)).is_ok());
    assert!(table.run(PageNumber(4), 1, TransactionId(1)).is_err(), "it begins no run");
}

#[test]
fn readers_pass_versions_that_the_writer_is_changing() {
    let table = in_memory();
    change(&table, NUMBER, 1, 1);
    let (started, done) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = || {
            let mut times = 0;
            while !done.load(Ordering::Relaxed) || times == 0 {
                assert_eq!(mark_of(table.page(NUMBER, TransactionId(1)).unwrap()), 1);
                assert!(table.run(NUMBER, 1, TransactionId(1)).is_ok());
                started.store(true, Ordering::Relaxed);
                times += 1;
            }
        };
        scope.spawn(reader);
        scope.spawn(reader);
        until_true("a reader has begun", || started.load(Ordering::Relaxed));
        let mut version = change(&table, NUMBER, 2, 2);
        let mut log = Vec::new();
        for job in 2..12 {
            version.set_direct(job % 2 == 0);
            version.changes_by(job, &mut log).set_u64(8 * job as usize, 9);
            std::thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(mark_of(table.page(NUMBER, TransactionId(2)).unwrap()), 2);
}

#[test]
fn no_version_is_used_again_under_a_reader() {
    const TRANSACTIONS: u64 = if cfg!(miri) { 12 } else { 20_000 };
    let table = in_memory();
    let readers = Readers::new(SnapshotWord::of(TransactionId(1)));
    change(&table, NUMBER, 1, 1);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let announced = readers.announce();
                    let transaction = announced.word.transaction();
                    let page = table.page(NUMBER, transaction).unwrap();
                    let seen = mark_of(page);
                    std::thread::yield_now();
                    assert_eq!((seen, mark_of(page)), (transaction.0 as u8, transaction.0 as u8));
                }
            });
        }
        let mut reclaim = Reclaim::default();
        for transaction in 2..TRANSACTIONS {
            commit(&table, &readers, &mut reclaim, transaction);
        }
        done.store(true, Ordering::Relaxed);
        until_equal(|| readers.open_count(), 0);
        reclaim.collect(SnapshotWord(u64::MAX), &table.versions);
    });
}

#[test]
fn the_file_is_written_beside_those_who_read_other_pages_of_it() {
    let (table, file) = over_file(LEAF);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in [4, 5, 4, 6] {
                assert_eq!(mark_of(table.page(PageNumber(number), TransactionId(1)).unwrap()), number as u8);
            }
        });
        // A flush: every snapshot sees the version, so the file may have it.
        let version = change(&table, NUMBER, 2, 30);
        file.write_at(version.page(), NUMBER.0 * PAGE_SIZE as u64).unwrap();
        table.set(NUMBER, None).unwrap();
        table.versions.give_back([version]);
    });
    assert_eq!(mark_of(table.page(NUMBER, TransactionId(2)).unwrap()), 30);
}

#[test]
fn a_map_gets_other_content_from_who_holds_it_alone() {
    let mut map = Mapping::anonymous(8192).unwrap();
    map.write(100, &[1; 5000]);
    let other = map.downgrade();
    assert!(!map.fill_if_alone(&[2; 10]), "somebody may look at it");
    drop(other);
    assert!(map.fill_if_alone(&[2; 10]));
    // SAFETY: the range is mapped while `map` lives, and nobody writes to it meanwhile.
    let bytes = unsafe { std::slice::from_raw_parts(map.base(), map.length()) };
    assert!(bytes[..10].iter().all(|byte| *byte == 2) && bytes[10..].iter().all(|byte| *byte == 0));
}
