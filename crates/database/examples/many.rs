//! What idle databases cost: creates 1,000, writes one document to each, and prints time, memory and disk.
//!
//! Asks: are 1,000 idle databases under 1 GB? `cargo run --release -p rookery-database --example many -- folder [count]`

use std::time::Instant;

use rookery_database::documents::{Batch, Expected};
use rookery_database::{Databases, DatabasesOptions, Error};

/// Resident memory and number of threads, as the kernel says.
fn status() -> String {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines =
        text.lines().filter(|line| ["VmRSS", "RssAnon", "Threads", "VmSize"].iter().any(|name| line.starts_with(name)));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "./many".to_owned());
    let count: u32 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1000);
    println!("at the start: {}", status());
    for round in ["created", "opened again"] {
        let start = Instant::now();
        let databases = Databases::open(DatabasesOptions::folder(&folder))?;
        println!("node opened in {:?}: {}", start.elapsed(), status());
        let start = Instant::now();
        for n in 0..count {
            let database = databases.find_or_create(&format!("db{n}"))?;
            let mut batch = Batch::new();
            batch.put("users/1", br#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#, Expected::Any)?;
            database.execute(batch)?;
        }
        println!("{count} {round} and written to in {:?}: {}", start.elapsed(), status());
    }
    Ok(())
}
