//! Every target on its committed inputs, and on mutations of these and of its seeds for some seconds.
//!
//! `SEED=n` makes other mutations, `SLOW=1` many more. An input that fails is written out as `CASE=name:hex`, which runs it alone;
//! `KEEP_LAST=path` keeps the last that began; `SEEDS_TO=folder` writes the seeds for libFuzzer and does nothing else.

use fuzzing::{TARGETS, Target};
use peak_alloc::PeakAlloc;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Failures after which the rest is left out.
const FAILURES_MAX: usize = 20;

/// A thread of the server, or of a database, panicked: nobody else hears of it.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % bound as u64) as usize
    }
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Another input from one or two: as a fuzzer without sight would make it.
fn mutate(random: &mut Random, inputs: &[Vec<u8>]) -> Vec<u8> {
    const LENGTH_MAX: usize = 4096;
    let mut input = inputs[random.below(inputs.len())].clone();
    for _ in 0..1 + random.below(4) {
        let at = random.below(input.len() + 1);
        match random.below(6) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => input[at] = random.below(256) as u8,
            2 => input.insert(at, random.below(256) as u8),
            3 => drop(input.drain(at..at + random.below(input.len() - at + 1))),
            4 => {
                let other = &inputs[random.below(inputs.len())];
                let from = random.below(other.len() + 1);
                let part = other[from..from + random.below(other.len() - from + 1)].to_vec();
                input.splice(at..at, part);
            }
            _ => {
                let part = input[at..at + random.below(input.len() - at + 1)].to_vec();
                input.splice(at..at, part);
            }
        }
    }
    input.truncate(LENGTH_MAX);
    input
}

fn hex(input: &[u8]) -> String {
    input.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What to repeat, if the input fails.
fn run(target: &Target, input: &[u8]) -> Option<String> {
    // For inputs that hang, or end the process.
    if let Some(path) = std::env::var_os("KEEP_LAST") {
        std::fs::write(path, format!("CASE={}:{}", target.name, hex(input))).unwrap();
    }
    let ended = catch_unwind(|| fuzzing::run(target.name, input));
    let panicked = PANICKED.swap(false, Ordering::SeqCst);
    (ended.is_err() || panicked).then(|| format!("CASE={}:{}", target.name, hex(input)))
}

fn write_seeds(folder: &Path) {
    for target in TARGETS {
        let folder = folder.join(target.name);
        std::fs::create_dir_all(&folder).unwrap();
        for (number, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number:03}")), seed).unwrap();
        }
    }
}

/// One test, since what an input takes is the difference of what the process has.
#[test]
fn every_target_survives_its_corpus_and_mutations_of_it() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICKED.store(true, Ordering::SeqCst);
        report(panic);
    }));
    if let Some(folder) = std::env::var_os("SEEDS_TO") {
        return write_seeds(Path::new(&folder));
    }
    if let Ok(case) = std::env::var("CASE") {
        let (name, hex) = case.split_once(':').expect("CASE is name:hex");
        let digits: Vec<char> = hex.chars().collect();
        let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        return fuzzing::run(name, &digits.chunks(2).map(byte).collect::<Vec<_>>());
    }
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mutations = if std::env::var_os("SLOW").is_some() { 200_000 } else { 1_500 };
    let mut failures = Vec::new();
    for target in TARGETS {
        // What the target makes once is none of an input's memory.
        (target.seeds)().iter().take(1).for_each(|input| (target.run)(input));
        let mut inputs = corpus(target.name);
        let committed = inputs.len();
        inputs.extend((target.seeds)());
        failures.extend(inputs.iter().filter_map(|input| run(target, input)));
        let mut random = Random(seed);
        for _ in 0..mutations {
            failures.extend(run(target, &mutate(&mut random, &inputs)));
            if failures.len() > FAILURES_MAX {
                break;
            }
        }
        println!(
            "{}: {committed} committed inputs, {} seeds, {mutations} mutations",
            target.name,
            inputs.len() - committed
        );
    }
    assert!(failures.is_empty(), "these fail; each is repeated with\n{}", failures.join("\n"));
}
