//! Takes a dump apart while it arrives: a pull parser over the bytes that were pushed into it.
//!
//! It looks at each byte once and finds where the properties of the one object, and the elements of its arrays, end. It does not check
//! them: the caller that takes an element does. Behind an element raw bytes may stand (the content of an attachment, a segment of a time
//! series), whose number is in the element: [`DumpReader::skip`] passes over them without keeping them. What it keeps is at most the bytes
//! that were pushed last, and one element, which is bounded by [`DUMP_ELEMENT_SIZE_MAX`].

use json::ValueScanner;

use crate::limits::{DUMP_ELEMENT_SIZE_MAX, DUMP_SECTION_NAME_SIZE_MAX};

/// Where in a dump something is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpPlace {
    /// Bytes before it, decompressed.
    pub at: u64,
    /// The section; empty: around the sections.
    pub section: String,
    /// The number of the element in its section, from 1; 0: around the elements.
    pub number: u64,
}

impl std::fmt::Display for DumpPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.section.as_str(), self.number) {
            ("", _) => write!(f, "byte {}", self.at),
            (section, 0) => write!(f, "byte {} in '{section}'", self.at),
            (section, number) => write!(f, "byte {}, element {number} of '{section}'", self.at),
        }
    }
}

/// Why a dump cannot be read on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpError {
    /// Where.
    pub place: DumpPlace,
    /// What is wrong.
    pub rule: String,
}

/// A value in a dump, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'r> {
    /// Unchecked JSON.
    pub bytes: &'r [u8],
    /// The name of the property that it is in.
    pub section: &'r str,
    at: u64,
    number: u64,
}

impl Part<'_> {
    /// Where it is.
    pub fn place(&self) -> DumpPlace {
        DumpPlace { at: self.at, section: self.section.to_owned(), number: self.number }
    }
}

