//! Compare-exchange values under several clients and kills: what the clients saw can have happened one request after the other
//! (`testing::linearizable`), over single values, reads of all of them, and transactions over two. Sessions raise two numbers meanwhile,
//! and no increment may be lost: a property of a document, which they change in cluster-wide transactions (its atomic guard refuses a
//! stale change), and a counter.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};
use testing::linearizable::{self, Model, Operation};
use testing::random::Random;

use crate::client::Client;
use crate::process::{Server, check, start_and_kill};
use crate::run::{Run, folder};

const KEYS: usize = 3;
const CLIENTS: u64 = 4;
const SESSIONS: usize = 2;
const ROUNDS_PER_FOLDER: u64 = 50;
const LOAD_MS_MAX: u64 = 250;
/// Requests of a client in one round: a history that can be decided.
const CALLS_MAX: usize = 150;

/// The values of all keys.
struct Registers;

/// A value under a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Stored {
    /// `None`: the answer with it was lost.
    index: Option<u64>,
    /// Each write has another.
    value: u64,
}

type State = [Option<Stored>; KEYS];

/// A write of one key.
#[derive(Clone, Debug)]
struct Write {
    key: usize,
    /// The index that the client expects; 0: no value.
    expected: u64,
    /// `None` deletes.
    value: Option<u64>,
}

#[derive(Debug)]
enum Call {
    ReadAll,
    One(Write),
    Both([Write; 2]),
}

#[derive(Debug)]
enum Seen {
    All(State),
    /// The indexes that the writes have got.
    Done(Vec<u64>),
    /// A write of one key was refused, and told what stands there.
    Refused(Option<Stored>),
    /// A transaction was refused.
    Conflict,
}

impl Model for Registers {
    type State = State;
    type Call = Call;
    type Answer = Seen;

    fn apply(state: &State, call: &Call, answer: Option<&Seen>) -> Option<State> {
        let fits = |write: &Write| match &state[write.key] {
            None => write.expected == 0 && write.value.is_some(),
            // Who expects an index was told of it.
            Some(stored) => stored.index == Some(write.expected),
        };
        let mut after = state.clone();
        let writes: &[Write] = match call {
            Call::ReadAll => &[],
            Call::One(write) => std::slice::from_ref(write),
            Call::Both(writes) => writes,
        };
        match answer {
            Some(Seen::All(all)) => {
                for (known, told) in after.iter_mut().zip(all) {
                    *known = agreed(known, told)?;
                }
            }
            Some(Seen::Done(indexes)) => {
                if !writes.iter().all(fits) {
                    return None;
                }
                for (write, index) in writes.iter().zip(indexes) {
                    after[write.key] = write.value.map(|value| Stored { index: Some(*index), value });
                }
            }
            Some(Seen::Refused(told)) => {
                let write = writes.first()?;
                if fits(write) {
                    return None;
                }
                after[write.key] = agreed(&state[write.key], told)?;
            }
            Some(Seen::Conflict) if writes.iter().all(fits) => return None,
            Some(Seen::Conflict) => {}
            None if writes.iter().all(fits) => {
                for write in writes {
                    after[write.key] = write.value.map(|value| Stored { index: None, value });
                }
            }
            None => {}
        }
        Some(after)
    }
}

/// What is known with what was told; `None`: they differ.
fn agreed(known: &Option<Stored>, told: &Option<Stored>) -> Option<Option<Stored>> {
    match (known, told) {
        (None, None) => Some(None),
        (Some(known), Some(told))
            if known.value == told.value && known.index.is_none_or(|it| Some(it) == told.index) =>
        {
            Some(Some(told.clone()))
        }
        _ => None,
    }
}

#[test]
fn compare_exchange_is_linearizable_beside_kills() {
    let run = Run::begin("compare_exchange_is_linearizable_beside_kills", 10, 500);
    let mut random = Random::new(run.seed);
    let (mut rounds_left, mut calls, mut lost, mut raised, mut counted) = (run.rounds, 0, 0, 0, 0);
    while rounds_left > 0 {
        let rounds = rounds_left.min(ROUNDS_PER_FOLDER);
        rounds_left -= rounds;
        let folder = folder();
        let mut world = World::begin(&folder.path().join("data"), random.split());
        for _ in 0..rounds {
            world.round();
        }
        calls += world.calls;
        lost += world.lost;
        raised += world.guarded.acknowledged;
        counted += world.counted.acknowledged;
        world.end();
    }
    let figures = format!("{calls} requests in histories, {lost} without an answer");
    run.end(&format!("{figures}, {raised} increments under a guard, {counted} of a counter"));
    assert!(calls > 0 && raised > 0 && counted > 0);
}

