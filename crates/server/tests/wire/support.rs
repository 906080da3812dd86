//! A server for one test, and as much of a client as tests need: what goes over the wire is written out.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rookery_server::{Options, Server};
use testing::wait;

/// A server that runs until the test ends.
pub struct Wire {
    runtime: Option<tokio::runtime::Runtime>,
    server: Option<Server>,
    pub address: SocketAddr,
}

/// One answer: status, headers in lower case, body after undoing the transfer encoding.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Wire {
    /// An empty server in memory.
    pub fn start() -> Wire {
        Wire::start_with(|_| ())
    }

    pub fn start_with(change: impl FnOnce(&mut Options)) -> Wire {
        let mut options = Options {
            addresses: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
            in_memory: true,
            // What requests that are written out call their host.
            allowed_hosts: vec!["x".to_owned()],
            ..Options::default()
        };
        change(&mut options);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start(options)).unwrap();
        Wire { address: server.addresses()[0], runtime: Some(runtime), server: Some(server) }
    }

    /// A server with an empty database `db`.
    pub fn with_database() -> Wire {
        let wire = Wire::start();
        wire.create("db");
        wire
    }

    pub fn create(&self, name: &str) {
        let answer =
            self.call(&format!("PUT /admin/databases?name={name}"), &format!("{{\"DatabaseName\":\"{name}\"}}"));
        assert_eq!(answer.status, 201, "{}", answer.text());
    }

    /// Stores a document in `db`.
    pub fn put(&self, id: &str, document: &str) -> Answer {
        let answer = self.call(&format!("PUT /databases/db/docs?id={id}"), document);
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer
    }

    /// Sends `METHOD target` with a body and no further headers.
    pub fn call(&self, line: &str, body: &str) -> Answer {
        self.call_with(line, &[], body.as_bytes())
    }

    pub fn call_with(&self, line: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut head = format!("{line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        if !body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut stream = self.connect();
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses early may have closed already; what it said is read all the same.
        let _ = stream.write_all(body);
        read_answer(&mut BufReader::new(stream), line.starts_with("HEAD")).unwrap()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(wait::LONG)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Asserts status and body, in which what differs from run to run is masked: `A:1-ID`, `DATE`.
    #[track_caller]
    pub fn check(&self, line: &str, body: &str, status: u16, expected: &str) -> Answer {
        let answer = self.call(line, body);
        assert_eq!((answer.status, answer.masked().as_str()), (status, expected), "{line}");
        answer
    }

    /// Asserts status, exception type and the start of the message.
    #[track_caller]
    pub fn check_error(&self, line: &str, body: &str, status: u16, exception: &str, message: &str) {
        let answer = self.call(line, body);
        answer.check_error(status, exception, message);
    }

    /// Sends `METHOD target` again and again until the answer is as expected, and returns that answer.
    #[track_caller]
    pub fn until(&self, line: &str, is_expected: impl Fn(&Answer) -> bool) -> Answer {
        wait::until(|| {
            let answer = self.call(line, "");
            if is_expected(&answer) { Ok(answer) } else { Err(format!("{line}: {} {}", answer.status, answer.text())) }
        })
    }

    /// Waits for the end of an operation of `db`, and returns its state.
    #[track_caller]
    pub fn ended(&self, operation: i64) -> Answer {
        self.ended_at(&format!("GET /databases/db/operations/state?id={operation}"))
    }

    /// Waits for the end of an operation.
    ///
    /// * `line`: the request for its state.
    #[track_caller]
    pub fn ended_at(&self, line: &str) -> Answer {
        self.until(line, |state| !state.text().contains(r#""Status":"InProgress""#))
    }
}

impl Wire {
    /// Stops the server; what it left undone is not cut off by the end of the test.
    pub fn stop(&mut self) {
        if let (Some(runtime), Some(server)) = (&self.runtime, self.server.take()) {
            runtime.block_on(server.stop());
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

/// Reads one answer; `None` if the connection was closed instead.
pub fn read_answer(reader: &mut impl BufRead, is_head: bool) -> Option<Answer> {
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return None;
    }
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut answer = Answer { status, headers, body: Vec::new() };
    if is_head || matches!(status, 100..=199 | 204 | 304) {
        return Some(answer);
    }
    if answer.header("transfer-encoding") == Some("chunked") {
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let size = u64::from_str_radix(line.trim(), 16).ok()?;
            reader.take(size).read_to_end(&mut answer.body).ok()?;
            line.clear();
            reader.read_line(&mut line).ok()?;
            if size == 0 {
                return Some(answer);
            }
        }
    }
    match answer.header("content-length").map(|size| size.parse::<u64>().unwrap()) {
        Some(size) => reader.take(size).read_to_end(&mut answer.body).ok()?,
        None => reader.read_to_end(&mut answer.body).ok()?,
    };
    Some(answer)
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn masked(&self) -> String {
        mask(&self.text())
    }

    pub fn json(&self) -> json::Value {
        json::Value::parse(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    #[track_caller]
    pub fn check_error(&self, status: u16, exception: &str, message: &str) {
        let body = self.json();
        let text = |name: &str| body.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
        assert_eq!(self.status, status, "{}", self.text());
        assert!(text("Type").ends_with(exception), "{}", self.text());
        assert!(text("Message").starts_with(message), "{}", self.text());
        assert!(text("Error").contains(message), "{}", self.text());
    }
}

/// Replaces database ids in change vectors, dates, and hashes.
pub fn mask(text: &str) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(size) = date_size(rest) {
            masked.push_str("DATE");
            rest = &rest[size..];
        } else if let Some((before, size)) = vector_size(rest) {
            masked.push_str(&rest[..before]);
            masked.push_str("ID");
            rest = &rest[size..];
        } else {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    masked
}

fn date_size(text: &str) -> Option<usize> {
    let date = text.as_bytes().get(..28)?;
    let shape = b"0000-00-00T00:00:00.0000000Z";
    let fits = |(byte, wanted): (&u8, &u8)| if *wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted };
    date.iter().zip(shape).all(fits).then_some(28)
}

/// `A:17-` and the 22 characters of an id.
fn vector_size(text: &str) -> Option<(usize, usize)> {
    let digits = text.strip_prefix("A:")?;
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let id = digits.get(count..)?.strip_prefix('-')?.as_bytes().get(..22)?;
    let is_id = id.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    (count > 0 && is_id).then_some((2 + count + 1, 2 + count + 1 + 22))
}
