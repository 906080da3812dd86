//! Where one request ends and the next begins on a connection, read along with the HTTP library.
//!
//! The library resolves a head that has both a `Content-Length` and a `Transfer-Encoding`, and shows only one of them. We
//! refuse it, because something in front of us may have resolved it the other way. So each head is looked at before the library
//! sees it, also one that comes in the same packet as the request before. What the library refuses itself (two lengths, spaces
//! before a colon, folded lines) need not be understood here. Whatever is not understood makes the head in question, and all
//! behind it, a refused one.

use std::mem;

/// The state between two pieces of a connection.
#[derive(Debug, Default)]
pub(crate) struct Framing {
    state: FrameState,
    head: Head,
    line: [u8; LINE_SIZE],
    line_size: usize,
    is_line_cut: bool,
    /// The last byte of the line, also of one that was cut.
    line_last: u8,
    /// Heads that have ended.
    head_count: u64,
    /// The number of the first head, from 1 on, that must not be answered but with a refusal.
    refused_from: Option<u64>,
}

/// Long enough for the names, and for lengths that a body can have; of longer lines the beginning is kept.
const LINE_SIZE: usize = 32;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum FrameState {
    /// In the lines of a head, or before it.
    #[default]
    Head,
    /// In a body with so many bytes to go.
    Body(u64),
    ChunkSize,
    /// In a chunk with so many bytes to go.
    Chunk(u64),
    ChunkEnd,
    Trailer,
    /// The library refuses what was there, and closes.
    Lost,
}

/// What is known of the head that is being read.
#[derive(Debug, Default)]
struct Head {
    has_begun: bool,
    length: Option<u64>,
    has_encoding: bool,
    is_malformed: bool,
}

impl Framing {
    /// Heads that have ended so far.
    pub(crate) fn head_count(&self) -> u64 {
        self.head_count
    }

    /// The first head, counted from 1, that is to be refused.
    pub(crate) fn refused_from(&self) -> Option<u64> {
        self.refused_from
    }

    /// Whether a head has begun and not ended.
    pub(crate) fn is_in_head(&self) -> bool {
        self.state == FrameState::Head && (self.head.has_begun || self.line_size > 0)
    }

    /// Whether every request that has begun has arrived to its end, body included.
    pub(crate) fn is_between_requests(&self) -> bool {
        self.state == FrameState::Head && !self.is_in_head()
    }

    /// Takes the next bytes of the connection, however it is cut into pieces.
    pub(crate) fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match self.state {
                FrameState::Lost => return,
                FrameState::Body(left) | FrameState::Chunk(left) => {
                    let size = left.min(bytes.len() as u64);
                    bytes = &bytes[size as usize..];
                    self.state = match (self.state, left - size) {
                        (FrameState::Body(_), 0) => FrameState::Head,
                        (FrameState::Body(_), left) => FrameState::Body(left),
                        (_, 0) => FrameState::ChunkEnd,
                        (_, left) => FrameState::Chunk(left),
                    };
                }
                FrameState::Head | FrameState::ChunkSize | FrameState::ChunkEnd | FrameState::Trailer => {
                    let end = memchr::memchr(b'\n', bytes);
                    let part = &bytes[..end.unwrap_or(bytes.len())];
                    let kept = part.len().min(LINE_SIZE - self.line_size);
                    self.line[self.line_size..self.line_size + kept].copy_from_slice(&part[..kept]);
                    self.line_size += kept;
                    self.is_line_cut |= kept < part.len();
                    self.line_last = part.last().copied().unwrap_or(self.line_last);
                    let Some(end) = end else { return };
                    bytes = &bytes[end + 1..];
                    self.end_line();
                }
            }
        }
    }

    fn end_line(&mut self) {
        let size = mem::take(&mut self.line_size);
        let is_cut = mem::take(&mut self.is_line_cut);
        let is_whole = mem::take(&mut self.line_last) == b'\r';
        let line = &self.line[..size];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_empty = line.is_empty();
        match self.state {
            // Between chunks the library takes a bare newline for an error, or behind the last one for a part of a trailer.
            FrameState::ChunkSize | FrameState::ChunkEnd | FrameState::Trailer if !is_whole => self.lose(),
            // Empty lines before a head are passed over.
            FrameState::Head if is_empty && !self.head.has_begun => {}
            FrameState::Head if is_empty => {
                self.head.is_malformed |= !is_whole;
                self.end_head();
            }
            FrameState::Head => {
                self.head.has_begun = true;
                // RFC 9112, 2.2 allows a bare newline. Something in front of us may not, and see other lines.
                self.head.is_malformed |= !is_whole;
                if let Some(value) = value_of(line, b"content-length:") {
                    let length = number(value, 10).filter(|_| !is_cut);
                    self.head.is_malformed |= length.is_none();
                    self.head.length = length.or(Some(0));
                }
                self.head.has_encoding |= value_of(line, b"transfer-encoding:").is_some();
            }
            FrameState::ChunkSize => {
                let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
                self.state = match number(&line[..digits], 16).filter(|_| digits < LINE_SIZE) {
                    Some(0) => FrameState::Trailer,
                    Some(size) => FrameState::Chunk(size),
                    None => return self.lose(),
                };
            }
            FrameState::ChunkEnd if is_empty => self.state = FrameState::ChunkSize,
            FrameState::ChunkEnd => self.lose(),
            FrameState::Trailer if is_empty => self.state = FrameState::Head,
            FrameState::Trailer | FrameState::Body(_) | FrameState::Chunk(_) | FrameState::Lost => {}
        }
    }

    fn end_head(&mut self) {
        let head = mem::take(&mut self.head);
        self.head_count += 1;
        if head.is_malformed || (head.length.is_some() && head.has_encoding) {
            self.refused_from.get_or_insert(self.head_count);
        }
        self.state = match head.length {
            _ if head.has_encoding => FrameState::ChunkSize,
            None | Some(0) => FrameState::Head,
            Some(length) => FrameState::Body(length),
        };
    }

    fn lose(&mut self) {
        self.state = FrameState::Lost;
        self.refused_from.get_or_insert(self.head_count + 1);
    }
}

