//! How long parsing takes. Asks: does a query of some 250 characters cost less than 3 us, and does a long one cost no
//! more for each byte? Prints with `SLOW=1 cargo test --release -p rookery-query --test main -- speed::parsing
//! --nocapture`; tiny otherwise.

use rookery_query::rql::parse;
use std::hint::black_box;
use std::time::Instant;

const USUAL: &str = "from Orders as o where o.Company = $p0 and o.Freight > 10.5 and o.Employee in ('employees/1-A', 'employees/2-A') \
     and o.OrderedAt between $p1 and $p2 and startsWith(o.ShipTo.City, 'Lo') order by o.Freight as double desc \
     select o.Company, o.Freight limit 10, 20";

fn nanos(name: &str, text: &str, rounds: u32) {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..rounds {
            drop(black_box(parse(black_box(text))));
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(rounds));
    }
    println!("{name:20} {:8} bytes {best:12.1} ns {:6.2} ns per byte", text.len(), best / text.len() as f64);
}

#[test]
fn speed() {
    let rounds = testing::effort::choose(10, 200_000);
    nanos("collection", "from 'Users'", rounds);
    nanos("one condition", "from 'Users' where Name = $p0", rounds);
    nanos("usual", USUAL, rounds);
    let conditions = vec!["Name = 'some text' or Total > 12.5"; 10_000].join(" or ");
    nanos("long condition", &format!("from Users where {conditions}"), rounds / 10_000 + 1);
    let script = "var x = `${a}`; /* text */ ".repeat(20_000);
    nanos("long script", &format!("from Users as u update {{ {script} }}"), rounds / 10_000 + 1);
    let strings = vec!["'it\\'s'"; 30_000].join(", ");
    nanos("long list", &format!("from Users where a in ({strings})"), rounds / 10_000 + 1);
}
