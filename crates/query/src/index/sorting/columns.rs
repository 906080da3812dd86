//! The columns of an index: which there are, of which state of the index, and when one is made.
//!
//! A field gets a column when sorting by it has cost about as much without one as making it does; so a field that is sorted
//! by once costs nothing more, and one that is sorted by often is slow a few times. From then on each batch brings the column
//! along. A snapshot finds the column of its own state or none: the last few states are kept, so that a query that began
//! before a batch ends with what it began with.
//!
//! Invariant: a column belongs to one transaction of the index, and is what the records have in it. What cannot be brought
//! along (a value that begins otherwise, a state that is not the next one) is dropped, and made anew when it is worth it.

use super::column::{Column, Rank};
use super::sort::Direction;
use crate::index::dictionary::term::{FieldNumber, Kind};
use crate::index::entry::{EntryId, Record};
use crate::index::error::Result;
use crate::index::limits::{COLUMN_CHANGES_MAX, COLUMN_STATES_KEPT, COLUMNS_SIZE_MAX};
use parking_lot::Mutex;
use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use storage::TransactionId;

/// What a column is of: terms of a kind in a field, and of several of one entry the least (ascending) or the greatest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ColumnKey {
    pub field: FieldNumber,
    pub kind: Kind,
    pub direction: Direction,
}

impl ColumnKey {
    /// What an entry is sorted by. `None`: it has no such term.
    pub fn value<'r>(&self, record: Record<'r>) -> Result<Option<&'r [u8]>> {
        let mut value = None;
        for term in record.terms() {
            let term = term?;
            match (term.field, term.kind).cmp(&(self.field, self.kind)) {
                Ordering::Less => {}
                Ordering::Greater => break,
                // They rise: the first is the least, the last the greatest.
                Ordering::Equal if self.direction == Direction::Ascending && value.is_some() => break,
                Ordering::Equal => value = Some(term.bytes),
            }
        }
        Ok(value)
    }
}

/// All columns of one index.
pub(crate) struct Columns {
    state: Mutex<ColumnsState>,
}

struct ColumnsState {
    slots: HashMap<ColumnKey, Slot>,
    /// The last transaction of the index.
    last: TransactionId,
    /// Rises with each use.
    clock: u64,
}

/// What came of making a column.
#[derive(Clone)]
pub(crate) enum Made {
    /// A column.
    Column(Column),
    /// A column that distinguishes too few values, with the number of entries that the index had.
    Unsuited {
        /// How many.
        entries: u64,
    },
    /// Nothing: the index cannot be read.
    Failed,
}

enum Slot {
    /// There is none, and doing without has cost so much.
    Requested {
        owed: u64,
    },
    /// One is made, of a state since which these changes were made.
    /// `number` tells whose it is: when it is dropped, another may be made in its place.
    Making {
        number: u64,
        prefix: Arc<[u8]>,
        changes: Vec<(EntryId, Rank)>,
    },
    Ready {
        states: VecDeque<(TransactionId, Column)>,
        used: u64,
    },
    /// There is none: it distinguished too few values when the index had this number of entries.
    Unsuited {
        entries: u64,
    },
}

impl Slot {
    /// What all values of its column begin with. `None`: it has no column, nor will have.
    fn prefix(&self) -> Option<&Arc<[u8]>> {
        match self {
            Slot::Requested { .. } | Slot::Unsuited { .. } => None,
            Slot::Making { prefix, .. } => Some(prefix),
            Slot::Ready { states, .. } => states.back().map(|(_, column)| column.prefix()),
        }
    }
}

/// What a batch changes in columns.
#[derive(Default)]
pub(crate) struct ColumnChanges {
    columns: Vec<ColumnChange>,
}

struct ColumnChange {
    key: ColumnKey,
    prefix: Arc<[u8]>,
    /// `None`: a value does not begin as the others do.
    ranks: Option<Vec<(EntryId, Rank)>>,
}

impl ColumnChanges {
    /// Notes that an entry has this record from now on; `None`: it is gone.
    pub fn note(&mut self, id: EntryId, record: Option<Record<'_>>) -> Result<()> {
        for column in &mut self.columns {
            let Some(ranks) = &mut column.ranks else { continue };
            let value = record.map_or(Ok(None), |record| column.key.value(record))?;
            match Column::rank_of(&column.prefix, value) {
                Some(rank) if ranks.len() < COLUMN_CHANGES_MAX => ranks.push((id, rank)),
                _ => column.ranks = None,
            }
        }
        Ok(())
    }
}

impl Columns {
    /// None, for an index whose last transaction is this one.
    pub fn new(last: TransactionId) -> Columns {
        Columns { state: Mutex::new(ColumnsState { slots: HashMap::new(), last, clock: 0 }) }
    }

