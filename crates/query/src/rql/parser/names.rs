//! Names and paths: collections, aliases, fields.
//!
//! ```text
//! alias := name | string
//! name  := word {"." word}
//! path  := (word | string) { "." (word | string) | "[" [number] "]" | "." ("$Keys" | "$Values") }
//! ```

use super::cursor::Cursor;
use crate::rql::error::{Error, Reason};
use crate::rql::expression::{Name, Path, Segment};
use crate::rql::lexer::{Quoted, Sign, Token};
use crate::rql::span::Span;
use crate::rql::text;
use crate::rql::words::{ends_item, is_reserved};
use std::borrow::Cow;

impl<'q> Cursor<'q> {
    /// The value of a string, which is the current token; passes it.
    pub(super) fn string(&mut self, quoted: Quoted<'q>) -> Result<Cow<'q, str>, Error> {
        let start = self.span().start as usize + 1;
        let value =
            text::decode(quoted).map_err(|at| self.failed_at(Reason::Escape, Span::new(start + at, start + at)))?;
        self.advance();
        Ok(value)
    }

    /// An alias behind `as`, or one without it; none if something else follows.
    pub(super) fn optional_alias(&mut self) -> Result<Option<Cow<'q, str>>, Error> {
        if self.at_word("as") {
            return self.explicit_alias();
        }
        match self.token() {
            Token::Text(quoted) => self.string(quoted).map(Some),
            Token::Word(word) if !ends_item(word) => self.joined_name(&[Sign::Dot]).map(Some),
            _ => Ok(None),
        }
    }

    /// An alias behind `as`; none if something else follows.
    pub(super) fn explicit_alias(&mut self) -> Result<Option<Cow<'q, str>>, Error> {
        if !self.take_word("as") {
            return Ok(None);
        }
        match self.token() {
            Token::Text(quoted) => self.string(quoted).map(Some),
            Token::Word(word) if !is_reserved(word) => self.joined_name(&[Sign::Dot]).map(Some),
            // The wording of RavenDB, which says SELECT for every alias.
            _ => Err(self.expected("Expected field alias after AS in SELECT")),
        }
    }

    /// Words and numbers with `signs` between them as one name, of which the current token is the first.
    pub(super) fn joined_name(&mut self, signs: &[Sign]) -> Result<Cow<'q, str>, Error> {
        let start = self.span();
        self.count()?;
        self.advance();
        while let Token::Sign(sign) = self.token()
            && signs.contains(&sign)
            && self.is_between_adjacent()
            && matches!(self.next_token(), Token::Word(_) | Token::Number(_))
        {
            self.advance();
            self.advance();
        }
        Ok(Cow::Borrowed(self.text_of(self.span_from(start))))
    }

    /// A path; `expected` is what an error says.
    pub(super) fn path(&mut self, expected: &'static str) -> Result<Path<'q>, Error> {
        let start = self.span();
        let first = match self.token() {
            Token::Word(word) if !is_reserved(word) => {
                self.advance();
                Name { text: Cow::Borrowed(word), is_quoted: false }
            }
            Token::Text(quoted) => Name { text: self.string(quoted)?, is_quoted: true },
            _ => return Err(self.expected(expected)),
        };
        self.count()?;
        let rest = self.segments(expected)?;
        Ok(Path { first, rest, span: self.span_from(start) })
    }

    fn segments(&mut self, expected: &'static str) -> Result<Vec<Segment<'q>>, Error> {
        let mut segments = Vec::new();
        loop {
            let segment = if self.take(Sign::Dot) {
                self.named_segment(expected)?
            } else if self.take(Sign::OpenBracket) {
                self.element()?
            } else {
                return Ok(segments);
            };
            self.count()?;
            segments.push(segment);
        }
    }

    /// What stands behind a dot. Keywords are names here.
    fn named_segment(&mut self, expected: &'static str) -> Result<Segment<'q>, Error> {
        let name = match self.token() {
            Token::Word(word) => {
                self.advance();
                Name { text: Cow::Borrowed(word), is_quoted: false }
            }
            Token::Text(quoted) => Name { text: self.string(quoted)?, is_quoted: true },
            Token::Parameter("Keys") => {
                self.advance();
                return Ok(Segment::Keys);
            }
            Token::Parameter("Values") => {
                self.advance();
                return Ok(Segment::Values);
            }
            _ => return Err(self.expected(expected)),
        };
        Ok(Segment::Name(name))
    }

    /// What stands behind `[`.
    fn element(&mut self) -> Result<Segment<'q>, Error> {
        let segment = match self.token() {
            Token::Number(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.advance();
                Segment::Element(number)
            }
            _ => Segment::Elements,
        };
        self.expect(Sign::CloseBracket, "Expected to find closing ']'")?;
        Ok(segment)
    }
}
