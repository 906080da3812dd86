//! Results as documents, against plain grouping of all documents: while documents come, change, move between groups and go, over crashes
//! at every operation of a simulated disk that documents and index share, and over indexes that are built anew or replaced.
//!
//! The oracle: once everything is caught up, the collection has a document for each result, with the right content, and no other; each
//! names-document names exactly the results that the pattern says; what did not change was not written again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use documents::{Batch, Date, DefinitionChange, Expected, PrefixQuery, Write};
use json::Value;
use query::definition::{IndexDefinition, IndexSettings, MapIndex};
use storage::io::simulated::{Fate, Fault, SimulatedIo};
use storage::{Environment, Options};
use testing::random::Random;
use testing::seeds::{Case, seeds};

use super::super::open::Index;
use super::super::pool::IndexingPool;
use super::super::stored::{FormerOutput, StoredIndex, StoredOutput};
use super::super::turns::Scratch;
use super::Left;
use crate::{Database, Limits, Result};

/// Documents as they must be, by id: their group, and what is added up.
type Model = BTreeMap<String, (u64, u64)>;

const NUMBER: u64 = 7;

fn options(disk: &SimulatedIo) -> Options {
    Options { io: Arc::new(disk.clone()), background: false, ..Options::default() }
}

fn database(disk: &SimulatedIo) -> Result<Arc<Database>> {
    let environment = Environment::open(Path::new("/documents"), options(disk))?;
    Database::open("x", environment, false, "A", &Limits::default(), &Arc::new(IndexingPool::new(1)))
}

/// Groups by `G`; the results of groups are `G`, `N` (the sum) and `M` (a name that several groups share). Where `several`, a group gives
/// each of its values instead.
fn definition(several: bool, collection: &str, pattern: &str) -> IndexDefinition {
    let reduce = match several {
        false => {
            "from r in results group r by r.G into g select new { G = g.Key, N = g.Sum(x => x.N), M = g.Sum(x => x.N) % 3 }"
        }
        true => "from r in results group r by r.G into g from x in g select new { G = g.Key, N = x.N, M = x.N % 3 }",
    };
    let text = format!(
        r#"{{"Name":"X","Maps":["from u in docs.Us select new {{ u.G, u.N, M = 0 }}"],"Reduce":"{reduce}","OutputReduceToCollection":"{collection}","PatternForOutputReduceToCollectionReferences":"{pattern}"}}"#
    );
    IndexDefinition::Map(Arc::new(MapIndex::from_json(&Value::parse(text.as_bytes()).unwrap()).unwrap()))
}

fn index(disk: &SimulatedIo, folder: &str, definition: &IndexDefinition, former: Vec<FormerOutput>) -> Result<Index> {
    let store = query::index::Index::open_durable(Path::new(folder), options(disk))?;
    let output = Some(StoredOutput { number: NUMBER, former });
    let stored = StoredIndex::new(definition.clone(), IndexSettings::default(), false, Date::now());
    // The same after each start.
    let generation = folder.bytes().fold(0, |number, byte| number << 8 | u128::from(byte));
    Index::new(StoredIndex { output, generation, ..stored }, store, None)
}

/// Takes turns, as the pool does, until all is indexed and written.
fn catch_up(database: &Database, index: &Index, turns_max: u64) -> Result<()> {
    // Outputs are written only while the definition is stored. Its text is left out, so that the database, opened again, does not open
    // an index of its own that writes the same documents.
    let (kind, name, generation) = index.stored().condition_of_outputs();
    database.write(&Write::Definitions(vec![DefinitionChange::Put {
        kind,
        name,
        generation,
        definition: Vec::new(),
    }]))?;
    let mut scratch = Scratch::default();
    for _ in 0..turns_max {
        let (_, is_done) = index.take_turn(&database.read(), &mut scratch, &|| false)?;
        if index.write_outputs(database, is_done)? == Left::Nothing && is_done {
            break;
        }
    }
    Ok(())
}

