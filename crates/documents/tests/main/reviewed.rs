//! What reviews of the document store found, each as the case that showed it.

use rookery_documents::*;
use storage::{Environment, FixedTree, Location, Options, Records, Tree, WriteTransaction};

fn store() -> DocumentStore {
    open(Environment::in_memory(Options::default()).unwrap()).unwrap()
}

fn open(environment: Environment) -> Result<DocumentStore> {
    DocumentStore::open(environment, StoreOptions::default())
}

fn put(store: &DocumentStore, id: &str, json: &str) -> Result<Outcome> {
    let mut batch = Batch::new();
    batch.put(id, json.as_bytes(), Expected::Any)?;
    store.write(Date::now(), |writing| writing.run(&batch))
}

const USER: &str = r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#;

/// Changes what is stored behind the store's back.
fn damage(store: &DocumentStore, change: impl FnOnce(&mut WriteTransaction<'_>) -> storage::Result<()> + Send) {
    store.environment().write(change).unwrap();
}

fn tree(tx: &mut WriteTransaction<'_>, name: &str) -> Tree {
    Tree::open(tx, name.as_bytes()).unwrap().expect("the tree is there")
}

fn fixed_tree(tx: &mut WriteTransaction<'_>, name: &str) -> FixedTree {
    FixedTree::open(tx, name.as_bytes()).unwrap().expect("the tree is there")
}

/// Rewrites the record that a tree of etags leads to, where it is.
fn rewrite(tx: &mut WriteTransaction<'_>, by_etag: &str, etag: u64, change: impl FnOnce(&mut Vec<u8>)) {
    let location = Location(fixed_tree(tx, by_etag).get(tx, etag).unwrap().expect("there is such an etag"));
    let records = Records::open(tx, b"records").unwrap().unwrap();
    let mut record = records.get(tx, location).unwrap().to_vec();
    change(&mut record);
    assert_eq!(records.update(tx, location, &[&record]).unwrap(), location);
}

/// Puts text in the place of text of the same length in the first document.
fn replace(tx: &mut WriteTransaction<'_>, from: &str, to: &str) {
    rewrite(tx, "documents/by-etag", 1, |record| {
        let at = record.windows(from.len()).position(|text| text == from.as_bytes()).expect("it has that text");
        record[at..at + from.len()].copy_from_slice(to.as_bytes());
    });
}

/// The id of such a hi-lo's document ends as one that the server completes: each range was noted under another id, and the
/// next caller was given the same numbers again.
#[test]
fn a_hilo_whose_tag_asks_for_completion_gives_no_number_twice() {
    let store = store();
    for tag in ["users/", "users|"] {
        let next = || {
            let request = HiLoRequest { tag: tag.to_owned(), ..HiLoRequest::default() };
            store.write(Date::now(), |writing| writing.next_hilo(&request)).unwrap()
        };
        let (first, second) = (next(), next());
        assert!(second.low > first.high, "{tag}: {first:?}, then {second:?}");
        assert!(store.read().get(&format!("Raven/Hilo/{tag}")).unwrap().is_some());
    }
    assert_eq!(store.read().identities().unwrap(), []);
}

/// Each entry was compared with all others: a vector of a few megabytes kept a processor for hours.
#[test]
fn a_change_vector_of_many_databases_is_read_and_compared_quickly() {
    const ENTRIES: u64 = 200_000;
    // Not in the order of databases.
    let text = |etag: u64| {
        let entry = |n: u64| format!("A:{}-{}", etag + n % 3, n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (0..ENTRIES).map(entry).collect::<Vec<_>>().join(", ")
    };
    let (old, new) = (text(1), text(2));
    let start = std::time::Instant::now();
    let (old, new) = (ChangeVector::parse(&old).unwrap(), ChangeVector::parse(&new).unwrap());
    assert_eq!((new.compare(&old), old.compare(&new)), (Order::Newer, Order::Older));
    let mut merged = old.clone();
    merged.merge(&new);
    assert_eq!(merged.compare(&new), Order::Equal);
    // To look for each entry among all others would be 40 billion comparisons at each step, which take minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_database_that_comes_twice_in_a_change_vector_counts_once_with_its_highest_etag() {
    let vector = |text| ChangeVector::parse(text).unwrap();
    assert_eq!(vector("B:3-y, A:1-x, C:9-x, A:4-x").to_string(), "A:9-x, B:3-y");
    let mut merged = vector("");
    merged.merge(&vector("B:3-y, A:1-x"));
    merged.merge(&vector("C:2-z, A:5-x"));
    assert_eq!(merged.to_string(), "A:5-x, B:3-y, C:2-z");
    merged.raise("D", 7, "w");
    merged.raise("D", 6, "y");
    merged.raise("A", 1, "x");
    assert_eq!(merged.to_string(), "A:5-x, B:6-y, C:2-z, D:7-w");
    assert_eq!((merged.etag_of("w"), merged.etag_of("z"), merged.etag_of("none")), (7, 2, 0));
    assert_eq!(vector("A:1-x").compare(&vector("A:1-x, B:0-y")), Order::Equal);
    assert_eq!(vector("A:1-x, B:2-y").compare(&vector("A:1-x, C:1-z")), Order::Conflict);
}

/// Numbers from the disk were added to without a look: a panic in every request for statistics, and in the writer.
#[test]
fn numbers_that_are_stored_at_their_end_are_damage_and_no_panic() {
    // One kind, documents, whose four numbers are the largest there are; then the name.
    let row = [&[1, 1][..], &[0xff; 32], b"Users"].concat();
    let in_row = store();
    put(&in_row, "users/1", USER).unwrap();
    // So that there is a tree of tombstones.
    put(&in_row, "users/0", USER).unwrap();
    in_row.write(Date::now(), |writing| writing.delete("users/0", &Expected::Any)).unwrap();
    damage(&in_row, |tx| tree(tx, "collections").put(tx, &1u32.to_be_bytes(), &row));
    let snapshot = in_row.read();
    assert_eq!(snapshot.collections().unwrap().len(), 1);
    assert_eq!(snapshot.statistics().unwrap().documents().count, u64::MAX);
    assert!(snapshot.verify().unwrap().problem_count > 0);
    put(&in_row, "users/2", USER).unwrap();
    in_row.write(Date::now(), |writing| writing.delete("users/2", &Expected::Any)).unwrap();

    let in_state = store();
    damage(&in_state, |tx| tree(tx, "state").put(tx, b"last-etag", &u64::MAX.to_be_bytes()));
    let refused = put(&in_state, "users/1", USER);
    assert!(matches!(refused, Err(Error::Corrupt { .. })), "{refused:?}");

    let in_identities = store();
    damage(&in_identities, |tx| tree(tx, "state").put(tx, b"identity-count", &u64::MAX.to_be_bytes()));
    let refused = in_identities.write(Date::now(), |writing| writing.next_identity("users|"));
    assert!(matches!(refused, Err(Error::Corrupt { .. })), "{refused:?}");

    let in_number = store();
    damage(&in_number, |tx| tree(tx, "collections").put(tx, &u32::MAX.to_be_bytes(), &row));
    let refused = put(&in_number, "users/1", USER);
    assert!(matches!(refused, Err(Error::TooManyCollections { .. })), "{refused:?}");
}

/// It was taken for a new environment: the database had another id, and etags that clients know were given out again.
#[test]
fn a_store_that_lost_its_state_is_not_begun_anew() {
    let store = store();
    put(&store, "users/1", USER).unwrap();
    damage(&store, |tx| Tree::remove(tx, b"state").map(drop));
    let opened = open(store.into_environment());
    assert!(matches!(opened, Err(Error::Corrupt { .. })), "{opened:?}");
}

/// It was called damage, which asks for a backup where a newer program is what it takes.
#[test]
fn a_store_of_a_newer_format_is_refused_by_name() {
    let store = store();
    damage(&store, |tx| tree(tx, "state").put(tx, b"version", &7u64.to_be_bytes()));
    let message = open(store.into_environment()).unwrap_err().to_string();
    assert!(message.contains("version 7") && !message.contains("damaged"), "{message}");
}

#[test]
fn a_store_of_an_older_format_is_refused_with_the_way_on() {
    let store = store();
    damage(&store, |tx| tree(tx, "state").put(tx, b"version", &1u64.to_be_bytes()));
    let message = open(store.into_environment()).unwrap_err().to_string();
    assert!(message.contains("version 1") && message.contains("rookery dump"), "{message}");
}

/// A compaction put the copy in the place of what it was made from, without the documents that an index had lost.
#[test]
fn a_copy_that_would_lose_a_document_is_not_made() {
    for lost in ["documents/by-etag", "documents/tombstones/by-etag"] {
        let store = store();
        for id in ["users/1", "users/2", "users/3"] {
            put(&store, id, USER).unwrap();
        }
        store.write(Date::now(), |writing| writing.delete("users/3", &Expected::Any)).unwrap();
        let etag = if lost == "documents/by-etag" { 1 } else { 4 };
        damage(&store, |tx| {
            assert!(fixed_tree(tx, lost).delete(tx, etag)?);
            Ok(())
        });
        let target = Environment::in_memory(Options::default()).unwrap();
        let copied = store.copy_into(&target, |_| true);
        assert!(matches!(copied, Err(Error::Corrupt { .. })), "{lost}: {copied:?}");
    }
}

/// What a batch holds in memory bounds the queue; names of collections are held twice besides the text that has them.
#[test]
fn a_batch_counts_the_names_of_its_collections() {
    let mut batch = Batch::new();
    for number in 0..100 {
        let document = format!(r#"{{"@metadata":{{"@collection":"{number:0500}"}}}}"#);
        batch.put("x", document.as_bytes(), Expected::Any).unwrap();
    }
    assert!(batch.size() > 3 * 100 * 500, "{}", batch.size());
}

/// Each of these was no problem for a check.
#[test]
fn a_check_finds_damage_of_every_kind() {
    const DOCUMENTS: &str = "documents/by-etag";
    const TOMBSTONES: &str = "documents/tombstones/by-etag";
    /// Gives the first document a change vector that is stored.
    fn vector(tx: &mut WriteTransaction<'_>, vector: &str) {
        rewrite(tx, DOCUMENTS, 1, |record| {
            let at = 44 + usize::from(record[24]);
            record[26] = vector.len() as u8;
            record.splice(at..at, vector.bytes());
        });
    }
    type Damage = fn(&mut WriteTransaction<'_>);
    let damages: [(&str, Damage); 19] = [
        ("identities are counted", |tx| tree(tx, "state").put(tx, b"identity-count", &5u64.to_be_bytes()).unwrap()),
        ("the identity 'Users|'", |tx| tree(tx, "identities").put(tx, b"Users|", &[0; 8]).unwrap()),
        ("the identity 'users'", |tx| tree(tx, "identities").put(tx, b"users", &[0; 8]).unwrap()),
        ("the identity 'x|'", |tx| tree(tx, "identities").put(tx, b"x|", &[0; 7]).unwrap()),
        ("the database id", |tx| tree(tx, "state").put(tx, b"database-id", &[0; 15]).unwrap()),
        ("2 names lead to 1 collections", |tx| {
            tree(tx, "collections/names").put(tx, b"ghosts", &9u32.to_be_bytes()).unwrap()
        }),
        ("the parts of 'users/1'", |tx| replace(tx, "Metadata", "metadata")),
        ("the parts of 'users/1'", |tx| replace(tx, r#""A":1,"B":2"#, r#""B":1,"A":2"#)),
        ("the parts of 'users/1'", |tx| replace(tx, r#""Xid""#, r#""@id""#)),
        ("'users/1' names the collection '@empty'", |tx| replace(tx, r#""@collection":"#, r#""@kollection":"#)),
        ("'users/1' names the collection 'Dogs!'", |tx| replace(tx, r#":"Users","#, r#":"Dogs!","#)),
        ("the change vector of 'users/1'", |tx| vector(tx, "A:7-\"x")),
        ("the change vector of 'users/1'", |tx| vector(tx, "B:7-x, A:9-x")),
        ("the change vector of 'users/1'", |tx| vector(tx, "A:7-x")),
        ("the id is empty, or longer", |tx| {
            rewrite(tx, DOCUMENTS, 1, |record| {
                // The id becomes the start of the metadata.
                record[28] += record[24];
                record[24] = 0;
            })
        }),
        ("a tombstone has a body or metadata", |tx| {
            rewrite(tx, TOMBSTONES, 4, |record| {
                record[36] = 2;
                record.extend_from_slice(b"{}");
            })
        }),
        ("two items or tombstones have the etag 4", |tx| {
            let location = fixed_tree(tx, DOCUMENTS).get(tx, 1).unwrap().unwrap();
            fixed_tree(tx, DOCUMENTS).put(tx, 4, location).unwrap();
        }),
        ("leads to a record that is not there", |tx| {
            let location = fixed_tree(tx, DOCUMENTS).get(tx, 1).unwrap().unwrap();
            fixed_tree(tx, DOCUMENTS).put(tx, 1, location | 0xf0).unwrap();
        }),
        ("etag 0 ", |tx| {
            let location = fixed_tree(tx, DOCUMENTS).get(tx, 1).unwrap().unwrap();
            fixed_tree(tx, DOCUMENTS).put(tx, 0, location).unwrap();
        }),
    ];
    for (at, (expected, change)) in damages.into_iter().enumerate() {
        let store = store();
        let document = r#"{"@Metadata":1,"@metadata":{"@collection":"Users","A":1,"B":2,"Xid":3}}"#;
        put(&store, "users/1", document).unwrap();
        put(&store, "users/2", USER).unwrap();
        put(&store, "users/3", USER).unwrap();
        store.write(Date::now(), |writing| writing.delete("users/3", &Expected::Any)).unwrap();
        store.write(Date::now(), |writing| writing.next_identity("orders|")).unwrap();
        assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
        damage(&store, |tx| {
            change(tx);
            Ok(())
        });
        let found = store.read().verify().map(|found| found.problems);
        let found = found.unwrap_or_else(|error| panic!("{at}: the check of '{expected}' ended: {error}"));
        assert!(found.iter().any(|problem| problem.contains(expected)), "{at}: {expected}: {found:?}");
    }
}

/// It was given the trees of documents, and then passed for a database without any: `rookery compact` of the node's own folder put
/// an empty database in its place, and a start removed a copy of that folder from among the databases.
#[test]
fn an_environment_of_something_else_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let environment = || Environment::open(folder.path(), Options::default()).unwrap();
    environment().write(|tx| Tree::open_or_create(tx, b"system/databases").map(drop)).unwrap();
    let opened = open(environment());
    assert!(matches!(opened, Err(Error::NotDocuments)), "{opened:?}");
    assert_eq!(Tree::open(&environment().read(), b"documents/by-key").unwrap(), None);
}

/// The condition was passed over, and everything below the prefix deleted.
#[test]
fn a_condition_of_a_deletion_by_prefix_is_refused() {
    let store = store();
    put(&store, "users/1", USER).unwrap();
    for vector in [r#""A:9-x""#, r#""""#] {
        let body =
            format!(r#"{{"Commands":[{{"Type":"DELETE","Id":"users/","IdPrefixed":true,"ChangeVector":{vector}}}]}}"#);
        let batch = BulkDocs::parse(body.as_bytes(), true);
        assert!(matches!(batch, Err(Error::BadBatch { .. })), "{vector}: {batch:?}");
    }
    let body = br#"{"Commands":[{"Type":"DELETE","Id":"users/","IdPrefixed":true,"ChangeVector":null}]}"#;
    let BulkDocs::Batch(batch) = BulkDocs::parse(body, true).unwrap() else { panic!("it is a batch") };
    assert_eq!(store.write(Date::now(), |writing| writing.run(&batch)).unwrap().changed_count, 1);
}

/// Puts the same, whatever was there.
struct Same;

impl ScriptRunner for Same {
    type Error = Error;

    fn run(&mut self, _: &PatchScript, _: &str, _: Option<&PatchInput>, _: &mut View<'_>) -> Result<PatchRun> {
        let json = br#"{"Name":"Bob","@metadata":{"@collection":"Users"}}"#.to_vec();
        Ok(PatchRun { json, ..PatchRun::default() })
    }

    fn hold(&mut self, _: usize) -> Result<()> {
        Ok(())
    }
}

/// Indexes and hi-lo make such ids. The patch was told to be done, of a document that it left alone beside a new one.
#[test]
fn a_patch_of_a_document_whose_id_asks_for_completion_changes_that_one() {
    let store = store();
    for (number, id) in ["Totals/1/", "totals|"].into_iter().enumerate() {
        let mut batch = Batch::of_index();
        batch.put(id, USER.as_bytes(), Expected::Any).unwrap();
        store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
        let patch = PatchScript { script: String::new(), values: b"{}".to_vec() };
        let request = PatchRequest {
            patch,
            if_missing: None,
            create_if_missing: None,
            returns_document: false,
            skips_mismatch: false,
        };
        let mut batch = Batch::new();
        batch.patch(id, Expected::Any, request).unwrap();
        let batch = batch.resolve(&store.read(), &mut Same).unwrap();
        store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
        let snapshot = store.read();
        let body = snapshot.get(id).unwrap().unwrap().body().bytes().to_vec();
        assert_eq!(String::from_utf8(body).unwrap(), r#"{"Name":"Bob"}"#);
        assert_eq!(snapshot.statistics().unwrap().documents().count, number as u64 + 1);
    }
}

/// The end was taken for a pause where each look was the last one allowed, and so it was for ever.
#[test]
fn documents_by_prefix_end_however_often_they_pause() {
    let store = store();
    for id in ["users/1", "users/2", "vs/1"] {
        put(&store, id, "{}").unwrap();
    }
    let snapshot = store.read();
    for (prefix, expected) in [("users/", 2), ("vs/", 1), ("x", 0), ("", 3)] {
        for look_count in 1..4 {
            let query = PrefixQuery {
                prefix: prefix.to_owned(),
                matches: None,
                exclude: None,
                start_after: None,
                start: 0,
                count_max: u64::MAX,
            };
            let mut documents = snapshot.by_prefix(query).unwrap();
            let (mut found, mut pauses) = (0, 0);
            loop {
                match documents.next_within(look_count) {
                    Some(Ok(Some(_))) => found += 1,
                    Some(Ok(None)) => break,
                    Some(Err(error)) => panic!("{error}"),
                    None => pauses += 1,
                }
                assert!(pauses < 10, "'{prefix}' by {look_count}");
            }
            assert_eq!(found, expected, "'{prefix}' by {look_count}");
        }
    }
}
