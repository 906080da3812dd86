//! A bulk insert: one request whose body is an array of commands, sent in chunks.

use std::io::{BufWriter, IntoInnerError, Write};

use anyhow::{Context, bail, ensure};

use super::answer::read_answer;
use super::message;
use super::stream::Stream;

/// What one chunk collects.
const CHUNK_SIZE: usize = 128 << 10;

/// A bulk insert in work.
pub(crate) struct BulkInsert {
    out: BufWriter<Stream>,
    chunk: Vec<u8>,
    is_first: bool,
}

impl BulkInsert {
    /// Sends the head of the request.
    ///
    /// * `authorization`: a line of it, or nothing.
    pub(super) fn begin(
        stream: Stream,
        path: &str,
        authority: &str,
        authorization: &str,
    ) -> anyhow::Result<BulkInsert> {
        let mut out = BufWriter::with_capacity(256 << 10, stream);
        write!(
            out,
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\n{authorization}Content-Type: application/json\r\n\
             Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        )?;
        Ok(BulkInsert { out, chunk: vec![b'['], is_first: true })
    }

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
        let stream = self.out.into_inner().map_err(IntoInnerError::into_error).context("sending documents")?;
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
    fn explain(&mut self, error: std::io::Error) -> anyhow::Result<()> {
        if let Ok((status, answer)) = read_answer(self.out.get_mut()) {
            bail!("the server refused with status {status}: {}", message(&answer));
        }
        Err(error).context("sending documents")
    }
}
