//! Decides whether what clients saw of an object can have happened one call after the other.
//!
//! A history is *linearizable* (Herlihy and Wing: "Linearizability: A Correctness Condition for Concurrent Objects", TOPLAS 1990) if each
//! call can be given a moment between its begin and its answer, so that a sequential object gives the same answers in the order of these
//! moments. The search is that of Wing and Gong ("Testing and Verifying Concurrent Objects", JPDC 1993), with the memory of visited
//! configurations by Lowe ("Testing for Linearizability", 2017), which makes it fast where few calls overlap.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

/// Configurations that a search visits at most. A history that needs more is too large for a test.
const CONFIGURATIONS_MAX: usize = 20_000_000;

/// A sequential object.
pub trait Model {
    /// What it is between two calls.
    type State: Clone + Eq + Hash + Debug;
    /// What clients ask of it.
    type Call: Debug;
    /// What they are told.
    type Answer: Debug;

    /// The state after a call. `None`: in this state the call would have another answer.
    ///
    /// * `answer`: `None` if it was lost; the call has then been carried out all the same.
    fn apply(state: &Self::State, call: &Self::Call, answer: Option<&Self::Answer>) -> Option<Self::State>;
}

/// One call of a client.
pub struct Operation<M: Model> {
    /// What was asked.
    pub call: M::Call,
    /// When it was begun, in any unit that rises.
    pub begin: u64,
    /// Its answer, and when that had come. `None`: none came, and the call was carried out at any time after its begin, or never.
    pub end: Option<(u64, M::Answer)>,
}

/// Searches an order of the calls that explains all answers.
///
/// # Errors
///
/// There is none. The text has the operations that could not be placed after the longest part that can be explained.
///
/// # Panics
///
/// The search needs more than [`CONFIGURATIONS_MAX`] configurations.
pub fn check<M: Model>(begin: &M::State, mut operations: Vec<Operation<M>>) -> Result<(), String> {
    operations.sort_by_key(|operation| operation.begin);
    let mut placed = Placed::new(operations.len());
    let mut left = operations.iter().filter(|operation| operation.end.is_some()).count();
    let mut visited = HashSet::new();
    let mut stack = vec![Step { placed: None, state: begin.clone(), next: next(&operations, &placed) }];
    let (mut best, mut best_left) = (String::new(), usize::MAX);
    while let Some(step) = stack.last_mut() {
        if left == 0 {
            return Ok(());
        }
        if left < best_left {
            best_left = left;
            best = format!("{left} answers cannot be explained after the state {:?}:", step.state);
            for Operation { call, begin, end } in step.next.iter().map(|at| &operations[*at]) {
                best.push_str(&format!("\n  {call:?}, begun at {begin}, answered {end:?}"));
            }
        }
        let Some(at) = step.next.pop() else {
            if let Some(at) = stack.pop().and_then(|step| step.placed) {
                placed.flip(at);
                left += usize::from(operations[at].end.is_some());
            }
            continue;
        };
        let operation = &operations[at];
        let answer = operation.end.as_ref().map(|(_, answer)| answer);
        let Some(state) = M::apply(&step.state, &operation.call, answer) else { continue };
        placed.flip(at);
        if !visited.insert((placed.0.clone(), state.clone())) {
            placed.flip(at);
            continue;
        }
        assert!(visited.len() <= CONFIGURATIONS_MAX, "the history is too large to be decided");
        left -= usize::from(operation.end.is_some());
        stack.push(Step { placed: Some(at), state, next: next(&operations, &placed) });
    }
    Err(best)
}

/// A state that the search has come to.
struct Step<S> {
    /// The operation that led there.
    placed: Option<usize>,
    state: S,
    /// Operations that may come next and were not tried yet.
    next: Vec<usize>,
}

/// Which operations have their place, a bit for each.
struct Placed(Vec<u64>);

impl Placed {
    fn new(count: usize) -> Placed {
        Placed(vec![0; count.div_ceil(64)])
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] & 1 << (at % 64) != 0
    }

    fn flip(&mut self, at: usize) {
        self.0[at / 64] ^= 1 << (at % 64);
    }
}

