//! As much of an HTTP client as the harnesses need: one connection that is kept, and nothing that is tried again.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;
use testing::wait::LONG;

/// A client of one server.
pub struct Client {
    address: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
}

/// Status and body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; `Null` if it has none.
    pub fn json(&self) -> Value {
        if self.body.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Whether a write that failed with this answer may have been applied all the same (RELIABILITY.md, P6).
    pub fn leaves_doubt(&self) -> bool {
        self.status >= 500 && self.json()["WriteOutcome"] != "NotApplied"
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Client {
        Client { address, connection: None }
    }

    /// Opens the connection, if it is not open. An error says that nothing was sent.
    pub fn connect(&mut self) -> Result<()> {
        if self.connection.is_none() {
            let stream = TcpStream::connect(self.address)?;
            stream.set_read_timeout(Some(LONG))?;
            stream.set_nodelay(true)?;
            self.connection = Some(BufReader::new(stream));
        }
        Ok(())
    }

    /// Sends a request and reads its answer. After an error nobody knows whether it was carried out.
    pub fn call(&mut self, method: &str, target: &str, body: &str) -> Result<Answer> {
        self.connect()?;
        let answer = self.exchange(method, target, body);
        if !matches!(answer, Ok((_, true))) {
            self.connection = None;
        }
        answer.map(|(answer, _)| answer)
    }

    /// The answer, and whether the connection stays.
    fn exchange(&mut self, method: &str, target: &str, body: &str) -> Result<(Answer, bool)> {
        let connection = self.connection.as_mut().expect("it was opened");
        let size = body.len();
        let request = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n{body}");
        // Whoever is refused while he sends reads why.
        let sent = connection.get_mut().write_all(request.as_bytes());
        match read_answer(connection) {
            Ok((answer, stays)) => Ok((answer, stays && sent.is_ok())),
            Err(error) => Err(sent.err().unwrap_or(error)),
        }
    }

    /// All of these documents that are there, in one request, which is one snapshot.
    pub fn load<'a>(&mut self, database: &str, ids: impl Iterator<Item = &'a str>) -> Result<Answer> {
        let ids: Vec<&str> = ids.collect();
        let body = serde_json::json!({ "Ids": ids }).to_string();
        self.call("POST", &format!("/databases/{database}/docs"), &body)
    }
}

/// Reads one answer, and whether another request may follow.
pub fn read_answer(reader: &mut impl BufRead) -> Result<(Answer, bool)> {
    let mut line = next_line(reader)?;
    let broken = || Error::new(ErrorKind::InvalidData, "the answer is no HTTP");
    let status: u16 = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
    let (mut size, mut is_chunked, mut stays) = (None, false, true);
    loop {
        line = next_line(reader)?.to_ascii_lowercase();
        match line.split_once(':').map(|(name, value)| (name, value.trim())) {
            Some(("content-length", value)) => size = Some(value.parse::<u64>().map_err(|_| broken())?),
            Some(("transfer-encoding", _)) => is_chunked = true,
            Some(("connection", "close")) => stays = false,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = Vec::new();
    if is_chunked {
        loop {
            let size = u64::from_str_radix(&next_line(reader)?, 16).map_err(|_| broken())?;
            read_whole(reader, size, &mut body)?;
            next_line(reader)?;
            if size == 0 {
                break;
            }
        }
    } else if !matches!(status, 100..=199 | 204 | 304) {
        match size {
            Some(size) => read_whole(reader, size, &mut body)?,
            None => {
                stays = false;
                reader.read_to_end(&mut body)?;
            }
        }
    }
    Ok((Answer { status, body }, stays))
}

fn read_whole(reader: &mut impl BufRead, size: u64, body: &mut Vec<u8>) -> Result<()> {
    match reader.take(size).read_to_end(body)? as u64 == size {
        true => Ok(()),
        false => Err(ErrorKind::UnexpectedEof.into()),
    }
}

/// A line without its end.
fn next_line(reader: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    match line.strip_suffix("\r\n") {
        Some(text) => Ok(text.to_owned()),
        None => Err(ErrorKind::UnexpectedEof.into()),
    }
}
