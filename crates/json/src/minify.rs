//! Checks JSON text and strips it of white space, in one pass and without a tree.
//!
//! The input is read once. As long as it is already in stored form nothing is copied: the output is the input. From the
//! first white space or rewritten escape on, runs of input that need no change are appended to a buffer that is kept
//! from call to call.
//!
//! ```text
//! input    {"a": 1, "b\u00e9": 2}
//!          \___/ \_/ \_/      \_/      runs, flushed at each deviation
//! output   {"a":1,"bé":2}
//! ```
//!
//! Control characters in strings are taken as they stand, as the reference takes them, and stored as escapes.
//!
//! Positions in the output are `out.len() + (at - run)`, flushed or not.

use crate::escape::{plain_run, push_escaped, unicode_escape};
use crate::limits::KEPT_BUFFER_SIZE_MAX;
use crate::property_set::{PropertyEntry, PropertySet, fingerprint};
use crate::{DEPTH_MAX, Error, INPUT_SIZE_MAX, PROPERTY_NAME_SIZE_MAX, Raw, Reason, number};

/// Checks and minifies; keeps its buffers from text to text.
#[derive(Default, Debug)]
pub struct Minifier {
    out: Vec<u8>,
    frames: Vec<Frame>,
    properties: PropertySet,
    numbers: Numbers,
}

/// Which numbers are taken.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Those that a double can hold.
    #[default]
    Double,
    /// All, also `1e400`.
    Any,
}

/// One open container.
#[derive(Clone, Copy, Debug)]
enum Frame {
    Array,
    /// With the start of its properties in the set.
    Object(usize),
}

/// Why reading stopped: reason and place in the input.
type Refused = (Reason, usize);

impl Minifier {
    /// A minifier with empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// A minifier that takes numbers of any size, also those beyond a double. For what is compared and not kept.
    pub fn with_any_number() -> Self {
        Minifier { numbers: Numbers::Any, ..Self::default() }
    }

    /// Checks `input` and gives it in stored form: no white space, only the escapes that JSON demands.
    /// Control characters that stand in a string as they are, which RFC 8259 forbids, are taken and escaped.
    ///
    /// # Errors
    ///
    /// [`Error`] with line and column: not UTF-8, not JSON, too deep, a property twice, a number out of range.
    pub fn minify<'a>(&'a mut self, input: &'a [u8]) -> Result<Raw<'a>, Error> {
        if self.out.capacity() > KEPT_BUFFER_SIZE_MAX {
            self.out = Vec::new();
        }
        self.out.clear();
        self.frames.clear();
        self.properties.clear();
        if input.len() > INPUT_SIZE_MAX {
            return Err(Error::at(Reason::TooLong, input, 0));
        }
        if let Err(error) = std::str::from_utf8(input) {
            return Err(Error::at(Reason::NotUtf8, input, error.valid_up_to()));
        }
        let mut pass = Pass {
            input,
            at: 0,
            run: 0,
            out: &mut self.out,
            frames: &mut self.frames,
            numbers: self.numbers,
            properties: &mut self.properties,
        };
        match pass.text() {
            Ok(run) if self.out.is_empty() => Ok(Raw::new(&input[run..])),
            Ok(_) => Ok(Raw::new(&self.out)),
            Err((reason, at)) => Err(Error::at(reason, input, at)),
        }
    }
}

/// The state of one pass. `input[run..at]` is checked and not yet in `out`.
struct Pass<'a> {
    input: &'a [u8],
    at: usize,
    run: usize,
    out: &'a mut Vec<u8>,
    frames: &'a mut Vec<Frame>,
    properties: &'a mut PropertySet,
    numbers: Numbers,
}