/// Random commands, and what they make of a model.
fn planned(random: &mut Random, model: &Model) -> (Batch, Model) {
    let (mut commands, mut after) = (Batch::new(), model.clone());
    for _ in 0..1 + random.below(8) {
        let id = format!("us/{}", random.below(12));
        if random.below(3) == 0 {
            commands.delete(&id, Expected::Any).unwrap();
            after.remove(&id);
        } else {
            // Groups come and go often.
            let (group, n) = (random.below(15), random.below(9));
            let body = format!(r#"{{"G":"g{group}","N":{n},"@metadata":{{"@collection":"Us"}}}}"#);
            commands.put(&id, body.as_bytes(), Expected::Any).unwrap();
            after.insert(id, (group, n));
        }
    }
    (commands, after)
}

fn random_writes(random: &mut Random, database: &Database, model: &mut Model) -> Result<()> {
    let (commands, after) = planned(random, model);
    database.execute(commands)?;
    *model = after;
    Ok(())
}

/// The documents that there are in a database, without those that are indexed.
fn written(database: &Database) -> BTreeMap<String, String> {
    let query = PrefixQuery {
        prefix: String::new(),
        matches: None,
        exclude: None,
        start_after: None,
        start: 0,
        count_max: u64::MAX,
    };
    let documents = database.read();
    let all = documents.by_prefix(query).unwrap().map(|document| document.unwrap());
    let all = all.filter(|document| document.collection().as_deref() != Some("Us"));
    let told = all.map(|document| {
        assert!(document.flags().is_of_index(), "{}", document.id());
        let text = format!("{} {}", document.collection().unwrap(), String::from_utf8_lossy(document.body().bytes()));
        (document.id().to_owned(), text)
    });
    told.collect()
}

/// What must be there: contents of results and of what names them, apart from ids of groups.
fn check(database: &Database, model: &Model, several: bool, collection: &str, pattern: &str) {
    let mut groups: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    model.values().for_each(|(group, n)| groups.entry(*group).or_default().push(*n));
    let mut expected: BTreeSet<(u64, u64, usize)> = BTreeSet::new();
    for (group, mut values) in groups {
        values.sort_unstable();
        match several {
            false => _ = expected.insert((group, values.iter().sum(), 0)),
            true => expected.extend(values.iter().enumerate().map(|(number, n)| (group, *n, number))),
        }
    }
    let found = written(database);
    let prefix = format!("{collection}/{NUMBER}/");
    let (results, references): (BTreeMap<_, _>, BTreeMap<_, _>) =
        found.into_iter().partition(|(id, _)| id.starts_with(&prefix));
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut numbers: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    let mut told = BTreeSet::new();
    for (id, text) in &results {
        let body = text.strip_prefix(&format!("{collection} ")).expect("the collection");
        let body = Value::parse(body.as_bytes()).unwrap();
        let n: u64 = body.get("N").unwrap().to_vec().iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0'));
        let group: u64 = body.get("G").and_then(Value::as_str).unwrap()[1..].parse().unwrap();
        named.entry(pattern.replace("{M}", &(n % 3).to_string())).or_default().insert(id.clone());
        let number = numbers.entry((group, n)).or_default();
        told.insert((group, n, *number));
        *number += 1;
    }
    // Values that are equal are told apart by counting them.
    let mut counts: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    let expected: BTreeSet<_> = expected
        .into_iter()
        .map(|(group, n, _)| {
            let count = counts.entry((group, n)).or_default();
            *count += 1;
            (group, n, *count - 1)
        })
        .collect();
    assert_eq!(told, expected);
    let names: BTreeMap<String, BTreeSet<String>> = references
        .into_iter()
        .map(|(id, text)| {
            let body = text.strip_prefix(&format!("{collection}/References ")).expect("the collection of references");
            let body = Value::parse(body.as_bytes()).unwrap();
            let Some(Value::Array(ids)) = body.get("ReduceOutputs") else { panic!("{body:?}") };
            let ids: Vec<String> = ids.iter().map(|id| id.as_str().unwrap().to_owned()).collect();
            let set: BTreeSet<String> = ids.iter().cloned().collect();
            assert_eq!(set.len(), ids.len(), "each is named once");
            (id, set)
        })
        .collect();
    assert_eq!(names, named);
}

/// A history until the disk fails.
///
/// * `models`: what was written for sure, and what is there if the last write was made, which was not answered.
fn history(disk: &SimulatedIo, seed: u64, definition: &IndexDefinition, models: &mut [Model; 2]) -> Result<()> {
    let mut random = Random::new(seed);
    let database = database(disk)?;
    let index = index(disk, "/index", definition, Vec::new())?;
    for _ in 0..8 {
        let (commands, after) = planned(&mut random, &models[0]);
        models[1] = after.clone();
        database.execute(commands)?;
        models[0] = after;
        if random.below(4) > 0 {
            catch_up(&database, &index, 1 + random.below(3))?;
        }
        if random.below(3) == 0 {
            index.store()?.environment().flush()?;
        }
    }
    Ok(())
}

#[test]
fn after_a_crash_at_any_operation_every_result_is_a_document_and_no_other() {
    let mut images = 0;
    for seed in seeds(4, 200) {
        let _case = Case::of(seed);
        let several = seed % 2 == 1;
        let definition = definition(several, "Out", "names/{M}");
        let whole = SimulatedIo::new();
        history(&whole, seed, &definition, &mut Default::default()).unwrap();
        let mut random = Random::new(seed ^ 0xc4a5);
        let step = 1 + seed % 3;
        for at in (0..whole.operations()).filter(|at| at % 3 == step % 3) {
            let disk = SimulatedIo::new();
            disk.fail_at(Some(Fault { at, for_ever: at % 2 == 0, kind: ErrorKind::Other }));
            let mut models: [Model; 2] = Default::default();
            let _ = history(&disk, seed, &definition, &mut models);
            disk.fail_at(None);
            let image = disk.crash(|| match random.below(3) {
                0 => Fate::Lost,
                1 => Fate::Persisted,
                _ => Fate::Torn(random.below(u64::MAX)),
            });
            let database = database(&image).unwrap();
            let index = index(&image, "/index", &definition, Vec::new()).unwrap();
            catch_up(&database, &index, u64::MAX).unwrap();
            // The last write may have been made, or not.
            let mut there = Model::new();
            let read = database.read();
            for document in read.collection_after("Us", 0).unwrap() {
                let document = document.unwrap();
                let number = |name| document.body().get(name).unwrap();
                let group = number("G").as_str().unwrap()[1..].parse().unwrap();
                there.insert(document.id().to_owned(), (group, number("N").as_i64().unwrap().unsigned_abs()));
            }
            drop(read);
            assert!(models.contains(&there), "{there:?} {models:?}");
            check(&database, &there, several, "Out", "names/{M}");
            let etag = database.read().last_etag().unwrap();
            catch_up(&database, &index, u64::MAX).unwrap();
            assert_eq!(database.read().last_etag().unwrap(), etag, "nothing is left to be written");
            images += 1;
        }
    }
    assert!(images > 100, "{images}");
}

#[test]
fn an_index_built_anew_leaves_no_document_of_a_group_that_went_meanwhile() {
    for seed in seeds(6, 300) {
        let _case = Case::of(seed);
        let (mut random, mut model, disk) = (Random::new(seed), Model::new(), SimulatedIo::new());
        let database = database(&disk).unwrap();
        let several = seed % 2 == 1;
        let first = definition(several, "Out", "names/{M}");
        let index_1 = index(&disk, "/1", &first, Vec::new()).unwrap();
        for _ in 0..3 {
            random_writes(&mut random, &database, &mut model).unwrap();
            catch_up(&database, &index_1, u64::MAX).unwrap();
            check(&database, &model, several, "Out", "names/{M}");
        }
        drop(index_1);
        random_writes(&mut random, &database, &mut model).unwrap();
        // Built anew, as after a reset: the same collection, the same ids.
        let index_2 = index(&disk, "/2", &first, Vec::new()).unwrap();
        catch_up(&database, &index_2, u64::MAX).unwrap();
        check(&database, &model, several, "Out", "names/{M}");
        drop(index_2);
        // Replaced by one with other names in the same collection, then by one with another collection.
        let former = |collection: &str| FormerOutput {
            prefix: format!("{collection}/{NUMBER}/"),
            references: Some(format!("{collection}/References")),
        };
        let renamed = definition(!several, "Out", "called/{M}");
        let index_3 = index(&disk, "/3", &renamed, vec![former("Out")]).unwrap();
        catch_up(&database, &index_3, u64::MAX).unwrap();
        check(&database, &model, !several, "Out", "called/{M}");
        drop(index_3);
        let moved = definition(several, "Out2", "called/{M}");
        let index_4 = index(&disk, "/4", &moved, vec![former("Out")]).unwrap();
        catch_up(&database, &index_4, u64::MAX).unwrap();
        check(&database, &model, several, "Out2", "called/{M}");
    }
}

#[test]
fn documents_of_others_are_left_alone() {
    let disk = SimulatedIo::new();
    let database = database(&disk).unwrap();
    let index = index(&disk, "/1", &definition(false, "Out", "names/{M}"), Vec::new()).unwrap();
    let put = |id: &str, body: &str| {
        let mut batch = Batch::new();
        batch.put(id, body.as_bytes(), Expected::Any).unwrap();
        database.execute(batch).unwrap();
    };
    // The names of somebody else, in the collection of references and in another one.
    put("names/1", r#"{"mine":1,"@metadata":{"@collection":"Out/References"}}"#);
    put("names/2", r#"{"mine":2,"@metadata":{"@collection":"Other"}}"#);
    for n in 0..3 {
        put(&format!("us/{n}"), &format!(r#"{{"G":"g{n}","N":{n},"@metadata":{{"@collection":"Us"}}}}"#));
    }
    catch_up(&database, &index, u64::MAX).unwrap();
    let body = |id: &str| {
        let documents = database.read();
        documents.get(id).unwrap().map(|document| String::from_utf8_lossy(document.body().bytes()).into_owned())
    };
    assert_eq!((body("names/1").unwrap(), body("names/2").unwrap()), (r#"{"mine":1}"#.into(), r#"{"mine":2}"#.into()));
    assert!(body("names/0").unwrap().starts_with(r#"{"ReduceOutputs":["Out/7/"#));
    let errors: Vec<String> = index.errors().unwrap().into_iter().map(|error| error.message).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors.iter().all(|error| error.contains("was not written by this index")), "{errors:?}");
    // What somebody made his own is not taken away, either; results are restored when their group changes.
    let id = {
        let documents = database.read();
        let mut results = documents.collection_after("Out", 0).unwrap();
        results.next().unwrap().unwrap().id().to_owned()
    };
    put(&id, r#"{"mine":3,"@metadata":{"@collection":"Out"}}"#);
    assert!(!database.read().get(&id).unwrap().unwrap().flags().is_of_index());
    put("names/0", r#"{"mine":0,"@metadata":{"@collection":"Out/References"}}"#);
    for n in 0..3 {
        put(&format!("us/{n}"), &format!(r#"{{"G":"g{n}","N":{},"@metadata":{{"@collection":"Us"}}}}"#, n + 3));
    }
    catch_up(&database, &index, u64::MAX).unwrap();
    assert!(body(&id).unwrap().contains(r#""M":"#) && database.read().get(&id).unwrap().unwrap().flags().is_of_index());
    let mut batch = Batch::new();
    (0..3).for_each(|n| batch.delete(&format!("us/{n}"), Expected::Any).unwrap());
    database.execute(batch).unwrap();
    catch_up(&database, &index, u64::MAX).unwrap();
    assert_eq!((body(&id), body("names/0").unwrap()), (None, r#"{"mine":0}"#.into()));
}