    /// The column as it is in a transaction, if there is one.
    pub fn find(&self, key: ColumnKey, at: TransactionId) -> Option<Column> {
        let ColumnsState { slots, clock, .. } = &mut *self.state.lock();
        let Slot::Ready { states, used } = slots.get_mut(&key)? else { return None };
        *clock += 1;
        *used = *clock;
        states.iter().find(|(of, _)| *of == at).map(|(_, column)| column.clone())
    }

    /// Notes what doing without a column costs. True: it has cost `price` by now, so that making one is worth it.
    ///
    /// * `cost`, `price`: in entries that are walked past.
    /// * `entries`: how many the column would have.
    pub fn owe(&self, key: ColumnKey, cost: u64, price: u64, entries: u64) -> bool {
        if Column::size_for(entries) > COLUMNS_SIZE_MAX {
            return false;
        }
        let mut state = self.state.lock();
        let slot = state.slots.entry(key).or_insert(Slot::Requested { owed: 0 });
        if matches!(slot, Slot::Unsuited { entries: of } if entries / 2 > *of) {
            *slot = Slot::Requested { owed: 0 };
        }
        match slot {
            Slot::Requested { owed } => {
                *owed = owed.saturating_add(cost);
                *owed >= price
            }
            Slot::Making { .. } | Slot::Ready { .. } | Slot::Unsuited { .. } => false,
        }
    }

    /// Has changes noted from a transaction on, of which a column is about to be made, and gives its number. `None`:
    /// there were others since, or somebody else makes it.
    ///
    /// * `prefix`: what all values begin with.
    pub fn begin(&self, key: ColumnKey, prefix: Arc<[u8]>, at: TransactionId) -> Option<u64> {
        let mut state = self.state.lock();
        if state.last != at || !matches!(state.slots.get(&key), None | Some(Slot::Requested { .. })) {
            return None;
        }
        state.clock += 1;
        let number = state.clock;
        state.slots.insert(key, Slot::Making { number, prefix, changes: Vec::new() });
        Some(number)
    }

    /// Keeps the column that was begun under a number, with what has changed since.
    pub fn finish(&self, key: ColumnKey, number: u64, made: Made) {
        let mut state = self.state.lock();
        let changes = match state.slots.get_mut(&key) {
            Some(Slot::Making { number: of, changes, .. }) if *of == number => std::mem::take(changes),
            _ => return,
        };
        state.slots.remove(&key);
        let mut column = match made {
            Made::Column(column) => column,
            Made::Unsuited { entries } => {
                state.slots.insert(key, Slot::Unsuited { entries });
                return;
            }
            Made::Failed => return,
        };
        changes.into_iter().for_each(|(id, rank)| column.set(id, rank));
        let ColumnsState { slots, last, clock } = &mut *state;
        *clock += 1;
        slots.insert(key, Slot::Ready { states: VecDeque::from([(*last, column)]), used: *clock });
        state.make_room();
    }

    /// What has to be told of the next batch.
    pub fn changes(&self) -> ColumnChanges {
        let state = self.state.lock();
        let mut columns = Vec::new();
        for (key, slot) in &state.slots {
            let Some(prefix) = slot.prefix() else { continue };
            columns.push(ColumnChange { key: *key, prefix: Arc::clone(prefix), ranks: Some(Vec::new()) });
        }
        ColumnChanges { columns }
    }

    /// Brings all columns from one transaction to the next.
    pub fn publish(&self, before: TransactionId, after: TransactionId, changes: ColumnChanges) {
        if before == after {
            return;
        }
        let mut state = self.state.lock();
        let mut changes: HashMap<ColumnKey, ColumnChange> =
            changes.columns.into_iter().map(|change| (change.key, change)).collect();
        let is_next = state.last == before;
        state.last = after;
        state.slots.retain(|key, slot| {
            let Some(prefix) = slot.prefix() else { return true };
            // One that was begun after the batch asked what to tell lacks its changes, or has ranks behind another beginning.
            let is_of = |change: &ColumnChange| is_next && Arc::ptr_eq(prefix, &change.prefix);
            let Some(ranks) = changes.remove(key).filter(is_of).and_then(|change| change.ranks) else { return false };
            match slot {
                Slot::Requested { .. } | Slot::Unsuited { .. } => true,
                Slot::Making { changes, .. } => {
                    changes.extend(ranks);
                    changes.len() <= COLUMN_CHANGES_MAX
                }
                Slot::Ready { states, .. } => {
                    let Some((_, newest)) = states.back() else { return false };
                    let mut next = newest.clone();
                    ranks.into_iter().for_each(|(id, rank)| next.set(id, rank));
                    if states.len() >= COLUMN_STATES_KEPT {
                        states.pop_front();
                    }
                    states.push_back((after, next));
                    true
                }
            }
        });
        state.make_room();
    }
}

