//! Where the parser stands: the current token, what was counted so far, and how errors are made.

use crate::limits::{DEPTH_MAX, TERM_COUNT_MAX};
use crate::rql::ast::Script;
use crate::rql::error::{ActualToken, Error, Reason, shown};
use crate::rql::lexer::{Broken, Lexer, Sign, Token};
use crate::rql::script;
use crate::rql::span::Span;
use std::borrow::Cow;

/// A place between two tokens.
pub(super) struct Cursor<'q> {
    /// Stands behind `token`.
    lexer: Lexer<'q>,
    token: Token<'q>,
    span: Span,
    /// The token before.
    last: Span,
    depth: usize,
    term_count: usize,
}

impl<'q> Cursor<'q> {
    pub(super) fn new(text: &'q str) -> Self {
        let mut lexer = Lexer::new(text);
        let (token, span) = lexer.token();
        Cursor { lexer, token, span, last: Span::default(), depth: 0, term_count: 0 }
    }

    pub(super) fn token(&self) -> Token<'q> {
        self.token
    }

    /// Where the current token stands.
    pub(super) fn span(&self) -> Span {
        self.span
    }

    /// From `start` to the last token that was passed.
    pub(super) fn span_from(&self, start: Span) -> Span {
        start.to(self.last)
    }

    /// The token behind the current one.
    pub(super) fn next_token(&self) -> Token<'q> {
        let mut ahead = self.lexer;
        ahead.token().0
    }

    /// Whether no blank is before the current token and none behind it.
    pub(super) fn is_between_adjacent(&self) -> bool {
        let mut ahead = self.lexer;
        self.last.end == self.span.start && self.span.end == ahead.token().1.start
    }

    pub(super) fn advance(&mut self) {
        self.last = self.span;
        (self.token, self.span) = self.lexer.token();
    }

    pub(super) fn at_end(&self) -> bool {
        matches!(self.token, Token::End)
    }

    pub(super) fn at_word(&self, keyword: &str) -> bool {
        matches!(self.token, Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    pub(super) fn take_word(&mut self, keyword: &str) -> bool {
        let is_there = self.at_word(keyword);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(super) fn at(&self, sign: Sign) -> bool {
        matches!(self.token, Token::Sign(found) if found == sign)
    }

    pub(super) fn take(&mut self, sign: Sign) -> bool {
        let is_there = self.at(sign);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(super) fn expect(&mut self, sign: Sign, expected: &'static str) -> Result<(), Error> {
        if self.take(sign) { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Items apart by commas, one at least.
    pub(super) fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let mut items = vec![item(self)?];
        while self.take(Sign::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// One term more.
    pub(super) fn count(&mut self) -> Result<(), Error> {
        self.term_count += 1;
        if self.term_count > TERM_COUNT_MAX { Err(self.failed(Reason::TooManyTerms)) } else { Ok(()) }
    }

    /// What `inner` parses, one level deeper.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == DEPTH_MAX {
            return Err(self.failed(Reason::TooDeep));
        }
        self.depth += 1;
        let result = inner(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// Takes the script whose opening bracket is the current token.
    pub(super) fn script(&mut self) -> Result<Script<'q>, Error> {
        let start = self.span.start as usize;
        let end = script::end(self.lexer.text(), start)?;
        self.span = Span::new(start, end);
        self.lexer.jump(end);
        self.advance();
        Ok(self.script_at(self.last))
    }

    /// Takes what stands between the current token, which is `open`, and the `close` that fits it, as text in the words
    /// of RQL.
    pub(super) fn bracketed(&mut self, open: Sign, close: Sign, expected: &'static str) -> Result<Script<'q>, Error> {
        let start = self.span;
        let mut depth = 0_usize;
        loop {
            match self.token {
                Token::Sign(sign) if sign == open => depth += 1,
                Token::Sign(sign) if sign == close => depth -= 1,
                Token::End | Token::Broken(Broken::Text | Broken::Comment) => return Err(self.expected(expected)),
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return Ok(self.script_at(self.span_from(start)));
            }
        }
    }

    fn script_at(&self, span: Span) -> Script<'q> {
        Script { text: self.text_of(span), span }
    }

    /// The part of the query at `span`.
    pub(super) fn text_of(&self, span: Span) -> &'q str {
        span.of(self.lexer.text())
    }

    /// The current token is not what was expected.
    pub(super) fn expected(&self, expected: impl Into<Cow<'static, str>>) -> Error {
        let text = shown(self.lexer.text(), self.span.start as usize);
        let found = match self.token {
            Token::End => ActualToken::End,
            Token::Broken(Broken::Text) => ActualToken::OpenText(text),
            Token::Broken(Broken::Comment) => ActualToken::OpenComment(text),
            _ => ActualToken::Text(text),
        };
        self.failed(Reason::Unexpected { expected: expected.into(), found })
    }

    /// What stands at `span` is not what was expected.
    pub(super) fn expected_at(&self, expected: &'static str, span: Span) -> Error {
        let text = shown(self.lexer.text(), span.start as usize);
        let found = if text.is_empty() { ActualToken::End } else { ActualToken::Text(text) };
        self.failed_at(Reason::Unexpected { expected: Cow::Borrowed(expected), found }, span)
    }

    /// Something is wrong at the current token.
    pub(super) fn failed(&self, reason: Reason) -> Error {
        self.failed_at(reason, self.span)
    }

    /// Something is wrong where `span` begins.
    pub(super) fn failed_at(&self, reason: Reason, span: Span) -> Error {
        Error::at(reason, self.lexer.text(), span.start as usize)
    }
}
