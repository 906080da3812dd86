//! An answer over HTTP/1.1: its status, and its body as it comes.
//!
//! A body that ends too early is an error, never a shorter body.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};

use anyhow::{Context, bail};
use json::Value;

use super::stream::Stream;

/// The largest body that is read as a whole, in bytes.
const WHOLE_SIZE_MAX: u64 = 256 << 20;

/// The longest line of a head, in bytes.
const LINE_SIZE_MAX: u64 = 64 << 10;

/// An answer whose head was read. Reading gives its body.
pub(crate) struct Answer<S = Stream> {
    pub(super) status: u16,
    /// The program that answers, `Rookery/0.1.0` for example; empty if it does not say.
    pub(super) server: String,
    stream: BufReader<S>,
    left: Left,
}

/// How much of the body comes.
enum Left {
    /// So many bytes.
    Sized(u64),
    /// So many bytes of this chunk, then other chunks.
    Chunk(u64),
    /// Everything until the connection ends.
    Open,
    Nothing,
}

impl<S: Read> Answer<S> {
    pub(super) fn read_head(stream: S) -> anyhow::Result<Answer<S>> {
        let mut stream = BufReader::with_capacity(64 << 10, stream);
        let line = read_line(&mut stream).context("reading the answer of the server")?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let Some(status) = status else { bail!("the server closed the connection without an answer") };
        let mut answer = Answer { status, server: String::new(), stream, left: Left::Open };
        loop {
            let line = read_line(&mut answer.stream)?;
            let Some((name, value)) = line.split_once(':') else { break };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "server" => value.clone_into(&mut answer.server),
                "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => answer.left = Left::Chunk(0),
                "content-length" => answer.left = Left::Sized(value.parse().context("the length of an answer")?),
                _ => {}
            }
        }
        if matches!(status, 204 | 304) {
            answer.left = Left::Nothing;
        }
        Ok(answer)
    }

    /// All of the body.
    pub(crate) fn text(self) -> anyhow::Result<Vec<u8>> {
        let mut text = Vec::new();
        self.take(WHOLE_SIZE_MAX).read_to_end(&mut text).context("reading the answer of the server")?;
        Ok(text)
    }

    /// All of the body as JSON.
    pub(super) fn value(self) -> anyhow::Result<Value> {
        Value::parse(&self.text()?).context("the server's answer is not JSON")
    }

    /// Reads the beginning of the next chunk.
    fn begin_chunk(&mut self) -> Result<()> {
        let line = read_line(&mut self.stream)?;
        let size = u64::from_str_radix(line.trim_end(), 16);
        let size = size.map_err(|_| Error::new(ErrorKind::UnexpectedEof, "the answer of the server was cut off"))?;
        self.left = if size == 0 { Left::Nothing } else { Left::Chunk(size) };
        Ok(())
    }
}

impl<S: Read> Read for Answer<S> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        if let Left::Chunk(0) = self.left {
            self.begin_chunk()?;
        }
        let size_max = match self.left {
            Left::Sized(left) | Left::Chunk(left) => bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX)),
            Left::Open => bytes.len(),
            Left::Nothing => 0,
        };
        if size_max == 0 {
            return Ok(0);
        }
        let size = self.stream.read(&mut bytes[..size_max])?;
        if size == 0 && !matches!(self.left, Left::Open) {
            return Err(Error::new(ErrorKind::UnexpectedEof, "the answer of the server was cut off"));
        }
        match &mut self.left {
            Left::Sized(left) => *left -= size as u64,
            Left::Chunk(left) => {
                *left -= size as u64;
                if *left == 0 {
                    // Behind each chunk is the end of a line.
                    read_line(&mut self.stream)?;
                }
            }
            Left::Open | Left::Nothing => {}
        }
        Ok(size)
    }
}

/// A line without its end.
fn read_line(stream: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    stream.take(LINE_SIZE_MAX).read_line(&mut line)?;
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(line)
}

/// Status and body of an answer.
pub(super) fn read_answer(stream: impl Read) -> anyhow::Result<(u16, Vec<u8>)> {
    let answer = Answer::read_head(stream)?;
    Ok((answer.status, answer.text()?))
}

/// The message of an answer that refuses a request.
pub(super) fn message(answer: &[u8]) -> String {
    let value = json::Value::parse(answer).ok();
    let message = value.as_ref().and_then(|value| value.get("Message")).and_then(json::Value::as_str);
    message.map_or_else(|| String::from_utf8_lossy(answer).into_owned(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// The body of an answer that a server sends as it is.
    fn body(answer: &str) -> std::result::Result<String, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        listener.accept().unwrap().0.write_all(answer.as_bytes()).unwrap();
        let (status, text) = read_answer(client).map_err(|error| format!("{error:#}"))?;
        Ok(format!("{status} {}", String::from_utf8(text).unwrap()))
    }

    #[test]
    fn bodies_come_by_length_in_chunks_or_until_the_end() {
        let check = |answer: &str, expected: &str| assert_eq!(body(answer).as_deref(), Ok(expected), "{answer}");
        check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", "200 abc");
        check("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "201 abc");
        check("HTTP/1.1 500 No\r\n\r\nabc", "500 abc");
        check("HTTP/1.1 204 No Content\r\n\r\n", "204 ");
    }

    #[test]
    fn a_body_that_is_cut_off_is_an_error() {
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        ] {
            let error = body(answer).expect_err(answer);
            assert!(error.contains("was cut off"), "{error}");
        }
        assert!(body("").unwrap_err().contains("without an answer"));
    }
}
