//! Images: taken beside writes and flushes, restored, damaged, and cut short at any moment.

use crate::crash_support::{Counts, images, random_fate};
use crate::hooked_io::{Call, HookedIo};
use crate::image_support::{TARGET, World, begin, check_state, go_on, restore, shows};
use crate::model_support::{
    Model, Structures, apply, apply_to_model, make_structures, options, random_change, read_all, same, verify,
};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{Error as IoError, ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use storage::image::{Error, Restore, Summary, WriteOptions, verify as verify_image};
use storage::io::Io;
use storage::io::simulated::{Fault, SimulatedIo};
use storage::{Durability, Environment, Options, Position, TransactionId, Tree};
use testing::random::Random;
use testing::seeds::{Case, each_seed, seeds};

/// An image, with something done between its parts.
fn image_beside(world: &mut World, mut between: impl FnMut(&mut World)) -> (Vec<u8>, Summary) {
    let environment = world.environment.clone();
    let mut image = Vec::new();
    let summary = environment.write_image(&mut image, &WriteOptions::default(), &mut |_| {
        between(world);
        true
    });
    (image, summary.unwrap())
}

#[test]
fn an_image_that_is_taken_beside_writes_and_flushes_has_the_state_of_its_transaction() {
    let counts = Mutex::new((0, 0, 0));
    each_seed(seeds(24, 3_000), |seed| {
        let mut random = Random::at(seed ^ 0x13A6E);
        let durability = *random.of(&[Durability::Durable, Durability::Durable, Durability::Lazy]);
        let mut world = World::new(|options| Options { durability, ..options });
        let keys = 500 + random.below(3000);
        world.fill(&mut random, keys);
        for _ in 0..random.below(20) {
            world.go_on(&mut random);
        }
        let (mut parts, first) = (0, world.last());
        let (image, summary) = image_beside(&mut world, |world| {
            parts += 1;
            world.go_on(&mut random);
        });
        let transaction = summary.position.transaction;
        assert!(transaction >= first && transaction <= world.last());
        assert_eq!(summary.bytes, image.len() as u64);
        assert_eq!(verify_image(&mut &image[..], &mut go_on).unwrap(), summary);
        let io = SimulatedIo::new();
        assert_eq!(restore(&io, &image).unwrap(), summary.position);
        world.check(&io, transaction);
        verify(&world.environment);
        let mut counts = counts.lock();
        *counts = (counts.0 + parts, counts.1 + summary.records, counts.2 + summary.pages);
    });
    let (parts, records, pages) = *counts.lock();
    println!("images beside writes: {parts} parts, {records} records, {pages} pages");
    assert!(records > 0, "nothing was written beside the images");
}

/// Before each read of the data file by the image: between finding out where pages are and reading them.
#[test]
fn writes_and_flushes_in_the_middle_of_a_piece_leave_it_as_its_snapshot_sees_it() {
    for seed in seeds(12, 1_000) {
        let _case = Case::of(seed);
        let mut random = Random::at(seed ^ 0x91ECE);
        let (disk, hook) = (SimulatedIo::new(), Hook::default());
        let in_hook = hook.clone();
        let io = HookedIo::before(Call::ReadAt, &disk, move |path| {
            // A read in the middle of the hook finds none.
            let taken = if path.ends_with("data") { in_hook.lock().take() } else { None };
            if let Some(mut taken) = taken {
                taken();
                *in_hook.lock() = Some(taken);
            }
            Ok(())
        });
        let environment = Environment::open("/world", Options { io, ..options(&disk) }).unwrap();
        let environment: &'static Environment = Box::leak(Box::new(environment));
        let structures = make_structures(environment).unwrap();
        let mut model = Model::default();
        for _ in 0..60 {
            change(environment, &structures, &mut model, &mut random);
        }
        for key in 0..2_000u64 {
            model.tree.insert(key.to_be_bytes().to_vec(), random.bytes(900));
        }
        let put =
            environment.write(|tx| model.tree.iter().try_for_each(|(key, value)| structures.tree.put(tx, key, value)));
        put.unwrap();
        environment.flush().unwrap();
        let states = Arc::new(Mutex::new(BTreeMap::from([(environment.read().id(), model.clone())])));
        let (in_hook, reads) = (states.clone(), Arc::new(AtomicU64::new(0)));
        let in_reads = reads.clone();
        *hook.lock() = Some(Box::new(move || {
            in_reads.fetch_add(1, Ordering::Relaxed);
            for _ in 0..1 + random.below(3) {
                change(environment, &structures, &mut model, &mut random);
                in_hook.lock().insert(environment.read().id(), model.clone());
            }
            if random.chance(2) {
                environment.flush().unwrap();
            }
        }));
        let mut image = Vec::new();
        let summary = environment.write_image(&mut image, &WriteOptions::default(), &mut |_| {
            assert_eq!(environment.statistics().unwrap().open_readers, 0, "a snapshot is open between two parts");
            environment.flush().unwrap();
            true
        });
        let (summary, taken) = (summary.unwrap(), hook.lock().take());
        assert!(taken.is_some() && reads.load(Ordering::Relaxed) >= 2, "nothing happened in the middle");
        let io = SimulatedIo::new();
        restore(&io, &image).unwrap();
        let copy = Environment::open(TARGET, options(&io)).unwrap();
        verify(&copy);
        let states = states.lock();
        assert!(same(&read_all(&copy.read(), &structures), &states[&summary.position.transaction]));
    }
}

type Hook = Arc<Mutex<Option<Box<dyn FnMut() + Send>>>>;

fn change(environment: &Environment, structures: &Structures, model: &mut Model, random: &mut Random) {
    let count = 1 + random.below(10);
    let written = environment.write(|tx| {
        for _ in 0..count {
            let change = random_change(random, model);
            apply(structures, tx, model, &change)?;
            apply_to_model(model, &change);
        }
        Ok::<_, storage::Error>(())
    });
    written.unwrap();
}

#[test]
fn an_image_of_a_recovered_a_closed_or_a_restored_environment_has_its_state() {
    each_seed(seeds(8, 500), |seed| {
        let mut random = Random::at(seed ^ 0x2E0B);
        let mut world = World::new(|options| options);
        world.fill(&mut random, 300);
        for round in 0..4 {
            for _ in 0..4 {
                world.go_on(&mut random);
            }
            world = match round {
                0 => world.reopen(true),
                1 => world.reopen(false),
                _ => {
                    let io = world.io.crash(|| random_fate(&mut random));
                    world.crashed(io)
                }
            };
            let (image, summary) = world.image();
            assert_eq!((summary.position.transaction, summary.records), (world.last(), 0));
            let io = SimulatedIo::new();
            restore(&io, &image).unwrap();
            world.check(&io, world.last());
            // What was restored, and written to since, gives an image too.
            let copy = Environment::open(TARGET, options(&io)).unwrap();
            let mut again = Vec::new();
            copy.write_image(&mut again, &WriteOptions::default(), &mut go_on).unwrap();
            drop(copy);
            assert!(matches!(restore(&io, &again), Err(Error::Exists { .. })));
            let other = SimulatedIo::new();
            assert_eq!(restore(&other, &again).unwrap().transaction.0, world.last().0 + 1);
        }
    });
}

#[test]
fn an_image_of_an_environment_in_memory_can_be_restored_to_a_folder() {
    let environment = Environment::in_memory(Options::default()).unwrap();
    let structures = make_structures(&environment).unwrap();
    for key in 0..200u8 {
        environment.write(|tx| structures.tree.put(tx, &[key], &[key; 20_000])).unwrap();
    }
    let mut image = Vec::new();
    let mut between = 200u8;
    let summary = environment.write_image(&mut image, &WriteOptions::default(), &mut |_| {
        environment.write(|tx| structures.tree.put(tx, &[between % 200], &[9])).unwrap();
        between = between.wrapping_add(1);
        true
    });
    assert_eq!(summary.unwrap().records, 0);
    let io = SimulatedIo::new();
    restore(&io, &image).unwrap();
    let copy = Environment::open(TARGET, options(&io)).unwrap();
    verify(&copy);
    for key in 0..200u8 {
        assert_eq!(structures.tree.get(&copy.read(), &[key]).unwrap(), Some(&[key; 20_000][..]));
    }
    assert!(environment.archive(Position::default()).is_err());
    assert!(matches!(environment.set_archive(Some(1)), Err(Error::Unsupported { .. })));
}

#[test]
fn threads_write_and_flush_while_images_are_taken() {
    let folder = std::env::temp_dir().join(format!("rookery-images-{}", std::process::id()));
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    // Small measures: flushes run all the time.
    let options = Options { flush_after_bytes: 1 << 20, ..Options::default() };
    let environment = Environment::open(folder.join("world"), options.clone()).unwrap();
    let accounts = environment.write(|tx| Tree::open_or_create(tx, b"accounts")).unwrap();
    let account = |number: u64| number.to_be_bytes();
    let amount = |value: &[u8]| u64::from_le_bytes(*value.first_chunk().unwrap());
    let value = |amount: u64| [&amount.to_le_bytes()[..], &[7; 2000]].concat();
    for part in 0..20 {
        let numbers = part * 100..part * 100 + 100;
        let put = environment
            .write(|tx| numbers.clone().try_for_each(|number| accounts.put(tx, &account(number), &value(100))));
        put.unwrap();
    }
    let stop = AtomicBool::new(false);
    let rounds = if testing::effort::is_slow() { 200 } else { 6 };
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (environment, stop) = (&environment, &stop);
            scope.spawn(move || {
                let mut random = Random::at(thread);
                while !stop.load(Ordering::Relaxed) {
                    let (from, to) = (random.below(2000), random.below(2000));
                    let large = random.chance(20).then(|| random.bytes(30_000));
                    let moved = environment.write(|tx| {
                        let left = amount(accounts.get(tx, &account(from))?.unwrap());
                        if let Some(large) = &large {
                            accounts.put(tx, &[&b"large"[..], &account(from % 50)].concat(), large)?;
                        }
                        if left == 0 || from == to {
                            return Ok(());
                        }
                        let there = amount(accounts.get(tx, &account(to))?.unwrap());
                        accounts.put(tx, &account(from), &value(left - 1))?;
                        accounts.put(tx, &account(to), &value(there + 1))
                    });
                    moved.unwrap();
                }
            });
        }
        let mut records = 0;
        for round in 0..rounds {
            let mut image = Vec::new();
            let summary = environment.write_image(&mut image, &WriteOptions::default(), &mut go_on).unwrap();
            records += summary.records;
            let target = folder.join(format!("copy-{round}"));
            let io = options.io.clone();
            Restore::begin(io, &target, &mut &image[..], &mut go_on).unwrap().finish().unwrap();
            let copy = Environment::open(&target, options.clone()).unwrap();
            verify(&copy);
            let tx = copy.read();
            let sum: u64 = (0..2000).map(|number| amount(accounts.get(&tx, &account(number)).unwrap().unwrap())).sum();
            assert_eq!((sum, tx.id()), (2000 * 100, summary.position.transaction));
        }
        stop.store(true, Ordering::Relaxed);
        assert!(records > 0, "nothing was written beside the images");
    });
    // Its thread may still flush, and make files in the folder.
    drop(environment);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A small image with pages, a run that its record left in the data file, and records.
