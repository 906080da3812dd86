//! `GET /databases/{name}/changes`: the WebSocket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use super::support::{Wire, mask};

const HEADERS: [&str; 4] = [
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

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

    /// A text frame of a client, masked with zeros.
    fn send(&mut self, text: &str) {
        let mut frame = vec![0x81, 0x80 | u8::try_from(text.len()).unwrap().min(125), 0, 0, 0, 0];
        assert!(text.len() < 126);
        frame.extend_from_slice(text.as_bytes());
        self.0.get_mut().write_all(&frame).unwrap();
    }

    /// The text of the next frame; `None` when the socket was closed.
    fn read(&mut self) -> Option<String> {
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
        let mut text = Vec::new();
        (&mut self.0).take(size).read_to_end(&mut text).unwrap();
        (head[0] == 0x81).then(|| mask(&String::from_utf8(text).unwrap()))
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
    let told = socket.read().unwrap();
    assert!(told.starts_with(r#"[{"Type":"OperationStatusChange","Value":{"OperationId":1,"State":{"#), "{told}");
    let told = if told.contains("Completed") { told } else { socket.read().unwrap() };
    assert!(told.contains(r#""Status":"Completed""#), "{told}");
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

#[test]
fn without_an_upgrade_or_a_database_it_is_an_error() {
    let wire = Wire::with_database();
    wire.check_error("GET /databases/db/changes", "", 500, "ArgumentException", "This endpoint speaks WebSocket only");
    let missing = wire.call_with("GET /databases/none/changes", &HEADERS, b"");
    missing.check_error(500, "DatabaseDoesNotExistException", "Database 'none'");
}

#[test]
fn a_database_that_goes_closes_the_socket() {
    let wire = Wire::with_database();
    let mut socket = Socket::open(&wire);
    socket.watch("watch-docs", "");
    wire.call("DELETE /admin/databases", r#"{"DatabaseNames":["db"],"HardDelete":true}"#);
    assert_eq!(socket.read(), None);
}
