//! Real threads on a real folder: writers, readers that look at everything, and flushes that reuse pages all the time.

use crate::model_support::verify;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use storage::{Durability, Environment, Options, Tree, WriteTransaction};
use testing::process::alone;
use testing::random::Random;
use testing::seeds::seeds;

const ACCOUNTS: u64 = 300;
const START: u64 = 1_000;

/// A folder that goes with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("rookery-{name}-{}", std::process::id()));
        std::fs::remove_dir_all(&path).ok();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn balance(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// An account fills part of a page, so that they lie on many.
fn set(tx: &mut WriteTransaction<'_>, tree: Tree, account: u64, balance: u64, length: usize) -> storage::Result<()> {
    let mut value = vec![account as u8; 8 + length];
    value[..8].copy_from_slice(&balance.to_le_bytes());
    tree.put(tx, &account.to_be_bytes(), &value)
}

fn transfer(environment: &Environment, tree: Tree, random: &mut Random) -> storage::Result<()> {
    let (from, to, amount) = (random.below(ACCOUNTS), random.below(ACCOUNTS), random.below(20));
    let lengths = [random.below(1_500) as usize, random.below(3_000) as usize];
    environment.write(|tx| {
        let of = |tx: &WriteTransaction<'_>, account: u64| {
            Ok::<_, storage::Error>(balance(tree.get(tx, &account.to_be_bytes())?.expect("every account is there")))
        };
        let (before, amount) = (of(tx, from)?, amount.min(of(tx, from)?));
        set(tx, tree, from, before - amount, lengths[0])?;
        let before = of(tx, to)?;
        set(tx, tree, to, before + amount, lengths[1])
    })
}

/// Every account in one snapshot: their number and sum. Twice, for a snapshot shows the same again.
fn check_sum(environment: &Environment, tree: Tree) {
    let tx = environment.read();
    for _ in 0..2 {
        let (mut count, mut sum) = (0, 0);
        let mut cursor = tree.cursor(&tx);
        while let Some((_, value)) = cursor.next().unwrap() {
            count += 1;
            sum += balance(value);
        }
        assert_eq!((count, sum), (ACCOUNTS, ACCOUNTS * START), "snapshot {}", tx.id());
    }
}

#[test]
fn sums_hold_in_every_snapshot_beside_writers_and_flushes() {
    for seed in seeds(2, 60) {
        let folder = Folder::new("threads");
        let durability = if seed % 2 == 0 { Durability::Durable } else { Durability::Lazy };
        // A flush every few dozen transactions.
        let options = Options { durability, flush_after_bytes: 128 << 10, ..Options::default() };
        let environment = Environment::open(&folder.0, options.clone()).unwrap();
        let tree = environment.write(|tx| {
            let tree = Tree::open_or_create(tx, b"accounts")?;
            (0..ACCOUNTS).try_for_each(|account| set(tx, tree, account, START, 100))?;
            Ok::<_, storage::Error>(tree)
        });
        let tree = tree.unwrap();
        let (done, snapshots) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        check_sum(&environment, tree);
                        snapshots.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            let writers: Vec<_> = (0..4)
                .map(|writer| {
                    let environment = &environment;
                    scope.spawn(move || {
                        let mut random = Random::at(seed * 100 + writer);
                        (0..600).for_each(|_| transfer(environment, tree, &mut random).unwrap());
                    })
                })
                .collect();
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            done.store(true, Ordering::Relaxed);
        });
        assert!(snapshots.load(Ordering::Relaxed) > 10, "readers ran beside the writers");
        let flushes = environment.statistics().unwrap().flush_count;
        assert!(flushes > 0, "flushes ran beside both");
        check_sum(&environment, tree);
        verify(&environment);
        drop(environment);
        let reopened = Environment::open(&folder.0, options).unwrap();
        check_sum(&reopened, tree);
        verify(&reopened);
    }
}

/// What is held in memory follows from the options, not from the size of the data; and what is deleted goes back to the disk.
#[test]
fn data_of_several_spans_take_bounded_memory_and_give_their_room_back() {
    // The bytes of versions are those of the process.
    alone(|| {
        use std::os::unix::fs::MetadataExt;
        const VERSIONS: usize = 16 << 20;
        let folder = Folder::new("spans");
        let options = Options { durability: Durability::Lazy, version_bytes_max: VERSIONS, ..Options::default() };
        let environment = Environment::open(&folder.0, options.clone()).unwrap();
        let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
        let blocks = || std::fs::metadata(folder.0.join("data")).unwrap().blocks() * 512;
        let key = |number: u64| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_be_bytes();
        let mut most = 0;
        // 340 MB in values of a run each and of a part of a page, in random order.
        for batch in 0..100 {
            let numbers = batch * 40..batch * 40 + 40;
            let put = |tx: &mut WriteTransaction<'_>, number: u64| {
                let length = if number.is_multiple_of(2) { 1_700 } else { 170_000 };
                tree.put(tx, &key(number), &vec![number as u8; length])
            };
            environment.write(|tx| numbers.clone().try_for_each(|number| put(tx, number))).unwrap();
            most = most.max(environment.statistics().unwrap().version_bytes_in_process);
        }
        assert!(environment.statistics().unwrap().used_pages > storage::limits::SPAN_PAGES, "there is a second span");
        assert!(most < 4 * VERSIONS, "{most} bytes of versions in memory");
        verify(&environment);
        let full = blocks();
        for batch in 0..100 {
            let numbers = batch * 40..batch * 40 + 40;
            environment
                .write(|tx| numbers.clone().try_for_each(|number| tree.delete(tx, &key(number)).map(drop)))
                .unwrap();
        }
        environment.flush().unwrap();
        assert!(blocks() < full / 4, "{} of {full} bytes are still taken", blocks());
        environment.write(|tx| tree.put(tx, b"in a hole", &[7; 1_000_000])).unwrap();
        drop(environment);
        let reopened = Environment::open(&folder.0, options).unwrap();
        assert_eq!(tree.get(&reopened.read(), b"in a hole").unwrap().map(<[u8]>::len), Some(1_000_000));
        verify(&reopened);
    });
}
