//! How much one batch takes.
#![allow(missing_docs, dead_code, reason = "modules that other tests use whole")]

mod index_model;
mod simulated;

use documents::{Batch as Commands, Date, Expected};
use rookery_query::definition::{IndexDefinition, MapIndex};
use rookery_query::index::{Batch, Index};
use rookery_query::indexing::{BATCH_BYTES, Indexer};
use simulated::{catch_up, options, store};
use std::path::Path;
use std::sync::Arc;
use storage::io::simulated::SimulatedIo;

/// What goes is copied, and taken out of lists, like what comes.
#[test]
fn a_batch_takes_away_no_more_than_it_may_bring() {
    const TEXT_SIZE: usize = 40_000;
    const COUNT: usize = BATCH_BYTES / TEXT_SIZE * 3 / 2;
    let definition = r#"{"Name":"X","Maps":["from u in docs.Users select new { u.Text }"],
        "Fields":{"Text":{"Storage":"Yes","Indexing":"No"}}}"#;
    let definition = MapIndex::from_json(&json::Value::parse(definition.as_bytes()).unwrap()).unwrap();
    let io = SimulatedIo::new();
    let store = store(&io);
    let write = |commands: &Commands| store.write(Date::now(), |writing| writing.run(commands)).unwrap();
    let body = format!(r#"{{"Text":"{}","@metadata":{{"@collection":"Users"}}}}"#, "a ".repeat(TEXT_SIZE / 2));
    let (mut puts, mut deletions) = (Commands::new(), Commands::new());
    for number in 0..COUNT {
        puts.put(&format!("users/{number}"), body.as_bytes(), Expected::Any).unwrap();
        deletions.delete(&format!("users/{number}"), Expected::Any).unwrap();
    }
    write(&puts);
    let index = Index::open(Path::new("/index"), options(&io)).unwrap();
    let mut indexer = Indexer::new(&IndexDefinition::Map(Arc::new(definition)), &index).unwrap();
    catch_up(&index, &mut indexer, &store);
    assert_eq!(index.read().unwrap().entry_count(), COUNT as u64);
    write(&deletions);
    let step = indexer.step(&index, &store.read(), &mut Batch::new()).unwrap();
    assert!(!step.is_done && step.removed > 0 && step.removed < COUNT as u64, "{} of {COUNT}", step.removed);
    catch_up(&index, &mut indexer, &store);
    assert_eq!(index.read().unwrap().entry_count(), 0);
}
