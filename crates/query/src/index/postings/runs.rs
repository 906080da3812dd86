//! Rising ids of entries as bytes: runs of ids that follow each other, each told by its distance from the one before.
//!
//! ```text
//!  token:  varint( gap * 2 + is_run )  [ varint( more ) ]
//! ```
//!
//! * `gap`: ids left out since the run before, or since the base: 0 for a whole list, the id before its first for a block.
//! * `is_run`: `more` ids follow this one without a gap, at least 1. Else it stands alone.
//!
//! Ids are dense, so a term that all entries have is one token however many they are, one that every sixtieth has costs one
//! byte for each, and a rare one two or three. A run costs as much as its first id, so lists are changed as runs too.
//!
//! Invariants: runs rise and do not touch; the gap of a block's first run is 0, that of any other run after it is not.

use crate::index::error::{Result, corrupt};
use crate::index::limits::ENTRY_ID_MAX;
use crate::varint;

/// Ids that follow each other, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub first: u64,
    pub last: u64,
}

/// A change of a list: an entry comes or goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    pub entry: u64,
    pub is_removal: bool,
}

/// Runs as they are read.
#[derive(Clone)]
pub(crate) struct Runs<'b> {
    bytes: &'b [u8],
    /// The id before the next gap.
    previous: u64,
    is_first: bool,
}

impl<'b> Runs<'b> {
    /// Reads bytes that [`Encoder`] wrote from the same base.
    pub fn new(bytes: &'b [u8], base: u64) -> Runs<'b> {
        Runs { bytes, previous: base, is_first: true }
    }

    fn take(&mut self) -> Option<Run> {
        let token = varint::take(&mut self.bytes)?;
        let gap = token >> 1;
        if gap == 0 && !self.is_first {
            return None;
        }
        let first = self.previous.checked_add(gap)?.checked_add(1)?;
        let more = if token & 1 == 0 { 0 } else { varint::take(&mut self.bytes).filter(|more| *more > 0)? };
        let last = first.checked_add(more).filter(|last| *last <= ENTRY_ID_MAX)?;
        self.previous = last;
        self.is_first = false;
        Some(Run { first, last })
    }
}

impl Iterator for Runs<'_> {
    type Item = Result<Run>;

    #[inline]
    fn next(&mut self) -> Option<Result<Run>> {
        if self.bytes.is_empty() {
            return None;
        }
        let run = self.take();
        if run.is_none() {
            self.bytes = &[];
        }
        Some(run.ok_or_else(|| corrupt("a posting list has rising runs of ids")))
    }
}

/// Writes runs, which must rise and not touch.
pub(crate) struct Encoder<'o> {
    out: &'o mut Vec<u8>,
    previous: u64,
}

impl<'o> Encoder<'o> {
    pub fn new(out: &'o mut Vec<u8>, base: u64) -> Encoder<'o> {
        Encoder { out, previous: base }
    }

    fn token(&self, run: Run) -> (u64, u64) {
        let more = run.last - run.first;
        ((run.first - self.previous - 1) << 1 | u64::from(more > 0), more)
    }

    /// Bytes that a run would take now.
    pub fn size(&self, run: Run) -> usize {
        let (token, more) = self.token(run);
        varint::size(token) + if more > 0 { varint::size(more) } else { 0 }
    }

    pub fn push(&mut self, run: Run) {
        let (token, more) = self.token(run);
        varint::put(self.out, token);
        if more > 0 {
            varint::put(self.out, more);
        }
        self.previous = run.last;
    }
}

/// Bytes that runs take from a base.
pub(crate) fn size(runs: &[Run], base: u64) -> usize {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, base);
    let mut size = 0;
    for run in runs {
        size += encoder.size(*run);
        encoder.previous = run.last;
    }
    size
}

/// Adds a run behind others; one that touches the last becomes part of it.
pub(crate) fn push(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.last + 1 == run.first => last.last = run.last,
        _ => runs.push(run),
    }
}

/// Adds a list with changes made to it to `out`. Changes rise, and no entry has two.
///
/// # Errors
///
/// An entry comes that was there, or goes that was not: postings and entries do not agree.
pub(crate) fn merge(old: Runs<'_>, changes: &[Change], out: &mut Vec<Run>) -> Result<()> {
    let mut changes = changes.iter().peekable();
    let add = |out: &mut Vec<Run>, change: &Change| {
        if change.is_removal {
            return Err(corrupt("an entry that goes is in the lists of its terms"));
        }
        push(out, Run { first: change.entry, last: change.entry });
        Ok(())
    };
    for run in old {
        let mut run = run?;
        while let Some(change) = changes.next_if(|change| change.entry < run.first) {
            add(out, change)?;
        }
        while let Some(change) = changes.next_if(|change| change.entry <= run.last) {
            if !change.is_removal {
                return Err(corrupt("an entry that comes is not in the lists of its terms yet"));
            }
            if change.entry > run.first {
                push(out, Run { first: run.first, last: change.entry - 1 });
            }
            run.first = change.entry + 1;
        }
        if run.first <= run.last {
            push(out, run);
        }
    }
    changes.try_for_each(|change| add(out, change))
}

