//! Damaged bytes are found, not served: bits of the files are flipped behind the engine's back.
//!
//! After a clean close and after a kill; then every key is read. What is read without an error must be right, and a case
//! in which everything reads right must not have lost anything either.

use crate::crash_support::damage::{build, build_of, read, served_right};
use crate::flipped_io::FlippedIo;
use crate::model_support::{self, FOLDER, Model, make_structures, options};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use storage::io::simulated::{Fate, SimulatedIo};
use storage::{Environment, Error};
use testing::effort::is_slow;
use testing::random::Random;
use testing::seeds::{Case, in_parallel, seeds};

#[test]
fn a_flipped_bit_is_found_or_does_not_matter() {
    for seed in seeds(6, 60) {
        let _case = Case::of(seed);
        for close in [true, false] {
            let (io, models) = build(seed, close);
            let mut random = Random::at(seed ^ 0xB175);
            let mut found = 0;
            for _ in 0..60 {
                let image = io.crash(|| Fate::Persisted);
                let names: Vec<String> = image.contents(Path::new(FOLDER)).into_keys().collect();
                let name = &names[random.below(names.len() as u64) as usize];
                image.damage(&Path::new(FOLDER).join(name), |bytes| {
                    if !bytes.is_empty() {
                        let bit = random.below(bytes.len() as u64 * 8);
                        bytes[bit as usize / 8] ^= 1 << (bit % 8);
                    }
                });
                // After a kill a damaged record at the very end looks like one that was being written (P10).
                let allowed = if close || name == "data" { &models[..1] } else { &models[..] };
                found += u64::from(!served_right(&image, allowed));
            }
            assert!(found > 0 || seed > 0, "no damage was found at all");
        }
    }
}

#[test]
fn a_damaged_page_is_not_mended_by_the_replay() {
    for seed in seeds(6, 60) {
        let _case = Case::of(seed);
        let (io, models) = build(seed, false);
        let whole = io.crash(|| Fate::Persisted);
        let length = whole.contents(Path::new(FOLDER))["data"].len();
        let mut found = 0;
        for page in 2..length / 8192 {
            let image = whole.crash(|| Fate::Persisted);
            image.damage(&Path::new(FOLDER).join("data"), |bytes| {
                bytes[page * 8192 + 100..page * 8192 + 4000].iter_mut().for_each(|byte| *byte ^= 0x55);
            });
            found += u64::from(!served_right(&image, &models[..1]));
        }
        assert!(found > 0, "no damage was found at all");
    }
}

/// Found by the swapped pages of `planted/main.rs`: such an environment was taken for a new one, and made anew.
#[test]
fn a_damaged_bitmap_does_not_make_an_environment_look_new() {
    const BITMAP: std::ops::Range<usize> = 2 * 8192..3 * 8192;
    const KIND: usize = 2 * 8192 + 32;
    let (io, models) = build(1, true);
    let zeroed = |bytes: &mut Vec<u8>| bytes[BITMAP].fill(0);
    let of_another_kind = |bytes: &mut Vec<u8>| bytes[KIND] ^= 1;
    for damage in [&zeroed as &dyn Fn(&mut Vec<u8>), &of_another_kind] {
        let image = io.crash(|| Fate::Persisted);
        image.damage(&Path::new(FOLDER).join("data"), |bytes| damage(bytes));
        let before = image.contents(Path::new(FOLDER));
        // Refused at once, or at the first write.
        let Ok(environment) = Environment::open(Path::new(FOLDER), options(&image)) else { continue };
        let written = environment.write(|tx| storage::Tree::open_or_create(tx, b"more"));
        assert!(matches!(written, Err(Error::Corrupt { .. })), "{written:?}");
        drop(environment);
        assert!(image.contents(Path::new(FOLDER)) == before, "a damaged environment was written to");
        served_right(&image, &models[..1]);
    }
}

