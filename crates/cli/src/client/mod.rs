//! As much of an HTTP client as the tools need: small requests, one long chunked body, and answers that are read as they come.

mod address;
mod answer;
mod arguments;
mod bulk_insert;
mod chunked;
mod stream;
mod tls;
mod upload;

use std::io::{BufWriter, Write};

use anyhow::{Context, bail, ensure};
use json::Value;

pub(crate) use address::Address;
use answer::{Answer, message};
pub(crate) use arguments::ServerArguments;
pub(crate) use bulk_insert::BulkInsert;
use chunked::ChunkedRequest;
use stream::Stream;
pub(crate) use tls::Tls;
pub(crate) use upload::DumpUpload;

/// How often a compare-exchange value is put with the index that the server answered last.
const VALUE_ATTEMPTS_MAX: u32 = 16;

/// A server refused a request and did not say why.
#[derive(Debug, thiserror::Error)]
#[error("the server answered with status {status} to {method} {path}")]
pub(crate) struct Unexplained {
    pub status: u16,
    method: String,
    path: String,
}

/// A server by its address.
pub(crate) struct Client {
    address: Address,
    tls: Tls,
    /// The line of each request's head that has the API key; empty without one.
    authorization: String,
}

impl Client {
    /// # Errors
    ///
    /// The URL names no server, or a file of certificates cannot be used.
    pub(crate) fn new(server: &ServerArguments) -> anyhow::Result<Client> {
        let address = Address::parse(&server.url)?;
        Ok(Client { tls: Tls::new(&address, server)?, address, authorization: authorization(server)? })
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
        // Another program may have been faster.
        ensure!(matches!(status, 200 | 201 | 409), "creating the database '{name}': {}", message(&answer));
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

    /// Puts a compare-exchange value, whatever is stored under its key.
    ///
    /// * `value`: JSON, an object.
    pub(crate) fn put_compare_exchange_value(&self, database: &str, key: &str, value: &[u8]) -> anyhow::Result<()> {
        let (escaped_database, escaped) = (escape(database), escape(key));
        let mut index = 0;
        // Another program may change it at the same time.
        for _ in 0..VALUE_ATTEMPTS_MAX {
            let path = format!("/databases/{escaped_database}/cmpxchg?key={escaped}&index={index}");
            let (status, answer) = self.request("PUT", &path, Some(value))?;
            ensure!(status == 200, "storing the compare-exchange value '{key}': {}", message(&answer));
            let answer = Value::parse(&answer)?;
            if answer.get("Successful").and_then(Value::as_bool) == Some(true) {
                return Ok(());
            }
            index = answer.get("Index").and_then(Value::as_i64).unwrap_or_default();
        }
        bail!("storing the compare-exchange value '{key}': another program changes it all the time")
    }

    /// Begins a bulk insert.
    pub(crate) fn bulk_insert(&self, database: &str) -> anyhow::Result<BulkInsert> {
        let id = self.next_operation_id(database).context("beginning a bulk insert")?;
        let path = format!("/databases/{}/bulk_insert?id={id}", escape(database));
        Ok(BulkInsert::new(self.chunked(&path, "application/json")?))
    }

    /// Begins the import of a dump as an operation.
    ///
    /// * `options`: JSON.
    pub(crate) fn import_dump(&self, database: &str, operation: i64, options: &[u8]) -> anyhow::Result<DumpUpload> {
        let path = format!("/databases/{}/smuggler/import?operationId={operation}", escape(database));
        DumpUpload::new(self.chunked(&path, &DumpUpload::content_type())?, options)
    }

    /// Reserves the number of an operation.
    pub(crate) fn next_operation_id(&self, database: &str) -> anyhow::Result<i64> {
        let answer = self.get(&format!("/databases/{}/operations/next-operation-id", escape(database)))?;
        answer.get("Id").and_then(Value::as_i64).context("the server gave no number for an operation")
    }

    /// Asks an operation to stop.
    pub(crate) fn kill_operation(&self, database: &str, operation: i64) -> anyhow::Result<()> {
        let path = format!("/databases/{}/operations/kill?id={operation}", escape(database));
        let (status, answer) = self.request("POST", &path, None)?;
        ensure!(status == 204, "ending the operation: {}", message(&answer));
        Ok(())
    }

    fn chunked(&self, path: &str, content_type: &str) -> anyhow::Result<ChunkedRequest> {
        ChunkedRequest::begin(self.connect()?, path, content_type, &self.address.authority, &self.authorization)
    }

    /// The value that a request for it gives.
    ///
    /// * `path`: with its query string; its parts are escaped ([`escape`]).
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or refuses; then the error is the server's message.
    pub(crate) fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.stream("GET", path, &[])?.value()
    }

    /// The same, with the name of the program that answers, such as `Rookery/0.1.0`.
    pub(crate) fn get_with_server(&self, path: &str) -> anyhow::Result<(Value, String)> {
        let answer = self.stream("GET", path, &[])?;
        let server = answer.server.clone();
        Ok((answer.value()?, server))
    }

    /// The same for a request with a body.
    pub(crate) fn post(&self, path: &str, body: &[u8]) -> anyhow::Result<Value> {
        self.stream("POST", path, body)?.value()
    }

    /// The answer to a request, to be read as it comes. It is one of success.
    pub(crate) fn stream(&self, method: &str, path: &str, body: &[u8]) -> anyhow::Result<Answer> {
        let mut stream = self.connect()?;
        self.send(&mut stream, method, path, body)?;
        let answer = Answer::read_head(stream)?;
        if matches!(answer.status, 200..=299) {
            return Ok(answer);
        }
        let status = answer.status;
        let text = answer.text()?;
        match message(&text) {
            text if text.trim().is_empty() => {
                bail!(Unexplained { status, method: method.to_owned(), path: path.to_owned() })
            }
            text => bail!(text),
        }
    }

    fn connect(&self) -> anyhow::Result<Stream> {
        Stream::connect(&self.address, &self.tls)
    }

    fn send(&self, stream: &mut Stream, method: &str, path: &str, body: &[u8]) -> anyhow::Result<()> {
        let mut out = BufWriter::new(stream);
        write!(
            out,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{}Connection: close\r\nContent-Length: {}\r\n\r\n",
            self.address.authority,
            self.authorization,
            body.len()
        )?;
        out.write_all(body)?;
        out.flush()?;
        Ok(())
    }

    fn request(&self, method: &str, path: &str, body: Option<&[u8]>) -> anyhow::Result<(u16, Vec<u8>)> {
        let mut stream = self.connect()?;
        self.send(&mut stream, method, path, body.unwrap_or_default())?;
        let answer = Answer::read_head(stream)?;
        Ok((answer.status, answer.text()?))
    }
}

/// `Authorization: Bearer KEY` with the end of its line; empty without a key.
///
/// # Errors
///
/// The key has characters that no header may have.
fn authorization(server: &ServerArguments) -> anyhow::Result<String> {
    let Some(key) = &server.api_key else { return Ok(String::new()) };
    ensure!(
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()),
        "the API key has characters that no key has; give it as 'rookery access grant' printed it"
    );
    Ok(format!("Authorization: Bearer {key}\r\n"))
}

/// A part of a path or of a query string, as it goes over the wire.
pub(crate) fn escape(text: &str) -> String {
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
