//! Handling what is due, and finding what will be.

use super::entries::{entry, parts};
use super::times::{DueKind, without};
use crate::items::change::Parts;
use crate::items::found::{CurrentItem, Existing};
use crate::items::kinds::ItemKind;
use crate::items::record::{self, Head};
use crate::limits::DUE_SIZE_AT_ONCE;
use crate::{Date, Error, Flags, Result, Snapshot, Writing};

/// A document with its due time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDocument {
    /// When it is due.
    pub time: Date,
    /// Its id, lower-cased.
    pub id: String,
}

impl Writing<'_, '_> {
    /// Handles documents that are due at a moment, the ones that have been due longest first; gives how many.
    ///
    /// A document that names a time of another kind keeps that. Fewer than `count_max` are handled if their sizes reach
    /// [`DUE_SIZE_AT_ONCE`], and none only if none is due.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn run_due(&mut self, kind: DueKind, until: Date, count_max: usize) -> Result<u64> {
        let mut keys = Vec::new();
        {
            let mut cursor = self.store.schema.due.cursor(&*self.tx);
            let mut found = cursor.seek(&entry(kind, Date::default(), b""))?;
            while let Some((entry, _)) = found.filter(|_| keys.len() < count_max) {
                let (of, time, key) = parts(entry)?;
                if of != kind || time > until {
                    break;
                }
                keys.push(key.to_vec());
                found = cursor.next()?;
            }
        }
        let (mut count, mut size) = (0, 0);
        for key in keys {
            let of = if kind == DueKind::ValueExpiration { ItemKind::CompareExchange } else { ItemKind::Document };
            let document = self.find_item(of, &key)?;
            let document = document.ok_or(Error::Corrupt { rule: "a due time leads to its item" })?;
            size += document.size;
            match kind {
                DueKind::Expiration => {
                    self.delete_found(CurrentItem { key, document: Some(document), tombstone: None })?;
                }
                DueKind::Refresh | DueKind::Archival => self.rewrite(kind, key, document)?,
                DueKind::ValueExpiration => _ = self.delete_value(&document, &key)?,
            }
            count += 1;
            if size >= DUE_SIZE_AT_ONCE {
                break;
            }
        }
        Ok(count)
    }

    /// Writes a document again, without the property of a kind.
    fn rewrite(&mut self, kind: DueKind, key: Vec<u8>, document: Existing) -> Result<()> {
        let revise = self.decide_rewrite(&document, false)?;
        self.revise_old(&revise, Some(&document), &key)?;
        let record = self.store.schema.records.get(&*self.tx, document.location)?;
        let head = document.head;
        let part = |from: usize, to: usize| record.get(from..to).unwrap_or_default();
        let id = record::id(&head, record)?.to_owned();
        let server_metadata = record::server_metadata(&head, record).to_vec();
        let mut content = without(part(head.metadata_at(), head.body_at()), kind);
        let metadata_size = content.len() as u32;
        content.extend_from_slice(part(head.body_at(), record.len()));
        let etag = self.next_etag()?;
        let vector = self.vector_over(Some(&document), etag)?;
        let flags = match kind {
            DueKind::Archival => head.flags.with(Flags::ARCHIVED),
            DueKind::Expiration | DueKind::Refresh | DueKind::ValueExpiration => head.flags,
        };
        let flags = if revise.has_revisions { flags.with(Flags::HAS_REVISIONS) } else { flags };
        let place = self.collection_by_number(head.collection)?;
        let head = Head { etag, last_modified: self.now, flags, metadata_size, ..head };
        let vector = vector.as_deref().unwrap_or_default();
        let parts = Parts { id: &id, vector, server_metadata: &server_metadata, content: &content };
        self.store_item(place, head, parts, &key, Some(&document), None)?;
        self.revise_written(&revise, &key)?;
        self.applied(etag, CurrentItem { key, document: None, tombstone: None });
        Ok(())
    }
}

impl Snapshot<'_> {
    /// When the next document is due, if any is.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn next_due(&self, kind: DueKind) -> Result<Option<Date>> {
        Ok(self.due(kind, 1)?.first().map(|due| due.time))
    }

    /// The documents that are due next, by time.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn due(&self, kind: DueKind, count_max: usize) -> Result<Vec<DueDocument>> {
        let (schema, _, tx) = self.parts();
        let mut due = Vec::new();
        let mut cursor = schema.due.cursor(tx);
        let mut found = cursor.seek(&entry(kind, Date::default(), b""))?;
        while let Some((entry, _)) = found.filter(|_| due.len() < count_max) {
            let (of, time, key) = parts(entry)?;
            if of != kind {
                break;
            }
            due.push(DueDocument { time, id: String::from_utf8_lossy(key).into_owned() });
            found = cursor.next()?;
        }
        Ok(due)
    }
}

