//! Tests of quiet pages, and of staged runs in a transaction.

use super::*;
use crate::Error;
use crate::io::simulated::SimulatedIo;
use crate::limits::CONTENT_CHUNK_SIZE_MAX;
use crate::{Contents, Environment, Options};
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn a_run_is_found_within_one_span() {
    let mut quiet = QuietPages::default();
    quiet.set(0..SPAN_PAGES, |_| 0);
    quiet.set(SPAN_PAGES..2 * SPAN_PAGES, |_| 0);
    assert_eq!(quiet.find(1), None);
    let last = (SPAN_PAGES / 64 - 1) as usize;
    quiet.set(0..SPAN_PAGES, |index| if index == last { !0 } else { 0 });
    quiet.set(SPAN_PAGES..2 * SPAN_PAGES, |index| if index < 2 { !0 } else { 0 });
    assert_eq!(quiet.find(64), Some(SPAN_PAGES - 64));
    assert_eq!(quiet.find(65), Some(SPAN_PAGES), "a run crosses no border of spans");
    quiet.remove(SPAN_PAGES..SPAN_PAGES + 100);
    assert_eq!(quiet.find(28), Some(SPAN_PAGES - 64));
    assert_eq!(quiet.find(65), None);
}

#[test]
fn pages_from_the_given_end_on_are_not_quiet() {
    let mut quiet = QuietPages::default();
    quiet.set(0..70, |_| !0);
    assert_eq!(quiet.find(70), Some(0));
    assert_eq!(quiet.find(71), None);
}

proptest! {
    #[test]
    fn the_first_run_is_found_whatever_was_looked_for_before(
        words in vec(any::<u64>(), 1..6), steps in vec((1u32..40, 0u64..400, 0u64..30), 1..30),
    ) {
        let mut quiet = QuietPages::default();
        let pages = words.len() as u64 * 64;
        quiet.set(0..pages, |index| words[index]);
        let mut expected: Vec<bool> = (0..pages).map(|page| words[(page / 64) as usize] >> (page % 64) & 1 == 1).collect();
        for (count, removed, length) in steps {
            let first = expected.windows(count as usize).position(|run| run.iter().all(|quiet| *quiet));
            prop_assert_eq!(quiet.find(count), first.map(|first| first as u64));
            quiet.remove(removed..removed + length);
            expected.iter_mut().skip(removed as usize).take(length as usize).for_each(|quiet| *quiet = false);
        }
    }
}

struct Store {
    io: SimulatedIo,
    environment: Environment,
    contents: Contents,
}

impl Store {
    fn new() -> Store {
        Store::of(SimulatedIo::new())
    }

    fn of(io: SimulatedIo) -> Store {
        let options = Options { io: Arc::new(io.clone()), background: false, ..Options::default() };
        let environment = Environment::open("/environment", options).unwrap();
        let contents = environment.write(|tx| Contents::open_or_create(tx, b"contents")).unwrap();
        Store { io, environment, contents }
    }

    fn add(&self, hash: &[u8], byte: u8, chunks: usize) {
        let piece = vec![byte; CONTENT_CHUNK_SIZE_MAX];
        self.environment.write(|tx| self.contents.begin(tx, hash, 0)).unwrap();
        for index in 0..chunks {
            let at = (index * piece.len()) as u64;
            self.environment.write(|tx| self.contents.append(tx, hash, at, &piece, 0)).unwrap();
        }
        self.environment.write(|tx| self.contents.link(tx, hash, hash)).unwrap();
    }

    fn pages(&self) -> u64 {
        self.environment.statistics().unwrap().data_file_size / PAGE_SIZE as u64
    }

    fn journal_bytes(&self) -> u64 {
        self.environment.statistics().unwrap().journal_since_flush
    }

    #[track_caller]
    fn check(&self, hash: &[u8], byte: u8) {
        let tx = self.environment.read();
        let mut reading = self.contents.read(&tx, hash, 0..u64::MAX).unwrap().expect("the content is there");
        while let Some(bytes) = reading.next().unwrap() {
            assert!(bytes.iter().all(|other| *other == byte));
        }
        assert_eq!(self.environment.verify().unwrap().problems, Vec::<String>::new());
    }
}

#[test]
fn chunks_are_neither_in_the_journal_nor_in_versions() {
    let store = Store::new();
    let versions = store.environment.inner.table.versions.bytes();
    store.add(b"a", 1, 4);
    assert!(store.journal_bytes() < 1 << 20, "{} bytes of journal", store.journal_bytes());
    assert!(store.environment.inner.table.versions.bytes() < versions + (1 << 20));
    store.check(b"a", 1);
}

