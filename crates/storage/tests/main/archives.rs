//! The archive of the journal: each record once, in order, over flushes, closes, kills and crashes; and the restore of any transaction.

use crate::crash_support::random_fate;
use crate::image_support::{State, TARGET, World, begin, check_state, go_on, restore, shows};
use crate::model_support::{find_structures, options};
use std::collections::BTreeMap;
use std::path::Path;
use storage::image::{Error, Restore, WriteOptions};
use storage::io::simulated::SimulatedIo;
use storage::{Durability, Environment, Options, Position, TransactionId, archive, image};
use testing::random::Random;
use testing::seeds::{each_seed, seeds};

/// Journal that may wait for an archive, where a test wants no gap.
const MUCH: u64 = 1 << 30;

/// An archive: an image, and segments of records behind it.
struct Archive {
    image: Vec<u8>,
    base: Position,
    segments: Vec<Vec<u8>>,
    end: Position,
}

impl Archive {
    fn begin(world: &World) -> Archive {
        let (image, summary) = world.image();
        Archive { image, base: summary.position, segments: Vec::new(), end: summary.position }
    }

    /// Archives up to a number of records as one segment.
    fn follow(&mut self, environment: &Environment, records_max: usize) -> image::Result<usize> {
        let mut reader = environment.archive(self.end)?;
        let (mut segment, mut count) = (Vec::new(), 0);
        while count < records_max
            && let Some(archive::Record { position, bytes }) = reader.next_record()?
        {
            assert_eq!(position.transaction.0, self.end.transaction.0 + 1, "each once, in order");
            segment.extend_from_slice(bytes);
            self.end = position;
            count += 1;
        }
        assert_eq!(reader.position(), self.end);
        reader.archived(self.end);
        if count > 0 {
            self.segments.push(segment);
        }
        Ok(count)
    }

    /// Restores a transaction to [`TARGET`].
    fn restore(&self, io: &SimulatedIo, until: TransactionId) -> image::Result<Position> {
        let mut restore = begin(io, &self.image)?;
        for segment in &self.segments {
            let position = restore.replay(&mut &segment[..], Some(until), &mut go_on)?;
            if position.transaction == until {
                break;
            }
        }
        restore.finish()
    }
}

fn archived(bytes_max: u64) -> World {
    World::new(|options| Options { archive_bytes_max: Some(bytes_max), ..options })
}

#[test]
fn any_transaction_behind_an_image_can_be_restored() {
    each_seed(seeds(10, 1_000), |seed| {
        let mut random = Random::at(seed ^ 0xA2C4);
        let mut world = archived(MUCH);
        world.fill(&mut random, 200);
        let mut archive = Archive::begin(&world);
        for _ in 0..30 {
            world.go_on(&mut random);
            match random.below(12) {
                0 => world = world.reopen(true),
                1 => world = world.reopen(false),
                // All that was answered is durable, so an archive is never ahead of what a crash leaves.
                2 => {
                    let io = world.io.crash(|| random_fate(&mut random));
                    world = world.crashed(io);
                }
                3..=8 => {
                    archive.follow(&world.environment, 1 + random.below(8) as usize).unwrap();
                }
                _ => {}
            }
        }
        archive.follow(&world.environment, usize::MAX).unwrap();
        assert_eq!(archive.end.transaction, world.last());
        let last = world.last().0;
        let every = if testing::effort::is_slow() { 1 } else { 7 };
        for transaction in (archive.base.transaction.0..=last).filter(|t| t % every == 0 || *t == last) {
            let io = SimulatedIo::new();
            let position = archive.restore(&io, TransactionId(transaction)).unwrap();
            assert_eq!(position.transaction, TransactionId(transaction));
            world.check(&io, TransactionId(transaction));
        }
        let early = TransactionId(archive.base.transaction.0 - 1);
        assert!(matches!(archive.restore(&SimulatedIo::new(), early), Err(Error::AfterTarget { .. })));
        // The files that were archived are let go.
        world.flush();
        let used = world.environment.journals().iter().filter(|journal| !journal.is_spare).count();
        assert!(used <= 2, "{used} journals are kept");
    });
}

