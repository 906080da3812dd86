//! Asks: are our small routines as quick as the well-kept crates for the same work?
//!
//! `micro [--rounds 9] [--operations 1000000] [dates|ids|texts|names|keys|requests]...`: lines of who, round, figure, value,
//! unit, load. Each file has its workload, with sizes and seed as constants.
mod dates;
mod ids;
mod keys;
mod names;
mod requests;
mod texts;

use micro::allocations::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How long to measure.
#[derive(Clone, Copy)]
pub struct Effort {
    pub rounds: usize,
    pub operations: usize,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, default: usize| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
    };
    let effort = Effort { rounds: number("--rounds", 9), operations: number("--operations", 1_000_000) };
    let all: [(&str, fn(Effort)); 6] = [
        ("dates", dates::run),
        ("ids", ids::run),
        ("texts", texts::run),
        ("names", names::run),
        ("keys", keys::run),
        ("requests", requests::run),
    ];
    let is_any_named = all.iter().any(|(name, _)| arguments.iter().any(|argument| argument == name));
    for (name, run) in all {
        if !is_any_named || arguments.iter().any(|argument| argument == name) {
            run(effort);
        }
    }
}
