//! Checks every rule of the document format over one snapshot: all ways to a document agree, and all counts are right.

use std::collections::HashMap;

use json::Minifier;
use storage::{Key, Location, ReadTransaction, Tree};

use crate::attachments::check::{ContentUses, check_attachment, check_contents, check_document};
use crate::constraints::{CONSTRAINTS, Prepared};
use crate::counters::names::names_in;
use crate::due;
use crate::ids::id;
use crate::ids::identities::value_from;
use crate::ids::owned;
use crate::items::collections::{Collection, NO_COLLECTION};
use crate::items::kinds::{ItemKind, PerKind};
use crate::items::record::{self, Head, RecordState};
use crate::items::schema::{DATABASE_ID, Schema, tombstone_key};
use crate::revisions::check::{FoundBases, check_revision, check_trees};
use crate::store::Names;
use crate::{ChangeVector, DueKind, Etag, Item, ItemCounts, Result, Snapshot};

/// The maximum number of problems described in words; further ones are only counted.
const PROBLEMS_TOLD_MAX: usize = 100;

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Items and tombstones that were read, of each kind.
    pub counts: PerKind<ItemCounts>,
    /// Rules that do not hold.
    pub problem_count: u64,
    /// The first of them.
    pub problems: Vec<String>,
}

struct Check<'s> {
    schema: &'s Schema,
    names: &'s Names,
    /// Ids that the database had before.
    former_ids: Vec<String>,
    tx: &'s ReadTransaction<'s>,
    collections: HashMap<u32, Collection>,
    /// The result for each collection.
    tallies: HashMap<u32, PerKind<ItemCounts>>,
    minifier: Minifier,
    found: Verification,
    read_count: u64,
    /// The bases that revisions need.
    bases: FoundBases,
    /// References to contents by the items that were read.
    content_uses: ContentUses,
    /// Due times in the metadata of items.
    due_count: u64,
    constraints: Vec<Prepared>,
    /// Documents in the entries of constraints.
    entry_count: u64,
    progress: &'s mut dyn FnMut(u64),
}

impl Snapshot<'_> {
    /// Reads everything and checks every rule.
    ///
    /// # Errors
    ///
    /// A page, the row of a collection or the last etag is damaged, so that the check cannot go on. Other broken rules are in
    /// the answer.
    pub fn verify(&self) -> Result<Verification> {
        self.verify_with(&mut |_| ())
    }

    /// Does the same as [`Self::verify`], and reports how far it is.
    ///
    /// * `progress`: called with the number of items and tombstones that were read so far.
    ///
    /// # Errors
    ///
    /// As of [`Self::verify`].
    pub fn verify_with(&self, progress: &mut dyn FnMut(u64)) -> Result<Verification> {
        let (schema, names, tx) = self.parts();
        let collections = Collection::all(schema, tx)?.into_iter().map(|row| (row.number, row)).collect();
        let mut check = Check {
            schema,
            names,
            former_ids: schema.former_database_ids(tx)?,
            tx,
            collections,
            tallies: HashMap::new(),
            minifier: Minifier::new(),
            found: Verification::default(),
            read_count: 0,
            bases: FoundBases::default(),
            content_uses: ContentUses::new(),
            due_count: 0,
            constraints: Prepared::all(tx)?,
            entry_count: 0,
            progress,
        };
        let last_etag = schema.last_etag(tx)?;
        for kind in ItemKind::all() {
            check.by_etag(kind, RecordState::Stored, last_etag)?;
            check.by_etag(kind, RecordState::Tombstone, last_etag)?;
            check.by_key(kind)?;
        }
        let count = check.found.counts[ItemKind::Revision].count;
        check_trees(schema, tx, &check.bases, count)?.into_iter().for_each(|problem| check.problem(problem));
        for problem in check_contents(schema, tx, &check.content_uses)? {
            check.problem(problem);
        }
        check.due()?;
        check.constraints()?;
        check.collections()?;
        check.state()?;
        Ok(check.found)
    }
}