#[test]
fn an_image_that_is_taken_later_fits_the_same_archive() {
    let mut random = Random::at(0x1A7E);
    let mut world = archived(MUCH);
    let mut archive = Archive::begin(&world);
    for _ in 0..20 {
        world.go_on(&mut random);
    }
    archive.follow(&world.environment, 5).unwrap();
    let environment = world.environment.clone();
    let mut image = Vec::new();
    let summary = environment.write_image(&mut image, &WriteOptions::default(), &mut |_| {
        world.go_on(&mut random);
        true
    });
    let base = summary.unwrap().position;
    drop(environment);
    for _ in 0..10 {
        world.go_on(&mut random);
    }
    while archive.follow(&world.environment, 3).unwrap() > 0 {}
    // Records before the image are only checked.
    let later = Archive { image, base, ..archive };
    for transaction in later.base.transaction.0..=world.last().0 {
        let io = SimulatedIo::new();
        later.restore(&io, TransactionId(transaction)).unwrap();
        world.check(&io, TransactionId(transaction));
    }
}

/// Only beside an archive are large values in the records.
#[test]
fn a_record_that_leaves_out_a_value_is_a_gap() {
    let world = World::new(|options| options);
    let put = |value: u8| {
        let structures = world.structures;
        // To new room, each.
        world.environment.write(|tx| structures.tree.put(tx, &[value], &[value; 50_000])).unwrap();
    };
    put(1);
    let before = world.image().1.position;
    put(2);
    world.environment.set_archive(Some(MUCH)).unwrap();
    let mut reader = world.environment.archive(before).unwrap();
    for _ in 0..2 {
        assert!(matches!(reader.next_record(), Err(Error::Gap { .. })), "for good");
    }
    let mut archive = Archive::begin(&world);
    put(3);
    assert_eq!(archive.follow(&world.environment, 9).unwrap(), 1);
    assert!(archive.segments[0].len() > 128);
    let io = SimulatedIo::new();
    archive.restore(&io, world.last()).unwrap();
    let copy = Environment::open(TARGET, options(&io)).unwrap();
    let structures = find_structures(&copy).unwrap();
    assert_eq!(structures.tree.get(&copy.read(), &[3]).unwrap(), Some(&[3; 50_000][..]));
    world.environment.set_archive(None).unwrap();
    assert!(matches!(world.environment.archive(archive.end).map(drop), Err(Error::Gap { .. })));
}

#[test]
fn a_journal_over_the_bound_is_let_go_and_the_archive_has_a_gap() {
    let mut random = Random::at(0x6A9);
    let mut world = archived(1 << 20);
    let mut archive = Archive::begin(&world);
    let environment = world.environment.clone();
    let mut reader = environment.archive(archive.end).unwrap();
    for _ in 0..10 {
        world.fill(&mut random, 1000);
        world.flush();
    }
    let kept: u64 = environment.journals().iter().filter(|journal| !journal.is_spare).map(|journal| journal.size).sum();
    assert!(kept <= (1 << 20) + (8 << 20), "{kept} bytes: what is held, and the current file");
    assert!(matches!(reader.next_record(), Err(Error::Gap { .. })));
    assert!(matches!(environment.archive(archive.end).map(drop), Err(Error::Gap { .. })));
    drop(reader);
    drop(environment);
    archive = Archive::begin(&world);
    world.go_on(&mut random);
    world.transaction(&mut random);
    assert!(archive.follow(&world.environment, 100).unwrap() > 0);
}

/// A journal that no archive has is kept until one has it, over a clean close, which else removes it.
#[test]
fn a_clean_close_keeps_what_is_not_archived() {
    let mut random = Random::at(0xC105E);
    let mut world = archived(MUCH);
    world.fill(&mut random, 100);
    let mut archive = Archive::begin(&world);
    world.transaction(&mut random);
    let mut world = world.reopen(true).reopen(true);
    world.transaction(&mut random);
    let count = archive.follow(&world.environment, usize::MAX).unwrap();
    assert_eq!(TransactionId(archive.base.transaction.0 + count as u64), world.last());
    let io = SimulatedIo::new();
    archive.restore(&io, world.last()).unwrap();
    world.check(&io, world.last());
    let world = world.reopen(true).reopen(true);
    let files: Vec<String> = world.io.contents(Path::new("/world")).into_keys().collect();
    assert!(files.iter().filter(|name| name.starts_with("journal-")).count() <= 1, "{files:?}");
    assert_eq!(archive.follow(&world.environment, usize::MAX).unwrap(), 0);
    // Without the option the rest goes, and nothing stumbles over it.
    let mut world = World { options: Options { archive_bytes_max: None, ..world.options.clone() }, ..world };
    world = world.reopen(true);
    world.transaction(&mut random);
    world = world.reopen(true);
    let files: Vec<String> = world.io.contents(Path::new("/world")).into_keys().collect();
    assert!(!files.iter().any(|name| name.starts_with("journal-")), "{files:?}");
}

