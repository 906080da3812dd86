//! Memory under many expensive requests at once: one account bounds all of them, what does not fit is refused by the name of its limit, and
//! the memory comes back. A neighbour in another database puts, gets and queries meanwhile.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use testing::effort::{self, is_slow};
use testing::wait::{LONG, until};

use crate::client::Client;
use crate::limits::{call, create, fill, put_index, start, stop_in_time, try_fill};
use crate::neighbour::{Over, beside_a_neighbour};
use crate::process::{Server, command, log_of};
use crate::run::{folder, report};
use crate::vitals::Vitals;

/// What all may take together at full size, and how much of it may stay (bytes, resident).
const RESIDENT_MAX: u64 = 1500 << 20;
const STAYS_MAX: u64 = 300 << 20;

/// What 64 threads of pools and their buffers hold beyond what is accounted, in bytes. It does not grow with the documents.
const UNACCOUNTED: u64 = 400 << 20;

/// The most memory that a server held while `work` ran, in bytes.
fn most_during(server: &Server, work: impl FnOnce() + Send) -> u64 {
    std::thread::scope(|scope| {
        let working = scope.spawn(work);
        let mut most = 0;
        while !working.is_finished() {
            most = most.max(resident(server));
            std::thread::sleep(Duration::from_millis(2));
        }
        working.join().unwrap();
        most
    })
}

/// Resident bytes that are the process's own at small sizes; all of them at full size, as the bar says.
fn resident(server: &Server) -> u64 {
    let vitals = Vitals::of(server.id());
    if is_slow() { vitals.resident } else { vitals.memory }
}

/// Waits until the process's own memory is back to about what it was.
fn await_return(server: &Server, before: u64, stays_max: u64) -> u64 {
    until(|| {
        let now = Vitals::of(server.id()).memory;
        let is_back = now <= before + stays_max;
        if is_back { Ok(now) } else { Err(format!("{} MiB before, {} MiB now", before >> 20, now >> 20)) }
    })
}

/// Forty queries of one kind that go through all documents.
fn forty(server: &Server, query: &str) -> usize {
    let refused: Vec<bool> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..40)
            .map(|_| {
                scope.spawn(|| {
                    let body = serde_json::json!({ "Query": query }).to_string();
                    let answer = server.client().call("POST", "/databases/Many/queries", &body).unwrap();
                    let is_refused = answer.status == 503 || answer.status == 413;
                    assert!(is_refused || answer.status == 200, "{query}: {} {}", answer.status, answer.text());
                    assert!(!is_refused || answer.text().contains("Limits."), "{query}: {}", answer.text());
                    is_refused
                })
            })
            .collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    refused.iter().filter(|is_refused| **is_refused).count()
}

