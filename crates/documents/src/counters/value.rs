//! The body of a counter's record: a value for each database that raised it, by rising database id.
//!
//! ```text
//!  0             16      24     32
//!  +-------------+-------+------+--  ..
//!  | database id | value | etag |  next
//!  +-------------+-------+------+--  ..
//! ```
//!
//! Value and etag are little-endian; the etag is that of the database's last change of its own value.

use crate::limits::COUNTER_NODE_COUNT_MAX;
use crate::wire::base64;
use crate::{Error, Etag, Result};

const ENTRY_SIZE: usize = 32;
const _: () = assert!(ENTRY_SIZE == 16 + size_of::<i64>() + size_of::<Etag>());

/// What one database added to a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeValue {
    /// The id of the database, as it stands in change vectors in base64.
    pub database: [u8; 16],
    /// The sum of its increments.
    pub value: i64,
    /// The etag of the last of them, in the sequence of that database. Of two values of one database the one with the higher etag counts.
    pub etag: Etag,
}

impl NodeValue {
    /// A value of a database whose id is given as in change vectors: 22 characters of base64. `None`: it is no id.
    pub fn new(database: &str, value: i64, etag: Etag) -> Option<NodeValue> {
        let database = base64::decode(&format!("{database}=="))?;
        Some(NodeValue { database: database.try_into().ok()?, value, etag })
    }

    /// The id of the database as in change vectors.
    pub fn database_text(&self) -> String {
        base64::encode_unpadded(&self.database)
    }

    fn read(entry: &[u8; ENTRY_SIZE]) -> NodeValue {
        let part = |at: usize| std::array::from_fn(|byte| entry[at + byte]);
        let database = std::array::from_fn(|byte| entry[byte]);
        NodeValue { database, value: i64::from_le_bytes(part(16)), etag: Etag::from_le_bytes(part(24)) }
    }

    fn write(&self, body: &mut Vec<u8>) {
        body.extend_from_slice(&self.database);
        body.extend_from_slice(&self.value.to_le_bytes());
        body.extend_from_slice(&self.etag.to_le_bytes());
    }
}

/// The values in a body.
pub(crate) fn values(body: &[u8]) -> impl Iterator<Item = NodeValue> + '_ {
    body.as_chunks::<ENTRY_SIZE>().0.iter().map(NodeValue::read)
}

/// The sum of the values; `None`: it is no 64-bit number.
pub(crate) fn total(body: &[u8]) -> Option<i64> {
    // A sum of 2^16 values of 64 bits has 80.
    i64::try_from(values(body).map(|value| i128::from(value.value)).sum::<i128>()).ok()
}

/// Checks a stored body; `Err` says which rule is broken.
pub(crate) fn check(body: &[u8]) -> Result<(), &'static str> {
    let count = body.len() / ENTRY_SIZE;
    if count == 0 || !body.len().is_multiple_of(ENTRY_SIZE) || count > COUNTER_NODE_COUNT_MAX {
        return Err("has no whole values, or too many");
    }
    let databases: Vec<_> = values(body).map(|value| value.database).collect();
    if !databases.is_sorted_by(|left, right| left < right) {
        return Err("has its values not in the order of databases");
    }
    total(body).map(drop).ok_or("has a sum that is no 64-bit number")
}

/// Adds to the value of one database; gives the new sum. `None`: the value or the sum would be no 64-bit number, and nothing is changed.
pub(crate) fn increment(body: &mut Vec<u8>, database: [u8; 16], delta: i64, etag: Etag) -> Option<i64> {
    let mut all: Vec<NodeValue> = values(body).collect();
    match all.binary_search_by(|value| value.database.cmp(&database)) {
        Ok(place) => {
            all[place].value = all[place].value.checked_add(delta)?;
            all[place].etag = etag;
        }
        Err(place) => all.insert(place, NodeValue { database, value: delta, etag }),
    }
    let mut changed = Vec::with_capacity(all.len() * ENTRY_SIZE);
    all.iter().for_each(|value| value.write(&mut changed));
    let total = total(&changed)?;
    *body = changed;
    Some(total)
}

/// Merges the values of other databases: of each, the one with the higher etag counts. Gives whether anything changed.
///
/// # Errors
///
/// [`Error::TooLarge`] for more databases than [`COUNTER_NODE_COUNT_MAX`], or a sum that is no 64-bit number.
pub(crate) fn merge(body: &mut Vec<u8>, others: &[NodeValue]) -> Result<bool> {
    let mut all: Vec<NodeValue> = values(body).collect();
    let mut is_changed = false;
    for other in others {
        match all.binary_search_by(|value| value.database.cmp(&other.database)) {
            Ok(place) if all[place].etag >= other.etag => continue,
            Ok(place) => all[place] = *other,
            Err(place) => all.insert(place, *other),
        }
        is_changed = true;
    }
    if all.len() > COUNTER_NODE_COUNT_MAX {
        let size = all.len();
        return Err(Error::TooLarge { what: "a counter with values", size, max: COUNTER_NODE_COUNT_MAX });
    }
    let mut changed = Vec::with_capacity(all.len() * ENTRY_SIZE);
    all.iter().for_each(|value| value.write(&mut changed));
    if total(&changed).is_none() {
        return Err(Error::BadBatch { rule: "the values of a counter add up to no 64-bit number".to_owned() });
    }
    *body = changed;
    Ok(is_changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: [u8; 16] = [1; 16];
    const TWO: [u8; 16] = [2; 16];

    #[test]
    fn each_database_has_a_value_of_its_own() {
        let mut body = Vec::new();
        assert_eq!(increment(&mut body, TWO, 5, 1), Some(5));
        assert_eq!(increment(&mut body, ONE, -2, 2), Some(3));
        assert_eq!(increment(&mut body, TWO, 1, 3), Some(4));
        let found: Vec<_> = values(&body).map(|value| (value.database, value.value, value.etag)).collect();
        assert_eq!(found, [(ONE, -2, 2), (TWO, 6, 3)]);
        assert_eq!((check(&body), total(&body)), (Ok(()), Some(4)));
    }

    #[test]
    fn a_value_or_sum_beyond_64_bits_changes_nothing() {
        let mut body = Vec::new();
        assert_eq!(increment(&mut body, ONE, i64::MAX, 1), Some(i64::MAX));
        let before = body.clone();
        assert_eq!(increment(&mut body, ONE, 1, 2), None);
        assert_eq!(increment(&mut body, TWO, 1, 2), None);
        assert_eq!(body, before);
        assert!(merge(&mut body, &[NodeValue { database: TWO, value: 1, etag: 1 }]).is_err());
        assert_eq!(body, before);
        assert_eq!(increment(&mut body, TWO, -1, 2), Some(i64::MAX - 1));
    }

    proptest! {
        /// Merging is commutative and idempotent where an etag stands for one value.
        #[test]
        fn merging_does_not_depend_on_the_order(mut writes in prop::collection::vec((0u8..4, 1u64..20), 1..12)) {
            let node = |(database, etag): (u8, u64)| {
                NodeValue { database: [database; 16], value: i64::from(database) * 100 + etag as i64, etag }
            };
            let all: Vec<NodeValue> = writes.iter().copied().map(node).collect();
            let mut one = Vec::new();
            merge(&mut one, &all).unwrap();
            writes.reverse();
            let mut other = Vec::new();
            for write in writes.iter().chain(&writes).copied() {
                merge(&mut other, &[node(write)]).unwrap();
            }
            prop_assert_eq!(&one, &other);
            prop_assert_eq!(check(&one), Ok(()));
            prop_assert!(!merge(&mut one, &all).unwrap());
        }
    }
}
