//! What taking in and giving out documents costs: bulk insert, small batches, reads by id, with 300-byte documents.
//!
//! Asks: are the bars of the server within reach, before any HTTP? `cargo run --release -p rookery-database --example speed --
//! [folder] [documents]`; without a folder in memory.

use std::hint::black_box;
use std::sync::mpsc;
use std::time::Instant;

use rookery_database::documents::{Batch, Expected};
use rookery_database::{Databases, DatabasesOptions, Error};

/// CPU time of the process in microseconds.
fn cpu_us() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let ticks = |at: usize| after.split_whitespace().nth(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) * 10_000.0
}

fn report(name: &str, count: u64, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let (start, cpu) = (Instant::now(), cpu_us());
    work()?;
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_us() - cpu);
    println!(
        "{name:36} {:10.0}/s  {:8.2} us  CPU {:8.2} us",
        count as f64 / seconds,
        seconds * 1e6 / count as f64,
        cpu / count as f64
    );
    Ok(())
}

fn document(n: u64) -> String {
    format!(
        r#"{{"Name":"Person {n}","Age":{},"Email":"person.{n}@example.com","Tags":["a","b","c"],"Address":{{"Street":"Long Street {}","City":"City{}","Zip":"{:05}","Country":"Norway"}},"Balance":{}.7500,"Active":true,"Notes":"some text that is a bit longer","@metadata":{{"@collection":"Users"}}}}"#,
        n % 90,
        n % 500,
        n % 1000,
        n % 99999,
        n % 10000
    )
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().filter(|folder| folder != "-");
    let count: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(200_000);
    let options = folder.as_ref().map_or_else(DatabasesOptions::in_memory, DatabasesOptions::folder);
    let databases = Databases::open(options)?;
    let database = databases.find_or_create("speed")?;
    println!("{count} documents of {} bytes, {}", document(1).len(), folder.as_deref().unwrap_or("in memory"));

    for threads in [1, 8] {
        let finds = 4_000_000;
        report(&format!("find a database by name, {threads} threads"), finds, || {
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        (0..finds / threads).for_each(|_| drop(black_box(databases.find(black_box("SPEED")))))
                    });
                }
            });
            Ok(())
        })?;
    }
    let mut stream = b"[".to_vec();
    for n in 0..count {
        stream.extend_from_slice(
            format!(r#"{{"Id":"users/{n}-A","Type":"PUT","Document":{}}},"#, document(n)).as_bytes(),
        );
    }
    stream.pop();
    stream.push(b']');
    report("bulk insert", count, || {
        let mut bulk = database.bulk_insert(None, false)?;
        for chunk in stream.chunks(64 * 1024) {
            bulk.feed(chunk)?;
        }
        bulk.finish().map(drop)
    })?;
    report("bulk insert again, over what is there", count, || {
        let mut bulk = database.bulk_insert(None, false)?;
        for chunk in stream.chunks(64 * 1024) {
            bulk.feed(chunk)?;
        }
        bulk.finish().map(drop)
    })?;
    drop(stream);

    let mut random = 88172645463325252u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let gets = 500_000;
    report("get by random id, to wire", gets, || {
        let mut out = Vec::new();
        for _ in 0..gets {
            let id = format!("users/{}-A", next() % count);
            let snapshot = database.read();
            out.clear();
            if let Some(document) = snapshot.get(&id)? {
                document.write_to(&mut out);
            }
            black_box(&out);
        }
        Ok(())
    })?;
    let singles = if folder.is_some() { 5_000 } else { 300_000 };
    report("put, one per transaction, one thread", singles, || {
        for _ in 0..singles {
            let n = next() % count;
            let mut batch = Batch::new();
            batch.put(&format!("users/{n}-A"), document(n).as_bytes(), Expected::Any)?;
            database.execute(batch)?;
        }
        Ok(())
    })?;
    let submitted = 100_000u64;
    report("put, submitted, 64 on their way", submitted, || {
        let (sender, receiver) = mpsc::channel();
        for n in 0..submitted {
            let mut batch = Batch::new();
            let id = next() % count;
            batch.put(&format!("users/{id}-A"), document(id).as_bytes(), Expected::Any)?;
            let sender = sender.clone();
            database.submit(batch, move |outcome| drop(sender.send(outcome.map(drop))));
            if n >= 64 {
                receiver.recv().unwrap_or(Ok(()))?;
            }
        }
        (0..64).try_for_each(|_| receiver.recv().unwrap_or(Ok(())))
    })?;
    report("all documents by etag, to wire", count, || {
        let (snapshot, mut out) = (database.read(), Vec::new());
        for document in snapshot.after(0) {
            out.clear();
            document?.write_to(&mut out);
            black_box(&out);
        }
        Ok(())
    })?;
    Ok(())
}
