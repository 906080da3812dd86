//! Conditions, in `where`, `filter` and the arguments of calls.
//!
//! ```text
//! condition  := and {"or" and'}                   a quote: the first operand may have "not" before it
//! and        := primary {"and" ["not"] primary}
//! primary    := "(" condition ")" | "true" | field [comparison]     a path needs its comparison, a call does not
//! comparison := ("=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=") operand
//!             | "between" bound "and" bound | ["all"] "in" "(" [value {"," value} [","]] ")"
//! argument   := value | path | condition
//! ```

use super::cursor::Cursor;
use crate::rql::error::{Error, Reason};
use crate::rql::expression::{Between, Comparison, Expression, In, Operator, Value, ValueKind};
use crate::rql::lexer::{Sign, Token};
use std::borrow::Cow;

/// Which clause a condition is of. Errors say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clause {
    Where,
    Filter,
}

impl Clause {
    fn expected(self) -> &'static str {
        match self {
            Clause::Where => "Unable to parse WHERE clause",
            Clause::Filter => "Unable to parse FILTER clause",
        }
    }
}

const AND_EXPECTED: &str = "Failed to find second part of And expression";
const OR_EXPECTED: &str = "Failed to find second part of Or expression";
const ARGUMENT_EXPECTED: &str = "parsing method, expected an argument";
const NOT_IS_FIRST: &str =
    "'not' must follow 'and' or 'or', as in 'true and not a = 1'; a field of this name is quoted";