/// The operations that may come next, the last of them to be tried first: those that began before any other that is left had its answer.
fn next<M: Model>(operations: &[Operation<M>], placed: &Placed) -> Vec<usize> {
    let mut first_end = u64::MAX;
    let mut found = Vec::new();
    for (at, operation) in operations.iter().enumerate().filter(|(at, _)| !placed.has(*at)) {
        if operation.begin > first_end {
            break;
        }
        first_end = operation.end.as_ref().map_or(first_end, |(end, _)| first_end.min(*end));
        found.push(at);
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A number that is read, written, and changed if it is what the caller expects.
    struct Register;

    #[derive(Clone, Copy, Debug)]
    enum Call {
        Read,
        Write(u64),
        Swap { from: u64, to: u64 },
    }

    impl Model for Register {
        type State = u64;
        type Call = Call;
        /// What was read; of a swap, 1 if it was done.
        type Answer = u64;

        fn apply(state: &u64, call: &Call, answer: Option<&u64>) -> Option<u64> {
            let (after, right) = sequential(*state, *call);
            answer.is_none_or(|answer| *answer == right).then_some(after)
        }
    }

    /// The state after a call, and its answer.
    fn sequential(state: u64, call: Call) -> (u64, u64) {
        match call {
            Call::Read => (state, state),
            Call::Write(value) => (value, 0),
            Call::Swap { from, to } if from == state => (to, 1),
            Call::Swap { .. } => (state, 0),
        }
    }

    fn operation(call: Call, begin: u64, end: u64, answer: u64) -> Operation<Register> {
        Operation { call, begin, end: Some((end, answer)) }
    }

    #[test]
    fn calls_that_overlap_may_be_in_any_order() {
        for read in [0, 1] {
            check(&0, vec![operation(Call::Write(1), 0, 10, 0), operation(Call::Read, 5, 6, read)]).unwrap();
        }
        let swaps = |second| {
            let first = operation(Call::Swap { from: 0, to: 1 }, 0, 10, 1);
            vec![first, operation(Call::Swap { from: 0, to: 2 }, 5, 15, second)]
        };
        check(&0, swaps(0)).unwrap();
        check(&0, swaps(1)).unwrap_err();
    }

    #[test]
    fn a_stale_read_is_seen() {
        let stale = vec![operation(Call::Write(1), 0, 10, 0), operation(Call::Read, 11, 12, 0)];
        assert!(check(&0, stale).unwrap_err().starts_with("1 answers cannot be explained after the state 1:"));
        // Once the new value was read, the old one is never read again.
        let back = vec![
            operation(Call::Write(1), 0, 100, 0),
            operation(Call::Read, 10, 20, 1),
            operation(Call::Read, 30, 40, 0),
        ];
        check(&0, back).unwrap_err();
    }

    #[test]
    fn a_call_without_an_answer_was_carried_out_late_or_never() {
        let lost = |begin| Operation { call: Call::Write(1), begin, end: None };
        check(&0, vec![lost(0), operation(Call::Read, 5, 6, 0), operation(Call::Read, 7, 8, 1)]).unwrap();
        check(&0, vec![lost(0), operation(Call::Read, 5, 6, 0), operation(Call::Read, 7, 8, 0)]).unwrap();
        check(&0, vec![lost(0), operation(Call::Read, 5, 6, 1), operation(Call::Read, 7, 8, 0)]).unwrap_err();
        check(&0, vec![lost(9), operation(Call::Read, 5, 6, 1)]).unwrap_err();
    }

    /// Histories of a real register are explained, and one answer that it did not give is not.
    #[test]
    fn histories_at_random_are_decided() {
        let mut random = Random::new(11);
        for _ in 0..200 {
            let (mut state, mut operations) = (0_u64, Vec::new());
            let mut written = 0;
            for moment in (0..300).map(|number| number * 10) {
                let call = match random.below(3) {
                    0 => Call::Read,
                    1 => {
                        written += 1;
                        Call::Write(written)
                    }
                    _ => {
                        written += 1;
                        Call::Swap { from: state.saturating_sub(random.below(2)), to: written }
                    }
                };
                let (after, answer) = sequential(state, call);
                state = after;
                // Each is carried out at its moment, and overlaps with some before and behind it.
                let (begin, end) = (50 + moment - random.below(40), 50 + moment + random.below(40));
                operations.push(operation(call, begin, end, answer));
            }
            let wrong = 100 + random.index(100);
            let is_wrong = random.chance(2);
            if is_wrong {
                operations[wrong] = operation(Call::Read, 3050, 3050, written + 1);
            }
            assert_eq!(check(&0, operations).is_err(), is_wrong);
        }
    }
}