impl ColumnsState {
    /// Drops what was not used for longest, until the rest is within its bound: first its former states, then the column.
    fn make_room(&mut self) {
        let size_of = |states: &VecDeque<(TransactionId, Column)>| {
            let newest = states.back().map_or(0, |(_, column)| column.size());
            let pairs = states.iter().zip(states.iter().skip(1));
            newest + pairs.map(|((_, before), (_, after))| before.size_beside(after)).sum::<usize>()
        };
        let ready = self.slots.iter().filter_map(|(key, slot)| match slot {
            Slot::Ready { states, used } => Some((*used, *key, size_of(states))),
            _ => None,
        });
        let mut ready: Vec<(u64, ColumnKey, usize)> = ready.collect();
        let mut size: usize = ready.iter().map(|(.., size)| size).sum();
        ready.sort_unstable_by_key(|(used, ..)| *used);
        for (_, key, all) in ready {
            if size <= COLUMNS_SIZE_MAX {
                return;
            }
            let Some(Slot::Ready { states, .. }) = self.slots.get_mut(&key) else { continue };
            states.drain(..states.len().saturating_sub(1));
            let newest = size_of(states);
            size -= all - newest;
            if size > COLUMNS_SIZE_MAX {
                self.slots.remove(&key);
                size -= newest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::limits::SORTED_WITHOUT_COLUMN_MAX;
    use crate::index::{Absent, Batch, Entry, EntrySet, Index, Number, Order, Term};
    use storage::Options;

    const KEY: ColumnKey = ColumnKey { field: FieldNumber(1), kind: Kind::Text, direction: Direction::Ascending };

    fn at(number: u64) -> TransactionId {
        TransactionId(number)
    }

    fn no_prefix() -> Arc<[u8]> {
        Arc::from(&b""[..])
    }

    fn column(values: &[(u64, &[u8])]) -> Column {
        let mut column = Column::new(no_prefix());
        for (id, value) in values {
            column.set(EntryId(*id), rank(value));
        }
        column
    }

    fn rank(value: &[u8]) -> Rank {
        Column::rank_of(b"", Some(value)).unwrap()
    }

    #[test]
    fn one_who_was_overtaken_does_not_finish_what_another_began() {
        let columns = Columns::new(at(1));
        let in_flight = columns.changes();
        let first = columns.begin(KEY, no_prefix(), at(1)).unwrap();
        assert_eq!(columns.begin(KEY, no_prefix(), at(1)), None, "somebody makes it");
        // A batch that did not know of it.
        columns.publish(at(1), at(2), in_flight);
        assert_eq!(columns.begin(KEY, no_prefix(), at(1)), None, "of a state that has passed");
        let second = columns.begin(KEY, no_prefix(), at(2)).unwrap();
        columns.finish(KEY, first, Made::Column(column(&[(1, b"old")])));
        assert!(columns.find(KEY, at(2)).is_none());
        columns.finish(KEY, second, Made::Column(column(&[(1, b"new")])));
        assert_eq!(columns.find(KEY, at(2)).unwrap().rank(EntryId(1)), rank(b"new"));
    }

    #[test]
    fn changes_made_meanwhile_are_in_it_and_a_gap_drops_it() {
        let columns = Columns::new(at(1));
        let number = columns.begin(KEY, no_prefix(), at(1)).unwrap();
        let mut changes = columns.changes();
        changes.columns[0].ranks.as_mut().unwrap().push((EntryId(1), rank(b"new")));
        columns.publish(at(1), at(2), changes);
        columns.finish(KEY, number, Made::Column(column(&[(1, b"old"), (2, b"b")])));
        let found = columns.find(KEY, at(2)).unwrap();
        assert_eq!([1, 2].map(|id| found.rank(EntryId(id))), [rank(b"new"), rank(b"b")]);
        assert!(columns.find(KEY, at(1)).is_none(), "it was never of that state");
        for now in 2..10 {
            columns.publish(at(now), at(now + 1), columns.changes());
        }
        let states = (1..=10).filter(|now| columns.find(KEY, at(*now)).is_some());
        assert_eq!(states.collect::<Vec<_>>(), [7, 8, 9, 10]);
        // One of the batches in between was not told of.
        columns.publish(at(11), at(12), columns.changes());
        assert!((1..=12).all(|now| columns.find(KEY, at(now)).is_none()));
    }

    #[test]
    fn a_batch_does_not_bring_along_a_column_that_was_made_anew_with_another_beginning() {
        let columns = Columns::new(at(1));
        let number = columns.begin(KEY, no_prefix(), at(1)).unwrap();
        columns.finish(KEY, number, Made::Column(column(&[(1, b"a"), (2, b"users/5")])));
        let mut in_flight = columns.changes();
        in_flight.columns[0].ranks.as_mut().unwrap().push((EntryId(3), rank(b"users/7")));
        // It has to go for others meanwhile, and is wanted again.
        columns.state.lock().slots.remove(&KEY);
        let prefix: Arc<[u8]> = Arc::from(&b"users/"[..]);
        let number = columns.begin(KEY, Arc::clone(&prefix), at(1)).unwrap();
        columns.finish(KEY, number, Made::Column(Column::new(prefix)));
        columns.publish(at(1), at(2), in_flight);
        assert!(columns.find(KEY, at(2)).is_none());
    }

    #[test]
    fn what_tells_too_little_apart_is_not_made_again_until_there_is_twice_as_much() {
        let columns = Columns::new(at(1));
        assert!(columns.owe(KEY, 100, 100, 1000));
        let number = columns.begin(KEY, no_prefix(), at(1)).unwrap();
        columns.finish(KEY, number, Made::Unsuited { entries: 1000 });
        assert!(!columns.owe(KEY, 100, 100, 2001));
        columns.publish(at(1), at(2), columns.changes());
        assert!(!columns.owe(KEY, 99, 100, 2002));
        assert!(columns.owe(KEY, 1, 100, 2002));
    }

    #[test]
    fn states_of_a_column_count_for_what_they_do_not_share() {
        let columns = Columns::new(at(1));
        let number = columns.begin(KEY, no_prefix(), at(1)).unwrap();
        let third = COLUMNS_SIZE_MAX / size_of::<Rank>() / 3;
        columns.finish(KEY, number, Made::Column(column(&[(third as u64, b"x")])));
        for now in 1..4 {
            let mut changes = columns.changes();
            let ranks = changes.columns[0].ranks.as_mut().unwrap();
            ranks.extend((0..third as u64).step_by(100).map(|id| (EntryId(id), rank(b"y"))));
            columns.publish(at(now), at(now + 1), changes);
        }
        let states = (1..=4).filter(|now| columns.find(KEY, at(*now)).is_some());
        assert_eq!(states.collect::<Vec<_>>(), [3, 4], "the first two went when three together were over the bound");
    }

    #[test]
    fn what_is_owed_makes_one_and_the_least_used_go() {
        let columns = Columns::new(at(1));
        assert!(!columns.owe(KEY, 60, 100, 10) && columns.owe(KEY, 60, 100, 10));
        assert!(!columns.owe(KEY, 1000, 100, COLUMNS_SIZE_MAX as u64), "too large to be kept");
        let half = (COLUMNS_SIZE_MAX / size_of::<Rank>() / 2) as u64;
        let keys = [1, 2, 3].map(|field| ColumnKey { field: FieldNumber(field), ..KEY });
        for key in keys {
            let number = columns.begin(key, no_prefix(), at(1)).unwrap();
            columns.finish(key, number, Made::Column(column(&[(half - 1, b"x")])));
            columns.find(keys[0], at(1));
        }
        assert_eq!(keys.map(|key| columns.find(key, at(1)).is_some()), [true, false, true]);
    }

    #[test]
    fn sorting_few_entries_makes_none_however_often() {
        let index = Index::in_memory(Options::default()).unwrap();
        let field = index.field("N").unwrap();
        let (mut batch, mut entries) = (Batch::new(), [Entry::new()]);
        for number in 0..5000 {
            entries[0].clear();
            entries[0].add(field, Term::Number(Number::Long(number * 7919 % 5000))).unwrap();
            batch.put(&format!("docs/{number}"), 1, &mut entries).unwrap();
        }
        index.write(&batch).unwrap();
        let snapshot = index.read().unwrap();
        let order = Order { field, kind: Kind::Number, direction: Direction::Ascending, absent: Absent::First };
        let sort = |count: u64| {
            let set: EntrySet = (0..count).map(|at| EntryId(1 + at * 5000 / count)).collect();
            let sorted = snapshot.sorted(&set, order, None, count as usize).unwrap();
            assert_eq!(sorted, snapshot.sorted_by_values(&set, order, count as usize).unwrap());
        };
        let has_slots = || !snapshot.columns().state.lock().slots.is_empty();
        (0..500).for_each(|_| sort(10));
        (0..200).for_each(|_| sort(SORTED_WITHOUT_COLUMN_MAX));
        assert!(!has_slots());
        (0..50).for_each(|_| sort(4 * SORTED_WITHOUT_COLUMN_MAX));
        let key = ColumnKey { field, kind: Kind::Number, direction: Direction::Ascending };
        assert!(has_slots() && snapshot.columns().find(key, snapshot.tx().id()).is_some());
        sort(10);
    }
}