/// Who tests the test: what no order explains is seen.
#[test]
fn what_registers_are_promised_is_checked() {
    let put = |expected, value| Call::One(Write { key: 0, expected, value: Some(value) });
    let one = |index, value| Some(Stored { index: Some(index), value });
    let at = |moment, call, seen| Operation::<Registers> { call, begin: moment, end: Some((moment + 1, seen)) };
    let first = || at(0, put(0, 7), Seen::Done(vec![1]));
    linearizable::check(&State::default(), vec![first(), at(5, put(1, 8), Seen::Done(vec![2]))]).unwrap();
    let broken = [
        ("a lost write", at(5, Call::ReadAll, Seen::All(State::default()))),
        ("two that win", at(5, put(0, 8), Seen::Done(vec![2]))),
        ("a refusal without a reason", at(5, put(1, 8), Seen::Refused(one(1, 7)))),
        ("a value that nobody wrote", at(5, Call::ReadAll, Seen::All([one(1, 9), None, None]))),
    ];
    for (name, operation) in broken {
        assert!(linearizable::check(&State::default(), vec![first(), operation]).is_err(), "{name} is not seen");
    }
}

/// A database, over all its kills.
struct World {
    data: std::path::PathBuf,
    server: Option<Server>,
    random: Random,
    /// What was read after the last kill.
    state: State,
    next_value: AtomicU64,
    calls: usize,
    lost: usize,
    /// Of the document.
    guarded: Increments,
    /// Of the counter.
    counted: Increments,
}

/// Increments by one, by all that made them.
#[derive(Clone, Copy, Debug, Default)]
struct Increments {
    acknowledged: u64,
    /// Those without an answer.
    doubtful: u64,
}

impl Increments {
    fn add(&mut self, other: Increments) {
        self.acknowledged += other.acknowledged;
        self.doubtful += other.doubtful;
    }

    /// The sum has each increment that was acknowledged. Of those without an answer it may have some, and it has no other.
    fn check(&self, what: &str, sum: u64) {
        let right = self.acknowledged..=self.acknowledged + self.doubtful;
        assert!(right.contains(&sum), "{what} has {sum} increments, of which {self:?} were made");
    }
}

