//! Reading JSON objects that follow each other on a connection.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limits::TCP_MESSAGE_SIZE_MAX;

/// The objects that a client sends.
pub(crate) struct Incoming<R> {
    reader: R,
    bytes: Vec<u8>,
    scan: Scan,
}

/// How far the first object was looked at.
#[derive(Clone, Copy, Default)]
struct Scan {
    at: usize,
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
}

impl<R: AsyncRead + Unpin> Incoming<R> {
    pub fn new(reader: R) -> Incoming<R> {
        Incoming { reader, bytes: Vec::new(), scan: Scan::default() }
    }

    /// The next object; `None`: the client has ended the connection. May be given up while it waits, and called again.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`]: what arrives is no object, or is longer than [`TCP_MESSAGE_SIZE_MAX`]; or reading fails.
    pub async fn next(&mut self) -> io::Result<Option<json::Value>> {
        loop {
            if let Some(end) = self.scan.end_of_object(&self.bytes)? {
                let rest = self.bytes.split_off(end);
                let object = std::mem::replace(&mut self.bytes, rest);
                self.scan = Scan::default();
                return json::Value::parse(&object).map(Some).map_err(|error| invalid(&error.to_string()));
            }
            if self.bytes.len() > TCP_MESSAGE_SIZE_MAX {
                return Err(invalid(&format!(
                    "a message is longer than the limit TCP_MESSAGE_SIZE_MAX of {TCP_MESSAGE_SIZE_MAX} bytes"
                )));
            }
            if self.reader.read_buf(&mut self.bytes).await? == 0 {
                return Ok(None);
            }
        }
    }
}

impl Scan {
    /// Looks on; gives where the first object ends, once it does.
    fn end_of_object(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        while let Some(byte) = bytes.get(self.at) {
            self.at += 1;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_text => self.is_escaped = true,
                b'"' if self.depth > 0 => self.is_in_text = !self.is_in_text,
                _ if self.is_in_text => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.checked_sub(1).ok_or_else(|| invalid("a bracket closes nothing"))?;
                    if self.depth == 0 {
                        return Ok(Some(self.at));
                    }
                }
                byte if self.depth == 0 && !byte.is_ascii_whitespace() => {
                    return Err(invalid("a message is no JSON object"));
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

fn invalid(rule: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, rule)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    async fn read(bytes: &[u8], piece: usize) -> io::Result<Vec<String>> {
        let (mut client, server) = tokio::io::duplex(piece);
        let bytes = bytes.to_vec();
        tokio::spawn(async move { client.write_all(&bytes).await });
        let mut incoming = Incoming::new(server);
        let mut found = Vec::new();
        while let Some(object) = incoming.next().await? {
            found.push(String::from_utf8(object.to_vec()).unwrap());
        }
        Ok(found)
    }

    #[tokio::test]
    async fn objects_are_found_wherever_they_are_cut() {
        let expected = [r#"{"a":"}\"{"}"#, r#"{"b":[{"c":1}]}"#, "{}"];
        for separator in ["", "\r\n", " "] {
            let bytes = expected.join(separator);
            for piece in [1, 2, 3, 7, 1000] {
                assert_eq!(read(bytes.as_bytes(), piece).await.unwrap(), expected, "{piece}");
            }
        }
        assert!(read(br#"{"a":1"#, 100).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn what_is_no_object_or_too_long_is_refused() {
        let long = format!("{{\"a\":\"{}", "x".repeat(TCP_MESSAGE_SIZE_MAX + 1));
        for bytes in ["x", "5 {}", "]", "{]", "{\"a\":}", "GET / HTTP/1.1\r\n", &long] {
            let refused = read(bytes.as_bytes(), 4096).await.unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidData, "{bytes:.20}");
        }
    }
}