#[test]
fn a_page_that_an_old_snapshot_sees_below_a_new_one_is_verified_too() {
    let io = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
    let structures = make_structures(&environment).unwrap();
    environment.write(|tx| structures.tree.put(tx, b"key", &[0xAB; 20_000])).unwrap();
    environment.close().unwrap();
    image_with_damaged_run(&io);
    let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
    let old = environment.read();
    // Frees the value and uses its pages again, without ever reading them.
    environment.write(|tx| structures.tree.delete(tx, b"key")).unwrap();
    environment.write(|tx| structures.tree.put(tx, b"key", &[0xCD; 20_000])).unwrap();
    let seen = structures.tree.get(&old, b"key");
    assert!(matches!(seen, Err(Error::Corrupt { .. })), "a damaged value is served");
}

/// A leaf that was full, or nearly empty, read the one beside it to share or join with it: damage there refused the write here.
#[test]
fn damage_in_one_leaf_refuses_no_write_to_its_neighbours() {
    const KEYS: u64 = 2_000;
    let disk = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
    let model_support::Structures { tree, fixed, .. } = make_structures(&environment).unwrap();
    let key = |index: u64| (index * 7919 % KEYS).to_be_bytes();
    environment
        .write(|tx| {
            (0..KEYS).try_for_each(|index| {
                tree.put(tx, &key(index), &[1; 60])?;
                fixed.put(tx, index * 7919 % KEYS, index)
            })
        })
        .unwrap();
    environment.close().unwrap();
    let data = disk.contents(Path::new(FOLDER))["data"].clone();
    let is_leaf = |page: &[u8]| matches!(page[32], 2 | 3) && page[33] == 0 && page[128..].iter().any(|byte| *byte != 0);
    let leaves: Vec<usize> =
        data.chunks(8192).enumerate().skip(2).filter(|(_, page)| is_leaf(page)).map(|(n, _)| n).collect();
    assert!(leaves.len() > 20, "{} leaves", leaves.len());
    let mut refused = 0;
    for leaf in leaves {
        let image = disk.crash(|| Fate::Persisted);
        image.damage(&Path::new(FOLDER).join("data"), |bytes| bytes[leaf * 8192 + 5000] ^= 1);
        let Ok(environment) = Environment::open(Path::new(FOLDER), options(&image)) else { continue };
        for index in 0..KEYS {
            let is_readable = |snapshot: &storage::ReadTransaction<'_>| {
                tree.get(snapshot, &key(index)).is_ok() && fixed.get(snapshot, index * 7919 % KEYS).is_ok()
            };
            if !is_readable(&environment.read()) {
                refused += 1;
                continue;
            }
            environment.write(|tx| tree.put(tx, &key(index), &[2; 300])).unwrap();
            if index % 10 > 0 {
                environment.write(|tx| tree.delete(tx, &key(index))).unwrap();
                environment.write(|tx| fixed.delete(tx, index * 7919 % KEYS)).unwrap();
            }
        }
    }
    assert!(refused > 0, "the damage was in no leaf that has keys");
}

fn image_with_damaged_run(io: &SimulatedIo) {
    io.damage(&Path::new(FOLDER).join("data"), |bytes| {
        let at = bytes.windows(100).position(|window| window == [0xAB; 100]).expect("the value is in the file");
        bytes[at + 10_000] ^= 1;
    });
}

