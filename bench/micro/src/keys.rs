//! Comparing two keys as the nodes of trees do, beside inline words (which win for short keys) and `memcmp` (for long ones).
use crate::Effort;
use micro::random::Random;
use micro::round::{OURS, compare, side};
use std::cmp::Ordering;
use std::hint::black_box;
use storage::counters::compare_keys;

const COUNT: usize = 1024;
/// Sizes of the keys that a bulk insert of 50,000 documents `users/1-A` ... looks for, as `bulk compares` counts them: size,
/// share in percent.
const HISTOGRAM: [(usize, u64); 3] = [(11, 2), (12, 18), (13, 80)];

/// Eight bytes at a time, the last ones again with some before them.
#[inline]
fn words(a: &[u8], b: &[u8]) -> Ordering {
    let size = a.len().min(b.len());
    let word = |bytes: &[u8], at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
    if size < 8 {
        let short = |bytes: &[u8]| bytes[..size].iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        return short(a).cmp(&short(b)).then(a.len().cmp(&b.len()));
    }
    let mut at = 0;
    while at + 8 <= size {
        let (x, y) = (word(a, at), word(b, at));
        if x != y {
            return x.cmp(&y);
        }
        at += 8;
    }
    word(a, size - 8).cmp(&word(b, size - 8)).then(a.len().cmp(&b.len()))
}

/// As a slice is compared; one that is empty would cost 80 ns.
#[inline]
fn memcmp(a: &[u8], b: &[u8]) -> Ordering {
    a.cmp(b)
}

fn work(pairs: &[(Vec<u8>, Vec<u8>)], compare: impl Fn(&[u8], &[u8]) -> Ordering) -> impl FnMut(usize) {
    move |count| {
        for n in 0..count {
            let (a, b) = &pairs[n % COUNT];
            black_box(compare(black_box(a), black_box(b)));
        }
    }
}

fn measure(figure: &str, effort: Effort, pairs: &[(Vec<u8>, Vec<u8>)]) {
    for (a, b) in pairs {
        assert_eq!((compare_keys(a, b), words(a, b)), (a.cmp(b), a.cmp(b)));
    }
    let sides = vec![
        side(OURS, work(pairs, compare_keys)),
        side("words", work(pairs, words)),
        side("memcmp", work(pairs, memcmp)),
    ];
    compare(figure, effort.rounds, effort.operations, sides);
}

/// A neighbour in a page: the same but for a byte near the end; each eighth is the same.
fn pair(size: usize, random: &mut Random) -> (Vec<u8>, Vec<u8>) {
    let a: Vec<u8> = (0..size).map(|_| b'a' + random.below(26) as u8).collect();
    let mut b = a.clone();
    if random.below(8) > 0 {
        b[size - 1 - random.below(3) as usize] ^= 1 + random.below(8) as u8;
    }
    (a, b)
}

pub fn run(effort: Effort) {
    let mut random = Random(3);
    for size in [8, 13, 16, 64, 256, 1024] {
        let pairs: Vec<_> = (0..COUNT).map(|_| pair(size, &mut random)).collect();
        measure(&format!("compare {size} B"), effort, &pairs);
    }
    let all: u64 = HISTOGRAM.iter().map(|(_, share)| share).sum();
    let size = |random: &mut Random| {
        let mut at = random.below(all);
        let found = HISTOGRAM.iter().find(|(_, share)| {
            at < *share || {
                at -= share;
                false
            }
        });
        found.map_or(HISTOGRAM[0].0, |(size, _)| *size)
    };
    let pairs: Vec<_> = (0..COUNT)
        .map(|_| {
            let size = size(&mut random);
            pair(size, &mut random)
        })
        .collect();
    measure("compare histogram", effort, &pairs);
}
