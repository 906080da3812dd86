//! Indexes whose maps load documents, against plain lookups, while the loaded documents come, change and go; and after crashes of
//! documents and index at once.

use crate::simulated::{catch_up, fate, options, store};
use documents::{Batch as Commands, Date, DocumentStore, Expected};
use json::Raw;
use rookery_query::definition::{IndexDefinition, MapIndex};
use rookery_query::index::{Batch, EntryIds, Index};
use rookery_query::indexing::{Indexer, state_hash};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use storage::io::simulated::SimulatedIo;
use testing::random::Random;
use testing::seeds::{Case, seeds};

/// What there is: users with the number of a city, and the names of cities.
#[derive(Default)]
struct Model {
    users: BTreeMap<u64, u64>,
    cities: BTreeMap<u64, u64>,
}

fn random_writes(random: &mut Random, store: &DocumentStore, model: &mut Model) {
    let mut commands = Commands::new();
    for _ in 0..1 + random.below(12) {
        let (number, is_gone) = (random.below(30), random.chance(4));
        if random.chance(2) {
            let id = format!("users/{number}");
            let city = random.below(12);
            // Ids in another case are the same document.
            let spelled = if random.chance(3) { format!("Cities/{city}") } else { format!("CITIES/{city}") };
            let body = format!(r#"{{"City":"{spelled}","One":1,"@metadata":{{"@collection":"Users"}}}}"#);
            match is_gone {
                true => commands.delete(&id, Expected::Any).unwrap(),
                false => commands.put(&id, body.as_bytes(), Expected::Any).unwrap(),
            }
            let _ = if is_gone { model.users.remove(&number) } else { model.users.insert(number, city) };
        } else {
            let (number, name) = (number % 12, random.below(1000));
            let id = format!("cities/{number}");
            let body = format!(r#"{{"Name":"n{name}","@metadata":{{"@collection":"Cities"}}}}"#);
            match is_gone {
                true => commands.delete(&id, Expected::Any).unwrap(),
                false => commands.put(&id, body.as_bytes(), Expected::Any).unwrap(),
            }
            let _ = if is_gone { model.cities.remove(&number) } else { model.cities.insert(number, name) };
        }
    }
    store.write(Date::now(), |writing| writing.run(&commands)).unwrap();
}

/// Maps, and reduces over what is loaded: in C#, in JavaScript that the engine runs, and in JavaScript that runs without it.
fn definitions() -> Vec<IndexDefinition> {
    let map = r#"from u in docs.Users select new { Name = LoadDocument(u.City, \"Cities\").Name, Count = 1 }"#;
    let reduce = "from r in results group r by r.Name into g select new { Name = g.Key, Count = g.Sum(x => x.Count) }";
    let script = "map('Users', u => { var c = load([u.City], 'Cities')[0]; return { Name: c === null ? null : c.Name, Count: 1 } })";
    let native_script = "map('Users', u => ({ Name: load(u.City, 'Cities').Name, Count: u.One }))";
    let script_reduce =
        "groupBy(x => x.Name).aggregate(g => ({ Name: g.key, Count: g.values.reduce((s, v) => s + v.Count, 0) }))";
    let defined = |map: &str, more: String| {
        let text = format!(r#"{{"Name":"X","Maps":["{map}"]{more}}}"#);
        let definition = MapIndex::from_json(&json::Value::parse(text.as_bytes()).unwrap()).unwrap();
        IndexDefinition::Map(Arc::new(definition))
    };
    let stored = r#","Fields":{"Name":{"Storage":"Yes"},"Count":{"Storage":"Yes"}}"#;
    vec![
        defined(map, stored.to_owned()),
        defined(map, format!(r#","Reduce":"{reduce}""#)),
        defined(script, stored.to_owned()),
        defined(native_script, stored.to_owned()),
        defined(script, format!(r#","Reduce":"{script_reduce}""#)),
        defined(native_script, format!(r#","Reduce":"{script_reduce}""#)),
    ]
}

fn open(io: &SimulatedIo, definition: &IndexDefinition, number: usize) -> (Index, Indexer) {
    let path = format!("/index{number}");
    let index = Index::open(Path::new(&path), options(io)).unwrap().with_groups().unwrap().with_references().unwrap();
    let indexer = Indexer::new(definition, &index).unwrap();
    (index, indexer)
}

/// A map stores numbers as texts, a reduce as they are.
fn count(stored: Raw<'_>) -> u64 {
    stored.as_u64().unwrap_or_else(|| stored.as_str().unwrap().parse().unwrap())
}

/// How many users have each name of a city; `null` for those whose city is not there.
fn check(index: &Index, model: &Model) {
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for city in model.users.values() {
        let name = model.cities.get(city).map_or("null".to_owned(), |name| format!("\"n{name}\""));
        *expected.entry(name).or_default() += 1;
    }
    let snapshot = index.read().unwrap();
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    let mut entries = snapshot.all();
    while let Some(id) = entries.next().unwrap() {
        let entry = snapshot.entry(id).unwrap().unwrap();
        let stored = entry.stored().unwrap();
        let name =
            stored.get("Name").map_or("null".to_owned(), |name| String::from_utf8_lossy(name.bytes()).into_owned());
        *found.entry(name).or_default() += count(stored.get("Count").unwrap());
    }
    assert_eq!(found, expected);
}

#[test]
fn entries_follow_what_was_loaded_for_them() {
    for seed in seeds(10, 600) {
        let _case = Case::of(seed);
        for (number, definition) in definitions().iter().enumerate() {
            let mut random = Random::new(seed);
            let io = SimulatedIo::new();
            let store = store(&io);
            let (index, mut indexer) = open(&io, definition, number);
            let mut model = Model::default();
            let mut batch = Batch::new();
            if random.chance(2) {
                indexer.set_batches_of(1 + random.below(6));
            }
            for _ in 0..25 {
                for _ in 0..1 + random.below(3) {
                    random_writes(&mut random, &store, &mut model);
                    if random.chance(2) {
                        indexer.step(&index, &store.read(), &mut batch).unwrap();
                    }
                }
                catch_up(&index, &mut indexer, &store);
                check(&index, &model);
            }
            let verification = index.read().unwrap().verify().unwrap();
            assert!(verification.problems.is_empty(), "{:?}", verification.problems);
        }
    }
}

#[test]
fn references_survive_a_crash() {
    for seed in seeds(10, 600) {
        let _case = Case::of(seed);
        let definitions = definitions();
        let mut random = Random::new(seed);
        let mut io = SimulatedIo::new();
        let mut model = Model::default();
        for _ in 0..5 {
            let store = store(&io);
            let mut indexes = Vec::new();
            for (number, definition) in definitions.iter().enumerate() {
                let (index, mut indexer) = open(&io, definition, number);
                catch_up(&index, &mut indexer, &store);
                check(&index, &model);
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

/// How many entries have each name.
fn names(index: &Index) -> BTreeMap<String, u64> {
    let snapshot = index.read().unwrap();
    let (mut found, mut entries) = (BTreeMap::new(), snapshot.all());
    while let Some(id) = entries.next().unwrap() {
        let entry = snapshot.entry(id).unwrap().unwrap();
        let name = entry.stored().unwrap().get("Name").unwrap();
        *found.entry(String::from_utf8_lossy(name.bytes()).into_owned()).or_default() += 1;
    }
    found
}

/// What many ask for is written again before each batch. All of them are mapped with one of its changes some time, and
/// what is new is not kept waiting.
#[test]
fn what_changes_all_the_time_starves_neither_those_who_ask_nor_others() {
    let io = SimulatedIo::new();
    let store = store(&io);
    let write = |commands: &Commands| store.write(Date::now(), |writing| writing.run(commands)).unwrap();
    let change = |round: u64, user: Option<u64>| {
        let mut commands = Commands::new();
        for city in 1..3 {
            let body = format!(r#"{{"Name":"{round}","@metadata":{{"@collection":"Cities"}}}}"#);
            commands.put(&format!("cities/{city}"), body.as_bytes(), Expected::Any).unwrap();
        }
        if let Some(user) = user {
            let body = format!(r#"{{"City":"cities/{}","One":1,"@metadata":{{"@collection":"Users"}}}}"#, 1 + user % 2);
            commands.put(&format!("users/{user}"), body.as_bytes(), Expected::Any).unwrap();
        }
        write(&commands);
    };
    (0..30).for_each(|user| change(0, Some(user)));
    let (index, mut indexer) = open(&io, &definitions()[0], 0);
    catch_up(&index, &mut indexer, &store);
    indexer.set_batches_of(10);
    let mut batch = Batch::new();
    for round in 1..30 {
        change(round, (round == 1).then_some(100));
        let step = indexer.step(&index, &store.read(), &mut batch).unwrap();
        assert!(step.indexed <= 10);
        if round == 2 {
            assert_eq!(names(&index).values().sum::<u64>(), 31, "the new one is there");
        }
    }
    let left: Vec<u64> = names(&index).keys().map(|name| name.trim_matches('"').parse().unwrap()).collect();
    assert!(left.iter().all(|round| *round >= 15), "some were left behind: {left:?}");
    catch_up(&index, &mut indexer, &store);
    assert_eq!(names(&index), BTreeMap::from([("\"29\"".to_owned(), 31)]));
}

/// What nobody asked for counts too, by the time that looking takes: a turn ends, and others have theirs.
#[test]
fn changes_that_nobody_asked_for_take_several_batches() {
    const COUNT: u64 = 100;
    let io = SimulatedIo::new();
    let store = store(&io);
    let write = |commands: &Commands| store.write(Date::now(), |writing| writing.run(commands)).unwrap();
    let (index, mut indexer) = open(&io, &definitions()[0], 0);
    let mut commands = Commands::new();
    let user = r#"{"City":"cities/none","One":1,"@metadata":{"@collection":"Users"}}"#;
    commands.put("users/1", user.as_bytes(), Expected::Any).unwrap();
    write(&commands);
    catch_up(&index, &mut indexer, &store);
    let mut commands = Commands::new();
    for city in 0..COUNT {
        let body = format!(r#"{{"Name":"n{city}","@metadata":{{"@collection":"Cities"}}}}"#);
        commands.put(&format!("cities/{city}"), body.as_bytes(), Expected::Any).unwrap();
    }
    commands.put("users/2", user.as_bytes(), Expected::Any).unwrap();
    write(&commands);
    indexer.set_batches_of(1);
    let (mut batch, mut steps, mut indexed) = (Batch::new(), 1, 0);
    loop {
        let step = indexer.step(&index, &store.read(), &mut batch).unwrap();
        indexed += step.indexed;
        if step.is_done {
            break;
        }
        assert_eq!(indexed, 1, "who is new does not wait for them");
        steps += 1;
    }
    assert!((COUNT / 10..=COUNT).contains(&steps), "{steps}");
    assert_eq!(index.read().unwrap().entry_count(), 2);
}

/// Whoever keeps an answer asks by this whether it is still the same.
#[test]
fn each_batch_of_those_who_asked_changes_the_state_of_the_index() {
    let io = SimulatedIo::new();
    let store = store(&io);
    let definition = &definitions()[0];
    let (index, mut indexer) = open(&io, definition, 0);
    let write = |round: u64| {
        let mut commands = Commands::new();
        let body = format!(r#"{{"Name":"{round}","@metadata":{{"@collection":"Cities"}}}}"#);
        commands.put("cities/1", body.as_bytes(), Expected::Any).unwrap();
        for user in 0..if round == 0 { 30 } else { 0 } {
            let body = r#"{"City":"cities/1","One":1,"@metadata":{"@collection":"Users"}}"#;
            commands.put(&format!("users/{user}"), body.as_bytes(), Expected::Any).unwrap();
        }
        store.write(Date::now(), |writing| writing.run(&commands)).unwrap();
    };
    write(0);
    catch_up(&index, &mut indexer, &store);
    indexer.set_batches_of(10);
    write(1);
    let state = || state_hash(&index.read().unwrap(), &definition.sources()).unwrap();
    let mut states = vec![state()];
    let mut mapped = vec![names(&index)];
    while !indexer.step(&index, &store.read(), &mut Batch::new()).unwrap().is_done {
        states.push(state());
        mapped.push(names(&index));
    }
    assert!(states.len() > 2);
    assert!(mapped.windows(2).all(|pair| pair[0] != pair[1]), "{mapped:?}");
    states.sort_unstable();
    assert!(states.windows(2).all(|pair| pair[0] != pair[1]), "{states:?}");
}

/// What documents ask for is written with them.
#[test]
fn a_batch_has_no_more_of_what_documents_asked_for_than_of_entries() {
    const ASKED: usize = 200;
    const COUNT: usize = rookery_query::indexing::BATCH_BYTES / ASKED / 400 * 3 / 2;
    let io = SimulatedIo::new();
    let store = store(&io);
    let map = r#"from u in docs.Users select new { Names = u.Cities.Select(c => LoadDocument(c, \"Cities\").Name) }"#;
    let definition = format!(r#"{{"Name":"X","Maps":["{map}"]}}"#);
    let definition = MapIndex::from_json(&json::Value::parse(definition.as_bytes()).unwrap()).unwrap();
    let (index, mut indexer) = open(&io, &IndexDefinition::Map(Arc::new(definition)), 0);
    let mut commands = Commands::new();
    for user in 0..COUNT {
        let city = format!("cities/{}/{user}/", "x".repeat(400));
        let cities: Vec<String> = (0..ASKED).map(|number| format!("\"{city}{number}\"")).collect();
        let body = format!(r#"{{"Cities":[{}],"@metadata":{{"@collection":"Users"}}}}"#, cities.join(","));
        commands.put(&format!("users/{user}"), body.as_bytes(), Expected::Any).unwrap();
    }
    store.write(Date::now(), |writing| writing.run(&commands)).unwrap();
    let step = indexer.step(&index, &store.read(), &mut Batch::new()).unwrap();
    assert!(!step.is_done && step.indexed > 0 && step.failures.is_empty(), "{step:?}");
    catch_up(&index, &mut indexer, &store);
    assert_eq!(index.read().unwrap().entry_count(), COUNT as u64);
}

/// More documents ask for one than a batch takes: it is gone on within.
#[test]
fn what_many_ask_for_takes_several_batches() {
    let io = SimulatedIo::new();
    let store = store(&io);
    let mut model = Model::default();
    let count = rookery_query::indexing::BATCH_DOCUMENTS as u64 + 1500;
    let write = |commands: &Commands| store.write(Date::now(), |writing| writing.run(commands)).unwrap();
    let city = |name: u64| {
        let mut commands = Commands::new();
        let body = format!(r#"{{"Name":"n{name}","@metadata":{{"@collection":"Cities"}}}}"#);
        commands.put("cities/1", body.as_bytes(), Expected::Any).unwrap();
        write(&commands);
    };
    city(1);
    let mut commands = Commands::new();
    for number in 0..count {
        let body = r#"{"City":"cities/1","One":1,"@metadata":{"@collection":"Users"}}"#;
        commands.put(&format!("users/{number}"), body.as_bytes(), Expected::Any).unwrap();
        model.users.insert(number, 1);
    }
    write(&commands);
    let definition = &definitions()[0];
    let (index, mut indexer) = open(&io, definition, 0);
    catch_up(&index, &mut indexer, &store);
    model.cities.insert(1, 1);
    check(&index, &model);
    city(2);
    model.cities.insert(1, 2);
    let mut batch = Batch::new();
    let mut steps = 0;
    while !indexer.step(&index, &store.read(), &mut batch).unwrap().is_done {
        steps += 1;
        if steps == 1 {
            // What comes meanwhile is not missed, and does not begin anew for ever.
            city(3);
            model.cities.insert(1, 3);
        }
        assert!(steps < 10);
    }
    assert!(steps >= 1, "it was to take several batches");
    check(&index, &model);
}
