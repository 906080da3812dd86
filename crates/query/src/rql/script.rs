//! Finds the end of JavaScript that stands in a query. What it says is for an engine to understand.
//!
//! Brackets must fit; those in strings, comments, template literals and regular expressions do not count. Whether a `/`
//! divides or begins a regular expression is known to a parser only; here it is told by what stands before it, as
//! syntax highlighters do: a value is divided, after all else comes an expression. A regular expression ends on its line.

use super::error::{Error, Reason};
use crate::limits::{DEPTH_MAX, REGULAR_EXPRESSION_SIZE_MAX};

/// Words after which an expression comes, although they look like a value.
const BEFORE_EXPRESSION: [&[u8]; 12] =
    [b"return", b"typeof", b"case", b"in", b"of", b"delete", b"void", b"throw", b"new", b"else", b"do", b"instanceof"];

/// One past the end of the script in `text` whose bracket stands at `start`.
///
/// # Errors
///
/// [`Reason::Script`] if it has none before the text ends, if brackets do not fit, or if something in it is not closed;
/// [`Reason::TooDeep`].
pub(super) fn end(text: &str, start: usize) -> Result<usize, Error> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: start, open: Vec::new(), before: Before::Expression };
    loop {
        match scanner.step() {
            Ok(ScanStep::On) => {}
            Ok(ScanStep::Done) => return Ok(scanner.at),
            Ok(ScanStep::End) => {
                let reason = Reason::Script("This script has no end: a bracket is not closed");
                return Err(Error::at(reason, text, start));
            }
            Err((reason, at)) => return Err(Error::at(reason, text, at)),
        }
    }
}

enum ScanStep {
    On,
    /// The first bracket was closed.
    Done,
    /// The text ended.
    End,
}

/// What a `/` means here.
#[derive(Clone, Copy)]
enum Before {
    /// A value was read: it divides.
    Value,
    /// It begins a regular expression.
    Expression,
}

struct Scanner<'q> {
    bytes: &'q [u8],
    at: usize,
    /// What closes the brackets that are open; `` ` `` for the expression of a template literal.
    open: Vec<u8>,
    before: Before,
}

type Failure = (Reason, usize);

impl Scanner<'_> {
    fn step(&mut self) -> Result<ScanStep, Failure> {
        let Some(byte) = self.byte(0) else { return Ok(ScanStep::End) };
        let at = self.at;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
            b'/' if self.byte(1) == Some(b'/') => self.find(b"\n").unwrap_or_default(),
            b'/' if self.byte(1) == Some(b'*') => {
                self.at += 2;
                self.find(b"*/").ok_or((Reason::Script("This comment has no end"), at))?;
            }
            b'/' => match (self.before, self.regular_expression_size()) {
                (Before::Expression, Some(size)) => self.value(size),
                _ => self.operator(1),
            },
            b'\'' | b'"' => self.string(byte)?,
            b'`' => {
                self.at += 1;
                self.template(at)?;
            }
            b'{' => self.open_bracket(b'}')?,
            b'(' => self.open_bracket(b')')?,
            b'[' => self.open_bracket(b']')?,
            b'}' | b')' | b']' => return self.close_bracket(byte),
            b'+' | b'-' if self.byte(1) == Some(byte) => self.at += 2,
            _ if is_part_of_word(byte) => self.word(),
            _ => self.operator(1),
        }
        Ok(ScanStep::On)
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn value(&mut self, size: usize) {
        self.at += size;
        self.before = Before::Value;
    }

    fn operator(&mut self, size: usize) {
        self.at += size;
        self.before = Before::Expression;
    }

    fn word(&mut self) {
        let size = self.bytes[self.at..].iter().take_while(|byte| is_part_of_word(**byte)).count();
        let word = &self.bytes[self.at..self.at + size];
        if BEFORE_EXPRESSION.contains(&word) { self.operator(size) } else { self.value(size) }
    }

    /// Goes past the next `end`, or to the end of the text.
    fn find(&mut self, end: &[u8]) -> Option<()> {
        let found = self.bytes[self.at..].windows(end.len()).position(|window| window == end);
        self.at = found.map_or(self.bytes.len(), |found| self.at + found + end.len());
        found.map(|_| ())
    }

    fn string(&mut self, quote: u8) -> Result<(), Failure> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.byte(0) {
                Some(b'\\') => self.at += 2,
                Some(byte) if byte == quote => {
                    self.value(1);
                    return Ok(());
                }
                Some(_) => self.at += 1,
                None => return Err((Reason::Script("This string has no end"), start)),
            }
        }
    }

    /// The text of a template literal up to its end or to the next `${`, whose expression is then read like other code.
    fn template(&mut self, start: usize) -> Result<(), Failure> {
        loop {
            match self.byte(0) {
                Some(b'\\') => self.at += 2,
                Some(b'`') => {
                    self.value(1);
                    return Ok(());
                }
                Some(b'$') if self.byte(1) == Some(b'{') => {
                    self.at += 1;
                    return self.open_bracket(b'`');
                }
                Some(_) => self.at += 1,
                None => return Err((Reason::Script("This template literal has no end"), start)),
            }
        }
    }

    /// The bytes of a regular expression; none if its line ends before it does, or it has too many.
    fn regular_expression_size(&self) -> Option<usize> {
        let mut is_class = false;
        let mut size = 1;
        while size < REGULAR_EXPRESSION_SIZE_MAX {
            match self.byte(size)? {
                b'\n' => return None,
                b'\\' => size += 1,
                b'[' => is_class = true,
                b']' => is_class = false,
                b'/' if !is_class => return Some(size + 1),
                _ => {}
            }
            size += 1;
        }
        None
    }

    fn open_bracket(&mut self, close: u8) -> Result<(), Failure> {
        if self.open.len() == DEPTH_MAX {
            return Err((Reason::TooDeep, self.at));
        }
        self.open.push(close);
        self.operator(1);
        Ok(())
    }

    fn close_bracket(&mut self, byte: u8) -> Result<ScanStep, Failure> {
        let at = self.at;
        match self.open.pop() {
            Some(b'`') if byte == b'}' => {
                self.at += 1;
                self.template(at)?;
            }
            // What follows a block is a statement; a literal of an object is hardly ever divided.
            Some(close) if close == byte && byte == b'}' => self.operator(1),
            Some(close) if close == byte => self.value(1),
            _ => return Err((Reason::Script("This bracket closes none, or another one"), at)),
        }
        Ok(if self.open.is_empty() { ScanStep::Done } else { ScanStep::On })
    }
}

