//! Bringing changed values into the nodes of a group, and what that makes of its results.
//!
//! From the leaves up: a node whose items changed is reduced again, and what it gives are items of the node above, until nothing
//! changes any more or the root is reached. Only nodes on the way are read. A group whose results cannot be reduced again has leaves
//! only, which are all read.

use crate::index::{
    self, GroupChanges, GroupKey, IndexSnapshot, Item, NO_RESULT, NODE_ITEMS_BITS, NODE_ITEMS_MAX, NodeKey, Result,
    put_item,
};
use crate::mapping::MapError;
use json::Raw;
use std::borrow::Cow;
use std::ops::Range;

/// Reduces values of one group, or results of that, or both.
pub(super) trait Reduces {
    /// Calls `give` with the text of each result, an object.
    ///
    /// # Errors
    ///
    /// Why they cannot be reduced.
    fn reduce(&self, group: &GroupKey, values: &[Raw<'_>], give: &mut dyn FnMut(&[u8])) -> Result<(), MapError>;

    /// Whether it gives the same from results of parts as from all values at once. If not, a group is reduced whole.
    fn is_partial(&self) -> bool;
}

/// Items that change on one level, rising by number.
#[derive(Debug, Default)]
pub(super) struct LevelChanges {
    bytes: Vec<u8>,
    /// The number on the level, and the items that stand there now, as in a node.
    changes: Vec<ItemChange>,
}

type ItemChange = (u64, Range<usize>);

impl LevelChanges {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.changes.clear();
    }

    /// Of a number with one item, or none.
    pub fn push(&mut self, number: u64, item: Option<&[u8]>) {
        self.push_all(number, item.into_iter());
    }

    fn push_all<'i>(&mut self, number: u64, all: impl Iterator<Item = &'i [u8]>) {
        let start = self.bytes.len();
        for bytes in all {
            put_item(&mut self.bytes, Item { number: number_in_node(number), bytes });
        }
        self.changes.push((number, start..self.bytes.len()));
    }
}

/// What became of a group.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It gives what it gave before.
    Unchanged,
    /// It has no value any more.
    Gone,
    /// It gives these objects now.
    Results(Vec<Vec<u8>>),
    /// It gives nothing, for this reason.
    Failed(String),
}

fn number_in_node(number: u64) -> u8 {
    (number % NODE_ITEMS_MAX) as u8
}

/// The level of the root, by the count of numbers that were given out.
pub(super) fn root_level(given: u64) -> u8 {
    let mut level = 0;
    let mut last = given.saturating_sub(1) >> NODE_ITEMS_BITS;
    while last > 0 {
        level += 1;
        last >>= NODE_ITEMS_BITS;
    }
    level
}

/// Applies changes to a group.
///
/// * `before`, `after`: how many numbers it had given, and has now.
/// * `leaves`: its values that changed; they are used up.
///
/// # Errors
///
/// The index cannot be read.
pub(super) fn apply(
    index: &IndexSnapshot<'_>,
    group: GroupKey,
    (before, after): (u64, u64),
    leaves: &mut LevelChanges,
    reducer: &dyn Reduces,
    changed: &mut GroupChanges,
) -> Result<Outcome> {
    if !reducer.is_partial() {
        return apply_whole(index, group, after, leaves, reducer, changed);
    }
    let (old_root, root) = (root_level(before), root_level(after));
    let mut above = LevelChanges::default();
    let mut is_gone = false;
    let mut outcome = Outcome::Unchanged;
    for level in 0..=root {
        above.clear();
        // What was the root is an item of a node now.
        let has_grown = before > 0 && level >= old_root && level < root;
        let mut nodes: Vec<(u64, &[ItemChange])> = Vec::new();
        let node_of = |number: u64| number >> NODE_ITEMS_BITS;
        if has_grown && leaves.changes.first().is_none_or(|(number, _)| node_of(*number) > 0) {
            nodes.push((0, &[]));
        }
        let by_node = leaves.changes.chunk_by(|(a, _), (b, _)| node_of(*a) == node_of(*b));
        nodes.extend(by_node.filter_map(|changes| Some((node_of(changes.first()?.0), changes))));
        for (number, changes) in nodes {
            let key = NodeKey { group, level, number };
            let old = index.group_node(&key)?;
            let new = merged(old, changes, &leaves.bytes)?;
            if new != old {
                changed.set_node(key, &new);
            } else if !(has_grown && number == 0) {
                continue;
            }
            if level == root {
                is_gone = new.is_empty();
                outcome = match (reduced(&group, &[Cow::Borrowed(&new)], reducer)?, outcome) {
                    _ if is_gone => Outcome::Gone,
                    // The message of the part that failed says more.
                    (Outcome::Failed(_), Outcome::Failed(message)) => Outcome::Failed(message),
                    (outcome, _) => outcome,
                };
            } else if new.is_empty() {
                above.push(number, None);
            } else {
                match reduced(&group, &[Cow::Borrowed(&new)], reducer)? {
                    Outcome::Results(results) if !results.is_empty() => {
                        above.push_all(number, results.iter().map(Vec::as_slice));
                    }
                    Outcome::Failed(message) => {
                        above.push(number, Some(b""));
                        outcome = Outcome::Failed(message);
                    }
                    _ => above.push(number, Some(NO_RESULT)),
                }
            }
        }
        std::mem::swap(leaves, &mut above);
        if leaves.changes.is_empty() {
            break;
        }
    }
    changed.set_given(group, if is_gone { 0 } else { after });
    Ok(outcome)
}

