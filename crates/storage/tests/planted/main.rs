//! Who tests the tests: bugs are planted, and the crash, damage and model tests have to see each of them.
//!
//! `storage::planted::Bug` and `planted_io` list the bugs. For each, the same cases run twice: as the engine is, when
//! none may fail, and with the bug, when one has to. The cases are those of the crash harness (`crash_support`) with
//! fewer seeds. `cargo test -p rookery-storage --features planted-bugs --test planted -- --nocapture` says how each was
//! seen.
//!
//! This is a binary of its own because it needs the engine with the feature `planted-bugs`, which no other test has.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

#[path = "../main/contents_support.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod contents_support;
#[path = "../main/crash_support/mod.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod crash_support;
#[path = "../main/hooked_io.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod hooked_io;
#[path = "../main/model_support.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod model_support;
mod planted_io;

use crash_support::damage::{build, served_right};
use crash_support::interrupted::crash_again_and_again;
use crash_support::{Counts, check, history, images};
use model_support::{FOLDER, Model, Scenario, read_all};
use planted_io::{DiskBug, PlantedIo};
use std::cell::{Cell, RefCell};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;
use storage::io::simulated::{Fate, Fault, SimulatedIo};
use storage::planted::{Bug, plant};
use testing::random::Random;

/// Seeds of each kind of case. Each bug has to be seen within these.
const SEEDS: u64 = 12;

const PAGE_SIZE: usize = 8192;

thread_local! {
    /// The panics of this thread are expected: the last one is kept instead of printed.
    static IS_EXPECTED: Cell<bool> = const { Cell::new(false) };
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs a case in which a bug may be planted; what it died of, if it did.
fn failure_of(case: impl FnOnce()) -> Option<String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if IS_EXPECTED.get() {
                LAST_PANIC.set(panic.to_string().replace('\n', " "));
            } else {
                before(panic);
            }
        }));
    });
    IS_EXPECTED.set(true);
    let ended = catch_unwind(AssertUnwindSafe(case));
    IS_EXPECTED.set(false);
    ended.is_err().then(|| LAST_PANIC.take())
}

/// Holds when the cases see a bug, and see none where none is.
#[track_caller]
fn check_that_it_is_seen(name: &str, mut cases: impl FnMut(u64), mut cases_with_bug: impl FnMut(u64)) {
    (0..SEEDS).for_each(&mut cases);
    let seen = (0..SEEDS).find_map(|seed| Some((seed, failure_of(|| cases_with_bug(seed))?)));
    let (seed, failure) = seen.unwrap_or_else(|| panic!("{name}: planted, and no case of {SEEDS} seeds sees it"));
    let failure: String = failure.chars().take(300).collect();
    println!("{name}: seen with seed {seed}: {failure}");
}

/// A crash at every operation of a history, and at its end.
fn crash_everywhere(seed: u64, bug: DiskBug) {
    const TRANSACTIONS: u64 = 6;
    let disk = || PlantedIo { disk: SimulatedIo::new(), bug };
    let whole = disk();
    history(&whole, seed, TRANSACTIONS);
    let mut random = Random::at(seed ^ 0xC4A5);
    for at in 0..=whole.disk.operations() {
        let io = disk();
        io.disk.fail_at(Some(Fault { at, for_ever: false, kind: ErrorKind::Other }));
        let outcome = history(&io, seed, TRANSACTIONS);
        images(&io.disk, &mut random, 2, |image| check(&image, &outcome));
    }
}

/// The same for contents.
fn crash_contents_everywhere(seed: u64, bug: DiskBug) {
    const TRANSACTIONS: u64 = 8;
    let disk = || PlantedIo { disk: SimulatedIo::new(), bug };
    let whole = disk();
    contents_support::history(&whole, seed, TRANSACTIONS);
    let mut random = Random::at(seed ^ 0xC4A6);
    for at in 0..=whole.disk.operations() {
        let io = disk();
        io.disk.fail_at(Some(Fault { at, for_ever: false, kind: ErrorKind::Other }));
        let outcome = contents_support::history(&io, seed, TRANSACTIONS);
        io.disk.fail_at(None);
        images(&io.disk, &mut random, 2, |image| contents_support::check(&image, &outcome));
    }
}

#[track_caller]
fn check_disk_bug(bug: DiskBug) {
    let cases = |bug| move |seed| crash_everywhere(seed, bug);
    check_that_it_is_seen(&format!("{bug:?}"), |_| (), cases(bug));
}

/// Runs cases with and without a bug of the engine.
#[track_caller]
fn check_engine_bug(bug: Bug, case: impl Fn(u64)) {
    let with_bug = |seed| {
        plant(Some(bug));
        let ended = catch_unwind(AssertUnwindSafe(|| case(seed)));
        plant(None);
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    };
    check_that_it_is_seen(&format!("{bug:?}"), &case, with_bug);
}

/// One bit of the data file flipped, again and again.
fn flip_bits(seed: u64) {
    let (io, models) = build(seed, true);
    let mut random = Random::at(seed ^ 0xB175);
    for _ in 0..100 {
        let image = io.crash(|| Fate::Persisted);
        image.damage(&Path::new(FOLDER).join("data"), |bytes| {
            let bit = random.below(bytes.len() as u64 * 8) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
        });
        served_right(&image, &models[..1]);
    }
}

