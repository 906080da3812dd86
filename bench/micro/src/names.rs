//! Finding an open database among 10 by three spellings of each name, with 1 and 32 threads, beside the least that gives the
//! same: an `arc-swap` of a small table with tags, searched in line, whose `Arc` is cloned out.
use crate::Effort;
use arc_swap::ArcSwap;
use micro::clock::thread_seconds;
use micro::round::{OURS, emit};
use rookery_database::{Databases, DatabasesOptions};
use std::hint::black_box;
use std::sync::Arc;

const NAMES: [&str; 10] = [
    "Northwind",
    "Orders-EU",
    "Orders-US",
    "customers",
    "Telemetry2026",
    "AUDIT",
    "users",
    "ProductCatalogue",
    "Sessions",
    "system1",
];
const NAME_SIZE_MAX: usize = 64;

struct Row {
    tag: u64,
    key: Vec<u8>,
    value: Arc<u64>,
}

/// Lower-cases ASCII, eight bytes at a time.
fn lower<'a>(name: &[u8], buffer: &'a mut [u8; NAME_SIZE_MAX]) -> &'a [u8] {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    for (at, chunk) in name.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let word = u64::from_le_bytes(word);
        let low = word & !HIGH;
        let is_letter =
            (low.wrapping_add(0x3f3f_3f3f_3f3f_3f3f) ^ low.wrapping_add(0x2525_2525_2525_2525)) & !word & HIGH;
        buffer[at * 8..at * 8 + 8].copy_from_slice(&(word | is_letter >> 2).to_le_bytes());
    }
    &buffer[..name.len()]
}

/// The size and up to seven last bytes: enough to tell names apart nearly always.
fn tag(key: &[u8]) -> u64 {
    key.iter().rev().take(7).fold(key.len() as u64, |tag, byte| tag << 8 | u64::from(*byte))
}

/// CPU nanoseconds of one look-up, over all threads.
fn cpu_of(threads: usize, count: usize, find: &(impl Fn(&str) + Sync), spellings: &[String]) -> f64 {
    let total: f64 = std::thread::scope(|scope| {
        let one = |thread: usize| {
            let start = thread_seconds();
            (0..count).for_each(|n| find(&spellings[(thread * 7 + n) % spellings.len()]));
            thread_seconds() - start
        };
        let all: Vec<_> = (0..threads).map(|thread| scope.spawn(move || one(thread))).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    total * 1e9 / (threads * count) as f64
}

pub fn run(effort: Effort) {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let mut rows = Vec::new();
    for (at, name) in NAMES.iter().enumerate() {
        databases.find_or_create(name).unwrap();
        let key = name.to_ascii_lowercase().into_bytes();
        rows.push(Row { tag: tag(&key), key, value: Arc::new(at as u64) });
    }
    let rows = ArcSwap::from_pointee(rows);
    let spellings: Vec<String> = NAMES
        .iter()
        .flat_map(|name| [name.to_string(), name.to_ascii_lowercase(), name.to_ascii_uppercase()])
        .collect();
    let ours = |name: &str| _ = black_box(databases.find(black_box(name)).unwrap());
    let theirs = |name: &str| {
        let mut buffer = [0; NAME_SIZE_MAX];
        let key = lower(black_box(name).as_bytes(), &mut buffer);
        let (rows, tag) = (rows.load(), tag(key));
        black_box(rows.iter().find(|row| row.tag == tag && row.key == key).unwrap().value.clone());
    };
    spellings.iter().for_each(|name| (ours(name), theirs(name), ours(name)).0);
    for round in 0..effort.rounds {
        for threads in [1, 32] {
            let count = effort.operations / threads;
            let figure = format!("name lookup, {threads} threads");
            emit(OURS, round, &figure, cpu_of(threads, count, &ours, &spellings), "ns");
            emit("arc-swap", round, &figure, cpu_of(threads, count, &theirs, &spellings), "ns");
        }
    }
}
