//! One question: ours and its peers in turn, round by round, so that a busy machine hurts all alike.
use crate::clock::{load_average, thread_seconds};

pub const OURS: &str = "rookery";

/// Who does the same work, and the work: so many operations.
pub struct Side<'a> {
    pub who: &'static str,
    pub work: Box<dyn FnMut(usize) + 'a>,
}

pub fn side<'a>(who: &'static str, work: impl FnMut(usize) + 'a) -> Side<'a> {
    Side { who, work: Box::new(work) }
}

/// A line for bench/run: who, round, figure, value, unit, load average.
pub fn emit(who: &str, round: usize, figure: &str, value: f64, unit: &str) {
    println!("{who}\t{round}\t{figure}\t{value}\t{unit}\t{:.2}", load_average());
}

/// Prints the CPU time of one operation for each side and round, after one round that is not counted.
pub fn compare(figure: &str, rounds: usize, operations: usize, mut sides: Vec<Side<'_>>) {
    for round in 0..=rounds {
        for side in &mut sides {
            let start = thread_seconds();
            (side.work)(operations);
            let nanos = (thread_seconds() - start) * 1e9 / operations as f64;
            if round > 0 {
                emit(side.who, round - 1, figure, nanos, "ns");
            }
        }
    }
}
