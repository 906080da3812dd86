//! Checks every rule of the document format over one snapshot: all ways to a document agree, and all counts are right.

use std::collections::HashMap;

use json::{Minifier, Raw};
use storage::{Key, Location, ReadTransaction};

use crate::collections::Collection;
use crate::content;
use crate::identities::value_from;
use crate::record::{self, Head, Kind};
use crate::schema::{DATABASE_ID, Schema, tombstone_key};
use crate::store::Names;
use crate::{ChangeVector, EMPTY_COLLECTION, Etag, Result, Snapshot, id};

/// Problems that are told in words; more are only counted.
const PROBLEMS_TOLD_MAX: usize = 100;

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Documents that were read.
    pub document_count: u64,
    /// Tombstones that were read.
    pub tombstone_count: u64,
    /// Rules that do not hold.
    pub problem_count: u64,
    /// The first of them.
    pub problems: Vec<String>,
}

/// Counts and sizes of one collection as they are found.
#[derive(Default)]
struct Tally {
    documents: (u64, u64),
    tombstones: (u64, u64),
}

struct Check<'s> {
    schema: &'s Schema,
    names: &'s Names,
    tx: &'s ReadTransaction<'s>,
    collections: HashMap<u32, Collection>,
    tallies: HashMap<u32, Tally>,
    minifier: Minifier,
    found: Verification,
}

