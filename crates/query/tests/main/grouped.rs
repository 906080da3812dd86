//! Indexes that group, against plain grouping of every document, while documents come, change, move between groups and go; and
//! after crashes of documents and index at once.

use crate::simulated::{catch_up, fate, options, store};
use documents::{Batch as Commands, Date, DocumentStore, Expected};
use json::Raw;
use rookery_query::definition::{AutomaticIndex, Field, FieldName, FieldNeeds, GroupedBy, IndexDefinition, MapIndex};
use rookery_query::index::{Index, IndexSnapshot, Term};
use rookery_query::indexing::{Indexer, Parts, group_trees};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use storage::io::simulated::SimulatedIo;
use testing::random::Random;
use testing::seeds::{Case, seeds};

/// A document: its group, and what is added up; several of them where it fans out.
type Document = Vec<(u64, i64)>;

/// The documents as they must be, by id.
type Model = BTreeMap<String, Document>;

fn random_writes(random: &mut Random, store: &DocumentStore, model: &mut Model) {
    let mut commands = Commands::new();
    for _ in 0..1 + random.below(60) {
        let id = format!("us/{}", random.below(400));
        if random.chance(4) {
            commands.delete(&id, Expected::Any).unwrap();
            model.remove(&id);
            continue;
        }
        let count = if random.chance(3) { random.below(4) } else { 1 };
        // Few large groups, and many small ones.
        let group = |random: &mut Random| if random.chance(2) { random.below(2) } else { random.below(40) };
        let lines: Document = (0..count).map(|_| (group(random), random.below(1000) as i64 - 300)).collect();
        let text: Vec<String> = lines.iter().map(|(group, n)| format!(r#"{{"G":"g{group}","N":{n}}}"#)).collect();
        let body = format!(r#"{{"L":[{}],"@metadata":{{"@collection":"Us"}}}}"#, text.join(","));
        commands.put(&id, body.as_bytes(), Expected::Any).unwrap();
        model.insert(id, lines);
    }
    store.write(Date::now(), |writing| writing.run(&commands)).unwrap();
}

/// The definitions that are tested: sums of parts, whole groups, and what a query groups.
fn definitions() -> Vec<IndexDefinition> {
    let map = r#"from u in docs.Us from l in u.L select new { l.G, l.N, Count = 1 }"#;
    let parts = "from r in results group r by r.G into g select new { G = g.Key, N = g.Sum(x => x.N), Count = g.Sum(x => x.Count) }";
    let whole = "from r in results group r by r.G into g select new { G = g.Key, N = g.Where(x => true).Sum(x => x.N), Count = g.Count() }";
    let defined = |reduce: &str| {
        let text = format!(r#"{{"Name":"X","Maps":["{map}"],"Reduce":"{reduce}"}}"#);
        let definition = MapIndex::from_json(&json::Value::parse(text.as_bytes()).unwrap()).unwrap();
        IndexDefinition::Map(Arc::new(definition))
    };
    let field = |path: &str| Field {
        name: FieldName { path: path.to_owned(), is_quoted: false },
        needs: FieldNeeds::default(),
    };
    let key = GroupedBy { path: "L[].G".to_owned(), is_array: false };
    let paths = ["L[].G", "L[].N", "Count", "min(L[].N)", "max(L[].N)", "avg(L[].N)"];
    let automatic = AutomaticIndex::grouped(Some("Us".to_owned()), vec![key], paths.map(field));
    vec![defined(parts), defined(whole), IndexDefinition::Automatic(automatic)]
}

fn open(io: &SimulatedIo, definition: &IndexDefinition, number: usize) -> (Index, Indexer) {
    let path = format!("/index{number}");
    let index = Index::open(Path::new(&path), options(io)).unwrap().with_groups().unwrap();
    let indexer = Indexer::new(definition, &index).unwrap();
    (index, indexer)
}

/// The groups of an index are those of the model, and each is found by its key.
fn check(index: &Index, definition: &IndexDefinition, model: &Model) {
    let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for (group, n) in model.values().flatten() {
        let sums = expected.entry(format!("g{group}")).or_default();
        *sums = (sums.0 + n, sums.1 + 1);
    }
    let numbers_of = |group: &str| {
        let lines = model.values().flatten().filter(move |(own, _)| format!("g{own}") == group);
        lines.map(|(_, n)| *n as f64).collect::<Vec<f64>>()
    };
    let [g, n] = if definition.as_map().is_some() { ["G", "N"] } else { ["L[].G", "L[].N"] };
    let snapshot = index.read().unwrap();
    let mut found = BTreeMap::new();
    let mut entries = snapshot.all();
    use rookery_query::index::EntryIds;
    while let Some(id) = entries.next().unwrap() {
        let entry = snapshot.entry(id).unwrap().unwrap();
        let stored = entry.stored().unwrap();
        let number = |name| stored.get(name).unwrap().as_f64().unwrap() as i64;
        let key = stored.get(g).unwrap().as_str().unwrap().into_owned();
        let field = snapshot.field(g).unwrap().unwrap();
        assert_eq!(snapshot.term(field, Term::Text(&key)).unwrap().next().unwrap(), Some(id), "{key}");
        if definition.as_map().is_none() {
            let measured =
                ["min", "max", "avg"].map(|name| stored.get(&format!("{name}({n})")).unwrap().as_f64().unwrap());
            let numbers = numbers_of(&key);
            let sum: f64 = numbers.iter().sum();
            let (least, greatest) =
                (numbers.iter().copied().reduce(f64::min), numbers.iter().copied().reduce(f64::max));
            assert_eq!(measured, [least.unwrap(), greatest.unwrap(), sum / numbers.len() as f64], "{key}");
        }
        assert!(found.insert(key, (number(n), number("Count"))).is_none(), "a group comes twice");
    }
    assert_eq!(found, expected);
    let verification = snapshot.verify().unwrap();
    assert!(verification.problems.is_empty(), "{:?}", verification.problems);
    check_trees(&snapshot, definition, n, model, &expected);
}

/// What is shown of groups: the values of two documents are theirs, and each node was reduced to the sum of what is below it.
fn check_trees(
    index: &IndexSnapshot<'_>,
    definition: &IndexDefinition,
    n: &str,
    model: &Model,
    groups: &BTreeMap<String, (i64, i64)>,
) {
    let number = |value: Raw<'_>| value.get(n).unwrap().as_f64().unwrap() as i64;
    let asked: Vec<(&String, &Document)> = model.iter().step_by(model.len().max(2) / 2).take(2).collect();
    let ids: Vec<String> = asked.iter().map(|(id, _)| id.to_uppercase()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let found = group_trees(index, definition, &ids).unwrap();
    let wanted: BTreeSet<u64> = asked.iter().flat_map(|(_, lines)| lines.iter().map(|(group, _)| *group)).collect();
    assert_eq!((found.trees.len(), found.group_count), (wanted.len(), wanted.len()));
    let mut shown: Vec<BTreeMap<String, Vec<i64>>> = vec![BTreeMap::new(); asked.len()];
    for tree in &found.trees {
        let key = Raw::new(&tree.key).members().next().unwrap().1.as_str().unwrap().into_owned();
        let (sum, count) = groups[&key];
        assert!(tree.is_whole && tree.value_count == count as u64, "{key}");
        let [result] = tree.root.results.as_slice() else { panic!("{key} has one result") };
        assert_eq!(number(*result), sum, "{key}");
        let mut nodes = vec![&tree.root];
        while let Some(node) = nodes.pop() {
            let below: i64 = match &node.parts {
                Parts::Unread => panic!("{key} is read whole"),
                Parts::Nodes(children) => {
                    nodes.extend(children);
                    // A group that is reduced whole has no results of parts.
                    children.iter().flat_map(|child| &child.results).map(|result| number(*result)).sum()
                }
                Parts::Values(values) => {
                    for value in values {
                        let Some(document) = value.document else { continue };
                        shown[document].entry(key.clone()).or_default().push(number(value.value));
                    }
                    values.iter().map(|value| number(value.value)).sum()
                }
            };
            let has_partial = definition.as_map().is_none_or(|map| map.reduce().unwrap().is_partial());
            if has_partial {
                assert_eq!(node.results.iter().map(|result| number(*result)).sum::<i64>(), below, "{key}");
            }
        }
    }
    for (mut shown, (id, lines)) in shown.into_iter().zip(asked) {
        let mut expected: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for (group, n) in lines {
            expected.entry(format!("g{group}")).or_default().push(*n);
        }
        expected.values_mut().chain(shown.values_mut()).for_each(|numbers| numbers.sort_unstable());
        assert_eq!(shown, expected, "{id}");
    }
}

#[test]
fn groups_are_what_plain_grouping_of_all_documents_gives() {
    for seed in seeds(6, 300) {
        let _case = Case::of(seed);
        for (number, definition) in definitions().iter().enumerate() {
            let mut random = Random::new(seed);
            let io = SimulatedIo::new();
            let store = store(&io);
            let (index, mut indexer) = open(&io, definition, number);
            let mut model = Model::new();
            for _ in 0..12 {
                for _ in 0..1 + random.below(6) {
                    random_writes(&mut random, &store, &mut model);
                }
                catch_up(&index, &mut indexer, &store);
                check(&index, definition, &model);
            }
            let mut commands = Commands::new();
            model.keys().for_each(|id| commands.delete(id, Expected::Any).unwrap());
            store.write(Date::now(), |writing| writing.run(&commands)).unwrap();
            catch_up(&index, &mut indexer, &store);
            check(&index, definition, &Model::new());
        }
    }
}

/// Whatever is left of the index, it goes on from there: no value is missed and none counts twice.
#[test]
fn groups_go_on_after_a_crash() {
    for seed in seeds(8, 500) {
        let _case = Case::of(seed);
        let definitions = definitions();
        let mut random = Random::new(seed);
        let mut io = SimulatedIo::new();
        let mut model = Model::new();
        for _ in 0..4 {
            let store = store(&io);
            let mut indexes = Vec::new();
            for (number, definition) in definitions.iter().enumerate() {
                let (index, mut indexer) = open(&io, definition, number);
                catch_up(&index, &mut indexer, &store);
                check(&index, definition, &model);
                indexes.push((index, indexer));
            }
            for _ in 0..1 + random.below(5) {
                random_writes(&mut random, &store, &mut model);
                for (index, indexer) in &mut indexes {
                    match random.below(4) {
                        0 => index.environment().flush().unwrap(),
                        1 => {}
                        _ => catch_up(index, indexer, &store),
                    }
                }
            }
            let crashed = io.crash(|| fate(&mut random));
            drop((indexes, store));
            io = crashed;
        }
    }
}