#[test]
fn records_that_do_not_fit_are_refused_by_name() {
    let mut random = Random::at(0xBAD);
    let mut world = archived(MUCH);
    world.fill(&mut random, 50);
    let mut archive = Archive::begin(&world);
    for _ in 0..6 {
        world.transaction(&mut random);
        archive.follow(&world.environment, 1).unwrap();
    }
    let base = archive.base.transaction.0;
    let all = archive.segments.concat();
    let replay = |records: &[u8]| {
        let mut restore = begin(&SimulatedIo::new(), &archive.image).unwrap();
        let replayed = restore.replay(&mut &records[..], None, &mut go_on);
        if !matches!(replayed, Ok(_) | Err(Error::Gap { .. })) {
            assert!(restore.replay(&mut &all[..], None, &mut go_on).is_err(), "a restore goes on behind an error");
            assert!(restore.finish().is_err(), "a restore ends behind an error");
        }
        replayed
    };
    assert_eq!(replay(&all).unwrap(), archive.end);
    assert_eq!(replay(&[&all[..], &archive.segments[5]].concat()).unwrap(), archive.end, "one that is there already");
    let gap = replay(&[&archive.segments[0][..], &archive.segments[2]].concat()).unwrap_err();
    assert!(
        matches!(gap, Error::Gap { after, next: Some(next) }
        if (after.transaction.0, next.0) == (base + 1, base + 3)),
        "{gap:?}"
    );
    for at in (0..archive.segments[0].len()).step_by(11) {
        let mut damaged = all.clone();
        damaged[at] ^= 16;
        let refused = replay(&damaged);
        assert!(refused.is_err(), "byte {at}");
        let cut = replay(&all[..at]);
        assert!(at == 0 || matches!(cut, Err(Error::Damaged { .. })), "{at} bytes: {cut:?}");
    }
    let mut other = archived(MUCH);
    let mut others = Archive::begin(&other);
    for _ in 0..base + 3 {
        other.transaction(&mut random);
    }
    others.follow(&other.environment, usize::MAX).unwrap();
    assert!(matches!(replay(&others.segments[0]), Err(Error::OtherHistory { .. })));
}

/// After a restore to an earlier transaction the ids come again, with other records.
#[test]
fn the_histories_before_and_after_a_restore_are_told_apart() {
    let mut random = Random::at(0x415);
    let mut world = archived(MUCH);
    world.fill(&mut random, 50);
    let mut archive = Archive::begin(&world);
    (0..6).for_each(|_| world.transaction(&mut random));
    archive.follow(&world.environment, usize::MAX).unwrap();
    let io = SimulatedIo::new();
    let back_to = TransactionId(archive.base.transaction.0 + 3);
    let position = archive.restore(&io, back_to).unwrap();
    let restored = Environment::open(TARGET, Options { archive_bytes_max: Some(MUCH), ..options(&io) }).unwrap();
    assert!(matches!(restored.archive(archive.end).map(drop), Err(Error::OtherHistory { .. })), "it is ahead");
    let structures = find_structures(&restored).unwrap();
    let put = |key: u8| restored.write(|tx| structures.tree.put(tx, &[key], b"new")).unwrap();
    put(1);
    // From where the restore went back to, both histories go on.
    let mut new = Archive { image: archive.image.clone(), base: archive.base, segments: Vec::new(), end: position };
    assert_eq!(new.follow(&restored, usize::MAX).unwrap(), 1);
    (2..6).for_each(put);
    let between = Position { transaction: TransactionId(back_to.0 + 2), hash: archive.end.hash };
    assert!(matches!(restored.archive(between).map(drop), Err(Error::OtherHistory { .. })));
    assert!(matches!(restored.archive(archive.end).map(drop), Err(Error::OtherHistory { .. })));
    new.follow(&restored, usize::MAX).unwrap();
    let mut mixed = begin(&SimulatedIo::new(), &archive.image).unwrap();
    mixed.replay(&mut &archive.segments[0][..], Some(back_to), &mut go_on).unwrap();
    assert_eq!(mixed.replay(&mut &new.segments.concat()[..], None, &mut go_on).unwrap(), new.end);
    let mut mixed = begin(&SimulatedIo::new(), &archive.image).unwrap();
    mixed.replay(&mut &archive.segments[0][..], None, &mut go_on).unwrap();
    let refused = mixed.replay(&mut &new.segments.concat()[..], None, &mut go_on);
    assert!(matches!(refused, Err(Error::OtherHistory { .. })), "{refused:?}");
}

