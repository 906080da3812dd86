//! A log of writes, replayed on a second store, gives equal answers and equal bytes.

use std::sync::Arc;

use rookery_documents::*;
use storage::{Environment, Options};
use testing::effort;
use testing::random::Random;
use testing::seeds::{self, Case};

use crate::document_model::{COLLECTIONS, random_id};

const DUE_DATES: [&str; 2] = ["2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z"];

/// Properties of metadata that name due times, or nothing.
fn due(random: &mut Random) -> String {
    let properties = DueKind::OF_DOCUMENTS.iter().filter_map(|kind| {
        let date = (random.below(3) == 0).then(|| *random.of(&DUE_DATES))?;
        Some(format!(",\"{}\":\"{date}\"", kind.property()))
    });
    properties.collect()
}

/// Members of one group have one database id.
fn open() -> DocumentStore {
    let options = StoreOptions { new_database_id: Some([7; 16]), ..StoreOptions::default() };
    DocumentStore::open(Environment::in_memory(Options::default()).unwrap(), options).unwrap()
}

/// A patch that puts whether another document is there.
struct Peeking;

impl ScriptRunner for Peeking {
    type Error = Error;

    fn run(&mut self, script: &PatchScript, id: &str, _: Option<&PatchInput>, view: &mut View<'_>) -> Result<PatchRun> {
        let beside = format!("beside/{id}");
        let has_beside = view.get(&beside)?.is_some();
        let json = format!("{{\"Beside\":{has_beside},\"Script\":\"{}\"}}", script.script);
        Ok(PatchRun { json: json.into_bytes(), effects: Vec::new(), debug: b"{}".to_vec() })
    }

    fn hold(&mut self, _: usize) -> Result<()> {
        Ok(())
    }
}

fn expected(random: &mut Random, store: &DocumentStore, id: &str) -> Expected {
    match random.below(6) {
        0 => Expected::Missing,
        1 => Expected::Vector("A:999999-x".to_owned()),
        2 => store.read().get(id).unwrap().map_or(Expected::Any, |found| Expected::Vector(found.change_vector())),
        _ => Expected::Any,
    }
}

/// Operations on counters, which fail if the document is not there.
fn counters(random: &mut Random, id: &str) -> CounterCommand {
    let operations = (0..=random.below(3)).map(|_| {
        let name = ["likes", "LIKES", "é"][random.below(3) as usize].to_owned();
        let action = match random.below(6) {
            0 => CounterAction::Delete,
            1 => CounterAction::Get,
            2 => CounterAction::GetAll,
            3 => {
                let database = [random.below(3) as u8; 16];
                CounterAction::Merge(vec![NodeValue { database, value: -5, etag: random.below(50) }])
            }
            _ => CounterAction::Increment(random.below(1000) as i64 - 500),
        };
        CounterOperation { name, action }
    });
    CounterCommand::new(id, operations.collect(), random.below(2) == 0).unwrap()
}

/// Commands on attachments, which mostly fail if something is not there.
fn attachment(random: &mut Random, id: &str) -> AttachmentCommand {
    let name = ["a", "A", "b"][random.below(3) as usize];
    let (to_id, to_name) = (random_id(random), "b".to_owned());
    let action = match random.below(6) {
        0 => AttachmentAction::Delete,
        1 => AttachmentAction::Move { to_id, to_name },
        2 => AttachmentAction::Copy { to_id, to_name },
        _ => {
            let content = Some(NewContent::inline(vec![random.below(3) as u8; random.below(3000) as usize]));
            AttachmentAction::Put { content_type: "x/y".to_owned(), content, is_imported: random.below(2) == 0 }
        }
    };
    AttachmentCommand::new(id, name, action).unwrap()
}