impl World {
    fn begin(data: &std::path::Path, random: Random) -> World {
        let server = Server::start(data);
        let created = server.client().call("PUT", "/admin/databases?name=db", r#"{"DatabaseName":"db"}"#).unwrap();
        assert_eq!(created.status, 201, "{}", created.text());
        let document = json!({ "Count": 0, "@metadata": { "@collection": "Raised" } });
        let put = json!({"Type": "PUT", "Id": "raised/1", "ChangeVector": null, "OriginalChangeVector": null, "Document": document});
        let stored = server.client().call("POST", "/databases/db/bulk_docs", &cluster_wide(&[put])).unwrap();
        assert_eq!(stored.status, 201, "{}", stored.text());
        World {
            data: data.to_path_buf(),
            server: Some(server),
            random,
            state: State::default(),
            next_value: AtomicU64::new(1),
            calls: 0,
            lost: 0,
            guarded: Increments::default(),
            counted: Increments::default(),
        }
    }

    /// Clients work, the server is killed, and what it has after its restart is compared with what they saw.
    fn round(&mut self) {
        let server = self.server.take().expect("it runs");
        let moment = Duration::from_millis(self.random.below(LOAD_MS_MAX));
        let (clock, history) = (Instant::now(), Mutex::new(Vec::new()));
        let raised = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                let (random, client) = (self.random.split(), server.client());
                let (next_value, history, clock) = (&self.next_value, &history, &clock);
                scope.spawn(move || {
                    let operations = Caller { client, random, next_value, seen: State::default() }.run(clock);
                    history.lock().extend(operations);
                });
            }
            for _ in 0..SESSIONS {
                let client = server.client();
                let raised = &raised;
                scope.spawn(move || {
                    let counts = raise(client);
                    raised.lock().push(counts);
                });
            }
            std::thread::sleep(moment);
            server.kill_now();
        });
        server.kill();
        for [guarded, counted] in raised.into_inner() {
            self.guarded.add(guarded);
            self.counted.add(counted);
        }
        while self.random.chance(4) {
            start_and_kill(&self.data, Duration::from_millis(self.random.below(60)));
        }
        let server = Server::start(&self.data);
        let mut client = server.client();
        let begin = nanos(&clock);
        let state = read_all(&mut client).expect("it runs");
        let mut history = history.into_inner();
        self.calls += history.len();
        self.lost += history.iter().filter(|operation| operation.end.is_none()).count();
        history.push(Operation { call: Call::ReadAll, begin, end: Some((nanos(&clock), Seen::All(state.clone()))) });
        if let Err(reason) = linearizable::check::<Registers>(&self.state, history) {
            panic!("the requests of a round are in no order: {reason}");
        }
        self.state = state;
        self.check_raised(&mut client);
        self.server = Some(server);
    }

    fn check_raised(&self, client: &mut Client) {
        let document = client.call("GET", RAISED, "").unwrap().json();
        self.guarded.check("the document", document["Results"][0]["Count"].as_u64().expect("it is a count"));
        let counters = client.call("GET", "/databases/db/counters?docId=raised/1&counter=sum", "").unwrap().json();
        self.counted.check("the counter", counters["Counters"][0]["TotalValue"].as_u64().unwrap_or(0));
    }

    fn end(mut self) {
        self.server.take().expect("it runs").stop();
        check(&self.data);
    }
}

/// One client of the values.
struct Caller<'a> {
    client: Client,
    random: Random,
    next_value: &'a AtomicU64,
    /// What it was told last.
    seen: State,
}

impl Caller<'_> {
    /// Until the server is gone.
    fn run(mut self, clock: &Instant) -> Vec<Operation<Registers>> {
        let mut operations = Vec::new();
        while operations.len() < CALLS_MAX {
            let call = self.choose();
            let begin = nanos(clock);
            let answered = match &call {
                Call::ReadAll => read_all(&mut self.client).map(Seen::All),
                Call::One(write) => self.write(write),
                Call::Both(writes) => self.write_both(writes),
            };
            let Some(seen) = answered else {
                operations.push(Operation { call, begin, end: None });
                break;
            };
            self.learn(&call, &seen);
            operations.push(Operation { call, begin, end: Some((nanos(clock), seen)) });
        }
        operations
    }

    fn choose(&mut self) -> Call {
        match self.random.below(6) {
            0 | 1 => Call::ReadAll,
            2 => {
                let first = self.random.index(KEYS);
                let second = (first + 1 + self.random.index(KEYS - 1)) % KEYS;
                Call::Both([first, second].map(|key| self.write_of(key, false)))
            }
            _ => {
                let (key, is_deletion) = (self.random.index(KEYS), self.random.chance(4));
                Call::One(self.write_of(key, is_deletion))
            }
        }
    }

    fn write_of(&mut self, key: usize, is_deletion: bool) -> Write {
        let expected = self.seen[key].as_ref().and_then(|stored| stored.index).unwrap_or(0);
        let value = (!is_deletion).then(|| self.next_value.fetch_add(1, Ordering::Relaxed));
        Write { key, expected, value }
    }

    fn learn(&mut self, call: &Call, seen: &Seen) {
        match (call, seen) {
            (_, Seen::All(all)) => self.seen.clone_from(all),
            (Call::One(write), Seen::Refused(told)) => self.seen[write.key].clone_from(told),
            (Call::One(write), Seen::Done(indexes)) => self.know(write, indexes[0]),
            (Call::Both(writes), Seen::Done(indexes)) => {
                writes.iter().zip(indexes).for_each(|(write, index)| self.know(write, *index));
            }
            _ => {}
        }
    }

    fn know(&mut self, write: &Write, index: u64) {
        self.seen[write.key] = write.value.map(|value| Stored { index: Some(index), value });
    }

    fn write(&mut self, write: &Write) -> Option<Seen> {
        let target = format!("/databases/db/cmpxchg?key=k{}&index={}", write.key, write.expected);
        let answer = match write.value {
            Some(value) => self.client.call("PUT", &target, &json!({ "Object": value }).to_string()),
            None => self.client.call("DELETE", &target, ""),
        };
        let answer = answer.ok()?;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let told = answer.json();
        match told["Successful"] == true {
            true => Some(Seen::Done(vec![told["Index"].as_u64().expect("it is a number")])),
            false => Some(Seen::Refused(stored(&told))),
        }
    }

    fn write_both(&mut self, writes: &[Write; 2]) -> Option<Seen> {
        let commands = writes.each_ref().map(|write| {
            let document = json!({ "Object": write.value });
            json!({"Type": "CompareExchangePUT", "Id": format!("k{}", write.key), "Document": document, "Index": write.expected})
        });
        let answer = self.client.call("POST", "/databases/db/bulk_docs", &cluster_wide(&commands)).ok()?;
        match answer.status {
            201 => {
                let results = answer.json();
                let index_of = |write: &Write| {
                    let results = results["Results"].as_array().expect("it is an array");
                    let own = results.iter().find(|result| result["Key"] == format!("k{}", write.key));
                    own.and_then(|result| result["Index"].as_u64()).expect("each has an index")
                };
                Some(Seen::Done(writes.iter().map(index_of).collect()))
            }
            status => {
                assert_eq!(status, 409, "{}", answer.text());
                Some(Seen::Conflict)
            }
        }
    }
}