impl Snapshot<'_> {
    /// Reads everything and checks every rule.
    ///
    /// # Errors
    ///
    /// A page, the row of a collection or the last etag is damaged, so that the check cannot go on. Other broken rules are in
    /// the answer.
    pub fn verify(&self) -> Result<Verification> {
        let (schema, names, tx) = self.parts();
        let collections = Collection::all(schema, tx)?.into_iter().map(|row| (row.number, row)).collect();
        let mut check = Check {
            schema,
            names,
            tx,
            collections,
            tallies: HashMap::new(),
            minifier: Minifier::new(),
            found: Verification::default(),
        };
        check.by_etag(Kind::Document, schema.last_etag(tx)?)?;
        check.by_etag(Kind::Tombstone, schema.last_etag(tx)?)?;
        check.by_id()?;
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

    fn by_etag(&mut self, kind: Kind, last_etag: Etag) -> Result<()> {
        let tree = if kind == Kind::Document { self.schema.by_etag } else { self.schema.tombstones_by_etag };
        let mut cursor = tree.cursor(self.tx);
        while let Some((etag, location)) = cursor.next()? {
            match kind {
                Kind::Document => self.found.document_count += 1,
                Kind::Tombstone => self.found.tombstone_count += 1,
            }
            if etag > last_etag {
                self.problem(format!("etag {etag} is above the last etag {last_etag}"));
            }
            if etag == 0 {
                self.problem("etag 0 stands for no write".to_owned());
            }
            if kind == Kind::Tombstone && self.schema.by_etag.get(self.tx, etag)?.is_some() {
                self.problem(format!("a document and a tombstone have the etag {etag}"));
            }
            if let Err(problem) = self.record(kind, etag, location)? {
                self.problem(format!("etag {etag}: {problem}"));
            }
        }
        Ok(())
    }

    /// Outer error: storage. Inner error: a broken rule.
    fn record(&mut self, kind: Kind, etag: Etag, location: u64) -> Result<Result<(), String>> {
        let record = match self.schema.records.get(self.tx, Location(location)) {
            Ok(record) => record,
            Err(error @ storage::Error::Corrupt { .. }) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let head = match Head::decode(record) {
            Ok(head) => head,
            Err(error) => return Ok(Err(error.to_string())),
        };
        if head.kind != kind || head.etag != etag {
            return Ok(Err(format!("leads to a {:?} with etag {}", head.kind, head.etag)));
        }
        let tally = self.tallies.entry(head.collection).or_default();
        let (count, size) = if kind == Kind::Document { &mut tally.documents } else { &mut tally.tombstones };
        *count += 1;
        *size += record.len() as u64;
        let Some(collection) = self.collections.get(&head.collection) else {
            return Ok(Err(format!("is in collection {}, which does not exist", head.collection)));
        };
        let tree = match kind {
            Kind::Document => collection.documents(self.tx)?,
            Kind::Tombstone => collection.tombstones(self.tx)?,
        };
        if tree.get(self.tx, etag)? != Some(location) {
            return Ok(Err(format!("collection '{}' does not have it", collection.name)));
        }
        let id = match record::id(&head, record) {
            Ok(id) => id,
            Err(error) => return Ok(Err(error.to_string())),
        };
        if id::check(id).is_err() {
            return Ok(Err("the id is empty, or longer than an id may be".to_owned()));
        }
        if !self.is_vector_good(&head, record) {
            return Ok(Err(format!("the change vector of '{id}' is not in stored form")));
        }
        let key = id::lower(id);
        if kind == Kind::Tombstone {
            return self.tombstone(&head, id, &key, location);
        }
        let name = collection.name.clone();
        if self.schema.location_of(self.tx, &key)? != Some(Location(location)) {
            return Ok(Err(format!("the id '{id}' does not lead to it")));
        }
        Ok(self.content(id, &name, &head, record))
    }

    /// Put together as a client would send it and taken apart again, a document must be what it is.
    fn content(&mut self, id: &str, collection: &str, head: &Head, record: &[u8]) -> Result<(), String> {
        let body = record.get(head.body_at()..).unwrap_or_default();
        let metadata = record.get(head.metadata_at()..head.body_at()).unwrap_or_default();
        let text = match body.strip_suffix(b"}") {
            Some(members) if !metadata.is_empty() => {
                let comma: &[u8] = if members.len() > 1 { b"," } else { b"" };
                [members, comma, b"\"@metadata\":{", metadata, b"}}"].concat()
            }
            _ => body.to_vec(),
        };
        let mut parts = Vec::new();
        let named = match self.minifier.minify(&text) {
            Ok(stored) if stored.bytes() == text => content::split(&mut parts, Raw::new(&text)),
            Ok(_) => return Err(format!("the parts of '{id}' are not in stored form")),
            Err(error) => return Err(format!("the parts of '{id}': {error}")),
        };
        match named {
            Err(error) => Err(format!("the parts of '{id}': {error}")),
            Ok(_) if record.get(head.metadata_at()..) != Some(&parts) => {
                Err(format!("the parts of '{id}' are not in stored form"))
            }
            Ok((_, named)) => {
                let named = named.as_deref().unwrap_or(EMPTY_COLLECTION);
                match id::lower(named) == id::lower(collection) {
                    true => Ok(()),
                    false => Err(format!("'{id}' names the collection '{named}', but is in '{collection}'")),
                }
            }
        }
    }

    /// Whether a stored change vector is one, has this write, and could not be left out.
    fn is_vector_good(&self, head: &Head, record: &[u8]) -> bool {
        let Ok(Some(text)) = record::vector(head, record) else { return head.vector_size == 0 };
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte) || byte == b' ');
        let own = |vector: ChangeVector<'_>| {
            vector.to_string() == text && vector.etag_of(&self.names.database_id) == head.etag
        };
        is_plain && !self.names.is_vector(text, head.etag) && ChangeVector::parse(text).is_ok_and(own)
    }

    fn tombstone(&self, head: &Head, id: &str, key: &[u8], location: u64) -> Result<Result<(), String>> {
        if head.metadata_size != 0 || head.body_size != 0 {
            return Ok(Err("a tombstone has a body or metadata".to_owned()));
        }
        let tombstone_key = tombstone_key(head.collection, key);
        let by_id = Key::Bytes(self.schema.tombstones_by_id, &tombstone_key);
        if self.schema.records.find(self.tx, by_id)?.map(|(at, _)| at) != Some(Location(location)) {
            return Ok(Err(format!("the id '{id}' does not lead to its tombstone")));
        }
        // A document that is not found as it should be was told already.
        let document = match self.schema.location_of(self.tx, key)? {
            Some(at) => Head::decode(self.schema.records.get(self.tx, at)?).ok(),
            None => None,
        };
        if document.is_some_and(|document| document.collection == head.collection) {
            return Ok(Err(format!("'{id}' has a tombstone, and a document in the same collection")));
        }
        Ok(Ok(()))
    }

    /// Each document and tombstone was found by its etag and led back from its id, so it is enough to count.
    fn by_id(&mut self) -> Result<()> {
        let ids = [
            (self.schema.by_id, self.found.document_count, "documents"),
            (self.schema.tombstones_by_id, self.found.tombstone_count, "tombstones"),
        ];
        for (tree, expected, what) in ids {
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

    fn collections(&mut self) -> Result<()> {
        let collections = std::mem::take(&mut self.collections);
        // Each leads back from its name, which is checked below, so it is enough to count.
        let mut names = self.schema.collection_names.cursor(self.tx);
        let mut count = 0;
        while names.next()?.is_some() {
            count += 1;
        }
        if count != collections.len() {
            self.problem(format!("{count} names lead to {} collections", collections.len()));
        }
        for collection in collections.values() {
            let tally = self.tallies.remove(&collection.number).unwrap_or_default();
            let kept = (
                (collection.document_count, collection.document_size),
                (collection.tombstone_count, collection.tombstone_size),
            );
            if kept != (tally.documents, tally.tombstones) {
                let found = (tally.documents, tally.tombstones);
                self.problem(format!("collection '{}' counts {kept:?}, but has {found:?}", collection.name));
            }
            let trees = [collection.documents(self.tx)?, collection.tombstones(self.tx)?];
            for (tree, expected) in trees.into_iter().zip([tally.documents.0, tally.tombstones.0]) {
                let mut cursor = tree.cursor(self.tx);
                let mut count = 0;
                while cursor.next()?.is_some() {
                    count += 1;
                }
                if count != expected {
                    self.problem(format!(
                        "a tree of collection '{}' has {count} in place of {expected}",
                        collection.name
                    ));
                }
            }
            let named = self.schema.collection_names.get(self.tx, &id::lower(&collection.name))?;
            if named != Some(&collection.number.to_be_bytes()[..]) {
                self.problem(format!("the name '{}' does not lead to its collection", collection.name));
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
    use crate::schema::tombstone_key;
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
        let found = problems(&|tx| schema.by_id.delete(tx, b"users/1").map(drop));
        assert_eq!(found, ["etag 1: the id 'users/1' does not lead to it", "1 ids lead to 2 documents"]);
        let found = problems(&|tx| schema.by_etag.delete(tx, 1).map(drop));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("counts") && found[1].contains("a tree"), "{found:?}");
        let found = problems(&|tx| {
            let key = tombstone_key(1, b"users/3");
            schema.tombstones_by_id.delete(tx, &key).map(drop)
        });
        assert!(found.iter().any(|problem| problem.contains("'users/3' does not lead to its tombstone")), "{found:?}");
        assert!(found.iter().any(|problem| problem == "0 ids lead to 1 tombstones"), "{found:?}");
        let found = problems(&|tx| schema.state.put(tx, crate::schema::LAST_ETAG, &1u64.to_be_bytes()));
        assert!(found.iter().any(|problem| problem == "etag 2 is above the last etag 1"), "{found:?}");
    }
}
