//! Entries in the order of a field.
//!
//! Three ways lead there, and the one that is estimated to be cheapest is taken:
//!
//! * Walking through the terms in order and keeping what is in the set: for a page of a large result, it ends with the page.
//! * Reading the value of each entry from its record, then sorting: for a small result of a large index.
//! * Reading the rank of each entry from a column, and values only where ranks are equal: for all others, once there is one.
//!
//! All give the same: an entry with several terms stands where its least one does, or its greatest if the order is
//! descending; entries that are equal by rising id; entries without a term of the kind before or after all others, and among them
//! those where the field is null behind the rest, or before it if the order is descending.

use super::column::{Column, Rank};
use super::columns::{ColumnKey, Made};
use crate::index::dictionary::key;
use crate::index::dictionary::term::{FieldNumber, Kind};
use crate::index::entry::EntryId;
use crate::index::error::{Result, corrupt};
use crate::index::limits::SORTED_WITHOUT_COLUMN_MAX;
use crate::index::postings::entry_ids::EntryIds;
use crate::index::postings::entry_set::EntrySet;
use crate::index::postings::range::TermRange;
use crate::index::postings::runs::Run;
use crate::index::snapshot::IndexSnapshot;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;
use storage::memory::MemoryReservation;

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

/// How many ranks are read for what walking past one entry costs.
const RANKS_PER_COST: u64 = 4;

/// How much more than expected is walked past before it is given up: what is wanted does not lie evenly among the others.
const WALK_SLACK: u64 = 4;

/// Rows that are gathered before the first of them are chosen.
const ROWS_MAX: usize = 1 << 16;

/// What is walked past in any case before it is given up.
const WALK_LEAST: u64 = 1024;

/// Of so many entries one may share an inexact rank with others of another value. With more a column is not kept: it would be one more
/// thing to read before their values.
const TIED_ONE_IN: u64 = 16;

