//! The clauses `limit`, `offset` and `filter_limit`.
//!
//! ```text
//! limit       := "limit" count | "limit" skip "," count | "limit" count "offset" skip | "offset" skip
//! filterLimit := "filter_limit" count
//! count, skip := number | "$" name | "null"
//! ```

use super::cursor::Cursor;
use crate::rql::ast::Limit;
use crate::rql::error::{Error, Reason};
use crate::rql::expression::{Value, ValueKind};
use crate::rql::lexer::Sign;
use std::borrow::Cow;

impl<'q> Cursor<'q> {
    /// The current token is `limit` or `offset`.
    pub(super) fn limit(&mut self) -> Result<Limit<'q>, Error> {
        if self.take_word("offset") {
            return Ok(Limit { skip: Some(self.offset()?), take: None });
        }
        self.advance();
        let first = self.amount("Limit must contain a value")?;
        if self.take(Sign::Comma) {
            let take = self.amount("Limit must contain a second value")?;
            if self.at_word("offset") {
                let message = "Cannot use 'offset' after 'limit $skip,$take'";
                return Err(self.failed(Reason::Invalid(Cow::Borrowed(message))));
            }
            return Ok(Limit { skip: Some(first), take: Some(take) });
        }
        let skip = if self.take_word("offset") { Some(self.offset()?) } else { None };
        Ok(Limit { skip, take: Some(first) })
    }

    pub(super) fn filter_limit(&mut self) -> Result<Value<'q>, Error> {
        self.amount("FILTER_LIMIT must contain a value")
    }

    fn offset(&mut self) -> Result<Value<'q>, Error> {
        self.amount("Offset must contain a value")
    }

    fn amount(&mut self, message: &'static str) -> Result<Value<'q>, Error> {
        let start = self.span();
        match self.optional_value()? {
            Some(value) if !matches!(value.kind, ValueKind::Text(_) | ValueKind::Boolean(_)) => Ok(value),
            _ => Err(self.failed_at(Reason::Invalid(Cow::Borrowed(message)), start)),
        }
    }
}
