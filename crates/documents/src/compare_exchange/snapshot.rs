//! Reading values.

use json::Raw;
use storage::{Cursor, ReadTransaction, Table};

use super::guard;
use crate::ids::id;
use crate::items::kinds::ItemKind;
use crate::{Error, Item, Result, Snapshot};

/// A stored value.
#[derive(Clone, Copy, Debug)]
pub struct CompareExchangeValue<'t> {
    item: Item<'t>,
}

impl<'t> CompareExchangeValue<'t> {
    /// The key as it was spelled when the value was stored.
    pub fn key(&self) -> &'t str {
        self.item.id()
    }

    /// The number of the write that stored it.
    pub fn index(&self) -> u64 {
        self.item.etag()
    }

    /// The whole value, as clients send and get it: an object with `Object`, and perhaps `@metadata`.
    pub fn json(&self) -> Raw<'t> {
        Raw::new(self.item.body())
    }

    /// What queries and scripts get of it: its property `Object`.
    pub fn object(&self) -> Option<Raw<'t>> {
        self.json().get("Object")
    }

    /// True if it is the atomic guard of a document.
    pub fn is_guard(&self) -> bool {
        guard::is_guard(self.key())
    }
}

impl<'t> Item<'t> {
    /// The compare-exchange value; None if it is a tombstone or of another kind.
    pub fn compare_exchange_value(self) -> Option<CompareExchangeValue<'t>> {
        self.head.is_stored(ItemKind::CompareExchange).then_some(CompareExchangeValue { item: self })
    }
}

impl Snapshot<'_> {
    /// The value with this key, in any case.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn compare_exchange_value(&self, key: &str) -> Result<Option<CompareExchangeValue<'_>>> {
        let (schema, names, tx) = self.parts();
        let key = id::lower(key);
        let Some(location) = schema.location_of(tx, ItemKind::CompareExchange, &key)? else { return Ok(None) };
        let item = Item::new(schema.records.get(tx, location)?, names)?;
        let value = item.compare_exchange_value();
        value.map(Some).ok_or(Error::Corrupt { rule: "a key leads to a record of its kind" })
    }

    /// The atomic guard of a document, and the change vector that names it.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn guard_of(&self, id: &str) -> Result<Option<(CompareExchangeValue<'_>, String)>> {
        let value = self.compare_exchange_value(&guard::key_of(id))?;
        let (_, names, _) = self.parts();
        Ok(value.map(|value| (value, guard::vector_of(value.index(), &names.transaction_id))))
    }

    /// The guards that the change vectors of their documents do not name, because the documents are gone or were restored without them. No
    /// cluster-wide transaction can write such a document.
    pub fn orphaned_guards(&self) -> impl Iterator<Item = Result<CompareExchangeValue<'_>>> {
        let is_orphaned = |guard: &CompareExchangeValue<'_>| {
            let id = guard.key().get(guard::PREFIX.len()..).unwrap_or_default();
            match self.get(id)? {
                Some(document) => Ok(guard::index_in(&document.change_vector())? != guard.index()),
                None => Ok(true),
            }
        };
        self.compare_exchange_values(guard::PREFIX).filter_map(move |guard| match guard {
            Ok(guard) => is_orphaned(&guard).map(|is_orphaned| is_orphaned.then_some(guard)).transpose(),
            Err(error) => Some(Err(error)),
        })
    }

    /// Values whose keys begin with a prefix, in the order of lower-cased keys.
    pub fn compare_exchange_values(&self, prefix: &str) -> ValuesByPrefix<'_> {
        let (schema, _, tx) = self.parts();
        let cursor = schema.kinds[ItemKind::CompareExchange].by_key.cursor(tx);
        ValuesByPrefix { snapshot: self, cursor, prefix: id::lower(prefix), is_begun: false }
    }
}

/// Values by prefix, see [`Snapshot::compare_exchange_values`].
pub struct ValuesByPrefix<'t> {
    snapshot: &'t Snapshot<'t>,
    cursor: Cursor<'t, ReadTransaction<'t>>,
    prefix: Vec<u8>,
    is_begun: bool,
}

impl<'t> ValuesByPrefix<'t> {
    fn step(&mut self) -> Result<Option<CompareExchangeValue<'t>>> {
        let entry = match std::mem::replace(&mut self.is_begun, true) {
            false => self.cursor.seek(&self.prefix)?,
            true => self.cursor.next()?,
        };
        let Some((_, location)) = entry.filter(|(key, _)| key.starts_with(&self.prefix)) else { return Ok(None) };
        let (schema, names, tx) = self.snapshot.parts();
        let location = Table::location(schema.kinds[ItemKind::CompareExchange].by_key, tx, location)?;
        let item = Item::new(schema.records.get(tx, location)?, names)?;
        let value = item.compare_exchange_value();
        value.map(Some).ok_or(Error::Corrupt { rule: "a key leads to a record of its kind" })
    }
}

impl<'t> Iterator for ValuesByPrefix<'t> {
    type Item = Result<CompareExchangeValue<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}