#[test]
fn a_full_disk_beside_an_archive_harms_nothing() {
    each_seed(seeds(6, 300), |seed| {
        let mut random = Random::at(seed ^ 0xF0_11);
        let mut world = archived(MUCH);
        world.fill(&mut random, 100);
        let mut archive = Archive::begin(&world);
        let structures = world.structures;
        world.io.set_capacity(Some((3 << 20) + random.below(4 << 20)));
        let (mut refused, mut states) = (0, BTreeMap::new());
        for step in 0..300u32 {
            let mut next = world.now.model.clone();
            let value = random.bytes(20_000);
            let key = (step % 50).to_be_bytes().to_vec();
            let written = world.environment.write(|tx| structures.tree.put(tx, &key, &value));
            match written {
                Ok(()) => {
                    next.tree.insert(key, value);
                    world.now.model = next;
                    states.insert(world.last(), world.now.clone());
                }
                Err(storage::Error::DiskFull { .. }) => refused += 1,
                Err(error) => panic!("step {step}: {error}"),
            }
            if step % 20 == 0 {
                // Where room is short, it comes with what is archived.
                archive.follow(&world.environment, usize::MAX).unwrap();
                world.environment.flush().ok();
            }
        }
        world.io.set_capacity(None);
        archive.follow(&world.environment, usize::MAX).unwrap();
        let last = world.last();
        let io = SimulatedIo::new();
        archive.restore(&io, last).unwrap();
        let state: &State = &states[&last];
        check_state(&io, world.environment.id(), state, last);
        assert!(shows(&world.environment, state));
        println!("seed {seed}: {refused} writes were refused");
    });
}

#[test]
fn threads_write_while_the_archive_follows() {
    let folder = std::env::temp_dir().join(format!("rookery-archive-{}", std::process::id()));
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    let options = Options { flush_after_bytes: 1 << 20, archive_bytes_max: Some(MUCH), ..Options::default() };
    let environment = Environment::open(folder.join("world"), options.clone()).unwrap();
    let tree = environment.write(|tx| storage::Tree::open_or_create(tx, b"tree")).unwrap();
    let mut image = Vec::new();
    let base = environment.write_image(&mut image, &WriteOptions::default(), &mut go_on).unwrap().position;
    let writes = if testing::effort::is_slow() { 20_000 } else { 1_000u32 };
    let mut records = Vec::new();
    let mut reader = environment.archive(base).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3u32)
            .map(|thread| {
                let environment = &environment;
                scope.spawn(move || {
                    let mut random = Random::at(thread.into());
                    for number in 0..writes {
                        let length = if random.chance(50) { 20_000 } else { 300 };
                        let value = random.bytes(length);
                        let key = [thread.to_be_bytes(), (number % 500).to_be_bytes()].concat();
                        environment.write(|tx| tree.put(tx, &key, &value)).unwrap();
                    }
                })
            })
            .collect();
        while !threads.iter().all(|thread| thread.is_finished()) {
            while let Some(record) = reader.next_record().unwrap() {
                records.extend_from_slice(record.bytes);
            }
            let position = reader.position();
            reader.archived(position);
            std::thread::yield_now();
        }
    });
    while let Some(record) = reader.next_record().unwrap() {
        records.extend_from_slice(record.bytes);
    }
    let end = reader.position();
    drop(reader);
    assert_eq!(end.transaction, environment.read().id());
    let target = folder.join("copy");
    let mut restore = Restore::begin(options.io.clone(), &target, &mut &image[..], &mut go_on).unwrap();
    assert_eq!(restore.replay(&mut &records[..], None, &mut go_on).unwrap(), end);
    restore.finish().unwrap();
    let copy = Environment::open(&target, options.clone()).unwrap();
    assert_eq!(copy.verify().unwrap().problems, Vec::<String>::new());
    let (there, here) = (copy.read(), environment.read());
    let (mut copied, mut own) = (tree.cursor(&there), tree.cursor(&here));
    loop {
        let entry = copied.next().unwrap();
        assert_eq!(entry, own.next().unwrap());
        if entry.is_none() {
            break;
        }
    }
    drop((there, here));
    drop((copy, environment));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_environment_whose_commits_are_lazy_has_no_archive() {
    let io = SimulatedIo::new();
    let lazy = Options { durability: Durability::Lazy, ..options(&io) };
    let refused = Environment::open("/lazy", Options { archive_bytes_max: Some(1), ..lazy.clone() }).map(drop);
    assert!(refused.unwrap_err().to_string().contains("an environment whose commits are lazy cannot be archived"));
    let environment = Environment::open("/lazy", lazy).unwrap();
    assert!(matches!(environment.set_archive(Some(1)), Err(Error::Unsupported { .. })));
    let _ = restore(&io, &[]).unwrap_err();
}
