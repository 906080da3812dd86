//! Cuts the elements out of one JSON array that arrives in pieces.
//!
//! A bulk insert is one endless array; some clients never end the request, so its end is the closing bracket. The
//! scanner looks at each byte once, however the pieces are cut, and only finds where elements end: they are checked by the
//! [`Minifier`](crate::Minifier) afterwards.
//!
//! ```text
//! [ {"Id":"a"} , {"Id":"b"} ]
//! ^  ^         ^ ^          ^
//! |  element   | element    End
//! ```

use crate::escape::plain_run;
use crate::{DEPTH_MAX, Error, Reason};

/// What the scanner found in the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// A whole element, as a range of the buffer.
    Complete(std::ops::Range<usize>),
    /// The rest of the buffer has no whole element; append more and call again.
    Incomplete,
    /// The array is closed. What follows is not looked at.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanState {
    BeforeArray,
    /// After `[`: an element or `]`.
    First,
    /// After `,`: an element.
    Next,
    InElement,
    /// After an element: `,` or `]`.
    After,
    Closed,
}

/// See the module's comment. Positions are those of the caller's buffer, which only grows, but for
/// [`discard`](ElementScanner::discard).
#[derive(Debug)]
pub struct ElementScanner {
    state: ScanState,
    /// All before it was looked at.
    at: usize,
    /// Where the element in work begins.
    start: usize,
    value: ValueScanner,
}

/// Finds the end of one value that arrives in pieces, without checking it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueScanner {
    depth: usize,
    in_string: bool,
    /// The last byte was a backslash in a string.
    escaped: bool,
}

impl Default for ElementScanner {
    fn default() -> Self {
        Self::new()
    }
}

impl ElementScanner {
    /// A scanner before the opening bracket.
    pub fn new() -> Self {
        ElementScanner { state: ScanState::BeforeArray, at: 0, start: 0, value: ValueScanner::default() }
    }

    /// Bytes at the start of the buffer that are no longer needed.
    pub fn consumed(&self) -> usize {
        if self.state == ScanState::InElement { self.start } else { self.at }
    }

    /// The caller took `size` bytes, at most [`consumed`](Self::consumed), from the start of the buffer.
    pub fn discard(&mut self, size: usize) {
        assert!(size <= self.consumed(), "bytes are discarded that the scanner needs");
        self.at -= size;
        self.start = self.start.saturating_sub(size);
    }

    /// Passes over `size` bytes after an element that are no JSON, such as the content of an attachment. Only valid
    /// after [`Element::Complete`], when the buffer holds them.
    pub fn skip(&mut self, size: usize) {
        self.at += size;
    }

    /// Whether the array was closed.
    pub fn is_closed(&self) -> bool {
        self.state == ScanState::Closed
    }

    /// The next element in `buffer`.
    ///
    /// # Errors
    ///
    /// [`Error`] if the text is no array, or a separator is missing; line and column count from the start of `buffer`.
    pub fn next(&mut self, buffer: &[u8]) -> Result<Element, Error> {
        loop {
            if self.state == ScanState::InElement {
                if !self.value.scan(buffer, &mut self.at)? {
                    return Ok(Element::Incomplete);
                }
                self.state = ScanState::After;
                return Ok(Element::Complete(self.start..self.at));
            }
            if self.state == ScanState::Closed {
                return Ok(Element::End);
            }
            let Some(byte) = buffer.get(self.at).copied() else { return Ok(Element::Incomplete) };
            let unexpected = |expected| Error::at(Reason::Unexpected { expected, found: byte }, buffer, self.at);
            match (self.state, byte) {
                (_, b' ' | b'\n' | b'\r' | b'\t') => {}
                (ScanState::BeforeArray, b'[') => self.state = ScanState::First,
                (ScanState::BeforeArray, _) => return Err(unexpected("'['")),
                (ScanState::First | ScanState::After, b']') => self.state = ScanState::Closed,
                (ScanState::After, b',') => self.state = ScanState::Next,
                (ScanState::After, _) => return Err(unexpected("',' or ']'")),
                (_, b',' | b']' | b'}' | b':') => return Err(unexpected("a value")),
                _ => {
                    self.start = self.at;
                    self.state = ScanState::InElement;
                    continue;
                }
            }
            self.at += 1;
        }
    }
}

