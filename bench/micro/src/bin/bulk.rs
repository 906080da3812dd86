//! Asks: what does bulk insert of sequential documents cost a document, in compares of keys, and when the database grows?
//!
//! `bulk growth FOLDER [--documents 5000000]`: CPU and time of each fifth. `bulk compares FOLDER [--documents 50000]`, built
//! with the feature `counters`: compares for each document, and the sizes of the keys that were looked for.
use micro::clock::{process_seconds, thread_seconds};
use micro::round::{OURS, emit};
use rookery_database::{Database, Databases, DatabasesOptions};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PARTS: u64 = 5;
/// Documents that are made at once, before the clock goes on.
const CHUNK: u64 = 200;

fn document(n: u64) -> String {
    format!(
        r#"{{"Id":"users/{n}-A","Type":"PUT","Document":{{"name":"User {n}","email":"user{n}@example.com","age":{},"city":"city-{}","country":"country-{}","score":{}.5,"active":{},"tags":["t{}","t{}","t{}"],"bio":"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor","@metadata":{{"@collection":"Users"}}}}}}"#,
        n % 80 + 18,
        n % 25000,
        n % 100,
        n % 1000,
        n % 2 == 0,
        n % 7,
        n % 11,
        n % 13
    )
}

/// Inserts a range in one stream: (time, CPU of the process) of it, without what making the stream took.
fn insert(database: &Arc<Database>, from: u64, to: u64) -> (Duration, f64) {
    let (mut time, mut cpu, mut making) = (Duration::ZERO, process_seconds(), 0.0);
    let mut bulk = database.bulk_insert(None, false).unwrap();
    let mut at = from;
    while at < to {
        let end = (at + CHUNK).min(to);
        let start = thread_seconds();
        let texts: Vec<String> = (at..end).map(document).collect();
        let before = if at == from { "[" } else { "," };
        let after = if end == to { "]" } else { "" };
        let chunk = format!("{before}{}{after}", texts.join(","));
        making += thread_seconds() - start;
        let start = Instant::now();
        bulk.feed(chunk.as_bytes()).unwrap();
        time += start.elapsed();
        at = end;
    }
    let start = Instant::now();
    bulk.finish().unwrap();
    time += start.elapsed();
    cpu = process_seconds() - cpu - making;
    (time, cpu)
}

fn growth(database: &Arc<Database>, count: u64) {
    for part in 0..PARTS {
        let (from, to) = (count * part / PARTS, count * (part + 1) / PARTS);
        let (time, cpu) = insert(database, from, to);
        let documents = (to - from) as f64;
        let (rate, nanos) = (documents / time.as_secs_f64(), cpu * 1e9 / documents);
        println!("# documents {from} to {to}: {rate:.0}/s, CPU {nanos:.0} ns each");
        let who = if part == 0 {
            "first"
        } else if part + 1 == PARTS {
            OURS
        } else {
            continue;
        };
        emit(who, 0, "bulk growth rate", rate, "/s");
        emit(who, 0, "bulk growth cpu", nanos, "ns");
    }
}

#[cfg(feature = "counters")]
fn compares(database: &Arc<Database>, count: u64) {
    use storage::counters;
    // Pages that are there from the start, and the first of each collection, are not what is asked about.
    insert(database, 0, 10);
    counters::reset();
    insert(database, 10, 10 + count);
    let counted = counters::read();
    let per = |number: u64| number as f64 / count as f64;
    emit(OURS, 0, "bulk compares", per(counted.compares), "");
    emit(OURS, 0, "bulk full compares", per(counted.full_compares), "");
    println!("# {:.2} searches of pages, {:.2} inserts for each document", per(counted.searches), per(counted.inserts));
    for (size, number) in counted.key_sizes.iter().enumerate().filter(|(_, number)| **number > 0) {
        println!("# {number} searches for keys of {size} bytes");
    }
}

#[cfg(not(feature = "counters"))]
fn compares(_: &Arc<Database>, _: u64) {
    eprintln!("nothing is counted: build with --features counters");
    std::process::exit(2);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let documents = arguments.iter().position(|argument| argument == "--documents");
    let documents = documents.and_then(|at| arguments.get(at + 1)?.parse().ok());
    let (Some(what), Some(folder)) = (arguments.first(), arguments.get(1)) else {
        eprintln!("usage: bulk growth|compares FOLDER [--documents N]");
        std::process::exit(2);
    };
    let databases = Databases::open(DatabasesOptions::folder(folder)).unwrap();
    let database = databases.find_or_create("bulk").unwrap();
    match what.as_str() {
        "growth" => growth(&database, documents.unwrap_or(5_000_000)),
        _ => compares(&database, documents.unwrap_or(50_000)),
    }
}
