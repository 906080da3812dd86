//! Contents beside a model of them: random histories, snapshots, crashes and errors at every operation, damage.

use crate::contents_support::{
    Change, Model, Outcome, Structures, agree_with_the_model, apply, check, crash_somewhere, find_structures, history,
    make_structures, open, shows, transaction, verify,
};
use crate::crash_support::interrupted::Interrupted;
use crate::crash_support::{Counts, images, random_fate, recover};
use crate::model_support::FOLDER;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use storage::io::simulated::{Fate, Fault, SimulatedIo};
use storage::limits::{CONTENT_CHUNK_SIZE_MAX, CONTENT_CHUNKS_FREED_AT_ONCE, PAGE_SIZE};
use storage::{Contents, Durability, Environment, Error, Options};
use testing::effort::is_slow;
use testing::random::Random;
use testing::seeds::{each_seed, seeds};

#[test]
fn contents_agree_with_their_model() {
    each_seed(seeds(60, 6_000), |seed| {
        let mut random = Random::at(seed ^ 0xC047);
        let io = SimulatedIo::new();
        let mut environment = open(&io).unwrap();
        let mut structures = make_structures(&environment).unwrap();
        let mut model = Model::default();
        for _ in 0..3 {
            agree_with_the_model(&environment, structures, &mut random, &mut model);
            if random.chance(2) {
                environment.close().unwrap();
            } else {
                drop(environment);
            }
            environment = open(&io).unwrap();
            structures = find_structures(&environment).unwrap();
            assert!(shows(&environment.read(), structures, &model), "a content is gone");
        }
        drop(environment);
        check(&io, &Outcome { answered: model, in_flight: None });
    });
}

/// In memory and where commits are lazy chunks are versions, as other values are.
#[test]
fn contents_without_a_file_and_lazy_ones_agree_with_their_model() {
    each_seed(seeds(20, 1_000), |seed| {
        let mut random = Random::at(seed ^ 0x1A27);
        let io = SimulatedIo::new();
        let lazy = Options { durability: Durability::Lazy, ..crate::model_support::options(&io) };
        let environments =
            [Environment::in_memory(Options::default()).unwrap(), Environment::open(Path::new(FOLDER), lazy).unwrap()];
        for environment in environments {
            let structures = make_structures(&environment).unwrap();
            let mut model = Model::default();
            agree_with_the_model(&environment, structures, &mut random, &mut model);
        }
    });
}

fn once(at: u64) -> Fault {
    Fault { at, for_ever: false, kind: ErrorKind::Other }
}

/// A crash behind every operation of a history; or every `step`th of them.
fn crash_behind_each(run: impl Fn(&SimulatedIo) -> Outcome, seed: u64, (step, samples): (u64, u64), counts: &Counts) {
    let whole = SimulatedIo::new();
    run(&whole);
    let mut random = Random::at(seed ^ 0xC4A5);
    for at in (seed % step..=whole.operations()).step_by(step as usize) {
        let io = SimulatedIo::new();
        counts.inject(&io, once(at));
        let outcome = run(&io);
        io.fail_at(None);
        images(&io, &mut random, samples, |image| {
            counts.images.fetch_add(1, Ordering::Relaxed);
            check(&image, &outcome);
        });
    }
}

#[test]
fn a_crash_at_any_operation_leaves_linked_contents_whole_and_nothing_else() {
    let counts = Counts::default();
    each_seed(seeds(10, 600), |seed| crash_behind_each(|io| history(io, seed, 8), seed, (1, 2), &counts));
    counts.report("contents: random histories");
}

#[test]
fn long_histories_of_contents_survive_a_crash() {
    let counts = Counts::default();
    each_seed(seeds(60, 10_000), |seed| {
        crash_somewhere(seed, &counts);
    });
    counts.report("contents: long histories");
}

/// A history whose last flush fails `fault_after` operations behind transactions that come in its middle. `None`: it has fewer.
fn interrupted_history(disk: &SimulatedIo, seed: u64, fault_after: u64) -> Option<Outcome> {
    let mut random = Random::at(seed ^ 0x1F1B);
    let interrupted = Interrupted::open(disk);
    let structures = make_structures(&interrupted.environment).unwrap();
    let mut model = Model::default();
    for _ in 0..1 + random.below(3) {
        commit(&interrupted.environment, structures, &mut random, &mut model, 5);
        interrupted.environment.flush().unwrap();
    }
    commit(&interrupted.environment, structures, &mut random, &mut model, 4);
    // The flush has something to write.
    let change = Change::Put(0, random.bytes(100));
    interrupted.environment.write(|tx| apply(structures, tx, &mut model, &change)).unwrap();
    let model = Arc::new(Mutex::new(model));
    let (shared, faulty) = (model.clone(), disk.clone());
    let flushed = interrupted.flush(move |environment| {
        commit(environment, structures, &mut random, &mut shared.lock().unwrap(), 5);
        faulty.fail_at(Some(once(faulty.operations() + fault_after)));
    });
    disk.fail_at(None);
    let answered = model.lock().unwrap().clone();
    flushed.is_err().then_some(Outcome { answered, in_flight: None })
}