impl IndexSnapshot<'_> {
    /// The first `count_max` entries of a set, in an order.
    ///
    /// * `within`: each entry of the set has a term within it, of the order's field and kind. `None`: nothing is known.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`]; those of the storage.
    pub fn sorted(
        &self,
        set: &EntrySet,
        order: Order,
        within: Option<TermRange>,
        count_max: usize,
    ) -> Result<Vec<EntryId>> {
        let present_count = self.present(order.field, order.kind)?.count();
        // One with several may stand where it has another term.
        let within = match within {
            Some(within) if self.several(order.field, order.kind)?.count() == 0 => Some(within),
            _ => None,
        };
        // If those that are wanted lie evenly among the others.
        let among = if within.is_some() { set.len() } else { present_count };
        let wanted = u128::from(set.len().min(count_max as u64));
        let walked = u128::from(among) * wanted / u128::from(set.len().max(1));
        let walked = u64::try_from(walked).unwrap_or(u64::MAX);
        let read = set.len().saturating_mul(VALUE_COST);
        let ranked = set.len() / RANKS_PER_COST;
        let walk = |walked_max: u64| self.walked(set, order, within.as_ref(), count_max, walked_max);
        let walked_max = walked.saturating_mul(WALK_SLACK).saturating_add(WALK_LEAST);
        let mut others = present_count.min(read);
        if walked <= ranked {
            if let Some(sorted) = walk(walked_max)? {
                return Ok(sorted);
            }
        } else {
            others = others.min(walked);
        }
        // Few gain little by a column, and making one takes long where queries of few are answered.
        let is_few = set.len() <= SORTED_WITHOUT_COLUMN_MAX && read < present_count;
        let cost = (!is_few).then(|| others.saturating_sub(ranked));
        if let Some(column) = self.column(order, cost, present_count)? {
            return self.sorted_by_column(&column, set, order, count_max);
        }
        if ranked < walked
            && walked <= read
            && let Some(sorted) = walk(walked_max)?
        {
            return Ok(sorted);
        }
        if read < present_count {
            return self.sorted_by_values(set, order, count_max);
        }
        self.sorted_by_walking(set, order, count_max)
    }

    /// The column for an order, made if going without has cost enough.
    ///
    /// * `cost`: what going without costs this time, and `None` if none is to be made; `present_count`: what making it costs. Both in
    ///   entries that are walked past.
    fn column(&self, order: Order, cost: Option<u64>, present_count: u64) -> Result<Option<Column>> {
        let key = order.column_key();
        if let Some(column) = self.columns().find(key, self.tx().id()) {
            return Ok(Some(column));
        }
        let Some(cost) = cost else { return Ok(None) };
        match self.columns().owe(key, cost, present_count, self.counters().next_entry) {
            true => self.make_column(order),
            false => Ok(None),
        }
    }

    /// Makes a column by walking through all terms, and keeps it. `None`: the index was changed meanwhile, before it began.
    fn make_column(&self, order: Order) -> Result<Option<Column>> {
        let key = order.column_key();
        let prefix = self.common_beginning(order)?;
        let Some(number) = self.columns().begin(key, Arc::clone(&prefix), self.tx().id()) else { return Ok(None) };
        let column = self.walked_column(order, prefix);
        self.columns().finish(key, number, column.as_ref().map_or(Made::Failed, Clone::clone));
        Ok(match column? {
            Made::Column(column) => Some(column),
            Made::Unsuited { .. } | Made::Failed => None,
        })
    }

    fn walked_column(&self, order: Order, prefix: Arc<[u8]>) -> Result<Made> {
        let mut column = Column::new(Arc::clone(&prefix));
        let mut list_cursor = self.list_cursor(TermRange::all(order.field, order.kind), order.direction);
        let (mut term, mut last) = (Vec::new(), None);
        let (mut entry_count, mut tied_count) = (0, 0);
        while let Some((key, head)) = list_cursor.next()? {
            key::term_into(&mut term, key)?;
            let rank = Column::rank_of(&prefix, Some(&term));
            let rank = rank.ok_or_else(|| corrupt("what the first and the last term begin with all do"))?;
            entry_count += head.count;
            if last.replace(rank) == Some(rank) {
                tied_count += head.count;
            }
            let mut entries = self.entries_of_list(key, head);
            while let Some(run) = entries.next_run()? {
                for id in (run.first..=run.last).map(EntryId) {
                    if column.rank(id) == Rank::ABSENT {
                        column.set(id, rank);
                    }
                }
            }
        }
        Ok(match tied_count > entry_count / TIED_ONE_IN {
            true => Made::Unsuited { entries: self.counters().next_entry },
            false => Made::Column(column),
        })
    }

    /// What all terms of a field begin with: the first and the last one do.
    fn common_beginning(&self, order: Order) -> Result<Arc<[u8]>> {
        let mut ends = [Vec::new(), Vec::new()];
        for (end, direction) in ends.iter_mut().zip([Direction::Ascending, Direction::Descending]) {
            if let Some((key, _)) = self.list_cursor(TermRange::all(order.field, order.kind), direction).next()? {
                key::term_into(end, key)?;
            }
        }
        let [first, last] = ends;
        let common = first.iter().zip(&last).take_while(|(a, b)| a == b).count();
        Ok(Arc::from(first.get(..common).unwrap_or_default()))
    }

    /// [`Self::sorted`], by the terms in order.
    ///
    /// # Errors
    ///
    /// As [`Self::sorted`].
    pub fn sorted_by_walking(&self, set: &EntrySet, order: Order, count_max: usize) -> Result<Vec<EntryId>> {
        let walked = self.walked(set, order, None, count_max, u64::MAX)?;
        walked.ok_or_else(|| corrupt("no index has so many terms"))
    }

    /// The same, unless more than `walked_max` terms and runs of entries would be walked past.
    fn walked(
        &self,
        set: &EntrySet,
        order: Order,
        within: Option<&TermRange>,
        count_max: usize,
        walked_max: u64,
    ) -> Result<Option<Vec<EntryId>>> {
        let mut remaining = set.clone();
        let mut sorted = Vec::with_capacity(count_max.min(set.len() as usize));
        if order.absent == Absent::First && within.is_none() {
            let present = EntrySet::of(self.present(order.field, order.kind)?)?;
            let mut absent = set.clone();
            absent.subtract(&present);
            self.take_absent(absent, order, count_max, &mut sorted)?;
            remaining.intersect(&present);
        }
        let all = TermRange::all(order.field, order.kind);
        let mut list_cursor = self.list_cursor(within.map_or(all, TermRange::clone), order.direction);
        let mut walked = 0;
        while sorted.len() < count_max && !remaining.is_empty() {
            let Some((key, head)) = list_cursor.next()? else { break };
            let mut entries = self.entries_of_list(key, head);
            while let Some(run) = entries.next_run()? {
                take_run(&mut remaining, run, count_max, &mut sorted);
                walked += 1;
            }
            if walked > walked_max {
                return Ok(None);
            }
        }
        // What no list had, if they were walked through to the end.
        self.take_absent(remaining, order, count_max, &mut sorted)?;
        Ok(Some(sorted))
    }

    /// Adds entries without a term of the order's kind, until there are enough.
    fn take_absent(&self, absent: EntrySet, order: Order, count_max: usize, sorted: &mut Vec<EntryId>) -> Result<()> {
        if sorted.len() >= count_max || absent.is_empty() {
            return Ok(());
        }
        let nulls = self.present(order.field, Kind::Null)?;
        if nulls.count() == 0 {
            return take(&absent, count_max, sorted);
        }
        let mut nulls = EntrySet::of(nulls)?;
        nulls.intersect(&absent);
        let mut others = absent;
        others.subtract(&nulls);
        let parts = match order.direction {
            Direction::Ascending => [others, nulls],
            Direction::Descending => [nulls, others],
        };
        parts.iter().try_for_each(|part| take(part, count_max, sorted))
    }

    /// [`Self::sorted`], by the values of the entries.
    ///
    /// # Errors
    ///
    /// As [`Self::sorted`].
    pub fn sorted_by_values(&self, set: &EntrySet, order: Order, count_max: usize) -> Result<Vec<EntryId>> {
        let mut values = Values::new(self.reservation());
        let mut entries = set.entries();
        while let Some(id) = entries.next()? {
            values.add(id, self.value(id, order)?)?;
        }
        Ok(values.sorted(order, count_max))
    }

    fn value(&self, id: EntryId, order: Order) -> Result<SortValue<'_>> {
        let record = self.known_entry(id)?.record();
        Ok(match order.column_key().value(record)? {
            Some(bytes) => SortValue::Term(bytes),
            None if record.has_null(order.field)? => SortValue::Null,
            None => SortValue::Missing,
        })
    }

    /// [`Self::sorted`], by a column that is made for it if there is none. `None`: the index was changed since this snapshot
    /// was opened, or a column would tell too few values apart.
    ///
    /// # Errors
    ///
    /// As [`Self::sorted`].
    pub fn sorted_by_a_column(&self, set: &EntrySet, order: Order, count_max: usize) -> Result<Option<Vec<EntryId>>> {
        match self.column(order, Some(u64::MAX), 0)? {
            Some(column) => self.sorted_by_column(&column, set, order, count_max).map(Some),
            None => Ok(None),
        }
    }

    fn sorted_by_column(
        &self,
        column: &Column,
        set: &EntrySet,
        order: Order,
        count_max: usize,
    ) -> Result<Vec<EntryId>> {
        let is_descending = order.direction == Direction::Descending;
        let absent = if order.absent == Absent::First { 0 } else { u64::MAX };
        let mut rows_max = count_max.saturating_mul(2).max(ROWS_MAX);
        let (mut rows, mut reservation) = (Vec::new(), self.reservation());
        reserve_rows(&mut rows, rows_max.min(set.len() as usize), &mut reservation)?;
        let mut entries = set.entries();
        while let Some(id) = entries.next()? {
            let rank = column.rank(id);
            rows.push((if rank == Rank::ABSENT { absent } else { rank.key(is_descending) }, id));
            if rows.len() >= rows_max {
                keep_first(&mut rows, count_max);
                rows_max = rows.len().saturating_mul(2).max(ROWS_MAX);
                reserve_rows(&mut rows, rows_max.min(set.len() as usize), &mut reservation)?;
            }
        }
        keep_first(&mut rows, count_max);
        rows.sort_unstable();
        let mut sorted = Vec::with_capacity(rows.len());
        for equal in rows.chunk_by(|a, b| a.0 == b.0) {
            let [(key, _), _, ..] = equal else {
                sorted.extend(equal.iter().map(|(_, id)| *id));
                continue;
            };
            if *key == absent {
                self.take_absent(equal.iter().map(|(_, id)| *id).collect(), order, count_max, &mut sorted)?;
                continue;
            }
            if Rank::of_key(*key, is_descending).is_exact() {
                sorted.extend(equal.iter().map(|(_, id)| *id));
                continue;
            }
            let mut values = Values::new(self.reservation());
            for (_, id) in equal {
                values.add(*id, self.value(*id, order)?)?;
            }
            sorted.extend(values.sorted(order, equal.len()));
        }
        sorted.truncate(count_max);
        Ok(sorted)
    }
}