#[test]
fn freed_pages_are_used_again_after_a_flush_and_not_before() {
    let store = Store::new();
    store.add(b"a", 1, 8);
    store.environment.flush().unwrap();
    let pages = store.pages();
    store.environment.write(|tx| store.contents.unlink(tx, b"a")).unwrap();
    // A crash could still lead to the state that has it.
    assert_eq!(store.environment.inner.writer.lock().quiet.find(128), None);
    store.add(b"b", 2, 8);
    let grown = store.pages();
    assert!(grown > pages, "what the state of the last header has was written over");
    store.environment.flush().unwrap();
    assert!(store.environment.inner.writer.lock().quiet.find(128).is_some());
    store.add(b"c", 3, 4);
    assert_eq!(store.pages(), grown, "the file grew although there were quiet pages");
    assert!(store.journal_bytes() < 1 << 20, "{} bytes of journal", store.journal_bytes());
    store.check(b"b", 2);
    store.check(b"c", 3);
}

/// Without one, an environment at work would grow although half of it is free: chunks are a small part of the journal, which has
/// flushes begin otherwise.
#[test]
fn a_flush_is_wanted_where_the_file_grows_although_pages_were_freed() {
    let options = Options { io: Arc::new(SimulatedIo::new()), ..Options::default() };
    let environment = Environment::open("/environment", options).unwrap();
    let contents = environment.write(|tx| Contents::open_or_create(tx, b"contents")).unwrap();
    let inner = &environment.inner;
    assert!(!inner.pacing.is_flush_wanted());
    environment
        .write(|tx| {
            contents.begin(tx, b"upload", 0)?;
            contents.append(tx, b"upload", 0, &[1; 100_000], 0)
        })
        .unwrap();
    assert!(inner.pacing.is_flush_wanted(), "it is not known which pages could be used");
    environment.flush().unwrap();
    assert!(!inner.writer.lock().quiet.should_be_found());
    inner.writer.lock().quiet.note_freed(FREED_PAGES_MIN as u32);
    assert!(inner.writer.lock().quiet.should_be_found());
}

#[test]
fn what_an_old_snapshot_sees_is_not_written_over() {
    let store = Store::new();
    store.add(b"a", 1, 4);
    let old = store.environment.read();
    store.environment.write(|tx| store.contents.unlink(tx, b"a")).unwrap();
    for round in 0..3 {
        store.environment.flush().unwrap();
        store.add(&[round], round, 4);
    }
    let mut reading = store.contents.read(&old, b"a", 0..u64::MAX).unwrap().unwrap();
    let mut length = 0;
    while let Some(bytes) = reading.next().unwrap() {
        assert!(bytes.iter().all(|byte| *byte == 1), "an old snapshot sees something else");
        length += bytes.len();
    }
    assert_eq!(length, 4 * CONTENT_CHUNK_SIZE_MAX);
}

/// The snapshot is younger than the state of the header, and sees a run that neither that state nor the newest one has.
#[test]
fn what_a_snapshot_between_two_flushes_sees_is_neither_a_hole_nor_quiet() {
    let store = Store::new();
    store.environment.flush().unwrap();
    let before = store.environment.read();
    store.add(b"a", 1, 24);
    let between = store.environment.read();
    store.environment.write(|tx| store.contents.unlink(tx, b"a")).unwrap();
    // Moves the header to `before` at the most, where the pages are free, as they are now.
    store.environment.flush().unwrap();
    assert_eq!(store.environment.inner.writer.lock().quiet.find(128), None);
    drop(before);
    let mut reading = store.contents.read(&between, b"a", 0..u64::MAX).unwrap().unwrap();
    while let Some(bytes) = reading.next().unwrap() {
        assert!(bytes.iter().all(|byte| *byte == 1), "its pages were taken from it");
    }
}

