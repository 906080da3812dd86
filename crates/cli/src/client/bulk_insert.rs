//! A bulk insert: one request whose body is an array of commands, sent in chunks.

use anyhow::ensure;

use super::answer::message;
use super::chunked::ChunkedRequest;

/// What one chunk collects.
const CHUNK_SIZE: usize = 128 << 10;

/// A bulk insert in work.
pub(crate) struct BulkInsert {
    request: ChunkedRequest,
    chunk: Vec<u8>,
    is_first: bool,
}

impl BulkInsert {
    pub(super) fn new(request: ChunkedRequest) -> BulkInsert {
        BulkInsert { request, chunk: vec![b'['], is_first: true }
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

    /// Sends bytes that belong to the command before, as its `ContentLength` says.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK_SIZE { self.send_chunk() } else { Ok(()) }
    }

    /// Ends the array and waits until all of it is stored.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.chunk.push(b']');
        self.send_chunk()?;
        let (status, answer) = self.request.finish()?;
        ensure!(matches!(status, 200..=299), "the server refused: {}", message(&answer));
        Ok(())
    }

    fn send_chunk(&mut self) -> anyhow::Result<()> {
        self.request.send(&self.chunk)?;
        self.chunk.clear();
        Ok(())
    }
}
