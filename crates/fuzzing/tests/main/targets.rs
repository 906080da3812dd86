//! Every target on its committed inputs, and on mutations of these and of its seeds for some seconds.
//!
//! `SEED=n` makes other mutations, `SLOW=1` many more. An input that fails is written out as `CASE=name:hex`, which runs it alone;
//! `KEEP_LAST=path` keeps the last that began; `SEEDS_TO=folder` writes the seeds for libFuzzer and does nothing else.

use fuzzing::{TARGETS, Target};
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use testing::effort;
use testing::process::alone;
use testing::random::Random;

/// Failures after which the rest is left out.
const FAILURES_MAX: usize = 20;

/// A thread of the server, or of a database, panicked: nobody else hears of it.
static PANICKED: AtomicBool = AtomicBool::new(false);

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
    let mut input = random.of(inputs).clone();
    for _ in 0..1 + random.below(4) {
        let at = random.index(input.len() + 1);
        match random.below(6) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => input[at] = random.index(256) as u8,
            2 => input.insert(at, random.index(256) as u8),
            3 => drop(input.drain(at..at + random.index(input.len() - at + 1))),
            4 => {
                let other = random.of(inputs);
                let from = random.index(other.len() + 1);
                let part = other[from..from + random.index(other.len() - from + 1)].to_vec();
                input.splice(at..at, part);
            }
            _ => {
                let part = input[at..at + random.index(input.len() - at + 1)].to_vec();
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

/// One test in a process of its own, since what an input takes is the difference of what the process has.
#[test]
fn every_target_survives_its_corpus_and_mutations_of_it() {
    alone(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICKED.store(true, Ordering::SeqCst);
            report(panic);
        }));
        if let Some(folder) = std::env::var_os("SEEDS_TO") {
            write_seeds(Path::new(&folder));
        } else if let Ok(case) = std::env::var("CASE") {
            run_case(&case);
        } else {
            run_all(effort::number("SEED").unwrap_or(1), effort::choose(600, 200_000));
        }
    });
}

/// Runs an input that is written as `name:hex`.
fn run_case(case: &str) {
    let (name, hex) = case.split_once(':').expect("CASE is name:hex");
    let digits: Vec<char> = hex.chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    fuzzing::run(name, &digits.chunks(2).map(byte).collect::<Vec<_>>());
}

fn run_all(seed: u64, mutations: u64) {
    let mut failures = Vec::new();
    for target in TARGETS {
        // What the target makes once is none of an input's memory.
        (target.seeds)().iter().take(1).for_each(|input| (target.run)(input));
        let mut inputs = corpus(target.name);
        let committed = inputs.len();
        inputs.extend((target.seeds)());
        failures.extend(inputs.iter().filter_map(|input| run(target, input)));
        let mut random = Random::new(seed);
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