fn batch(random: &mut Random, store: &DocumentStore, mut batch: Batch) -> Batch {
    for _ in 0..=random.below(5) {
        let id = match random.below(6) {
            0 => "Users/".to_owned(),
            1 => "b|".to_owned(),
            2 => String::new(),
            _ => random_id(random),
        };
        let expected = expected(random, store, &id);
        match random.below(12) {
            10 | 11 if !id.is_empty() && !id.ends_with(['/', '|']) => {
                batch.push_attachment(attachment(random, &id), Expected::Any);
            }
            8 | 9 if !id.is_empty() && !id.ends_with(['/', '|']) => batch.push_counters(counters(random, &id)),
            0..=3 => {
                let collection = COLLECTIONS[random.below(4) as usize];
                let text = format!(
                    "{{\"N\":{},\"S\":\"{}\",\"@metadata\":{{\"@collection\":\"{collection}\"{}}}}}",
                    random.below(3),
                    "s".repeat(random.below(2000) as usize),
                    due(random)
                );
                batch.put(&id, text.as_bytes(), expected).unwrap();
            }
            4 | 5 if !id.is_empty() => batch.delete(&id, expected).unwrap(),
            6 if !id.is_empty() => batch.delete_prefixed(&id).unwrap(),
            _ if !id.is_empty() => {
                let patch = PatchScript { script: "add".to_owned(), values: b"{}".to_vec() };
                let request = PatchRequest {
                    patch,
                    if_missing: None,
                    create_if_missing: (random.below(2) == 0).then(|| b"{\"New\":true}".to_vec()),
                    returns_document: true,
                    skips_mismatch: random.below(2) == 0,
                };
                batch.patch(&id, expected, request).unwrap();
            }
            _ => {}
        }
    }
    batch
}

fn value_change(random: &mut Random, store: &DocumentStore) -> ValueChange {
    let key = *random.of(&["k1", "K1", "k2"]);
    let stored = store.read().compare_exchange_value(key).unwrap().map_or(0, |value| value.index());
    let index = match random.below(4) {
        0 => None,
        1 => Some(7),
        _ => Some(stored),
    };
    match random.below(3) {
        0 => ValueChange::delete(key, index).unwrap(),
        1 => ValueChange::put(key, format!("{{\"Object\":{}}}", random.below(9)).as_bytes(), index).unwrap(),
        _ => {
            let date = *random.of(&DUE_DATES);
            let json = format!("{{\"Object\":1,\"@metadata\":{{\"@expires\":\"{date}\"}}}}");
            ValueChange::put(key, json.as_bytes(), index).unwrap()
        }
    }
}

fn transaction(random: &mut Random, store: &DocumentStore) -> ClusterTransaction {
    let id = random_id(random);
    let vector = store.read().get(&id).unwrap().map_or(String::new(), |document| document.change_vector());
    let command = match random.below(3) {
        0 => format!("{{\"Type\":\"DELETE\",\"Id\":\"{id}\",\"OriginalChangeVector\":\"{vector}\"}}"),
        _ => format!("{{\"Type\":\"PUT\",\"Id\":\"{id}\",\"Document\":{{}},\"OriginalChangeVector\":\"{vector}\"}}"),
    };
    let value = r#"{"Type":"CompareExchangePUT","Id":"t","Document":{"Object":1}}"#;
    let body = format!("{{\"TransactionMode\":\"ClusterWide\",\"Commands\":[{value},{command}]}}");
    match BulkDocs::parse(body.as_bytes(), random.below(3) > 0).unwrap() {
        BulkDocs::ClusterWide(transaction) => transaction,
        BulkDocs::Batch(batch) => panic!("{batch:?}"),
    }
}

/// Any write; `None` for a batch whose patches cannot be resolved.
fn revisions_write(random: &mut Random, store: &DocumentStore) -> RevisionsWrite {
    let document_ids: Vec<String> = (0..random.below(4)).map(|_| random_id(random)).collect();
    let with_forced = random.below(2) == 0;
    let snapshot = store.read();
    let found = document_ids.first().and_then(|id| Some((id.clone(), *snapshot.revisions(id, 0, 9).unwrap().last()?)));
    let vector = found.map(|(id, place)| {
        let revision = snapshot.revision_at(place).unwrap();
        (id, revision.document().unwrap().change_vector())
    });
    match (random.below(6), vector) {
        (0, _) => RevisionsWrite::Enforce { document_ids, with_forced },
        (1, _) => RevisionsWrite::Adopt { document_ids },
        (2, Some((id, vector))) => RevisionsWrite::Revert(vec![(id, RevertTo::Vector(vector))]),
        (2, None) => RevisionsWrite::Revert(document_ids.into_iter().map(|id| (id, RevertTo::Deleted)).collect()),
        (3, _) => {
            let time = snapshot.get(&random_id(random)).unwrap().map(|document| document.last_modified());
            RevisionsWrite::RevertToTime { document_ids, time: time.unwrap_or_default() }
        }
        (4, _) => {
            let etag = random.below(1 << 20);
            let text = format!(
                r#"{{"N":{etag},"@metadata":{{"@collection":"Users","@change-vector":"B:{etag}-other","@id":"{}","@flags":"{}",
                "@last-modified":"2020-01-01T00:00:00.0000000Z"}}}}"#,
                random_id(random),
                random.of(&["HasRevisions, Revision", "HasRevisions, DeleteRevision"])
            );
            RevisionsWrite::Import(ImportedRevision::parse(text.as_bytes()).into_iter().collect())
        }
        (_, vector) => {
            let vectors = vector.map(|(_, vector)| vector).into_iter().filter(|_| with_forced).collect();
            RevisionsWrite::Delete { document_ids, vectors, from: None, to: None, with_forced }
        }
    }
}

