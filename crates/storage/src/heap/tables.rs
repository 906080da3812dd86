//! Tables: records with several keys over them, which one call keeps consistent.
//!
//! A table has no pages of its own: it is a heap of records and the rule that each of a record's keys, in whatever trees,
//! leads to its location. Which keys a record has is for the caller to say, each time in the same order. Keys are unique;
//! a tree of bytes has a location as eight bytes, little-endian, a fixed tree as its value. Two tables may share a heap.

use super::records::{Location, Records};
use crate::error::Result;
use crate::ids::PageNumber;
use crate::transaction::sealed::Pages;
use crate::transaction::{Reader, WriteTransaction};
use crate::tree::Tree;
use crate::tree::fixed::FixedTree;

/// Records with keys over them. A small handle; keep it, it stays valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Table {
    records: Records,
}

/// One key of a record, and the tree that it is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key<'k> {
    /// Bytes, ordered as bytes.
    Bytes(Tree, &'k [u8]),
    /// A number.
    Number(FixedTree, u64),
}

impl Key<'_> {
    fn root(&self) -> PageNumber {
        match self {
            Key::Bytes(tree, _) => tree.root(),
            Key::Number(tree, _) => tree.root(),
        }
    }

    fn find(&self, reader: &impl Reader) -> Result<Option<Location>> {
        match self {
            Key::Bytes(tree, key) => match tree.get(reader, key)? {
                Some(value) => Table::location(*tree, reader, value).map(Some),
                None => Ok(None),
            },
            Key::Number(tree, key) => Ok(tree.get(reader, *key)?.map(Location)),
        }
    }

    fn put(&self, tx: &mut WriteTransaction<'_>, location: Location) -> Result<()> {
        match self {
            Key::Bytes(tree, key) => tree.put(tx, key, &location.0.to_le_bytes()),
            Key::Number(tree, key) => tree.put(tx, *key, location.0),
        }
    }

    /// Puts a key that no record has yet.
    fn enter(&self, tx: &mut WriteTransaction<'_>, location: Location) -> Result<()> {
        let entered = match self {
            Key::Bytes(tree, key) => tree.insert(tx, key, &location.0.to_le_bytes())?,
            Key::Number(tree, key) => tree.insert(tx, *key, location.0)?,
        };
        self.holds(tx, entered, "two records of a table have the same key")
    }

    fn remove(&self, tx: &mut WriteTransaction<'_>) -> Result<()> {
        let removed = match self {
            Key::Bytes(tree, key) => tree.delete(tx, key)?,
            Key::Number(tree, key) => tree.delete(tx, *key)?,
        };
        self.holds(tx, removed, "a key of a table's record is not there")
    }

    /// A violated rule poisons the job, which may have changed other keys already.
    fn holds(&self, tx: &WriteTransaction<'_>, holds: bool, rule: &'static str) -> Result<()> {
        if holds { Ok(()) } else { tx.poison_on_error(Err(tx.corrupt(self.root(), rule))) }
    }
}

impl Table {
    /// The table of the records in a heap.
    pub fn of(records: Records) -> Table {
        Table { records }
    }

    /// Reads the location out of a value in a tree of bytes.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if it is none.
    pub fn location(tree: Tree, reader: &impl Reader, value: &[u8]) -> Result<Location> {
        match value.try_into() {
            Ok(bytes) => Ok(Location(u64::from_le_bytes(bytes))),
            Err(_) => Err(reader.corrupt(tree.root(), "a key of a table leads to no location")),
        }
    }