fn commit(environment: &Environment, structures: Structures, random: &mut Random, model: &mut Model, count: u64) {
    (0..count).for_each(|_| transaction(environment, structures, random, model).expect("nothing fails"));
}

/// Chunks are written while a flush is on its way, which a fault cuts short; then the recovery and its flush are cut short as well.
#[test]
fn a_crash_in_a_flush_beside_uploads_and_in_what_follows_loses_nothing() {
    let counts = Counts::default();
    each_seed(seeds(10, 600), |seed| {
        let mut random = Random::at(seed ^ 0x2C2B);
        for fault_after in 0.. {
            let disk = SimulatedIo::new();
            counts.count_injection();
            let Some(outcome) = interrupted_history(&disk, seed, fault_after) else { return };
            for _ in 0..3 {
                let image = if random.chance(3) { disk.kill() } else { disk.crash(|| random_fate(&mut random)) };
                let again = image.kill();
                counts.inject(&again, once(random.below(40)));
                recover(&again);
                again.fail_at(None);
                for image in [image, again.crash(|| random_fate(&mut random))] {
                    counts.images.fetch_add(1, Ordering::Relaxed);
                    check(&image, &outcome);
                }
            }
        }
    });
    counts.report("contents: interrupted flushes");
}

/// Each operation fails in the ways that a device has; then the next process sees what was written, also what a failed sync lost.
#[test]
fn an_error_at_any_operation_harms_no_content_that_was_answered() {
    let counts = Counts::default();
    each_seed(seeds(6, 600), |seed| {
        let whole = SimulatedIo::new();
        history(&whole, seed, 8);
        let mut random = Random::at(seed ^ 0xE221);
        for at in 0..=whole.operations() {
            let kinds = [ErrorKind::Other, ErrorKind::StorageFull, ErrorKind::PermissionDenied];
            let io = SimulatedIo::new();
            counts.inject(&io, Fault { at, for_ever: random.chance(2), kind: *random.of(&kinds) });
            let outcome = history(&io, seed, 8);
            io.fail_at(None);
            let images = [io.kill(), io.crash(|| random_fate(&mut random)), io.crash(|| Fate::Lost)];
            for image in images {
                counts.images.fetch_add(1, Ordering::Relaxed);
                check(&image, &outcome);
            }
        }
    });
    counts.report("contents: errors");
}

/// Runs scripted transactions, with a flush behind those of which it is said, until one fails.
fn script(io: &SimulatedIo, steps: &[(&[Change], bool)]) -> Outcome {
    let mut outcome = Outcome { answered: Model::default(), in_flight: None };
    let Ok(environment) = open(io) else { return outcome };
    let Ok(structures) = make_structures(&environment) else { return outcome };
    for (changes, flushes) in steps {
        let mut next = outcome.answered.clone();
        let written =
            environment.write(|tx| changes.iter().try_for_each(|change| apply(structures, tx, &mut next, change)));
        if written.is_err() {
            outcome.in_flight = Some(next);
            return outcome;
        }
        outcome.answered = next;
        if *flushes && environment.flush().is_err() {
            return outcome;
        }
    }
    outcome
}

/// Several chunks in one transaction; and later ones in pages that were others' before.
#[test]
fn a_crash_while_large_pieces_are_written_leaves_linked_contents_whole() {
    let counts = Counts::default();
    let (one, other) = (Random::at(1).bytes(2_500_000), Random::at(2).bytes(2_400_000));
    let hash = |bytes: &[u8]| crate::contents_support::hash_of(bytes);
    let steps: [(&[Change], bool); 7] = [
        (&[Change::Begin(0), Change::Append(0, one.clone())], false),
        (&[Change::Link(0), Change::Begin(1)], true),
        (&[Change::Unlink(hash(&one))], false),
        (&[Change::Append(1, other.clone())], true),
        (&[Change::Begin(2), Change::Append(2, one.clone())], false),
        (&[Change::Append(2, other), Change::Cancel(1)], false),
        (&[Change::Link(2)], true),
    ];
    let step = if is_slow() { 1 } else { 5 };
    crash_behind_each(|io| script(io, &steps), 3, (step, 1), &counts);
    counts.report("contents: large pieces");
}

/// A content of more chunks than one transaction frees, freed in steps.
fn many_chunks(io: &SimulatedIo) -> Result<(), Error> {
    let environment = open(io)?;
    let contents = environment.write(|tx| Contents::open_or_create(tx, b"contents"))?;
    let count = CONTENT_CHUNKS_FREED_AT_ONCE as u64 * 2 + 3;
    environment.write(|tx| {
        contents.begin(tx, b"upload", 0)?;
        (0..count).try_for_each(|index| contents.append(tx, b"upload", index * 9, b"123456789", 0).map(drop))?;
        contents.link(tx, b"upload", b"hash").map(drop)
    })?;
    environment.flush()?;
    environment.write(|tx| contents.unlink(tx, b"hash").map(drop))?;
    environment.flush()?;
    while environment.write(|tx| contents.free(tx))? {
        environment.flush()?;
    }
    environment.close()
}

