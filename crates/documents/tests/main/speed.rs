//! What the small routines cost: dates against `jiff`, ids against the standard library, wildcards. Prints with
//! `SLOW=1 cargo test --release -p rookery-documents --test main -- speed:: --nocapture`; tiny otherwise.

use std::hint::black_box;
use std::time::Instant;

use rookery_documents::{Date, Wildcards, id};

fn nanos(name: &str, rounds: u32, mut work: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        (0..rounds).for_each(|_| work());
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(rounds));
    }
    println!("{name:40} {best:9.1} ns");
}

#[test]
fn speed() {
    let rounds = testing::effort::choose(10, 1_000_000);
    let date = Date::parse("2015-01-15T00:41:16.6616631Z").unwrap();
    let stamp: jiff::Timestamp = "2015-01-15T00:41:16.6616631Z".parse().unwrap();
    nanos("date to text", rounds, || _ = black_box(black_box(date).text()));
    let mut text = String::new();
    nanos("date to text, jiff", rounds, || {
        text.clear();
        let printer = jiff::fmt::temporal::DateTimePrinter::new().precision(Some(7));
        printer.print_timestamp(black_box(&stamp), &mut text).unwrap();
        black_box(&text);
    });
    nanos("date from text", rounds, || _ = black_box(Date::parse(black_box("2015-01-15T00:41:16.6616631Z"))));
    nanos("date from text, jiff", rounds, || {
        _ = black_box(black_box("2015-01-15T00:41:16.6616631Z").parse::<jiff::Timestamp>())
    });
    let mut key = Vec::new();
    nanos("id to key, 26 bytes", rounds, || {
        id::lower_into(black_box(&mut key), black_box("Companies/0000000000123-A"))
    });
    nanos("id to key, std ASCII", rounds, || {
        _ = black_box(black_box("Companies/0000000000123-A").to_ascii_lowercase())
    });
    let wildcards = Wildcards::new("x*|*2*-A").unwrap();
    nanos("wildcards, 26 bytes", rounds, || _ = black_box(wildcards.fit(black_box("companies/0000000000123-a"))));
    nanos("id to key, std Unicode", rounds, || _ = black_box(black_box("Companies/0000000000123-A").to_lowercase()));
}
