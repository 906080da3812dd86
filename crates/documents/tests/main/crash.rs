//! Crashes of the document store at every operation of a simulated disk.
//!
//! The oracle: after a crash and opening again there is the state after the last batch that was answered, or after the one
//! that was in flight; every rule of the format holds; the database id is the same; etags go on above what was answered.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use rookery_documents::*;
use storage::io::simulated::{Fate, Fault, SimulatedIo};
use storage::{Environment, Options};
use testing::random::Random;
use testing::seeds::{Case, seeds};

use crate::document_model::{Model, command, compare};
use crate::revision_model;

const BATCHES: u32 = 8;

struct History {
    /// None: it failed before the store was made.
    database_id: Option<String>,
    answered: Model,
    in_flight: Option<Model>,
}

fn open(io: &SimulatedIo) -> Result<DocumentStore> {
    let options = Options { io: Arc::new(io.clone()), background: false, ..Options::default() };
    DocumentStore::open(Environment::open(Path::new("/documents"), options)?, StoreOptions::default())
}

fn history(io: &SimulatedIo, seed: u64) -> History {
    let mut random = Random::new(seed);
    let mut history = History { database_id: None, answered: Model::default(), in_flight: None };
    let Ok(mut store) = open(io) else { return history };
    let database_id = store.database_id().to_owned();
    history.database_id = Some(database_id.clone());
    for _ in 0..BATCHES {
        match random.below(8) {
            0 if store.environment().flush().is_err() => return history,
            1 => {
                drop(store);
                store = match open(io) {
                    Ok(store) => store,
                    Err(_) => return history,
                };
            }
            _ => {}
        }
        let (mut batch, mut next) = (Batch::new(), history.answered.clone());
        let count = 1 + random.below(6);
        let holds = (0..count).try_for_each(|_| command(&mut random, &mut batch, false, &mut next, &database_id));
        match (store.write(Date::now(), |writing| writing.run(&batch)), holds) {
            (Ok(_), Ok(())) => history.answered = next,
            (Err(Error::Conflict { .. }), Err(())) => {}
            (Err(Error::Storage(_)), Ok(())) => {
                history.in_flight = Some(next);
                return history;
            }
            (Err(Error::Storage(_)), Err(())) => return history,
            (result, holds) => panic!("the model says {holds:?}, the store {result:?}"),
        }
    }
    history
}