/// Adds a list to `out` with entries behind it, if all of them are behind its last: without writing anew what is there. Else
/// gives false, and `out` is as it was.
///
/// # Errors
///
/// The bytes are no runs.
pub(crate) fn append(mut runs: Runs<'_>, additions: &[Change], out: &mut Vec<u8>) -> Result<bool> {
    let (old, base) = (runs.bytes, runs.previous);
    // The last run, where it begins, and the id before its gap.
    let mut last: Option<(Run, usize, u64)> = None;
    loop {
        let (at, before) = (old.len() - runs.bytes.len(), runs.previous);
        let Some(run) = runs.next() else { break };
        last = Some((run?, at, before));
    }
    let end = last.map_or(base, |(run, ..)| run.last);
    if additions.iter().any(|addition| addition.is_removal || addition.entry <= end) {
        return Ok(false);
    }
    let (mut run, at, before) = match last {
        Some((run, at, before)) => (Some(run), at, before),
        None => (None, 0, base),
    };
    out.extend_from_slice(old.get(..at).unwrap_or_default());
    let mut encoder = Encoder::new(out, before);
    for addition in additions {
        match &mut run {
            Some(run) if run.last + 1 == addition.entry => run.last = addition.entry,
            _ => {
                let next = Run { first: addition.entry, last: addition.entry };
                if let Some(run) = run.replace(next) {
                    encoder.push(run);
                }
            }
        }
    }
    run.into_iter().for_each(|run| encoder.push(run));
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn encode(ids: &BTreeSet<u64>, base: u64) -> Vec<u8> {
        let mut runs = Vec::new();
        ids.iter().for_each(|id| push(&mut runs, Run { first: *id, last: *id }));
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out, base);
        runs.iter().for_each(|run| encoder.push(*run));
        assert_eq!(out.len(), size(&runs, base));
        out
    }

    fn decode(bytes: &[u8], base: u64) -> Result<BTreeSet<u64>> {
        let mut ids = BTreeSet::new();
        for run in Runs::new(bytes, base) {
            let run = run?;
            ids.extend(run.first..=run.last);
        }
        Ok(ids)
    }

    fn ids() -> impl Strategy<Value = BTreeSet<u64>> {
        prop::collection::btree_set(prop_oneof![1u64..40, 1u64..2000, 1u64 << 39..(1 << 39) + 9], 0..60)
    }

    proptest! {
        #[test]
        fn ids_come_back(ids in ids()) {
            prop_assert_eq!(decode(&encode(&ids, 0), 0).unwrap(), ids.clone());
            if let Some(first) = ids.first() {
                prop_assert_eq!(decode(&encode(&ids, first - 1), first - 1).unwrap(), ids.clone());
            }
        }

        #[test]
        fn changes_are_those_of_a_set(old in ids(), new in ids()) {
            let differing: BTreeSet<u64> = old.symmetric_difference(&new).copied().collect();
            let changes: Vec<Change> =
                differing.iter().map(|id| Change { entry: *id, is_removal: old.contains(id) }).collect();
            let mut runs = Vec::new();
            merge(Runs::new(&encode(&old, 0), 0), &changes, &mut runs).unwrap();
            let mut out = Vec::new();
            let mut encoder = Encoder::new(&mut out, 0);
            runs.iter().for_each(|run| encoder.push(*run));
            prop_assert_eq!(out, encode(&new, 0));
        }

        #[test]
        fn what_comes_behind_is_appended_and_nothing_else_is(old in ids(), new in ids(), base in 0u64..3) {
            let base = old.first().map_or(0, |first| base.min(first - 1));
            let changes: Vec<Change> = new.iter().map(|id| Change { entry: *id, is_removal: false }).collect();
            let mut out = vec![7];
            let is_behind = new.first().is_none_or(|first| old.last().is_none_or(|last| first > last));
            prop_assert_eq!(append(Runs::new(&encode(&old, base), base), &changes, &mut out).unwrap(), is_behind);
            let both: BTreeSet<u64> = old.union(&new).copied().collect();
            let expected = if is_behind { encode(&both, base) } else { Vec::new() };
            prop_assert_eq!(&out[1..], expected);
        }

        #[test]
        fn a_change_that_does_not_fit_is_refused(old in ids(), entry in 1u64..40) {
            let wrong = Change { entry, is_removal: !old.contains(&entry) };
            prop_assert!(merge(Runs::new(&encode(&old, 0), 0), &[wrong], &mut Vec::new()).is_err());
        }

        #[test]
        fn any_bytes_are_runs_in_one_way_or_an_error(bytes: Vec<u8>, base in 0u64..100) {
            let mut out = Vec::new();
            let mut encoder = Encoder::new(&mut out, base);
            let mut is_whole = true;
            for run in Runs::new(&bytes, base) {
                match run {
                    Ok(run) => encoder.push(run),
                    Err(_) => is_whole = false,
                }
            }
            if is_whole {
                prop_assert_eq!(out, bytes);
            }
        }
    }

    #[test]
    fn all_entries_are_one_token() {
        let runs = [Run { first: 1, last: 1_000_000 }];
        assert_eq!(size(&runs, 0), 4);
    }
}