impl<'q> Cursor<'q> {
    pub(super) fn condition(&mut self, clause: Clause) -> Result<Expression<'q>, Error> {
        let first = self.primary(clause.expected())?;
        self.joined(first)
    }

    /// One argument of a call.
    pub(super) fn argument(&mut self) -> Result<Expression<'q>, Error> {
        let first = match self.argument_value()? {
            Some(value) => Expression::Value(value),
            None => self.primary_or_field(ARGUMENT_EXPECTED)?,
        };
        if is_condition(&first) { self.joined(first) } else { Ok(first) }
    }

    /// A value as an argument; a string that something is done with is a field.
    fn argument_value(&mut self) -> Result<Option<Value<'q>>, Error> {
        let is_field = match (self.token(), self.next_token()) {
            (Token::Text(_), Token::Sign(sign)) => !matches!(sign, Sign::Comma | Sign::CloseParenthesis),
            (Token::Text(_), Token::Word(word)) => begins_comparison(word),
            _ => false,
        };
        if is_field { Ok(None) } else { self.optional_value() }
    }

    /// What follows the first operand of a condition: operands joined by `and` and `or`, `and` first.
    fn joined(&mut self, first: Expression<'q>) -> Result<Expression<'q>, Error> {
        let first = self.joined_by_and(first)?;
        if !self.at_word("or") {
            return Ok(first);
        }
        let mut operands = vec![first];
        while self.take_word("or") {
            let operand = self.later_operand(OR_EXPECTED)?;
            operands.push(self.joined_by_and(operand)?);
        }
        Ok(Expression::Or(operands))
    }

    fn joined_by_and(&mut self, first: Expression<'q>) -> Result<Expression<'q>, Error> {
        if !self.at_word("and") {
            return Ok(first);
        }
        let mut operands = vec![first];
        while self.take_word("and") {
            operands.push(self.later_operand(AND_EXPECTED)?);
        }
        Ok(Expression::And(operands))
    }

    /// An operand behind `and` or `or`: only there `not` may stand.
    fn later_operand(&mut self, expected: &'static str) -> Result<Expression<'q>, Error> {
        if self.take_word("not") {
            return Ok(Expression::Not(Box::new(self.primary(expected)?)));
        }
        self.primary(expected)
    }

    fn primary(&mut self, expected: &'static str) -> Result<Expression<'q>, Error> {
        match self.primary_or_field(expected)? {
            Expression::Field(path) => {
                let field = path.text().into_owned();
                let found = self.text_of(self.span()).chars().next();
                Err(self.failed(Reason::NoOperator { field, found }))
            }
            condition => Ok(condition),
        }
    }

    /// A condition, or a path that nothing is compared with.
    fn primary_or_field(&mut self, expected: &'static str) -> Result<Expression<'q>, Error> {
        if self.at(Sign::OpenParenthesis) {
            return self.nested(|cursor| {
                cursor.advance();
                let first = cursor.primary(expected)?;
                let condition = cursor.joined(first)?;
                cursor.expect(Sign::CloseParenthesis, "Unmatched parenthesis, expected ')'")?;
                Ok(condition)
            });
        }
        if self.at_word("not") {
            return Err(self.failed(Reason::Invalid(Cow::Borrowed(NOT_IS_FIRST))));
        }
        if matches!(self.token(), Token::Word(_))
            && let Some(value) = self.optional_value()?
        {
            let is_true = value.kind == ValueKind::Boolean(true);
            return if is_true { Ok(Expression::Value(value)) } else { Err(self.expected_at(expected, value.span)) };
        }
        let left = self.field(expected)?;
        self.compared(left, expected)
    }

    /// `left` with what it is compared with; `left` itself if there is nothing.
    fn compared(&mut self, left: Expression<'q>, expected: &'static str) -> Result<Expression<'q>, Error> {
        match self.token() {
            Token::Sign(sign) => {
                let Some(operator) = operator(sign) else { return Ok(left) };
                self.advance();
                let right = self.operand(expected)?;
                Ok(Expression::Compare(Box::new(Comparison { left, operator, right })))
            }
            Token::Word(_) if self.take_word("between") => self.between(left),
            Token::Word(_) if self.take_word("in") => self.choice(left, false),
            Token::Word(_) if self.at_word("all") && is_word(self.next_token(), "in") => {
                self.advance();
                self.advance();
                self.choice(left, true)
            }
            _ => Ok(left),
        }
    }

    fn between(&mut self, operand: Expression<'q>) -> Result<Expression<'q>, Error> {
        let low = self.value_or_call("parsing Between, expected value (1st)")?;
        if !self.take_word("and") {
            return Err(self.expected("parsing Between, expected AND"));
        }
        let high = self.value_or_call("parsing Between, expected value (2nd)")?;
        Ok(Expression::Between(Box::new(Between { operand, low, high })))
    }

    fn choice(&mut self, operand: Expression<'q>, is_all: bool) -> Result<Expression<'q>, Error> {
        self.expect(Sign::OpenParenthesis, "parsing In, expected '('")?;
        let mut values = Vec::new();
        while !self.take(Sign::CloseParenthesis) {
            let value = self.optional_value()?;
            values.push(value.ok_or_else(|| self.expected("parsing In, expected a value"))?);
            if !self.take(Sign::Comma) {
                self.expect(Sign::CloseParenthesis, "parsing In expression, expected ','")?;
                break;
            }
        }
        Ok(Expression::In(Box::new(In { operand, is_all, values })))
    }
}

/// Whether `and` and `or` may follow: not behind a bare field, and of the values only behind `true`.
fn is_condition(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::Field(_) => false,
        Expression::Value(value) => value.kind == ValueKind::Boolean(true),
        _ => true,
    }
}

fn operator(sign: Sign) -> Option<Operator> {
    Some(match sign {
        Sign::Equal => Operator::Equal,
        Sign::NotEqual => Operator::NotEqual,
        Sign::Less => Operator::Less,
        Sign::LessOrEqual => Operator::LessOrEqual,
        Sign::Greater => Operator::Greater,
        Sign::GreaterOrEqual => Operator::GreaterOrEqual,
        _ => return None,
    })
}

fn begins_comparison(word: &str) -> bool {
    ["in", "all", "between"].iter().any(|keyword| keyword.eq_ignore_ascii_case(word))
}

fn is_word(token: Token<'_>, keyword: &str) -> bool {
    matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(keyword))
}