/// [`apply`] for a group that is reduced whole.
fn apply_whole(
    index: &IndexSnapshot<'_>,
    group: GroupKey,
    after: u64,
    leaves: &LevelChanges,
    reducer: &dyn Reduces,
    changed: &mut GroupChanges,
) -> Result<Outcome> {
    let mut is_changed = false;
    let mut whole: Vec<Cow<'_, [u8]>> = Vec::new();
    let mut changes = leaves.changes.as_slice();
    // Numbers are not given again, so most of the leaves that there were may be gone.
    let mut olds = index.group_leaves(group)?.into_iter().peekable();
    loop {
        let changed_next = changes.first().map(|(at, _)| at >> NODE_ITEMS_BITS);
        let Some(number) = olds.peek().map(|(number, _)| *number).into_iter().chain(changed_next).min() else { break };
        let old = olds.next_if(|(old, _)| *old == number).map_or(&[][..], |(_, old)| old);
        let (of_node, rest) = changes.split_at(changes.partition_point(|(at, _)| at >> NODE_ITEMS_BITS == number));
        changes = rest;
        if of_node.is_empty() {
            whole.push(Cow::Borrowed(old));
            continue;
        }
        let new = merged(old, of_node, &leaves.bytes)?;
        if new != old {
            is_changed = true;
            changed.set_node(NodeKey { group, level: 0, number }, &new);
        }
        whole.push(Cow::Owned(new));
    }
    let is_gone = whole.iter().all(|node| node.is_empty());
    changed.set_given(group, if is_gone { 0 } else { after });
    match (is_gone, is_changed) {
        (true, _) => Ok(Outcome::Gone),
        (false, false) => Ok(Outcome::Unchanged),
        (false, true) => reduced(&group, &whole, reducer),
    }
}

/// The items of a node with some of them changed.
fn merged(old: &[u8], changes: &[ItemChange], bytes: &[u8]) -> Result<Vec<u8>> {
    let mut new = Vec::with_capacity(old.len());
    let mut changes = changes.iter().peekable();
    let put_changed = |new: &mut Vec<u8>, range: &Range<usize>| {
        new.extend_from_slice(bytes.get(range.clone()).unwrap_or_default());
    };
    let mut replaced = None;
    for item in index::items(old)? {
        while let Some((number, range)) = changes.next_if(|(number, _)| number_in_node(*number) <= item.number) {
            replaced = Some(number_in_node(*number));
            put_changed(&mut new, range);
        }
        if replaced != Some(item.number) {
            put_item(&mut new, item);
        }
    }
    changes.for_each(|(_, range)| put_changed(&mut new, range));
    Ok(new)
}