impl Order {
    fn column_key(&self) -> ColumnKey {
        ColumnKey { field: self.field, kind: self.kind, direction: self.direction }
    }
}

/// Makes room for `count` rows in all.
fn reserve_rows(rows: &mut Vec<(u64, EntryId)>, count: usize, reservation: &mut MemoryReservation) -> Result<()> {
    reservation.grow(count.saturating_mul(size_of::<(u64, EntryId)>()))?;
    rows.reserve_exact(count.saturating_sub(rows.len()));
    Ok(())
}

/// Leaves the `count_max` least rows, and all others whose key the greatest of them has.
fn keep_first(rows: &mut Vec<(u64, EntryId)>, count_max: usize) {
    if count_max == 0 {
        return rows.clear();
    }
    if count_max < rows.len() {
        let (_, (last, _), _) = rows.select_nth_unstable(count_max - 1);
        let last = *last;
        rows.retain(|(key, _)| *key <= last);
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
fn take_run(remaining: &mut EntrySet, run: Run, count_max: usize, sorted: &mut Vec<EntryId>) {
    if run.first != run.last {
        remaining.take_run(run, count_max.saturating_sub(sorted.len()), sorted);
    } else if sorted.len() < count_max && remaining.remove(EntryId(run.first)) {
        sorted.push(EntryId(run.first));
    }
}

/// What an entry is sorted by.
enum SortValue<'r> {
    /// Nothing: the field has no term of the kind, nor is it null.
    Missing,
    /// Only null.
    Null,
    /// The bytes of a term.
    Term(&'r [u8]),
}

/// Values of entries, to be sorted.
struct Values {
    bytes: Vec<u8>,
    items: Vec<Value>,
    reservation: MemoryReservation,
}

struct Value {
    id: EntryId,
    /// The first bytes of the value as a number: mostly enough to compare. Without a value: 1 for null, 0 for nothing.
    head: u64,
    /// `None`: the entry has none.
    bytes: Option<Range<usize>>,
}

impl Values {
    fn new(reservation: MemoryReservation) -> Values {
        Values { bytes: Vec::new(), items: Vec::new(), reservation }
    }

    fn add(&mut self, id: EntryId, value: SortValue<'_>) -> Result<()> {
        let start = self.bytes.len();
        let (head, bytes) = match value {
            SortValue::Missing => (0, None),
            SortValue::Null => (1, None),
            SortValue::Term(value) => {
                self.bytes.extend_from_slice(value);
                let head = value.iter().chain(std::iter::repeat(&0)).take(8);
                (head.fold(0, |head, byte| head << 8 | u64::from(*byte)), Some(start..self.bytes.len()))
            }
        };
        self.items.push(Value { id, head, bytes });
        Ok(self.reservation.grow(self.bytes.capacity() + self.items.capacity() * size_of::<Value>())?)
    }

    fn sorted(self, order: Order, count_max: usize) -> Vec<EntryId> {
        let Values { bytes, mut items, reservation: _reservation } = self;
        let value = |range: &Range<usize>| bytes.get(range.clone()).unwrap_or_default();
        let directed = |rising: Ordering| match order.direction {
            Direction::Ascending => rising,
            Direction::Descending => rising.reverse(),
        };
        let compare = |a: &Value, b: &Value| {
            let by_value = match (&a.bytes, &b.bytes) {
                (Some(x), Some(y)) => directed(a.head.cmp(&b.head).then_with(|| value(x).cmp(value(y)))),
                (None, None) => directed(a.head.cmp(&b.head)),
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