#[test]
fn a_damaged_branch_is_found_online_although_a_copy_of_it_is_in_use() {
    const LEVEL: usize = 33;
    let io = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
    let structures = make_structures(&environment).unwrap();
    let put_all = |environment: &Environment| {
        environment
            .write(|tx| (0..500u64).try_for_each(|key| structures.tree.put(tx, &key.to_be_bytes(), &[1; 200])))
            .unwrap();
    };
    let damage = |bytes: &mut Vec<u8>| {
        let branch = bytes.chunks_mut(8192).skip(2).find(|page| page[LEVEL] > 0).expect("the tree has a branch");
        branch[5000] ^= 1;
    };
    put_all(&environment);
    environment.flush().unwrap();
    assert!(environment.verify().unwrap().problems.is_empty());
    // Kept by the flush; and, opened again, by the first reader.
    io.damage(&Path::new(FOLDER).join("data"), damage);
    let report = environment.verify().unwrap();
    assert!(report.problems.iter().any(|problem| problem.contains("checksum")), "{:?}", report.problems);
    io.damage(&Path::new(FOLDER).join("data"), damage);
    drop(environment);
    let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
    assert!(structures.tree.get(&environment.read(), &7u64.to_be_bytes()).unwrap().is_some());
    assert!(environment.verify().unwrap().problems.is_empty());
    io.damage(&Path::new(FOLDER).join("data"), damage);
    let report = environment.verify().unwrap();
    assert!(report.problems.iter().any(|problem| problem.contains("checksum")), "{:?}", report.problems);
    // The copy is changed as a page of the file would be.
    put_all(&environment);
    environment.flush().unwrap();
    assert!(structures.tree.get(&environment.read(), &499u64.to_be_bytes()).unwrap().is_some());
}

#[test]
fn a_journal_or_data_file_that_is_gone_or_cut_is_damage() {
    use storage::io::Io;
    for close in [false, true] {
        let (io, models) = build(2, close);
        let files = io.contents(Path::new(FOLDER));
        // Also a data file that is gone after a clean end, when no journal is left.
        for name in files.keys().filter(|name| *name == "data" || name.starts_with("journal")) {
            let image = io.crash(|| Fate::Persisted);
            image.remove(&Path::new(FOLDER).join(name)).unwrap();
            let opened = Environment::open(Path::new(FOLDER), options(&image));
            assert!(matches!(opened, Err(Error::CorruptFile { .. })), "{name} is gone, and nobody says so");
            let image = io.crash(|| Fate::Persisted);
            image.damage(&Path::new(FOLDER).join(name), |bytes| bytes.truncate(bytes.len() / 2 / 4096 * 4096));
            if name == "data" {
                served_right(&image, &models[..1]);
                continue;
            }
            let opened = Environment::open(Path::new(FOLDER), options(&image));
            assert!(matches!(opened, Err(Error::CorruptFile { .. })), "half of {name} is gone, and nobody says so");
        }
    }
}

/// What became of the cases of one image.
#[derive(Default, Debug)]
struct Flips {
    cases: AtomicU64,
    /// An error names the damage.
    found: AtomicU64,
    /// All is served as it was: nothing depends on the bit, or another copy is in force.
    harmless: AtomicU64,
    /// The last transaction before a kill is taken for one that was not answered (P10).
    torn: AtomicU64,
}

/// Where the last record of the journals lies: the file, and its bytes.
fn last_record(files: &BTreeMap<String, Vec<u8>>) -> Option<(String, Range<usize>)> {
    const ALIGNMENT: usize = 4096;
    let number_at = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let journals = files.iter().filter(|(name, _)| name.starts_with("journal"));
    let records = journals.flat_map(|(name, bytes)| {
        let starts = (0..bytes.len()).step_by(ALIGNMENT).filter(|at| bytes[*at..].starts_with(b"ROOKJRN1"));
        starts.map(move |at| (number_at(bytes, at + 24), name, at..at + 128 + number_at(bytes, at + 56) as usize))
    });
    let (_, name, range) = records.max_by_key(|(transaction, ..)| *transaction)?;
    Some((name.clone(), range))
}

