//! And, or, not: operators over rising ids. Each moves its inputs no further than it has to.

use super::entry_ids::EntryIds;
use super::entry_set::EntrySet;
use crate::index::entry::EntryId;
use crate::index::error::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Entries that are in any of several inputs, each once.
pub struct Union<'s> {
    inputs: Vec<Box<dyn EntryIds + 's>>,
    /// The id that each input is at, which was not given yet, and the input.
    heap: BinaryHeap<Reverse<(EntryId, usize)>>,
    is_started: bool,
}

impl<'s> Union<'s> {
    /// The union of the inputs.
    pub fn new(inputs: Vec<Box<dyn EntryIds + 's>>) -> Union<'s> {
        Union { inputs, heap: BinaryHeap::new(), is_started: false }
    }

    fn note(&mut self, input: usize, found: Option<EntryId>) {
        if let Some(id) = found {
            self.heap.push(Reverse((id, input)));
        }
    }

    /// Moves each input that has not come so far.
    fn advance(&mut self, at_least: EntryId) -> Result<()> {
        if !self.is_started {
            self.is_started = true;
            for input in 0..self.inputs.len() {
                let found = self.inputs[input].seek(at_least)?;
                self.note(input, found);
            }
        }
        while let Some(&Reverse((id, input))) = self.heap.peek()
            && id < at_least
        {
            self.heap.pop();
            let found = self.inputs[input].seek(at_least)?;
            self.note(input, found);
        }
        Ok(())
    }
}

impl EntryIds for Union<'_> {
    fn next(&mut self) -> Result<Option<EntryId>> {
        self.seek(EntryId(0))
    }

    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>> {
        self.advance(at_least)?;
        let Some(&Reverse((id, _))) = self.heap.peek() else { return Ok(None) };
        // All inputs that are at it have given it.
        self.advance(EntryId(id.0 + 1))?;
        Ok(Some(id))
    }

    fn count_max(&self) -> u64 {
        self.inputs.iter().fold(0, |sum, input| sum.saturating_add(input.count_max()))
    }

    /// A set needs no order among the inputs.
    fn add_to(&mut self, set: &mut EntrySet) -> Result<()> {
        self.is_started = true;
        for Reverse((id, _)) in self.heap.drain() {
            set.insert(id);
        }
        self.inputs.iter_mut().try_for_each(|input| input.add_to(set))
    }
}

/// Entries that are in all of several inputs.
pub struct Intersection<'s> {
    /// Those with the fewest entries first: they say where to look in the others.
    inputs: Vec<Box<dyn EntryIds + 's>>,
    /// The id that each input is at; 0: none yet.
    at: Vec<EntryId>,
    is_done: bool,
}

impl<'s> Intersection<'s> {
    /// The intersection of the inputs; of none it is empty.
    pub fn new(mut inputs: Vec<Box<dyn EntryIds + 's>>) -> Intersection<'s> {
        inputs.sort_by_key(|input| input.count_max());
        let (at, is_done) = (vec![EntryId(0); inputs.len()], inputs.is_empty());
        Intersection { inputs, at, is_done }
    }
}

impl EntryIds for Intersection<'_> {
    fn next(&mut self) -> Result<Option<EntryId>> {
        self.seek(EntryId(0))
    }

    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>> {
        if self.is_done {
            return Ok(None);
        }
        // What the inputs are at was given already.
        let given = self.at.first().map_or(0, |id| id.0);
        let mut candidate = at_least.max(EntryId(given + 1));
        let mut agreeing = 0;
        let mut input = 0;
        // Round and round, until as many as there are had nothing to say against the candidate.
        while agreeing < self.inputs.len() {
            if self.at[input] < candidate {
                let Some(found) = self.inputs[input].seek(candidate)? else {
                    self.is_done = true;
                    return Ok(None);
                };
                self.at[input] = found;
            }
            if self.at[input] > candidate {
                candidate = self.at[input];
                agreeing = 0;
            }
            agreeing += 1;
            // The input that named the candidate agrees; ask the fewest first again.
            input = (input + 1) % self.inputs.len();
        }
        Ok(Some(candidate))
    }

    fn count_max(&self) -> u64 {
        self.inputs.first().map_or(0, |input| input.count_max())
    }
}

/// Entries that are in one input and not in another.
pub struct Difference<A, B> {
    kept: A,
    removed: B,
    /// The next id to be removed that is known; 0: none yet. `None`: no more.
    removed_at: Option<EntryId>,
}

impl<A: EntryIds, B: EntryIds> Difference<A, B> {
    /// Those of `kept` that are not in `removed`.
    pub fn new(kept: A, removed: B) -> Difference<A, B> {
        Difference { kept, removed, removed_at: Some(EntryId(0)) }
    }

    fn is_removed(&mut self, id: EntryId) -> Result<bool> {
        if self.removed_at.is_some_and(|at| at < id) {
            self.removed_at = self.removed.seek(id)?;
        }
        Ok(self.removed_at == Some(id))
    }
}

impl<A: EntryIds, B: EntryIds> EntryIds for Difference<A, B> {
    fn next(&mut self) -> Result<Option<EntryId>> {
        while let Some(id) = self.kept.next()? {
            if !self.is_removed(id)? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>> {
        match self.kept.seek(at_least)? {
            Some(id) if self.is_removed(id)? => self.next(),
            found => Ok(found),
        }
    }

    fn count_max(&self) -> u64 {
        self.kept.count_max()
    }
}