fn check(image: &SimulatedIo, history: &History) {
    let store = open(image).expect("an image of a crash opens");
    let is_same = |model: &Model| catch_unwind(AssertUnwindSafe(|| compare(&store, model))).is_ok();
    let last_etag = store.read().last_etag().unwrap();
    let in_flight = history.in_flight.as_ref().filter(|model| model.last_etag == last_etag);
    match in_flight {
        Some(model) if is_same(model) => {}
        _ => compare(&store, &history.answered),
    }
    let found = store.read().verify().unwrap();
    assert_eq!(found.problems, Vec::<String>::new());
    assert!(store.environment().verify().unwrap().problems.is_empty());
    if history.answered.last_etag > 0 {
        assert_eq!(Some(store.database_id()), history.database_id.as_deref());
    }
    let mut batch = Batch::new();
    batch.put("one more/", b"{}", Expected::Any).unwrap();
    let outcome = store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
    assert!(outcome.last_etag > history.answered.last_etag);
    drop(store);
    let store = open(image).unwrap();
    assert_eq!(store.read().last_etag().unwrap(), outcome.last_etag);
    assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_crash_at_any_operation_loses_no_batch_that_was_answered() {
    let mut images = 0;
    for seed in seeds(4, 200) {
        let _case = Case::of(seed);
        let whole = SimulatedIo::new();
        history(&whole, seed);
        let mut random = Random::new(seed ^ 0xc4a5);
        for at in 0..whole.operations() {
            let io = SimulatedIo::new();
            io.fail_at(Some(Fault { at, for_ever: at % 2 == 0, kind: ErrorKind::Other }));
            let history = history(&io, seed);
            io.fail_at(None);
            for _ in 0..2 {
                let image = io.crash(|| match random.below(3) {
                    0 => Fate::Lost,
                    1 => Fate::Persisted,
                    _ => Fate::Torn(random.next()),
                });
                check(&image, &history);
                images += 1;
            }
        }
    }
    println!("{images} crash images");
}

/// Documents that are due, and some that are not.
fn with_due(io: &SimulatedIo) -> DocumentStore {
    let store = open(io).unwrap();
    let mut batch = Batch::new();
    for number in 0..40 {
        let (kind, day) = (DueKind::OF_DOCUMENTS[number % 3].property(), 1 + number / 10);
        let text =
            format!(r#"{{"N":{number},"@metadata":{{"@collection":"Users","{kind}":"2030-01-0{day}T00:00:00Z"}}}}"#);
        batch.put(&format!("users/{number}"), text.as_bytes(), Expected::Any).unwrap();
    }
    store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
    store
}

#[test]
fn a_crash_leaves_a_run_of_what_is_due_whole_or_absent() {
    let until = Date::parse("2030-01-03T00:00:00Z").unwrap();
    for kind in DueKind::OF_DOCUMENTS {
        let run = |store: &DocumentStore| store.apply(&Write::Due { kind, until, count_max: 100 }, store.stamp());
        let whole = SimulatedIo::new();
        let store = with_due(&whole);
        let (before, due) = (whole.operations(), store.read().due(kind, 100).unwrap().len());
        assert_eq!(run(&store).unwrap().answer.count().unwrap(), 10);
        let mut random = Random::new(7);
        for at in before..whole.operations() {
            let io = SimulatedIo::new();
            let store = with_due(&io);
            io.fail_at(Some(Fault { at, for_ever: true, kind: ErrorKind::Other }));
            let is_answered = run(&store).is_ok();
            io.fail_at(None);
            let image = io.crash(|| match random.below(3) {
                0 => Fate::Lost,
                1 => Fate::Persisted,
                _ => Fate::Torn(random.next()),
            });
            drop(store);
            let store = open(&image).unwrap();
            let left = store.read().due(kind, 100).unwrap().len();
            assert!(left == due - 10 || left == due && !is_answered, "{left} of {due} are left");
            assert_eq!(store.read().verify().unwrap().problems, Vec::<String>::new());
        }
    }
}

/// Writes with revisions, until the disk fails: what was answered, and what was on its way.
fn history_of_revisions(io: &SimulatedIo, seed: u64) -> (revision_model::Model, Option<Box<revision_model::Model>>) {
    let mut random = Random::new(seed);
    let mut model = revision_model::Model::default();
    let Ok(mut store) = open(io) else { return (model, None) };
    model.configure(&store);
    for _ in 0..4 * BATCHES {
        match random.below(12) {
            0 if store.environment().flush().is_err() => return (model, None),
            1 => {
                drop(store);
                store = match open(io) {
                    Ok(store) => store,
                    Err(_) => return (model, None),
                };
                model.configure(&store);
            }
            _ => {}
        }
        if let Err(in_flight) = revision_model::step(&mut random, &store, &mut model) {
            return (model, Some(in_flight));
        }
    }
    (model, None)
}

#[test]
fn a_crash_at_any_operation_leaves_the_revisions_that_a_list_says() {
    let mut images = 0;
    for seed in seeds(3, 100) {
        let _case = Case::of(seed);
        let whole = SimulatedIo::new();
        history_of_revisions(&whole, seed);
        let mut random = Random::new(seed ^ 0x7e51);
        for at in 0..whole.operations() {
            let io = SimulatedIo::new();
            io.fail_at(Some(Fault { at, for_ever: at % 2 == 0, kind: ErrorKind::Other }));
            let (mut model, in_flight) = history_of_revisions(&io, seed);
            io.fail_at(None);
            let image = io.crash(|| match random.below(3) {
                0 => Fate::Lost,
                1 => Fate::Persisted,
                _ => Fate::Torn(random.next()),
            });
            let store = open(&image).expect("an image of a crash opens");
            let is_same = |model: &revision_model::Model| {
                catch_unwind(AssertUnwindSafe(|| revision_model::compare(&store, model))).is_ok()
            };
            match in_flight {
                // It cannot be gone on with: the vector of its last write is not known.
                Some(in_flight) if is_same(&in_flight) => {}
                _ => {
                    revision_model::compare(&store, &model);
                    model.configure(&store);
                    for _ in 0..3 {
                        assert!(revision_model::step(&mut random, &store, &mut model).is_ok());
                        revision_model::compare(&store, &model);
                    }
                }
            }
            assert!(store.environment().verify().unwrap().problems.is_empty());
            images += 1;
        }
    }
    println!("{images} crash images");
}
