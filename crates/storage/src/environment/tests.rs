//! Whole environments in few steps, small enough for an interpreter that sees undefined behaviour (`make miri`): readers,
//! writers and flushes at once, on memory and on the simulated disk.

use super::*;
use crate::Tree;
use crate::io::simulated::{Fate, SimulatedIo};
use std::sync::atomic::AtomicBool;

const FOLDER: &str = "/environment";

/// Snapshots that a reader opens at most: in an interpreter each takes the time of a transaction.
const SNAPSHOTS_MAX: u64 = if cfg!(miri) { 3 } else { u64::MAX };
const TRANSACTIONS: u64 = if cfg!(miri) { 4 } else { 40 };
const WRITERS: u8 = if cfg!(miri) { 2 } else { 3 };

fn options(io: &SimulatedIo) -> Options {
    Options { io: Arc::new(io.clone()), background: false, ..Options::default() }
}

fn number_in(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// Two keys on two pages and one in a run, which every transaction changes alike.
const KEYS: [&[u8]; 3] = [b"one", b"other", b"large"];

fn put_all(environment: &Environment, tree: Tree, number: u64) {
    let value = |length: usize| [&number.to_le_bytes()[..], &vec![number as u8; length]].concat();
    let lengths = [1_900, 1_900, 9_000];
    environment.write(|tx| KEYS.iter().zip(lengths).try_for_each(|(key, n)| tree.put(tx, key, &value(n)))).unwrap();
}

/// The number that all values have in one snapshot.
fn check_snapshot(environment: &Environment, tree: Tree) -> u64 {
    let tx = environment.read();
    let seen = KEYS.map(|key| tree.get(&tx, key).unwrap().expect("every snapshot has it"));
    std::thread::yield_now();
    let number = number_in(seen[0]);
    for bytes in seen {
        assert!(number_in(bytes) == number && bytes[8..].iter().step_by(97).all(|byte| *byte == number as u8));
    }
    number
}

/// Readers beside a writer, which does something else after each transaction.
fn read_beside_writer(environment: &Environment, mut between: impl FnMut(u64)) {
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    put_all(environment, tree, 1);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let (mut last, mut count) = (0, 0);
                while !done.load(Ordering::Relaxed) && count < SNAPSHOTS_MAX {
                    count += 1;
                    let seen = check_snapshot(environment, tree);
                    assert!(seen >= last, "a later snapshot is not older");
                    last = seen;
                }
            });
        }
        for number in 2..=TRANSACTIONS {
            put_all(environment, tree, number);
            between(number);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(check_snapshot(environment, tree), TRANSACTIONS);
    assert_eq!(environment.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn snapshots_in_memory_are_whole_beside_a_writer() {
    let environment = Environment::in_memory(Options::default()).unwrap();
    read_beside_writer(&environment, |_| ());
}

#[test]
fn snapshots_are_whole_beside_a_writer_and_flushes_and_come_back_after_a_crash() {
    let io = SimulatedIo::new();
    let environment = Environment::open(FOLDER, options(&io)).unwrap();
    read_beside_writer(&environment, |number| {
        if number % 2 == 0 {
            environment.flush().unwrap();
        }
    });
    let image = io.crash(|| Fate::Lost);
    let reopened = Environment::open(FOLDER, options(&image)).unwrap();
    let tree = Tree::open(&reopened.read(), b"tree").unwrap().unwrap();
    assert_eq!(check_snapshot(&reopened, tree), TRANSACTIONS);
    assert_eq!(reopened.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn writers_that_wait_share_transactions_and_a_failed_one_is_rolled_back_alone() {
    let io = SimulatedIo::new();
    let environment = Environment::open(FOLDER, options(&io)).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let environment = &environment;
            scope.spawn(move || {
                for step in 0..4u8 {
                    let written = environment.write(|tx| {
                        tree.put(tx, &[writer, step], &[step; 100])?;
                        if step == 2 { Err(Error::Closed) } else { Ok(()) }
                    });
                    assert_eq!(written.is_ok(), step != 2);
                    let there = tree.contains(&environment.read(), &[writer, step]).unwrap();
                    assert_eq!(there, step != 2, "what was answered is visible");
                }
            });
        }
    });
    let tx = environment.read();
    let count = (0..WRITERS).flat_map(|writer| (0..4u8).map(move |step| [writer, step]));
    assert_eq!(count.filter(|key| tree.contains(&tx, key).unwrap()).count(), 3 * usize::from(WRITERS));
    drop(tx);
    assert_eq!(environment.verify().unwrap().problems, Vec::<String>::new());
}

/// One page through all that happens to its versions, beside snapshots that stay.
struct OnePage {
    environment: Environment,
    number: PageNumber,
}

impl OnePage {
    const AT: usize = crate::limits::PAGE_SIZE / 2;

    fn new() -> OnePage {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let number = environment.write(|tx| tx.new_page().map(|(number, _)| number)).unwrap();
        OnePage { environment, number }
    }

    fn change(&self, mark: u8) {
        self.environment.write(|tx| tx.page_mut(self.number).map(|mut page| page.set_u8(Self::AT, mark))).unwrap();
    }

    fn free(&self, changed: bool) {
        let free = |tx: &mut WriteTransaction<'_>| -> Result<()> {
            if changed {
                tx.page_mut(self.number)?.set_u8(Self::AT, 99);
            }
            tx.free_pages(self.number, 1)
        };
        self.environment.write(free).unwrap();
    }

    fn allocate(&self, mark: u8) {
        let allocate = |tx: &mut WriteTransaction<'_>| -> Result<PageNumber> {
            let (number, mut page) = tx.new_page()?;
            page.set_u8(Self::AT, mark);
            Ok(number)
        };
        assert_eq!(self.environment.write(allocate).unwrap(), self.number, "the page that was freed");
    }

    /// A change that is rolled back.
    fn refuse(&self) {
        let refused = self.environment.write(|tx| -> Result<()> {
            tx.page_mut(self.number)?.set_u8(Self::AT, 98);
            Err(Error::Closed)
        });
        assert!(refused.is_err());
    }

    #[track_caller]
    fn check(&self, snapshot: &ReadTransaction<'_>, mark: u8) {
        assert_eq!(self.environment.inner.table.page(self.number, snapshot.id()).unwrap()[Self::AT], mark);
    }
}

