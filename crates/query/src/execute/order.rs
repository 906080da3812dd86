//! Entries in the order of a query.
//!
//! One field is sorted by the index itself, which mostly need not look at all entries. For several keys, ids and chance, the
//! values of each entry are read and compared.

use super::CancelCheck;
use super::condition::range_of_field;
use super::score::{Scores, sortable};
use super::spatial::Distances;
use crate::definition::Fields;
use crate::index::{
    Absent, Direction, EntryId, EntryIds, EntrySet, Error, FieldNumber, IndexEntry, IndexSnapshot, Kind, Order,
};
use crate::plan::{Condition, FieldUse, SortBy, SortKey};
use std::cmp::Ordering;
use storage::memory::MemoryReservation;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What a query found, and by what.
#[derive(Clone, Copy)]
pub(super) struct Matches<'m> {
    pub set: &'m EntrySet,
    pub condition: &'m Condition,
}

/// The first `count_max` entries of those that were found.
///
/// * `scores`: there if a key is the score.
pub(super) fn sorted<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    Matches { set, condition }: Matches<'_>,
    keys: &[SortKey],
    scores: Option<&mut Scores<'_>>,
    count_max: usize,
    check_cancel: CancelCheck<'_, E>,
) -> Result<Vec<EntryId>, E> {
    let mut compared = Vec::new();
    for key in keys {
        compared.extend(Key::of(index, fields, key)?);
    }
    match (compared.as_slice(), scores) {
        ([Key { value: Value::Distance(distances), is_descending, absent: Absent::Last }], _) => {
            distances.first(index, set, count_max, *is_descending, check_cancel)
        }
        ([Key { value: Value::Score, is_descending, .. }], Some(scores)) => {
            scores.first(set, count_max, *is_descending, check_cancel)
        }
        ([], _) => Ok(first(set, count_max)?),
        ([Key { value: value @ (Value::Text(field) | Value::Number(field)), is_descending, absent }], _) => {
            let kind = if matches!(value, Value::Number(_)) { Kind::Number } else { kind_of_texts(index, *field)? };
            let direction = if *is_descending { Direction::Descending } else { Direction::Ascending };
            let order = Order { field: *field, kind, direction, absent: *absent };
            let within = range_of_field(index, fields, condition, (*field, kind))?;
            Ok(index.sorted(set, order, within, count_max)?)
        }
        (keys, scores) => {
            let rows = Rows::new(keys, count_max, index.reservation());
            rows.read(index, set, scores, check_cancel).map(Rows::sorted)
        }
    }
}

/// Texts that are dates, all of them, are sorted as dates.
fn kind_of_texts(index: &IndexSnapshot<'_>, field: FieldNumber) -> Result<Kind, Error> {
    let texts = index.present(field, Kind::Text)?.count();
    let is_of_dates = texts == index.present(field, Kind::Time)?.count()
        && index.several(field, Kind::Text)?.count() == index.several(field, Kind::Time)?.count();
    Ok(if texts > 0 && is_of_dates { Kind::Time } else { Kind::Text })
}

fn first(set: &EntrySet, count_max: usize) -> Result<Vec<EntryId>, Error> {
    let mut entries = set.entries();
    let mut first = Vec::with_capacity(count_max.min(set.len() as usize));
    while first.len() < count_max {
        let Some(id) = entries.next()? else { break };
        first.push(id);
    }
    Ok(first)
}

/// A key that tells entries apart.
struct Key {
    value: Value,
    is_descending: bool,
    absent: Absent,
}

enum Value {
    Text(FieldNumber),
    Number(FieldNumber),
    AlphaNumeric(FieldNumber),
    Id,
    AlphaNumericId,
    Score,
    Random(u64),
    Distance(Distances),
}

impl Key {
    /// `None`: all entries are equal by it.
    fn of(index: &IndexSnapshot<'_>, fields: &dyn Fields, key: &SortKey) -> Result<Option<Key>, Error> {
        let field = |field: &FieldUse| index.field(&fields.resolve(field).0);
        let value = match &key.by {
            SortBy::Text(name) => field(name)?.map(Value::Text),
            SortBy::Number(name) => field(name)?.map(Value::Number),
            SortBy::AlphaNumeric(name) => field(name)?.map(Value::AlphaNumeric),
            SortBy::Id => Some(Value::Id),
            SortBy::AlphaNumericId => Some(Value::AlphaNumericId),
            SortBy::Score => Some(Value::Score),
            SortBy::Distance(key) => Some(Value::Distance(Distances::of(index, fields, key)?)),
            SortBy::Random(seed) => {
                let seed = seed.as_deref().unwrap_or_default();
                Some(Value::Random(xxh3_64_with_seed(seed.as_bytes(), 0)))
            }
        };
        // Nothing is below everything, so it comes first, and last if the greatest come first.
        // What has no distance is neither near nor far.
        let is_last = key.absent_last.unwrap_or(key.is_descending || matches!(key.by, SortBy::Distance(_)));
        let absent = if is_last { Absent::Last } else { Absent::First };
        Ok(value.map(|value| Key { value, is_descending: key.is_descending, absent }))
    }

