//! Consumers of changes beside kills of the server and of themselves: workers of subscriptions, alone and shared, and a follower of the
//! change feed with a cursor.
//!
//! * Every committed change is delivered at least once: when all have caught up, each has seen the latest version of each document.
//! * A confirmed acknowledgement of a worker that is alone is not lost: what it covers does not come again. Workers that share have one
//!   progress, which waits for the slowest of them: after a restart more may come again.
//! * Order for each document: a version never comes after a later one.
//! * The follower of the feed, who begins anew at its cursor after each kill, ends with what the database has, deletions included.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use testing::random::Random;
use testing::wait::LONG;

use crate::client::Client;
use crate::process::{Server, check, start_and_kill};
use crate::run::{Run, folder};

const DOCUMENTS: u64 = 40;
const ROUNDS_PER_FOLDER: u64 = 50;
const LOAD_MS_MAX: u64 = 400;

#[test]
fn consumers_of_changes_outlive_kills() {
    let run = Run::begin("consumers_of_changes_outlive_kills", 10, 500);
    let mut random = Random::new(run.seed);
    let (mut rounds_left, mut delivered, mut confirmed, mut written) = (run.rounds, 0, 0, 0);
    while rounds_left > 0 {
        let rounds = rounds_left.min(ROUNDS_PER_FOLDER);
        rounds_left -= rounds;
        let folder = folder();
        let world = kill_repeatedly(&folder.path().join("data"), rounds, &mut random);
        written += world.writer.version;
        delivered += world.alone.lock().delivered + world.shared.lock().delivered;
        confirmed += world.alone.lock().confirmed.len();
        assert!(world.writer.version > 0);
    }
    run.end(&format!("{written} writes, {delivered} deliveries, {confirmed} confirmed for a worker that is alone"));
}

/// Who tests the test: each broken promise is seen.
#[test]
fn what_consumers_are_promised_is_checked() {
    type Break = fn(&mut Seen);
    let breaks: [(&str, Break); 2] = [
        ("a version after a later one", |seen| {
            seen.deliver("items/1", 2);
            seen.deliver("items/1", 1);
        }),
        ("what was confirmed again", |seen| {
            seen.deliver("items/1", 1);
            seen.confirm(&[("items/1".to_owned(), 1)]);
            seen.deliver("items/1", 1);
        }),
    ];
    for (name, plant) in breaks {
        let broken = std::panic::catch_unwind(|| plant(&mut Seen::default()));
        assert!(broken.is_err(), "{name} is not seen");
    }
    let lost = std::panic::catch_unwind(|| {
        let mut seen = Seen::default();
        seen.deliver("items/1", 1);
        seen.check_complete(&BTreeMap::from([("items/1".to_owned(), 2)]));
    });
    assert!(lost.is_err(), "a lost change is not seen");
}

/// What the consumers of one database have seen, over all kills.
struct World {
    writer: Writer,
    alone: Mutex<Seen>,
    shared: Mutex<Seen>,
    mirror: BTreeMap<String, u64>,
}

/// The deliveries of one subscription.
#[derive(Default)]
struct Seen {
    latest: BTreeMap<String, u64>,
    confirmed: HashSet<(String, u64)>,
    delivered: u64,
}

impl Seen {
    fn deliver(&mut self, id: &str, version: u64) {
        assert!(
            !self.confirmed.contains(&(id.to_owned(), version)),
            "version {version} of {id} was confirmed, and comes again"
        );
        let latest = self.latest.entry(id.to_owned()).or_default();
        assert!(version >= *latest, "version {version} of {id} comes after version {latest}");
        *latest = version;
        self.delivered += 1;
    }

    fn confirm(&mut self, batch: &[(String, u64)]) {
        self.confirmed.extend(batch.iter().cloned());
    }

    fn check_complete(&self, stored: &BTreeMap<String, u64>) {
        for (id, version) in stored {
            assert_eq!(self.latest.get(id), Some(version), "the latest version of {id} was not delivered");
        }
    }
}

/// Writes documents with rising versions, and deletes some.
struct Writer {
    random: Random,
    version: u64,
}

