//! The kinds of items that a database keeps: one closed table.
//!
//! An *item* is what has an etag of its own: a document, or something that belongs to one. All kinds share one sequence of etags, one heap
//! of records ([`record`](super::record)) and the rules of this table. Schema, collections, writing, tombstone cleaning, the change reader,
//! `verify`, `compact`, statistics and dumps are loops over it, so a new kind is a variant of [`ItemKind`], a row here, and a module for
//! what is special about it.
//!
//! Each kind has four trees, and two more in each collection that has items of it:
//!
//! ```text
//! <name>/by-key                        key of the item                       -> location of its record
//! <name>/by-etag                       etag                                  -> location
//! <name>/tombstones/by-key             collection (4 bytes), key of the item -> location of the tombstone
//! <name>/tombstones/by-etag            etag                                  -> location
//! collections/<number>/<name>          etag                                  -> location
//! collections/<number>/<name>/tombstones
//! ```
//!
//! An item of a kind without collections is in collection 0, which has no name and no documents.

use std::ops::{Index, IndexMut};

use json::Minifier;

use crate::attachments;
use crate::compare_exchange::{check_key, check_value, dump_value};
use crate::counters;
use crate::document::{check_document, dump_document};
use crate::due::DueTimes;
use crate::ids::{id, owned};
use crate::revisions;
use crate::{Item, Result};

/// A kind of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemKind {
    /// A JSON document.
    Document,
    /// A file that belongs to a document.
    Attachment,
    /// A number that belongs to a document.
    Counter,
    /// A former state of a document.
    Revision,
    /// A value that changes only if its index is the expected one; see [`ValueChange`](crate::ValueChange).
    CompareExchange,
    /// Exists in tests alone, to show that a kind needs nothing but its row.
    #[cfg(test)]
    Note,
}

/// How many kinds there are.
pub(crate) const KIND_COUNT: usize = KINDS.len();

/// A row of the table.
pub(crate) struct Kind {
    pub kind: ItemKind,
    /// The number in records and rows of collections, below 64. Never reuse one.
    pub number: u8,
    /// In the names of trees and in messages, plural.
    pub name: &'static str,
    /// Checks the id of a stored item or tombstone.
    pub check_id: fn(&str) -> Result<()>,
    /// Makes the key of an item from its id, in place of what was in the buffer.
    pub key_into: fn(&mut Vec<u8>, id: &str),
    /// The id of the document that an item belongs to, made from the item's id; a document belongs to itself. Empty: it belongs to none.
    pub document_id: fn(&str) -> &str,
    /// Whether deleting an item leaves a tombstone.
    pub leaves_tombstones: bool,
    /// Checks what only this kind knows of a stored item; `Err` says which rule is broken.
    ///
    /// * `collection`: the name of its collection.
    pub check: fn(&Item<'_>, collection: &str, minifier: &mut Minifier) -> Result<(), String>,
    /// Appends an item as one line of JSON, without the line's end.
    pub dump: fn(&Item<'_>, &mut Vec<u8>),
}

/// The table, in the order of [`ItemKind`].
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        kind: ItemKind::Document,
        number: 1,
        name: "documents",
        check_id: id::check,
        key_into: id::lower_into,
        document_id: |id| id,
        leaves_tombstones: true,
        check: check_document,
        dump: dump_document,
    },
    Kind {
        kind: ItemKind::Attachment,
        number: 2,
        name: "attachments",
        check_id: attachments::command::check_id,
        key_into: id::lower_into,
        document_id: owned::document_id,
        leaves_tombstones: true,
        check: attachments::read::check,
        dump: attachments::read::dump,
    },
    Kind {
        kind: ItemKind::Counter,
        number: 3,
        name: "counters",
        check_id: counters::command::check_id,
        key_into: id::lower_into,
        document_id: owned::document_id,
        leaves_tombstones: true,
        check: counters::read::check,
        dump: counters::read::dump,
    },
    Kind {
        kind: ItemKind::Revision,
        number: 4,
        name: "revisions",
        check_id: revisions::key::check,
        key_into: id::lower_into,
        document_id: revisions::key::document_id,
        leaves_tombstones: false,
        // The check of all of them has their bases too.
        check: |_, _, _| Ok(()),
        dump: revisions::read::dump,
    },
    Kind {
        kind: ItemKind::CompareExchange,
        number: 6,
        name: "compare-exchange",
        check_id: check_key,
        key_into: id::lower_into,
        document_id: |_| "",
        leaves_tombstones: true,
        check: check_value,
        dump: dump_value,
    },
    #[cfg(test)]
    tests::NOTES,
];