    /// Appends bytes that sort as the entry's value does, and tells whether it has one.
    fn write(&self, id: EntryId, entry: &IndexEntry<'_>, score: f32, out: &mut Vec<u8>) -> Result<KeyPresence, Error> {
        match &self.value {
            Value::Distance(distances) => {
                let distance = distances.sortable(entry)?;
                out.extend_from_slice(&distance.unwrap_or_default().to_be_bytes());
                return Ok(if distance.is_some() { KeyPresence::Value } else { KeyPresence::Missing });
            }
            // The best come first.
            Value::Score => out.extend_from_slice(&(!sortable(score)).to_be_bytes()),
            Value::Id => out.extend_from_slice(&documents::id::lower(entry.document())),
            Value::AlphaNumericId => out.extend_from_slice(&alphanumeric(&documents::id::lower(entry.document()))),
            Value::Random(seed) => out.extend_from_slice(&xxh3_64_with_seed(&id.0.to_le_bytes(), *seed).to_be_bytes()),
            Value::Text(field) => return self.write_term(entry, *field, Kind::Text, out, <[u8]>::to_vec),
            Value::Number(field) => return self.write_term(entry, *field, Kind::Number, out, <[u8]>::to_vec),
            Value::AlphaNumeric(field) => return self.write_term(entry, *field, Kind::Text, out, alphanumeric),
        }
        Ok(KeyPresence::Value)
    }

    /// Of several terms the least counts, or the greatest if those come first.
    fn write_term(
        &self,
        entry: &IndexEntry<'_>,
        field: FieldNumber,
        kind: Kind,
        out: &mut Vec<u8>,
        key: impl Fn(&[u8]) -> Vec<u8>,
    ) -> Result<KeyPresence, Error> {
        let (mut best, mut absent): (Option<Vec<u8>>, _) = (None, KeyPresence::Missing);
        for term in entry.record().terms() {
            let term = term?;
            if (term.field, term.kind) == (field, Kind::Null) {
                absent = KeyPresence::Null;
            }
            if (term.field, term.kind) == (field, kind) {
                let value = key(term.bytes);
                best = Some(match best {
                    Some(best) if self.is_descending => best.max(value),
                    Some(best) => best.min(value),
                    None => value,
                });
            }
        }
        out.extend_from_slice(best.as_deref().unwrap_or_default());
        Ok(if best.is_some() { KeyPresence::Value } else { absent })
    }
}

/// What an entry has of a key. What has no value is in this order, or the reverse if the greatest come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum KeyPresence {
    /// Nothing.
    Missing,
    /// Null, and nothing else.
    Null,
    /// A value.
    Value,
}

/// Bytes that sort as a text does in which digits that follow each other are one number: `a2` before `a10`.
fn alphanumeric(text: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(byte) = rest.first() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            key.push(*byte);
            rest = &rest[1..];
            continue;
        }
        let (number, after) = rest.split_at(digits);
        let zeros = number.iter().take_while(|byte| **byte == b'0').count();
        let number = &number[zeros..];
        // Numbers come before all else; then the longer one is the greater one.
        key.push(0);
        key.extend_from_slice(&(number.len() as u32).to_be_bytes());
        key.extend_from_slice(number);
        rest = after;
    }
    key
}

/// Rows that are gathered before the first of them are chosen.
const ROWS_MAX: usize = 1 << 16;

/// The values of entries, to be sorted. Rows that cannot be among the first `count_max` are dropped now and then.
struct Rows<'k> {
    keys: &'k [Key],
    count_max: usize,
    ids: Vec<EntryId>,
    /// For each row and key where its bytes end, and what kind of value it is.
    values: Vec<(usize, KeyPresence)>,
    /// The bytes of all values, one after the other.
    bytes: Vec<u8>,
    reservation: MemoryReservation,
}

impl<'k> Rows<'k> {
    fn new(keys: &'k [Key], count_max: usize, reservation: MemoryReservation) -> Rows<'k> {
        Rows { keys, count_max, ids: Vec::new(), values: Vec::new(), bytes: Vec::new(), reservation }
    }

    fn read<E: From<Error>>(
        mut self,
        index: &IndexSnapshot<'_>,
        set: &EntrySet,
        mut scores: Option<&mut Scores<'_>>,
        check_cancel: CancelCheck<'_, E>,
    ) -> Result<Rows<'k>, E> {
        let mut rows_max = self.count_max.saturating_mul(2).max(ROWS_MAX);
        let mut entries = set.entries();
        while let Some(id) = entries.next()? {
            check_cancel()?;
            let entry = index.known_entry(id)?;
            let score = scores.as_mut().map_or(Ok(0.0), |scores| scores.score(id))?;
            self.ids.push(id);
            for key in self.keys {
                let written = key.write(id, &entry, score, &mut self.bytes)?;
                self.values.push((self.bytes.len(), written));
            }
            self.reservation.grow(self.size()).map_err(Error::from)?;
            if self.ids.len() >= rows_max {
                self.keep_first();
                rows_max = self.ids.len().saturating_mul(2).max(ROWS_MAX);
            }
        }
        Ok(self)
    }

