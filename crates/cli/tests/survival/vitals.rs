//! What a running server holds, and whether it still serves others while somebody is at it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use testing::wait::until;

use crate::client::Client;

/// What abuse may leave behind in memory (RELIABILITY.md, P13).
const MEMORY_GROWTH_MAX: u64 = 256 << 20;

/// What a healthy request may take beside abuse: less than the shortest time for which the server makes a request wait for a place that
/// others have (`Limits.BlockingWaitInSec`), and a hundred times what it takes on a quiet machine.
const HEALTHY_TIME_MAX: Duration = Duration::from_secs(10);

/// Threads of pools, and files of journals, come and go with the load.
const THREADS_COME_AND_GO: u64 = 24;
const FILES_COME_AND_GO: u64 = 8;

/// A moment of a process.
#[derive(Clone, Copy, Debug)]
pub struct Vitals {
    /// Bytes that are its own.
    pub memory: u64,
    /// Resident bytes, those of mapped files too.
    pub resident: u64,
    pub descriptors: u64,
    pub threads: u64,
}

impl Vitals {
    pub fn of(process: u32) -> Vitals {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("the server runs");
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("it has this line");
            line.split_whitespace().next().and_then(|text| text.parse::<u64>().ok()).expect("a number")
        };
        let descriptors = std::fs::read_dir(format!("/proc/{process}/fd")).expect("the server runs").count() as u64;
        let (memory, resident) = (field("RssAnon:") << 10, field("VmRSS:") << 10);
        Vitals { memory, resident, descriptors, threads: field("Threads:") }
    }

    /// Waits until the server has put away what it had for those who are gone, and asserts that it is all.
    ///
    /// * `fresh`: before any abuse; memory may be kept to be used again, up to its limit.
    pub fn check(self, fresh: Vitals, process: u32) -> Vitals {
        until(|| {
            let now = Vitals::of(process);
            let is_calm = now.descriptors <= self.descriptors + FILES_COME_AND_GO
                && now.threads <= self.threads + THREADS_COME_AND_GO;
            let is_small = now.memory <= fresh.memory + MEMORY_GROWTH_MAX;
            if is_calm && is_small { Ok(now) } else { Err(format!("it was {fresh:?}, then {self:?}, and is {now:?}")) }
        })
    }
}

impl std::fmt::Display for Vitals {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Vitals { memory, descriptors, threads, .. } = self;
        write!(out, "{} MiB, {descriptors} descriptors, {threads} threads", memory >> 20)
    }
}

/// Runs `abuse` while a well-behaved client asks on; how long its slowest request took.
pub fn beside_a_healthy_client(address: SocketAddr, abuse: impl FnOnce()) -> Duration {
    let is_over = AtomicBool::new(false);
    // It is there before the abuse begins.
    let mut client = Client::new(address);
    client.connect().unwrap();
    std::thread::scope(|scope| {
        let healthy = scope.spawn(|| {
            let mut slowest = Duration::ZERO;
            while !is_over.load(Ordering::Relaxed) {
                for target in ["/build/version", "/databases/db/docs?id=things/1"] {
                    let begin = Instant::now();
                    let answer = client.call("GET", target, "").expect("a healthy request is answered");
                    assert_eq!(answer.status, 200, "{target}: {}", answer.text());
                    slowest = slowest.max(begin.elapsed());
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            slowest
        });
        // Or a failure of the abuse would wait for the client.
        struct Over<'a>(&'a AtomicBool);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let over = Over(&is_over);
        abuse();
        drop(over);
        let slowest = healthy.join().expect("healthy requests are served");
        assert!(slowest < HEALTHY_TIME_MAX, "a healthy request took {slowest:?}");
        slowest
    })
}