impl Writer {
    /// Until the server is gone.
    fn run(&mut self, mut client: Client) {
        loop {
            let id = format!("items/{}", self.random.below(DOCUMENTS));
            let done = if self.random.chance(10) {
                client.call("DELETE", &format!("/databases/db/docs?id={id}"), "")
            } else {
                self.version += 1;
                let body = json!({ "V": self.version, "@metadata": { "@collection": "Items" } }).to_string();
                client.call("PUT", &format!("/databases/db/docs?id={id}"), &body)
            };
            match done {
                Ok(answer) => assert!(matches!(answer.status, 201 | 204), "{}", answer.text()),
                Err(_) => return,
            }
        }
    }
}

fn kill_repeatedly(data: &Path, rounds: u64, random: &mut Random) -> World {
    let mut server = Server::start(data);
    create(&mut server.client());
    let mut world = World {
        writer: Writer { random: Random::new(random.below(u64::MAX)), version: 0 },
        alone: Mutex::default(),
        shared: Mutex::default(),
        mirror: BTreeMap::new(),
    };
    for _ in 0..rounds {
        let moment = Duration::from_millis(random.below(LOAD_MS_MAX));
        let seeds: [u64; 3] = std::array::from_fn(|_| random.below(u64::MAX));
        let World { writer, alone, shared, mirror } = &mut world;
        let (alone, shared) = (&*alone, &*shared);
        std::thread::scope(|scope| {
            let client = server.client();
            scope.spawn(|| writer.run(client));
            let [first, second, third] = seeds.map(Random::new);
            let server = &server;
            scope.spawn(move || work(server, "alone", "TakeOver", alone, first, false));
            scope.spawn(move || work(server, "shared", "Concurrent", shared, second, false));
            scope.spawn(move || work(server, "shared", "Concurrent", shared, third, false));
            scope.spawn(move || follow(server.client(), mirror, false));
            std::thread::sleep(moment);
            server.kill_now();
        });
        server.kill();
        while random.chance(3) {
            start_and_kill(data, Duration::from_micros(random.below(30_000)));
        }
        server = Server::start(data);
    }
    // All catch up, undisturbed.
    let World { alone, shared, mirror, .. } = &mut world;
    work(&server, "alone", "TakeOver", alone, Random::new(1), true);
    work(&server, "shared", "Concurrent", shared, Random::new(1), true);
    follow(server.client(), mirror, true);
    let stored = stored(&mut server.client());
    alone.lock().check_complete(&stored);
    shared.lock().check_complete(&stored);
    assert_eq!(*mirror, stored, "the follower of the feed has what the database has");
    server.stop();
    check(data);
    world
}