/// All values, in one snapshot; `None`: no answer.
fn read_all(client: &mut Client) -> Option<State> {
    let keys: Vec<String> = (0..KEYS).map(|key| format!("key=k{key}")).collect();
    let answer = client.call("GET", &format!("/databases/db/cmpxchg?{}", keys.join("&")), "").ok()?;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let told = answer.json();
    Some(std::array::from_fn(|key| stored(&told["Results"][key])))
}

/// A value as answers have it.
fn stored(told: &Value) -> Option<Stored> {
    let value = told["Value"]["Object"].as_u64()?;
    Some(Stored { index: Some(told["Index"].as_u64().expect("a value has an index")), value })
}

const RAISED: &str = "/databases/db/docs?id=raised/1&txMode=ClusterWide";

/// Raises a property of a document, which it loads and stores in a cluster-wide transaction, and a counter of it, by turns, until the
/// server is gone.
fn raise(mut client: Client) -> [Increments; 2] {
    let (mut guarded, mut counted) = (Increments::default(), Increments::default());
    while let Ok(answer) = client.call("GET", RAISED, "") {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let document = &answer.json()["Results"][0];
        let (count, vector) = (document["Count"].as_u64().unwrap_or(0), &document["@metadata"]["@change-vector"]);
        let changed = json!({ "Count": count + 1, "@metadata": { "@collection": "Raised" } });
        let put = json!({"Type": "PUT", "Id": "raised/1", "ChangeVector": null, "OriginalChangeVector": vector, "Document": changed});
        match client.call("POST", "/databases/db/bulk_docs", &cluster_wide(&[put])) {
            Ok(answer) if answer.status == 201 => guarded.acknowledged += 1,
            Ok(answer) => assert_eq!(answer.status, 409, "{}", answer.text()),
            Err(_) => {
                guarded.doubtful += 1;
                break;
            }
        }
        let increment = json!({"Type": "Increment", "CounterName": "sum", "Delta": 1});
        let body = json!({ "Documents": [{ "DocumentId": "raised/1", "Operations": [increment] }] }).to_string();
        match client.call("POST", "/databases/db/counters", &body) {
            Ok(answer) => {
                assert_eq!(answer.status, 200, "{}", answer.text());
                counted.acknowledged += 1;
            }
            Err(_) => {
                counted.doubtful += 1;
                break;
            }
        }
    }
    [guarded, counted]
}

fn cluster_wide(commands: &[Value]) -> String {
    json!({ "Commands": commands, "TransactionMode": "ClusterWide" }).to_string()
}

fn nanos(clock: &Instant) -> u64 {
    clock.elapsed().as_nanos() as u64
}
