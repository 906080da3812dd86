//! Elements of a JSON array, cut out of a text as it comes: the array may be larger than memory.
//!
//! Only brackets and quotes are looked at. Each element is parsed by its reader, so that one that is not JSON does not end the others.

use std::io::BufRead;
use std::ops::RangeInclusive;

/// Longer rows are refused: no document is that large.
pub(super) const ROW_SIZE_MAX: usize = 64 << 20;

/// A reader of one array.
#[derive(Debug, Default)]
pub(super) struct Elements {
    place: Place,
    /// Line breaks that were read.
    line_breaks: u64,
}

/// The place of the reader in the text.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the bracket that opens the array.
    #[default]
    Before,
    /// Behind that bracket.
    First,
    /// Behind a comma.
    Further,
    /// Behind the bracket that closes the array.
    Behind,
    /// At the end of the text.
    End,
}

/// One element, or the reason why there is none.
pub(super) struct Element {
    /// The lines that it has, counted from 1.
    pub lines: RangeInclusive<u64>,
    /// False: what is wrong.
    pub outcome: Result<(), String>,
}

impl Elements {
    /// The line that was read last.
    pub fn line_number(&self) -> u64 {
        self.line_breaks + 1
    }

    /// Reads the next element into `out`; `None` at the end of the text.
    ///
    /// # Errors
    ///
    /// The text cannot be read on.
    pub fn next(&mut self, text: &mut dyn BufRead, out: &mut Vec<u8>) -> std::io::Result<Option<Element>> {
        out.clear();
        let mut scan = Scan::default();
        let mut first_line = None;
        loop {
            let buffer = match text.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                let place = std::mem::replace(&mut self.place, Place::End);
                let problem = match place {
                    Place::Behind if first_line.is_some() => "text follows the end of the array",
                    Place::Behind | Place::End => return Ok(None),
                    _ => "the array has no closing bracket",
                };
                let lines = first_line.unwrap_or(self.line_number())..=self.line_number();
                return Ok(Some(Element { lines, outcome: Err(problem.to_owned()) }));
            }
            let size = buffer.len();
            let mut end = None;
            for (at, byte) in buffer.iter().copied().enumerate() {
                match self.place {
                    Place::Before if byte == b'[' => self.place = Place::First,
                    Place::Before => {}
                    Place::First | Place::Further if scan.is_end(byte) => end = Some((at, byte)),
                    _ if first_line.is_none() && byte.is_ascii_whitespace() => {}
                    _ => {
                        first_line.get_or_insert(self.line_breaks + 1);
                        if out.len() <= ROW_SIZE_MAX && self.place != Place::Behind {
                            out.push(byte);
                        }
                    }
                }
                if end.is_some() {
                    break;
                }
                self.line_breaks += u64::from(byte == b'\n');
            }
            let Some((at, byte)) = end else {
                text.consume(size);
                continue;
            };
            text.consume(at + 1);
            let is_closed = byte == b']';
            let is_empty = is_closed && self.place == Place::First && first_line.is_none();
            self.place = if is_closed { Place::Behind } else { Place::Further };
            if is_empty {
                continue;
            }
            let lines = first_line.unwrap_or(self.line_number())..=self.line_number();
            let outcome = match first_line {
                None => Err("a value is missing at a comma".to_owned()),
                Some(_) if out.len() > ROW_SIZE_MAX => Err(format!("longer than {ROW_SIZE_MAX} bytes")),
                Some(_) => Ok(()),
            };
            return Ok(Some(Element { lines, outcome }));
        }
    }
}

/// What is open at a place inside of an element.
#[derive(Debug, Default)]
struct Scan {
    depth: u64,
    is_in_text: bool,
    is_escaped: bool,
}

impl Scan {
    /// Takes the next byte. True: it ends the element and is not part of it.
    fn is_end(&mut self, byte: u8) -> bool {
        if self.is_in_text {
            let is_escaped = std::mem::take(&mut self.is_escaped);
            match byte {
                b'\\' => self.is_escaped = !is_escaped,
                b'"' => self.is_in_text = is_escaped,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.is_in_text = true,
            b'[' | b'{' => self.depth += 1,
            b',' | b']' if self.depth == 0 => return true,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each element with its lines, read through a buffer of `size` bytes.
    fn elements(text: &str, size: usize) -> Vec<String> {
        let mut reader = std::io::BufReader::with_capacity(size, text.as_bytes());
        let (mut elements, mut out, mut found) = (Elements::default(), Vec::new(), Vec::new());
        while let Some(Element { lines, outcome }) = elements.next(&mut reader, &mut out).unwrap() {
            let text = outcome.map(|()| String::from_utf8(out.clone()).unwrap());
            found.push(format!(
                "{}-{}: {}",
                lines.start(),
                lines.end(),
                text.unwrap_or_else(|error| format!("! {error}"))
            ));
        }
        found
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        for size in [1, 3, 4096] {
            assert_eq!(elements(text, size), expected, "{text} by {size}");
        }
    }

    #[test]
    fn elements_are_cut_at_the_commas_of_the_array_alone() {
        check("[]", &[]);
        check(" [ ] \n", &[]);
        check(r#"[{"a":[1,2]},{"b":"],\"}"}]"#, &["1-1: {\"a\":[1,2]}", r#"1-1: {"b":"],\"}"}"#]);
        check("\u{feff}[\n{\"a\":\n1},\n2 ]\n", &["2-3: {\"a\":\n1}", "4-4: 2 "]);
        check(r#"["\\",1]"#, &[r#"1-1: "\\""#, "1-1: 1"]);
    }

    #[test]
    fn what_is_wrong_with_the_array_is_an_error_at_its_line() {
        check("[1,\n]", &["1-1: 1", "2-2: ! a value is missing at a comma"]);
        check("[,1]", &["1-1: ! a value is missing at a comma", "1-1: 1"]);
        check("[1", &["1-1: ! the array has no closing bracket"]);
        check("[\n", &["2-2: ! the array has no closing bracket"]);
        check("[1]\nx", &["1-1: 1", "2-2: ! text follows the end of the array"]);
        check("[oops},1]", &["1-1: oops}", "1-1: 1"]);
    }
}
