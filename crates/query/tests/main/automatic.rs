//! Queries on automatic indexes against a plain evaluation of every document, while documents come, change and go; and after
//! crashes of documents and index at once.

use crate::plain_query::{Condition, Order, random_document};
use crate::simulated::{fate, options, store};
use documents::{Batch as Commands, Date, DocumentStore, Expected};
use rookery_query::definition::{AutomaticIndex, IndexDefinition, IndexSource};
use rookery_query::execute;
use rookery_query::index::Index;
use rookery_query::indexing::{Indexer, is_behind};
use rookery_query::plan::{Find, IndexChoice, IndexQuery, Page, Parameters, Plan};
use rookery_query::rql;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use storage::io::simulated::SimulatedIo;
use testing::random::Random;
use testing::seeds::{Case, seeds};

/// The documents as they must be, by id.
type Model = BTreeMap<String, json::Value>;

fn random_writes(random: &mut Random, store: &DocumentStore, model: &mut Model) {
    let mut commands = Commands::new();
    for _ in 0..1 + random.below(12) {
        // Ids in another case are the same document.
        let id = format!("us/{}", random.below(60));
        let spelled = if random.chance(9) { id.to_uppercase() } else { id.clone() };
        if random.chance(4) {
            commands.delete(&spelled, Expected::Any).unwrap();
            model.remove(&id);
        } else {
            let document = random_document(random);
            let mut whole = document.clone();
            let mut metadata = json::Value::object();
            metadata.set("@collection", json::Value::String(if random.chance(2) { "Us" } else { "US" }.to_owned()));
            whole.set("@metadata", metadata);
            commands.put(&spelled, &whole.to_vec(), Expected::Any).unwrap();
            model.insert(id, document);
        }
        if random.chance(6) {
            let others = random.below(2);
            let other = format!(r#"{{"Name":"ann","@metadata":{{"@collection":"Other{others}"}}}}"#);
            commands.put(&format!("others{others}/{}", random.below(5)), other.as_bytes(), Expected::Any).unwrap();
        }
    }
    store.write(Date::now(), |writing| writing.run(&commands)).unwrap();
}

fn catch_up(index: &Index, indexer: &mut Indexer, store: &DocumentStore) {
    crate::simulated::catch_up(index, indexer, store);
    let progress = index.read().unwrap().progress("Us").unwrap().unwrap_or_default();
    assert!(!is_behind(&IndexSource::of(Some("Us".to_owned())), progress, &store.read(), None).unwrap());
}

fn plan(text: &str) -> (AutomaticIndex, IndexQuery, Page) {
    let tree = rql::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let plan = Plan::new(&tree, Parameters::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let Find::Index(query) = plan.find else { panic!("{text} needs an index") };
    let IndexChoice::Covering(needed) = query.index.clone() else { panic!("{text} names no index") };
    (needed, query, plan.page)
}

/// All fields that queries of this test name.
fn definition() -> AutomaticIndex {
    let all = crate::plain_query::PATHS.map(|path| format!("exact({path} = 'x')")).join(" or ");
    plan(&format!("from Us where {all}")).0
}

/// What an operator is made of takes no longer than itself, if it ran.
fn check_times(operator: &execute::Operator) {
    let of_children = operator.children.iter().map(|child| child.time).sum();
    assert!(operator.rows.is_none() || operator.time >= of_children, "{operator:?}");
    operator.children.iter().for_each(check_times);
}

/// The ids that a query finds, in its order.
fn found(index: &Index, store: &DocumentStore, text: &str) -> (u64, Vec<String>) {
    let (needed, query, page) = plan(text);
    assert!(definition().covers(&needed), "{text}");
    let snapshot = index.read().unwrap();
    let documents = store.read();
    let found =
        execute::find(&snapshot, &definition(), &query, page, &|| Ok::<_, rookery_query::index::Error>(())).unwrap();
    let count = execute::count(&snapshot, &definition(), &query, &|| Ok::<_, rookery_query::index::Error>(())).unwrap();
    assert_eq!(count, found.total, "{text}");
    assert!(execute::entry_count_max(&snapshot, &definition(), &query).unwrap() >= count, "{text}");
    // Whoever asks how it is found finds the same.
    let ticks = Cell::new(0);
    let clock: execute::Clock = Rc::new(move || Duration::from_micros(ticks.replace(ticks.get() + 1)));
    let look = || Ok::<_, rookery_query::index::Error>(());
    let (explained, operator) = execute::explain(&snapshot, &definition(), &query, page, &clock, &look).unwrap();
    assert_eq!(explained, found, "{text}");
    let conditions = if operator.name == "sort" { &operator.children[0] } else { &operator };
    assert_eq!(conditions.rows, Some(count), "{text}: {operator:?}");
    check_times(&operator);
    let id = |entry| {
        let entry = snapshot.entry(entry).unwrap().expect("what is found is there");
        documents.get(entry.document()).unwrap().expect("nothing was deleted since").id().to_lowercase()
    };
    (found.total, found.entries.into_iter().map(id).collect())
}

fn check(random: &mut Random, index: &Index, store: &DocumentStore, model: &Model) -> (u64, u64) {
    let condition = Condition::random(random, 0);
    let order = Order::random(random);
    let text = format!("from Us where {condition}{order}");
    let holding: Vec<(&String, &json::Value)> =
        model.iter().filter(|(id, document)| condition.holds(id, document)).collect();
    let (total, ids) = found(index, store, &text);
    assert_eq!(total, holding.len() as u64, "{text}: {ids:?}\nbut {holding:?}");
    let mut sorted = ids.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted, holding.iter().map(|(id, _)| (*id).clone()).collect::<Vec<_>>(), "{text}");
    for [first, second] in ids.array_windows() {
        let [one, other] = [first, second].map(|id| (id.as_str(), &model[id]));
        assert!(order.is_in_order(model.values(), one, other), "{text}: {one:?} {other:?}");
    }
    // A page is that part of the whole.
    let (skip, take) = (random.below(8), random.below(8));
    let page = found(index, store, &format!("{text} limit {skip}, {take}"));
    let expected: Vec<String> = ids.iter().skip(skip as usize).take(take as usize).cloned().collect();
    assert_eq!(page, (total, expected), "{text} limit {skip}, {take}");
    (1, u64::from(!holding.is_empty() && holding.len() < model.len()))
}

#[test]
fn queries_find_what_a_plain_look_at_all_documents_finds() {
    let (mut asked, mut telling) = (0, 0);
    for seed in seeds(12, 1500) {
        let _case = Case::of(seed);
        let mut random = Random::new(seed);
        let io = SimulatedIo::new();
        let store = store(&io);
        let index = Index::in_memory(options(&io)).unwrap();
        let mut indexer = Indexer::new(&IndexDefinition::Automatic(definition()), &index).unwrap();
        let mut model = Model::new();
        for _ in 0..12 {
            for _ in 0..random.below(4) {
                random_writes(&mut random, &store, &mut model);
            }
            if random.chance(8) {
                let seen = index.read().unwrap().progress("Us").unwrap().unwrap_or_default().tombstones;
                store.write(Date::now(), |writing| writing.clean_tombstones(seen, usize::MAX)).unwrap();
            }
            catch_up(&index, &mut indexer, &store);
            for _ in 0..8 {
                let (one, told) = check(&mut random, &index, &store, &model);
                (asked, telling) = (asked + one, telling + told);
            }
        }
        let verification = index.read().unwrap().verify().unwrap();
        assert!(verification.problems.is_empty(), "{:?}", verification.problems);
    }
    println!("{asked} queries, {telling} of them found some but not all");
    assert!(telling * 3 > asked, "{telling} of {asked} queries tell documents apart");
}

/// Documents are durable when they are answered, the index some time later: whatever is left of it, it goes on from there.
#[test]
fn an_index_goes_on_after_a_crash_without_missing_a_document() {
    let mut behind = 0;
    for seed in seeds(25, 2500) {
        let _case = Case::of(seed);
        let mut random = Random::new(seed);
        let mut io = SimulatedIo::new();
        let mut model = Model::new();
        for _ in 0..3 {
            let store = store(&io);
            let index = Index::open(Path::new("/index"), options(&io)).unwrap();
            let mut indexer = Indexer::new(&IndexDefinition::Automatic(definition()), &index).unwrap();
            let before = index.read().unwrap().progress("Us").unwrap().unwrap_or_default();
            behind +=
                u64::from(is_behind(&IndexSource::of(Some("Us".to_owned())), before, &store.read(), None).unwrap());
            catch_up(&index, &mut indexer, &store);
            for _ in 0..6 {
                check(&mut random, &index, &store, &model);
            }
            for _ in 0..1 + random.below(5) {
                random_writes(&mut random, &store, &mut model);
                match random.below(4) {
                    0 => index.environment().flush().unwrap(),
                    1 => {}
                    _ => catch_up(&index, &mut indexer, &store),
                }
            }
            let crashed = io.crash(|| fate(&mut random));
            drop((index, store));
            io = crashed;
        }
    }
    println!("{behind} times the index was behind after a crash");
    assert!(behind > 0);
}

#[test]
fn a_field_of_dates_alone_is_sorted_by_time() {
    let io = SimulatedIo::new();
    let (store, index) = (store(&io), Index::in_memory(options(&io)).unwrap());
    let mut indexer = Indexer::new(&IndexDefinition::Automatic(definition()), &index).unwrap();
    let put = |id: &str, name: &str| {
        let document = format!(r#"{{"Name":"{name}","@metadata":{{"@collection":"Us"}}}}"#);
        let mut commands = Commands::new();
        commands.put(id, document.as_bytes(), Expected::Any).unwrap();
        store.write(Date::now(), |writing| writing.run(&commands)).unwrap();
    };
    put("us/3", "2020-01-01T03:00:00+02:00");
    put("us/1", "2020-01-01T00:00:00.5000000");
    put("us/2", "2020-01-01T00:00:00.75");
    put("us/4", "2020-01-01T02:00:00");
    catch_up(&index, &mut indexer, &store);
    let sorted = |text: &str| found(&index, &store, text).1.join(" ");
    assert_eq!(sorted("from Us order by Name"), "us/1 us/2 us/3 us/4");
    assert_eq!(sorted("from Us where Name > '2020-01-01T00:00:00.6' order by Name desc limit 2"), "us/4 us/3");
    put("us/5", "2020 or so");
    catch_up(&index, &mut indexer, &store);
    assert_eq!(sorted("from Us order by Name"), "us/5 us/1 us/2 us/3 us/4", "by the texts of the dates");
}
