//! Attachments: their rules, uploads and what becomes of their contents, a model with rollbacks, and crashes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use rookery_documents::*;
use storage::io::simulated::{Fate, Fault, SimulatedIo};
use storage::{Environment, Options};

fn store() -> DocumentStore {
    DocumentStore::open(Environment::in_memory(Options::default()).unwrap(), StoreOptions::default()).unwrap()
}

fn apply(store: &DocumentStore, batch: Batch) -> Result<Outcome> {
    store.apply(&Write::batch(batch), store.stamp())?.answer.outcome()
}

fn put_document(store: &DocumentStore, id: &str) {
    let mut batch = Batch::new();
    batch.put(id, br#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#, Expected::Any).unwrap();
    apply(store, batch).unwrap();
}

fn delete_document(store: &DocumentStore, id: &str) {
    let mut batch = Batch::new();
    batch.delete(id, Expected::Any).unwrap();
    apply(store, batch).unwrap();
}

/// The answer of `bulk_docs` to some commands, with the database id as `DB`.
fn run(store: &DocumentStore, commands: &str, contents: &[&[u8]]) -> Result<String> {
    let body = format!(r#"{{"Commands":[{commands}]}}"#);
    let BulkDocs::Batch(mut batch) = BulkDocs::parse(body.as_bytes(), true)? else { panic!("it is a batch") };
    batch.give_contents(contents.iter().map(|content| NewContent::inline(*content)).collect())?;
    let mut out = Vec::new();
    apply(store, batch)?.write(&mut json::Writer::new(&mut out));
    Ok(String::from_utf8(out).unwrap().replace(store.database_id(), "DB"))
}

fn put(id: &str, name: &str, content_type: &str) -> String {
    format!(r#"{{"Type":"AttachmentPUT","Id":"{id}","Name":"{name}","ContentType":"{content_type}"}}"#)
}

fn delete(id: &str, name: &str) -> String {
    format!(r#"{{"Type":"AttachmentDELETE","Id":"{id}","Name":"{name}","ChangeVector":null}}"#)
}

fn carry(kind: &str, from: (&str, &str), to: (&str, &str)) -> String {
    format!(
        r#"{{"Type":"{kind}","Id":"{}","Name":"{}","DestinationId":"{}","DestinationName":"{}"}}"#,
        from.0, from.1, to.0, to.1
    )
}

/// The metadata of a document without what changes with the time.
fn metadata(store: &DocumentStore, id: &str) -> String {
    let snapshot = store.read();
    let mut out = Vec::new();
    snapshot.get(id).unwrap().expect("the document is there").write_metadata_only(&mut out);
    let text = String::from_utf8(out).unwrap().replace(store.database_id(), "DB");
    text.split(r#","@last-modified""#).next().unwrap().to_owned()
}

fn content(store: &DocumentStore, id: &str, name: &str) -> Option<Vec<u8>> {
    let snapshot = store.read();
    let attachment = snapshot.attachment(id, name).unwrap()?;
    let mut reading = snapshot.content(attachment.hash(), 0..u64::MAX).unwrap().expect("it has its content");
    let mut bytes = Vec::new();
    while let Some(piece) = reading.next().unwrap() {
        bytes.extend_from_slice(piece);
    }
    assert_eq!((bytes.len() as u64, ContentHash::of(&bytes)), (attachment.size(), attachment.hash()));
    Some(bytes)
}

fn counts(store: &DocumentStore) -> (u64, u64) {
    let statistics = store.read().statistics().unwrap();
    (statistics.counts[ItemKind::Attachment].count, statistics.content_count)
}

#[track_caller]
fn check_store(store: &DocumentStore) {
    assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
    assert_eq!(store.environment().verify().unwrap().problems, Vec::<String>::new());
}

const HELLO: &str = "Mk3PAn3UowqTLEQfNlol6GsXPe+kuOWJSCU0cbgbcs8=";

#[test]
fn attachments_are_put_listed_and_deleted_without_regard_to_case() {
    let store = store();
    put_document(&store, "Users/1");
    let commands = [put("users/1", "A.txt", "text/plain"), put("USERS/1", "_z", ""), put("users/1", "b", "x/y")];
    let answer = run(&store, &commands.join(","), &[b"hello", b"hello", b""]).unwrap();
    let first = format!(
        r#"{{"Results":[{{"Id":"users/1","Type":"AttachmentPUT","Name":"A.txt","ChangeVector":"A:2-DB","Hash":"{HELLO}","ContentType":"text/plain","Size":5,"DocumentChangeVector":"A:3-DB"}},{{"Id":"USERS/1""#
    );
    assert!(answer.starts_with(&first), "{answer}");
    let list = format!(
        r#"{{"@metadata":{{"@collection":"Users","@attachments":[{{"Name":"_z","Hash":"{HELLO}","ContentType":"","Size":5}},{{"Name":"A.txt","Hash":"{HELLO}","ContentType":"text/plain","Size":5}},{{"Name":"b","Hash":"DldRwCblQ7Loqy6wYJnaodHl30d3j3eH+qtFzfEv46g=","ContentType":"x/y","Size":0}}],"@change-vector":"A:7-DB","@flags":"HasAttachments","@id":"Users/1""#
    );
    assert_eq!(metadata(&store, "users/1"), list);
    assert_eq!((counts(&store), content(&store, "uSERS/1", "a.TXT").as_deref()), ((3, 2), Some(&b"hello"[..])));
    check_store(&store);
    // A PUT of the document keeps them, whatever it says.
    put_document(&store, "USERS/1");
    assert_eq!(store.read().attachments("users/1").unwrap().len(), 3);
    // Another content in the place of one, under another spelling.
    run(&store, &put("users/1", "a.TXT", ""), &[b"world"]).unwrap();
    assert_eq!((counts(&store), content(&store, "users/1", "A.txt").as_deref()), ((3, 3), Some(&b"world"[..])));
    assert_eq!(store.read().attachment("users/1", "A.txt").unwrap().unwrap().name(), "a.TXT");
    let deleted = run(&store, &delete("users/1", "A.TXT"), &[]).unwrap();
    let expected = r#"{"Results":[{"Id":"users/1","Type":"AttachmentDELETE","@id":"users/1","Name":"A.TXT","DocumentChangeVector":"A:12-DB"}]}"#;
    assert_eq!((deleted.as_str(), counts(&store)), (expected, (2, 2)));
    // What is not there is no error, and changes nothing.
    assert_eq!(run(&store, &delete("users/1", "A.TXT"), &[]).unwrap(), expected);
    let none = r#"{"Results":[{"Id":"none","Type":"AttachmentDELETE","@id":"none","Name":"a"}]}"#;
    assert_eq!(run(&store, &delete("none", "a"), &[]).unwrap(), none);
    assert_eq!(store.read().last_etag().unwrap(), 12);
    run(&store, &[delete("users/1", "_Z"), delete("users/1", "B")].join(","), &[]).unwrap();
    assert!(!metadata(&store, "users/1").contains("ttachments"), "{}", metadata(&store, "users/1"));
    assert_eq!(counts(&store), (0, 0));
    check_store(&store);
}

#[test]
fn attachments_go_with_their_document_and_their_contents_with_the_last() {
    let store = store();
    ["users/1", "users/2"].iter().for_each(|id| put_document(&store, id));
    let commands = [put("users/1", "a", ""), put("users/1", "b", ""), put("users/2", "a", "")];
    run(&store, &commands.join(","), &[b"same", b"other", b"same"]).unwrap();
    assert_eq!(counts(&store), (3, 2));
    delete_document(&store, "USERS/1");
    assert_eq!((counts(&store), content(&store, "users/2", "a").as_deref()), ((1, 1), Some(&b"same"[..])));
    check_store(&store);
    let snapshot = store.read();
    let deletions = snapshot.deletions(&[ItemKind::Attachment], Some("users"), 0).unwrap();
    let names: Vec<_> = deletions.map(|item| item.unwrap().attachment_name().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
    drop(snapshot);
    // A new document of the same id has none, and takes the place of the tombstones.
    put_document(&store, "users/1");
    assert_eq!(content(&store, "users/1", "a"), None);
    run(&store, &put("users/1", "a", ""), &[b"again"]).unwrap();
    assert_eq!(store.read().statistics().unwrap().counts[ItemKind::Attachment].tombstone_count, 1);
    store.write(Date::now(), |writing| writing.delete_prefixed("users/")).unwrap();
    assert_eq!(counts(&store), (0, 0));
    check_store(&store);
}

#[test]
fn attachments_are_moved_and_copied_to_names_that_are_free() {
    let store = store();
    ["users/1", "users/2"].iter().for_each(|id| put_document(&store, id));
    run(&store, &put("users/1", "a", "image/png"), &[b"hello"]).unwrap();
    let copy = run(&store, &carry("AttachmentCOPY", ("users/1", "A"), ("users/2", "copy")), &[]).unwrap();
    let expected = format!(
        r#"{{"Results":[{{"Id":"users/2","Type":"AttachmentCOPY","Name":"copy","ChangeVector":"A:5-DB","Hash":"{HELLO}","ContentType":"image/png","Size":5,"DocumentChangeVector":"A:6-DB"}}]}}"#
    );
    assert_eq!((copy, counts(&store)), (expected, (2, 1)));
    let moved = run(&store, &carry("AttachmentMOVE", ("users/1", "A"), ("users/2", "moved")), &[]).unwrap();
    let expected = format!(
        r#"{{"Results":[{{"Id":"users/1","Type":"AttachmentMOVE","Name":"A","DestinationId":"users/2","DestinationName":"moved","ChangeVector":"A:7-DB","Hash":"{HELLO}","ContentType":"image/png","Size":5,"DocumentChangeVector":"A:10-DB","DestinationDocumentChangeVector":"A:9-DB"}}]}}"#
    );
    assert_eq!((moved, counts(&store)), (expected, (2, 1)));
    let within = run(&store, &carry("AttachmentMOVE", ("users/2", "moved"), ("users/2", "renamed")), &[]).unwrap();
    assert!(
        within.contains(r#""DocumentChangeVector":"A:13-DB","DestinationDocumentChangeVector":"A:13-DB""#),
        "{within}"
    );
    check_store(&store);
    let error = |command: &str| run(&store, command, &[]).unwrap_err();
    for kind in ["AttachmentCOPY", "AttachmentMOVE"] {
        let taken = error(&carry(kind, ("users/2", "copy"), ("users/2", "RENAMED")));
        let text = "Attachment RENAMED of 'users/2' has change vector ";
        assert!(matches!(taken, Error::AttachmentConflict { .. }) && taken.to_string().starts_with(text), "{taken}");
        let missing = error(&carry(kind, ("users/1", "a"), ("users/2", "b")));
        assert_eq!(missing.to_string(), "There is no attachment with 'a' name for document 'users/1'.");
        let nowhere = error(&carry(kind, ("users/2", "copy"), ("none", "b")));
        assert!(matches!(nowhere, Error::NoDocumentForAttachment { .. }), "{nowhere}");
    }
    assert_eq!(store.read().last_etag().unwrap(), 13);
    check_store(&store);
}

#[test]
fn conditions_are_on_the_attachment_and_a_batch_is_one_transaction() {
    let store = store();
    put_document(&store, "users/1");
    run(&store, &put("users/1", "a", ""), &[b"hello"]).unwrap();
    let vector = store.read().attachment("users/1", "a").unwrap().unwrap().item().change_vector();
    let put_as = |vector: &str| {
        let mut batch = Batch::new();
        let command = AttachmentCommand::put("users/1", "a", "", NewContent::inline(&b"new"[..])).unwrap();
        batch.push_attachment(command, Expected::from_wire(Some(vector)));
        apply(&store, batch)
    };
    let stale = put_as("A:1-x").unwrap_err().to_string();
    let expected = format!(
        "Attachment a of 'users/1' has change vector {vector}, but Put was called with change vector A:1-x. Optimistic"
    );
    assert!(stale.starts_with(&expected), "{stale}");
    assert!(put_as("").unwrap_err().to_string().contains("expecting new document"));
    put_as(&vector).unwrap();
    // The second command fails: nothing of the first is left, its content neither.
    let both = [put("users/1", "b", ""), put("none", "b", "")].join(",");
    let error = run(&store, &both, &[b"lost", b"lost"]).unwrap_err();
    assert_eq!(error.to_string(), "Document 'none' does not exist. Cannot put attachment 'b' on a missing document.");
    assert_eq!((counts(&store), store.read().content_references(ContentHash::of(b"lost")).unwrap()), ((1, 1), 0));
    // An attachment of the same batch has no vector that could be told.
    let mut batch = Batch::new();
    for expected in [Expected::Any, Expected::Missing] {
        let command = AttachmentCommand::put("users/1", "c", "", NewContent::inline(&b"new"[..])).unwrap();
        batch.push_attachment(command, expected);
    }
    assert!(apply(&store, batch).unwrap_err().to_string().contains("earlier command of this batch"));
    check_store(&store);
}

#[test]
fn contents_and_commands_have_to_fit() {
    let store = store();
    put_document(&store, "users/1");
    let error = |commands: &str, contents: &[&[u8]]| run(&store, commands, contents).unwrap_err().to_string();
    let one = put("users/1", "a", "");
    assert!(error(&one, &[]).contains("has 1 commands 'AttachmentPUT', but 0 contents follow it"));
    assert!(error(&one, &[b"a", b"b"]).contains("has 1 commands 'AttachmentPUT', but 2 contents follow it"));
    let BulkDocs::Batch(batch) = BulkDocs::parse(format!(r#"{{"Commands":[{one}]}}"#).as_bytes(), true).unwrap() else {
        panic!("it is a batch")
    };
    assert!(Write::batch(batch.clone()).encode(&mut Vec::new()).is_err());
    assert!(apply(&store, batch).unwrap_err().to_string().contains("send the batch as multipart/form-data"));
    for name in ["", &"x".repeat(513), "a\\u0000b"] {
        assert!(run(&store, &put("users/1", name, ""), &[b"a"]).is_err(), "{name}");
    }
    assert!(error(&put("users/1", "a", &"x".repeat(1025)), &[b""]).contains("ATTACHMENT_TYPE_SIZE_MAX"));
    assert!(error(&put("users/1", "a", "a\\r\\nb"), &[b""]).contains("control character"));
    assert!(error(r#"{"Type":"AttachmentPUT","Id":"users/1"}"#, &[]).contains("text 'Name' that is not empty"));
    let remote = r#"{"Type":"AttachmentPUT","Id":"users/1","Name":"a","RemoteParameters":{"Identifier":"x"}}"#;
    assert!(error(remote, &[]).contains("does not support 'RemoteParameters' of an attachment yet"));
    assert_eq!(counts(&store), (0, 0));
}

fn append(store: &DocumentStore, id: UploadId, at: u64, bytes: &[u8]) -> Result<()> {
    let write = Write::Upload(Upload::Append { id, at, bytes: bytes.to_vec() });
    let mut log = Vec::new();
    write.encode(&mut log)?;
    store.apply(&Write::decode(&log)?, store.stamp()).map(drop)
}

fn put_content(store: &DocumentStore, name: &str, content: NewContent) -> Result<Outcome> {
    let mut batch = Batch::new();
    batch.push_attachment(AttachmentCommand::put("users/1", name, "", content)?, Expected::Any);
    apply(store, batch)
}

#[test]
fn an_upload_is_linked_once_and_shares_its_content() {
    let store = store();
    put_document(&store, "users/1");
    let bytes: Vec<u8> = (0..3_000_000u32).map(|at| (at * 7 / 3) as u8).collect();
    let hash = ContentHash::of(&bytes);
    let upload = |id| {
        for (at, piece) in bytes.chunks(1_000_000).enumerate() {
            append(&store, id, at as u64 * 1_000_000, piece).unwrap();
        }
        NewContent::uploaded(id, hash, bytes.len() as u64)
    };
    let (first, second) = (UploadId::random(), UploadId::random());
    put_content(&store, "a", upload(first)).unwrap();
    assert!(content(&store, "users/1", "a").as_ref() == Some(&bytes));
    // The same bytes again: the upload goes, the content is there once.
    put_content(&store, "b", upload(second)).unwrap();
    put_content(&store, "c", NewContent::known(hash)).unwrap();
    assert_eq!((counts(&store), store.read().content_references(hash).unwrap()), ((3, 1), 3));
    for id in [first, second, UploadId::random()] {
        let again = NewContent::uploaded(id, hash, bytes.len() as u64);
        assert!(matches!(put_content(&store, "d", again), Err(Error::UploadLost)));
    }
    // A piece that does not continue its upload is refused.
    let third = UploadId::random();
    append(&store, third, 0, b"12345").unwrap();
    for at in [0, 4, 6] {
        assert!(matches!(append(&store, third, at, b"6"), Err(Error::UploadLost)), "{at}");
    }
    let cancel = Write::Upload(Upload::Cancel(vec![third, UploadId::random()]));
    store.apply(&cancel, store.stamp()).unwrap();
    assert!(matches!(append(&store, third, 5, b"6"), Err(Error::UploadLost)));
    check_store(&store);
    // What is opened again has no upload, and its contents.
    append(&store, UploadId::random(), 0, b"left").unwrap();
    store.remove_uploads().unwrap();
    delete_document(&store, "users/1");
    while store.apply(&Write::Upload(Upload::Free), store.stamp()).unwrap().answer.count().unwrap() > 0 {}
    assert!(!store.read().has_contents_to_free().unwrap());
    check_store(&store);
}

#[test]
fn planted_damage_is_found() {
    let store = store();
    ["users/1", "users/2"].iter().for_each(|id| put_document(&store, id));
    let commands = [put("users/1", "a", ""), put("users/2", "a", "")];
    run(&store, &commands.join(","), &[b"hello", b"world"]).unwrap();
    let contents = storage::Contents::open(&store.environment().read(), b"contents").unwrap().unwrap();
    let problems = || store.read().verify().unwrap().problems;
    let hello = ContentHash::of(b"hello");
    let raw = |hash: ContentHash| {
        let mut found = Vec::new();
        let tx = store.environment().read();
        contents
            .for_each(&tx, |key, _| {
                found.push(key.to_vec());
                Ok::<_, storage::Error>(())
            })
            .unwrap();
        found.into_iter().find(|key| base64::encode(key) == hash.to_string()).expect("the content is there")
    };
    let key = raw(hello);
    store.environment().write(|tx| contents.add_reference(tx, &key)).unwrap();
    let expected = [
        format!("the content {hello} counts 2 references, but has 1"),
        "references to contents are counted as Ok(2), but there are 3".to_owned(),
    ];
    assert_eq!(problems(), expected);
    store.environment().write(|tx| contents.unlink(tx, &key)).unwrap();
    assert_eq!(problems(), Vec::<String>::new());
    store.environment().write(|tx| contents.unlink(tx, &key)).unwrap();
    let found = problems();
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found[0].ends_with("the attachment 'a' of 'users/1' has no content"), "{found:?}");
    assert_eq!(found[1], format!("the content {hello} has 1 references, but is not there"));
    assert_eq!(found[2], "contents are counted as Ok(2), but there are 1");
    assert_eq!(found[3], "references to contents are counted as Ok(2), but there are 1");
    store.write(Date::now(), |writing| writing.put_server_metadata("users/2", b"")).unwrap();
    assert!(problems().iter().any(|problem| problem.contains("'users/2' has the flag of attachments and no list")));
}

#[test]
fn a_compacted_copy_has_attachments_and_contents() {
    let store = store();
    put_document(&store, "users/1");
    run(&store, &[put("users/1", "a", "x/y"), put("users/1", "b", "")].join(","), &[b"hello", b"hello"]).unwrap();
    append(&store, UploadId::random(), 0, b"not linked").unwrap();
    let target = Environment::in_memory(Options::default()).unwrap();
    assert!(store.copy_into(&target, |_| true).unwrap());
    let copy = DocumentStore::open(target, StoreOptions::default()).unwrap();
    assert_eq!((counts(&copy), content(&copy, "users/1", "b").as_deref()), ((2, 1), Some(&b"hello"[..])));
    assert_eq!(metadata(&copy, "users/1"), metadata(&store, "users/1"));
    check_store(&copy);
    let mut line = Vec::new();
    let snapshot = copy.read();
    snapshot.items(&[ItemKind::Attachment], None, 0).unwrap().next().unwrap().unwrap().dump(&mut line);
    let expected = format!(
        r#"{{"@attachment":{{"DocumentId":"users/1","Name":"a","Hash":"{HELLO}","ContentType":"x/y","Size":5}}}}"#
    );
    assert_eq!(String::from_utf8(line).unwrap(), expected);
}

/// Contents of the model: some small, one of several chunks.
fn model_content(number: usize) -> Vec<u8> {
    if number == 3 { vec![7; 2_500_000] } else { format!("content {number}").into_bytes() }
}

#[derive(Clone, Debug)]
enum Step {
    PutDocument(usize),
    DeleteDocument(usize),
    Put(usize, usize, usize),
    Delete(usize, usize),
    Copy(usize, usize, usize, usize),
    Move(usize, usize, usize, usize),
    /// A batch whose last command fails.
    Fail(usize, usize, usize),
    /// An upload without a command.
    Abandon(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let (id, name, content) = (0..3usize, 0..3usize, 0..4usize);
    prop_oneof![
        2 => id.clone().prop_map(Step::PutDocument),
        1 => id.clone().prop_map(Step::DeleteDocument),
        6 => (id.clone(), name.clone(), content.clone()).prop_map(|(id, name, content)| Step::Put(id, name, content)),
        2 => (id.clone(), name.clone()).prop_map(|(id, name)| Step::Delete(id, name)),
        2 => (id.clone(), name.clone(), id.clone(), name.clone()).prop_map(|(a, b, c, d)| Step::Copy(a, b, c, d)),
        2 => (id.clone(), name.clone(), id.clone(), name.clone()).prop_map(|(a, b, c, d)| Step::Move(a, b, c, d)),
        1 => (id, name, content.clone()).prop_map(|(id, name, content)| Step::Fail(id, name, content)),
        1 => content.prop_map(Step::Abandon),
        1 => Just(Step::Reopen),
    ]
}

/// Documents, each with its attachments.
type Model = BTreeMap<usize, BTreeMap<usize, usize>>;

fn model_id(id: usize) -> String {
    format!("users/{id}")
}

fn model_name(name: usize) -> &'static str {
    ["a", "Bb", "ä"][name]
}

/// The content of the model: with its command, or uploaded in two pieces.
fn new_content(store: &DocumentStore, number: usize) -> NewContent {
    let bytes = model_content(number);
    if number < 2 {
        return NewContent::inline(bytes);
    }
    let (id, half) = (UploadId::random(), bytes.len() / 2);
    append(store, id, 0, &bytes[..half]).unwrap();
    append(store, id, half as u64, &bytes[half..]).unwrap();
    NewContent::uploaded(id, ContentHash::of(&bytes), bytes.len() as u64)
}

fn run_step(store: &DocumentStore, model: &mut Model, step: &Step) {
    let put = |id: usize, name: usize, content: usize| {
        let command = AttachmentCommand::put(&model_id(id), model_name(name), "t", new_content(store, content));
        command.unwrap()
    };
    let mut batch = Batch::new();
    match *step {
        Step::PutDocument(id) => {
            put_document(store, &model_id(id));
            model.entry(id).or_default();
        }
        Step::DeleteDocument(id) => {
            delete_document(store, &model_id(id));
            model.remove(&id);
        }
        Step::Put(id, name, content) => {
            batch.push_attachment(put(id, name, content), Expected::Any);
            assert_eq!(apply(store, batch).is_ok(), model.contains_key(&id));
            model.entry(id).and_modify(|attachments| _ = attachments.insert(name, content));
        }
        Step::Delete(id, name) => {
            run(store, &delete(&model_id(id), model_name(name)), &[]).unwrap();
            model.entry(id).and_modify(|attachments| _ = attachments.remove(&name));
        }
        Step::Copy(from, name, to, to_name) | Step::Move(from, name, to, to_name) => {
            let kind = if matches!(step, Step::Copy(..)) { "AttachmentCOPY" } else { "AttachmentMOVE" };
            let (from_id, to_id) = (model_id(from), model_id(to));
            let command = carry(kind, (&from_id, model_name(name)), (&to_id, model_name(to_name)));
            let outcome = run(store, &command, &[]);
            let content = model.get(&from).and_then(|attachments| attachments.get(&name)).copied();
            let is_free = model.get(&to).is_some_and(|attachments| !attachments.contains_key(&to_name));
            assert_eq!(outcome.is_ok(), content.is_some() && is_free, "{outcome:?}");
            if let (Ok(_), Some(content)) = (outcome, content) {
                model.entry(to).and_modify(|attachments| _ = attachments.insert(to_name, content));
                if kind == "AttachmentMOVE" {
                    model.entry(from).and_modify(|attachments| _ = attachments.remove(&name));
                }
            }
        }
        Step::Fail(id, name, content) => {
            batch.push_attachment(put(id, name, content), Expected::Any);
            batch.push_attachment(put(9, name, content), Expected::Any);
            assert!(apply(store, batch).is_err());
        }
        Step::Abandon(content) => drop(new_content(store, content)),
        Step::Reopen => {}
    }
}

fn check_model(store: &DocumentStore, model: &Model) {
    for id in 0..3 {
        for name in 0..3 {
            let expected = model.get(&id).and_then(|attachments| attachments.get(&name)).copied().map(model_content);
            assert!(content(store, &model_id(id), model_name(name)) == expected, "{id} {name}");
        }
    }
    let all: Vec<usize> = model.values().flat_map(|attachments| attachments.values().copied()).collect();
    let unique: std::collections::BTreeSet<usize> = all.iter().copied().collect();
    assert_eq!(counts(store), (all.len() as u64, unique.len() as u64));
    check_store(store);
}

fn open(disk: &SimulatedIo) -> DocumentStore {
    let options = Options { io: Arc::new(disk.clone()), background: false, ..Options::default() };
    let environment = Environment::open(Path::new("/x"), options).unwrap();
    let store = DocumentStore::open(environment, StoreOptions::default()).unwrap();
    store.remove_uploads().unwrap();
    store
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::effort::choose(12, 200), ..ProptestConfig::default() })]

    #[test]
    fn random_steps_agree_with_a_model(steps in prop::collection::vec(step(), 1..30)) {
        let disk = SimulatedIo::new();
        let (mut store, mut model) = (open(&disk), Model::new());
        for step in &steps {
            run_step(&store, &mut model, step);
            if matches!(step, Step::Reopen) {
                drop(store);
                store = open(&disk);
            }
        }
        check_model(&store, &model);
        // What was acknowledged survives a power cut, a content with its attachment.
        let crashed = open(&disk.crash(|| Fate::Lost));
        check_model(&crashed, &model);
    }
}

/// Puts, an upload in pieces, a move and a deletion; gives how many steps were acknowledged before the disk failed.
fn crash_history(store: &DocumentStore, large: &[u8]) -> usize {
    let id = UploadId::random();
    let (first, second) = large.split_at(1_000_000);
    let uploaded = NewContent::uploaded(id, ContentHash::of(large), large.len() as u64);
    let steps: [&dyn Fn() -> bool; 6] = [
        &|| put_content(store, "a", NewContent::inline(&b"hello"[..])).is_ok(),
        &|| append(store, id, 0, first).is_ok(),
        &|| append(store, id, first.len() as u64, second).is_ok(),
        &|| put_content(store, "b", uploaded.clone()).is_ok() && store.environment().flush().is_ok(),
        &|| run(store, &carry("AttachmentMOVE", ("users/1", "b"), ("users/1", "c")), &[]).is_ok(),
        &|| run(store, &delete("users/1", "a"), &[]).is_ok(),
    ];
    steps.iter().take_while(|step| step()).count()
}

/// The disk fails at each operation of a history, and the power with it: what was acknowledged is there, with its content, and what was
/// not is there as a whole or not at all.
#[test]
fn a_crash_at_any_operation_leaves_contents_and_attachments_together() {
    let large = vec![5u8; 1_500_000];
    let names: [&[&str]; 7] = [&[], &["a"], &["a"], &["a"], &["a", "b"], &["a", "c"], &["c"]];
    let (mut at, mut is_whole) = (0, false);
    while !is_whole {
        let disk = SimulatedIo::new();
        let store = open(&disk);
        put_document(&store, "users/1");
        disk.fail_at(Some(Fault { at: disk.operations() + at, for_ever: true, kind: std::io::ErrorKind::Other }));
        let done = crash_history(&store, &large);
        is_whole = done == 6;
        disk.fail_at(None);
        for fate in [Fate::Lost, Fate::Persisted, Fate::Torn(0x5555_5555_5555_5555)] {
            let crashed = open(&disk.crash(|| fate));
            check_store(&crashed);
            let snapshot = crashed.read();
            let found: Vec<&str> =
                snapshot.attachments("users/1").unwrap().iter().map(|attachment| attachment.name()).collect();
            let is_next = done < 6 && found == names[done + 1];
            assert!(found == names[done] || is_next, "{at}: {done} steps, then {found:?}");
            for name in found {
                let expected = if name == "a" { b"hello".to_vec() } else { large.clone() };
                assert!(content(&crashed, "users/1", name) == Some(expected), "{at}: {name}");
            }
        }
        at += 1;
    }
    assert!(at > 15, "the history has {at} operations");
}
