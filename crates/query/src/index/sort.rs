//! Entries in the order of a field.
//!
//! Two ways lead there, and the one that is estimated to be cheaper is taken:
//!
//! * Walking through the terms in order and keeping what is in the set: for a page of a large result, it ends with the page.
//! * Reading the value of each entry from its record, then sorting: for a small result of a large index.
//!
//! Both give the same: an entry with several terms stands where its least one does, or its greatest if the order is
//! descending; entries that are equal by rising id; entries without a term of the kind before or after all others.

use super::entry::EntryId;
use super::entry_ids::EntryIds;
use super::entry_set::EntrySet;
use super::error::Result;
use super::range::TermRange;
use super::runs::Run;
use super::snapshot::IndexSnapshot;
use super::term::{FieldNumber, Kind};
use std::cmp::Ordering;
use std::ops::Range;

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Least first.
    Ascending,
    /// Greatest first.
    Descending,
}

/// Where entries go that have no term of the kind in the field: it is missing, null, or of another kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Absent {
    /// Before all others.
    First,
    /// After all others.
    Last,
}

/// What to sort by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// The field.
    pub field: FieldNumber,
    /// Text by its bytes, or numbers.
    pub kind: Kind,
    /// Which way.
    pub direction: Direction,
    /// Where entries without a term go.
    pub absent: Absent,
}

/// What reading one entry's value costs, in entries of lists that are walked through.
const VALUE_COST: u64 = 4;

impl IndexSnapshot<'_> {
    /// The first `count_max` entries of a set, in an order.
    ///
    /// # Errors
    ///
    /// [`super::Error::Corrupt`]; those of the storage.
    pub fn sorted(&self, set: &EntrySet, order: Order, count_max: usize) -> Result<Vec<EntryId>> {
        let present_count = self.present(order.field, order.kind)?.count();
        // If those that are wanted lie evenly among the others.
        let wanted = set.len().min(count_max as u64);
        let walked = u128::from(present_count) * u128::from(wanted) / u128::from(set.len().max(1));
        match walked > u128::from(set.len().saturating_mul(VALUE_COST)) {
            true => self.sorted_by_values(set, order, count_max),
            false => self.sorted_by_walking(set, order, count_max),
        }
    }

    /// [`Self::sorted`], by the terms in order.
    ///
    /// # Errors
    ///
    /// As [`Self::sorted`].
    pub fn sorted_by_walking(&self, set: &EntrySet, order: Order, count_max: usize) -> Result<Vec<EntryId>> {
        let mut remaining = set.clone();
        let mut sorted = Vec::with_capacity(count_max.min(set.len() as usize));
        if order.absent == Absent::First {
            let present = EntrySet::of(self.present(order.field, order.kind)?)?;
            let mut absent = set.clone();
            absent.subtract(&present);
            take(&absent, count_max, &mut sorted)?;
            remaining.intersect(&present);
        }
        let mut heads = self.heads(TermRange::all(order.field, order.kind), order.direction);
        while sorted.len() < count_max && !remaining.is_empty() {
            let Some((key, head)) = heads.next()? else { break };
            let mut entries = self.entries_of_list(key, head);
            while let Some(run) = entries.next_run()? {
                take_run(&mut remaining, run, count_max, &mut sorted)?;
            }
        }
        // What no list had, if they were walked through to the end.
        take(&remaining, count_max, &mut sorted)?;
        Ok(sorted)
    }

    /// [`Self::sorted`], by the values of the entries.
    ///
    /// # Errors
    ///
    /// As [`Self::sorted`].
    pub fn sorted_by_values(&self, set: &EntrySet, order: Order, count_max: usize) -> Result<Vec<EntryId>> {
        let mut values = Values { bytes: Vec::new(), items: Vec::new() };
        let mut entries = set.entries();
        while let Some(id) = entries.next()? {
            let mut value = None;
            for term in self.known_entry(id)?.record().terms() {
                let term = term?;
                match (term.field, term.kind).cmp(&(order.field, order.kind)) {
                    Ordering::Less => {}
                    Ordering::Greater => break,
                    // They rise: the first is the least, the last the greatest.
                    Ordering::Equal if order.direction == Direction::Ascending && value.is_some() => break,
                    Ordering::Equal => value = Some(term.bytes),
                }
            }
            values.add(id, value);
        }
        Ok(values.sorted(order, count_max))
    }
}

/// Adds entries of a set until there are enough.
fn take(set: &EntrySet, count_max: usize, sorted: &mut Vec<EntryId>) -> Result<()> {
    let mut entries = set.entries();
    while sorted.len() < count_max {
        let Some(id) = entries.next()? else { break };
        sorted.push(id);
    }
    Ok(())
}

/// Moves those of a run that remain to the sorted ones, until there are enough.
fn take_run(remaining: &mut EntrySet, run: Run, count_max: usize, sorted: &mut Vec<EntryId>) -> Result<()> {
    if run.first == run.last {
        if sorted.len() < count_max && remaining.remove(EntryId(run.first)) {
            sorted.push(EntryId(run.first));
        }
        return Ok(());
    }
    let first = sorted.len();
    let mut entries = remaining.entries();
    let mut found = entries.seek(EntryId(run.first))?;
    while let Some(id) = found.filter(|id| id.0 <= run.last && sorted.len() < count_max) {
        sorted.push(id);
        found = entries.next()?;
    }
    for id in sorted.iter().skip(first) {
        remaining.remove(*id);
    }
    Ok(())
}

/// Values of entries, to be sorted.
struct Values {
    bytes: Vec<u8>,
    items: Vec<Value>,
}

struct Value {
    id: EntryId,
    /// The first bytes of the value as a number: mostly enough to compare.
    head: u64,
    /// `None`: the entry has none.
    bytes: Option<Range<usize>>,
}

impl Values {
    fn add(&mut self, id: EntryId, value: Option<&[u8]>) {
        let start = self.bytes.len();
        let value = value.map(|value| {
            self.bytes.extend_from_slice(value);
            let head = value.iter().chain(std::iter::repeat(&0)).take(8);
            (head.fold(0, |head, byte| head << 8 | u64::from(*byte)), start..self.bytes.len())
        });
        let (head, bytes) = value.map_or((0, None), |(head, bytes)| (head, Some(bytes)));
        self.items.push(Value { id, head, bytes });
    }

    fn sorted(self, order: Order, count_max: usize) -> Vec<EntryId> {
        let Values { bytes, mut items } = self;
        let value = |range: &Range<usize>| bytes.get(range.clone()).unwrap_or_default();
        let compare = |a: &Value, b: &Value| {
            let by_value = match (&a.bytes, &b.bytes) {
                (Some(x), Some(y)) => {
                    let rising = a.head.cmp(&b.head).then_with(|| value(x).cmp(value(y)));
                    if order.direction == Direction::Ascending { rising } else { rising.reverse() }
                }
                (x, y) if order.absent == Absent::First => x.is_some().cmp(&y.is_some()),
                (x, y) => y.is_some().cmp(&x.is_some()),
            };
            by_value.then(a.id.cmp(&b.id))
        };
        if count_max < items.len() {
            items.select_nth_unstable_by(count_max, compare);
            items.truncate(count_max);
        }
        items.sort_unstable_by(compare);
        items.into_iter().map(|item| item.id).collect()
    }
}