    /// Bytes that the rows take, with the list of places by which they are sorted.
    fn size(&self) -> usize {
        self.bytes.capacity()
            + self.values.capacity() * size_of::<(usize, KeyPresence)>()
            + self.ids.capacity() * (size_of::<EntryId>() + size_of::<usize>())
    }

    fn value(&self, row: usize, key: usize) -> (KeyPresence, &[u8]) {
        let at = row * self.keys.len() + key;
        let start = at.checked_sub(1).and_then(|before| self.values.get(before)).map_or(0, |(end, _)| *end);
        let (end, written) = self.values.get(at).copied().unwrap_or((start, KeyPresence::Missing));
        (written, self.bytes.get(start..end).unwrap_or_default())
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        let mut by_keys = self.keys.iter().enumerate().map(|(at, key)| {
            let (a, b) = (self.value(a, at), self.value(b, at));
            let is_there = |(written, _): (KeyPresence, &[u8])| written == KeyPresence::Value;
            match (is_there(a), is_there(b)) {
                (a, b) if a != b && key.absent == Absent::First => a.cmp(&b),
                (a, b) if a != b => b.cmp(&a),
                // Both have a value, or neither has.
                _ if key.is_descending => b.cmp(&a),
                _ => a.cmp(&b),
            }
        });
        // Rows are in the order of their entries.
        by_keys.find(|order| *order != Ordering::Equal).unwrap_or_else(|| a.cmp(&b))
    }

    /// The places of the first rows, in no order.
    fn first(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.ids.len()).collect();
        if self.count_max < rows.len() {
            rows.select_nth_unstable_by(self.count_max, |a, b| self.compare(*a, *b));
            rows.truncate(self.count_max);
        }
        rows
    }

    /// Drops all rows but the first, which keep the order of their entries.
    fn keep_first(&mut self) {
        if self.count_max >= self.ids.len() {
            return;
        }
        let mut rows = self.first();
        rows.sort_unstable();
        let key_count = self.keys.len();
        let mut end = 0;
        for (to, from) in rows.iter().copied().enumerate() {
            // What is moved lies behind its new place: rows rise.
            let start = (from * key_count).checked_sub(1).map_or(0, |before| self.values[before].0);
            let mut moved = start;
            for key in 0..key_count {
                let (value_end, written) = self.values[from * key_count + key];
                self.bytes.copy_within(moved..value_end, end);
                end += value_end - moved;
                moved = value_end;
                self.values[to * key_count + key] = (end, written);
            }
            self.ids[to] = self.ids[from];
        }
        self.ids.truncate(rows.len());
        self.values.truncate(rows.len() * key_count);
        self.bytes.truncate(end);
    }

    fn sorted(self) -> Vec<EntryId> {
        let mut rows = self.first();
        rows.sort_unstable_by(|a, b| self.compare(*a, *b));
        rows.into_iter().filter_map(|row| self.ids.get(row).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::memory::Memory;

    #[test]
    fn dropping_rows_leaves_the_first_of_them() {
        let keys = [(false, Absent::First), (true, Absent::Last)].map(|(is_descending, absent)| Key {
            value: Value::Id,
            is_descending,
            absent,
        });
        let rows = |count_max: usize, drops: bool| {
            let mut rows = Rows::new(&keys, count_max, Memory::unbounded().reservation());
            // A fixed sequence of numbers that repeat (Knuth's multiplier), some of them missing, of lengths from 0 to 4.
            let mut number = 1u32;
            for id in 0..500 {
                rows.ids.push(EntryId(id));
                for _ in &keys {
                    number = number.wrapping_mul(2_654_435_761).wrapping_add(1);
                    let written = [KeyPresence::Missing, KeyPresence::Value, KeyPresence::Null, KeyPresence::Value]
                        [number as usize >> 5 & 3];
                    if written == KeyPresence::Value {
                        rows.bytes.extend_from_slice(&b"abcd"[..(number >> 9) as usize % 5]);
                    }
                    rows.values.push((rows.bytes.len(), written));
                }
                if drops && rows.ids.len() > count_max + 7 {
                    rows.keep_first();
                    assert_eq!(rows.ids.len(), count_max);
                    assert_eq!(rows.values.last().map(|(end, _)| *end), Some(rows.bytes.len()));
                }
            }
            rows.sorted()
        };
        for count_max in [1, 2, 10, 100, 499] {
            assert_eq!(rows(count_max, true), rows(count_max, false), "{count_max}");
        }
    }

    #[test]
    fn digits_are_numbers() {
        let sorted = ["", "1", "10", "-", "a", "a2", "a02b", "a10", "a10b2", "a10b10", "a b", "a-1", "b", "ä1"];
        for pair in sorted.windows(2) {
            assert!(alphanumeric(pair[0].as_bytes()) < alphanumeric(pair[1].as_bytes()), "{pair:?}");
        }
        assert_eq!(alphanumeric(b"a007"), alphanumeric(b"a7"));
    }
}
