//! One behaviour of the document store per test, as protocol and clients have it.

use std::path::Path;

use rookery_documents::*;
use storage::{Contents, Environment, Options};

fn store() -> DocumentStore {
    DocumentStore::open(Environment::in_memory(Options::default()).unwrap(), StoreOptions::default()).unwrap()
}

fn now() -> Date {
    Date::parse("2015-01-15T00:41:16.6616631Z").unwrap()
}

fn run(store: &DocumentStore, batch: Batch) -> Result<Outcome> {
    store.write(now(), |writing| writing.run(&batch))
}

fn put(store: &DocumentStore, id: &str, json: &str) -> Result<CommandResult> {
    put_if(store, id, json, None)
}

fn put_if(store: &DocumentStore, id: &str, json: &str, expected: Option<&str>) -> Result<CommandResult> {
    let mut batch = Batch::new();
    batch.put(id, json.as_bytes(), Expected::from_wire(expected))?;
    Ok(run(store, batch)?.results.remove(0))
}

fn delete(store: &DocumentStore, id: &str, expected: Option<&str>) -> Result<bool> {
    store.write(now(), |writing| writing.delete(id, &Expected::from_wire(expected)))
}

/// The body of a `bulk_docs` request that is no cluster-wide transaction.
fn batch_of(body: &str) -> Result<Batch> {
    match BulkDocs::parse(body.as_bytes(), true)? {
        BulkDocs::Batch(batch) => Ok(batch),
        BulkDocs::ClusterWide(transaction) => panic!("{transaction:?}"),
    }
}

fn bulk(store: &DocumentStore, body: &str) -> Result<String> {
    let mut out = Vec::new();
    run(store, batch_of(body)?)?.write(&mut json::Writer::new(&mut out));
    Ok(String::from_utf8(out).unwrap())
}

/// The document on the wire, with the database id as `DB`.
#[track_caller]
fn check_wire(store: &DocumentStore, id: &str, expected: &str) {
    let snapshot = store.read();
    let mut out = Vec::new();
    snapshot.get(id).unwrap().expect("the document is there").write_to(&mut out);
    assert_eq!(String::from_utf8(out).unwrap().replace(store.database_id(), "DB"), expected);
}

fn ids<'t>(documents: impl Iterator<Item = Result<Document<'t>>>) -> Vec<String> {
    documents.map(|document| document.unwrap().id().to_owned()).collect()
}

const USER: &str = r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#;