/// Flips each of the bits that `chosen` tells for a file's length, and for each opens the files and reads everything.
fn flip_each(name: &str, io: &SimulatedIo, models: &[Model; 2], close: bool, chosen: impl Fn(usize) -> Vec<usize>) {
    const BITS_PER_TASK: usize = 1 << 12;
    let files = io.contents(Path::new(FOLDER));
    let torn = last_record(&files).filter(|_| !close);
    let mut tasks = Vec::new();
    for (name, bytes) in &files {
        tasks.extend(chosen(bytes.len() * 8).chunks(BITS_PER_TASK).map(|bits| (name.clone(), bits.to_vec())));
    }
    let bytes: usize = files.values().map(Vec::len).sum();
    println!(
        "{name}: {bytes} bytes in {:?}",
        files.iter().map(|(name, bytes)| (name, bytes.len())).collect::<Vec<_>>()
    );
    let flips = Flips::default();
    let count = |counter: &AtomicU64| _ = counter.fetch_add(1, Ordering::Relaxed);
    in_parallel(
        0..tasks.len() as u64,
        || FlippedIo::new(files.clone()),
        |io, task| {
            let (name, bits) = &tasks[task as usize];
            for bit in bits {
                count(&flips.cases);
                let seen = io.with_flipped(name, *bit, || {
                    Environment::open(Path::new(FOLDER), options(io)).and_then(|environment| read(&environment))
                });
                match seen {
                    Ok(seen) if model_support::same(&seen, &models[0]) => count(&flips.harmless),
                    Ok(seen) => {
                        let in_torn =
                            torn.as_ref().is_some_and(|(file, range)| file == name && range.contains(&(bit / 8)));
                        let before = model_support::same(&seen, &models[1]);
                        assert!(in_torn && before, "bit {bit} of {name}: {seen:?} instead of {:?}", models[0]);
                        count(&flips.torn);
                    }
                    Err(Error::Corrupt { .. } | Error::CorruptFile { .. }) => count(&flips.found),
                    Err(error) => panic!("bit {bit} of {name}: reported as something else: {error}"),
                }
            }
        },
    );
    println!("{name}: {flips:?}");
    assert!(flips.found.into_inner() > 0, "no damage was found at all");
    assert_eq!(flips.torn.into_inner() > 0, torn.is_some(), "a damaged last record after a kill looks torn");
}

/// Every bit of every file with `SLOW=1`; else some 3,000 of each image, others with another `SEED`.
#[test]
fn every_single_bit_is_found_or_does_not_matter() {
    for seed in seeds(1, 1) {
        for close in [true, false] {
            // About a megabyte each: the journals that a kill leaves count as well.
            let transactions = if !is_slow() {
                12
            } else if close {
                84
            } else {
                36
            };
            let (io, models) = build_of(seed, close, transactions);
            let chosen = |bits: usize| {
                if is_slow() {
                    return (0..bits).collect();
                }
                let mut random = Random::at(seed ^ bits as u64);
                (0..1000).map(|_| random.below(bits as u64) as usize).collect()
            };
            let name = if close { "closed cleanly" } else { "killed" };
            let _case = Case::of(seed);
            flip_each(name, &io, &models, close, chosen);
        }
    }
}

/// Every flush failed from then on, and writes went on: neither the journal nor the versions in memory were ever given back.
#[test]
fn a_damaged_bitmap_refuses_writes_at_the_next_flush() {
    let io = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
    let structures = make_structures(&environment).unwrap();
    let put = |value: u8| environment.write(|tx| structures.tree.put(tx, b"key", &[value; 100]));
    let seen = || structures.tree.get(&environment.read(), b"key").unwrap().map(<[u8]>::to_vec);
    put(1).unwrap();
    environment.flush().unwrap();
    io.damage(&Path::new(FOLDER).join("data"), |bytes| bytes[2 * 8192 + 5000] ^= 1);
    // The scrub: from here on the bitmap counts as never looked at, as that of a later span does after opening.
    assert!(matches!(environment.verify(), Err(Error::Corrupt { .. })));
    put(2).unwrap();
    let is_damage = |error: &Error| match error {
        Error::Failed { cause, .. } => matches!(**cause, Error::Corrupt { .. }),
        _ => false,
    };
    assert!(environment.flush().is_err_and(|error| is_damage(&error)));
    assert!(put(3).is_err_and(|error| is_damage(&error)));
    assert_eq!(seen(), Some(vec![2; 100]), "what was answered is read");
}