const _: () = {
    let mut at = 0;
    while at < KINDS.len() {
        assert!(KINDS[at].kind as usize == at, "the rows are in the order of ItemKind");
        at += 1;
    }
};

impl ItemKind {
    /// All kinds.
    pub fn all() -> impl DoubleEndedIterator<Item = ItemKind> + Clone {
        KINDS.iter().map(|row| row.kind)
    }

    /// The name in the plural: `documents`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub(crate) const fn row(self) -> &'static Kind {
        &KINDS[self as usize]
    }

    /// The number that stands for it in files.
    #[inline]
    pub(crate) const fn number(self) -> u8 {
        self.row().number
    }

    #[inline]
    pub(crate) fn from_number(number: u8) -> Option<ItemKind> {
        KINDS.iter().find(|row| row.number == number).map(|row| row.kind)
    }

    /// The due times of an item.
    ///
    /// * `metadata`: its stored metadata.
    #[inline]
    pub(crate) fn due_times(self, metadata: &[u8]) -> DueTimes {
        match self {
            ItemKind::Document => DueTimes::of(metadata),
            ItemKind::CompareExchange => DueTimes::of_value(metadata),
            ItemKind::Attachment | ItemKind::Counter | ItemKind::Revision => DueTimes::NONE,
            #[cfg(test)]
            ItemKind::Note => DueTimes::NONE,
        }
    }

    /// The key of the item with this id.
    pub(crate) fn key(self, id: &str) -> Vec<u8> {
        let mut key = Vec::with_capacity(id.len() + 8);
        (self.row().key_into)(&mut key, id);
        key
    }
}

/// One value for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerKind<T>(pub(crate) [T; KIND_COUNT]);

impl<T> Index<ItemKind> for PerKind<T> {
    type Output = T;

    #[inline]
    fn index(&self, kind: ItemKind) -> &T {
        &self.0[kind as usize]
    }
}

impl<T> IndexMut<ItemKind> for PerKind<T> {
    #[inline]
    fn index_mut(&mut self, kind: ItemKind) -> &mut T {
        &mut self.0[kind as usize]
    }
}

impl<T: Default> Default for PerKind<T> {
    fn default() -> Self {
        PerKind(std::array::from_fn(|_| T::default()))
    }
}

impl<T> PerKind<T> {
    /// Makes the values from the kinds.
    pub(crate) fn try_of<E>(mut make: impl FnMut(ItemKind) -> Result<T, E>) -> Result<PerKind<T>, E> {
        let mut values = Vec::with_capacity(KIND_COUNT);
        for kind in ItemKind::all() {
            values.push(make(kind)?);
        }
        // As many as there are kinds.
        Ok(PerKind(values.try_into().unwrap_or_else(|_| unreachable!("each kind has a value"))))
    }