fn small_image() -> (World, Vec<u8>, Summary) {
    let mut random = Random::at(77);
    let mut world = World::new(|options| options);
    let structures = world.structures;
    let mut is_first = true;
    let (image, summary) = image_beside(&mut world, |world| {
        if std::mem::take(&mut is_first) {
            let large = random.bytes(9_000);
            let put = world.environment.write(|tx| structures.tree.put(tx, b"large", &large));
            put.unwrap();
            world.now.model.tree.insert(b"large".to_vec(), large);
            world.states.insert(world.last(), world.now.clone());
        }
    });
    assert!(summary.records > 0 && summary.pages > 0);
    (world, image, summary)
}

#[test]
fn each_byte_of_an_image_is_needed() {
    let (world, image, summary) = small_image();
    let io = SimulatedIo::new();
    restore(&io, &image).unwrap();
    world.check(&io, summary.position.transaction);
    for at in 0..image.len() {
        let mut damaged = image.clone();
        damaged[at] ^= 1 << (at % 8);
        let refused = verify_image(&mut &damaged[..], &mut go_on);
        assert!(matches!(refused, Err(Error::Damaged { .. } | Error::NewerFormat { .. })), "byte {at}: {refused:?}");
        if at % 97 == 0 {
            let io = SimulatedIo::new();
            assert!(restore(&io, &damaged).is_err(), "byte {at}");
            assert_eq!(io.list(Path::new(TARGET)).unwrap(), Vec::<String>::new());
            assert_eq!(io.list(Path::new("/restored~partial")).unwrap(), Vec::<String>::new(), "it is removed");
        }
    }
    for length in 0..image.len() {
        let cut = verify_image(&mut &image[..length], &mut go_on);
        assert!(matches!(cut, Err(Error::Damaged { .. })), "{length} bytes: {cut:?}");
    }
    let longer = [&image[..], &[0]].concat();
    assert!(matches!(verify_image(&mut &longer[..], &mut go_on), Err(Error::Damaged { .. })));
}