impl ValueScanner {
    /// Moves `at` on, to the end of the value or of the buffer. True: the value ends there, and the scanner is ready for another.
    ///
    /// # Errors
    ///
    /// [`Reason::TooDeep`]; line and column count from the start of `buffer`.
    pub fn scan(&mut self, buffer: &[u8], at: &mut usize) -> Result<bool, Error> {
        // In registers: what is behind a reference is written back for each byte.
        let (mut scanner, mut here) = (*self, *at);
        let is_whole = scanner.advance(buffer, &mut here);
        (*self, *at) = (scanner, here);
        is_whole
    }

    #[inline(always)]
    fn advance(&mut self, buffer: &[u8], at: &mut usize) -> Result<bool, Error> {
        loop {
            if self.in_string {
                if self.escaped && *at < buffer.len() {
                    self.escaped = false;
                    *at += 1;
                }
                *at += plain_run(buffer.get(*at..).unwrap_or_default());
                let Some(byte) = buffer.get(*at) else { return Ok(false) };
                *at += 1;
                match byte {
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Ok(true);
                        }
                    }
                    // A control character: the check of the element escapes it.
                    _ => {}
                }
                continue;
            }
            let Some(byte) = buffer.get(*at) else { return Ok(false) };
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    self.depth += 1;
                    if self.depth > DEPTH_MAX {
                        return Err(Error::at(Reason::TooDeep, buffer, *at));
                    }
                }
                // The end of a bare word or number is what follows it, which is not part of it.
                b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t' if self.depth == 0 => return Ok(true),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        *at += 1;
                        return Ok(true);
                    }
                }
                _ => {}
            }
            *at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&[u8]]) -> Result<(Vec<String>, bool), Error> {
        let (mut scanner, mut buffer, mut found) = (ElementScanner::new(), Vec::new(), Vec::new());
        for piece in pieces {
            buffer.extend_from_slice(piece);
            loop {
                match scanner.next(&buffer)? {
                    Element::Complete(range) => found.push(String::from_utf8_lossy(&buffer[range]).into_owned()),
                    Element::Incomplete => break,
                    Element::End => return Ok((found, true)),
                }
            }
            let done = scanner.consumed();
            buffer.drain(..done);
            scanner.discard(done);
        }
        Ok((found, false))
    }

    #[test]
    fn elements_are_the_same_however_the_pieces_are_cut() {
        let text = br#" [ {"a":"]}\\\"[{,"} ,[1,[2]],"x,]\"", 12 ,true,{"b":{}} ]trailing"#;
        let expected = [r#"{"a":"]}\\\"[{,"}"#, "[1,[2]]", r#""x,]\"""#, "12", "true", r#"{"b":{}}"#];
        for size in 1..text.len() {
            let pieces: Vec<&[u8]> = text.chunks(size).collect();
            let (found, is_closed) = cut(&pieces).unwrap();
            assert_eq!(found, expected, "{size}");
            assert!(is_closed);
        }
    }

    #[test]
    fn an_open_array_is_incomplete_and_an_empty_one_ends() {
        assert_eq!(cut(&[b"[1,2"]).unwrap(), (vec!["1".to_owned()], false));
        assert_eq!(cut(&[b"[]"]).unwrap(), (vec![], true));
        assert_eq!(cut(&[b""]).unwrap(), (vec![], false));
    }

    #[test]
    fn what_is_no_array_is_refused() {
        for text in ["{}", "1", "[1 2]", "[,1]", "[1,]", "[}"] {
            assert!(cut(&[text.as_bytes()]).is_err(), "{text}");
        }
    }
}