fn is_part_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte == b'.' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The script is all of the text but for `rest`.
    #[track_caller]
    fn check(script: &str) {
        for rest in ["", " } ) ] ' ` /"] {
            let text = format!("{script}{rest}");
            assert_eq!(end(&text, 0), Ok(script.len()), "{text}");
        }
    }

    #[track_caller]
    fn check_refused(script: &str, expected: &str) {
        let error = end(script, 0).unwrap_err().to_string();
        assert!(error.contains(expected), "{script}: {error}");
    }

    #[test]
    fn brackets_are_counted() {
        check("{}");
        check("{ a: { b: [1, (2)] } }");
        check("(a, {b}, [c])");
    }

    #[test]
    fn strings_and_comments_hide_brackets() {
        check(r#"{ a: '}', b: "}", c: '\'}', d: "\\" }"#);
        check("{ /* } */ a // }\n }");
    }

    #[test]
    fn template_literals_hide_their_text_but_not_their_code() {
        check("{ a: `}` }");
        check("{ a: `x${ { b: `}${1}` }.b }}` }");
        check(r"{ a: `\`}\${` }");
    }

    #[test]
    fn regular_expressions_are_told_from_division() {
        check("{ a: /[}/]\\/}/.test(x) }");
        check("{ return /}/ }");
        check("{ if (a) { b } /'/.test(c) }");
        check("{ a: x / 2, b: '/' }");
        check("{ a: (x) / 2 / '}'.length }");
        check("{ a: x[0] / 2, b: '}' / 1 }");
        check("{ a++ / 2; b = '}/' }");
    }

    #[test]
    fn what_does_not_end_as_a_regular_expression_divides() {
        let long = format!("{{ a = + /{} }}/", "x".repeat(REGULAR_EXPRESSION_SIZE_MAX));
        assert_eq!(end(&long, 0), Ok(long.len() - 1));
        assert_eq!(end("{ a = + / 2 }\n/", 0), Ok(13));
    }

    #[test]
    fn what_has_no_end_is_refused_where_it_begins() {
        check_refused("{ a", "1:1 This script has no end");
        check_refused("{ 'a }", "1:3 This string has no end");
        check_refused("{ `a }", "1:3 This template literal has no end");
        check_refused("{ `a${ } }", "1:8 This template literal has no end");
        check_refused("{ /* }", "1:3 This comment has no end");
        check_refused("{ (] }", "1:4 This bracket closes none");
        check_refused(&"{".repeat(1000), "over 256 nested");
        check_refused("{ '\\", "no end");
    }
}