    /// The records of several keys of a fixed tree, looked up together: [`Records::get_many`].
    ///
    /// # Errors
    ///
    /// As [`Self::get`].
    pub fn get_many<'t>(
        &self,
        reader: &'t impl Reader,
        tree: FixedTree,
        keys: &[u64],
    ) -> Result<Vec<Option<&'t [u8]>>> {
        self.records.get_many(reader, tree, keys)
    }

    /// The bytes of a record.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if there is none.
    #[inline]
    pub fn get<'t>(&self, reader: &'t impl Reader, location: Location) -> Result<&'t [u8]> {
        self.records.get(reader, location)
    }

    /// The location of the record with a key, and its bytes.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`].
    #[inline]
    pub fn find<'t>(&self, reader: &'t impl Reader, key: Key<'_>) -> Result<Option<(Location, &'t [u8])>> {
        let Some(location) = key.find(reader)? else { return Ok(None) };
        Ok(Some((location, self.records.get(reader, location)?)))
    }

    /// Stores a record, `parts` one after the other, under all of its keys.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if another record has one of the keys; those of changing an environment.
    pub fn insert(&self, tx: &mut WriteTransaction<'_>, keys: &[Key<'_>], parts: &[&[u8]]) -> Result<Location> {
        let location = self.records.insert(tx, parts)?;
        keys.iter().try_for_each(|key| key.enter(tx, location))?;
        Ok(location)
    }

    /// Replaces a record: its bytes, and those of its keys that differ between `old` and `new`, which name the same trees in
    /// the same order. Gives where it is now.
    ///
    /// # Errors
    ///
    /// As [`Self::insert`]; [`crate::Error::Corrupt`] if an old key is not there.
    pub fn update(
        &self,
        tx: &mut WriteTransaction<'_>,
        location: Location,
        (old, new): (&[Key<'_>], &[Key<'_>]),
        parts: &[&[u8]],
    ) -> Result<Location> {
        assert_eq!(old.len(), new.len(), "a record keeps its kinds of keys");
        let moved = self.records.update(tx, location, parts)?;
        for (old, new) in old.iter().zip(new) {
            if old != new {
                old.remove(tx)?;
                new.enter(tx, moved)?;
            } else if moved != location {
                new.put(tx, moved)?;
            }
        }
        Ok(moved)
    }

    /// Removes a record and all of its keys.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if there is no such record, or a key of it is not there.
    pub fn delete(&self, tx: &mut WriteTransaction<'_>, location: Location, keys: &[Key<'_>]) -> Result<()> {
        keys.iter().try_for_each(|key| key.remove(tx))?;
        self.records.delete(tx, location)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, Error, Options};

    struct People {
        table: Table,
        by_name: Tree,
        by_age: FixedTree,
    }

    impl People {
        fn make(environment: &Environment) -> People {
            let make = |tx: &mut WriteTransaction<'_>| {
                Ok::<_, Error>(People {
                    table: Table::of(Records::open_or_create(tx, b"people")?),
                    by_name: Tree::open_or_create(tx, b"by-name")?,
                    by_age: FixedTree::open_or_create(tx, b"by-age")?,
                })
            };
            environment.write(make).unwrap()
        }

        fn keys<'k>(&self, name: &'k str, age: u64) -> [Key<'k>; 2] {
            [Key::Bytes(self.by_name, name.as_bytes()), Key::Number(self.by_age, age)]
        }

        #[track_caller]
        fn check(&self, environment: &Environment, name: &str, age: u64, expected: Option<&[u8]>) {
            let tx = environment.read();
            for key in self.keys(name, age) {
                assert_eq!(self.table.find(&tx, key).unwrap().map(|(_, bytes)| bytes), expected, "{name}, {age}");
            }
        }
    }

    #[test]
    fn every_key_follows_its_record() {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let people = People::make(&environment);
        let ann = environment.write(|tx| people.table.insert(tx, &people.keys("ann", 30), &[b"an", b"n"])).unwrap();
        people.check(&environment, "ann", 30, Some(b"ann"));
        // One key changes, and the record moves: both lead there.
        let large = [7; 6000];
        let keys = (&people.keys("ann", 30)[..], &people.keys("ann", 31)[..]);
        let moved = environment.write(|tx| people.table.update(tx, ann, keys, &[&large])).unwrap();
        assert_ne!(moved, ann);
        people.check(&environment, "ann", 31, Some(&large));
        assert_eq!(people.by_age.get(&environment.read(), 30).unwrap(), None);
        environment.write(|tx| people.table.delete(tx, moved, &people.keys("ann", 31))).unwrap();
        people.check(&environment, "ann", 31, None);
        assert!(environment.verify().unwrap().problems.is_empty());
    }

    #[test]
    fn keys_that_do_not_fit_are_refused_and_nothing_is_changed() {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let people = People::make(&environment);
        let add = |name: &str, age| environment.write(|tx| people.table.insert(tx, &people.keys(name, age), &[b"x"]));
        let ann = add("ann", 30).unwrap();
        add("bob", 40).unwrap();
        assert!(matches!(add("cid", 40), Err(Error::Corrupt { .. })), "bob is 40");
        people.check(&environment, "cid", 50, None);
        let keys = (&people.keys("ann", 30)[..], &people.keys("bob", 30)[..]);
        let taken = environment.write(|tx| people.table.update(tx, ann, keys, &[b"y"]));
        assert!(matches!(taken, Err(Error::Corrupt { .. })), "there is a bob");
        let wrong = environment.write(|tx| people.table.delete(tx, ann, &people.keys("ann", 31)));
        assert!(matches!(wrong, Err(Error::Corrupt { .. })), "ann is not 31");
        people.check(&environment, "ann", 30, Some(b"x"));
        people.check(&environment, "bob", 40, Some(b"x"));
    }
}
