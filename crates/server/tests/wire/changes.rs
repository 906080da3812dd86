//! `GET /databases/{name}/changes`: the WebSocket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::support::{Wire, mask};

const HEADERS: [&str; 4] = [
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;

struct Socket(BufReader<TcpStream>);

impl Socket {
    fn open(wire: &Wire) -> Socket {
        let mut stream = wire.connect();
        write!(stream, "GET /databases/DB/changes HTTP/1.1\r\nHost: x\r\n{}\r\n\r\n", HEADERS.join("\r\n")).unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        // The value that RFC 6455 gives for this key.
        assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        let mut socket = Socket(reader);
        assert_eq!(socket.read().unwrap(), r#"[{"TopologyChange":true,"AggressiveCachingChange":true}]"#);
        socket
    }

    /// A text frame of a client.
    fn send(&mut self, text: &str) {
        self.send_frame(0x81, text.as_bytes());
    }

    /// A frame of a client, masked with zeros.
    fn send_frame(&mut self, first: u8, content: &[u8]) {
        let mut frame = vec![first];
        match u8::try_from(content.len()) {
            Ok(size @ ..126) => frame.push(0x80 | size),
            _ => {
                frame.push(0x80 | 126);
                frame.extend_from_slice(&u16::try_from(content.len()).unwrap().to_be_bytes());
            }
        }
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(content);
        self.0.get_mut().write_all(&frame).unwrap();
    }

    /// First byte and content of the next frame; `None` when the connection is over.
    fn read_frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).ok()?;
        let mut long = [0; 8];
        let size_bytes = match head[1] {
            127 => 8,
            126 => 2,
            size => {
                long[7] = size;
                0
            }
        };
        self.0.read_exact(&mut long[8 - size_bytes..]).unwrap();
        let size = u64::from_be_bytes(long);
        let mut content = Vec::new();
        (&mut self.0).take(size).read_to_end(&mut content).unwrap();
        Some((head[0], content))
    }

    /// The text of the next frame that is no ping; `None` when the socket was closed.
    fn read(&mut self) -> Option<String> {
        loop {
            match self.read_frame()? {
                (PING, _) => {}
                (first, text) => return (first == 0x81).then(|| mask(&String::from_utf8(text).unwrap())),
            }
        }
    }

    /// Reads until the server closes; gives the reason that it tells.
    fn reason(&mut self) -> String {
        loop {
            match self.read_frame().expect("a closing frame") {
                (CLOSE, content) => return String::from_utf8(content[2..].to_vec()).unwrap(),
                _ => continue,
            }
        }
    }

    fn watch(&mut self, command: &str, parameter: &str) {
        self.send(&format!(r#"{{"CommandId":7,"Command":"{command}","Param":"{parameter}"}}"#));
        assert_eq!(self.read().unwrap(), r#"[{"CommandId":7,"Type":"Confirm"}]"#);
    }
}

fn change(kind: &str, id: &str, etag: u64) -> String {
    format!(
        r#"[{{"Type":"DocumentChange","Value":{{"Type":"{kind}","Id":"{id}","CollectionName":"Users","ChangeVector":"A:{etag}-ID"}}}}]"#
    )
}

const USER: &str = r#"{"@metadata":{"@collection":"Users"}}"#;

#[test]
fn writes_and_deletes_are_told_to_those_who_watch() {
    let wire = Wire::with_database();
    let mut all = Socket::open(&wire);
    let mut one = Socket::open(&wire);
    let mut prefix = Socket::open(&wire);
    let mut collection = Socket::open(&wire);
    all.watch("watch-docs", "");
    one.watch("watch-doc", "USERS/2");
    prefix.watch("watch-prefix", "Users/");
    collection.watch("watch-collection", "users");
    wire.put("users/1", USER);
    for socket in [&mut all, &mut prefix, &mut collection] {
        assert_eq!(socket.read().unwrap(), change("Put", "users/1", 1));
    }
    wire.put("users/2", USER);
    assert_eq!(one.read().unwrap(), change("Put", "users/2", 2));
    assert_eq!(all.read().unwrap(), change("Put", "users/2", 2));
    wire.call("DELETE /databases/db/docs?id=users/2", "");
    assert_eq!(one.read().unwrap(), change("Delete", "users/2", 3));
    assert_eq!(all.read().unwrap(), change("Delete", "users/2", 3));
    all.watch("unwatch-docs", "");
    wire.put("users/3", USER);
    all.watch("watch-topology-change", "");
}

#[test]
fn many_changes_at_once_are_all_told() {
    let wire = Wire::with_database();
    let mut socket = Socket::open(&wire);
    socket.watch("watch-docs", "");
    let commands: Vec<String> =
        (0..3000).map(|number| format!(r#"{{"Id":"users/{number}","Type":"PUT","Document":{USER}}}"#)).collect();
    wire.check("POST /databases/db/bulk_insert", &format!("[{}]", commands.join(",")), 201, "");
    let mut count = 0;
    while count < 3000 {
        count += socket.read().unwrap().matches("DocumentChange").count();
    }
    assert_eq!(count, 3000);
}

#[test]
fn operations_tell_their_states() {
    let wire = Wire::with_database();
    let mut socket = Socket::open(&wire);
    socket.watch("watch-operation", "1");
    wire.check(
        "POST /databases/db/bulk_insert?id=1",
        &format!("[{{\"Id\":\"a\",\"Type\":\"PUT\",\"Document\":{USER}}}]"),
        201,
        "",
    );
    loop {
        let told = socket.read().unwrap();
        assert!(told.starts_with(r#"[{"Type":"OperationStatusChange","Value":{"OperationId":1,"State":{"#), "{told}");
        if told.contains(r#""Status":"Completed""#) {
            break;
        }
        assert!(told.contains(r#""LastProcessedId":"a","#), "{told}");
    }
}

/// Clients read the progress of an operation that goes on without asking whether there is one.
#[test]
fn an_operation_without_progress_is_not_told_before_its_first() {
    let wire = Wire::with_database();
    let mut socket = Socket::open(&wire);
    socket.watch("watch-operations", "");
    let mut insert = wire.connect();
    let head =
        "POST /databases/db/bulk_insert?id=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n";
    insert.write_all(head.as_bytes()).unwrap();
    wire.until("GET /databases/db/operations/state?id=1", |state| state.status == 200);
    // One that ends meanwhile is told: the first was looked at, too.
    wire.check("POST /databases/db/bulk_insert?id=2", "[]", 201, "");
    let told = socket.read().unwrap();
    assert!(told.contains(r#""OperationId":2,"#) && !told.contains(r#""OperationId":1,"#), "{told}");
    let command = format!(r#"{{"Id":"c/","Type":"PUT","Document":{USER}}}"#);
    insert.write_all(format!("{:x}\r\n{command}\r\n", command.len()).as_bytes()).unwrap();
    let told = socket.read().unwrap();
    // The id is the one that the server completed.
    let progress = r#""Total":1,"BatchCount":1,"LastProcessedId":"c/0000000000000000001-A","DocumentsProcessed":1,"#;
    assert!(told.contains(progress) && told.contains(r#""Status":"InProgress""#), "{told}");
    insert.write_all(b"1\r\n]\r\n0\r\n\r\n").unwrap();
    assert!(socket.read().unwrap().contains(r#""Status":"Completed""#));
}

/// Documents whose changes are more than the server keeps for a socket and the network holds for it.
fn put_many(wire: &Wire) {
    let long = "x".repeat(480);
    for round in 0..20 {
        let commands: Vec<String> = (0..2000)
            .map(|number| format!(r#"{{"Id":"{round}-{number}-{long}","Type":"PUT","Document":{USER}}}"#))
            .collect();
        wire.check("POST /databases/db/bulk_insert", &format!("[{}]", commands.join(",")), 201, "");
    }
}

#[test]
fn a_client_that_misses_something_is_sent_away() {
    let wire = Wire::with_database();
    wire.put("victim", USER);
    let mut socket = Socket::open(&wire);
    socket.watch("watch-docs", "");
    put_many(&wire);
    wire.call("DELETE /databases/db/docs?id=victim", "");
    let reason = socket.reason();
    assert!(reason.contains("CHANGES_KEPT_SIZE_MAX"), "{reason}");
    // Whoever watches less is told.
    let mut other = Socket::open(&wire);
    other.watch("watch-doc", "other");
    put_many(&wire);
    wire.put("other", USER);
    assert!(other.read().unwrap().contains(r#""Id":"other""#));
}

#[test]
fn a_client_that_takes_nothing_is_cut_off() {
    let wire = Wire::start_with(|options| options.limits.slow_reader = Duration::from_millis(300));
    wire.create("db");
    let mut socket = Socket::open(&wire);
    socket.watch("watch-docs", "");
    put_many(&wire);
    wire.until("GET /metrics", |metrics| metrics.text().contains("rookery_changes_sockets 0\n"));
    let mut rest = Vec::new();
    // The end, or a reset, but not the time limit of the test.
    let outcome = socket.0.read_to_end(&mut rest).map_err(|error| error.kind());
    assert_ne!(outcome, Err(std::io::ErrorKind::WouldBlock));
}

#[test]
fn a_client_that_does_not_answer_pings_is_cut_off() {
    // A ping each second; a client that is slow for two of them counts as silent.
    let wire = Wire::start_with(|options| options.limits.idle = Duration::from_secs(4));
    wire.create("db");
    let (mut silent, mut answering) = (Socket::open(&wire), Socket::open(&wire));
    silent.watch("watch-docs", "");
    answering.watch("watch-docs", "");
    for _ in 0..4 {
        let (first, content) = answering.read_frame().unwrap();
        assert_eq!(first, PING);
        answering.send_frame(PONG, &content);
    }
    let reason = silent.reason();
    assert!(reason.contains("does not answer"), "{reason}");
    wire.put("a", USER);
    assert_eq!(answering.read().unwrap(), change("Put", "a", 1));
    // A ping of the client is answered with what is in it.
    answering.send_frame(PING, b"abc");
    while answering.read_frame().unwrap() != (PONG, b"abc".to_vec()) {}
}

#[test]
fn a_database_that_is_closed_closes_its_sockets() {
    let wire = Wire::with_database();
    let body = r#"{"DatabaseNames":["db"],"HardDelete":true}"#;
    for line in ["POST /admin/databases/disable", "DELETE /admin/databases"] {
        let mut sockets = [Socket::open(&wire), Socket::open(&wire)];
        sockets[0].watch("watch-docs", "");
        assert_eq!(wire.call(line, body).status, 200);
        for socket in &mut sockets {
            assert_eq!(socket.reason(), "its database was disabled or deleted", "{line}");
        }
        let (again, body) = match line.starts_with("POST") {
            true => ("POST /admin/databases/enable", body),
            false => ("PUT /admin/databases?name=db", "{}"),
        };
        assert!(wire.call(again, body).status < 300);
        let mut socket = Socket::open(&wire);
        socket.watch("watch-docs", "");
        wire.put("a", USER);
        assert!(socket.read().unwrap().contains("DocumentChange"), "{line}");
    }
}

#[test]
fn what_is_too_much_to_watch_is_refused_and_not_confirmed() {
    let wire = Wire::with_database();
    let command = |kind: &str, name: &str| format!(r#"{{"CommandId":1,"Command":"watch-{kind}","Param":"{name}"}}"#);
    for kind in ["doc", "prefix", "collection"] {
        let mut socket = Socket::open(&wire);
        socket.send(&command(kind, &"x".repeat(512)));
        assert!(socket.read().unwrap().contains("Confirm"), "{kind}");
        socket.send(&command(kind, &"x".repeat(513)));
        assert!(socket.reason().contains("WATCHED_NAME_SIZE_MAX"), "{kind}");
    }
    for (count, name_size, limit) in [(10_000, 6, "WATCHED_COUNT_MAX"), (2048, 512, "WATCHED_SIZE_MAX")] {
        let mut socket = Socket::open(&wire);
        for number in 0..count {
            socket.send(&command("prefix", &format!("{number:0>name_size$}")));
            assert!(socket.read().unwrap().contains("Confirm"), "{number}");
        }
        socket.send(&command("prefix", "one more"));
        assert!(socket.reason().contains(limit), "{limit}");
    }
}

#[test]
fn an_operation_that_ended_is_told_once() {
    let wire = Wire::with_database();
    let mut socket = Socket::open(&wire);
    socket.watch("watch-operations", "");
    for id in 1..4 {
        wire.check(&format!("POST /databases/db/bulk_insert?id={id}"), "[]", 201, "");
        loop {
            let told = socket.read().unwrap();
            assert!(told.contains(&format!(r#""OperationId":{id},"#)), "{told}");
            assert_eq!(told.matches("OperationStatusChange").count(), 1, "{told}");
            if told.contains("Completed") {
                break;
            }
        }
    }
}

#[test]
fn what_is_no_command_closes_the_socket() {
    let wire = Wire::with_database();
    for text in [r#"{"CommandId":1,"Command":"watch-nothing"}"#, "nonsense", r#"{"CommandId":1}"#] {
        let mut socket = Socket::open(&wire);
        socket.send(text);
        assert_eq!(socket.read(), None, "{text}");
    }
}

/// Each set of watched counters gets its own changes, and no others.
#[test]
fn counters_that_are_watched_are_told() {
    let wire = Wire::with_database();
    wire.put("users/1", USER);
    wire.put("users/2", USER);
    let mut sockets: Vec<Socket> = (0..4).map(|_| Socket::open(&wire)).collect();
    sockets[0].watch("watch-counters", "");
    sockets[1].watch("watch-counter", "LIKES");
    sockets[2].watch("watch-document-counters", "USERS/2");
    let command = r#"{"CommandId":7,"Command":"watch-document-counter","Param":null,"Params":["USERS/2","LIKES"]}"#;
    sockets[3].send(command);
    assert_eq!(sockets[3].read().unwrap(), r#"[{"CommandId":7,"Type":"Confirm"}]"#);
    let raise = |id: &str, operations: &[(&str, &str, i64)]| {
        let operation = |(kind, name, delta): &(&str, &str, i64)| {
            format!(r#"{{"Type":"{kind}","CounterName":"{name}","Delta":{delta}}}"#)
        };
        let operations: Vec<String> = operations.iter().map(operation).collect();
        let body = format!(r#"{{"Documents":[{{"DocumentId":"{id}","Operations":[{}]}}]}}"#, operations.join(","));
        assert_eq!(wire.call("POST /databases/db/counters", &body).status, 200);
    };
    let mut expect = |socket: usize, name: &str, value: i64, id: &str, kind: &str| {
        let told = sockets[socket].read().unwrap();
        let start = format!(
            r#"[{{"Type":"CounterChange","Value":{{"Name":"{name}","Value":{value},"DocumentId":"{id}","CollectionName":"Users","ChangeVector":"A:"#
        );
        assert!(told.starts_with(&start) && told.ends_with(&format!(r#","Type":"{kind}"}}}}]"#)), "{told}");
    };
    raise("users/1", &[("Increment", "Likes", 3)]);
    expect(0, "Likes", 3, "users/1", "Put");
    expect(1, "Likes", 3, "users/1", "Put");
    raise("users/1", &[("Increment", "likes", 4)]);
    expect(0, "Likes", 7, "users/1", "Increment");
    expect(1, "Likes", 7, "users/1", "Increment");
    raise("users/2", &[("Increment", "other", 1)]);
    expect(0, "other", 1, "users/2", "Put");
    expect(2, "other", 1, "users/2", "Put");
    raise("users/2", &[("Increment", "likes", 0)]);
    for socket in 0..4 {
        expect(socket, "likes", 0, "users/2", "Put");
    }
    raise("users/2", &[("Delete", "LIKES", 0)]);
    for socket in 0..4 {
        expect(socket, "likes", 0, "users/2", "Delete");
    }
}

/// Clients hand the error to all who watch, and give up waiting for the confirmation when the socket is closed.
#[test]
fn watching_what_is_missing_is_refused_by_name_and_ends_the_socket() {
    let wire = Wire::with_database();
    let commands = [
        ("watch-all-timeseries", "time series"),
        ("watch-timeseries", "time series"),
        ("watch-all-document-timeseries", "time series"),
        ("watch-document-timeseries", "time series"),
    ];
    // All at once, since each is closed after a pause.
    let sockets: Vec<Socket> = commands
        .iter()
        .map(|(command, _)| {
            let mut socket = Socket::open(&wire);
            socket.watch(&format!("un{command}"), "likes");
            socket
                .send(&format!(r#"{{"CommandId":9,"Command":"{command}","Param":null,"Params":["users/1","likes"]}}"#));
            socket
        })
        .collect();
    for (mut socket, (command, feature)) in sockets.into_iter().zip(commands) {
        let version = env!("CARGO_PKG_VERSION");
        let message = format!(
            "Rookery {version} does not support '{command}' on the changes socket yet (missing feature: {feature})"
        );
        let told = socket.read().unwrap();
        let expected = format!(r#"[{{"Type":"Error","Exception":"Raven.Client.Exceptions.RavenException: {message}"#);
        assert!(told.starts_with(&expected) && !told.contains("Confirm"), "{told}");
        let reason = socket.reason();
        assert!(!reason.is_empty() && message.starts_with(&reason), "{reason}");
    }
}

#[test]
fn without_an_upgrade_or_a_database_it_is_an_error() {
    let wire = Wire::with_database();
    wire.check_error("GET /databases/db/changes", "", 400, "ArgumentException", "This endpoint speaks WebSocket only");
    let missing = wire.call_with("GET /databases/none/changes", &HEADERS, b"");
    missing.check_error(400, "DatabaseDoesNotExistException", "Database 'none'");
}

#[test]
fn a_database_that_goes_closes_the_socket() {
    let wire = Wire::with_database();
    let mut socket = Socket::open(&wire);
    socket.watch("watch-docs", "");
    wire.call("DELETE /admin/databases", r#"{"DatabaseNames":["db"],"HardDelete":true}"#);
    assert_eq!(socket.read(), None);
}

#[test]
fn what_happens_to_indexes_is_told_to_those_who_watch_them() {
    let wire = Wire::with_database();
    let (mut all, mut one) = (Socket::open(&wire), Socket::open(&wire));
    all.watch("watch-indexes", "");
    one.watch("watch-index", "B");
    let news =
        |kind: &str, name: &str| format!(r#"[{{"Type":"IndexChange","Value":{{"Type":"{kind}","Name":"{name}"}}}}]"#);
    let put = |name: &str| {
        let map = "from u in docs.Users select new { u.Name }";
        let body = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"]}}]}}"#);
        assert_eq!(wire.call("PUT /databases/db/admin/indexes", &body).status, 201);
    };
    put("A");
    put("b");
    assert_eq!([all.read(), all.read()].map(Option::unwrap), [news("IndexAdded", "A"), news("IndexAdded", "b")]);
    assert_eq!(one.read().unwrap(), news("IndexAdded", "b"));
    wire.call("POST /databases/db/admin/indexes/stop?name=a", "");
    assert_eq!(all.read().unwrap(), news("IndexPaused", "A"));
    wire.put("users/1", USER);
    assert_eq!(all.read().unwrap(), news("BatchCompleted", "b"), "A is stopped");
    assert_eq!(one.read().unwrap(), news("BatchCompleted", "b"));
    wire.call("POST /databases/db/indexes/set-priority", r#"{"IndexNames":["b"],"Priority":"Low"}"#);
    wire.call("POST /databases/db/indexes/set-lock", r#"{"IndexNames":["b"],"Mode":"LockedIgnore"}"#);
    wire.call("POST /databases/db/admin/indexes/disable?name=b", "");
    for kind in ["PriorityChanged", "LockModeChanged", "IndexDemotedToDisabled"] {
        assert_eq!([all.read(), one.read()].map(Option::unwrap), [news(kind, "b"), news(kind, "b")]);
    }
    one.watch("unwatch-index", "b");
    one.watch("watch-index", "a");
    wire.call("POST /databases/db/indexes/set-lock", r#"{"IndexNames":["b"],"Mode":"Unlock"}"#);
    wire.call("DELETE /databases/db/indexes?name=b", "");
    wire.call("DELETE /databases/db/indexes?name=A", "");
    assert_eq!(one.read().unwrap(), news("IndexRemoved", "A"));
    for (kind, name) in [("LockModeChanged", "b"), ("IndexRemoved", "b"), ("IndexRemoved", "A")] {
        assert_eq!(all.read().unwrap(), news(kind, name));
    }
}

/// As documents are found: letter by letter, so that `Σ` at the end of a name is no other letter than within.
#[test]
fn names_are_compared_as_keys_are() {
    let wire = Wire::with_database();
    let mut socket = Socket::open(&wire);
    socket.watch("watch-prefix", "ΑΣ");
    socket.watch("watch-doc", "οδοσ");
    socket.watch("watch-doc", "users/1");
    for id in ["ΑΣΜΑ/1", "ΟΔΟΣ"] {
        let body = format!(r#"{{"Commands":[{{"Type":"PUT","Id":"{id}","Document":{USER}}}]}}"#);
        assert_eq!(wire.call("POST /databases/db/bulk_docs", &body).status, 201);
        // It is told in any case.
        wire.put("users/1", USER);
        let mut told = String::new();
        while !told.contains("users/1") {
            told.push_str(&socket.read().unwrap());
        }
        assert!(told.contains(id), "{told}");
    }
}
