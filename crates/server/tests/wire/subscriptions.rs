//! Subscriptions on the wire: the messages of a worker, what it is told when it may not go on, and what hostile clients get.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use json::Value;
use rustls::version::TLS13;
use testing::wait;

use super::secured::{Secured, params, self_signed};
use super::support::Wire;

const HELLO: &str = r#"{"DatabaseName":"db","Operation":"Subscription","OperationVersion":53000}"#;

/// A client that speaks the protocol, over any stream.
struct Talk<S> {
    stream: S,
    bytes: Vec<u8>,
}

impl<S: Read + Write> Talk<S> {
    fn new(stream: S) -> Talk<S> {
        Talk { stream, bytes: Vec::new() }
    }

    fn send(&mut self, message: &str) {
        self.stream.write_all(message.as_bytes()).unwrap();
    }

    /// The next object as text; `None`: the server has ended the connection. Signs of life are passed over.
    fn next(&mut self) -> Option<String> {
        loop {
            let (mut depth, mut is_text, mut is_escaped) = (0, false, false);
            for (at, byte) in self.bytes.iter().enumerate() {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' => is_escaped = true,
                    b'"' => is_text = !is_text,
                    _ if is_text => {}
                    b'{' => depth += 1,
                    b'}' => depth -= 1,
                    _ => continue,
                }
                if depth == 0 {
                    let rest = self.bytes.split_off(at + 1);
                    let object = std::mem::replace(&mut self.bytes, rest);
                    return Some(String::from_utf8(object).unwrap().trim().to_owned());
                }
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(0) | Err(_) => return None,
                Ok(size) => self.bytes.extend_from_slice(&piece[..size]),
            }
        }
    }

    #[track_caller]
    fn expect(&mut self, expected: &str) {
        assert_eq!(self.next().as_deref(), Some(expected));
    }

    /// Connects to a subscription of `db`.
    fn open(&mut self, options: &str) -> String {
        self.send(HELLO);
        self.expect(r#"{"Status":"Ok","Version":53000,"LicensedFeatures":null}"#);
        self.send(options);
        self.next().unwrap()
    }

    #[track_caller]
    fn open_accepted(&mut self, options: &str) {
        assert_eq!(self.open(options), ACCEPTED);
    }

    /// The ids of the next batch, with what else it has but documents.
    fn batch(&mut self) -> (Vec<String>, Vec<String>) {
        let (mut ids, mut others) = (Vec::new(), Vec::new());
        loop {
            let text = self.next().unwrap();
            let message = Value::parse(text.as_bytes()).unwrap();
            match message.get("Type").and_then(Value::as_str) {
                Some("EndOfBatch") => return (ids, others),
                Some("Data") => {
                    let id = message.get("Data").and_then(|data| data.get("@metadata")?.get("@id")?.as_str());
                    ids.push(id.unwrap().to_owned());
                    if message.get("Exception").is_some() {
                        others.push(text);
                    }
                }
                _ => others.push(text),
            }
        }
    }

    fn acknowledge(&mut self) {
        self.send(r#"{"Type":"Acknowledge","ChangeVector":"whatever"}"#);
        self.expect(r#"{"Type":"Confirm"}"#);
    }
}

/// The port that clients are told.
fn port(answer: &str) -> u16 {
    let info = Value::parse(answer.as_bytes()).unwrap();
    let url = info.get("Url").and_then(Value::as_str).unwrap().to_owned();
    // The host is the one that the request called.
    assert!(url.starts_with("tcp://127.0.0.1:") || url.starts_with("tcp://db.example:"), "{url}");
    url.rsplit_once(':').unwrap().1.parse().unwrap()
}

fn stream(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(wait::LONG)).unwrap();
    stream
}

fn talk(wire: &Wire) -> Talk<TcpStream> {
    let answer = wire.call("GET /info/remote-task/tcp?database=db&remote-task=all&verify-database=true", "");
    assert_eq!(answer.status, 200, "{}", answer.text());
    Talk::new(stream(port(&answer.text())))
}

/// A worker that opens the subscription `all` once it is free.
fn accepted(wire: &Wire) -> Talk<TcpStream> {
    wait::until(|| {
        let mut worker = talk(wire);
        let answer = worker.open(ALL);
        if answer == ACCEPTED { Ok(worker) } else { Err(answer) }
    })
}

fn with_subscription(query: &str) -> Wire {
    let wire = Wire::with_database();
    let made = wire.call("PUT /databases/db/subscriptions", &format!(r#"{{"Name":"all","Query":"{query}"}}"#));
    assert_eq!((made.status, made.text().as_str()), (201, r#"{"Name":"all","RaftCommandIndex":1}"#));
    wire
}

fn put_user(wire: &Wire, id: &str, age: u32) {
    wire.put(id, &format!(r#"{{"Age":{age},"Friend":"users/1","@metadata":{{"@collection":"Users"}}}}"#));
}

const ACCEPTED: &str = r#"{"Type":"ConnectionStatus","Status":"Accepted"}"#;

const ALL: &str = r#"{"SubscriptionName":"all","Strategy":"OpenIfFree","MaxDocsPerBatch":2}"#;

#[test]
fn a_worker_gets_batches_and_what_is_written_later() {
    let wire = with_subscription("from Users where Age > 1 include Friend");
    (1..=4).for_each(|number| put_user(&wire, &format!("users/{number}"), number));
    let mut worker = talk(&wire);
    worker.open_accepted(ALL);
    let (ids, others) = worker.batch();
    assert_eq!(ids, ["users/2", "users/3"]);
    assert!(others[0].starts_with(r#"{"Type":"Includes","Includes":{"users/1":{"Age":1,"#), "{others:?}");
    // White space between messages means nothing.
    worker.send("\r\n ");
    worker.acknowledge();
    assert_eq!(worker.batch().0, ["users/4"]);
    worker.acknowledge();
    put_user(&wire, "users/1", 7);
    let first = worker.next().unwrap();
    assert!(first.starts_with(r#"{"Type":"Data","Data":{"Age":7,"Friend":"users/1","@metadata":{"#), "{first}");
    assert!(first.contains(r#""@id":"users/1""#) && first.contains(r#""@change-vector":"A:5-"#), "{first}");
    // It is not acknowledged, so it comes again.
    drop(worker);
    let mut worker = accepted(&wire);
    assert_eq!(worker.batch().0, ["users/1"]);
    let state = wire.call("GET /databases/db/subscriptions/state?name=ALL", "").text();
    for part in [
        r#""SubscriptionId":1,"SubscriptionName":"all","ChangeVectorForNextBatchStartingPoint":"A:4-"#,
        r#""Disabled":false,"LastClientConnectionTime":"20"#,
        r#""LastBatchAckTime":"20"#,
        r#""Connections":[{"ClientUri":"127.0.0.1:"#,
    ] {
        assert!(state.contains(part), "{part}: {state}");
    }
}

#[test]
fn a_worker_gets_the_counters_that_its_query_includes() {
    let wire = with_subscription("from Users include Friend, counters('likes'), counters('none')");
    (1..=2).for_each(|number| put_user(&wire, &format!("users/{number}"), number));
    let count = |id: &str, name: &str, delta: i64| {
        let operation = format!(r#"{{"Type":"Increment","CounterName":"{name}","Delta":{delta}}}"#);
        let body = format!(r#"{{"Documents":[{{"DocumentId":"{id}","Operations":[{operation}]}}]}}"#);
        assert_eq!(wire.call("POST /databases/db/counters", &body).status, 200);
    };
    count("users/1", "likes", 4);
    count("users/1", "Down", -1);
    // The frame is the one that RavenDB sends; users/1 was written last, by its counters.
    let value = r#"{"DocumentId":"users/1","CounterName":"likes","TotalValue":4}"#;
    let expected = format!(
        r#"{{"Type":"CounterIncludes","CounterIncludes":{{"users/2":[null,null],"users/1":[{value},null]}},"IncludedCounterNames":{{"users/2":["likes","none"],"users/1":["likes","none"]}}}}"#
    );
    let mut worker = talk(&wire);
    worker.open_accepted(ALL);
    assert_eq!(worker.batch(), (vec!["users/2".to_owned(), "users/1".to_owned()], vec![expected]));
    worker.acknowledge();
    count("users/2", "likes", 7);
    let (ids, others) = worker.batch();
    assert_eq!(ids, ["users/2"]);
    assert!(others[0].starts_with(r#"{"Type":"Includes","Includes":{"users/1":{"#), "{others:?}");
    assert!(others[1].contains(r#""TotalValue":7}"#) && others.len() == 2, "{others:?}");
    worker.acknowledge();
    // All counters, and those of a document that another one refers to; a projection changes nothing of that.
    for (name, query, expected) in [
        ("every", "from Users where Age = 1 include counters()", r#"{"users/1":["#),
        ("friends", "from Users as u where u.Age = 2 select { A: u.Age } include counters(u.Friend, 'likes')", value),
    ] {
        let body = format!(r#"{{"Name":"{name}","Query":"{query}"}}"#);
        assert_eq!(wire.call("PUT /databases/db/subscriptions", &body).status, 201, "{query}");
        let mut worker = talk(&wire);
        worker.open_accepted(&ALL.replace("all", name));
        let (_, others) = worker.batch();
        assert!(others.len() == 1 && others[0].contains(expected), "{others:?}");
        assert_eq!(others[0].contains("Down"), name == "every", "{others:?}");
    }
    // Clients of versions without such frames are told so.
    drop(worker);
    for (version, includes) in [(40, "Includes. "), (41_400, "Counter Includes. ")] {
        let mut client = talk(&wire);
        client.send(&HELLO.replace("53000", &version.to_string()));
        client.next().unwrap();
        client.send(ALL);
        let refused = client.next().unwrap();
        let begin = r#"{"Type":"ConnectionStatus","Status":"Invalid","Exception":"Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionInvalidStateException: "#;
        assert!(refused.starts_with(begin), "{refused}");
        assert!(refused.contains(&format!("requires the protocol to support {includes}")), "{refused}");
        assert_eq!(client.next(), None);
    }
}

#[test]
fn a_trial_answers_with_documents_and_what_comes_with_them() {
    let wire = Wire::with_database();
    (1..=3).for_each(|number| put_user(&wire, &format!("users/{number}"), number));
    let tried = |query: &str| {
        let answer = wire.call("POST /databases/db/subscriptions/try", &format!(r#"{{"Query":"{query}"}}"#));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json();
        answer.masked()
    };
    assert_eq!(tried("from Dogs"), r#"{"Results":[]}"#);
    let included = tried("from Users where Age > 1 include Friend, counters('likes')");
    assert!(included.starts_with(r#"{"Results":[{"Age":2,"Friend":"users/1","@metadata":{"#), "{included}");
    assert!(included.contains(r#"}],"Includes":{"users/1":{"Age":1,"#), "{included}");
    let counters = r#","CounterIncludes":{"users/2":[null],"users/3":[null]},"IncludedCounterNames":{"users/2":["likes"],"users/3":["likes"]}}"#;
    assert!(included.ends_with(counters), "{included}");
    let failing =
        "declare function f(u) { if (u.Age == 2) throw 'boom'; return { Age: u.Age }; } from Users as u select f(u)";
    let failed = tried(failing);
    assert_eq!(failed.matches(r#","Exception":""#).count(), 1, "{failed}");
    assert!(failed.contains(r#"},{"@metadata":{"@collection":"Users","#) && failed.contains("boom"), "{failed}");
}

#[test]
fn a_new_subscription_has_no_place_that_could_stay_as_it_is() {
    let wire = with_subscription("from Users");
    let check = |line: &str, body: &str| {
        let message = "'DoNotChange' is no change vector from which a subscription could begin";
        wire.check_error(line, body, 400, "", message);
    };
    let body = r#"{"Name":"new","Query":"from Users","ChangeVector":"DoNotChange","CreateNew":true}"#;
    check("PUT /databases/db/subscriptions", body);
    check("POST /databases/db/subscriptions/update", body);
    let kept = body.replace("new", "all");
    assert_eq!(wire.call("POST /databases/db/subscriptions/update", &kept).status, 200);
}

#[test]
fn a_worker_gets_revisions_with_those_before_them() {
    let wire = with_subscription("from Users (Revisions = true)");
    let refused = talk(&wire).open(ALL);
    assert!(
        refused.contains(r#""Status":"Invalid","Exception":"Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionInvalidStateException: Cannot use a revisions subscription"#),
        "{refused}"
    );
    let configuration = r#"{"Collections":{"Users":{"Disabled":false}}}"#;
    assert_eq!(wire.call("POST /databases/db/admin/revisions/config", configuration).status, 200);
    put_user(&wire, "users/1", 1);
    let mut worker = talk(&wire);
    worker.open_accepted(ALL);
    let first = super::support::mask(&worker.next().unwrap());
    let vector = first.split(r#""@change-vector":""#).nth(1).unwrap().split('"').next().unwrap().to_owned();
    let state = format!(
        r#"{{"Age":1,"Friend":"users/1","@metadata":{{"@collection":"Users","@change-vector":"{vector}","@flags":"HasRevisions, Revision","@id":"users/1","@last-modified":"DATE"}}}}"#
    );
    let metadata = format!(
        r#"{{"@change-vector":"{vector}","@flags":"HasRevisions, Revision","@id":"users/1","@last-modified":"DATE"}}"#
    );
    let expected = format!(r#"{{"Type":"Data","Data":{{"Current":{state},"Previous":null,"@metadata":{metadata}}}}}"#);
    assert_eq!(first, expected);
    worker.expect(r#"{"Type":"EndOfBatch"}"#);
    worker.acknowledge();
    // Written while it waits. The deletion has no state of its own.
    wire.check("DELETE /databases/db/docs?id=users/1", "", 204, "");
    let deletion = super::support::mask(&worker.next().unwrap());
    assert!(
        deletion.starts_with(&format!(r#"{{"Type":"Data","Data":{{"Current":null,"Previous":{state},"#)),
        "{deletion}"
    );
    assert!(deletion.contains(r#""@flags":"HasRevisions, DeleteRevision""#), "{deletion}");
    worker.expect(r#"{"Type":"EndOfBatch"}"#);
    worker.acknowledge();
    put_user(&wire, "users/2", 2);
    assert_eq!(worker.batch().0, ["users/2"]);
    worker.acknowledge();
    let tried = wire.call(
        "POST /databases/db/subscriptions/try?pageSize=10",
        r#"{"Query":"from Users (Revisions = true) as d where d.Current = null select { Before: d.Previous.Age }"}"#,
    );
    let tried = tried.masked();
    assert!(tried.starts_with(r#"{"Results":[{"Before":1,"@metadata":{"#), "{tried}");
    // Nothing is known of the counters that a document had.
    let counted = r#"{"Query":"from Users (Revisions = true) include counters()"}"#;
    let refused = concat!(
        "Rookery ",
        env!("CARGO_PKG_VERSION"),
        " does not support counters() in 'include' of a subscription to revisions"
    );
    wire.check_error("PUT /databases/db/subscriptions", counted, 501, "RavenException", refused);
}

#[test]
fn it_ends_when_all_was_sent_if_the_client_wants_that() {
    let wire = with_subscription("from Users");
    put_user(&wire, "users/1", 1);
    let mut worker = talk(&wire);
    worker.open_accepted(r#"{"SubscriptionName":"all","CloseWhenNoDocsLeft":true}"#);
    assert_eq!(worker.batch().0, ["users/1"]);
    worker.acknowledge();
    let end = worker.next().unwrap();
    assert!(end.contains(r#""Status":"Closed","Exception":"Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionClosedException: "#), "{end}");
    assert!(end.ends_with(r#""Data":{"CanReconnect":false,"NoDocsLeft":true}}"#), "{end}");
    assert_eq!(worker.next(), None);
}

#[test]
fn who_may_not_go_on_is_told_why() {
    let wire = with_subscription("from Users");
    let mut first = talk(&wire);
    first.open_accepted(ALL);
    let in_use = talk(&wire).open(ALL);
    assert!(in_use.contains(r#""Status":"InUse","Exception":"Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionInUseException: "#), "{in_use}");
    let mut waiting = talk(&wire);
    waiting.send(HELLO);
    waiting.next().unwrap();
    waiting.send(r#"{"SubscriptionName":"all","Strategy":"WaitForFree"}"#);
    let mut second = talk(&wire);
    second.open_accepted(r#"{"SubscriptionName":"all","Strategy":"TakeOver"}"#);
    let taken = first.next().unwrap();
    assert!(taken.contains(r#""Status":"InUse""#) && taken.contains("Closed by TakeOver"), "{taken}");
    wire.check("POST /databases/db/subscriptions/drop?name=all", "", 204, "");
    let dropped = second.next().unwrap();
    assert!(dropped.contains(r#""Status":"Closed""#) && dropped.contains(r#""CanReconnect":false"#), "{dropped}");
    waiting.expect(r#"{"Type":"ConnectionStatus","Status":"Accepted"}"#);

    wire.check("POST /databases/db/subscriptions/disable?name=all", "", 204, "");
    assert!(waiting.next().unwrap().contains("is disabled"));
    assert!(talk(&wire).open(ALL).contains("is disabled"));
    wire.check("POST /databases/db/subscriptions/enable?name=all", "", 204, "");
    let mut worker = talk(&wire);
    worker.open_accepted(ALL);
    wire.check("DELETE /databases/db/subscriptions?taskName=all", "", 204, "");
    assert!(worker.next().unwrap().contains(r#""Status":"NotFound""#));
    assert!(talk(&wire).open(ALL).contains(r#""Status":"NotFound""#));
    wire.check("DELETE /databases/db/subscriptions?taskName=all", "", 204, "");
    wire.check_error(
        "GET /databases/db/subscriptions/state?name=all",
        "",
        400,
        "SubscriptionDoesNotExistException",
        "Subscription with name 'all' was not found",
    );

    let mut nowhere = talk(&wire);
    nowhere.send(&HELLO.replace("\"db\"", "\"none\""));
    nowhere.next().unwrap();
    let missing = nowhere.next().unwrap();
    assert!(
        missing.contains(
            r#"{"Type":"Error","Exception":"Raven.Client.Exceptions.Database.DatabaseDoesNotExistException: "#
        ),
        "{missing}"
    );
}

#[test]
fn subscriptions_are_listed_changed_and_tried() {
    let wire = with_subscription("from Users");
    (1..=3).for_each(|number| put_user(&wire, &format!("users/{number}"), number));
    wire.check_error(
        "PUT /databases/db/subscriptions",
        r#"{"Name":"ALL","Query":"from Users"}"#,
        400,
        "InvalidOperationException",
        "A subscription with the name 'ALL' already exists",
    );
    wire.check_error(
        "PUT /databases/db/subscriptions",
        r#"{"Name":"x","Query":"from Users order by Age"}"#,
        400,
        "InvalidQueryException",
        "The query of a subscription or of a change feed cannot have 'order by'",
    );
    wire.check_error(
        "PUT /databases/db/subscriptions",
        r#"{"Name":5,"Query":"from Users"}"#,
        400,
        "ArgumentException",
        "'Name' must be a text",
    );
    wire.check(
        "PUT /databases/db/subscriptions",
        r#"{"Query":"from Dogs"}"#,
        201,
        r#"{"Name":"2","RaftCommandIndex":2}"#,
    );
    let names = |line: &str| {
        let list = wire.call(line, "").json();
        let Some(Value::Array(results)) = list.get("Results") else { panic!("{list:?}") };
        results
            .iter()
            .map(|state| state.get("SubscriptionName").unwrap().as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("GET /databases/db/subscriptions"), ["2", "all"]);
    assert_eq!(names("GET /databases/db/subscriptions?start=1&pageSize=1"), ["all"]);
    wire.check(
        "POST /databases/db/subscriptions/update",
        r#"{"Id":2,"Name":"dogs"}"#,
        200,
        r#"{"Name":"dogs","RaftCommandIndex":2}"#,
    );
    wire.check_error(
        "POST /databases/db/subscriptions/update",
        r#"{"Name":"none","Query":"from Users"}"#,
        400,
        "SubscriptionDoesNotExistException",
        "Subscription with name 'none' was not found",
    );
    wire.check(
        "POST /databases/db/subscriptions/update",
        r#"{"Name":"none","Query":"from Users","CreateNew":true}"#,
        200,
        r#"{"Name":"none","RaftCommandIndex":3}"#,
    );
    for line in ["POST /databases/db/subscriptions/try?pageSize=2", "GET /databases/db/subscriptions/try?pageSize=2"] {
        let tried = wire.call(line, r#"{"Query":"from Users where Age > 1 select Age"}"#);
        assert_eq!(tried.status, 200, "{}", tried.text());
        let Some(Value::Array(results)) = tried.json().get("Results").cloned() else { panic!("{}", tried.text()) };
        let ages = results.iter().map(|result| result.get("Age").and_then(Value::as_i64));
        assert_eq!(ages.collect::<Vec<_>>(), [Some(2), Some(3)], "{}", tried.text());
    }
    let task = wire.call("GET /databases/db/task?type=Subscription&taskName=all", "").text();
    assert!(task.contains(r#""TaskType":"Subscription","TaskState":"Enabled""#), "{task}");
    let changed = wire.call("POST /databases/db/admin/tasks/state?type=Subscription&key=1&disable=true", "");
    assert_eq!(changed.status, 200, "{}", changed.text());
    assert!(
        wire.call("GET /databases/db/task?type=Subscription&key=1", "").text().contains(r#""TaskState":"Disabled""#)
    );
    let by_name = "POST /databases/db/admin/tasks/state?type=Subscription&key=0&taskName=ALL&disable=false";
    assert_eq!(wire.call(by_name, "").status, 200);
    assert!(
        wire.call("GET /databases/db/task?type=Subscription&key=1", "").text().contains(r#""TaskState":"Enabled""#)
    );
    assert!(wire.call("GET /databases/db/tasks", "").text().contains(r#""SubscriptionsCount":3"#));
    assert_eq!(wire.call("DELETE /databases/db/admin/tasks?type=Subscription&id=1", "").status, 200);
    assert_eq!(wire.call("DELETE /databases/db/admin/tasks?type=Subscription&id=1", "").status, 404);
    assert_eq!(names("GET /databases/db/subscriptions"), ["dogs", "none"]);
}

#[test]
fn versions_and_operations_that_are_not_known_are_refused() {
    let wire = with_subscription("from Users");
    for (hello, version, part) in [
        (HELLO.replace("53000", "39"), 53_000, "has the versions 40, 41400, 50000, 51000, 53000, not 39"),
        (HELLO.replace("53000", "99"), 40, "not 99"),
        (HELLO.replace("53000", "52999"), 51_000, "not 52999"),
        (HELLO.replace("53000", "1000000000000"), 53_000, "not 1000000000000"),
        (HELLO.replace("Subscription", "Replication"), 53_000, "'Replication' is not supported on this port"),
        ("{}".to_owned(), 53_000, "'' is not supported on this port"),
    ] {
        let mut client = talk(&wire);
        client.send(&hello);
        let refused = client.next().unwrap();
        let begin = format!(r#"{{"Status":"TcpVersionMismatch","Version":{version},"#);
        assert!(refused.starts_with(&begin) && refused.contains(part), "{refused}");
        client.send(r#"{"Operation":"Drop"}"#);
        assert_eq!(client.next(), None);
    }
    // A newer client goes on with the version that it was given, and one that goes on guessing is cut off.
    let mut client = talk(&wire);
    client.send(&HELLO.replace("53000", "60000"));
    client.next().unwrap();
    client.open_accepted(ALL);
    let mut client = talk(&wire);
    for _ in 0..4 {
        client.send(&HELLO.replace("53000", "60000"));
        assert!(client.next().unwrap().contains("TcpVersionMismatch"));
    }
    assert_eq!(client.next(), None);
    for version in [40, 41_400, 50_000, 51_000] {
        let mut client = talk(&wire);
        client.send(&HELLO.replace("53000", &version.to_string()));
        client.expect(&format!(r#"{{"Status":"Ok","Version":{version},"LicensedFeatures":null}}"#));
    }
    for (options, part) in [
        ("{}", "'SubscriptionName' is missing"),
        (r#"{"SubscriptionName":"all","Strategy":"Steal"}"#, "'Strategy' must be"),
        (r#"{"SubscriptionName":"all","MaxDocsPerBatch":0}"#, "'MaxDocsPerBatch' must be"),
        (r#"{"SubscriptionName":7}"#, "'SubscriptionName' must be a text"),
    ] {
        let refused = talk(&wire).open(options);
        assert!(
            refused.starts_with(r#"{"Type":"Error","Exception":"System.ArgumentException: "#) && refused.contains(part),
            "{refused}"
        );
    }
}

#[test]
fn hostile_clients_are_cut_off_and_others_are_served() {
    // Long enough for the worker that is served, also where its thread has to wait for a core.
    let wire = Wire::start_with(|options| {
        options.limits.header_deadline = Duration::from_secs(3);
        options.limits.slow_reader = Duration::from_secs(3);
    });
    wire.create("db");
    wire.call("PUT /databases/db/subscriptions", r#"{"Name":"all","Query":"from Users"}"#);
    let endless = format!("{{\"DatabaseName\":\"{}", "x".repeat(100_000));
    let hostile = ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\u{16}\u{3}\u{1}", "[[[[", "{\"DatabaseName\":", &endless, ""];
    let clients = hostile.map(|bytes| {
        let mut client = talk(&wire);
        let _ = client.stream.write_all(bytes.as_bytes());
        (client, bytes)
    });
    for (mut client, bytes) in clients {
        assert_eq!(client.next(), None, "{bytes:.20}");
    }
    // A worker that takes nothing of its batches.
    let text = "x".repeat(1 << 20);
    for number in 0..24 {
        wire.put(&format!("users/{number}"), &format!(r#"{{"Text":"{text}","@metadata":{{"@collection":"Users"}}}}"#));
    }
    let mut stalled = talk(&wire);
    stalled.open_accepted(r#"{"SubscriptionName":"all"}"#);
    let mut worker = accepted(&wire);
    assert_eq!(worker.batch().0, ["users/0", "users/1"]);
    // What is no acknowledgement ends the connection.
    worker.send(r#"{"Type":"Hello"}"#);
    let refused = worker.next().unwrap();
    assert!(refused.contains("an acknowledgement of the batch was expected"), "{refused}");
    assert_eq!(worker.next(), None);
}

/// Workers that take nothing hold the share of consumers, and no other memory. Other workers wait, and get their batch when it is free.
#[test]
fn workers_who_stall_hold_no_more_than_their_share() {
    let wire = Wire::start_with(|options| {
        (options.limits.consumers_size, options.limits.memory_size) = (4 << 20, 32 << 20);
        options.limits.blocking_wait = Duration::from_millis(200);
    });
    wire.create("db");
    let text = "x".repeat(1 << 20);
    for number in 0..12 {
        wire.put(&format!("users/{number}"), &format!(r#"{{"Text":"{text}","@metadata":{{"@collection":"Users"}}}}"#));
    }
    put_user(&wire, "users/small", 1);
    let mut stalled = Vec::new();
    let refused = wait::until(|| {
        let name = format!("stalled{}", stalled.len());
        wire.call("PUT /databases/db/subscriptions", &format!(r#"{{"Name":"{name}","Query":"from Users"}}"#));
        let mut worker = talk(&wire);
        worker.open_accepted(&format!(r#"{{"SubscriptionName":"{name}"}}"#));
        stalled.push(worker);
        let feed = wire.call("GET /databases/db/feed?collection=Cats", "");
        if feed.status == 503 { Ok(feed) } else { Err("the batches of those who stall are not counted") }
    });
    assert!(refused.text().contains("Limits.ConsumersInMb = 4"), "{}", refused.text());
    wire.call("PUT /databases/db/subscriptions", r#"{"Name":"all","Query":"from Users where Age = 1"}"#);
    let mut worker = talk(&wire);
    worker.open_accepted(ALL);
    wire.put("users/later", &format!(r#"{{"Text":"{text}"}}"#));
    assert_eq!(wire.call("GET /databases/db/docs?id=users/1", "").status, 200);
    drop(stalled);
    assert_eq!(worker.batch().0, ["users/small"]);
    worker.acknowledge();
}

#[test]
fn with_https_the_port_speaks_tls_and_knows_its_workers() {
    let secured = Secured::start();
    secured.administer("PUT /admin/databases?name=db", r#"{"DatabaseName":"db"}"#, 201);
    secured.administer("PUT /databases/db/subscriptions", r#"{"Name":"all","Query":"from Users"}"#, 201);
    let info = secured.administer("GET /info/tcp", "", 200);
    let certificate = data_encoding::BASE64.encode(&secured.server.der);
    assert!(info.text().contains(&format!(r#""Certificate":"{certificate}""#)), "{}", info.text());
    let port = port(&info.text());
    let connect = |pair| {
        let config = Arc::new(secured.config(pair, &[&TLS13]));
        let name = rustls::pki_types::ServerName::try_from("127.0.0.1").unwrap();
        let client = rustls::ClientConnection::new(config, name).unwrap();
        Talk::new(rustls::StreamOwned::new(client, stream(port)))
    };
    let of_database = secured.administer("GET /databases/db/info/tcp", "", 200);
    assert_eq!(of_database.text(), info.text());
    connect(Some(&secured.admin)).open_accepted(ALL);
    let stranger = self_signed(&params("stranger"));
    for pair in [None, Some(&stranger), Some(&secured.expired)] {
        let mut client = connect(pair);
        client.send(HELLO);
        let refused = client.next().unwrap();
        assert!(refused.starts_with(r#"{"Status":"AuthorizationFailed","#), "{refused}");
        assert_eq!(client.next(), None);
    }
    // Clear text is answered as on the other port.
    let mut plain = Talk::new(stream(port));
    plain.send(HELLO);
    assert_eq!(plain.next(), None);
}

#[test]
fn a_server_that_stops_sends_its_workers_away() {
    let mut wire = with_subscription("from Users");
    let mut worker = talk(&wire);
    worker.open_accepted(ALL);
    wire.stop();
    let end = worker.next().unwrap();
    assert!(end.contains("The server stops") && end.contains(r#""CanReconnect":true"#), "{end}");
}
