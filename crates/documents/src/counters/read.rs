//! Reading counters: one, or all of a document.

use json::{Minifier, Writer};
use storage::Reader;

use super::value::{self, NodeValue};
use crate::ids::{id, owned};
use crate::items::kinds::ItemKind;
use crate::items::record::Head;
use crate::items::schema::Schema;
use crate::store::Names;
use crate::wire::base64;
use crate::{Document, EMPTY_COLLECTION, Error, Etag, Flags, Item, Result, Snapshot};

/// A counter as a snapshot holds it.
#[derive(Clone, Copy)]
pub struct Counter<'t> {
    item: Item<'t>,
}

impl<'t> Counter<'t> {
    pub(crate) fn new(record: &'t [u8], names: &'t Names) -> Result<Counter<'t>> {
        let item = Item::new(record, names)?;
        item.counter().ok_or(Error::Corrupt { rule: "a counter's key leads to a counter" })
    }

    /// The id of its document, as it is spelled.
    pub fn document_id(&self) -> &'t str {
        owned::split(self.item.id()).0
    }

    /// Its name, as the increment that made it spells it.
    pub fn name(&self) -> &'t str {
        owned::split(self.item.id()).1
    }

    /// The sum of the values of all databases.
    pub fn total(&self) -> i64 {
        value::total(self.item.body()).unwrap_or_default()
    }

    /// The values of all databases that raised it.
    pub fn node_values(&self) -> impl Iterator<Item = NodeValue> + 't {
        value::values(self.item.body())
    }

    /// The values by the name of their database, `A-<database id>`. The node of a former or foreign database is not known: `?`.
    pub fn values(&self) -> Vec<(String, i64)> {
        let name = |value: NodeValue| {
            let database = base64::encode_unpadded(&value.database);
            let tag = if database == self.item.names.database_id { &self.item.names.node_tag } else { "?" };
            (format!("{tag}-{database}"), value.value)
        };
        self.node_values().map(name).collect()
    }

    /// The number of the write that last changed it.
    pub fn etag(&self) -> Etag {
        self.item.etag()
    }

    /// True if it was not changed since it was made.
    pub fn is_new(&self) -> bool {
        self.item.flags() != Flags::RAISED
    }

    /// The counter as the document that indexes map: `{"Value","Name","DocumentId"}` under the id of the counter.
    ///
    /// * `collection`: the name of its collection. `record`: memory for it.
    ///
    /// # Errors
    ///
    /// The id is damaged.
    fn as_document<'b>(&self, collection: &str, record: &'b mut Vec<u8>) -> Result<Document<'b>>
    where
        't: 'b,
    {
        let (mut metadata, mut body) = (Vec::new(), Vec::new());
        if collection != EMPTY_COLLECTION {
            metadata.extend_from_slice(b"\"@collection\":");
            Writer::new(&mut metadata).string(collection);
        }
        Writer::new(&mut body).object(|json| {
            json.name("Value").signed(self.total()).name("Name").string(self.name());
            json.name("DocumentId").string(self.document_id());
        });
        let head = Head {
            flags: Flags::NONE,
            vector_size: 0,
            server_size: 0,
            // A name, a number and an id, all bounded.
            metadata_size: metadata.len() as u32,
            body_size: body.len() as u32,
            ..self.item.head
        };
        record.clear();
        for part in [&head.encode()[..], self.item.id().as_bytes(), &metadata, &body] {
            record.extend_from_slice(part);
        }
        Ok(Document { item: Item::new(record, self.item.names)? })
    }

    /// The item.
    pub fn item(&self) -> &Item<'t> {
        &self.item
    }
}

impl<'t> Item<'t> {
    /// The counter; None if it is a tombstone or of another kind.
    pub fn counter(self) -> Option<Counter<'t>> {
        self.head.is_stored(ItemKind::Counter).then_some(Counter { item: self })
    }

    /// The name of the counter that it is, or was; None for another kind.
    pub fn counter_name(&self) -> Option<&'t str> {
        (self.kind() == ItemKind::Counter).then(|| owned::split(self.id()).1)
    }
}

/// The counter with a key.
pub(crate) fn find<'t>(
    schema: &Schema,
    names: &'t Names,
    reader: &'t impl Reader,
    key: &[u8],
) -> Result<Option<Counter<'t>>> {
    match schema.location_of(reader, ItemKind::Counter, key)? {
        Some(location) => Counter::new(schema.records.get(reader, location)?, names).map(Some),
        None => Ok(None),
    }
}

/// All counters of a document, by the bytes of their names.
pub(crate) fn all<'t>(
    schema: &Schema,
    names: &'t Names,
    reader: &'t impl Reader,
    document_key: &[u8],
) -> Result<Vec<Counter<'t>>> {
    let mut counters = Vec::new();
    for (_, location) in schema.keys_of_document(reader, ItemKind::Counter, document_key, usize::MAX)? {
        counters.push(Counter::new(schema.records.get(reader, location)?, names)?);
    }
    counters.sort_by_key(|counter| counter.name());
    Ok(counters)
}

impl Snapshot<'_> {
    /// A counter of a document, both named in any case.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn counter(&self, document_id: &str, name: &str) -> Result<Option<Counter<'_>>> {
        let (schema, names, tx) = self.parts();
        find(schema, names, tx, &id::lower(&owned::id_of(document_id, name)))
    }

    /// A counter as the document that indexes map: `{"Value","Name","DocumentId"}` under the id of the counter, in the collection of its
    /// document.
    ///
    /// * `record`: memory for it.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn mapped_counter<'b>(&'b self, counter: &Counter<'b>, record: &'b mut Vec<u8>) -> Result<Document<'b>> {
        counter.as_document(&self.collection_of(&counter.item)?, record)
    }

    /// What indexes map under an id: a document, or a counter as a document.
    ///
    /// * `record`: memory for a counter.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn mapped<'b>(&'b self, id: &str, record: &'b mut Vec<u8>) -> Result<Option<Document<'b>>> {
        let (document_id, name) = owned::split(id);
        if name.is_empty() {
            return self.get(id);
        }
        match self.counter(document_id, name)? {
            Some(counter) => self.mapped_counter(&counter, record).map(Some),
            None => Ok(None),
        }
    }

    /// The name of this database among the values of a counter: `A-<database id>`.
    pub fn counter_database(&self) -> String {
        let (_, names, _) = self.parts();
        format!("{}-{}", names.node_tag, names.database_id)
    }

    /// All counters of a document, by the bytes of their names.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn counters(&self, document_id: &str) -> Result<Vec<Counter<'_>>> {
        let (schema, names, tx) = self.parts();
        all(schema, names, tx, &id::lower(document_id))
    }
}

/// A line of a dump.
pub(crate) fn dump(item: &Item<'_>, out: &mut Vec<u8>) {
    let counter = Counter { item: *item };
    Writer::new(out).object(|json| {
        json.name("@counter").object(|json| {
            json.name("DocumentId").string(counter.document_id()).name("CounterName").string(counter.name());
            json.name("TotalValue").signed(counter.total());
        });
    });
}

/// Checks what only a counter knows of itself.
pub(crate) fn check(item: &Item<'_>, _: &str, _: &mut Minifier) -> Result<(), String> {
    let (document_id, name) = owned::split(item.id());
    value::check(item.body()).map_err(|rule| format!("the counter '{name}' of '{document_id}' {rule}"))
}
