//! What reviews of the engine found, each as the case that showed it.

use crate::hooked_io::{Call, Hook, HookedIo};
use crate::model_support::{FOLDER, make_structures, options, verify};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use storage::io::simulated::{Fate, SimulatedIo};
use storage::{Durability, Environment, Error, Options, Tree};
use testing::random::Random;
use testing::seeds::{Case, seeds};
use testing::wait::{LONG, PAUSE, until_true};

fn is_journal(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("journal-"))
}

/// Holds up writes to the journal while it is shut.
#[derive(Default)]
struct Gate {
    shut: Mutex<bool>,
    waiting: AtomicUsize,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        let mut shut = self.shut.lock();
        while *shut {
            self.waiting.store(1, Ordering::SeqCst);
            self.changed.wait(&mut shut);
        }
    }
    fn set(&self, shut: bool) {
        *self.shut.lock() = shut;
        self.changed.notify_all();
    }
    fn wait_until_somebody_waits(&self) {
        until_true("a thread waits at the gate", || self.waiting.load(Ordering::SeqCst) > 0);
    }
}

fn gated(disk: &SimulatedIo, gate: &Arc<Gate>, durability: Durability) -> Options {
    let gate = gate.clone();
    let io = HookedIo::before(Call::Write, disk, move |path| {
        if is_journal(path) {
            gate.pass();
        }
        Ok(())
    });
    Options { io, durability, ..options(disk) }
}

/// A large value is acknowledged; the transaction that deletes it is sealed, but its record is still on its way. A flush for an
/// older snapshot takes its pages for free "now" and makes a hole of them. The power goes.
#[test]
fn a_large_value_whose_deletion_is_not_durable_is_not_made_a_hole() {
    let (disk, gate) = (SimulatedIo::new(), Arc::new(Gate::default()));
    let environment = Environment::open(Path::new(FOLDER), gated(&disk, &gate, Durability::Durable)).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    environment.write(|tx| tree.put(tx, b"old", &vec![1; 9 << 20])).unwrap();
    // Behind it, so that the next large value goes to new room.
    environment.write(|tx| tree.put(tx, b"between", &[3; 20_000])).unwrap();
    environment.flush().unwrap();
    environment.write(|tx| tree.delete(tx, b"old")).unwrap();
    let old_snapshot = environment.read();
    let large = vec![2; 12 << 20];
    environment.write(|tx| tree.put(tx, b"new", &large)).unwrap();
    gate.set(true);
    let image = std::thread::scope(|scope| {
        let deletes = scope.spawn(|| environment.write(|tx| tree.delete(tx, b"new")).unwrap());
        gate.wait_until_somebody_waits();
        environment.flush().unwrap();
        let image = disk.crash(|| Fate::Persisted);
        gate.set(false);
        assert!(deletes.join().unwrap());
        image
    });
    drop(old_snapshot);
    let reopened = Environment::open(Path::new(FOLDER), options(&image)).unwrap();
    let tx = reopened.read();
    let found = tree.get(&tx, b"new").map(|value| value.map(|value| value == large));
    assert!(matches!(found, Ok(Some(true))), "an acknowledged value: {found:?}");
}

/// Lazy commits: gathered records are being written by a leader when a flush syncs the journal and believes that all that is
/// visible is in it.
#[test]
fn a_flush_beside_a_lazy_write_that_is_on_its_way_leaves_what_opens_again() {
    let (disk, gate) = (SimulatedIo::new(), Arc::new(Gate::default()));
    let image: Arc<Mutex<Option<SimulatedIo>>> = Arc::default();
    let armed = Arc::new(AtomicBool::new(false));
    let hook: Hook = {
        let (disk, gate, image, armed) = (disk.clone(), gate.clone(), image.clone(), armed.clone());
        Arc::new(move |call, path| {
            if call == Call::Write && is_journal(path) {
                gate.pass();
            }
            if call == Call::Write && path.ends_with("data") && armed.load(Ordering::SeqCst) {
                image.lock().get_or_insert_with(|| disk.crash(|| Fate::Persisted));
            }
            Ok(())
        })
    };
    let io = Arc::new(HookedIo { disk: disk.clone(), hook });
    let options_lazy = Options { io, durability: Durability::Lazy, ..options(&disk) };
    let environment = Environment::open(Path::new(FOLDER), options_lazy).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    environment.flush().unwrap();
    environment.write(|tx| tree.put(tx, b"small", b"1")).unwrap();
    gate.set(true);
    std::thread::scope(|scope| {
        // This one makes the gathered records large enough to be written: by its leader, outside of the writer's lock.
        let mut random = Random::at(7);
        let large: Vec<u8> = (0..100 << 10).map(|_| random.below(256) as u8).collect();
        let (environment, tree) = (&environment, &tree);
        let writes = scope.spawn(move || environment.write(|tx| tree.put(tx, b"large", &large)).unwrap());
        gate.wait_until_somebody_waits();
        armed.store(true, Ordering::SeqCst);
        // It either waits for that write, or does without what the write has not brought yet.
        let flushes = scope.spawn(move || environment.flush().unwrap());
        let start = std::time::Instant::now();
        while !flushes.is_finished() && start.elapsed().as_millis() < 200 {
            std::thread::sleep(PAUSE);
        }
        gate.set(false);
        flushes.join().unwrap();
        armed.store(false, Ordering::SeqCst);
        writes.join().unwrap();
    });
    let image = image.lock().take().expect("the flush wrote");
    let reopened = Environment::open(Path::new(FOLDER), Options { durability: Durability::Lazy, ..options(&image) });
    assert!(reopened.is_ok(), "{:?}", reopened.err());
}