/// What the items of nodes are reduced to.
fn reduced(group: &GroupKey, nodes: &[Cow<'_, [u8]>], reducer: &dyn Reduces) -> Result<Outcome> {
    let mut items = Vec::new();
    for node in nodes {
        items.append(&mut index::items(node)?);
    }
    if items.iter().any(|item| item.bytes.is_empty()) {
        return Ok(Outcome::Failed("a part of the group could not be reduced".to_owned()));
    }
    let values: Vec<Raw<'_>> =
        items.iter().filter(|item| item.bytes != NO_RESULT).map(|item| Raw::new(item.bytes)).collect();
    let mut results = Vec::new();
    if values.is_empty() {
        return Ok(Outcome::Results(results));
    }
    Ok(match reducer.reduce(group, &values, &mut |result| results.push(result.to_vec())) {
        Ok(()) => Outcome::Results(results),
        Err(MapError::Interrupted) => return Err(index::Error::Interrupted),
        Err(MapError::OverMemory { limit, max_mb }) => {
            return Err(index::Error::Storage(storage::Error::OverMemory { limit, max_mb, passes: true }));
        }
        Err(error) => Outcome::Failed(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Batch, Index};
    use std::collections::BTreeMap;
    use storage::Options;

    /// Sums `N`; fails where one is negative.
    struct Sum {
        is_partial: bool,
    }

    impl Reduces for Sum {
        fn is_partial(&self) -> bool {
            self.is_partial
        }

        fn reduce(&self, _: &GroupKey, values: &[Raw<'_>], give: &mut dyn FnMut(&[u8])) -> Result<(), MapError> {
            assert!(!self.is_partial || values.len() <= NODE_ITEMS_MAX as usize);
            let numbers = values.iter().map(|value| value.get("N").unwrap().as_i64().unwrap());
            if numbers.clone().any(|number| number < 0) {
                return Err(MapError::Stopped("negative".to_owned()));
            }
            let sum: i64 = numbers.sum();
            give(format!("{{\"N\":{sum}}}").as_bytes());
            Ok(())
        }
    }

    /// Were it to look for each leaf that ever was, it would not end.
    #[test]
    fn a_group_that_is_reduced_whole_looks_at_the_leaves_that_there_are() {
        const GIVEN: u64 = 1 << 50;
        let index = Index::in_memory(Options::default()).unwrap().with_groups().unwrap();
        let (group, other, sum) = (GroupKey::of(b"all"), GroupKey::of(b"other"), Sum { is_partial: false });
        let apply = |group, changes: &[(u64, Option<&[u8]>)]| {
            let mut leaves = LevelChanges::default();
            changes.iter().for_each(|(number, value)| leaves.push(*number, *value));
            let (mut batch, snapshot) = (Batch::new(), index.read().unwrap());
            let outcome = apply(&snapshot, group, (GIVEN, GIVEN), &mut leaves, &sum, &mut batch.groups).unwrap();
            drop(snapshot);
            index.write(&batch).unwrap();
            outcome
        };
        let results = |number: i64| Outcome::Results(vec![format!("{{\"N\":{number}}}").into_bytes()]);
        let [one, two, four] = [&br#"{"N":1}"#[..], br#"{"N":2}"#, br#"{"N":4}"#].map(Some);
        assert_eq!(apply(other, &[(0, four), (GIVEN - 1, four)]), results(8));
        assert_eq!(apply(group, &[(5, one), (70, one), (GIVEN / 2, two), (GIVEN - 1, four)]), results(8));
        assert_eq!(apply(group, &[(70, None), (71, None), (GIVEN - 2, one)]), results(8));
        assert_eq!(apply(group, &[(70, None), (GIVEN - 1, four)]), Outcome::Unchanged);
        assert_eq!(apply(group, &[(6, two), (GIVEN / 2, None)]), results(8));
        assert_eq!(apply(group, &[(5, None), (6, None), (GIVEN - 2, None), (GIVEN - 1, None)]), Outcome::Gone);
        assert_eq!(index.read().unwrap().group_given(&group).unwrap(), 0);
        assert_eq!(index.read().unwrap().group_leaves(group).unwrap(), []);
    }

    #[test]
    fn the_root_rises_with_the_numbers() {
        for (given, level) in [(0, 0), (1, 0), (64, 0), (65, 1), (4096, 1), (4097, 2)] {
            assert_eq!(root_level(given), level, "{given}");
        }
    }

    /// Random values come, change and go; the group gives what summing all of them does.
    #[test]
    fn a_group_gives_what_all_its_values_come_to() {
        for seed in 0..6 {
            let mut stream = testing::random::Random::new(seed);
            let mut random = |below: u64| stream.below(below);
            let index = Index::in_memory(Options::default()).unwrap().with_groups().unwrap();
            let sum = Sum { is_partial: seed < 4 };
            let group = GroupKey::of(b"all");
            let mut values: BTreeMap<u64, i64> = BTreeMap::new();
            let (mut given, mut last) = (0, Outcome::Gone);
            for _ in 0..60 {
                let mut changes = BTreeMap::new();
                let count = 1 + random(if seed % 2 == 0 { 9 } else { 400 });
                let before = given;
                for _ in 0..count {
                    let number = match random(4) {
                        0 | 1 => {
                            given += 1;
                            given - 1
                        }
                        _ => random(given.max(1)),
                    };
                    if number >= given {
                        continue;
                    }
                    let is_gone = random(3) == 0;
                    let value = if random(500) == 0 { -1 } else { random(100) as i64 };
                    changes.insert(number, (!is_gone).then_some(value));
                }
                let mut leaves = LevelChanges::default();
                for (number, value) in &changes {
                    let text = value.map(|value| format!("{{\"N\":{value}}}"));
                    leaves.push(*number, text.as_deref().map(str::as_bytes));
                    match value {
                        Some(value) => values.insert(*number, *value),
                        None => values.remove(number),
                    };
                }
                let mut batch = Batch::new();
                let snapshot = index.read().unwrap();
                let outcome = apply(&snapshot, group, (before, given), &mut leaves, &sum, &mut batch.groups).unwrap();
                drop(snapshot);
                index.write(&batch).unwrap();
                given = index.read().unwrap().group_given(&group).unwrap();
                let sum: i64 = values.values().sum();
                let expected = match () {
                    () if values.is_empty() => Outcome::Gone,
                    () if values.values().any(|value| *value < 0) => Outcome::Failed(String::new()),
                    () => Outcome::Results(vec![format!("{{\"N\":{sum}}}").into_bytes()]),
                };
                let outcome = match outcome {
                    Outcome::Failed(_) => Outcome::Failed(String::new()),
                    Outcome::Unchanged => last,
                    outcome => outcome,
                };
                assert_eq!(outcome, expected, "seed {seed}");
                last = outcome;
            }
        }
    }
}