/// Two pages of the data file in each other's place, each whole.
fn swap_pages(seed: u64) {
    let (io, models) = build(seed, true);
    let mut random = Random::at(seed ^ 0x5A4B);
    let pages = io.contents(Path::new(FOLDER))["data"].len() / PAGE_SIZE;
    for _ in 0..200 {
        let image = io.crash(|| Fate::Persisted);
        let (one, other) = (2 + random.below(pages as u64 - 2) as usize, 2 + random.below(pages as u64 - 2) as usize);
        image.damage(&Path::new(FOLDER).join("data"), |bytes| {
            let first = bytes[one * PAGE_SIZE..][..PAGE_SIZE].to_vec();
            bytes.copy_within(other * PAGE_SIZE..(other + 1) * PAGE_SIZE, one * PAGE_SIZE);
            bytes[other * PAGE_SIZE..][..PAGE_SIZE].copy_from_slice(&first);
        });
        served_right(&image, &models[..1]);
    }
}

/// A snapshot that stays open while others write and flush.
fn read_while_writing(seed: u64) {
    let mut random = Random::at(seed);
    let mut scenario = Scenario::new(SimulatedIo::new(), &mut random);
    for _ in 0..6 {
        scenario.transaction(&mut random);
        let environment = scenario.environment.clone();
        let before: Model = scenario.model.clone();
        let tx = environment.read();
        for _ in 0..4 {
            scenario.transaction(&mut random);
            if random.chance(3) {
                environment.flush().unwrap();
            }
        }
        let seen = read_all(&tx, &scenario.structures);
        assert_eq!((&seen.tree, &seen.records), (&before.tree, &before.records), "a snapshot changed");
    }
}

#[test]
fn without_a_planted_bug_no_crash_loses_anything() {
    (0..SEEDS).for_each(|seed| crash_everywhere(seed, DiskBug::None));
}

#[test]
fn an_answer_before_the_sync_is_seen() {
    check_disk_bug(DiskBug::AnswerBeforeSync);
}

#[test]
fn a_folder_that_is_not_synced_is_seen() {
    check_disk_bug(DiskBug::NoDirectorySync);
}

#[test]
fn a_folder_that_is_not_synced_for_a_new_journal_is_seen() {
    check_disk_bug(DiskBug::NoDirectorySyncForJournals);
}

#[test]
fn a_header_that_is_written_before_the_data_is_seen() {
    check_disk_bug(DiskBug::HeaderBeforeData);
}

#[test]
fn a_checkpoint_that_moves_before_the_data_file_is_flushed_is_seen() {
    check_disk_bug(DiskBug::CheckpointBeforeSync);
}

#[test]
fn a_failed_sync_that_is_tried_again_is_seen() {
    check_disk_bug(DiskBug::SyncRetried);
}

#[test]
fn a_page_hash_that_is_not_checked_is_seen() {
    check_engine_bug(Bug::PageHashUnchecked, flip_bits);
}

#[test]
fn a_record_hash_that_is_not_checked_is_seen() {
    check_engine_bug(Bug::RecordHashUnchecked, |seed| crash_everywhere(seed, DiskBug::None));
}

#[test]
fn an_intent_that_is_written_over_the_one_before_is_seen() {
    check_engine_bug(Bug::IntentInPlace, |seed| crash_again_and_again(seed, 4, &Counts::default()));
}

#[test]
fn a_hash_without_the_page_number_is_seen() {
    check_engine_bug(Bug::PlaceUnchecked, swap_pages);
}

#[test]
fn records_before_the_large_values_that_they_name_are_seen() {
    check_engine_bug(Bug::RecordBeforeRuns, |seed| crash_everywhere(seed, DiskBug::None));
}

#[test]
fn records_before_the_chunks_that_they_name_are_seen() {
    check_engine_bug(Bug::RecordBeforeRuns, |seed| crash_contents_everywhere(seed, DiskBug::None));
}

#[test]
fn chunks_in_pages_that_a_crash_could_lead_to_are_seen() {
    check_engine_bug(Bug::FreedIsQuiet, |seed| {
        (0..20).for_each(|more| contents_support::crash_somewhere(seed * 20 + more, &Counts::default()));
    });
}

#[test]
fn chunks_in_pages_that_a_reader_needs_are_seen() {
    check_engine_bug(Bug::FreedIsQuiet, |seed| {
        let environment = contents_support::open(&SimulatedIo::new()).unwrap();
        let structures = contents_support::make_structures(&environment).unwrap();
        let mut model = contents_support::Model::default();
        contents_support::agree_with_the_model(&environment, structures, &mut Random::at(seed), &mut model);
    });
}

#[test]
fn a_page_that_is_used_again_while_a_reader_needs_it_is_seen() {
    check_engine_bug(Bug::ReadersIgnored, read_while_writing);
}

#[test]
fn a_version_that_becomes_the_next_while_a_reader_needs_it_is_seen() {
    check_engine_bug(Bug::SeenRecycled, read_while_writing);
}