/// `replace_by` renames the data file only; `journals` beside it belongs to the environment that was there before.
#[test]
fn a_compacted_environment_opens() {
    let disk = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
    make_structures(&environment).unwrap();
    let folder = Path::new(FOLDER).join("compacted");
    let copy = Environment::open(&folder, options(&disk)).unwrap();
    let tree = copy.write(|tx| Tree::open_or_create(tx, b"copy")).unwrap();
    copy.write(|tx| tree.put(tx, b"key", b"value")).unwrap();
    copy.close().unwrap();
    environment.replace_by(&folder).unwrap();
    let reopened = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
    assert_eq!(tree.get(&reopened.read(), b"key").unwrap(), Some(&b"value"[..]));
}

/// A job swallows an error that says "damaged": what it had changed by then must not become durable half-way.
#[test]
fn a_swallowed_damage_costs_no_key() {
    let disk = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    let key = |index: u64| (index * 7919 % 400).to_be_bytes();
    for index in 0..400 {
        environment.write(|tx| tree.put(tx, &key(index), &[1; 300])).unwrap();
    }
    environment.close().unwrap();
    let pages = disk.contents(Path::new(FOLDER))["data"].len() / 8192;
    let mut lost = Vec::new();
    for page in 4..pages {
        let image = disk.crash(|| Fate::Persisted);
        image.damage(&Path::new(FOLDER).join("data"), |bytes| bytes[page * 8192 + 5000] ^= 1);
        let Ok(environment) = Environment::open(Path::new(FOLDER), options(&image)) else { continue };
        let before: Vec<bool> =
            (0..400).map(|i| matches!(tree.get(&environment.read(), &key(i)), Ok(Some(_)))).collect();
        for index in 0..400 {
            environment
                .write(|tx| {
                    // One command of several fails; the caller goes on with the others.
                    let _ = tree.put(tx, &key(index), &[2; 900]);
                    Ok::<_, Error>(())
                })
                .ok();
            let is_gone = matches!(tree.get(&environment.read(), &key(index)), Ok(None));
            if before[index as usize] && is_gone {
                lost.push((page, index));
            }
        }
    }
    assert!(
        lost.is_empty(),
        "keys that are gone (damaged page, key): {} of them, {:?}",
        lost.len(),
        &lost[..lost.len().min(5)]
    );
}

