//! How long mapping takes. Asks: does a document of 300 bytes cost less than 1 us with a simple map? Prints with
//! `SLOW=1 cargo test --release -p rookery-query --test main -- speed::mapping --nocapture`; tiny otherwise.

use json::{Properties, Raw};
use rookery_query::mapping::{DocumentView, Map, NoHost, Reduce};
use std::hint::black_box;
use std::time::Instant;

/// 300 bytes.
const DOCUMENT: &[u8] = br#"{"Name":"Ann Smith","Email":"ann.smith@example.com","Age":34,"Address":{"Street":"12 Long Lane","City":"Oslo","Country":"NO"},"Tags":["new","vip","north"],"Registered":"2024-01-02T03:04:05.0000000Z","Lines":[{"Product":"p/1","Quantity":2,"Price":9.5},{"Product":"p/2","Quantity":1,"Price":20}],"Active":true}"#;

fn view() -> DocumentView<'static> {
    DocumentView {
        is_archived: false,
        id: "users/1",
        body: Raw::new(DOCUMENT),
        metadata: Properties::new(b""),
        server_metadata: json::Properties::new(b""),
        collection: "Users".into(),
        change_vector: "".into(),
        last_modified: documents::Date::default(),
    }
}

fn nanos(name: &str, rounds: u32, mut work: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..rounds {
            work();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(rounds));
    }
    println!("{name:28} {best:12.1} ns");
}

fn map(name: &str, text: &str, rounds: u32) {
    let map = Map::compile(text).unwrap();
    nanos(name, rounds, || {
        let result = map.run(view(), &mut NoHost, &mut |output| {
            black_box(output.values);
            Ok(())
        });
        result.unwrap();
    });
}

#[test]
fn speed() {
    let rounds = testing::effort::choose(10, 200_000);
    println!("{} bytes", DOCUMENT.len());
    map("two fields", "from u in docs.Users select new { u.Name, u.Age }", rounds);
    map("last field", "from u in docs.Users select new { u.Active }", rounds);
    map("missing field", "from u in docs.Users select new { u.Gone }", rounds);
    let all = "from u in docs.Users select new { u.Name, u.Email, u.Age, u.Address.City, u.Tags, u.Registered, u.Active, u.Gone }";
    map("eight fields", all, rounds);
    map(
        "condition and text",
        "from u in docs.Users where u.Age > 18 select new { N = u.Name + \" \" + u.Email }",
        rounds,
    );
    map("date", "from u in docs.Users select new { Y = u.Registered.Year, D = u.Registered.Date }", rounds);
    map("fan-out of two", "from u in docs.Users from l in u.Lines select new { l.Product, l.Quantity }", rounds);
    map("sum", "from u in docs.Users select new { T = u.Lines.Sum(l => l.Quantity * l.Price) }", rounds);
    map(
        "this0",
        "docs.Users.Select(u => new { u = u, n = u.Name }).Select(this0 => new { this0.n, this0.u.Age })",
        rounds,
    );
    nanos("compile, simple", rounds / 100 + 1, || {
        drop(black_box(Map::compile("from u in docs.Users select new { u.Name, u.Age }").unwrap()));
    });
    let reduce = "from r in results group r by r.Name into g select new { Name = g.Key, Count = g.Sum(x => x.Count) }";
    let reduce = Reduce::compile(reduce).unwrap();
    let mapped = [Raw::new(br#"{"Name":"Oslo","Count":1}"#); 100];
    nanos("reduce of 100 values", rounds / 100 + 1, || {
        reduce
            .run(&mapped, &|_| true, &mut |output| {
                black_box(output.values);
                Ok(())
            })
            .unwrap();
    });
}
