//! A request whose body is sent in chunks, as long as it is.

use std::io::{BufWriter, IntoInnerError, Write};

use anyhow::{Context, bail};

use super::answer::{message, read_answer};
use super::stream::Stream;

/// A request in work.
pub(crate) struct ChunkedRequest {
    out: BufWriter<Stream>,
}

impl ChunkedRequest {
    /// Sends the head of the request.
    ///
    /// * `authorization`: a line of it, or nothing.
    pub(super) fn begin(
        stream: Stream,
        path: &str,
        content_type: &str,
        authority: &str,
        authorization: &str,
    ) -> anyhow::Result<ChunkedRequest> {
        let mut out = BufWriter::with_capacity(256 << 10, stream);
        write!(
            out,
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\n{authorization}Content-Type: {content_type}\r\n\
             Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        )?;
        Ok(ChunkedRequest { out })
    }

    /// Sends a chunk, which is not empty.
    pub(crate) fn send(&mut self, chunk: &[u8]) -> anyhow::Result<()> {
        let written = write!(self.out, "{:x}\r\n", chunk.len())
            .and_then(|()| self.out.write_all(chunk))
            .and_then(|()| self.out.write_all(b"\r\n"));
        written.or_else(|error| self.explain(error))
    }

    /// Ends the request; gives status and body of the answer.
    pub(crate) fn finish(mut self) -> anyhow::Result<(u16, Vec<u8>)> {
        self.out.write_all(b"0\r\n\r\n").or_else(|error| self.explain(error))?;
        self.out.flush().or_else(|error| self.explain(error))?;
        let stream = self.out.into_inner().map_err(IntoInnerError::into_error).context("sending documents")?;
        read_answer(stream)
    }

    /// A server that refuses answers and closes: what it said is more use than the broken pipe.
    fn explain(&mut self, error: std::io::Error) -> anyhow::Result<()> {
        if let Ok((status, answer)) = read_answer(self.out.get_mut()) {
            bail!("the server refused with status {status}: {}", message(&answer));
        }
        Err(error).context("sending documents")
    }
}