impl Pass<'_> {
    /// Reads the whole text. If `out` stays empty the stored form is the input from the returned place on.
    fn text(&mut self) -> Result<usize, Refused> {
        self.values()?;
        self.skip_white_space();
        if self.at < self.input.len() {
            return Err((Reason::TrailingText, self.at));
        }
        // White space around a value in stored form: the value is the last run, and there was none before it.
        if !self.out.is_empty() {
            self.flush();
        }
        Ok(self.run)
    }

    /// Reads values until the outermost one is complete.
    fn values(&mut self) -> Result<(), Refused> {
        loop {
            self.skip_white_space();
            match self.byte()? {
                b'{' => {
                    self.push(Frame::Object(self.properties.open()))?;
                    self.skip_white_space();
                    if self.byte()? != b'}' {
                        self.name()?;
                        continue;
                    }
                }
                b'[' => {
                    self.push(Frame::Array)?;
                    self.skip_white_space();
                    if self.byte()? != b']' {
                        continue;
                    }
                }
                b'"' => drop(self.string()?),
                b'-' | b'0'..=b'9' => {
                    let size = number::size(&self.input[self.at..], self.numbers);
                    let size = size.map_err(|(reason, at)| (reason, self.at + at))?;
                    self.at += size;
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                b'N' | b'I' => return Err((Reason::NotANumber, self.at)),
                found => return Err((Reason::Unexpected { expected: "a value", found }, self.at)),
            }
            if self.after_value()? {
                return Ok(());
            }
        }
    }

    /// Closes containers until another value must come (false) or the outermost is closed (true).
    #[inline]
    fn after_value(&mut self) -> Result<bool, Refused> {
        loop {
            let Some(frame) = self.frames.last().copied() else { return Ok(true) };
            self.skip_white_space();
            match (frame, self.byte()?) {
                (Frame::Object(_), b',') => {
                    self.at += 1;
                    self.skip_white_space();
                    self.name()?;
                    return Ok(false);
                }
                (Frame::Array, b',') => {
                    self.at += 1;
                    return Ok(false);
                }
                (Frame::Object(from), b'}') => self.close_object(from)?,
                (Frame::Array, b']') => {}
                (Frame::Object(_), found) => {
                    return Err((Reason::Unexpected { expected: "',' or '}'", found }, self.at));
                }
                (Frame::Array, found) => return Err((Reason::Unexpected { expected: "',' or ']'", found }, self.at)),
            }
            self.at += 1;
            self.frames.pop();
        }
    }

    #[inline]
    fn byte(&self) -> Result<u8, Refused> {
        self.input.get(self.at).copied().ok_or((Reason::UnexpectedEnd, self.at))
    }

    fn push(&mut self, frame: Frame) -> Result<(), Refused> {
        if self.frames.len() == DEPTH_MAX {
            return Err((Reason::TooDeep, self.at));
        }
        self.at += 1;
        self.frames.push(frame);
        Ok(())
    }

    fn close_object(&mut self, from: usize) -> Result<(), Refused> {
        let (input, out, run) = (self.input, &*self.out, self.run);
        let stored = |entry: &PropertyEntry| stored(input, out, run, entry).to_vec();
        match self.properties.close(from, stored) {
            None => Ok(()),
            Some(entry) => Err(self.duplicate(&entry)),
        }
    }

    fn duplicate(&self, entry: &PropertyEntry) -> Refused {
        let name = String::from_utf8_lossy(&stored(self.input, self.out, self.run, entry)).into_owned();
        (Reason::DuplicateProperty { name }, entry.place as usize)
    }

    /// A property's name and the colon after it.
    #[inline]
    fn name(&mut self) -> Result<(), Refused> {
        let place = self.at;
        match self.byte()? {
            b'"' => {}
            found => return Err((Reason::Unexpected { expected: "a property name", found }, place)),
        }
        let start = self.position() + 1;
        let rewritten = self.string()?;
        let size = self.position() - 1 - start;
        if size > PROPERTY_NAME_SIZE_MAX {
            return Err((Reason::PropertyNameTooLong, place));
        }
        let mut entry = PropertyEntry { fingerprint: 0, start: start as u32, size: size as u32, place: place as u32 };
        entry.fingerprint = if rewritten {
            fingerprint(&stored(self.input, self.out, self.run, &entry))
        } else {
            fingerprint(&self.input[place + 1..self.at - 1])
        };
        if let Some(&Frame::Object(from)) = self.frames.last() {
            let (input, out, run) = (self.input, &*self.out, self.run);
            let is_twice = self.properties.add(from, entry).is_some_and(|object| {
                let name = stored(input, out, run, &entry);
                object.iter().any(|other| {
                    other.place != entry.place
                        && other.fingerprint == entry.fingerprint
                        && stored(input, out, run, other) == name
                })
            });
            if is_twice {
                return Err(self.duplicate(&entry));
            }
        }
        self.skip_white_space();
        match self.byte()? {
            b':' => self.at += 1,
            found => return Err((Reason::Unexpected { expected: "':'", found }, self.at)),
        }
        Ok(())
    }

    /// A string with its quotes. True if it was not in stored form and was rewritten.
    #[inline]
    fn string(&mut self) -> Result<bool, Refused> {
        self.at += 1;
        let mut rewritten = false;
        loop {
            self.at += plain_run(&self.input[self.at..]);
            match self.byte()? {
                b'"' => {
                    self.at += 1;
                    return Ok(rewritten);
                }
                b'\\' => rewritten |= self.escape()?,
                control => {
                    self.flush();
                    push_escaped(self.out, control);
                    self.at += 1;
                    self.run = self.at;
                    rewritten = true;
                }
            }
        }
    }

    /// One escape. True if it was rewritten.
    fn escape(&mut self) -> Result<bool, Refused> {
        let place = self.at;
        let kind = *self.input.get(place + 1).ok_or((Reason::UnexpectedEnd, self.input.len()))?;
        match kind {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.at += 2;
                return Ok(false);
            }
            b'/' => {
                self.flush();
                self.out.push(b'/');
                self.at = place + 2;
            }
            b'u' => {
                let rest = self.input.get(place + 2..).unwrap_or_default();
                let (character, size) = unicode_escape(rest).ok_or_else(|| broken_unicode(rest, place))?;
                self.flush();
                match u8::try_from(character) {
                    Ok(byte) if byte < 0x20 || byte == b'"' || byte == b'\\' => push_escaped(self.out, byte),
                    _ => self.out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                }
                self.at = place + 2 + size;
            }
            _ => return Err((Reason::UnknownEscape, place)),
        }
        self.run = self.at;
        Ok(true)
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), Refused> {
        let rest = &self.input[self.at..];
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        let same = rest.iter().zip(word).take_while(|(left, right)| left == right).count();
        match rest.get(same) {
            None => Err((Reason::UnexpectedEnd, self.input.len())),
            Some(found) => Err((Reason::Unexpected { expected: "a value", found: *found }, self.at + same)),
        }
    }

    /// Where the next byte of input will be in the output.
    #[inline]
    fn position(&self) -> usize {
        self.out.len() + (self.at - self.run)
    }

    #[inline]
    fn flush(&mut self) {
        self.out.extend_from_slice(&self.input[self.run..self.at]);
        self.run = self.at;
    }

    #[inline]
    fn skip_white_space(&mut self) {
        if self.input.get(self.at).is_none_or(|byte| *byte > b' ') {
            return;
        }
        self.skip_white_space_slowly();
    }

    fn skip_white_space_slowly(&mut self) {
        let size = self.input[self.at..].iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        self.flush();
        self.at += size;
        self.run = self.at;
    }
}

fn broken_unicode(rest: &[u8], place: usize) -> Refused {
    let digits = rest.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let reason = match digits {
        4 => Reason::LoneSurrogate,
        digits if digits == rest.len() => Reason::UnexpectedEnd,
        _ => Reason::UnknownEscape,
    };
    (reason, place)
}

/// A name in the output, where it may lie across the end of what is flushed.
fn stored<'a>(input: &'a [u8], out: &'a [u8], run: usize, entry: &PropertyEntry) -> std::borrow::Cow<'a, [u8]> {
    let (start, end) = (entry.start as usize, entry.start as usize + entry.size as usize);
    let pending = |position: usize| run + (position - out.len());
    if end <= out.len() {
        out[start..end].into()
    } else if start >= out.len() {
        input[pending(start)..pending(end)].into()
    } else {
        [&out[start..], &input[run..pending(end)]].concat().into()
    }
}