/// A page that was freed and allocated again has versions that were made of nothing. A spare behind such a one came to another
/// version, and with it into the pool: other pages were made of it.
#[test]
fn changes_frees_and_allocations_of_a_page_are_rolled_back_beside_old_snapshots() {
    for ends in 0..4 {
        let page = OnePage::new();
        page.change(1);
        page.change(2);
        let old = page.environment.read();
        page.free(false);
        page.allocate(4);
        page.change(5);
        let second = page.environment.read();
        page.change(6);
        page.check(&second, 5);
        drop(second);
        match ends {
            0 => page.free(true),
            1 => page.refuse(),
            2 => (7..20).for_each(|mark| page.change(mark)),
            _ => {}
        }
        page.check(&old, 2);
        drop(old);
        if ends == 0 {
            page.allocate(8);
        }
        let third = page.environment.read();
        let before = page.environment.inner.table.page(page.number, third.id()).unwrap()[OnePage::AT];
        for mark in 30..60 {
            page.change(mark);
            if mark % 7 == 0 {
                page.refuse();
            }
            page.check(&page.environment.read(), mark);
        }
        page.check(&third, before);
        drop(third);
        (60..64).for_each(|mark| page.change(mark));
        let others: Vec<PageNumber> = page
            .environment
            .write(|tx| -> Result<_> { (0..50).map(|_| tx.new_page().map(|(number, _)| number)).collect() })
            .unwrap();
        for mark in 1..4 {
            let change = |tx: &mut WriteTransaction<'_>| -> Result<()> {
                others.iter().try_for_each(|number| tx.page_mut(*number).map(|mut page| page.set_u8(OnePage::AT, mark)))
            };
            page.environment.write(change).unwrap();
        }
        let now = page.environment.read();
        page.check(&now, 63);
        for number in others {
            let other = page.environment.inner.table.page(number, now.id()).unwrap();
            assert_eq!((page::number(other), other[OnePage::AT]), (number, 3));
            assert!(other[OnePage::AT + 1..].iter().all(|byte| *byte == 0));
        }
    }
}
