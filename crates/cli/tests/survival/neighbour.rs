//! A client of another database, which puts, gets and queries by index every 40 ms while somebody is at the server.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::limits::create;
use crate::process::Server;

/// Longer than a request of a neighbour may take, whatever others do. A query whose index is given no turn ends before: it is refused or
/// stale after 15 s.
const REQUEST_MAX: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(40);

/// How long the rounds of a neighbour took.
pub struct Rounds(Vec<Duration>);

impl Rounds {
    fn percentile(&self, percent: usize) -> Duration {
        self.0[(self.0.len() - 1) * percent / 100]
    }
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99, max] = [50, 99, 100].map(|percent| self.percentile(percent).as_millis());
        write!(f, "{} rounds, p50 {p50} ms, p99 {p99} ms, at most {max} ms", self.0.len())
    }
}

/// Says that the others are to stop, when it is dropped.
pub struct Over<'a>(pub &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Runs `abuse` beside a neighbour. Each round puts a document, gets it and finds it by an index that has it; each must be answered in
/// time.
///
/// Returns the times of the rounds, in rising order.
pub fn beside_a_neighbour(server: &Server, abuse: impl FnOnce()) -> Rounds {
    let mut client = server.client();
    create(&mut client, "Neighbour");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let neighbour = scope.spawn(|| {
            let mut rounds = Vec::new();
            while rounds.is_empty() || !is_over.load(Relaxed) {
                let begin = Instant::now();
                let number = rounds.len();
                let mut ask = |method: &str, target: &str, body: &str| {
                    let begin = Instant::now();
                    let answer = client.call(method, target, body).unwrap();
                    assert!((200..300).contains(&answer.status), "{target}: {} {}", answer.status, answer.text());
                    assert!(begin.elapsed() < REQUEST_MAX, "{method} {target} took {:?}", begin.elapsed());
                    answer.text()
                };
                let document = format!(r#"{{"N":{number},"@metadata":{{"@collection":"Ns"}}}}"#);
                ask("PUT", "/databases/Neighbour/docs?id=ns/1", &document);
                let found = ask("GET", "/databases/Neighbour/docs?id=ns/1", "");
                assert!(found.contains(&format!(r#""N":{number}"#)), "{found}");
                let query = format!(r#"{{"Query":"from Ns where N = {number}","WaitForNonStaleResults":true}}"#);
                let found = ask("POST", "/databases/Neighbour/queries", &query);
                assert!(found.contains(r#""TotalResults":1"#) && found.contains(r#""IsStale":false"#), "{found}");
                rounds.push(begin.elapsed());
                std::thread::sleep(PAUSE);
            }
            rounds.sort_unstable();
            Rounds(rounds)
        });
        // Also if the abuse fails, or the neighbour would go on for ever.
        let over = Over(&is_over);
        abuse();
        drop(over);
        neighbour.join().expect("the neighbour is served")
    })
}