/// What follows a name, which is in lower case and ends with the colon.
fn value_of<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let (start, value) = line.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    // `from_str_radix` would take a sign.
    let text = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?;
    u64::from_str_radix(text, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts how many heads end in `text` and which is the first that is refused, in pieces of every size.
    #[track_caller]
    fn check(text: &str, heads: u64, refused_from: Option<u64>) {
        for cut in 1..=text.len() {
            let mut framing = Framing::default();
            text.as_bytes().chunks(cut).for_each(|part| framing.read(part));
            let found = (framing.head_count(), framing.refused_from());
            assert_eq!(found, (heads, refused_from), "{text:?} in pieces of {cut}");
        }
    }

    const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    const BOTH: &str = "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n";

    #[test]
    fn a_head_with_both_lengths_is_seen_wherever_it_stands() {
        check(BOTH, 1, Some(1));
        check("POST / HTTP/1.1\ntransfer-ENCODING:chunked\nX: y\nCONTENT-length:3\n\n", 1, Some(1));
        check(&format!("{GET}{GET}{BOTH}"), 3, Some(3));
        check(&format!("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\na\n\n\nb{BOTH}"), 2, Some(2));
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        check(&format!("{chunked}3;x=y\r\na\n\n\r\n0A \r\n0\r\n\r\n\r\n\n\r\n\r\n0\r\nX: y\r\n\r\n{BOTH}"), 2, Some(2));
        check(&format!("\r\n\n{GET}\r\n{BOTH}"), 2, Some(2));
    }

    #[test]
    fn a_line_of_a_head_ends_with_cr_and_lf() {
        check("GET / HTTP/1.1\nHost: x\r\n\r\n", 1, Some(1));
        check(&format!("{GET}GET / HTTP/1.1\r\nHost: x\n\r\n"), 2, Some(2));
        check("GET / HTTP/1.1\r\nHost: x\r\n\n", 1, Some(1));
        check(&format!("GET / HTTP/1.1\r\nX: {}\n\r\n", "y".repeat(100)), 1, Some(1));
        check(&format!("\n{GET}"), 1, None);
    }

    #[test]
    fn a_body_is_not_a_head() {
        let body = "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n";
        let length = body.len();
        check(&format!("POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}{GET}"), 2, None);
        let chunk = format!("{length:x}\r\n{body}\r\n0\r\n\r\n");
        check(&format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}{GET}"), 2, None);
        let trailer = format!("X: {}\r\nY: {body_line}\r\n", "y".repeat(100), body_line = "z".repeat(LINE_SIZE - 3));
        check(&format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{trailer}\r\n{GET}"), 2, None);
        check("POST / HTTP/1.1\r\nX-Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 1, None);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for length in ["x", "", "+5", "-1", "1 2", "3,3", "18446744073709551616", &" ".repeat(100)] {
            check(&format!("POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n"), 1, Some(1));
        }
        // A bare newline ends a line for us and not for the library, which would count the heads behind it otherwise.
        let newlines = ["0\r\n\n", "0\n", "1\r\na\n", "1\na\r\n", "0\r\nX: y\n", "0\r\n\nX: y\r\n\r\n"];
        let others = ["x\r\n", "\r\n", "10000000000000000\r\n", "1\r\nab\r\n", &"0".repeat(100)];
        for chunk in newlines.into_iter().chain(others) {
            let text = format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}\r\n{GET}");
            check(&text, 1, Some(2));
        }
    }
}