#[test]
fn a_job_that_fails_leaves_no_run_and_frees_none() {
    let store = Store::new();
    store.add(b"a", 1, 2);
    let used = || store.environment.statistics().unwrap().used_pages;
    let before = used();
    let failed = store.environment.write(|tx| {
        store.contents.begin(tx, b"b", 0)?;
        store.contents.append(tx, b"b", 0, &vec![2; 100_000], 0)?;
        store.contents.unlink(tx, b"a")?;
        Err::<(), _>(Error::Closed)
    });
    assert!(failed.is_err());
    assert_eq!(used(), before);
    store.check(b"a", 1);
    let image = store.io.kill();
    let options = Options { io: Arc::new(image), background: false, ..Options::default() };
    let reopened = Environment::open("/environment", options).unwrap();
    assert_eq!(reopened.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_run_that_is_freed_in_its_own_transaction_is_not_in_the_record() {
    let store = Store::new();
    store
        .environment
        .write(|tx| {
            store.contents.begin(tx, b"b", 0)?;
            store.contents.append(tx, b"b", 0, &vec![2; 100_000], 0)?;
            store.contents.cancel(tx, b"b")?;
            assert_eq!(tx.staged.in_use().count(), 0);
            // Its pages are an ordinary value's then.
            crate::Tree::open_or_create(tx, b"tree")?.put(tx, b"key", &vec![7; 90_000])
        })
        .unwrap();
    let image = store.io.kill();
    let options = Options { io: Arc::new(image), background: false, ..Options::default() };
    let reopened = Environment::open("/environment", options).unwrap();
    let tree = crate::Tree::open(&reopened.read(), b"tree").unwrap().unwrap();
    assert_eq!(tree.get(&reopened.read(), b"key").unwrap(), Some(&vec![7; 90_000][..]));
    assert_eq!(reopened.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn spans_without_a_bitmap_get_one_when_a_run_is_placed_behind_them() {
    let store = Store::new();
    store.environment.inner.writer.lock().untouched_from = 3 * SPAN_PAGES - 5;
    store.add(b"a", 1, 1);
    assert_eq!(store.environment.inner.spans(store.environment.read().id()).unwrap(), 4);
    store.check(b"a", 1);
}

#[test]
fn verify_finds_a_chunk_that_nothing_leads_to() {
    let store = Store::new();
    store.environment.write(|tx| crate::Records::open_or_create(tx, b"records")).unwrap();
    store.add(b"a", 1, 1);
    store
        .environment
        .write(|tx| {
            let (_, root) = crate::tree::catalog::all(tx)?
                .into_iter()
                .find_map(|(name, kind, root)| (name == b"contents").then_some((kind, root)))
                .unwrap();
            crate::tree::node::initialize(&mut tx.page_mut(root)?, 0);
            Ok::<_, Error>(())
        })
        .unwrap();
    let problems = store.environment.verify().unwrap().problems;
    assert!(problems.iter().any(|problem| problem.contains("no content leads to it")), "{problems:?}");
}

/// Two jobs in one transaction, by the queue: the one that fails takes its runs with it and no others.
#[test]
fn a_job_beside_others_is_rolled_back_alone() {
    use std::sync::Mutex;
    type Outcomes = Arc<Mutex<Vec<(u8, bool)>>>;
    struct Adding {
        contents: Contents,
        byte: u8,
        succeeds: bool,
        outcomes: Outcomes,
    }
    impl crate::Job for Adding {
        fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
            let bytes = vec![self.byte; 100_000];
            let id = &[self.byte];
            let added = self.contents.begin(tx, id, 0).and_then(|_| self.contents.append(tx, id, 0, &bytes, 0));
            added.and_then(|_| self.contents.link(tx, id, id)).unwrap();
            if !self.succeeds {
                // Also what an earlier job of this transaction wrote.
                self.contents.unlink(tx, &[1]).unwrap();
            }
            self.succeeds
        }
        fn done(self: Box<Self>, outcome: Result<TransactionId>) {
            self.outcomes.lock().unwrap().push((self.byte, outcome.is_ok()));
        }
    }
    let store = Store::new();
    let outcomes = Outcomes::default();
    let before = store.environment.read().id();
    let mut leads = Vec::new();
    for (byte, succeeds) in [(1, true), (2, false), (3, true)] {
        let (contents, outcomes) = (store.contents, outcomes.clone());
        leads.push(store.environment.submit(Box::new(Adding { contents, byte, succeeds, outcomes })));
    }
    leads.into_iter().flatten().for_each(crate::Lead::run);
    assert_eq!(*outcomes.lock().unwrap(), [(1, true), (2, true), (3, true)]);
    assert_eq!(store.environment.read().id().0, before.0 + 1, "they shared a transaction");
    let reopened = Store::of(store.io.kill());
    for (byte, is_there) in [(1, true), (2, false), (3, true)] {
        let found = reopened.contents.find(&reopened.environment.read(), &[byte]).unwrap();
        assert_eq!(found.is_some(), is_there, "{byte}");
    }
    reopened.check(&[1], 1);
    reopened.check(&[3], 3);
}
