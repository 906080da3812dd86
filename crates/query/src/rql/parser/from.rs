//! The clause `from`.
//!
//! ```text
//! from   := "from" ["index"] source ["(" "Revisions" "=" ("true" | "false") ")"] [["as"] alias]
//! source := word {("." | "/") (word | number)} | string
//! ```

use super::cursor::Cursor;
use crate::rql::ast::{From, Source};
use crate::rql::error::Error;
use crate::rql::lexer::{Sign, Token};
use crate::rql::words::is_reserved;
use std::borrow::Cow;

impl<'q> Cursor<'q> {
    pub(super) fn from(&mut self) -> Result<From<'q>, Error> {
        let start = self.span();
        let source = if self.take_word("index") {
            Source::Index(self.source("Invalid syntax. Expected 'INDEX source' expression.")?)
        } else {
            let name = self.source("Unable to parse identifier in FROM clause")?;
            if name == "@all_docs" { Source::AllDocuments } else { Source::Collection(name) }
        };
        let span = self.span_from(start);
        let is_of_revisions = if self.at(Sign::OpenParenthesis) { self.revisions()? } else { false };
        let alias = self.optional_alias()?;
        Ok(From { source, is_of_revisions, alias, span })
    }

    fn source(&mut self, expected: &'static str) -> Result<Cow<'q, str>, Error> {
        match self.token() {
            Token::Text(quoted) => self.string(quoted),
            Token::Word(word) if !is_reserved(word) => self.joined_name(&[Sign::Dot, Sign::Slash]),
            _ => Err(self.expected(expected)),
        }
    }

    fn revisions(&mut self) -> Result<bool, Error> {
        const EXPECTED: &str = "Expected '(Revisions = true)' after the collection";
        self.advance();
        if !self.take_word("Revisions") || !self.take(Sign::Equal) {
            return Err(self.expected(EXPECTED));
        }
        let is_true = self.take_word("true");
        if !is_true && !self.take_word("false") {
            return Err(self.expected(EXPECTED));
        }
        self.expect(Sign::CloseParenthesis, EXPECTED)?;
        Ok(is_true)
    }
}
