//! As much of an HTTP client as the tools need: small requests, one long chunked body, and answers that are read as they come.

mod answer;
mod bulk_insert;

use std::io::{BufWriter, Write};
use std::net::TcpStream;

use anyhow::{Context, bail, ensure};
use json::Value;

use answer::Answer;
pub(crate) use bulk_insert::BulkInsert;

/// A server by its address.
pub(crate) struct Client {
    authority: String,
}

/// Host and port of a server.
///
/// * `url`: `http://host:port`; the scheme may be omitted, as in the settings of the server. The port is 80 if there is
///   a scheme, as everywhere, and 8080 if there is none.
pub(crate) fn authority(url: &str) -> anyhow::Result<String> {
    let (scheme, authority) = url.split_once("://").unwrap_or(("", url));
    ensure!(
        scheme.is_empty() || scheme.eq_ignore_ascii_case("http"),
        "'{url}' begins with {scheme}://, and only http:// is supported; write http://host:port"
    );
    let authority = authority.trim_end_matches('/');
    let is_port = authority.bytes().all(|byte| byte.is_ascii_digit());
    ensure!(
        !is_port && !authority.contains(['/', '?', '#', ' ']),
        "'{url}' is not the address of a server; write http://host:port"
    );
    let port = if scheme.is_empty() { 8080 } else { 80 };
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Ok(if has_port { authority.to_owned() } else { format!("{authority}:{port}") })
}

impl Client {
    /// * `url`: as for [`authority`].
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

    /// Begins a bulk insert.
    pub(crate) fn bulk_insert(&self, database: &str) -> anyhow::Result<BulkInsert> {
        let database = escape(database);
        let (status, answer) =
            self.request("GET", &format!("/databases/{database}/operations/next-operation-id"), None)?;
        let answer_value = json::Value::parse(&answer).ok();
        let id = answer_value.as_ref().and_then(|value| value.get("Id")).and_then(json::Value::as_i64);
        let Some(id) = id else { bail!("beginning a bulk insert: status {status}, {}", message(&answer)) };
        BulkInsert::begin(self.connect()?, &format!("/databases/{database}/bulk_insert?id={id}"), &self.authority)
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
            text if text.trim().is_empty() => bail!("the server answered with status {status} to {method} {path}"),
            text => bail!(text),
        }
    }

    fn connect(&self) -> anyhow::Result<TcpStream> {
        let stream = TcpStream::connect(&self.authority)
            .with_context(|| format!("connecting to the server at http://{}", self.authority))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn send(&self, stream: &mut TcpStream, method: &str, path: &str, body: &[u8]) -> anyhow::Result<()> {
        let mut out = BufWriter::new(stream);
        write!(
            out,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            self.authority,
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

/// The message of an answer that refuses a request.
fn message(answer: &[u8]) -> String {
    let value = json::Value::parse(answer).ok();
    let message = value.as_ref().and_then(|value| value.get("Message")).and_then(json::Value::as_str);
    message.map_or_else(|| String::from_utf8_lossy(answer).into_owned(), str::to_owned)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_server_may_lack_scheme_and_port() {
        let check = |url: &str, expected: Option<&str>| {
            assert_eq!(Client::new(url).ok().map(|client| client.authority).as_deref(), expected, "{url}");
        };
        check("http://127.0.0.1:8081/", Some("127.0.0.1:8081"));
        check("127.0.0.1:8081", Some("127.0.0.1:8081"));
        check("db.example", Some("db.example:8080"));
        check("HTTP://db.example", Some("db.example:80"));
        check("http://[::1]", Some("[::1]:80"));
        check("[::1]:9000", Some("[::1]:9000"));
        check("https://db.example", None);
        check("http://", None);
        check("8080", None);
        check("http://a;http://b", None);
        check("http://127.0.0.1:1/path", None);
    }
}