/// Beside an old snapshot, what the data file has already is not written again at each flush.
#[test]
fn a_flush_that_is_held_back_writes_nothing_twice() {
    let (disk, writes) = (SimulatedIo::new(), Arc::new(AtomicUsize::new(0)));
    let counted = writes.clone();
    let hook: Hook = Arc::new(move |call, path| {
        if call == Call::Write && path.ends_with("data") {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    });
    let io = Arc::new(HookedIo { disk: disk.clone(), hook });
    let environment = Environment::open(Path::new(FOLDER), Options { io, ..options(&disk) }).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    let write = |value: u8| {
        for key in 0..100u64 {
            environment.write(|tx| tree.put(tx, &key.to_be_bytes(), &[value; 1000])).unwrap();
        }
    };
    write(1);
    let old = environment.read();
    write(2);
    environment.flush().unwrap();
    let before = writes.load(Ordering::SeqCst);
    environment.flush().unwrap();
    environment.flush().unwrap();
    let again = writes.load(Ordering::SeqCst) - before;
    drop(old);
    assert_eq!(again, 0, "writes to the data file by flushes that have nothing to bring into it");
}

/// A chunk that is a hole already is not made one again at each flush, under the writer's lock.
#[test]
fn holes_are_made_once() {
    let (disk, punched) = (SimulatedIo::new(), Arc::new(AtomicUsize::new(0)));
    let counted = punched.clone();
    let hook: Hook = Arc::new(move |call, _| {
        if call == Call::PunchHole {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    });
    let io = Arc::new(HookedIo { disk: disk.clone(), hook });
    let environment = Environment::open(Path::new(FOLDER), Options { io, ..options(&disk) }).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    for key in 0..6u8 {
        environment.write(|tx| tree.put(tx, &[key], &vec![1; 9 << 20])).unwrap();
    }
    environment.flush().unwrap();
    let mut counts = Vec::new();
    for key in 0..6u8 {
        environment.write(|tx| tree.delete(tx, &[key])).unwrap();
        let before = punched.load(Ordering::SeqCst);
        environment.flush().unwrap();
        counts.push(punched.load(Ordering::SeqCst) - before);
    }
    assert!(
        counts.iter().all(|count| (1..=3).contains(count)),
        "about 9 neighbouring chunks become free each time: {counts:?}"
    );
}

/// A full disk at the intent costs the count of freed pages: the room is not given back when there is need of it.
#[test]
fn a_flush_that_lacked_room_gives_holes_later() {
    let (disk, punched) = (SimulatedIo::new(), Arc::new(AtomicUsize::new(0)));
    let (counted, full) = (punched.clone(), Arc::new(AtomicBool::new(false)));
    let is_full = full.clone();
    let hook: Hook = Arc::new(move |call, path| {
        if call == Call::PunchHole {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        let is_intent = path.ends_with("flush") || path.ends_with("flush-2");
        if call == Call::Write && is_intent && is_full.load(Ordering::SeqCst) {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        Ok(())
    });
    let io = Arc::new(HookedIo { disk: disk.clone(), hook });
    let environment = Environment::open(Path::new(FOLDER), Options { io, ..options(&disk) }).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    environment.write(|tx| tree.put(tx, b"large", &vec![1; 9 << 20])).unwrap();
    environment.flush().unwrap();
    environment.write(|tx| tree.delete(tx, b"large")).unwrap();
    full.store(true, Ordering::SeqCst);
    assert!(matches!(environment.flush(), Err(Error::DiskFull { .. })));
    full.store(false, Ordering::SeqCst);
    environment.write(|tx| tree.put(tx, b"small", b"")).unwrap();
    environment.flush().unwrap();
    assert!(punched.load(Ordering::SeqCst) > 0, "9 MiB are free, in the header's state too, and stay taken");
}

/// Keys with long shared prefixes, of 0 and of 2,048 bytes, values of all sizes, jobs that are taken back.
#[test]
fn a_tree_of_strange_keys_is_as_its_model() {
    for seed in seeds(40, 2_000) {
        let _case = Case::of(seed);
        strange(seed);
    }
}

fn strange(seed: u64) {
    let mut random = Random::at(seed ^ 0x51DE);
    let environment = Environment::in_memory(Options::default()).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"t")).unwrap();
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let prefixes: Vec<Vec<u8>> = (0..6)
        .map(|_| {
            let length = [0, 1, 7, 8, 9, 100, 300, 1000, 2040, 2048][random.below(10) as usize];
            let byte = random.below(3) as u8;
            vec![byte; length]
        })
        .collect();
    let rises = random.chance(3);
    for step in 0..400u64 {
        let mut next = model.clone();
        let undo = random.chance(5);
        let outcome = environment.write(|tx| {
            for _ in 0..1 + random.below(6) {
                let mut key = prefixes[random.below(prefixes.len() as u64) as usize].clone();
                match random.below(4) {
                    0 => {}
                    1 => key.push(random.below(256) as u8),
                    2 if rises => key.extend_from_slice(&step.to_be_bytes()),
                    _ => (0..random.below(12)).for_each(|_| key.push(random.below(4) as u8)),
                }
                key.truncate(2048);
                let value_size = [0, 1, 20, 150, 580, 1000, 1900, 2100, 8128, 8129, 20_000][random.below(11) as usize];
                if random.chance(4) {
                    assert_eq!(tree.delete(tx, &key)?, next.remove(&key).is_some());
                } else {
                    let value = vec![random.below(256) as u8; value_size as usize];
                    tree.put(tx, &key, &value)?;
                    next.insert(key, value);
                }
            }
            if undo { Err(Error::Closed) } else { Ok(()) }
        });
        assert_eq!(outcome.is_err(), undo);
        if !undo {
            model = next;
        }
        if step % 16 == 0 || step > 390 {
            let tx = environment.read();
            let mut cursor = tree.cursor(&tx);
            for (key, value) in &model {
                let (there, bytes) = cursor.next().unwrap().expect("one more");
                assert!(there == key && bytes == value);
                assert!(tree.get(&tx, key).unwrap() == Some(&value[..]));
            }
            assert!(cursor.next().unwrap().is_none());
        }
    }
    verify(&environment);
}

/// A branch of a fixed tree that leads to itself, behind a hash that fits: damage, not a wait without end.
#[test]
fn a_fixed_tree_that_leads_in_a_circle_is_damaged() {
    let disk = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
    let fixed = make_structures(&environment).unwrap().fixed;
    environment.write(|tx| (0..2_000).try_for_each(|key| fixed.put(tx, key, key))).unwrap();
    environment.close().unwrap();
    disk.damage(&Path::new(FOLDER).join("data"), |bytes| {
        let id = u128::from_le_bytes(bytes[16..32].try_into().unwrap());
        for (number, page) in bytes.chunks_mut(8192).enumerate().skip(2) {
            // A fixed tree above its leaves: each child is the page itself.
            if page[32] == 3 && page[33] > 0 {
                for value in page[128 + 504 * 8..].chunks_mut(8) {
                    value.copy_from_slice(&(number as u64).to_le_bytes());
                }
                let hash = xxhash_rust::xxh3::xxh3_128_with_seed(&page[16..], id as u64 ^ (id >> 64) as u64);
                page[..16].copy_from_slice(&hash.to_le_bytes());
            }
        }
    });
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let environment = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
        let found = fixed.get(&environment.read(), 1_000).is_err();
        sender.send(found).ok();
    });
    assert_eq!(receiver.recv_timeout(LONG), Ok(true), "an error, and no endless descent");
}

