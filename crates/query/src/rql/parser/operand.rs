//! Values and calls.
//!
//! ```text
//! value := string | number | "$" name | "true" | "false" | "null"
//! call  := (path | string) "(" [argument {"," argument}] ")" ["." path]
//! ```

use super::cursor::Cursor;
use crate::rql::error::Error;
use crate::rql::expression::{Call, Expression, Path, Value, ValueKind};
use crate::rql::lexer::{Broken, Sign, Token};
use crate::rql::span::Span;
use std::borrow::Cow;

impl<'q> Cursor<'q> {
    /// A value, if one begins here. `true.x`, `null()` and the like are names.
    pub(super) fn optional_value(&mut self) -> Result<Option<Value<'q>>, Error> {
        let span = self.span();
        let kind = match self.token() {
            Token::Text(quoted) => {
                self.count()?;
                let text = self.string(quoted)?;
                return Ok(Some(Value { kind: ValueKind::Text(text), span }));
            }
            Token::Number(number) if number.contains('_') => ValueKind::Number(Cow::Owned(number.replace('_', ""))),
            Token::Number(number) => ValueKind::Number(Cow::Borrowed(number)),
            Token::Parameter(name) => ValueKind::Parameter(name),
            Token::Broken(Broken::Parameter) => {
                let behind = Span { start: span.end, ..span };
                return Err(self.expected_at("Expected parameter name", behind));
            }
            Token::Word(word) => match constant(word) {
                Some(constant) if !self.next_continues_name() => constant,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.count()?;
        self.advance();
        Ok(Some(Value { kind, span }))
    }

    fn next_continues_name(&self) -> bool {
        matches!(self.next_token(), Token::Sign(Sign::Dot | Sign::OpenBracket | Sign::OpenParenthesis))
    }

    /// A field or call; `expected` is what an error says.
    pub(super) fn field(&mut self, expected: &'static str) -> Result<Expression<'q>, Error> {
        let path = self.path(expected)?;
        if self.at(Sign::OpenParenthesis) {
            self.call(&path).map(Expression::Call)
        } else {
            Ok(Expression::Field(path))
        }
    }

    /// A value, field or call; `expected` is what an error says. A string is a value, unless it names a function.
    pub(super) fn operand(&mut self, expected: &'static str) -> Result<Expression<'q>, Error> {
        if matches!(self.token(), Token::Text(_)) && self.next_token() == Token::Sign(Sign::OpenParenthesis) {
            return self.field(expected);
        }
        match self.optional_value()? {
            Some(value) => Ok(Expression::Value(value)),
            None => self.field(expected),
        }
    }

    /// A value or call; `expected` is what an error says.
    pub(super) fn value_or_call(&mut self, expected: &'static str) -> Result<Expression<'q>, Error> {
        match self.operand(expected)? {
            Expression::Field(path) => Err(self.expected_at(expected, path.span)),
            operand => Ok(operand),
        }
    }

    /// The call of the function that `name` names; the current token is its `(`.
    pub(super) fn call(&mut self, name: &Path<'q>) -> Result<Call<'q>, Error> {
        let start = name.span;
        let is_facet = name.rest.is_empty() && name.first.text.eq_ignore_ascii_case("facet");
        let arguments = self.nested(|cursor| cursor.arguments(is_facet))?;
        let member = if self.take(Sign::Dot) { Some(Box::new(self.path("Expected a name after '.'")?)) } else { None };
        Ok(Call { name: self.call_name(name), arguments, member, alias: None, span: self.span_from(start) })
    }

    /// The name as it is written, unless it has quotes, blanks or comments in it.
    fn call_name(&self, name: &Path<'q>) -> Cow<'q, str> {
        let written = self.text_of(name.span);
        if name.rest.is_empty() {
            name.first.text.clone()
        } else if written.contains(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '/')) {
            Cow::Owned(name.text().into_owned())
        } else {
            Cow::Borrowed(written)
        }
    }

    /// * `have_aliases`: calls among them may have names.
    fn arguments(&mut self, have_aliases: bool) -> Result<Vec<Expression<'q>>, Error> {
        self.advance();
        let mut arguments = Vec::new();
        if self.take(Sign::CloseParenthesis) {
            return Ok(arguments);
        }
        loop {
            let mut argument = self.argument()?;
            if let Expression::Call(call) = &mut argument
                && have_aliases
            {
                call.alias = self.explicit_alias()?;
            }
            arguments.push(argument);
            if self.take(Sign::CloseParenthesis) {
                return Ok(arguments);
            }
            self.expect(Sign::Comma, "parsing method expression, expected ','")?;
        }
    }
}

fn constant(word: &str) -> Option<ValueKind<'static>> {
    if word.eq_ignore_ascii_case("true") {
        Some(ValueKind::Boolean(true))
    } else if word.eq_ignore_ascii_case("false") {
        Some(ValueKind::Boolean(false))
    } else if word.eq_ignore_ascii_case("null") {
        Some(ValueKind::Null)
    } else {
        None
    }
}