/// Forty sorts at once over a million documents held 4 GB.
#[test]
fn queries_at_once_hold_a_bounded_memory_together() {
    let (count, limit_mb) = effort::choose((200_000, 16), (1_000_000, 512));
    let folder = folder();
    let data = folder.path().join("data");
    let mut command = command(&data);
    command.args(["--Limits.MemoryInMb", &limit_mb.to_string(), "--Limits.BodiesInMb", "16"]);
    let server = Server::try_start(&mut command, &log_of(&data)).unwrap_or_else(|log| panic!("{log}"));
    let mut client = server.client();
    create(&mut client, "Many");
    for part in 0..count / 20_000 {
        fill(&mut client, "Many", part * 20_000..(part + 1) * 20_000, |number| {
            format!(r#","k":"key {}","f":{}.5,"m":"{}""#, number * 7919 % count, number * 31 % 997, number % 13)
        });
    }
    put_index(&mut client, "Many", "All", "from c in docs.Cs select new { c.N, c.k, c.f, c.m }");
    for query in ["from Cs where k = 'x' and f = 1 and N = 1 and m = 'x'", "from index 'All' where N = 1"] {
        let timeout = "00:05:00";
        let body = serde_json::json!({ "Query": query, "WaitForNonStaleResults": true, "WaitForNonStaleResultsTimeout": timeout });
        let answer = call(&mut client, "POST", "/databases/Many/queries", &body.to_string());
        assert!(answer.contains(r#""IsStale":false"#), "{answer}");
    }
    let before = Vitals::of(server.id()).memory;
    let max = if is_slow() { RESIDENT_MAX } else { before + (limit_mb << 20) + UNACCOUNTED };
    let far = count - 10;
    let queries = [
        "from Cs order by k desc, f as double limit 10".to_owned(),
        "from Cs order by k, f as double, N as long desc, m limit 10".to_owned(),
        "from index 'All' order by k desc, f as double limit 10".to_owned(),
        "from Cs order by random() limit 10".to_owned(),
        format!("from Cs select distinct k limit 10 offset {far}"),
        "from index 'All' select facet(k), facet(m)".to_owned(),
        "from Cs select suggest(k, 'key 5')".to_owned(),
    ];
    let (mut most_of_all, mut refused_in_all, mut figures) = (0, 0, Vec::new());
    let slowest = beside_a_neighbour(&server, || {
        for query in &queries {
            let mut refused = 0;
            let most = most_during(&server, || refused = forty(&server, query));
            assert!(most < max, "{} MiB at once, {} MiB before: {query}", most >> 20, before >> 20);
            most_of_all = most_of_all.max(most);
            refused_in_all += refused;
            figures.push(format!("{} MiB, {refused} refused: {query}", most >> 20));
        }
    });
    assert!(refused_in_all > 0, "all of them fit, so the limit was not met");
    let later = await_return(&server, before, if is_slow() { STAYS_MAX } else { UNACCOUNTED });
    report(&format!(
        "queries at once: {} MiB before, {} MiB at most, {} MiB later; neighbour {slowest}; {}",
        before >> 20,
        most_of_all >> 20,
        later >> 20,
        figures.join("; ")
    ));
    stop_in_time(server);
}

/// Forty readers take a few KiB a second of streams whose snapshots keep the versions of all pages that are written meanwhile.
#[test]
fn slow_streams_keep_a_bounded_memory_beside_rewrites() {
    let (count, rounds, limit_mb) = effort::choose((60_000, 20, 16), (200_000, 200, 384));
    let folder = folder();
    let data = folder.path().join("data");
    let mut command = command(&data);
    command.args(["--Limits.PageVersionsInMb", &limit_mb.to_string()]);
    let server = Server::try_start(&mut command, &log_of(&data)).unwrap_or_else(|log| panic!("{log}"));
    let mut client = server.client();
    create(&mut client, "Many");
    // Writes are refused where they reach twice the limit before the oldest reader is cut off: they are sent again, as by a client.
    let mut refusals = 0;
    let mut write = |client: &mut Client, round: usize| {
        for part in 0..count / 10_000 {
            until(|| {
                let answer = try_fill(client, "Many", part * 10_000..(part + 1) * 10_000, |number| {
                    format!(r#","round":{round},"text":"{}""#, format!("{number} ").repeat(30))
                });
                if answer.status == 201 {
                    return Ok(());
                }
                let is_refusal =
                    answer.status == 503 && answer.text().contains("bytes of page versions are kept for it");
                assert!(is_refusal, "{} {}", answer.status, answer.text());
                refusals += 1;
                std::thread::sleep(Duration::from_millis(10));
                Err(answer.text())
            });
        }
    };
    write(&mut client, 0);
    let before = Vitals::of(server.id()).memory;
    // The journal may hold 256 MiB whatever the limit is, and writes wait once page versions hold twice as much.
    let max = if is_slow() { RESIDENT_MAX } else { before + ((2 * 256) << 20) + UNACCOUNTED };
    let is_over = AtomicBool::new(false);
    let mut most = 0;
    let slowest = std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    read_slowly(&server, &is_over)
                }
            });
        }
        // Also if what follows fails, or the readers would go on for ever.
        let over = Over(&is_over);
        let slowest = beside_a_neighbour(&server, || {
            most = most_during(&server, || (1..=rounds).for_each(|round| write(&mut client, round)));
        });
        drop(over);
        slowest
    });
    assert!(server.log().contains("Limits.PageVersionsInMb"), "no reader was cut off: {}", server.log());
    assert!(most < max, "{} MiB at most, {} MiB before", most >> 20, before >> 20);
    // Idle memory goes back to the system within half a minute, which is too long for the small size.
    let later = await_return(&server, before, if is_slow() { STAYS_MAX } else { 2 * RESIDENT_MAX });
    report(&format!(
        "slow streams: {} rewrites, {refusals} refused, {} MiB before, {} MiB at most, {} MiB later; neighbour {slowest}",
        rounds * count,
        before >> 20,
        most >> 20,
        later >> 20
    ));
    stop_in_time(server);
}

/// Reads some 10 KiB a second of one stream, until the server cuts it off or the test is over.
fn read_slowly(server: &Server, is_over: &AtomicBool) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(b"GET /databases/Many/streams/docs HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut part = [0; 512];
    while !is_over.load(Relaxed) && stream.read(&mut part).is_ok_and(|size| size > 0) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Elements of bulk inserts that do not end are refused by name before they fill the memory, and what is small goes on.
#[test]
fn elements_that_do_not_end_are_bounded_together() {
    let connections = effort::choose(24, 64);
    let (_folder, server) = start();
    let mut client = server.client();
    create(&mut client, "Bulk");
    let before = resident(&server) >> 20;
    let part = "x".repeat(1 << 20);
    let mut inserts: Vec<TcpStream> = Vec::new();
    for _ in 0..connections {
        let mut insert = TcpStream::connect(server.address).unwrap();
        insert
            .write_all(
                b"POST /databases/Bulk/bulk_insert HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
            )
            .unwrap();
        let begin = r#"[{"Id":"e","Type":"PUT","Document":{"a":""#;
        write!(insert, "{:x}\r\n{begin}\r\n", begin.len()).unwrap();
        inserts.push(insert);
    }
    let mut refused_count = 0;
    for _ in 0..40 {
        // Whoever is refused ends, as a client does that reads its answer.
        inserts.retain_mut(|insert| {
            let is_sent = write!(insert, "{:x}\r\n{part}\r\n", part.len()).is_ok();
            let is_refused = !is_sent || is_refused(insert);
            refused_count += usize::from(is_refused);
            !is_refused
        });
        call(&mut client, "PUT", "/databases/Bulk/docs?id=small", "{}");
    }
    assert!(refused_count > 0, "none of them was refused");
    let most = resident(&server) >> 20;
    assert!(most < before + 1000, "{before} MiB before, {most} MiB with {connections} elements of 40 MiB");
    drop(inserts);
    stop_in_time(server);
}

/// Whether an answer has come, which must name the limit.
fn is_refused(insert: &mut TcpStream) -> bool {
    insert.set_nonblocking(true).unwrap();
    let mut answer = [0; 4096];
    let read = insert.read(&mut answer);
    insert.set_nonblocking(false).unwrap();
    match read {
        Ok(size) => {
            let answer = String::from_utf8_lossy(&answer[..size]);
            assert!(answer.is_empty() || answer.contains("Limits.BodiesInMb"), "{answer}");
            true
        }
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    }
}