impl Check<'_> {
    fn problem(&mut self, text: String) {
        self.found.problem_count += 1;
        if self.found.problems.len() < PROBLEMS_TOLD_MAX {
            self.found.problems.push(text);
        }
    }

    fn by_etag(&mut self, kind: ItemKind, state: RecordState, last_etag: Etag) -> Result<()> {
        let trees = &self.schema.kinds[kind];
        let mut cursor = match state {
            RecordState::Stored => trees.by_etag.cursor(self.tx),
            RecordState::Tombstone => trees.tombstones_by_etag.cursor(self.tx),
        };
        while let Some((etag, location)) = cursor.next()? {
            match state {
                RecordState::Stored => self.found.counts[kind].count += 1,
                RecordState::Tombstone => self.found.counts[kind].tombstone_count += 1,
            }
            self.read_count += 1;
            (self.progress)(self.read_count);
            if etag > last_etag {
                self.problem(format!("etag {etag} is above the last etag {last_etag}"));
            }
            if etag == 0 {
                self.problem("etag 0 stands for no write".to_owned());
            }
            if self.is_used_before(kind, state, etag)? {
                self.problem(format!("two items or tombstones have the etag {etag}"));
            }
            if let Err(problem) = self.record(kind, state, etag, location)? {
                self.problem(format!("etag {etag}: {problem}"));
            }
        }
        Ok(())
    }

    /// Whether an item or tombstone that is checked before those of this kind and state has the etag.
    fn is_used_before(&self, kind: ItemKind, state: RecordState, etag: Etag) -> Result<bool> {
        for before in ItemKind::all() {
            let trees = &self.schema.kinds[before];
            let has_items_before = before < kind || before == kind && state == RecordState::Tombstone;
            if has_items_before && trees.by_etag.get(self.tx, etag)?.is_some() {
                return Ok(true);
            }
            if before < kind && trees.tombstones_by_etag.get(self.tx, etag)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Outer error: storage. Inner error: a broken rule.
    fn record(&mut self, kind: ItemKind, state: RecordState, etag: Etag, location: u64) -> Result<Result<(), String>> {
        let record = match self.schema.records.get(self.tx, Location(location)) {
            Ok(record) => record,
            Err(error @ storage::Error::Corrupt { .. }) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let item = match Item::new(record, self.names) {
            Ok(item) => item,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let head = item.head;
        if (head.kind, head.state, head.etag) != (kind, state, etag) {
            return Ok(Err(format!("leads to a {:?} {:?} with etag {}", head.state, head.kind, head.etag)));
        }
        let tally = &mut self.tallies.entry(head.collection).or_default()[kind];
        match state {
            RecordState::Stored => tally.add_item(record.len()),
            RecordState::Tombstone => tally.add_tombstone(record.len()),
        }
        let Some(collection) = self.collections.get(&head.collection) else {
            return Ok(Err(format!("is in collection {}, which does not exist", head.collection)));
        };
        let tree = match state {
            RecordState::Stored => collection.items(self.tx, kind)?,
            RecordState::Tombstone => collection.tombstones(self.tx, kind)?,
        };
        let found = match tree {
            Some(tree) => tree.get(self.tx, etag)?,
            None => None,
        };
        if found != Some(location) {
            return Ok(Err(format!("collection '{}' does not have it", collection.name)));
        }
        let id = item.id();
        if (kind.row().check_id)(id).is_err() {
            return Ok(Err("the id is empty, or longer than an id may be".to_owned()));
        }
        if kind != ItemKind::Revision && !self.is_vector_good(&item) {
            return Ok(Err(format!("the change vector of '{id}' is not in stored form")));
        }
        let key = kind.key(id);
        if state == RecordState::Tombstone {
            return self.tombstone(&head, id, &key, location);
        }
        if self.schema.location_of(self.tx, kind, &key)? != Some(Location(location)) {
            return Ok(Err(format!("the id '{id}' does not lead to it")));
        }
        let due = kind.due_times(item.stored_metadata());
        for (of, time) in DueKind::ALL.into_iter().filter_map(|of| Some((of, due.get(of)?))) {
            self.due_count += 1;
            if !self.schema.due.contains(self.tx, &due::entry(of, time, &key))? {
                return Ok(Err(format!("the tree of due times has not '{}' of '{id}'", of.property())));
            }
        }
        match self.check_constraints(&item, &collection.name, &key)? {
            Ok(count) => self.entry_count += count,
            Err(problem) => return Ok(Err(problem)),
        }
        let attachments = match kind {
            ItemKind::Document => check_document(self.schema, self.names, self.tx, &item, &key)?,
            ItemKind::Attachment => check_attachment(self.schema, self.tx, &item, &mut self.content_uses)?,
            _ => Ok(()),
        };
        if let Err(problem) = attachments {
            return Ok(Err(problem));
        }
        if let Err(problem) = self.check_counters(&item, &key)? {
            return Ok(Err(problem));
        }
        if kind == ItemKind::Revision {
            let (parts, name) = ((self.schema, self.names, self.tx), &collection.name);
            let uses = (&mut self.bases, &mut self.content_uses);
            return check_revision(parts, &item, name, &mut self.minifier, uses);
        }
        Ok((kind.row().check)(&item, &collection.name, &mut self.minifier))
    }

    /// A document names its counters, and each counter has its document. Outer error: storage. Inner error: a broken rule.
    fn check_counters(&self, item: &Item<'_>, key: &[u8]) -> Result<Result<(), String>> {
        let has_counters = |head: &Head| head.flags.has_counters();
        match item.kind() {
            ItemKind::Document => {
                let names = names_in(record::server_metadata(&item.head, item.record));
                if names.is_empty() == has_counters(&item.head) {
                    return Ok(Err(format!(
                        "'{}' has the flag of counters and no names, or names and no flag",
                        item.id()
                    )));
                }
                if names.is_empty() {
                    return Ok(Ok(()));
                }
                let mut named: Vec<Vec<u8>> =
                    names.iter().map(|name| ItemKind::Counter.key(&owned::id_of(item.id(), name))).collect();
                named.sort();
                let found = self.schema.keys_of_document(self.tx, ItemKind::Counter, key, usize::MAX)?;
                match found.into_iter().map(|(key, _)| key).eq(named) {
                    true => Ok(Ok(())),
                    false => Ok(Err(format!("the counters of '{}' are not those that it names", item.id()))),
                }
            }
            ItemKind::Counter => {
                let document = id::lower(item.document_id());
                let head = match self.schema.location_of(self.tx, ItemKind::Document, &document)? {
                    Some(at) => Head::decode(self.schema.records.get(self.tx, at)?).ok(),
                    None => None,
                };
                match head.is_some_and(|head| has_counters(&head) && head.collection == item.head.collection) {
                    true => Ok(Ok(())),
                    false => Ok(Err(format!("the document '{}' of a counter has none", item.document_id()))),
                }
            }
            ItemKind::Attachment | ItemKind::CompareExchange | ItemKind::Revision => Ok(Ok(())),
            #[cfg(test)]
            ItemKind::Note => Ok(Ok(())),
        }
    }

    /// Whether a stored change vector is one, has this write, and could not be left out.
    fn is_vector_good(&self, item: &Item<'_>) -> bool {
        let (head, Some(text)) = (&item.head, item.vector) else { return item.head.vector_size == 0 };
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte) || byte == b' ');
        let own = |vector: ChangeVector<'_>| {
            let is_of = |id: &str| vector.etag_of(id) == head.etag;
            vector.to_string() == text && (is_of(&self.names.database_id) || self.former_ids.iter().any(|id| is_of(id)))
        };
        is_plain && !self.names.is_vector(text, head.etag) && ChangeVector::parse(text).is_ok_and(own)
    }

    fn tombstone(&self, head: &Head, id: &str, key: &[u8], location: u64) -> Result<Result<(), String>> {
        // Those of attachments keep what their contents were, but for the ones of older versions.
        let has_body = head.body_size != 0 && head.kind != ItemKind::Attachment;
        if head.metadata_size != 0 || head.server_size != 0 || has_body {
            return Ok(Err("a tombstone has a body or metadata".to_owned()));
        }
        let tombstone_key = tombstone_key(head.collection, key);
        let by_id = Key::Bytes(self.schema.kinds[head.kind].tombstones_by_key, &tombstone_key);
        if self.schema.records.find(self.tx, by_id)?.map(|(at, _)| at) != Some(Location(location)) {
            return Ok(Err(format!("the id '{id}' does not lead to its tombstone")));
        }
        // An item that is not found as it should be is reported where it is checked.
        let item = match self.schema.location_of(self.tx, head.kind, key)? {
            Some(at) => Head::decode(self.schema.records.get(self.tx, at)?).ok(),
            None => None,
        };
        if item.is_some_and(|item| item.collection == head.collection) {
            return Ok(Err(format!("'{id}' has a tombstone, and is stored in the same collection")));
        }
        Ok(Ok(()))
    }

    /// Each item and tombstone was found by its etag and led back from its key, so it is enough to count.
    fn by_key(&mut self, kind: ItemKind) -> Result<()> {
        let (trees, found) = (&self.schema.kinds[kind], self.found.counts[kind]);
        let keys = [
            (trees.by_key, found.count, kind.name().to_owned()),
            (trees.tombstones_by_key, found.tombstone_count, format!("tombstones of {}", kind.name())),
        ];
        for (tree, expected, what) in keys {
            let mut cursor = tree.cursor(self.tx);
            let mut count = 0;
            while cursor.next()?.is_some() {
                count += 1;
            }
            if count != expected {
                self.problem(format!("{count} ids lead to {expected} {what}"));
            }
        }
        Ok(())
    }

    /// A document has its entry in each constraint of its collection: how many. Outer error: storage. Inner error: a broken rule.
    fn check_constraints(&self, item: &Item<'_>, collection: &str, key: &[u8]) -> Result<Result<u64, String>> {
        let mut count = 0;
        if item.kind() != ItemKind::Document || item.flags().is_of_index() || self.constraints.is_empty() {
            return Ok(Ok(count));
        }
        let Some(tree) = Tree::open(self.tx, CONSTRAINTS)? else { return Ok(Ok(count)) };
        for prepared in &self.constraints {
            if !id::is_same(&prepared.constraint.collection, collection) {
                continue;
            }
            let Some(entry) = prepared.entry(item.body()) else { continue };
            count += 1;
            if tree.get(self.tx, &entry)? != Some(key) {
                let name = &prepared.constraint.name;
                return Ok(Err(format!("the constraint '{name}' does not lead to '{}'", item.id())));
            }
        }
        Ok(Ok(count))
    }

    /// Each document has its entries, so it is enough to count.
    fn constraints(&mut self) -> Result<()> {
        let Some(tree) = Tree::open(self.tx, CONSTRAINTS)? else { return Ok(()) };
        let (mut cursor, mut count) = (tree.cursor(self.tx), 0);
        while cursor.next()?.is_some() {
            count += 1;
        }
        if count != self.entry_count {
            self.problem(format!("constraints have {count} entries for {} documents", self.entry_count));
        }
        Ok(())
    }

    /// Each due time of an item has its entry, so it is enough to count.
    fn due(&mut self) -> Result<()> {
        let (mut cursor, mut count) = (self.schema.due.cursor(self.tx), 0);
        while cursor.next()?.is_some() {
            count += 1;
        }
        if count != self.due_count {
            self.problem(format!("the tree of due times has {count} entries for {} times", self.due_count));
        }
        Ok(())
    }

    fn collections(&mut self) -> Result<()> {
        let collections = std::mem::take(&mut self.collections);
        // Each leads back from its name, which is checked below, so it is enough to count.
        let mut names = self.schema.collection_names.cursor(self.tx);
        let mut count = 0;
        while names.next()?.is_some() {
            count += 1;
        }
        let named = collections.len() - usize::from(collections.contains_key(&NO_COLLECTION));
        if count != named {
            self.problem(format!("{count} names lead to {named} collections"));
        }
        for collection in collections.values() {
            let tally = self.tallies.remove(&collection.number).unwrap_or_default();
            for kind in ItemKind::all() {
                self.counts(collection, kind, tally[kind])?;
            }
            if collection.number == NO_COLLECTION {
                if !collection.name.is_empty() || collection.counts[ItemKind::Document] != ItemCounts::default() {
                    self.problem("the collection of items that have none has a name, or documents".to_owned());
                }
                continue;
            }
            let named = self.schema.collection_names.get(self.tx, &id::lower(&collection.name))?;
            if named != Some(&collection.number.to_be_bytes()[..]) {
                self.problem(format!("the name '{}' does not lead to its collection", collection.name));
            }
        }
        Ok(())
    }

    /// The counts of a kind in a collection, and how many etags its trees have.
    fn counts(&mut self, collection: &Collection, kind: ItemKind, found: ItemCounts) -> Result<()> {
        let (stored, name) = (collection.counts[kind], &collection.name);
        if stored != found {
            self.problem(format!("collection '{name}' counts {stored:?} of {}, but has {found:?}", kind.name()));
        }
        let trees = [
            (collection.items(self.tx, kind)?, found.count),
            (collection.tombstones(self.tx, kind)?, found.tombstone_count),
        ];
        for (tree, expected) in trees.into_iter().filter_map(|(tree, expected)| Some((tree?, expected))) {
            let mut cursor = tree.cursor(self.tx);
            let mut count = 0;
            while cursor.next()?.is_some() {
                count += 1;
            }
            if count != expected {
                self.problem(format!("a tree of collection '{name}' has {count} in place of {expected}"));
            }
        }
        Ok(())
    }

    /// Identities, and what the store knows of itself.
    fn state(&mut self) -> Result<()> {
        let mut identities = self.schema.identities.cursor(self.tx);
        let mut count = 0;
        while let Some((key, value)) = identities.next()? {
            count += 1;
            let name = String::from_utf8_lossy(key);
            if !name.ends_with('|') || id::lower(&name) != key || value_from(value).is_err() {
                self.problem(format!("the identity '{}' is not in stored form", name.escape_debug()));
            }
        }
        match self.schema.identity_count(self.tx) {
            Ok(kept) if kept == count => {}
            kept => self.problem(format!("identities are counted as {kept:?}, but there are {count}")),
        }
        if self.schema.state.get(self.tx, DATABASE_ID)?.is_none_or(|id| id.len() != 16) {
            self.problem("the database id has not 16 bytes".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::items::schema::tombstone_key;
    use crate::*;
    use storage::{Environment, Options};

    #[test]
    fn planted_damage_is_found() {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let store = DocumentStore::open(environment, StoreOptions::default()).unwrap();
        let mut batch = Batch::new();
        for id in ["users/1", "users/2", "users/3"] {
            batch.put(id, br#"{"N":1,"@metadata":{"@collection":"Users"}}"#, Expected::Any).unwrap();
        }
        batch.delete("users/3", Expected::Any).unwrap();
        store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
        assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
        let schema = store.schema;
        let problems = |damage: &(dyn Fn(&mut storage::WriteTransaction<'_>) -> storage::Result<()> + Sync)| {
            store.environment().write(|tx| damage(tx)).unwrap();
            store.read().verify().unwrap().problems
        };
        let found = problems(&|tx| schema.documents().by_key.delete(tx, b"users/1").map(drop));
        assert_eq!(found, ["etag 1: the id 'users/1' does not lead to it", "1 ids lead to 2 documents"]);
        let found = problems(&|tx| schema.documents().by_etag.delete(tx, 1).map(drop));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("counts") && found[1].contains("a tree"), "{found:?}");
        let found = problems(&|tx| {
            let key = tombstone_key(1, b"users/3");
            schema.documents().tombstones_by_key.delete(tx, &key).map(drop)
        });
        assert!(found.iter().any(|problem| problem.contains("'users/3' does not lead to its tombstone")), "{found:?}");
        assert!(found.iter().any(|problem| problem == "0 ids lead to 1 tombstones of documents"), "{found:?}");
        let found = problems(&|tx| schema.state.put(tx, crate::items::schema::LAST_ETAG, &1u64.to_be_bytes()));
        assert!(found.iter().any(|problem| problem == "etag 2 is above the last etag 1"), "{found:?}");
    }
}