/// What a crash would have to replay does not count what the journal does not have.
#[test]
fn the_journal_since_the_last_flush_is_journal() {
    let disk = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    environment.flush().unwrap();
    environment.write(|tx| tree.put(tx, b"large", &vec![1; 20 << 20])).unwrap();
    let statistics = environment.statistics().unwrap();
    assert!(statistics.journal_since_flush <= statistics.journal_size, "{statistics:?}");
}

/// Want of descriptors passes: the first flush of an environment, which makes the file `flush`, must not end writing for good.
#[test]
fn a_first_flush_without_a_descriptor_costs_only_itself() {
    let (disk, is_out) = (SimulatedIo::new(), Arc::new(AtomicBool::new(false)));
    let out = is_out.clone();
    let hook: Hook = Arc::new(move |call, _| match call == Call::Open && out.load(Ordering::SeqCst) {
        true => Err(std::io::Error::from_raw_os_error(24)),
        false => Ok(()),
    });
    let io = Arc::new(HookedIo { disk: disk.clone(), hook });
    let environment = Environment::open(Path::new(FOLDER), Options { io, ..options(&disk) }).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    is_out.store(true, Ordering::SeqCst);
    assert!(environment.flush().is_err());
    is_out.store(false, Ordering::SeqCst);
    let written = environment.write(|tx| tree.put(tx, b"key", b"value"));
    assert!(written.is_ok(), "{written:?}");
}

/// As `pacing.rs` has it, but the snapshot is opened over pages that are not flushed yet: what it sees stays behind newer versions,
/// and each flush takes that for something to write.
#[test]
fn beside_a_snapshot_of_unflushed_pages_flushing_is_not_tried_again_either() {
    let disk = SimulatedIo::new();
    let options = Options { flush_after_bytes: 64 << 10, background: true, ..options(&disk) };
    let environment = Environment::open(Path::new(FOLDER), options).unwrap();
    let tree = make_structures(&environment).unwrap().tree;
    let write = |key: u64, value: u8| environment.write(|tx| tree.put(tx, &key.to_be_bytes(), &[value; 1500])).unwrap();
    (0..10).for_each(|key| write(key, 1));
    let old = environment.read();
    let before = environment.statistics().unwrap().flush_count;
    (0..600).for_each(|key| write(key % 10, 2));
    let tries = environment.statistics().unwrap().flush_count - before;
    drop(old);
    assert!(tries <= 4, "{tries} flushes, of which none could move anything but the first");
}
