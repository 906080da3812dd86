//! A node's databases: one behaviour per test.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, mpsc};

use json::Value;
use rookery_database::documents::{self, Batch, DefinitionChange, Expected, HiLoRequest, Write};
use rookery_database::smuggler::{ItemTypes, SmugglerOptions};
use rookery_database::*;
use testing::wait::until_equal;

fn batch(ids: &[&str]) -> Batch {
    let mut batch = Batch::new();
    ids.iter().for_each(|id| batch.put(id, br#"{"@metadata":{"@collection":"Users"}}"#, Expected::Any).unwrap());
    batch
}

fn count(database: &Database) -> u64 {
    database.read().statistics().unwrap().documents().count
}

#[test]
fn databases_are_created_found_in_any_case_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
    let index = databases.raft_index().unwrap();
    let record =
        databases.create("Shop", Value::parse(br#"{"DatabaseName":"x","Settings":{"A":"1"}}"#).unwrap(), None).unwrap();
    assert_eq!((record.name(), record.etag, record.setting("a")), ("Shop", index + 1, Some("1")));
    assert_eq!((record.cluster_transaction_id().len(), record.database_topology_id().len()), (22, 22));
    let shop = databases.find("sHOP").unwrap();
    assert!(Arc::ptr_eq(&shop, &databases.find("Shop").unwrap()));
    assert!(matches!(databases.create("SHOP", Value::object(), None), Err(Error::AlreadyExists { .. })));
    assert!(matches!(databases.create("a/b", Value::object(), None), Err(Error::BadName { .. })));
    assert!(matches!(databases.find("none"), Err(Error::Missing { .. })));
    shop.execute(batch(&["users/1"])).unwrap();
    databases.create("alpha", Value::object(), None).unwrap();
    assert_eq!(databases.names(), ["alpha", "Shop"]);

    let deletion = databases.delete(&["SHOP", "none"], true, None).unwrap();
    assert_eq!((deletion.raft_index, deletion.deleted), (Some(index + 3), vec!["Shop".to_owned()]));
    assert!(matches!(databases.find("Shop"), Err(Error::Missing { .. })));
    // Who holds it reads on, but nothing is written.
    assert_eq!(count(&shop), 1);
    assert!(matches!(shop.execute(batch(&["users/2"])), Err(Error::Disabled { .. })));
    assert_eq!(count(&databases.find_or_create("shop").unwrap()), 0);
    // Its files go when nobody holds it any more.
    let folder_count = || std::fs::read_dir(folder.path().join("databases")).unwrap().count();
    assert_eq!(folder_count(), 3);
    databases.maintain();
    assert_eq!((folder_count(), count(&shop)), (3, 1));
    drop(shop);
    databases.maintain();
    assert_eq!(folder_count(), 2);
    assert_eq!(databases.delete(&["none"], true, None).unwrap().raft_index, None);
}

#[test]
fn everything_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
    let (ids, index) = {
        let databases = open();
        databases.find_or_create("Shop").unwrap().execute(batch(&["users/1", "users/2"])).unwrap();
        databases.find_or_create("Soft").unwrap().execute(batch(&["users/1"])).unwrap();
        databases.find_or_create("Hard").unwrap().execute(batch(&["users/1"])).unwrap();
        databases.delete(&["Soft"], false, None).unwrap();
        databases.delete(&["Hard"], true, None).unwrap();
        databases.put_client_configuration(Value::parse(br#"{"IdentityPartsSeparator":"-"}"#).unwrap(), None).unwrap();
        ((databases.topology_id().to_owned(), databases.server_id().to_owned()), databases.raft_index().unwrap())
    };
    let databases = open();
    assert_eq!((databases.topology_id(), databases.server_id()), (ids.0.as_str(), ids.1.as_str()));
    assert_eq!((databases.raft_index().unwrap(), databases.names()), (index, vec!["Shop".to_owned()]));
    assert_eq!(databases.client_configuration().identity_separator(), Some('-'));
    assert_eq!(count(&databases.find("shop").unwrap()), 2);
    assert_eq!(count(&databases.find_or_create("Soft").unwrap()), 1);
    assert_eq!(count(&databases.find_or_create("Hard").unwrap()), 0);
}

#[test]
fn disabled_databases_refuse_until_enabled() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    databases.find_or_create("x").unwrap().execute(batch(&["users/1"])).unwrap();
    assert_eq!(databases.set_disabled(&["x", "none"], true, None).unwrap(), [true, false]);
    let index = databases.raft_index().unwrap();
    assert_eq!(databases.set_disabled(&["x"], true, None).unwrap(), [true]);
    // It was so already.
    assert_eq!(databases.raft_index().unwrap(), index);
    assert!(matches!(databases.find("X"), Err(Error::Disabled { .. })));
    assert!(databases.record("x").unwrap().is_disabled());
    databases.set_disabled(&["x"], false, None).unwrap();
    // What is only in memory is kept meanwhile.
    assert_eq!(count(&databases.find("X").unwrap()), 1);
}

#[test]
fn a_database_that_is_still_held_is_neither_opened_twice_nor_mixed_up() {
    let folder = tempfile::tempdir().unwrap();
    let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
    let held = databases.find_or_create("x").unwrap();
    held.execute(batch(&["users/1"])).unwrap();
    databases.set_disabled(&["x"], true, None).unwrap();
    assert!(matches!(held.execute(batch(&["users/2"])), Err(Error::Disabled { .. })));
    databases.set_disabled(&["x"], false, None).unwrap();
    databases.find("x").unwrap().execute(batch(&["users/2"])).unwrap();
    databases.delete(&["x"], false, None).unwrap();
    databases.find_or_create("x").unwrap().execute(batch(&["users/3"])).unwrap();
    assert_eq!(count(&held), 3);
    databases.delete(&["x"], true, None).unwrap();
    let new = databases.find_or_create("x").unwrap();
    new.execute(batch(&["users/4"])).unwrap();
    assert_eq!((count(&held), count(&new)), (3, 1));
    drop((held, new, databases));
    let databases = Databases::open(DatabasesOptions::folder(folder.path())).unwrap();
    assert_eq!(count(&databases.find("x").unwrap()), 1);
    assert_eq!(std::fs::read_dir(folder.path().join("databases")).unwrap().count(), 1);
}

#[test]
fn ids_are_completed_with_the_configured_separator() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    let id = |given: &str| match database.execute(batch(&[given])).unwrap().results.remove(0) {
        documents::CommandResult::Put { id, .. } => id,
        other => panic!("{other:?}"),
    };
    assert_eq!(id("users|"), "users/1");
    databases.put_client_configuration(Value::parse(br#"{"IdentityPartsSeparator":"-"}"#).unwrap(), None).unwrap();
    assert_eq!((id("users|"), id("users-")), ("users-2".to_owned(), "users-0000000000000000003-A".to_owned()));
}

#[test]
fn a_record_that_configures_what_is_missing_is_refused_and_nothing_is_created() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let revisions = Value::parse(br#"{"TimeSeries":{"Disabled":false}}"#).unwrap();
    let unknown = Value::parse(br#"{"Revision":{"Default":{}}}"#).unwrap();
    let check = |outcome: Result<Arc<DatabaseRecord>, Error>, is_missing: bool| match outcome {
        Err(Error::NotSupported(missing)) if is_missing => {
            assert_eq!(missing.feature(), documents::Feature::TimeSeries)
        }
        Err(Error::BadRecord { rule }) if !is_missing => assert!(rule.contains("no property 'Revision'"), "{rule}"),
        other => panic!("{other:?}"),
    };
    check(databases.create("x", revisions.clone(), None), true);
    check(databases.create("x", unknown.clone(), None), false);
    assert!(databases.names().is_empty());
    let etag = databases.create("x", Value::object(), None).unwrap().etag;
    check(databases.update("x", &revisions, Some(etag), None), true);
    check(databases.update("x", &unknown, Some(etag), None), false);
    assert_eq!(databases.record("x").unwrap().etag, etag);
}

#[test]
fn locked_databases_are_not_deleted() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    databases.create("x", Value::object(), None).unwrap();
    databases.set_lock_mode(&["x"], LockMode::PreventDeletesError, None).unwrap();
    assert!(
        databases
            .delete(&["x"], true, None)
            .unwrap_err()
            .to_string()
            .contains("cannot be deleted because of the set lock mode")
    );
    databases.set_lock_mode(&["x"], LockMode::PreventDeletesIgnore, None).unwrap();
    assert_eq!(databases.delete(&["x"], true, None).unwrap().raft_index, None);
    databases.set_lock_mode(&["x"], LockMode::Unlock, None).unwrap();
    assert!(databases.delete(&["x"], true, None).unwrap().raft_index.is_some());
}

#[test]
fn repeated_requests_are_applied_once() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let first = databases.create("x", Value::object(), Some("r1")).unwrap();
    assert_eq!(databases.create("x", Value::object(), Some("r1")).unwrap().etag, first.etag);
    assert!(databases.create("x", Value::object(), Some("r2")).is_err());
    let deleted = databases.delete(&["x"], true, Some("r3")).unwrap().raft_index;
    databases.create("x", Value::object(), None).unwrap();
    assert_eq!(databases.delete(&["x"], true, Some("r3")).unwrap().raft_index, deleted);
    assert!(databases.find("x").is_ok());
}

#[test]
fn records_are_updated_under_their_etag() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let etag = databases.create("x", Value::object(), None).unwrap().etag;
    let changes = Value::parse(br#"{"DatabaseName":"y","Settings":{"K":"v"}}"#).unwrap();
    let updated = databases.update("x", &changes, Some(etag), None).unwrap();
    assert_eq!((updated.name(), updated.setting("k"), updated.etag > etag), ("x", Some("v"), true));
    assert!(matches!(databases.update("x", &changes, Some(etag), None), Err(Error::RecordConflict { .. })));
    databases.put_settings("x", &Value::object(), None).unwrap();
    assert_eq!(databases.record("x").unwrap().setting("k"), None);
    assert_eq!(databases.client_configuration_of("x").unwrap().etag, -2);
    databases.put_client_configuration(Value::parse(br#"{"A":1,"B":1}"#).unwrap(), None).unwrap();
    let index = databases.put_client_configuration_of("x", &Value::parse(br#"{"B":2}"#).unwrap(), None).unwrap();
    let merged = databases.client_configuration_of("x").unwrap();
    assert_eq!((merged.etag, merged.value.as_ref().unwrap().get("B").unwrap().as_i64()), (index as i64, Some(2)));
}

#[test]
fn submitted_batches_are_answered_once_and_listeners_hear_of_them() {
    struct Highest(AtomicU64);
    impl ChangeListener for Highest {
        fn committed(&self, committed: Committed) {
            self.0.fetch_max(committed.last_etag, Relaxed);
        }
    }
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    let highest = Arc::new(Highest(AtomicU64::new(0)));
    database.add_listener(highest.clone());
    let (sender, receiver) = mpsc::channel();
    for n in 0..200 {
        let sender = sender.clone();
        let mut batch = batch(&[&format!("users/{n}")]);
        if n % 10 == 0 {
            batch.put("users/0", b"{}", Expected::Vector("A:1-x".into())).unwrap();
        }
        database.submit(batch, move |outcome| sender.send((n, outcome.map(|outcome| outcome.results.len()))).unwrap());
    }
    drop(sender);
    let answers: Vec<_> = receiver.iter().collect();
    assert_eq!(answers.len(), 200);
    for (n, answer) in answers {
        match answer {
            Ok(results) => assert!(results == 1 && n % 10 != 0),
            Err(error) => {
                assert!(n % 10 == 0 && matches!(error, Error::Documents(documents::Error::Conflict { .. })), "{error}");
            }
        }
    }
    assert_eq!((count(&database), database.read().last_etag().unwrap(), database.queued_count()), (180, 180, 0));
    assert_eq!(highest.0.load(Relaxed), 180);
    let (sender, receiver) = mpsc::channel();
    let request = HiLoRequest { tag: "users".into(), ..HiLoRequest::default() };
    database.propose(Write::NextHiLo(request), move |range| sender.send(range).unwrap());
    assert_eq!(receiver.recv().unwrap().unwrap().range().unwrap().high, 32);
}

/// Holds the write transaction until something is sent or the sender dropped; a write of `size` bytes at least waits behind it.
fn hold_writer(database: &Arc<Database>, size: usize) -> mpsc::Sender<()> {
    let (begun, has_begun) = mpsc::channel();
    let (end, is_to_end) = mpsc::channel::<()>();
    let holder = database.clone();
    std::thread::spawn(move || {
        let held = holder.documents().environment().write(move |_| {
            begun.send(()).unwrap();
            let _ = is_to_end.recv();
            Ok::<_, documents::Error>(())
        });
        held.unwrap();
    });
    has_begun.recv().unwrap();
    let (kind, name) = ("test".to_owned(), "filler".to_owned());
    let filler = DefinitionChange::Put { kind, name, generation: 0, definition: vec![0; size] };
    database.propose(Write::Definitions(vec![filler]), |answer| drop(answer.unwrap()));
    end
}

#[test]
fn a_bulk_insert_and_an_import_wait_for_room() {
    let mut options = DatabasesOptions::in_memory();
    options.limits.queued_batches_size_max = 2000;
    let database = Databases::open(options).unwrap().find_or_create("x").unwrap();
    let writer = hold_writer(&database, 5000);
    assert!(matches!(database.execute(batch(&["a"])), Err(Error::Busy { .. })));
    std::thread::scope(|scope| {
        for n in 0..20 {
            let database = &database;
            scope.spawn(move || {
                let mut bulk = database.bulk_insert(None, false).unwrap();
                let stream = format!(r#"[{{"Id":"b/{n}","Type":"PUT","Document":{{"A":"{}"}}}}]"#, "x".repeat(1000));
                assert!(bulk.feed(stream.as_bytes()).unwrap());
                assert_eq!(bulk.finish().unwrap().documents, 1);
            });
        }
        scope.spawn(|| {
            let mut import = database.import(None, SmugglerOptions::default(), &[]).unwrap();
            assert!(import.feed(br#"{"Docs":[{"@metadata":{"@id":"i/1"}}]}"#).unwrap());
            assert_eq!(import.finish().unwrap().document_count, 1);
        });
        // All have begun, and none was refused.
        until_equal(|| database.operations().all().len(), 21);
        drop(writer);
    });
    assert_eq!((count(&database), database.queued_count()), (21, 0));
}

#[test]
fn a_blocked_write_to_a_closed_database_is_refused() {
    let mut options = DatabasesOptions::in_memory();
    options.limits.queued_batches_count_max = 2;
    let databases = Databases::open(options).unwrap();
    let database = databases.find_or_create("x").unwrap();
    let writer = hold_writer(&database, 1);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let mut bulk = database.bulk_insert(None, false).unwrap();
            bulk.feed(br#"[{"Id":"b","Type":"PUT","Document":{}}]"#)?;
            bulk.finish()
        });
        until_equal(|| database.operations().all().len(), 1);
        databases.set_disabled(&["x"], true, None).unwrap();
        drop(writer);
        let error = match waiting.join().unwrap().unwrap_err() {
            Error::BulkInsert { cause, .. } => *cause,
            error => error,
        };
        assert!(matches!(error, Error::Disabled { .. } | Error::Canceled), "{error:?}");
    });
    assert_eq!((count(&database), database.queued_count()), (0, 0));
}

#[test]
fn a_batch_over_the_limit_is_written_beside_others() {
    let mut options = DatabasesOptions::in_memory();
    options.limits.queued_batches_size_max = 1000;
    let database = Databases::open(options).unwrap().find_or_create("x").unwrap();
    let writer = hold_writer(&database, 1);
    let ids: Vec<String> = (0..100).map(|n| format!("users/{n}")).collect();
    let large = batch(&ids.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(large.size() > 1000);
    let (sender, answer) = mpsc::channel();
    database.submit(large, move |outcome| sender.send(outcome.map(drop)).unwrap());
    drop(writer);
    answer.recv().unwrap().unwrap();
    assert_eq!(count(&database), 100);
}

#[test]
fn a_full_queue_refuses_at_once() {
    let mut options = DatabasesOptions::in_memory();
    options.limits.queued_batches_count_max = 0;
    let database = Databases::open(options).unwrap().find_or_create("x").unwrap();
    assert!(matches!(database.execute(batch(&["a"])), Err(Error::Busy { limit: "queued_batches_count_max", .. })));
}

#[test]
fn a_bulk_insert_is_taken_in_any_pieces_and_ends_with_its_array() {
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    for piece in [1, 7, 1000, usize::MAX] {
        let database = databases.find_or_create(&format!("x{piece}")).unwrap();
        let mut stream = b"[".to_vec();
        for n in 0..5000 {
            stream.extend_from_slice(format!(r#"{{"Id":"users/{n}","Type":"PUT","Document":{{"N":{n},"@metadata":{{"@collection":"Users"}}}}}},{{"Type":"HeartBeat"}}{}"#, if n < 4999 { "," } else { "]never read" }).as_bytes());
        }
        let mut bulk = database.bulk_insert(Some(7), false).unwrap();
        let mut is_closed = false;
        for chunk in stream.chunks(piece.min(stream.len())) {
            is_closed = bulk.feed(chunk).unwrap();
            if is_closed {
                break;
            }
        }
        assert!(is_closed);
        let counts = bulk.finish().unwrap();
        assert_eq!((counts.documents, count(&database)), (5000, 5000));
        let operation = database.operations().get(7).unwrap();
        assert!(
            matches!(operation.status(), OperationStatus::Completed(result) if result.message == "Processed 5000 items.")
        );
        assert_eq!(database.operations().next_id(), 8);
    }
}

#[test]
fn a_broken_bulk_insert_faults_its_operation() {
    let database = Databases::open(DatabasesOptions::in_memory()).unwrap().find_or_create("x").unwrap();
    let mut bulk = database.bulk_insert(None, false).unwrap();
    assert!(!bulk.feed(br#"[{"Id":"a","Type":"PUT","Document":{}},"#).unwrap());
    let error = bulk.feed(br#"{"Id":"a","Type":"PUT","Document":[]}]"#).unwrap_err();
    let operation = bulk.operation().clone();
    bulk.fail(error);
    assert!(matches!(operation.status(), OperationStatus::Faulted(_)));

    let mut bulk = database.bulk_insert(None, false).unwrap();
    let operation = bulk.operation().clone();
    bulk.feed(b"[").unwrap();
    operation.kill();
    assert!(matches!(bulk.feed(b"]"), Err(Error::Canceled)));
    drop(bulk);
    assert!(matches!(operation.status(), OperationStatus::Faulted(_)));
    assert!(matches!(
        database.bulk_insert(None, false).unwrap().feed(br#"[{"Type":"TimeSeries","Id":"x"}]"#),
        Err(Error::Documents(documents::Error::NotSupported(_)))
    ));
}

#[test]
fn a_bulk_insert_counts_as_documents_what_it_stored() {
    let database = Databases::open(DatabasesOptions::in_memory()).unwrap().find_or_create("x").unwrap();
    database.execute(batch(&["users/1", "users/2"])).unwrap();
    let mut bulk = database.bulk_insert(None, true).unwrap();
    let put = |id| format!(r#"{{"Id":"{id}","Type":"PUT","Document":{{"@metadata":{{"@collection":"Users"}}}}}}"#);
    let stream = format!(r#"[{},{},{{"Id":"users/2","Type":"DELETE"}}]"#, put("users/1"), put("users/3"));
    assert!(bulk.feed(stream.as_bytes()).unwrap());
    let operation = bulk.operation().clone();
    let last_id = Some("users/3".to_owned());
    assert_eq!(
        bulk.finish().unwrap(),
        BulkInsertCounts { items: 3, documents: 1, counters: 0, attachments: 0, batches: 1, last_id }
    );
    assert!(
        matches!(operation.status(), OperationStatus::Completed(result) if (result.total, result.documents_processed) == (3, 1))
    );
}

#[test]
fn two_bulk_inserts_do_not_share_an_operation() {
    let database = Databases::open(DatabasesOptions::in_memory()).unwrap().find_or_create("x").unwrap();
    let first = database.bulk_insert(Some(7), false).unwrap();
    assert!(matches!(database.bulk_insert(Some(7), false), Err(Error::OperationInUse { id: 7 })));
    let mut second = database.bulk_insert(Some(8), false).unwrap();
    second.operation().kill();
    assert!(matches!(second.feed(b"["), Err(Error::Canceled)) && !first.operation().is_killed());
}

#[test]
fn sample_data_go_into_an_empty_database_once() {
    let database = Databases::open(DatabasesOptions::in_memory()).unwrap().find_or_create("x").unwrap();
    let northwind = &include_bytes!("../../../../data-sets/northwind.ravendbdump.zst")[..];
    let dump = zstd::decode_all(northwind).unwrap();
    let all = ItemTypes::default_types();
    assert_eq!(database.load_sample_data(&dump, all).unwrap().document_count, 1059);
    let snapshot = database.read();
    let photo = snapshot.attachment("employees/1-A", "photo.jpg").unwrap().unwrap();
    assert_eq!(photo.content_type(), "image/jpeg");
    assert_eq!(snapshot.counter("products/1-A", "⭐").unwrap().unwrap().total(), 6475);
    let order = snapshot.get("orders/1-A").unwrap().unwrap();
    assert_eq!(order.collection().as_deref(), Some("Orders"));
    let counts: Vec<_> =
        snapshot.collections().unwrap().iter().map(|c| (c.name.clone(), c.documents().count)).collect();
    let expected = [
        ("Categories", 8),
        ("Companies", 91),
        ("Employees", 9),
        ("Orders", 830),
        ("Products", 77),
        ("Regions", 4),
        ("Shippers", 3),
        ("Suppliers", 29),
    ];
    assert_eq!(
        counts
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
            .filter(|(name, _)| !name.starts_with('@'))
            .collect::<Vec<_>>(),
        expected
    );
    assert!(matches!(database.load_sample_data(&dump, all), Err(Error::NotEmpty { count: 1059, .. })));
}

#[test]
fn collections_and_tombstones_go_in_bounded_transactions() {
    let database = Databases::open(DatabasesOptions::in_memory()).unwrap().find_or_create("x").unwrap();
    let ids: Vec<String> = (0..3000).map(|n| format!("users/{n}")).collect();
    database.execute(batch(&ids.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
    let operation = database.operations().start(database.operations().next_id(), "delete").unwrap();
    assert_eq!(database.delete_collection("users", Some(&operation)).unwrap(), 3000);
    assert_eq!(
        operation.progress().unwrap(),
        Progress { processed: 3000, total: 3000, batch_count: 3, documents_processed: 3000, ..Progress::default() }
    );
    assert_eq!(database.clean_tombstones(6000).unwrap(), 3000);
    assert_eq!(database.read().statistics().unwrap().documents().tombstone_count, 0);
}

#[test]
fn tombstones_go_when_everyone_has_seen_them_and_a_while_passed() {
    struct Seen(AtomicU64);
    impl TombstoneHolder for Seen {
        fn seen_etag(&self) -> u64 {
            self.0.load(Relaxed)
        }
    }
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("x").unwrap();
    database.execute(batch(&["users/1", "users/2"])).unwrap();
    let mut deletions = Batch::new();
    ["users/1", "users/2"].iter().for_each(|id| deletions.delete(id, Expected::Any).unwrap());
    database.execute(deletions).unwrap();
    let seen = Arc::new(Seen(AtomicU64::new(3)));
    let holder: Arc<dyn TombstoneHolder> = seen.clone();
    database.add_tombstone_holder(holder.clone());
    assert_eq!((databases.maintain(), databases.maintain(), databases.maintain()), (0, 1, 0));
    seen.0.store(100, Relaxed);
    assert_eq!(databases.maintain(), 1);
    database.remove_tombstone_holder(&holder);
}