fn write(random: &mut Random, store: &DocumentStore) -> Option<Write> {
    let etag = random.below(store.read().last_etag().unwrap() + 1);
    Some(match random.below(22) {
        0 => Write::NextHiLo(HiLoRequest {
            tag: "Tags".to_owned(),
            last_batch_size: 32,
            last_range_at: (random.below(2) == 0).then(Date::now),
            separator: Some('/'),
            last_max: random.below(100),
        }),
        1 => {
            let end = 32 * random.below(8);
            Write::ReturnHiLo { tag: "Tags".to_owned(), end, last: end.saturating_sub(random.below(40)) }
        }
        2 => Write::NextIdentity { name: "b".to_owned() },
        3 => {
            let value = random.below(200) as i64 - 100;
            Write::SeedIdentity { name: "C|".to_owned(), value, is_forced: random.below(2) == 0 }
        }
        4 => Write::NewId { prefix: "Users/".to_owned() },
        5 => Write::DeleteUntil { ids: (0..random.below(5)).map(|_| random_id(random)).collect(), etag },
        6 => {
            let name = COLLECTIONS[random.below(5) as usize].to_owned();
            Write::DeleteCollection { name, etag, count_max: random.below(10) as usize }
        }
        7 => Write::CleanTombstones { etag, count_max: random.below(10) as usize },
        8 => {
            let (kind, name) = ("index".to_owned(), ["a", "B"][random.below(2) as usize].to_owned());
            let put = DefinitionChange::Put {
                kind: kind.clone(),
                name: name.clone(),
                generation: random.below(2).into(),
                definition: random.next().to_string().into_bytes(),
            };
            let changes = [DefinitionChange::Delete { kind, name: "A".to_owned() }, put];
            Write::Definitions(changes.into_iter().skip(random.below(2) as usize).collect())
        }
        9 => {
            let writes = (0..random.below(3)).map(|_| {
                let mut batch = Batch::of_index();
                let id = format!("out/{}", random.below(3));
                batch.put(&id, b"{\"Total\":1}", expected(random, store, &id)).unwrap();
                OutputWrite { batch, surplus: (random.below(2) == 0).then(|| ("out/x".to_owned(), 2)) }
            });
            let writes = writes.collect();
            Write::Outputs(OutputWrites { only_if: ("index".to_owned(), "b".to_owned(), 1), writes })
        }
        10 | 11 => {
            let kind = *random.of(&DueKind::ALL);
            let until = Date::parse(DUE_DATES[random.below(2) as usize]).unwrap();
            Write::Due { kind, until, count_max: random.below(5) as usize }
        }
        12 | 13 => Write::Exchange(value_change(random, store)),
        14 => Write::Exchanges((0..random.below(3)).map(|_| value_change(random, store)).collect()),
        15 | 16 => Write::ClusterTransaction(transaction(random, store)),
        17 => Write::Revisions(revisions_write(random, store)),
        _ => {
            let given = Batch::new().skip_unchanged(random.below(2) == 0);
            let given = batch(random, store, given);
            let batch = given.resolve(&store.read(), &mut Peeking).ok()?;
            Write::Batch { batch, has_results: random.below(2) == 0 }
        }
    })
}

/// An answer without what is told of patches, which is not in the log.
fn told(answer: &Result<Applied>) -> String {
    let answer = answer.as_ref().map(|applied| {
        let mut applied = applied.clone();
        if let Answer::Outcome(outcome) = &mut applied.answer {
            let is_of_patch =
                |result: &CommandResult| matches!(result, CommandResult::Patch { .. } | CommandResult::PatchMany);
            outcome.results.retain(|result| !is_of_patch(result));
        }
        applied
    });
    format!("{answer:?}")
}

