//! How much one batch takes.

use crate::simulated::{catch_up, options, store};
use documents::{Batch as Commands, Date, DocumentStore, Expected};
use rookery_query::definition::{IndexDefinition, MapIndex};
use rookery_query::index::{Batch, Index};
use rookery_query::indexing::{BATCH_BYTES, Indexer, LEAF_BYTES};
use std::path::Path;
use std::sync::Arc;
use storage::io::simulated::SimulatedIo;

fn definition(text: &str) -> IndexDefinition {
    IndexDefinition::Map(Arc::new(MapIndex::from_json(&json::Value::parse(text.as_bytes()).unwrap()).unwrap()))
}

fn write(store: &DocumentStore, commands: &Commands) {
    store.write(Date::now(), |writing| writing.run(commands)).unwrap();
}

/// What goes is copied, and taken out of lists, like what comes.
#[test]
fn a_batch_takes_away_no_more_than_it_may_bring() {
    const TEXT_SIZE: usize = 40_000;
    const COUNT: usize = BATCH_BYTES / TEXT_SIZE * 3 / 2;
    let definition = definition(
        r#"{"Name":"X","Maps":["from u in docs.Users select new { u.Text }"],
        "Fields":{"Text":{"Storage":"Yes","Indexing":"No"}}}"#,
    );
    let io = SimulatedIo::new();
    let store = store(&io);
    let body = format!(r#"{{"Text":"{}","@metadata":{{"@collection":"Users"}}}}"#, "a ".repeat(TEXT_SIZE / 2));
    let (mut puts, mut deletions) = (Commands::new(), Commands::new());
    for number in 0..COUNT {
        puts.put(&format!("users/{number}"), body.as_bytes(), Expected::Any).unwrap();
        deletions.delete(&format!("users/{number}"), Expected::Any).unwrap();
    }
    write(&store, &puts);
    let index = Index::open(Path::new("/index"), options(&io)).unwrap();
    let mut indexer = Indexer::new(&definition, &index).unwrap();
    catch_up(&index, &mut indexer, &store);
    assert_eq!(index.read().unwrap().entry_count(), COUNT as u64);
    write(&store, &deletions);
    let step = indexer.step(&index, &store.read(), &mut Batch::new()).unwrap();
    assert!(!step.is_done && step.removed > 0 && step.removed < COUNT as u64, "{} of {COUNT}", step.removed);
    catch_up(&index, &mut indexer, &store);
    assert_eq!(index.read().unwrap().entry_count(), 0);
}

/// A value is written with those that lie beside it in its group.
#[test]
fn a_batch_of_groups_takes_no_more_values_than_leaves_may_be_written_for() {
    const TEXT_SIZE: usize = 2_000;
    const COUNT: usize = LEAF_BYTES / (64 * TEXT_SIZE) * 5 / 4;
    let definition = definition(
        r#"{"Name":"X","Maps":["from u in docs.Users select new { u.Group, u.Text }"],
        "Reduce":"from r in results group r by r.Group into g select new { Group = g.Key, Text = g.Max(x => x.Text) }"}"#,
    );
    for (group_count, is_bounded) in [(COUNT, true), (COUNT / 64, false)] {
        let io = SimulatedIo::new();
        let store = store(&io);
        let mut puts = Commands::new();
        for number in 0..COUNT {
            let (group, text) = (number % group_count, "a".repeat(TEXT_SIZE));
            let body = format!(r#"{{"Group":{group},"Text":"{text}","@metadata":{{"@collection":"Users"}}}}"#);
            puts.put(&format!("users/{number:05}"), body.as_bytes(), Expected::Any).unwrap();
        }
        write(&store, &puts);
        let index = Index::open(Path::new("/index"), options(&io)).unwrap().with_groups().unwrap();
        let mut indexer = Indexer::new(&definition, &index).unwrap();
        let step = indexer.step(&index, &store.read(), &mut Batch::new()).unwrap();
        assert!(step.indexed > COUNT as u64 / 2, "{} of {COUNT}", step.indexed);
        // Those of few groups lie beside each other, and are all that is written.
        assert_eq!((step.is_done, step.indexed < COUNT as u64), (!is_bounded, is_bounded));
        catch_up(&index, &mut indexer, &store);
        assert_eq!(index.read().unwrap().entry_count(), group_count as u64);
    }
}