#[test]
fn a_newer_version_is_refused_by_name() {
    let (_, mut image, _) = small_image();
    image[8] += 1;
    let hash = xxhash_rust::xxh3::xxh3_128(&image[..64]);
    image[64..80].copy_from_slice(&hash.to_le_bytes());
    let refused = verify_image(&mut &image[..], &mut go_on).unwrap_err();
    assert_eq!(refused.to_string(), "the image has format version 2; this program knows up to 1");
}

#[test]
fn a_crash_or_an_error_at_any_operation_of_a_restore_leaves_no_half_environment() {
    let counts = Counts::default();
    let mut random = Random::at(0xC2A54);
    let mut world = World::new(|options| options);
    world.fill(&mut random, 400);
    let (image, summary) = image_beside(&mut world, |world| world.transaction(&mut random));
    let (id, transaction) = (world.environment.id(), summary.position.transaction);
    let state = &world.states[&transaction];
    let whole = SimulatedIo::new();
    restore(&whole, &image).unwrap();
    let mut made = 0;
    for at in 0..whole.operations() {
        for for_ever in [false, true] {
            let io = SimulatedIo::new();
            let kind = *random.of(&[ErrorKind::Other, ErrorKind::StorageFull]);
            counts.inject(&io, Fault { at, for_ever, kind });
            let restored = restore(&io, &image);
            io.fail_at(None);
            images(&io, &mut random, 2, |crashed| {
                counts.images.fetch_add(1, Ordering::Relaxed);
                if crashed.list(Path::new(TARGET)).unwrap().is_empty() {
                    assert!(restored.is_err(), "operation {at}: it was durable, and is gone");
                    // What is left keeps no one from another try.
                    restore(&crashed, &image).unwrap();
                } else {
                    made += 1;
                }
                check_state(&crashed, id, state, transaction);
            });
        }
    }
    counts.report("restores of images");
    assert!(made > 0, "no crash left a folder");
}