/// All that clients can see of a store: documents with their metadata, deletions, collections, identities, definitions.
fn contents(store: &DocumentStore) -> Vec<String> {
    let snapshot = store.read();
    let mut all = vec![format!("{:?}", snapshot.statistics().unwrap()), snapshot.change_vector().unwrap()];
    all.push(format!("{:?} {:?}", snapshot.collections().unwrap(), snapshot.identities().unwrap()));
    all.push(format!("{:?}", snapshot.definitions("index").unwrap()));
    for change in snapshot.changes(&ItemKind::all().collect::<Vec<_>>(), None, 0).unwrap() {
        let change = change.unwrap();
        let (etag, vector, date) = (change.etag(), change.change_vector(), change.last_modified());
        let mut text = format!("{etag} {vector} {date} {} {} ", change.is_deleted(), change.id()).into_bytes();
        change.dump(&mut text);
        all.push(String::from_utf8(text).unwrap());
    }
    all
}

fn run(seed: u64, steps: u32) {
    let mut random = Random::new(seed);
    let (first, mut log) = (open(), Vec::new());
    let mut answers = Vec::new();
    for _ in 0..steps {
        let Some(write) = write(&mut random, &first) else { continue };
        let time = Date::from_ticks(638_000_000_000_000_000 + random.below(1 << 40));
        let limits = CollectionRevisions {
            is_disabled: random.below(8) == 0,
            count_min: Some(random.below(6)).filter(|count| *count < 5),
            purges_on_delete: random.below(4) == 0,
            ..CollectionRevisions::default()
        };
        let collections = vec![("users".to_owned(), limits)];
        let revisions =
            Arc::new(RevisionsConfiguration { default: Some(limits).filter(|_| random.below(4) == 0), collections });
        let stamp = Stamp { time, id_separator: *random.of(&['/', '-']), revisions };
        let (mut bytes, mut stamp_bytes) = (Vec::new(), Vec::new());
        write.encode(&mut bytes).unwrap();
        stamp.encode(&mut stamp_bytes);
        answers.push(told(&first.apply(&write, stamp)));
        log.push((stamp_bytes, bytes));
    }
    let second = open();
    for (step, (stamp, bytes)) in log.iter().enumerate() {
        let write = Write::decode(bytes).unwrap();
        let mut again = Vec::new();
        write.encode(&mut again).unwrap();
        assert!(again == *bytes, "step {step}: {write:?} is encoded otherwise than it was");
        let answer = told(&second.apply(&write, Stamp::decode(stamp).unwrap()));
        assert_eq!(answer, answers[step], "step {step}: {write:?}");
    }
    let (first, second) = (contents(&first), contents(&second));
    assert!(first.len() > 20, "{first:?}");
    assert_eq!(first, second);
}

#[test]
fn a_replayed_log_gives_equal_answers_and_equal_bytes() {
    for seed in seeds::drawn(8, 200) {
        let _case = Case::of(seed);
        run(seed, effort::choose(400, 1000));
    }
}

#[test]
fn bytes_that_are_no_write_are_refused() {
    let mut random = Random::new(1);
    let store = open();
    for _ in 0..300 {
        let Some(write) = write(&mut random, &store) else { continue };
        let mut bytes = Vec::new();
        write.encode(&mut bytes).unwrap();
        store.apply(&write, store.stamp()).ok();
        for size in 0..bytes.len().min(200) {
            assert!(Write::decode(&bytes[..size]).is_err(), "{size} bytes of {write:?}");
        }
        bytes.push(0);
        assert!(matches!(Write::decode(&bytes), Err(Error::BadWrite { .. })), "{write:?}");
    }
    assert!(matches!(Write::decode(&[2, 1]), Err(Error::BadWrite { .. })));
    assert!(matches!(Stamp::decode(&[1]), Err(Error::BadWrite { .. })));
}

#[test]
fn a_patch_that_is_not_resolved_cannot_be_logged() {
    let patch = PatchScript { script: "x".to_owned(), values: b"{}".to_vec() };
    let request = PatchRequest {
        patch,
        if_missing: None,
        create_if_missing: None,
        returns_document: false,
        skips_mismatch: false,
    };
    let mut batch = Batch::new();
    batch.patch("a", Expected::Any, request).unwrap();
    assert!(matches!(Write::batch(batch).encode(&mut Vec::new()), Err(Error::BadBatch { .. })));
}