    /// The kinds with their values.
    pub fn iter(&self) -> impl Iterator<Item = (ItemKind, &T)> {
        ItemKind::all().zip(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use storage::{Environment, Options};

    use super::*;
    use crate::items::change::{Deletion, Parts};
    use crate::items::record::Head;
    use crate::{Batch, Date, DocumentStore, Etag, Expected, ItemCounts, StoreOptions, Writing};

    /// A kind for tests: a note has the id `document/name`, and its body is any text.
    pub(crate) const NOTES: Kind = Kind {
        kind: ItemKind::Note,
        number: 63,
        name: "notes",
        check_id: id::check,
        key_into: id::lower_into,
        document_id: |id| id.rsplit_once('/').map_or(id, |(document, _)| document),
        leaves_tombstones: true,
        check: |note, _, _| match note.body().is_empty() {
            true => Err(format!("the note '{}' is empty", note.id())),
            false => Ok(()),
        },
        dump: |note, out| {
            let text = String::from_utf8_lossy(note.body());
            json::Writer::new(out).object(|json| _ = json.name("Note").string(note.id()).name("Text").string(&text));
        },
    };

    fn store() -> DocumentStore {
        let environment = Environment::in_memory(Options::default()).unwrap();
        DocumentStore::open(environment, StoreOptions::default()).unwrap()
    }

    fn put_document(store: &DocumentStore, id: &str) {
        let mut batch = Batch::new();
        batch.put(id, br#"{"@metadata":{"@collection":"Users"}}"#, Expected::Any).unwrap();
        store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
    }

    fn put_note(writing: &mut Writing<'_, '_>, id: &str, text: &str) -> crate::Result<()> {
        let key = ItemKind::Note.key(id);
        let place = writing.collection_or_new("Users")?;
        let collection = writing.collection(place).number;
        let before = writing.find_item(ItemKind::Note, &key)?;
        let tombstone = writing.find_tombstone(ItemKind::Note, collection, &key)?;
        let head = Head {
            body_size: text.len() as u32,
            ..Head::stored(ItemKind::Note, collection, writing.next_etag()?, writing.now)
        };
        let parts = Parts { id, vector: "", server_metadata: &[], content: text.as_bytes() };
        writing.store_item(place, head, parts, &key, before.as_ref(), tombstone.as_ref())
    }

    fn delete_note(writing: &mut Writing<'_, '_>, id: &str) -> crate::Result<()> {
        let key = ItemKind::Note.key(id);
        let note = writing.find_item(ItemKind::Note, &key)?.expect("there is such a note");
        let deletion =
            Deletion { etag: writing.next_etag()?, vector: None, last_modified: writing.now, body: Vec::new() };
        writing.remove_item(&note, &key, &deletion)
    }

    /// Etags 1 to 6: two documents, three notes, one of them deleted.
    fn filled() -> DocumentStore {
        let store = store();
        put_document(&store, "users/1");
        store.write(Date::now(), |writing| put_note(writing, "Users/1/A", "one")).unwrap();
        put_document(&store, "users/2");
        for (id, text) in [("users/2/b", "two"), ("users/2/c", "three")] {
            store.write(Date::now(), |writing| put_note(writing, id, text)).unwrap();
        }
        store.write(Date::now(), |writing| delete_note(writing, "users/2/c")).unwrap();
        store
    }

    fn changes(store: &DocumentStore, kinds: &[ItemKind], collection: Option<&str>, after: Etag) -> Vec<String> {
        let snapshot = store.read();
        let changes = snapshot.changes(kinds, collection, after).unwrap();
        let shown = changes.map(|item| {
            let item = item.unwrap();
            let (mark, collection) =
                (if item.is_deleted() { "-" } else { "+" }, snapshot.collection_of(&item).unwrap());
            format!("{}{mark}{} of {} in {collection}", item.etag(), item.id(), item.document_id())
        });
        shown.collect()
    }

    #[test]
    fn the_change_reader_merges_kinds_and_tombstones_by_etag() {
        let store = filled();
        let all = [
            "1+users/1 of users/1 in Users",
            "2+Users/1/A of Users/1 in Users",
            "3+users/2 of users/2 in Users",
            "4+users/2/b of users/2 in Users",
            "6-users/2/c of users/2 in Users",
        ];
        let both = [ItemKind::Document, ItemKind::Note];
        assert_eq!(changes(&store, &both, None, 0), all);
        assert_eq!(changes(&store, &both, Some("users"), 3), all[3..]);
        assert_eq!(changes(&store, &[ItemKind::Document], None, 0), [all[0], all[2]]);
        assert_eq!(changes(&store, &[ItemKind::Note], Some("Users"), 2), all[3..]);
        assert!(changes(&store, &both, Some("Dogs"), 0).is_empty() && changes(&store, &both, None, 6).is_empty());
        let snapshot = store.read();
        let deleted: Vec<_> = snapshot.deletions(&both, None, 0).unwrap().map(|item| item.unwrap().etag()).collect();
        assert_eq!(deleted, [6]);
        let last = snapshot.last_etags(ItemKind::Note, Some("Users")).unwrap();
        assert_eq!((last.items, last.tombstones), (4, 6));
        // A note under the key of a deleted one takes the place of its tombstone.
        store.write(Date::now(), |writing| put_note(writing, "users/2/C", "again")).unwrap();
        assert_eq!(changes(&store, &[ItemKind::Note], None, 4), ["7+users/2/C of users/2 in Users"]);
    }

    #[test]
    fn statistics_count_each_kind() {
        let store = filled();
        let statistics = store.read().statistics().unwrap();
        let counts = |kind| (statistics.counts[kind].count, statistics.counts[kind].tombstone_count);
        assert_eq!((counts(ItemKind::Document), counts(ItemKind::Note)), ((2, 0), (2, 1)));
        let users = store.read().collection("Users").unwrap().unwrap();
        assert_eq!(users.counts, statistics.counts);
        assert_eq!((users.total().count, users.total().tombstone_count), (4, 1));
    }

    #[test]
    fn a_check_reads_each_kind() {
        let store = filled();
        let found = store.read().verify().unwrap();
        assert_eq!((found.problems, found.counts[ItemKind::Note].count), (Vec::new(), 2));
        let mut steps = Vec::new();
        store.read().verify_with(&mut |read| steps.push(read)).unwrap();
        assert_eq!(steps, [1, 2, 3, 4, 5], "four items and a tombstone");
        let by_key = store.schema.kinds[ItemKind::Note].by_key;
        store.write(Date::now(), |writing| put_note(writing, "users/1/a", "")).unwrap();
        store.environment().write(|tx| by_key.delete(tx, b"users/2/b")).unwrap();
        let problems = store.read().verify().unwrap().problems;
        assert_eq!(
            problems,
            [
                "etag 4: the id 'users/2/b' does not lead to it",
                "etag 7: the note 'users/1/a' is empty",
                "1 ids lead to 2 notes"
            ]
        );
    }

    #[test]
    fn a_copy_and_a_dump_have_each_kind() {
        let store = filled();
        let target = Environment::in_memory(Options::default()).unwrap();
        store.copy_into(&target, |_| true).unwrap();
        let copy = DocumentStore::open(target, StoreOptions::default()).unwrap();
        assert_eq!(copy.read().verify().unwrap().problems, Vec::<String>::new());
        let both = [ItemKind::Document, ItemKind::Note];
        assert_eq!(changes(&copy, &both, None, 0), changes(&store, &both, None, 0));
        assert_eq!(copy.read().statistics().unwrap(), store.read().statistics().unwrap());
        let snapshot = copy.read();
        let mut lines = Vec::new();
        snapshot.items(&[ItemKind::Note], None, 0).unwrap().for_each(|item| item.unwrap().dump(&mut lines));
        let expected = r#"{"Note":"Users/1/A","Text":"one"}{"Note":"users/2/b","Text":"two"}"#;
        assert_eq!(String::from_utf8(lines).unwrap(), expected);
    }

    #[test]
    fn tombstones_of_each_kind_are_cleaned() {
        let store = filled();
        store.write(Date::now(), |writing| writing.delete("users/1", &Expected::Any)).unwrap();
        let clean = |etag, count_max| store.write(Date::now(), |writing| writing.clean_tombstones(etag, count_max));
        assert_eq!(clean(5, 10).unwrap(), 0);
        assert_eq!(clean(7, 1).unwrap(), 1);
        assert_eq!(clean(7, 1).unwrap(), 1);
        assert_eq!(store.read().statistics().unwrap().counts.total().tombstone_count, 0);
        assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
    }

    #[test]
    fn a_kind_that_came_with_a_newer_program_is_added_and_refused_by_an_older_one() {
        let store = filled();
        // As a program that does not know notes, and one that knows more, would have left it.
        let with_kinds = |store: DocumentStore, kinds: u64| {
            let environment = store.into_environment();
            let state = storage::Tree::open(&environment.read(), b"state").unwrap().unwrap();
            environment.write(|tx| state.put(tx, b"kinds", &kinds.to_be_bytes())).unwrap();
            DocumentStore::open(environment, StoreOptions::default())
        };
        let store = with_kinds(store, 1 << 1).unwrap();
        assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
        let refused = with_kinds(store, 1 << 1 | 1 << 7).unwrap_err();
        assert!(matches!(refused, crate::Error::NewerKinds), "{refused}");
    }

    #[test]
    fn counts_add_up_to_the_largest_number() {
        let mut counts = ItemCounts { count: u64::MAX, ..ItemCounts::default() };
        counts.add(&ItemCounts { count: 1, size: 2, ..ItemCounts::default() });
        assert_eq!((counts.count, counts.size), (u64::MAX, 2));
    }
}