#[test]
fn a_crash_between_the_steps_of_freeing_loses_no_page() {
    let whole = SimulatedIo::new();
    many_chunks(&whole).unwrap();
    let mut random = Random::at(5);
    let step = if is_slow() { 1 } else { 3 };
    let mut halfway = 0;
    for at in (0..whole.operations()).step_by(step) {
        let io = SimulatedIo::new();
        io.fail_at(Some(once(at)));
        // What failed may have been tried again, or may not matter.
        many_chunks(&io).ok();
        images(&io, &mut random, 1, |image| {
            let environment = open(&image).unwrap();
            verify(&environment);
            let Some(contents) = Contents::open(&environment.read(), b"contents").unwrap() else { return };
            halfway += u64::from(contents.has_chunks_to_free(&environment.read()).unwrap());
            contents.remove_uploads(&environment, None).unwrap();
            environment.write(|tx| contents.unlink(tx, b"hash")).unwrap();
            while environment.write(|tx| contents.free(tx)).unwrap() {}
            let report = environment.verify().unwrap();
            assert_eq!(report.problems, Vec::<String>::new());
            assert!(report.structures["contents"].entries <= 1, "more than the next number is left");
        });
    }
    assert!(halfway > 0, "no crash came between two steps");
}

/// Each page of two contents is damaged in turn: an error names it where it is read, `verify` finds it, and the other is read.
#[test]
fn a_flipped_bit_in_a_chunk_is_found_when_it_is_read_and_by_verify() {
    let io = SimulatedIo::new();
    let environment = open(&io).unwrap();
    let structures = make_structures(&environment).unwrap();
    let mut model = Model::default();
    let contents = [vec![0xAB; CONTENT_CHUNK_SIZE_MAX + 30_000], vec![0xCD; 40_000]];
    for (upload, bytes) in (0..).zip(&contents) {
        let changes = [Change::Begin(upload), Change::Append(upload, bytes.clone()), Change::Link(upload)];
        environment
            .write(|tx| changes.iter().try_for_each(|change| apply(structures, tx, &mut model, change)))
            .unwrap();
    }
    environment.close().unwrap();
    let data = io.contents(Path::new(FOLDER))["data"].clone();
    let has = |page: &[u8], byte: u8| page.windows(100).any(|bytes| bytes == [byte; 100]);
    let mut random = Random::at(9);
    let mut damaged = 0;
    for (page, bytes) in data.chunks(PAGE_SIZE).enumerate() {
        let Some(of) = [0xAB, 0xCD].iter().position(|byte| has(bytes, *byte)) else { continue };
        if !is_slow() && !random.chance(8) {
            continue;
        }
        damaged += 1;
        let image = io.crash(|| Fate::Persisted);
        image.damage(&Path::new(FOLDER).join("data"), |bytes| {
            bytes[page * PAGE_SIZE + random.below(PAGE_SIZE as u64) as usize] ^= 1 << random.below(8);
        });
        let environment = open(&image).unwrap();
        let tx = environment.read();
        for (index, bytes) in contents.iter().enumerate() {
            let hash = crate::contents_support::hash_of(bytes).to_be_bytes();
            let mut reading = structures.contents.read(&tx, &hash, 0..u64::MAX).unwrap().unwrap();
            let error = loop {
                match reading.next() {
                    Ok(Some(piece)) => assert!(piece.iter().all(|byte| *byte == bytes[0]), "damaged bytes are served"),
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            };
            assert_eq!(matches!(error, Some(Error::Corrupt { .. })), index == of, "page {page}: {error:?}");
        }
        let problems = environment.verify().unwrap().problems;
        assert!(problems.iter().any(|problem| problem.contains("checksum")), "{problems:?}");
    }
    assert!(damaged > 5, "{damaged} pages");
}

#[test]
fn reading_verifies_each_time() {
    let io = SimulatedIo::new();
    let environment = open(&io).unwrap();
    let structures = make_structures(&environment).unwrap();
    let mut model = Model::default();
    let bytes = vec![0xAB; 50_000];
    let changes = [Change::Begin(0), Change::Append(0, bytes.clone()), Change::Link(0)];
    environment.write(|tx| changes.iter().try_for_each(|change| apply(structures, tx, &mut model, change))).unwrap();
    let hash = crate::contents_support::hash_of(&bytes).to_be_bytes();
    let read = || structures.contents.read(&environment.read(), &hash, 0..10).unwrap().unwrap().next().map(|_| ());
    read().unwrap();
    io.damage(&Path::new(FOLDER).join("data"), |bytes| {
        let at = bytes.windows(100).position(|window| window == [0xAB; 100]).expect("the chunk is in the file");
        bytes[at + 45_000] ^= 1;
    });
    assert!(matches!(read(), Err(Error::Corrupt { .. })), "damage that came later is served");
}