/// What comes next in a dump.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'r> {
    /// A property whose value is no array.
    Value(Part<'r>),
    /// An array begins.
    Begin,
    /// An element of it.
    Element(Part<'r>),
    /// Raw bytes behind it, never empty.
    Raw(&'r [u8]),
    /// The array ends.
    End,
    /// The object is closed. [`DumpReader::behind`] tells what follows.
    Closed,
    /// More bytes are needed.
    More,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    BeforeObject,
    /// After `{` or `,`: a name, or `}`.
    BeforeName,
    InName,
    BeforeColon,
    BeforeValue,
    InValue,
    /// After a value: `,` or `}`.
    AfterValue,
    /// After `[` or `,`: an element, or `]`.
    BeforeElement,
    InElement,
    /// After an element: `,` or `]`.
    AfterElement,
    Closed,
}

/// See the module's comment.
#[derive(Debug)]
pub struct DumpReader {
    state: State,
    /// Bytes that are not done with.
    buffer: Vec<u8>,
    /// All before it was looked at.
    at: usize,
    /// Where the value or name in work begins; all before it is done with.
    start: usize,
    /// Bytes of the dump before the buffer.
    before: u64,
    value: ValueScanner,
    /// Raw bytes that are still to be passed over.
    skipped: u64,
    /// Raw bytes that are still to be lent.
    raw: u64,
    section: String,
    number: u64,
    /// What follows the object, from the first byte that is no white space.
    behind: Option<Behind>,
}

/// Bytes that do not belong to a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The first of them.
    pub place: DumpPlace,
    /// Their number.
    pub size: u64,
}

impl Default for DumpReader {
    fn default() -> Self {
        Self::new()
    }
}

impl DumpReader {
    /// A reader before the first byte.
    pub fn new() -> DumpReader {
        DumpReader {
            state: State::BeforeObject,
            buffer: Vec::new(),
            at: 0,
            start: 0,
            before: 0,
            value: ValueScanner::default(),
            skipped: 0,
            raw: 0,
            section: String::new(),
            number: 0,
            behind: None,
        }
    }

    /// Adds the next bytes of the dump. Events that were not taken are kept.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.state == State::Closed {
            self.pass_behind(bytes);
            return;
        }
        self.buffer.drain(..self.start);
        self.before += self.start as u64;
        self.at -= self.start;
        self.start = 0;
        if self.at == self.buffer.len() && self.skipped > 0 {
            bytes = self.pass_over(bytes);
        }
        let capacity = self.capacity_with(bytes.len());
        self.buffer.reserve_exact(capacity - self.buffer.len());
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes of memory that it holds after a push of `more` bytes, at most.
    pub fn capacity_with(&self, more: usize) -> usize {
        let size = self.buffer.len() - self.start + more;
        if size <= self.buffer.capacity() { self.buffer.capacity() } else { size + size / 2 }
    }

    /// Passes over raw bytes that were never in the buffer.
    fn pass_over<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let passed = usize::try_from(self.skipped).unwrap_or(usize::MAX).min(bytes.len());
        self.skipped -= passed as u64;
        self.before += passed as u64;
        &bytes[passed..]
    }

    /// Counts what follows the object.
    fn pass_behind(&mut self, bytes: &[u8]) {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        match &mut self.behind {
            Some(behind) => behind.size += bytes.len() as u64,
            None => {
                if let Some(first) = bytes.iter().position(|byte| !is_space(byte)) {
                    let place = DumpPlace { at: self.before + first as u64, ..DumpPlace::default() };
                    self.behind = Some(Behind { place, size: (bytes.len() - first) as u64 });
                }
            }
        }
        self.before += bytes.len() as u64;
    }

    /// What follows the object, as far as it was pushed; `None`: nothing but white space.
    pub fn behind(&self) -> Option<&Behind> {
        self.behind.as_ref()
    }

    /// Bytes of memory that it holds.
    pub fn held_size(&self) -> usize {
        self.buffer.capacity()
    }

    /// Gives back memory that a large element took.
    pub fn shrink(&mut self, size: usize) {
        self.buffer.shrink_to(size);
    }

    /// Passes over raw bytes that follow the last element.
    pub fn skip(&mut self, size: u64) {
        let here = usize::try_from(size).unwrap_or(usize::MAX).min(self.buffer.len() - self.at);
        self.at += here;
        self.start = self.at;
        self.skipped = size - here as u64;
    }

    /// Lends the raw bytes that follow the last element, as they come.
    pub fn lend(&mut self, size: u64) {
        self.raw = size;
    }

    /// The name of the property that the reader is in.
    pub fn section(&self) -> &str {
        &self.section
    }

    /// Where the reader is.
    pub fn place(&self) -> DumpPlace {
        DumpPlace { at: self.before + self.start as u64, section: self.section.clone(), number: self.number }
    }

    /// Whether the object was closed.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Why a dump that ends here is not whole.
    pub fn cut_off(&self) -> DumpError {
        let rule = match self.state {
            State::BeforeObject => "the file is empty",
            _ => "the dump ends before its last bracket: the file was cut off",
        };
        let place = DumpPlace { at: self.before + self.buffer.len() as u64, ..self.place() };
        DumpError { place, rule: rule.to_owned() }
    }

    fn error(&mut self, rule: impl Into<String>) -> DumpError {
        let at = self.before + self.at as u64;
        DumpError { place: DumpPlace { at, ..self.place() }, rule: rule.into() }
    }

    fn unexpected(&mut self, expected: &str, found: u8) -> DumpError {
        let found = match found {
            b' '..=b'~' => format!("'{}'", char::from(found)),
            byte => format!("the byte {byte:#04x}"),
        };
        self.error(format!("{expected} is expected, and {found} is there"))
    }

    /// What comes next.
    ///
    /// # Errors
    ///
    /// The bytes are no dump, or an element is too large. The reader cannot go on.
    #[allow(clippy::should_implement_trait, reason = "an event borrows from the reader, which iterators cannot lend")]
    pub fn next(&mut self) -> Result<Event<'_>, DumpError> {
        loop {
            if self.state == State::Closed {
                let rest = self.buffer.split_off(self.at);
                self.before += self.at as u64;
                self.buffer = Vec::new();
                (self.at, self.start) = (0, 0);
                self.pass_behind(&rest);
                return Ok(Event::Closed);
            }
            if self.skipped > 0 {
                return Ok(Event::More);
            }
            if self.raw > 0 {
                let (start, here) = (self.at, self.buffer.len() - self.at);
                let size = usize::try_from(self.raw).unwrap_or(usize::MAX).min(here);
                if size == 0 {
                    return Ok(Event::More);
                }
                self.raw -= size as u64;
                self.at += size;
                self.start = self.at;
                return Ok(Event::Raw(&self.buffer[start..start + size]));
            }
            match self.state {
                State::InName | State::InValue | State::InElement => {
                    if !self.scan()? {
                        return Ok(Event::More);
                    }
                    let (start, end) = (self.start, self.at);
                    // What the event lends is dropped by the next call.
                    let was = self.state;
                    self.start = end;
                    match was {
                        State::InName => {
                            self.take_name(start, end)?;
                            self.state = State::BeforeColon;
                        }
                        State::InValue => {
                            self.state = State::AfterValue;
                            return Ok(Event::Value(self.part(start, end)));
                        }
                        _ => {
                            self.state = State::AfterElement;
                            return Ok(Event::Element(self.part(start, end)));
                        }
                    }
                }
                _ => {
                    let Some(byte) = self.buffer.get(self.at).copied() else {
                        self.start = self.at;
                        return Ok(Event::More);
                    };
                    if let Some(event) = self.step(byte)? {
                        return Ok(event);
                    }
                }
            }
        }
    }

    fn part(&self, start: usize, end: usize) -> Part<'_> {
        let (section, number) = (self.section.as_str(), self.number);
        Part { bytes: &self.buffer[start..end], section, at: self.before + start as u64, number }
    }

    /// Goes on with the value in work. True: it is whole.
    fn scan(&mut self) -> Result<bool, DumpError> {
        let is_whole = self.value.scan(&self.buffer, &mut self.at);
        let is_whole = is_whole.map_err(|error| self.error(error.reason.to_string()))?;
        let (max, limit) = match self.state {
            State::InName => (DUMP_SECTION_NAME_SIZE_MAX, "DUMP_SECTION_NAME_SIZE_MAX"),
            _ => (DUMP_ELEMENT_SIZE_MAX, "DUMP_ELEMENT_SIZE_MAX"),
        };
        if self.at - self.start > max {
            return Err(self.error(format!("what begins before is larger than the limit {limit} = {max} bytes")));
        }
        Ok(is_whole)
    }

    fn take_name(&mut self, start: usize, end: usize) -> Result<(), DumpError> {
        let name = self.buffer.get(start + 1..end.saturating_sub(1)).unwrap_or_default();
        let name = std::str::from_utf8(name).map(str::to_owned);
        self.section = name.map_err(|_| self.error("the name of a property is not UTF-8"))?;
        self.number = 0;
        Ok(())
    }

    /// One byte between names, values and elements.
    fn step(&mut self, byte: u8) -> Result<Option<Event<'static>>, DumpError> {
        use State as S;
        let next = match (self.state, byte) {
            (_, b' ' | b'\n' | b'\r' | b'\t') => self.state,
            // A byte order mark.
            (S::BeforeObject, 0xef | 0xbb | 0xbf) if self.before + (self.at as u64) < 3 => S::BeforeObject,
            (S::BeforeObject, b'{') => S::BeforeName,
            (S::BeforeObject, _) => return Err(self.unexpected("a JSON object", byte)),
            (S::BeforeName, b'"') => {
                self.start = self.at;
                self.state = S::InName;
                return Ok(None);
            }
            (S::BeforeName | S::AfterValue, b'}') => {
                self.section.clear();
                self.number = 0;
                S::Closed
            }
            (S::BeforeName, _) => return Err(self.unexpected("the name of a property", byte)),
            (S::BeforeColon, b':') => S::BeforeValue,
            (S::BeforeColon, _) => return Err(self.unexpected("':'", byte)),
            (S::BeforeValue, b'[') => {
                self.at += 1;
                self.start = self.at;
                self.state = S::BeforeElement;
                return Ok(Some(Event::Begin));
            }
            (S::BeforeValue | S::BeforeElement, b',' | b'}' | b':') | (S::BeforeValue, b']') => {
                return Err(self.unexpected("a value", byte));
            }
            (S::BeforeValue, _) => {
                self.start = self.at;
                self.state = S::InValue;
                return Ok(None);
            }
            (S::AfterValue, b',') => S::BeforeName,
            (S::AfterValue, _) => return Err(self.unexpected("',' or '}'", byte)),
            (S::BeforeElement | S::AfterElement, b']') => {
                self.at += 1;
                self.start = self.at;
                self.state = S::AfterValue;
                self.number = 0;
                return Ok(Some(Event::End));
            }
            (S::BeforeElement, _) => {
                self.start = self.at;
                self.number += 1;
                self.state = S::InElement;
                return Ok(None);
            }
            (S::AfterElement, b',') => S::BeforeElement,
            (S::AfterElement, _) => return Err(self.unexpected("',' or ']'", byte)),
            // These are scanned, and the last gives no byte away.
            (S::InName | S::InValue | S::InElement | S::Closed, _) => return Ok(None),
        };
        self.at += 1;
        self.start = self.at;
        self.state = next;
        Ok(None)
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