fn create(client: &mut Client) {
    let mut ask = |method: &str, target: &str, body: &str| {
        let answer = client.call(method, target, body).unwrap();
        assert!((200..300).contains(&answer.status), "{target}: {}", answer.text());
    };
    ask("PUT", "/admin/databases?name=db", r#"{"DatabaseName":"db"}"#);
    ask("PUT", "/databases/db/subscriptions", r#"{"Name":"alone","Query":"from Items"}"#);
    ask("PUT", "/databases/db/subscriptions", r#"{"Name":"shared","Query":"from Items where V > 0"}"#);
    ask("PUT", "/databases/db/feed/cursors?name=mirror&after=0", "");
}

/// Each document and its version.
fn stored(client: &mut Client) -> BTreeMap<String, u64> {
    let answer = client.call("GET", "/databases/db/docs?pageSize=1000", "").unwrap().json();
    let of = |document: &Value| Some((document["@metadata"]["@id"].as_str()?.to_owned(), document["V"].as_u64()?));
    answer["Results"].as_array().unwrap().iter().map(|document| of(document).unwrap()).collect()
}

/// A worker, until the server is gone or it has caught up. It is killed itself at times: between a batch and its acknowledgement, and
/// between that and its confirmation.
fn work(server: &Server, name: &str, strategy: &str, seen: &Mutex<Seen>, mut random: Random, catches_up: bool) {
    loop {
        let mut talk = match Talk::connect(server, name, strategy, catches_up) {
            Some(talk) => talk,
            None if catches_up => panic!("the worker cannot connect"),
            None => return,
        };
        loop {
            let Some(batch) = talk.batch(|id, version| seen.lock().deliver(id, version)) else {
                if catches_up {
                    assert!(talk.is_closed, "a worker that catches up is told that it has");
                    return;
                }
                break;
            };
            if !catches_up && random.chance(8) {
                break;
            }
            if talk.stream.write_all(br#"{"Type":"Acknowledge"}"#).is_err() || (!catches_up && random.chance(8)) {
                break;
            }
            match talk.next() {
                Some(message) if message["Type"] == "Confirm" && strategy == "Concurrent" => {}
                Some(message) if message["Type"] == "Confirm" => seen.lock().confirm(&batch),
                _ => break,
            }
        }
        if catches_up {
            panic!("the worker lost its connection");
        }
        // The worker connects again, unless the server was killed.
        if TcpStream::connect(server.address).is_err() {
            return;
        }
    }
}

/// The protocol of subscriptions, as a worker speaks it.
struct Talk {
    stream: TcpStream,
    messages: serde_json::StreamDeserializer<'static, serde_json::de::IoRead<std::io::BufReader<TcpStream>>, Value>,
    is_closed: bool,
}

impl Talk {
    fn connect(server: &Server, name: &str, strategy: &str, catches_up: bool) -> Option<Talk> {
        let info = server.client().call("GET", "/info/tcp", "").ok()?.json();
        let address = info["Url"].as_str()?.strip_prefix("tcp://")?.to_owned();
        let stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(LONG)).ok()?;
        let reader = std::io::BufReader::new(stream.try_clone().ok()?);
        let messages = serde_json::Deserializer::from_reader(reader).into_iter();
        let mut talk = Talk { stream, messages, is_closed: false };
        talk.say(&json!({ "DatabaseName": "db", "Operation": "Subscription", "OperationVersion": 53000 }))?;
        assert_eq!(talk.next()?["Status"], "Ok");
        talk.say(&json!({ "SubscriptionName": name, "Strategy": strategy, "MaxDocsPerBatch": 7, "CloseWhenNoDocsLeft": catches_up }))?;
        let accepted = talk.next()?;
        assert_eq!(accepted["Status"], "Accepted", "{accepted}");
        Some(talk)
    }

    fn say(&mut self, message: &Value) -> Option<()> {
        self.stream.write_all(message.to_string().as_bytes()).ok()
    }

    /// `None`: the server is gone.
    fn next(&mut self) -> Option<Value> {
        self.messages.next()?.ok()
    }

    /// The documents of the next batch with their versions, each told as it comes. `None`: there is none.
    fn batch(&mut self, mut deliver: impl FnMut(&str, u64)) -> Option<Vec<(String, u64)>> {
        let mut batch = Vec::new();
        loop {
            let message = self.next()?;
            match message["Type"].as_str()? {
                "EndOfBatch" => return Some(batch),
                "Data" => {
                    let id = message["Data"]["@metadata"]["@id"].as_str().unwrap().to_owned();
                    let version = message["Data"]["V"].as_u64().unwrap();
                    deliver(&id, version);
                    batch.push((id, version));
                }
                "ConnectionStatus" => {
                    self.is_closed = message["Status"] == "Closed";
                    return None;
                }
                other => panic!("{other}: {message}"),
            }
        }
    }
}

/// A follower of the feed, from its cursor until the server is gone or it has caught up.
fn follow(mut client: Client, mirror: &mut BTreeMap<String, u64>, catches_up: bool) {
    let mut after = None;
    loop {
        let place = after.map_or_else(|| "cursor=mirror".to_owned(), |after: String| format!("after={after}"));
        let wait = if catches_up { 0 } else { 5 };
        let Ok(page) = client.call("GET", &format!("/databases/db/feed?{place}&pageSize=5&wait={wait}"), "") else {
            return;
        };
        assert_eq!(page.status, 200, "{}", page.text());
        let mut position = Value::Null;
        for line in page.text().lines() {
            let change: Value = serde_json::from_str(line).unwrap();
            match change["Change"].as_str().unwrap() {
                "Put" => {
                    mirror.insert(change["Id"].as_str().unwrap().to_owned(), change["Item"]["V"].as_u64().unwrap());
                }
                "Delete" => _ = mirror.remove(change["Id"].as_str().unwrap()),
                _ => position = change,
            }
        }
        let until = position["After"].as_str().unwrap().to_owned();
        if catches_up && position["IsAtEnd"] == true {
            return;
        }
        match client.call("PUT", &format!("/databases/db/feed/cursors?name=mirror&after={until}"), "") {
            Ok(moved) => assert_eq!(moved.status, 200, "{}", moved.text()),
            Err(_) => return,
        }
        after = Some(until);
    }
}
