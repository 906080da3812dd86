//! How long JavaScript takes for a document: maps, native and in the engine, and projections; and reduces for a group.
//! `SLOW=1` prints figures.

use documents::{Batch, Date, DocumentStore, Expected, StoreOptions};
use json::{Properties, Raw};
use rookery_query::execute::{ScriptProjection, Scripted};
use rookery_query::mapping::{DocumentView, Map, NoHost, Reduce};
use rookery_query::plan::{Parameters, Plan};
use rookery_query::rql;
use std::time::Instant;

const DOCUMENT: &str = r#"{"Name":"Ann Miller","Age":31,"City":"Oslo","Company":"companies/17","Joined":"2020-01-02T03:04:05.0000000Z","Active":true,"Score":12.5,"Tags":["a","b"],"Address":{"Street":"Main Street 7","Zip":"0151"},"Lines":[{"Product":"p/1","Quantity":3,"Price":1.25},{"Product":"p/2","Quantity":1,"Price":9.5}]}"#;

fn rounds() -> u32 {
    testing::effort::choose(20, 100_000)
}

fn print(what: &str, rounds: u32, work: &mut dyn FnMut()) {
    work();
    let begun = Instant::now();
    (0..rounds).for_each(|_| work());
    println!("{what}: {:.2} us", begun.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
}

#[test]
fn maps() {
    for (what, text) in [
        ("map of plain properties, native", "map('Users', u => ({ a: u.Name, b: u.Age, c: u.Address.Zip }))"),
        ("the same in the engine", "map('Users', u => { return { a: u.Name, b: u.Age, c: u.Address.Zip } })"),
        (
            "sum over lines in the engine",
            "map('Users', u => ({ n: u.Lines.reduce((s, l) => s + l.Quantity * l.Price, 0) }))",
        ),
    ] {
        let map = Map::compile_script(text, "").unwrap();
        print(what, rounds(), &mut || {
            let view = DocumentView {
                is_archived: false,
                id: "users/1",
                body: Raw::new(DOCUMENT.as_bytes()),
                metadata: Properties::new(br#""@collection":"Users""#),
                server_metadata: json::Properties::new(b""),
                collection: "Users".into(),
                change_vector: "A:1-x".into(),
                last_modified: Date::from_ticks(639_309_192_023_834_988),
            };
            let mut count = 0;
            map.run(view, &mut NoHost, &mut |_| {
                count += 1;
                Ok(())
            })
            .unwrap();
            assert_eq!(count, 1);
        });
    }
}

#[test]
fn reduces() {
    let values: Vec<String> = (0..100).map(|n| format!(r#"{{"city":"Oslo","count":1,"total":{n}.25}}"#)).collect();
    let values: Vec<Raw<'_>> = values.iter().map(|value| Raw::new(value.as_bytes())).collect();
    let sums = "{ city: g.key, count: g.values.reduce((t, v) => t + v.count, 0), total: g.values.reduce((t, v) => t + v.total, 0) }";
    for (what, text) in [
        ("reduce of 100 values to two sums, native", format!("groupBy(v => v.city).aggregate(g => ({sums}))")),
        ("the same in the engine", format!("groupBy(v => v.city).aggregate(g => {{ let all; return {sums} }})")),
    ] {
        let reduce = Reduce::compile_script(&text, "").unwrap();
        print(what, rounds() / 10, &mut || {
            let mut count = 0;
            reduce
                .run(&values, &|_| true, &mut |_| {
                    count += 1;
                    Ok(())
                })
                .unwrap();
            assert_eq!(count, 1);
        });
    }
}

#[test]
fn projections() {
    let environment = storage::Environment::in_memory(storage::Options::default()).unwrap();
    let store = DocumentStore::open(environment, StoreOptions::default()).unwrap();
    let mut batch = Batch::new();
    batch.put("users/1", DOCUMENT.as_bytes(), Expected::Any).unwrap();
    batch.put("companies/17", br#"{"Name":"HR"}"#, Expected::Any).unwrap();
    store.write(Date::now(), |writing| writing.run(&batch)).unwrap();
    let snapshot = store.read();
    let document = snapshot.get("users/1").unwrap().unwrap();
    for (what, text) in [
        ("select { .. } of three properties", "from Users as u select { a: u.Name, b: u.Age, c: u.Address.Zip }"),
        (
            "the same with a loaded document",
            "from Users as u load u.Company as c select { a: u.Name, b: u.Age, c: c.Name }",
        ),
        (
            "the same with load() in the script",
            "from Users as u select { a: u.Name, b: u.Age, c: load(u.Company).Name }",
        ),
    ] {
        let tree = rql::parse(text).unwrap();
        let plan = Plan::new(&tree, Parameters::default()).unwrap();
        let clause = plan.script.as_ref().unwrap();
        let script = ScriptProjection::new(clause, Default::default()).unwrap();
        print(what, rounds(), &mut || {
            assert_eq!(script.rows(Scripted::Document(&document), &snapshot).unwrap().rows.len(), 1)
        });
    }
    let tree = rql::parse("from Users as u select { a: u.Name }").unwrap();
    let plan = Plan::new(&tree, Parameters::default()).unwrap();
    let clause = plan.script.as_ref().unwrap();
    print("to compile a projection that a thread has an engine of", rounds().min(1000), &mut || {
        ScriptProjection::new(clause, Default::default()).unwrap();
    });
}