#[cfg(test)]
mod tests {
    use storage::{Environment, Options, Tree};

    use crate::due::{DueKind, DueTimes, change_entries};
    use crate::*;

    fn open(environment: Environment) -> DocumentStore {
        DocumentStore::open(environment, StoreOptions::default()).unwrap()
    }

    fn store() -> DocumentStore {
        open(Environment::in_memory(Options::default()).unwrap())
    }

    fn put(store: &DocumentStore, id: &str, metadata: &str) {
        let mut batch = Batch::new();
        let document = format!(r#"{{"N":1,"@metadata":{{"@collection":"Users",{metadata}}}}}"#);
        batch.put(id, document.as_bytes(), Expected::Any).unwrap();
        store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
    }

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    fn run(store: &DocumentStore, kind: DueKind, until: &str, count_max: usize) -> u64 {
        let write = Write::Due { kind, until: date(until), count_max };
        let mut log = Vec::new();
        write.encode(&mut log).unwrap();
        store.apply(&Write::decode(&log).unwrap(), store.stamp()).unwrap().answer.count().unwrap()
    }

    #[track_caller]
    fn check_due(store: &DocumentStore, kind: DueKind, expected: &[&str]) {
        let due = store.read().due(kind, 100).unwrap();
        assert_eq!(due.iter().map(|due| due.id.as_str()).collect::<Vec<_>>(), expected, "{kind:?}");
        assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
    }

    #[test]
    fn the_tree_follows_puts_and_deletions() {
        let store = store();
        put(&store, "Users/1", r#""@expires":"2030-01-03T00:00:00Z","@refresh":"2030-01-01T00:00:00Z""#);
        put(&store, "users/2", r#""@expires":"2030-01-02T00:00:00Z""#);
        put(&store, "users/3", r#""@archive-at":"2030-01-01T00:00:00Z""#);
        check_due(&store, DueKind::Expiration, &["users/2", "users/1"]);
        check_due(&store, DueKind::Refresh, &["users/1"]);
        check_due(&store, DueKind::Archival, &["users/3"]);
        put(&store, "users/2", r#""@expires":"2030-01-04T00:00:00Z""#);
        put(&store, "USERS/3", r#""X":1"#);
        check_due(&store, DueKind::Expiration, &["users/1", "users/2"]);
        check_due(&store, DueKind::Archival, &[]);
        store.write(Date::now(), |writing| writing.delete("users/1", &Expected::Any)).unwrap();
        check_due(&store, DueKind::Expiration, &["users/2"]);
        check_due(&store, DueKind::Refresh, &[]);
        store.write(Date::now(), |writing| writing.put_server_metadata("users/2", br#""@timeseries":[]"#)).unwrap();
        check_due(&store, DueKind::Expiration, &["users/2"]);
        store.write(Date::now(), |writing| writing.delete_prefixed("users/")).unwrap();
        check_due(&store, DueKind::Expiration, &[]);
    }

    #[test]
    fn expired_documents_leave_tombstones_the_oldest_first() {
        let store = store();
        for day in [3, 1, 2] {
            put(&store, &format!("users/{day}"), &format!(r#""@expires":"2030-01-0{day}T00:00:00Z""#));
        }
        assert_eq!(run(&store, DueKind::Expiration, "2029-12-31T00:00:00Z", 10), 0);
        assert_eq!(run(&store, DueKind::Expiration, "2030-01-02T00:00:00Z", 1), 1);
        check_due(&store, DueKind::Expiration, &["users/2", "users/3"]);
        assert_eq!(run(&store, DueKind::Expiration, "2030-01-02T00:00:00Z", 10), 1);
        assert_eq!(run(&store, DueKind::Refresh, "2040-01-01T00:00:00Z", 10), 0);
        check_due(&store, DueKind::Expiration, &["users/3"]);
        let statistics = store.read().statistics().unwrap();
        assert_eq!((statistics.documents().count, statistics.documents().tombstone_count), (1, 2));
        assert_eq!(statistics.last_etag, 5);
    }

    #[test]
    fn a_refresh_and_an_archival_take_their_property_and_nothing_else() {
        let store = store();
        let times = r#""@archive-at":"2030-01-01T00:00:00Z","@expires":"2040-01-01T00:00:00Z","@refresh":"2030-01-01T00:00:00Z","X":1"#;
        put(&store, "Users/1", times);
        store.write(Date::now(), |writing| writing.put_server_metadata("users/1", br#""@timeseries":[]"#)).unwrap();
        assert_eq!(run(&store, DueKind::Refresh, "2030-01-01T00:00:00Z", 10), 1);
        assert_eq!(run(&store, DueKind::Archival, "2030-01-01T00:00:00Z", 10), 1);
        check_due(&store, DueKind::Expiration, &["users/1"]);
        let snapshot = store.read();
        let document = snapshot.get("users/1").unwrap().unwrap();
        assert_eq!((document.id(), document.etag(), document.flags().is_archived()), ("Users/1", 4, true));
        let metadata = br#""@collection":"Users","@expires":"2040-01-01T00:00:00Z","X":1"#;
        assert_eq!(document.stored_metadata(), metadata);
        assert_eq!(
            (document.body().bytes(), document.server_metadata()),
            (&br#"{"N":1}"#[..], &br#""@timeseries":[]"#[..])
        );
        let mut out = Vec::new();
        document.write_to(&mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains(r#""@archived":true,"@change-vector""#) && text.contains(r#""@flags":"Archived""#),
            "{text}"
        );
        drop(snapshot);
        // It stays archived, whatever a client puts.
        put(&store, "users/1", r#""@archived":false"#);
        let snapshot = store.read();
        let document = snapshot.get("users/1").unwrap().unwrap();
        assert!(document.flags().is_archived() && document.stored_metadata() == br#""@collection":"Users""#);
    }

    #[test]
    fn large_documents_are_handled_a_few_at_once() {
        let store = store();
        for number in 0..3 {
            let mut batch = Batch::new();
            let text = "x".repeat(limits::DUE_SIZE_AT_ONCE * 2 / 3);
            let document = format!(r#"{{"T":"{text}","@metadata":{{"@refresh":"2030-01-01T00:00:00Z"}}}}"#);
            batch.put(&format!("large/{number}"), document.as_bytes(), Expected::Any).unwrap();
            store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
        }
        assert_eq!(run(&store, DueKind::Refresh, "2030-01-01T00:00:00Z", 10), 2);
        assert_eq!(run(&store, DueKind::Refresh, "2030-01-01T00:00:00Z", 10), 1);
        assert_eq!(run(&store, DueKind::Refresh, "2030-01-01T00:00:00Z", 10), 0);
    }

    #[test]
    fn documents_of_the_former_version_get_their_entries_when_they_are_opened() {
        let store = store();
        put(&store, "users/1", r#""@expires":"2030-01-01T00:00:00Z""#);
        put(&store, "users/2", r#""X":1"#);
        put(&store, "users/3", r#""@refresh":"2030-01-01T00:00:00Z","@expires":"2029-01-01T00:00:00Z""#);
        let environment = store.into_environment();
        let former = |environment: &Environment, entries: &[(&[u8], u64)]| {
            let state = Tree::open(&environment.read(), b"state").unwrap().unwrap();
            environment
                .write(|tx| {
                    Tree::remove(tx, b"due")?;
                    entries.iter().try_for_each(|(name, value)| state.put(tx, name, &value.to_be_bytes()))
                })
                .unwrap();
        };
        former(&environment, &[(b"version", 2)]);
        let store = open(environment);
        check_due(&store, DueKind::Expiration, &["users/3", "users/1"]);
        check_due(&store, DueKind::Refresh, &["users/3"]);
        // A crash left the first document behind.
        let environment = store.into_environment();
        former(&environment, &[(b"due-built", 1)]);
        environment.write(|tx| Tree::open_or_create(tx, b"due").map(drop)).unwrap();
        let store = open(environment);
        let due = store.read().due(DueKind::Expiration, 10).unwrap();
        assert_eq!(due.len(), 1, "it goes on after the etag that is noted");
        let environment = store.into_environment();
        assert!(
            Tree::open(&environment.read(), b"state")
                .unwrap()
                .unwrap()
                .get(&environment.read(), b"due-built")
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn a_check_finds_entries_that_lack_and_entries_too_many() {
        let store = store();
        put(&store, "users/1", r#""@expires":"2030-01-01T00:00:00Z""#);
        let (none, times) = (DueTimes::NONE, DueTimes::of(br#""@expires":"2030-01-01T00:00:00Z""#));
        let change = |key: &[u8], before, after| {
            store.environment().write(|tx| change_entries(store.schema.due, tx, key, before, after)).unwrap();
            store.read().verify().unwrap().problems
        };
        assert_eq!(change(b"users/2", none, times), ["the tree of due times has 2 entries for 1 times"]);
        let problems = change(b"users/1", times, none);
        assert_eq!(problems, ["etag 1: the tree of due times has not '@expires' of 'users/1'"]);
    }

    #[test]
    fn a_copy_has_the_tree() {
        let store = store();
        put(&store, "users/1", r#""@expires":"2030-01-01T00:00:00Z""#);
        let target = Environment::in_memory(Options::default()).unwrap();
        store.copy_into(&target, |_| true).unwrap();
        check_due(&open(target), DueKind::Expiration, &["users/1"]);
    }
}
