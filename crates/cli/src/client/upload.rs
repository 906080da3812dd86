//! A dump on its way into a database: a form of options and a file.

use anyhow::bail;
use json::Value;

use super::answer::message;
use super::chunked::ChunkedRequest;

/// Separates the parts of the form. A line of a dump that is the same would have to begin behind an end of a line.
const BOUNDARY: &str = "rookery-b7c1f0e2d94a4f6c9d1e8a5b3c2f7e60";

/// An import in work.
pub(crate) struct DumpUpload {
    request: ChunkedRequest,
}

impl DumpUpload {
    pub(super) fn content_type() -> String {
        format!("multipart/form-data; boundary={BOUNDARY}")
    }

    /// Sends the options.
    pub(super) fn new(mut request: ChunkedRequest, options: &[u8]) -> anyhow::Result<DumpUpload> {
        let disposition = "Content-Disposition: form-data; name=";
        let before = format!("--{BOUNDARY}\r\n{disposition}\"importOptions\"\r\n\r\n");
        let after = format!(
            "\r\n--{BOUNDARY}\r\n{disposition}\"file\"; filename=\"dump.ravendbdump\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        request.send(&[before.as_bytes(), options, after.as_bytes()].concat())?;
        Ok(DumpUpload { request })
    }

    /// Sends some of the dump, which is not empty.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.request.send(bytes)
    }

    /// Ends the form and waits until all of it is stored. Gives what was counted.
    pub(crate) fn finish(mut self) -> anyhow::Result<Value> {
        self.request.send(format!("\r\n--{BOUNDARY}--\r\n").as_bytes())?;
        let (status, answer) = self.request.finish()?;
        match (status, Value::parse(&answer)) {
            (200, Ok(result)) => Ok(result),
            _ => bail!("the server refused: {}", message(&answer)),
        }
    }
}