#[test]
fn a_full_disk_refuses_a_restore_and_a_later_one_succeeds() {
    let mut random = Random::at(5);
    let mut world = World::new(|options| options);
    world.fill(&mut random, 1500);
    let (image, summary) = world.image();
    let io = SimulatedIo::new();
    io.set_capacity(Some(1 << 20));
    let refused = restore(&io, &image);
    assert!(matches!(refused, Err(Error::Storage(storage::Error::DiskFull { .. }))), "{refused:?}");
    io.set_capacity(None);
    restore(&io, &image).unwrap();
    world.check(&io, summary.position.transaction);
}

/// A destination that fails behind a number of bytes.
struct Failing(usize);

impl Write for Failing {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(buffer.len()).ok_or_else(|| IoError::from(ErrorKind::ConnectionReset))?;
        Ok(buffer.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failed_or_cancelled_image_keeps_no_journal_and_no_snapshot() {
    let mut random = Random::at(3);
    let mut world = World::new(|options| options);
    world.fill(&mut random, 3000);
    let environment = world.environment.clone();
    let options = WriteOptions::default();
    let mut bytes = 0;
    let cancelled = environment.write_image(&mut std::io::sink(), &options, &mut |progress| {
        world.fill(&mut random, 500);
        bytes = progress.bytes;
        bytes < 2 << 20
    });
    assert!(matches!(cancelled, Err(Error::Cancelled)), "{cancelled:?}");
    assert!(bytes >= 2 << 20);
    let failed = environment.write_image(&mut Failing(3 << 20), &options, &mut |_| true);
    assert!(matches!(failed, Err(Error::Destination(_))), "{failed:?}");
    world.fill(&mut random, 100);
    environment.flush().unwrap();
    let statistics = environment.statistics().unwrap();
    assert_eq!((statistics.oldest_reader, statistics.flushed_transaction), (world.last(), world.last()));
    assert_eq!(environment.journals().iter().filter(|journal| !journal.is_spare).count(), 1);
}

/// The destination waits until so much was written that the journal may not be kept for it.
#[test]
fn a_destination_that_is_too_slow_fails_the_image_and_no_write() {
    let mut random = Random::at(4);
    let mut world = World::new(|options| options);
    world.fill(&mut random, 3000);
    let environment = world.environment.clone();
    let options = WriteOptions { waiting_bytes_max: 1 << 20, ..WriteOptions::default() };
    let slow = environment.write_image(&mut std::io::sink(), &options, &mut |_| {
        for _ in 0..4 {
            world.fill(&mut random, 1000);
            world.flush();
        }
        true
    });
    assert!(matches!(slow, Err(Error::FellBehind { bytes_max: 1_048_576 })), "{slow:?}");
    world.flush();
    assert_eq!(environment.journals().iter().filter(|journal| !journal.is_spare).count(), 1);
    world.image();
}

#[test]
fn values_outside_of_the_journal_that_wait_for_the_destination_are_bounded() {
    let mut random = Random::at(6);
    let mut world = World::new(|options| options);
    world.fill(&mut random, 1000);
    let environment = world.environment.clone();
    let options = WriteOptions { waiting_bytes_max: 4 << 20, ..WriteOptions::default() };
    let structures = world.structures;
    let mut number = 0u32;
    let slow = environment.write_image(&mut std::io::sink(), &options, &mut |_| {
        for _ in 0..10 {
            number += 1;
            let value = random.bytes(1 << 20);
            environment.write(|tx| structures.tree.put(tx, &number.to_be_bytes(), &value)).unwrap();
        }
        true
    });
    assert!(matches!(slow, Err(Error::FellBehind { .. })), "{slow:?}");
}

#[test]
fn no_image_is_made_of_a_damaged_page() {
    let mut random = Random::at(8);
    let mut world = World::new(|options| options);
    world.fill(&mut random, 1000);
    let mut world = world.reopen(true);
    let data = Path::new("/world/data");
    let pages = world.environment.used_size().unwrap() as usize / storage::limits::PAGE_SIZE;
    let mut refused = 0;
    for page in 4..pages.min(60) {
        let at = page * storage::limits::PAGE_SIZE + 40 + random.below(8000) as usize;
        world.io.damage(data, |bytes| bytes[at] ^= 4);
        let image = world.environment.write_image(&mut std::io::sink(), &WriteOptions::default(), &mut go_on);
        match image {
            Err(Error::Storage(storage::Error::Corrupt { page: found, .. })) => {
                assert_eq!(found.0, page as u64);
                refused += 1;
            }
            other => panic!("page {page}: {other:?}"),
        }
        world.io.damage(data, |bytes| bytes[at] ^= 4);
    }
    assert!(refused > 40);
    world.go_on(&mut random);
    world.image();
}

#[test]
fn an_image_is_no_faster_than_its_rate() {
    let mut world = World::new(|options| options);
    world.fill(&mut Random::at(9), 300);
    let options = WriteOptions { bytes_per_second_max: Some(8 << 20), ..WriteOptions::default() };
    let started = std::time::Instant::now();
    let mut image = Vec::new();
    world.environment.write_image(&mut image, &options, &mut go_on).unwrap();
    let least = image.len() as f64 / f64::from(8 << 20);
    assert!(started.elapsed().as_secs_f64() >= least, "{} bytes in {:?}", image.len(), started.elapsed());
}

#[test]
fn two_restores_to_one_folder_exclude_each_other() {
    let (world, image, summary) = small_image();
    let io = SimulatedIo::new();
    let first = begin(&io, &image).unwrap();
    assert_eq!((first.environment_id(), first.position()), (world.environment.id(), summary.position));
    let second = begin(&io, &image).map(drop);
    assert!(matches!(second, Err(Error::Storage(storage::Error::Locked { .. }))), "{second:?}");
    drop(first);
    assert_eq!(io.list(Path::new("/restored~partial")).unwrap(), Vec::<String>::new());
    let first = begin(&io, &image).unwrap();
    first.finish().unwrap();
    assert!(matches!(begin(&io, &image).map(drop), Err(Error::Exists { .. })));
    world.check(&io, summary.position.transaction);
}

#[test]
fn an_unfinished_restore_leaves_nothing_in_a_real_folder() {
    let (_, image, _) = small_image();
    let parent = std::env::temp_dir().join(format!("rookery-restore-{}", std::process::id()));
    std::fs::remove_dir_all(&parent).ok();
    let target = parent.join("copy");
    let io: Arc<dyn Io> = Arc::new(storage::io::real::RealIo);
    drop(Restore::begin(io.clone(), &target, &mut &image[..], &mut go_on).unwrap());
    assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 0);
    Restore::begin(io.clone(), &target, &mut &image[..], &mut go_on).unwrap().finish().unwrap();
    assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 1);
    let copy = Environment::open(&target, Options::default()).unwrap();
    verify(&copy);
    drop(copy);
    std::fs::remove_dir_all(&parent).unwrap();
}

#[test]
fn the_state_that_an_image_is_of_is_told_from_others() {
    let (world, image, summary) = small_image();
    let io = SimulatedIo::new();
    restore(&io, &image).unwrap();
    let copy = Environment::open(TARGET, options(&io)).unwrap();
    let others = world.states.iter().filter(|(transaction, _)| **transaction != summary.position.transaction);
    assert!(others.clone().count() > 0);
    assert!(others.clone().all(|(_, state)| !shows(&copy, state)), "the comparison cannot fail");
    assert_eq!(copy.read().id(), TransactionId(summary.position.transaction.0));
}