#[test]
fn a_document_comes_back_with_its_metadata_last() {
    let store = store();
    put(
        &store,
        "users/1",
        r#" {"Name" : "Ann", "N": 12.7500, "@metadata" : {"X": 1, "@collection": "Users", "@id": "no"}} "#,
    )
    .unwrap();
    check_wire(
        &store,
        "USERS/1",
        r#"{"Name":"Ann","N":12.7500,"@metadata":{"@collection":"Users","X":1,"@change-vector":"A:1-DB","@id":"users/1","@last-modified":"2015-01-15T00:41:16.6616631Z"}}"#,
    );
    put(&store, "e", "{}").unwrap();
    check_wire(
        &store,
        "e",
        r#"{"@metadata":{"@change-vector":"A:2-DB","@id":"e","@last-modified":"2015-01-15T00:41:16.6616631Z"}}"#,
    );
    put(&store, "q\"\\é", "{}").unwrap();
    check_wire(
        &store,
        "Q\"\\É",
        r#"{"@metadata":{"@change-vector":"A:3-DB","@id":"q\"\\é","@last-modified":"2015-01-15T00:41:16.6616631Z"}}"#,
    );
    let mut out = Vec::new();
    store.read().get("users/1").unwrap().unwrap().write_metadata_only(&mut out);
    assert!(out.starts_with(br#"{"@metadata":{"@collection":"Users","X":1,"@change-vector":"A:1-"#));
}

#[test]
fn documents_are_found_by_the_etags_that_they_had() {
    let store = store();
    for number in 0..100 {
        put(&store, &format!("users/{number}"), USER).unwrap();
    }
    let etags: Vec<(String, u64)> = store
        .read()
        .after(0)
        .map(|document| document.unwrap())
        .map(|document| (document.id().to_owned(), document.etag()))
        .collect();
    // One is written again, one deleted, one deleted and made anew; the etags are those from before.
    put(&store, "users/5", r#"{"Name":"Bob","@metadata":{"@collection":"Users"}}"#).unwrap();
    delete(&store, "users/6", None).unwrap();
    delete(&store, "users/7", None).unwrap();
    put(&store, "users/7", USER).unwrap();
    let mut asked: Vec<(&str, u64)> = etags.iter().map(|(id, etag)| (id.as_str(), *etag)).collect();
    // Of somebody else, of nobody, and not known.
    asked.extend([
        ("users/8", asked[9].1),
        ("users/8", 9_999),
        ("USERS/8", 0),
        ("users/none", asked[0].1),
        ("users/none", 0),
    ]);
    let snapshot = store.read();
    let found = snapshot.get_written(asked.iter().copied()).unwrap();
    assert_eq!(found.len(), asked.len());
    for ((id, _), found) in asked.iter().zip(&found) {
        let expected = snapshot.get(id).unwrap();
        let what = |document: &Option<Document<'_>>| {
            document.as_ref().map(|document| (document.id().to_owned(), document.etag()))
        };
        assert_eq!(what(found), what(&expected), "{id}");
    }
    assert_eq!(found.iter().filter(|found| found.is_none()).count(), 3);
}

#[test]
fn the_last_spelling_of_an_id_is_shown() {
    let store = store();
    put(&store, "users/1", USER).unwrap();
    put(&store, "Users/1", USER).unwrap();
    assert_eq!(store.read().get("users/1").unwrap().unwrap().id(), "Users/1");
    assert_eq!(store.read().statistics().unwrap().documents().count, 1);
}

#[test]
fn conditions_hold_or_the_words_of_the_reference_are_said() {
    let store = store();
    let vector = |etag: u64| format!("A:{etag}-{}", store.database_id());
    let message = |result: Result<CommandResult>| result.unwrap_err().to_string().replace(store.database_id(), "DB");
    assert!(put_if(&store, "u/1", USER, Some("")).is_ok());
    assert_eq!(
        message(put_if(&store, "u/1", USER, Some(""))),
        "Document u/1 has change vector A:1-DB, but Put was called with expecting new document. Optimistic concurrency violation, transaction will be aborted."
    );
    assert_eq!(
        message(put_if(&store, "u/1", USER, Some("A:9-x"))),
        "Document u/1 has change vector A:1-DB, but Put was called with change vector A:9-x. Optimistic concurrency violation, transaction will be aborted."
    );
    assert_eq!(
        message(put_if(&store, "u/2", USER, Some("A:9-x"))),
        "Document u/2 does not exist, but Put was called with change vector: A:9-x. Optimistic concurrency violation, transaction will be aborted."
    );
    assert!(put_if(&store, "u/1", USER, Some(&vector(1))).is_ok());
    assert!(delete(&store, "u/1", Some(&vector(1))).is_err() && delete(&store, "none", Some("A:1-x")).is_err());
    assert!(delete(&store, "u/1", Some(&vector(2))).unwrap() && !delete(&store, "u/1", None).unwrap());
}

#[test]
fn ids_are_completed() {
    let store = store();
    let id = |result: Result<CommandResult>| match result.unwrap() {
        CommandResult::Put { id, .. } => id,
        other => panic!("{other:?}"),
    };
    put(&store, "x", "{}").unwrap();
    assert_eq!(id(put(&store, "users/", USER)), "users/0000000000000000002-A");
    assert_eq!(id(put(&store, "invoices|", "{}")), "invoices/1");
    put(&store, "Invoices/2", "{}").unwrap();
    assert_eq!(id(put(&store, "INVOICES|", "{}")), "INVOICES/3");
    assert_eq!(store.read().identities().unwrap(), [("invoices|".to_owned(), 3)]);
    assert_eq!(id(put(&store, "", "{}")).len(), 36);
    assert!(put(&store, &"x".repeat(513), "{}").is_err());
}

#[test]
fn a_document_keeps_its_collection() {
    let store = store();
    put(&store, "users/1", USER).unwrap();
    put(&store, "users/1", r#"{"@metadata":{"@collection":"USERS"}}"#).unwrap();
    let error = put(&store, "users/1", r#"{"@metadata":{"@collection":"Dogs"}}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Changing 'users/1' from 'Users' to 'Dogs' via update is not supported. Delete it and recreate the document 'users/1'."
    );
    assert!(put(&store, "users/1", "{}").unwrap_err().to_string().contains("to '@empty'"));
    delete(&store, "users/1", None).unwrap();
    put(&store, "users/1", r#"{"@metadata":{"@collection":"Dogs"}}"#).unwrap();
    let snapshot = store.read();
    let names: Vec<_> = snapshot
        .collections()
        .unwrap()
        .iter()
        .map(|c| (c.name.clone(), c.documents().count, c.documents().tombstone_count))
        .collect();
    assert_eq!(names, [("Dogs".to_owned(), 1, 0), ("Users".to_owned(), 0, 1)]);
    let document = snapshot.get("users/1").unwrap().unwrap();
    assert_eq!(document.collection().as_deref(), Some("Dogs"));
    assert!(
        snapshot.is_in_collection(&document, "dogs").unwrap()
            && !snapshot.is_in_collection(&document, "users").unwrap()
    );
}

#[test]
fn a_batch_sees_its_own_writes_and_is_all_or_nothing() {
    let store = store();
    let answer = bulk(&store, r#"{"Commands":[
        {"Id":"users/10","Document":{"Name":"Kim","@metadata":{"@collection":"Users"}},"ChangeVector":null,"Type":"PUT"},
        {"Type":"PUT","Id":"users/","Document":{"@metadata":{}}},
        {"Type":"DELETE","Id":"Users/10","ChangeVector":null},
        {"Type":"DELETE","Id":"users/none"},
        {"Type":"DELETE","Id":"users/0","IdPrefixed":true},
        {"Type":"BatchTrackChanges","TrackedEntities":{"users/10":""}}]}"#).unwrap();
    assert_eq!(
        answer.replace(store.database_id(), "DB"),
        r#"{"Results":[{"Type":"PUT","@id":"users/10","@collection":"Users","@change-vector":"A:1-DB","@last-modified":"2015-01-15T00:41:16.6616631Z"},{"Type":"PUT","@id":"users/0000000000000000002-A","@collection":"@empty","@change-vector":"A:2-DB","@last-modified":"2015-01-15T00:41:16.6616631Z"},{"Id":"Users/10","Type":"DELETE","Deleted":true,"ChangeVector":null},{"Id":"users/none","Type":"DELETE","Deleted":false},{"Id":"users/0","Type":"DELETE","Deleted":true},{"Type":"BatchTrackChanges"}]}"#
    );
    assert_eq!(store.read().last_etag().unwrap(), 4);
    let failed = r#"{"Commands":[{"Type":"PUT","Id":"a","Document":{}},{"Type":"PUT","Id":"b","Document":{},"ChangeVector":"A:1-x"}]}"#;
    assert!(matches!(bulk(&store, failed), Err(Error::Conflict { .. })));
    assert!(store.read().get("a").unwrap().is_none());
    assert_eq!(store.read().last_etag().unwrap(), 4);
    assert_eq!(bulk(&store, r#"{"Commands":[]}"#).unwrap(), r#"{"Results":[]}"#);
}

#[test]
fn commands_that_are_not_there_yet_are_refused_by_name() {
    let store = store();
    for kind in ["TimeSeries", "TimeSeriesWithIncrements", "TimeSeriesBulkInsert", "TimeSeriesCopy"] {
        let error = bulk(&store, &format!(r#"{{"Commands":[{{"Type":"{kind}","Id":"a"}}]}}"#)).unwrap_err();
        assert!(matches!(error, Error::NotSupported(_)), "{kind}: {error:?}");
        assert!(error.to_string().contains(&format!("does not support the command '{kind}' yet")), "{error}");
    }
    let error = bulk(&store, r#"{"Commands":[{"Type":"FLY","Id":"a"}]}"#).unwrap_err();
    assert_eq!(error.to_string(), "Invalid command type: FLY");
    for body in [
        "[]",
        "{}",
        r#"{"Commands":1}"#,
        r#"{"Commands":[1]}"#,
        r#"{"Commands":[{"Id":"x"}]}"#,
        r#"{"Commands":[{"Type":"PUT","Id":"x"}]}"#,
        "{",
    ] {
        assert!(bulk(&store, body).is_err(), "{body}");
    }
}

#[test]
fn unchanged_documents_can_be_left_alone() {
    let store = store();
    put(&store, "users/1", USER).unwrap();
    let write = |json: &str| {
        let mut batch = Batch::new().skip_unchanged(true);
        batch.put("users/1", json.as_bytes(), Expected::Any).unwrap();
        run(&store, batch).unwrap().changed_count
    };
    assert_eq!((write(USER), write(&format!(" {USER} ")), write(&USER.replace("Ann", "Bob"))), (0, 0, 1));
    assert_eq!(store.read().last_etag().unwrap(), 2);
}

#[test]
fn prefixes_are_read_in_pages_with_wildcards() {
    let store = store();
    for id in ["users/1", "Users/10", "users/2", "users/20", "users", "usersx", "v"] {
        put(&store, id, "{}").unwrap();
    }
    let read = |query: PrefixQuery| ids(store.read().by_prefix(query).unwrap());
    let users = || PrefixQuery { prefix: "USERS/".into(), count_max: 100, ..PrefixQuery::default() };
    assert_eq!(read(users()), ["users/1", "Users/10", "users/2", "users/20"]);
    assert_eq!(read(PrefixQuery { start: 1, count_max: 2, ..users() }), ["Users/10", "users/2"]);
    assert_eq!(read(PrefixQuery { matches: Wildcards::new("1*"), ..users() }), ["users/1", "Users/10"]);
    assert_eq!(read(PrefixQuery { exclude: Wildcards::new("?|x"), ..users() }), ["Users/10", "users/20"]);
    assert_eq!(read(PrefixQuery { start_after: Some("users/10".into()), ..users() }), ["users/2", "users/20"]);
    assert_eq!(read(PrefixQuery { prefix: String::new(), ..users() }).len(), 7);
    assert!(read(PrefixQuery { prefix: "w".into(), ..users() }).is_empty());
}

#[test]
fn changes_are_pulled_by_etag() {
    let store = store();
    for id in ["a", "b", "c"] {
        put(&store, id, USER).unwrap();
    }
    put(&store, "a", USER).unwrap();
    delete(&store, "b", None).unwrap();
    put(&store, "d", "{}").unwrap();
    let snapshot = store.read();
    assert_eq!(ids(snapshot.after(0)), ["c", "a", "d"]);
    assert_eq!(ids(snapshot.after(3)), ["a", "d"]);
    assert_eq!(ids(snapshot.latest()), ["d", "a", "c"]);
    assert_eq!(ids(snapshot.collection_after("users", 0).unwrap()), ["c", "a"]);
    assert_eq!(ids(snapshot.collection_latest("Users").unwrap()), ["a", "c"]);
    assert!(ids(snapshot.collection_after("none", 0).unwrap()).is_empty());
    let mut latest = snapshot.latest();
    assert_eq!((latest.skip_documents(2).unwrap(), ids(latest)), (2, vec!["c".to_owned()]));
    let tombstones: Vec<_> = snapshot
        .deletions(&[ItemKind::Document], None, 0)
        .unwrap()
        .map(|t| t.map(|t| (t.id().to_owned(), t.etag())).unwrap())
        .collect();
    assert_eq!(tombstones, [("b".to_owned(), 5)]);
    assert_eq!(snapshot.deletions(&[ItemKind::Document], Some("Users"), 4).unwrap().count(), 1);
    assert_eq!(snapshot.deletions(&[ItemKind::Document], Some("Users"), 5).unwrap().count(), 0);
    let changes = |after, count_max| {
        let (changes, until) = snapshot.document_changes(after, count_max).unwrap();
        let changes = changes.iter().map(|change| (change.etag, change.id.clone(), change.is_deletion));
        (changes.collect::<Vec<_>>(), until)
    };
    assert_eq!(changes(0, 2), (vec![(3, "c".to_owned(), false), (4, "a".to_owned(), false)], 4));
    assert_eq!(changes(4, 9), (vec![(5, "b".to_owned(), true), (6, "d".to_owned(), false)], 6));
    assert_eq!((changes(6, 9), changes(0, 0)), ((vec![], 6), (vec![], 0)));
    let (all, _) = snapshot.document_changes(0, 9).unwrap();
    let collections: Vec<_> = all.iter().map(|change| change.collection.as_deref()).collect();
    assert_eq!(collections, [Some("Users"), Some("Users"), Some("Users"), None]);
    let statistics = snapshot.statistics().unwrap();
    assert_eq!(
        (
            statistics.last_etag,
            statistics.last_document_etag,
            statistics.documents().count,
            statistics.documents().tombstone_count
        ),
        (6, 6, 3, 1)
    );
    // The snapshot is what it was, whatever is written meanwhile.
    delete(&store, "c", None).unwrap();
    assert!(snapshot.get("c").unwrap().is_some() && store.read().get("c").unwrap().is_none());
}

#[test]
fn tombstones_are_cleaned_up_to_an_etag() {
    let store = store();
    for id in ["a", "b", "c"] {
        put(&store, id, USER).unwrap();
        delete(&store, id, None).unwrap();
    }
    assert_eq!(store.write(now(), |writing| writing.clean_tombstones(4, 100)).unwrap(), 2);
    assert_eq!(store.read().deletions(&[ItemKind::Document], None, 0).unwrap().count(), 1);
    assert_eq!(store.read().collection("users").unwrap().unwrap().documents().tombstone_count, 1);
    assert_eq!(store.write(now(), |writing| writing.clean_tombstones(100, 100)).unwrap(), 1);
    assert_eq!(store.read().collection("users").unwrap().unwrap().documents().tombstone_size, 0);
}

#[test]
fn a_document_that_comes_back_takes_the_tombstone_of_its_collection_away() {
    let store = store();
    let (user, dog) = (USER, r#"{"@metadata":{"@collection":"Dogs"}}"#);
    // What is done to the document, and then the tombstones: of users, of dogs.
    let step = |document: Option<&str>, expected: (usize, usize)| {
        match document {
            Some(document) => drop(put(&store, "a", document).unwrap()),
            None => assert!(delete(&store, "A", None).unwrap()),
        }
        let snapshot = store.read();
        let count = |name| snapshot.deletions(&[ItemKind::Document], Some(name), 0).unwrap().count();
        assert_eq!((count("Users"), count("Dogs")), expected);
        assert_eq!(snapshot.deletions(&[ItemKind::Document], None, 0).unwrap().count(), expected.0 + expected.1);
        assert_eq!(snapshot.statistics().unwrap().documents().tombstone_count as usize, expected.0 + expected.1);
        assert_eq!(snapshot.verify().unwrap().problems, Vec::<String>::new());
    };
    step(Some(user), (0, 0));
    step(None, (1, 0));
    step(Some(user), (0, 0));
    step(None, (1, 0));
    // Who pulls changes of users still has to learn that it is gone from there.
    step(Some(dog), (1, 0));
    step(None, (1, 1));
    step(Some(user), (0, 1));
    step(None, (1, 1));
    step(Some(dog), (1, 0));
    let size = |name| store.read().collection(name).unwrap().unwrap().documents().tombstone_size;
    assert!(size("Users") > 0 && size("Dogs") == 0);
    assert_eq!(store.write(now(), |writing| writing.clean_tombstones(Etag::MAX, 100)).unwrap(), 1);
    put(&store, "b", user).unwrap();
    assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_batch_that_deletes_and_stores_again_leaves_no_tombstone() {
    let store = store();
    put(&store, "a", USER).unwrap();
    let mut batch = Batch::new();
    batch.delete("a", Expected::Any).unwrap();
    batch.put("a", USER.as_bytes(), Expected::Missing).unwrap();
    run(&store, batch).unwrap();
    let snapshot = store.read();
    assert_eq!(
        (ids(snapshot.after(0)), snapshot.deletions(&[ItemKind::Document], None, 0).unwrap().count()),
        (vec!["a".to_owned()], 0)
    );
    assert_eq!(snapshot.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_collection_is_deleted_in_steps() {
    let store = store();
    (0..10).for_each(|n| drop(put(&store, &format!("users/{n}"), USER).unwrap()));
    put(&store, "dogs/1", r#"{"@metadata":{"@collection":"Dogs"}}"#).unwrap();
    let step = |etag| store.write(now(), |writing| writing.delete_collection("USERS", etag, 4)).unwrap();
    assert_eq!((step(9), step(9), step(9), step(9)), (4, 4, 1, 0));
    assert_eq!(ids(store.read().after(0)), ["users/9", "dogs/1"]);
}

#[test]
fn includes_follow_references_once() {
    let store = store();
    put(&store, "c/1", "{}").unwrap();
    put(&store, "p/1", "{}").unwrap();
    put(&store, "o/1", r#"{"Company":"C/1","Lines":[{"P":"p/1"},{"P":"p/2"},{"P":"P/1"}],"N":1,"Self":"o/1"}"#)
        .unwrap();
    let snapshot = store.read();
    let order = snapshot.get("o/1").unwrap().unwrap();
    let included = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|path| IncludePath::new(path)).collect();
        let included = snapshot.includes(&[&order], &paths).unwrap();
        included.iter().map(|document| document.id().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(included(&["Company", "Lines[].P", "Self", "Missing"]), ["c/1", "p/1"]);
    assert_eq!(included(&["N(c/)"]), ["c/1"]);
    assert_eq!(included(&["N[p/{0}]"]), ["p/1"]);
}

#[test]
fn hashes_tell_answers_apart() {
    let store = store();
    put(&store, "a", "{}").unwrap();
    let hash = |missing: bool| {
        let snapshot = store.read();
        let mut hash = ResultsHash::new();
        hash.add(&snapshot.get("a").unwrap().unwrap());
        if missing {
            hash.add_missing();
        }
        hash.finish()
    };
    let before = hash(false);
    assert_eq!((before.len(), before == hash(false), before == hash(true)), (49, true, false));
    put(&store, "a", "{}").unwrap();
    assert_ne!(before, hash(false));
}

#[test]
fn ids_are_completed_with_the_separator_of_the_settings() {
    let store = store();
    let id = |given: &str| {
        let mut batch = Batch::new();
        batch.put(given, b"{}", Expected::Any).unwrap();
        match store.write(now(), |writing| writing.run(&batch)).unwrap().results.remove(0) {
            CommandResult::Put { id, .. } => id,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(id("users|"), "users/1");
    store.configure(StoreSettings { id_separator: '-', ..StoreSettings::default() });
    assert_eq!((id("users|"), id("users-")), ("users-2".to_owned(), "users-0000000000000000003-A".to_owned()));
    store.configure(StoreSettings::default());
    assert_eq!(id("users|"), "users/3");
}

#[test]
fn hilo_ranges_never_overlap_and_grow_with_demand() {
    let store = store();
    let next = |size, at: Option<&str>, last_max| {
        let request = HiLoRequest {
            tag: "Things".into(),
            last_batch_size: size,
            last_range_at: at.and_then(Date::parse),
            last_max,
            separator: None,
        };
        let range = store.write(now(), |writing| writing.next_hilo(&request)).unwrap();
        assert_eq!((range.prefix.as_str(), range.server_tag.as_str(), range.last_range_at), ("Things/", "A", now()));
        (range.low, range.high, range.last_size)
    };
    assert_eq!(next(0, None, 0), (1, 32, 32));
    assert_eq!(next(32, Some("2015-01-15T00:41:00.0000000Z"), 32), (33, 96, 64));
    assert_eq!(next(64, Some("2015-01-15T00:40:30.0000000Z"), 96), (97, 160, 64));
    assert_eq!(next(64, Some("2015-01-15T00:00:00.0000000Z"), 160), (161, 192, 32));
    assert_eq!(next(0, None, 1000), (1001, 1032, 32));
    store.write(now(), |writing| writing.return_hilo("Things", 1032, 1010)).unwrap();
    store.write(now(), |writing| writing.return_hilo("Things", 1032, 1)).unwrap();
    check_wire(
        &store,
        "raven/hilo/things",
        r#"{"Max":1010,"@metadata":{"@collection":"@hilo","@change-vector":"A:6-DB","@id":"Raven/Hilo/Things","@last-modified":"2015-01-15T00:41:16.6616631Z"}}"#,
    );
}

#[test]
fn identities_rise_and_are_seeded() {
    let store = store();
    let next = |name: &str| store.write(now(), |writing| writing.next_identity(name)).unwrap();
    assert_eq!((next("users|"), next("Users"), next("dogs|")), (1, 2, 1));
    let seed = |value, force| store.write(now(), |writing| writing.seed_identity("users|", value, force)).unwrap();
    assert_eq!(
        (seed(100, false), seed(50, false), next("users|"), seed(5, true), next("users|")),
        (100, 100, 101, 5, 6)
    );
}

#[test]
fn a_put_keeps_what_the_server_maintains_in_the_metadata() {
    const NAMES: &[u8] = br#""@timeseries":[{"Name":"a.png"}]"#;
    let store = store();
    put(&store, "Users/1", r#"{"N":1,"@metadata":{"@collection":"Users","x":1}}"#).unwrap();
    let maintain = |id: &str, text: &[u8]| store.write(now(), |writing| writing.put_server_metadata(id, text)).unwrap();
    assert!(maintain("users/1", NAMES) && !maintain("users/2", NAMES));
    let wire = || {
        let snapshot = store.read();
        let document = snapshot.get("users/1").unwrap().unwrap();
        let mut out = Vec::new();
        document.write_to(&mut out);
        (document.etag(), String::from_utf8(out).unwrap())
    };
    let (etag, text) = wire();
    let metadata = r#""@metadata":{"@collection":"Users","x":1,"@timeseries":[{"Name":"a.png"}],"@change-vector":"#;
    assert!(etag == 2 && text.starts_with(&format!(r#"{{"N":1,{metadata}"#)) && text.contains("Users/1"), "{text}");
    // Whatever the client says of it.
    put(&store, "users/1", r#"{"N":2,"@metadata":{"@collection":"Users","@timeseries":[]}}"#).unwrap();
    let (etag, text) = wire();
    let metadata = r#""@metadata":{"@collection":"Users","@timeseries":[{"Name":"a.png"}],"@change-vector":"#;
    assert!(etag == 3 && text.starts_with(&format!(r#"{{"N":2,{metadata}"#)), "{text}");
    assert!(maintain("users/1", b""));
    assert!(!wire().1.contains("@timeseries"), "{}", wire().1);
    maintain("users/1", NAMES);
    assert!(delete(&store, "users/1", None).unwrap());
    put(&store, "users/1", r#"{"N":3,"@metadata":{"@collection":"Users"}}"#).unwrap();
    assert!(!wire().1.contains("@timeseries"), "a new document has none of it: {}", wire().1);
    assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_reopened_store_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| {
        DocumentStore::open(Environment::open(path, Options::default()).unwrap(), StoreOptions::default()).unwrap()
    };
    let first = open(folder.path());
    put(&first, "users/1", USER).unwrap();
    delete(&first, "users/1", None).unwrap();
    let id = first.database_id().to_owned();
    drop(first);
    let second = open(folder.path());
    assert_eq!((second.database_id(), id.len()), (id.as_str(), 22));
    put(&second, "users/2", USER).unwrap();
    assert_eq!(second.read().get("users/2").unwrap().unwrap().etag(), 3);
}

#[test]
fn a_compacted_copy_is_the_same_store() {
    let store = store();
    for number in 0..300 {
        put(&store, &format!("Users/{number}"), &format!(r#"{{"N":{number},"@metadata":{{"@collection":"Users"}}}}"#))
            .unwrap();
    }
    for number in 0..200 {
        delete(&store, &format!("users/{number}"), None).unwrap();
    }
    put(&store, "other/1", r#"{"A":1}"#).unwrap();
    let target = Environment::in_memory(Options::default()).unwrap();
    let mut progress = 0;
    store
        .copy_into(&target, |copied| {
            progress = copied;
            true
        })
        .unwrap();
    let copy = DocumentStore::open(target, StoreOptions::default()).unwrap();
    assert_eq!(progress, 101 + 200);
    assert_eq!(copy.database_id(), store.database_id());
    let all = |store: &DocumentStore| {
        let snapshot = store.read();
        let mut wire = Vec::new();
        snapshot.after(0).for_each(|document| document.unwrap().write_to(&mut wire));
        (wire, snapshot.statistics().unwrap(), snapshot.deletions(&[ItemKind::Document], None, 0).unwrap().count())
    };
    assert_eq!(all(&copy), all(&store));
    assert_eq!(copy.read().verify().unwrap().problems, Vec::<String>::new());
    assert_eq!(copy.environment().verify().unwrap().problems, Vec::<String>::new());
    put(&copy, "users/1", r#"{"N":1,"@metadata":{"@collection":"Users"}}"#).unwrap();
}

#[test]
fn a_compacted_copy_has_the_contents_that_were_linked() {
    let store = store();
    put(&store, "users/1", r#"{"N":1}"#).unwrap();
    let bytes: Vec<u8> = (0..3_000_000u32).map(|at| (at * 7 / 3) as u8).collect();
    let environment = store.environment();
    let contents = environment.write(|tx| Contents::open_or_create(tx, b"contents")).unwrap();
    environment
        .write(|tx| {
            contents.begin(tx, b"upload", 0)?;
            contents.append(tx, b"upload", 0, &bytes, 0)?;
            contents.link(tx, b"upload", b"hash")?;
            contents.add_reference(tx, b"hash")?;
            contents.begin(tx, b"not linked", 0)
        })
        .unwrap();
    let target = Environment::in_memory(Options::default()).unwrap();
    store.copy_into(&target, |_| true).unwrap();
    assert_eq!(target.verify().unwrap().problems, Vec::<String>::new());
    let tx = target.read();
    let copied = Contents::open(&tx, b"contents").unwrap().expect("they are copied");
    assert_eq!(copied.find(&tx, b"hash").unwrap().map(|content| content.references), Some(2));
    assert_eq!(copied.upload_length(&tx, b"not linked").unwrap(), None);
    let mut reading = copied.read(&tx, b"hash", 0..u64::MAX).unwrap().unwrap();
    let mut read = Vec::new();
    while let Some(piece) = reading.next().unwrap() {
        read.extend_from_slice(piece);
    }
    assert!(read == bytes, "the copy has other bytes");
}

#[test]
fn a_hilo_changes_nothing_but_the_maximum() {
    let store = store();
    let own = r#"{"Max":64,"extra":1,"@metadata":{"@collection":"HiLoDocuments","own":5}}"#;
    put(&store, "Raven/Hilo/users", own).unwrap();
    let request = HiLoRequest { tag: "users".into(), ..HiLoRequest::default() };
    let range = store.write(now(), |writing| writing.next_hilo(&request)).unwrap();
    assert_eq!((range.low, range.high), (65, 96));
    let snapshot = store.read();
    let mut wire = Vec::new();
    snapshot.get("raven/hilo/USERS").unwrap().unwrap().write_to(&mut wire);
    let wire = String::from_utf8(wire).unwrap();
    assert!(wire.starts_with(r#"{"extra":1,"Max":96,"@metadata":{"@collection":"HiLoDocuments","own":5,"#), "{wire}");
}

#[test]
fn an_id_that_is_completed_is_a_new_one() {
    let store = store();
    // Copied from elsewhere, with the numbers that come next.
    for number in 11..=20 {
        put(&store, &format!("orders/{number:019}-A"), "{}").unwrap();
    }
    for _ in 0..10 {
        put(&store, "orders/", r#"{"New":1}"#).unwrap();
    }
    let mut batch = Batch::new().skip_unchanged(true);
    (0..3).for_each(|_| batch.put("orders/", b"{}", Expected::Any).unwrap());
    run(&store, batch).unwrap();
    assert_eq!(store.read().statistics().unwrap().documents().count, 23);
    let snapshot = store.read();
    for document in snapshot.after(10).map(Result::unwrap) {
        assert!(document.id().contains(&format!("{:019}", document.etag())), "{}", document.id());
    }
}

/// Its etag would be given to somebody else's write, and a retry with it would overwrite that unseen.
#[test]
fn a_conflict_does_not_name_a_vector_that_is_rolled_back() {
    let store = store();
    put(&store, "x/2", "{}").unwrap();
    let twice = r#"{"Commands":[{"Type":"PUT","Id":"x/1","Document":{}},{"Type":"PUT","Id":"X/1","Document":{},"ChangeVector":""}]}"#;
    let Err(error @ Error::Conflict { .. }) = bulk(&store, twice) else { panic!("x/1 is there by then") };
    assert!(!error.to_string().contains("A:2"), "{error}");
    let Error::Conflict { actual, .. } = error else { unreachable!("matched above") };
    assert_eq!(actual, Actual::OfThisBatch);
    let durable =
        r#"{"Commands":[{"Type":"PUT","Id":"x/1","Document":{}},{"Type":"DELETE","Id":"x/2","ChangeVector":"A:9-x"}]}"#;
    let Err(Error::Conflict { actual, .. }) = bulk(&store, durable) else { panic!("x/2 has another vector") };
    assert_eq!(actual.vector(), Some(format!("A:1-{}", store.database_id()).as_str()));
}

#[test]
fn a_condition_of_another_kind_is_no_condition_and_refused() {
    let store = store();
    put(&store, "x/1", "{}").unwrap();
    for command in [
        r#"{"Type":"PUT","Id":"x/1","Document":{"a":1},"ChangeVector":12345}"#,
        r#"{"Type":"PUT","Id":"x/1","Document":{"a":1},"ChangeVector":["A:1-x"]}"#,
        r#"{"Type":"DELETE","Id":"x/1","ChangeVector":{}}"#,
        r#"{"Type":"DELETE","Id":"x/1","IdPrefixed":"true"}"#,
        r#"{"Type":"PUT","Id":5,"Document":{}}"#,
        r#"{"Type":5,"Id":"x/1","Document":{}}"#,
        r#"{"Type":"BatchTrackChanges","TrackedEntities":["x/1"]}"#,
        r#"{"Type":"BatchTrackChanges","TrackedEntities":{"x/1":7}}"#,
        r#"{"Type":"BatchTrackChanges"}"#,
    ] {
        let body = format!(r#"{{"Commands":[{{"Type":"PUT","Id":"y","Document":{{}}}},{command}]}}"#);
        let answer = bulk(&store, &body);
        assert!(matches!(answer, Err(Error::BadBatch { .. })), "{command}: {answer:?}");
    }
    assert_eq!(store.read().last_etag().unwrap(), 1);
}

#[test]
fn a_hilo_that_cannot_be_read_gives_nothing() {
    let store = store();
    let next = |max: &str| {
        put(&store, "Raven/Hilo/carts", &format!(r#"{{"Max":{max}}}"#)).unwrap();
        let request = HiLoRequest { tag: "carts".to_owned(), ..HiLoRequest::default() };
        store.write(now(), |writing| writing.next_hilo(&request)).map(|range| range.low)
    };
    assert_eq!(next("1024").unwrap(), 1025);
    assert_eq!(next("1024.0").unwrap(), 1025);
    assert_eq!(next("1e3").unwrap(), 1001);
    for max in ["\"5000\"", "null", "-1", "1.5", "1e30"] {
        assert!(matches!(next(max), Err(Error::BadBatch { .. })), "{max}");
    }
}

#[test]
fn a_batch_counts_what_it_holds() {
    let entities: Vec<String> = (0..1000).map(|number| format!("\"{}/{number}\":\"A:1-x\"", "x".repeat(200))).collect();
    let body =
        format!(r#"{{"Commands":[{{"Type":"BatchTrackChanges","TrackedEntities":{{{}}}}}]}}"#, entities.join(","));
    assert!(batch_of(&body).unwrap().size() > 200_000);
    let mut batch = Batch::new();
    (0..100).for_each(|_| batch.delete(&"y".repeat(500), Expected::Any).unwrap());
    assert!(batch.size() > 50_000);
}

#[test]
fn many_collections_in_one_batch_cost_no_more_than_their_number() {
    let store = store();
    let mut batch = Batch::new();
    for number in 0..5_000 {
        let document = format!(r#"{{"@metadata":{{"@collection":"C{}"}}}}"#, number % 2_500);
        batch.put(&format!("d/{number}"), document.as_bytes(), Expected::Any).unwrap();
    }
    run(&store, batch).unwrap();
    let collections = store.read().collections().unwrap();
    assert_eq!(collections.len(), 2_500);
    assert!(collections.iter().all(|collection| collection.documents().count == 2));
}

#[test]
fn the_name_for_all_documents_is_no_collection() {
    let answer = put(&store(), "x/1", r#"{"@metadata":{"@collection":"@All_Docs"}}"#);
    assert!(matches!(answer, Err(Error::BadBatch { .. })), "{answer:?}");
}

/// Who deletes what a query found looks once more in the transaction: what was written meanwhile stays.
#[test]
fn a_deletion_up_to_an_etag_leaves_what_was_written_after_it() {
    let store = store();
    let put = |id: &str| {
        let mut batch = Batch::new();
        batch.put(id, USER.as_bytes(), Expected::Any).unwrap();
        run(&store, batch).unwrap();
    };
    put("users/1");
    put("users/2");
    let etag = store.read().last_etag().unwrap();
    put("users/1");
    let delete = |id: &str| store.write(Date::now(), |writing| writing.delete_until(id, etag)).unwrap();
    assert!(!delete("users/1") && delete("USERS/2") && !delete("users/2") && !delete("users/3"));
    assert_eq!(ids(store.read().after(0)), ["users/1"]);
}
