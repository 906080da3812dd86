//! As much of an HTTP client as loading a file needs: small requests, and one long chunked body.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::TcpStream;

use anyhow::{Context, bail, ensure};

/// A server by its address.
pub(crate) struct Client {
    authority: String,
}

/// Host and port of a server.
///
/// * `url`: `http://host:port`
pub(crate) fn authority(url: &str) -> anyhow::Result<String> {
    let Some(authority) = url.strip_prefix("http://") else {
        bail!("{url} does not begin with http://");
    };
    let authority = authority.trim_end_matches('/');
    ensure!(!authority.is_empty() && !authority.contains('/'), "{url} is not the address of a server");
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Ok(if has_port { authority.to_owned() } else { format!("{authority}:80") })
}

/// The largest answer that is read, in bytes.
const ANSWER_SIZE_MAX: u64 = 16 << 20;

impl Client {
    /// * `url`: `http://host:port`
    pub(crate) fn new(url: &str) -> anyhow::Result<Client> {
        Ok(Client { authority: authority(url)? })
    }

    /// Makes the database if it is not there.
    pub(crate) fn ensure_database(&self, name: &str) -> anyhow::Result<()> {
        let escaped = escape(name);
        if self.request("GET", &format!("/admin/databases?name={escaped}"), None)?.0 != 404 {
            return Ok(());
        }
        let mut body = Vec::new();
        json::Writer::new(&mut body).object(|json| {
            json.name("DatabaseName").string(name);
        });
        let path = format!("/admin/databases?name={escaped}&replicationFactor=1");
        let (status, answer) = self.request("PUT", &path, Some(&body))?;
        // Somebody else may have been faster.
        ensure!(matches!(status, 200 | 201 | 409), "making the database '{name}': {}", message(&answer));
        Ok(())
    }

    /// Raises an identity to a value, if it is not there yet.
    pub(crate) fn seed_identity(&self, database: &str, name: &str, value: i64) -> anyhow::Result<()> {
        let (database, escaped) = (escape(database), escape(name));
        let path = format!("/databases/{database}/identity/seed?name={escaped}&value={value}");
        let (status, answer) = self.request("POST", &path, None)?;
        ensure!(status == 200, "setting the identity '{name}': {}", message(&answer));
        Ok(())
    }

    /// Begins a bulk insert.
    pub(crate) fn bulk_insert(&self, database: &str) -> anyhow::Result<BulkInsert> {
        let database = escape(database);
        let (status, answer) =
            self.request("GET", &format!("/databases/{database}/operations/next-operation-id"), None)?;
        let answer_value = json::Value::parse(&answer).ok();
        let id = answer_value.as_ref().and_then(|value| value.get("Id")).and_then(json::Value::as_i64);
        let Some(id) = id else { bail!("beginning a bulk insert: status {status}, {}", message(&answer)) };
        let stream = self.connect()?;
        let mut out = BufWriter::with_capacity(256 << 10, stream);
        write!(
            out,
            "POST /databases/{database}/bulk_insert?id={id} HTTP/1.1\r\nHost: {}\r\n\
             Content-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
            self.authority
        )?;
        Ok(BulkInsert { out, chunk: vec![b'['], is_first: true })
    }

    fn connect(&self) -> anyhow::Result<TcpStream> {
        let stream = TcpStream::connect(&self.authority)
            .with_context(|| format!("connecting to the server at http://{}", self.authority))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn request(&self, method: &str, path: &str, body: Option<&[u8]>) -> anyhow::Result<(u16, Vec<u8>)> {
        let mut stream = self.connect()?;
        let body = body.unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            self.authority,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        read_answer(stream)
    }
}

/// What one chunk collects.
const CHUNK_SIZE: usize = 128 << 10;

/// A bulk insert in work.
pub(crate) struct BulkInsert {
    out: BufWriter<TcpStream>,
    chunk: Vec<u8>,
    is_first: bool,
}

impl BulkInsert {
    /// Sends one command.
    pub(crate) fn send(&mut self, command: &[u8]) -> anyhow::Result<()> {
        if !self.is_first {
            self.chunk.push(b',');
        }
        self.is_first = false;
        self.chunk.extend_from_slice(command);
        if self.chunk.len() >= CHUNK_SIZE { self.send_chunk() } else { Ok(()) }
    }

    /// Ends the array and waits until all of it is stored.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.chunk.push(b']');
        self.send_chunk()?;
        self.out.write_all(b"0\r\n\r\n").or_else(|error| self.explain(error))?;
        self.out.flush().or_else(|error| self.explain(error))?;
        let stream = self.out.into_inner().context("sending documents")?;
        let (status, answer) = read_answer(stream)?;
        ensure!(matches!(status, 200..=299), "the server refused: {}", message(&answer));
        Ok(())
    }

    fn send_chunk(&mut self) -> anyhow::Result<()> {
        let chunk = std::mem::take(&mut self.chunk);
        let written = write!(self.out, "{:x}\r\n", chunk.len())
            .and_then(|()| self.out.write_all(&chunk))
            .and_then(|()| self.out.write_all(b"\r\n"));
        written.or_else(|error| self.explain(error))?;
        self.chunk = chunk;
        self.chunk.clear();
        Ok(())
    }

    /// A server that refuses answers and closes: what it said is more use than the broken pipe.
    fn explain(&self, error: std::io::Error) -> anyhow::Result<()> {
        if let Ok(stream) = self.out.get_ref().try_clone()
            && let Ok((status, answer)) = read_answer(stream)
        {
            bail!("the server refused with status {status}: {}", message(&answer));
        }
        Err(error).context("sending documents")
    }
}

fn read_answer(stream: TcpStream) -> anyhow::Result<(u16, Vec<u8>)> {
    let mut answer = BufReader::new(stream.take(ANSWER_SIZE_MAX));
    let mut line = String::new();
    answer.read_line(&mut line).context("reading the answer of the server")?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let Some(status) = status else { bail!("the server closed the connection without an answer") };
    let mut is_chunked = false;
    loop {
        line.clear();
        if answer.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
            break;
        }
        is_chunked |= line.to_ascii_lowercase().starts_with("transfer-encoding: chunked");
    }
    let mut body = Vec::new();
    if !is_chunked {
        answer.read_to_end(&mut body)?;
        return Ok((status, body));
    }
    loop {
        line.clear();
        answer.read_line(&mut line)?;
        let size = u64::from_str_radix(line.trim_end(), 16).context("reading the answer of the server")?;
        if size == 0 {
            return Ok((status, body));
        }
        answer.by_ref().take(size).read_to_end(&mut body)?;
        line.clear();
        answer.read_line(&mut line)?;
    }
}

/// What the server says went wrong.
fn message(answer: &[u8]) -> String {
    let value = json::Value::parse(answer).ok();
    let message = value.as_ref().and_then(|value| value.get("Message")).and_then(json::Value::as_str);
    message.map_or_else(|| String::from_utf8_lossy(answer).into_owned(), str::to_owned)
}

fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}
