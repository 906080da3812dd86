//! Revisions: what each write keeps, what limits remove, and a model against a list.

use rookery_documents::*;
use storage::{Environment, Options};
use testing::effort;
use testing::random::Random;
use testing::seeds::{self, Case};

use crate::revision_model::{Model, ON, compare, configure, step};

fn store() -> DocumentStore {
    DocumentStore::open(Environment::in_memory(Options::default()).unwrap(), StoreOptions::default()).unwrap()
}

fn document(collection: &str, body: &str) -> Vec<u8> {
    format!(r#"{{"N":{body},"@metadata":{{"@collection":"{collection}"}}}}"#).into_bytes()
}

fn run(store: &DocumentStore, fill: impl FnOnce(&mut Batch)) -> Result<Outcome> {
    let mut batch = Batch::new();
    fill(&mut batch);
    store.apply(&Write::batch(batch), store.stamp())?.answer.outcome()
}

fn put(store: &DocumentStore, id: &str, body: &str) -> String {
    let outcome = run(store, |batch| batch.put(id, &document("Users", body), Expected::Any).unwrap()).unwrap();
    let [CommandResult::Put { change_vector, .. }] = outcome.results.as_slice() else { panic!("{outcome:?}") };
    change_vector.clone()
}

fn delete(store: &DocumentStore, id: &str) {
    run(store, |batch| batch.delete(id, Expected::Any).unwrap()).unwrap();
}

fn command(store: &DocumentStore, text: &str) -> Result<CommandResult> {
    let commands = [br#"["#.as_slice(), text.as_bytes(), b"]"].concat();
    let mut batch = Batch::new();
    let mut minifier = json::Minifier::new();
    for element in minifier.minify(&commands)?.elements() {
        batch.push_bulk_element(element.bytes())?;
    }
    let mut outcome = store.apply(&Write::batch(batch), store.stamp())?.answer.outcome()?;
    Ok(outcome.results.pop().unwrap())
}

fn answer(store: &DocumentStore, write: RevisionsWrite) -> Answer {
    let mut log = Vec::new();
    Write::Revisions(write).encode(&mut log).unwrap();
    store.apply(&Write::decode(&log).unwrap(), store.stamp()).unwrap().answer
}

fn change(store: &DocumentStore, write: RevisionsWrite) -> u64 {
    answer(store, write).count().unwrap()
}

fn attach(store: &DocumentStore, command: &str, content: Option<&[u8]>) {
    let body = format!(r#"{{"Commands":[{command}]}}"#);
    let BulkDocs::Batch(mut batch) = BulkDocs::parse(body.as_bytes(), true).unwrap() else { panic!("it is a batch") };
    batch.give_contents(content.into_iter().map(NewContent::inline).collect()).unwrap();
    store.apply(&Write::batch(batch), store.stamp()).unwrap();
}

fn raise(store: &DocumentStore, name: &str, delta: i64) {
    let operation = CounterOperation { name: name.to_owned(), action: CounterAction::Increment(delta) };
    run(store, |batch| batch.push_counters(CounterCommand::new("users/1", vec![operation], false).unwrap())).unwrap();
}

/// Names and values.
type Named<V> = Vec<(String, V)>;

/// The contents of the attachments of `users/1`, and its counters.
fn belongings(store: &DocumentStore) -> (Named<Vec<u8>>, Named<i64>) {
    let snapshot = store.read();
    let content = |hash| snapshot.content(hash, 0..u64::MAX).unwrap().unwrap().next().unwrap().unwrap().to_vec();
    let attachments = snapshot.attachments("users/1").unwrap();
    let attachments = attachments.iter().map(|attachment| (attachment.name().to_owned(), content(attachment.hash())));
    let counters = snapshot.counters("users/1").unwrap();
    let counters = counters.iter().map(|counter| (counter.name().to_owned(), counter.total()));
    (attachments.collect(), counters.collect())
}

/// Body and flags of each revision, the newest first.
fn shown(store: &DocumentStore, id: &str) -> Vec<String> {
    let snapshot = store.read();
    let places = snapshot.revisions(id, 0, u64::MAX).unwrap();
    assert_eq!(snapshot.revision_count(id).unwrap(), places.len() as u64);
    let show = |place| {
        let revision = snapshot.revision_at(place).unwrap();
        let document = revision.document().unwrap();
        format!("{} {}", String::from_utf8_lossy(document.body().bytes()), document.flags())
    };
    places.into_iter().map(show).collect()
}

fn bin(store: &DocumentStore) -> Vec<String> {
    let snapshot = store.read();
    let places = snapshot.revisions_bin(0, 100).unwrap();
    places.into_iter().map(|place| snapshot.revision_at(place).unwrap().document().unwrap().id().to_owned()).collect()
}

fn flags(store: &DocumentStore, id: &str) -> String {
    store.read().get(id).unwrap().unwrap().flags().to_string()
}

#[track_caller]
fn verify(store: &DocumentStore) {
    assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn each_change_of_a_configured_collection_is_kept() {
    let store = store();
    let old = put(&store, "users/1", "0");
    configure(&store, &[("uSERs", ON)]);
    let first = put(&store, "users/1", "1");
    assert_eq!(flags(&store, "users/1"), "HasRevisions");
    let expected = [r#"{"N":1} HasRevisions, Revision"#, r#"{"N":0} HasRevisions, FromOldDocumentRevision, Revision"#];
    assert_eq!(shown(&store, "users/1"), expected);
    // The same document again is no other state.
    put(&store, "users/1", "1");
    assert_eq!(shown(&store, "users/1"), expected);
    let snapshot = store.read();
    for (vector, body) in [(&old, br#"{"N":0}"#), (&first, br#"{"N":1}"#)] {
        let revision = snapshot.revision_by_vector(vector).unwrap().unwrap();
        assert_eq!(revision.document().unwrap().body().bytes(), body);
        assert_eq!(revision.document().unwrap().change_vector(), *vector);
    }
    assert!(snapshot.revision_by_vector("A:77-x").unwrap().is_none());
    drop(snapshot);
    run(&store, |batch| batch.put("dogs/1", &document("Dogs", "1"), Expected::Any).unwrap()).unwrap();
    assert_eq!(shown(&store, "dogs/1"), Vec::<String>::new());
    verify(&store);
}

#[test]
fn a_deletion_is_kept_and_shown_in_the_bin_until_the_document_is_back() {
    let store = store();
    configure(&store, &[("Users", ON)]);
    for body in ["1", "2"] {
        put(&store, "users/1", body);
    }
    put(&store, "users/2", "1");
    delete(&store, "users/2");
    delete(&store, "users/1");
    assert_eq!(bin(&store), ["users/1", "users/2"]);
    assert_eq!(shown(&store, "users/1")[0], "{} HasRevisions, DeleteRevision");
    verify(&store);
    put(&store, "USERS/1", "3");
    assert_eq!(bin(&store), ["users/2"]);
    assert_eq!(shown(&store, "users/1").len(), 4);
    // Without a configuration nothing new is kept, but deletions of documents with revisions are.
    configure(&store, &[]);
    put(&store, "users/2", "4");
    assert_eq!((bin(&store).len(), flags(&store, "users/2").as_str()), (0, "HasRevisions"));
    delete(&store, "users/2");
    assert_eq!(bin(&store), ["users/2"]);
    assert_eq!(shown(&store, "users/2").len(), 3);
    verify(&store);
    configure(&store, &[("Users", CollectionRevisions { purges_on_delete: true, ..ON })]);
    delete(&store, "users/1");
    assert_eq!(shown(&store, "users/1"), Vec::<String>::new());
    verify(&store);
}

#[test]
fn limits_remove_the_oldest() {
    let store = store();
    configure(&store, &[("Users", CollectionRevisions { count_min: Some(3), ..ON })]);
    for body in ["1", "2", "3", "4", "5"] {
        put(&store, "users/1", body);
    }
    delete(&store, "users/1");
    let bodies: Vec<String> =
        shown(&store, "users/1").iter().map(|shown| shown[..7.min(shown.len())].to_owned()).collect();
    assert_eq!(bodies, ["{} HasR", r#"{"N":5}"#, r#"{"N":4}"#]);
    // Both limits: what is older than the age and over the count.
    let hour = 36_000_000_000;
    configure(&store, &[("Users", CollectionRevisions { count_min: Some(1), age_min: Some(hour), ..ON })]);
    put(&store, "users/1", "6");
    assert_eq!(shown(&store, "users/1").len(), 4);
    configure(&store, &[("Users", CollectionRevisions { count_min: Some(1), delete_count_max: Some(2), ..ON })]);
    put(&store, "users/1", "7");
    assert_eq!(shown(&store, "users/1").len(), 3);
    configure(&store, &[("Users", CollectionRevisions { count_min: Some(0), ..ON })]);
    put(&store, "users/1", "8");
    assert_eq!((shown(&store, "users/1").len(), flags(&store, "users/1").as_str()), (0, ""));
    put(&store, "users/9", "8");
    assert_eq!(flags(&store, "users/9"), "");
    verify(&store);
}

fn bodies(store: &DocumentStore, id: &str) -> Vec<String> {
    shown(store, id).iter().map(|shown| shown.split(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn a_state_that_was_written_while_nothing_was_kept_is_kept_when_it_is_replaced() {
    let off = CollectionRevisions { is_disabled: true, ..ON };
    let store = store();
    let with = |limits| configure(&store, &[("Users", limits)]);
    with(ON);
    put(&store, "users/1", "1");
    with(off);
    put(&store, "users/1", "2");
    with(ON);
    put(&store, "users/1", "3");
    assert_eq!(bodies(&store, "users/1"), [r#"{"N":3}"#, r#"{"N":2}"#, r#"{"N":1}"#]);
    assert_eq!(shown(&store, "users/1")[1], r#"{"N":2} HasRevisions, FromOldDocumentRevision, Revision"#);
    // Stored again as it is: once.
    with(off);
    put(&store, "users/1", "4");
    with(ON);
    put(&store, "users/1", "4");
    put(&store, "users/1", "4");
    put(&store, "users/1", "5");
    assert_eq!(bodies(&store, "users/1")[..3], [r#"{"N":5}"#, r#"{"N":4}"#, r#"{"N":3}"#]);
    // Deleted.
    with(off);
    put(&store, "users/1", "6");
    with(ON);
    delete(&store, "users/1");
    assert_eq!(bodies(&store, "users/1")[..3], ["{}", r#"{"N":6}"#, r#"{"N":5}"#]);
    // What belongs to it changes.
    put(&store, "users/1", "7");
    with(off);
    put(&store, "users/1", "8");
    with(ON);
    let operation = CounterOperation { name: "Likes".to_owned(), action: CounterAction::Increment(1) };
    run(&store, |batch| batch.push_counters(CounterCommand::new("users/1", vec![operation], false).unwrap())).unwrap();
    assert_eq!(bodies(&store, "users/1")[..3], [r#"{"N":8}"#, r#"{"N":8}"#, r#"{"N":7}"#]);
    verify(&store);
}

#[test]
fn the_last_state_of_a_deleted_document_stays_as_long_as_its_deletion() {
    let store = store();
    let with = |limits| configure(&store, &[("Users", limits)]);
    with(CollectionRevisions { count_min: Some(1), ..ON });
    for body in ["1", "2"] {
        put(&store, "users/1", body);
    }
    delete(&store, "users/1");
    assert_eq!(bodies(&store, "users/1"), ["{}", r#"{"N":2}"#]);
    let enforce = || {
        let document_ids = vec!["users/1".to_owned()];
        change(&store, RevisionsWrite::Enforce { document_ids, with_forced: false })
    };
    assert_eq!(enforce(), 0);
    put(&store, "users/1", "3");
    assert_eq!(bodies(&store, "users/1"), [r#"{"N":3}"#]);
    // By age alone: the state is old when it is deleted, its deletion is not.
    with(CollectionRevisions { age_min: Some(36_000_000_000), ..ON });
    let at = |hours: u64, fill: &dyn Fn(&mut Batch)| {
        let mut batch = Batch::new();
        fill(&mut batch);
        let now = Date::from_ticks(Date::now().ticks() + hours * 36_000_000_000);
        store.apply(&Write::batch(batch), Stamp { time: now, ..store.stamp() }).unwrap().answer.outcome().unwrap();
    };
    at(0, &|batch| batch.put("users/2", &document("Users", "1"), Expected::Any).unwrap());
    at(0, &|batch| batch.put("users/2", &document("Users", "2"), Expected::Any).unwrap());
    at(9, &|batch| batch.delete("users/2", Expected::Any).unwrap());
    assert_eq!(bodies(&store, "users/2"), ["{}", r#"{"N":2}"#]);
    // Both are old.
    at(20, &|batch| batch.put("users/2", &document("Users", "3"), Expected::Any).unwrap());
    assert_eq!(bodies(&store, "users/2"), [r#"{"N":3}"#]);
    verify(&store);
}

#[test]
fn a_revision_can_be_forced() {
    let store = store();
    put(&store, "users/1", "0");
    let force = r#"{"Type":"ForceRevisionCreation","Id":"users/1"}"#;
    let created = |result| match result {
        CommandResult::Revision { is_created, flags, .. } => (is_created, flags.to_string()),
        other => panic!("{other:?}"),
    };
    assert_eq!(created(command(&store, force).unwrap()), (true, "HasRevisions".to_owned()));
    assert_eq!(created(command(&store, force).unwrap()), (false, "HasRevisions".to_owned()));
    put(&store, "users/1", "1");
    let before = r#"{"Type":"PUT","Id":"users/1","ForceRevisionCreationStrategy":"Before","Document":{"N":2,"@metadata":{"@collection":"Users"}}}"#;
    command(&store, before).unwrap();
    let expected =
        [r#"{"N":1} HasRevisions, Revision, ForceCreated"#, r#"{"N":0} HasRevisions, Revision, ForceCreated"#];
    assert_eq!(shown(&store, "users/1"), expected);
    let refused = command(&store, &before.replace("users/1", "users/2")).unwrap_err().to_string();
    assert!(refused.contains("the document was not saved on the server yet. document: users/2."), "{refused}");
    let refused = command(&store, &force.replace("users/1", "users/2")).unwrap_err().to_string();
    assert!(refused.contains("Failed to create revision for document users/2"), "{refused}");
    verify(&store);
}

#[test]
fn counters_are_kept_as_their_values() {
    let store = store();
    configure(&store, &[("Users", ON)]);
    put(&store, "users/1", "1");
    let raise = |delta| raise(&store, "Likes", delta);
    raise(3);
    assert_eq!(shown(&store, "users/1").len(), 2, "the name of a counter is part of the document");
    raise(4);
    assert_eq!(shown(&store, "users/1").len(), 2, "its value is not");
    put(&store, "users/1", "2");
    let snapshot = store.read();
    let place = snapshot.revisions("users/1", 0, 1).unwrap()[0];
    let revision = snapshot.revision_at(place).unwrap();
    assert_eq!(revision.document().unwrap().server_metadata(), br#""@counters-snapshot":{"Likes":7}"#);
    verify(&store);
}

#[test]
fn administrators_delete_enforce_adopt_revert_and_import() {
    let store = store();
    configure(&store, &[("Users", ON)]);
    let vectors: Vec<String> = ["1", "2", "3", "4"].iter().map(|body| put(&store, "users/1", body)).collect();
    let ids = || vec!["USERS/1".to_owned()];
    let delete_some = |vectors: Vec<String>, with_forced| {
        change(&store, RevisionsWrite::Delete { document_ids: ids(), vectors, from: None, to: None, with_forced })
    };
    assert_eq!(delete_some(vec![vectors[1].clone(), vectors[1].clone(), "x".to_owned()], true), 1);
    let revert = |to| change(&store, RevisionsWrite::Revert(vec![("users/1".to_owned(), to)]));
    assert_eq!(revert(RevertTo::Vector(vectors[0].clone())), 1);
    assert_eq!(flags(&store, "users/1"), "HasRevisions, Reverted");
    assert_eq!(shown(&store, "users/1")[0], r#"{"N":1} HasRevisions, Revision, Reverted"#);
    let wrong = RevisionsWrite::Revert(vec![("users/2".to_owned(), RevertTo::Vector(vectors[0].clone()))]);
    let refused = store.apply(&Write::Revisions(wrong), store.stamp()).unwrap_err().to_string();
    assert!(refused.contains("doesn't exist (id: 'users/2')"), "{refused}");
    configure(&store, &[("Users", CollectionRevisions { count_min: Some(2), ..ON })]);
    assert_eq!(change(&store, RevisionsWrite::Enforce { document_ids: ids(), with_forced: false }), 2);
    configure(&store, &[]);
    assert_eq!(change(&store, RevisionsWrite::Enforce { document_ids: ids(), with_forced: false }), 2);
    assert_eq!(flags(&store, "users/1"), "Reverted", "no revision is left");
    let text = r#"{"N":9,"@metadata":{"@collection":"Users","@change-vector":"B:7-other","@id":"users/7","@flags":"HasRevisions, Revision",
        "@last-modified":"2020-01-01T00:00:00.0000000Z"}}"#;
    let imported = || RevisionsWrite::Import(vec![ImportedRevision::parse(text.as_bytes()).unwrap()]);
    assert_eq!((change(&store, imported()), change(&store, imported())), (1, 0));
    assert!(bin(&store).is_empty());
    let adopt =
        || change(&store, RevisionsWrite::Adopt { document_ids: vec!["users/7".to_owned(), "users/1".to_owned()] });
    assert_eq!((adopt(), adopt()), (1, 0));
    assert_eq!(bin(&store), ["users/7"]);
    let clean = |before| change(&store, RevisionsWrite::CleanBin { before, count_max: 9 });
    assert_eq!(clean(Date::from_ticks(1)), 0);
    let documents = store.read().documents_with_revisions(None, 10).unwrap();
    assert_eq!(documents, [RevisionsOf { document_id: "users/7".to_owned(), collection: "Users".to_owned() }]);
    assert_eq!(clean(Date::from_ticks(u64::MAX >> 2)), 1);
    assert!(shown(&store, "users/7").is_empty() && bin(&store).is_empty());
    verify(&store);
}

#[test]
fn small_changes_cost_little() {
    let store = store();
    configure(&store, &[("Users", ON)]);
    let filler = |at: u64| format!("\"{}\"", "0123456789abcdef".repeat(640 / 4).replace('7', &(at % 10).to_string()));
    let body = |at: u64| format!(r#"[{at},{},{},{at},{},{}]"#, filler(1), filler(2), filler(3), at * 7919);
    for at in 0..100 {
        put(&store, "users/1", &body(at));
    }
    let size = store.read().statistics().unwrap().counts[ItemKind::Revision].size;
    let whole = store.read().get("users/1").unwrap().unwrap().size() as u64;
    assert!(size < 3 * whole, "{size} bytes for 100 revisions of {whole}");
    let snapshot = store.read();
    for (at, place) in snapshot.revisions("users/1", 0, 100).unwrap().into_iter().enumerate() {
        let revision = snapshot.revision_at(place).unwrap();
        assert_eq!(
            revision.document().unwrap().body().bytes(),
            format!(r#"{{"N":{}}}"#, body(99 - at as u64)).as_bytes()
        );
    }
    drop(snapshot);
    verify(&store);
}

fn model_run(seed: u64, steps: u32) {
    let mut random = Random::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let open = |model: &Model| {
        let environment = Environment::open(folder.path(), Options::default()).unwrap();
        let store = DocumentStore::open(environment, StoreOptions::default()).unwrap();
        model.configure(&store);
        store
    };
    let mut model = Model::default();
    let mut store = open(&model);
    for _ in 0..steps {
        match random.below(12) {
            0 => {
                drop(store);
                store = open(&model);
            }
            1 => {
                let copy = Environment::in_memory(Options::default()).unwrap();
                store.copy_into(&copy, |_| true).unwrap();
                compare(&DocumentStore::open(copy, StoreOptions::default()).unwrap(), &model);
            }
            _ => assert!(step(&mut random, &store, &mut model).is_ok()),
        }
        compare(&store, &model);
    }
    assert!(store.environment().verify().unwrap().problems.is_empty());
}

#[test]
fn revisions_are_what_a_list_says() {
    for seed in seeds::drawn(3, 60) {
        let _case = Case::of(seed);
        model_run(seed, effort::choose(120, 600));
    }
}

#[test]
fn a_revision_holds_the_contents_of_the_attachments_that_its_document_had() {
    let store = store();
    let attach = |command: &str, content: Option<&[u8]>| attach(&store, command, content);
    // References of attachments and of revisions together; each reference of a revision took an etag.
    let references = || store.read().content_reference_count().unwrap();
    let contents = || store.read().statistics().unwrap().content_count;
    let last_etag = || store.read().last_etag().unwrap();
    put(&store, "users/1", "1");
    attach(r#"{"Type":"AttachmentPUT","Id":"users/1","Name":"a.txt","ContentType":""}"#, Some(b"hello"));
    configure(&store, &[("Users", ON)]);
    // The state before lists it, and holds its content.
    attach(r#"{"Type":"AttachmentDELETE","Id":"users/1","Name":"a.txt","ChangeVector":null}"#, None);
    assert_eq!((shown(&store, "users/1").len(), contents(), references()), (2, 1, 1));
    verify(&store);
    attach(r#"{"Type":"AttachmentPUT","Id":"users/1","Name":"b.txt","ContentType":""}"#, Some(b"again"));
    assert_eq!((contents(), references()), (2, 3), "the attachment itself, and two of revisions");
    let before = last_etag();
    put(&store, "users/1", "2");
    assert_eq!(last_etag(), before + 3, "the document, its attachment in the revision, and the revision");
    delete(&store, "users/1");
    assert_eq!((contents(), references()), (2, 3), "revisions hold them");
    let snapshot = store.read();
    let place = snapshot.revisions("users/1", 1, 1).unwrap()[0];
    let revision = snapshot.revision_at(place).unwrap();
    let metadata = String::from_utf8_lossy(revision.document().unwrap().server_metadata()).into_owned();
    assert!(metadata.contains(r#""Name":"b.txt""#), "{metadata}");
    drop(revision);
    drop(snapshot);
    verify(&store);
    let document_ids = vec!["users/1".to_owned()];
    change(
        &store,
        RevisionsWrite::Delete { document_ids, vectors: Vec::new(), from: None, to: None, with_forced: true },
    );
    assert_eq!((contents(), references()), (0, 0));
    verify(&store);
}

#[test]
fn a_document_is_reverted_with_the_attachments_and_counters_of_its_revision() {
    let store = store();
    configure(&store, &[("Users", ON)]);
    put(&store, "users/1", "1");
    attach(&store, r#"{"Type":"AttachmentPUT","Id":"users/1","Name":"a.txt","ContentType":"x/y"}"#, Some(b"hello"));
    raise(&store, "Likes", 4);
    raise(&store, "Most", i64::MAX);
    let vector = put(&store, "users/1", "2");
    let of_revision =
        (vec![("a.txt".to_owned(), b"hello".to_vec())], vec![("Likes".to_owned(), 4), ("Most".to_owned(), i64::MAX)]);
    assert_eq!(belongings(&store), of_revision);
    let revert = || {
        let count = shown(&store, "users/1").len();
        let to = RevertTo::Vector(vector.clone());
        assert_eq!(change(&store, RevisionsWrite::Revert(vec![("users/1".to_owned(), to)])), 1);
        assert_eq!(belongings(&store), of_revision);
        assert_eq!(flags(&store, "users/1"), "HasRevisions, HasAttachments, HasCounters, Reverted");
        verify(&store);
        let shown = shown(&store, "users/1");
        assert_eq!(shown[0], r#"{"N":2} HasRevisions, Revision, HasAttachments, HasCounters, Reverted"#);
        shown.len() as i64 - count as i64
    };
    // Replaced, removed and added, in a document that stays.
    attach(&store, r#"{"Type":"AttachmentPUT","Id":"users/1","Name":"a.txt","ContentType":"x/y"}"#, Some(b"other"));
    attach(&store, r#"{"Type":"AttachmentPUT","Id":"users/1","Name":"b.txt","ContentType":""}"#, Some(b"more"));
    raise(&store, "Likes", -9);
    raise(&store, "Most", i64::MIN);
    raise(&store, "Most", -5);
    raise(&store, "New", 1);
    assert_eq!(revert(), 1, "the state that it got back");
    // A document that is deleted, with all that belonged to it.
    delete(&store, "users/1");
    assert_eq!(revert(), 1);
    assert!(bin(&store).is_empty());
    // The revision itself may go with the change, and the document is as it was.
    attach(&store, r#"{"Type":"AttachmentDELETE","Id":"users/1","Name":"a.txt","ChangeVector":null}"#, None);
    configure(&store, &[("Users", CollectionRevisions { count_min: Some(1), ..ON })]);
    revert();
    assert_eq!(shown(&store, "users/1").len(), 1);
    assert_eq!(store.read().statistics().unwrap().content_count, 1);
}

#[test]
fn documents_go_back_to_a_time_in_the_transaction_that_decides_it() {
    let store = store();
    configure(&store, &[("Users", ON)]);
    put(&store, "users/1", "1");
    put(&store, "users/2", "1");
    attach(&store, r#"{"Type":"AttachmentPUT","Id":"users/1","Name":"a.txt","ContentType":""}"#, Some(b"hello"));
    let last = store.read().get("users/1").unwrap().unwrap().last_modified();
    let time = loop {
        put(&store, "users/3", "1");
        let now = store.read().get("users/3").unwrap().unwrap().last_modified();
        if now > last {
            break Date::from_ticks(now.ticks() - 1);
        }
    };
    let ids = || ["users/1", "users/2", "users/3", "users/4"].map(str::to_owned).to_vec();
    let revert = || answer(&store, RevisionsWrite::RevertToTime { document_ids: ids(), time }).reverted().unwrap();
    let body = |id: &str| {
        store.read().get(id).unwrap().map(|document| String::from_utf8_lossy(document.body().bytes()).into_owned())
    };
    // An attachment that is gone makes another state, although the document itself is the same.
    attach(&store, r#"{"Type":"AttachmentDELETE","Id":"users/1","Name":"a.txt","ChangeVector":null}"#, None);
    delete(&store, "users/2");
    assert_eq!(revert(), Reverted { changed: 3, to_oldest: Vec::new() });
    assert_eq!(belongings(&store).0, [("a.txt".to_owned(), b"hello".to_vec())]);
    assert_eq!([body("users/2").as_deref(), body("users/3").as_deref()], [Some(r#"{"N":1}"#), None]);
    assert_eq!(revert(), Reverted::default(), "they are so");
    // The result names documents whose revisions of that time were removed by limits.
    configure(&store, &[("Users", CollectionRevisions { count_min: Some(2), ..ON })]);
    for number in 2..6 {
        put(&store, "users/1", &number.to_string());
    }
    assert_eq!(revert(), Reverted { changed: 1, to_oldest: vec!["users/1".to_owned()] });
    assert_eq!(body("users/1").as_deref(), Some(r#"{"N":4}"#));
    verify(&store);
}
