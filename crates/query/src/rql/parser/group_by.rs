//! The clause `group by`.
//!
//! ```text
//! groupBy := "group" "by" key {"," key}
//! key     := (path | call | value) [["as"] alias]
//! ```

use super::cursor::Cursor;
use crate::rql::ast::GroupKey;
use crate::rql::error::Error;
use crate::rql::expression::Expression;
use crate::rql::lexer::Token;

const EXPECTED: &str = "Unable to get field for GROUP BY";

impl<'q> Cursor<'q> {
    pub(super) fn group_by(&mut self) -> Result<Vec<GroupKey<'q>>, Error> {
        if !self.take_word("by") {
            return Err(self.expected("Expected BY after GROUP"));
        }
        self.list(Self::group_key)
    }

    fn group_key(&mut self) -> Result<GroupKey<'q>, Error> {
        let key = self.item(EXPECTED)?;
        Ok(GroupKey { key, alias: self.optional_alias()? })
    }

    /// A field, call or value as an item of a clause; a string is a field.
    pub(super) fn item(&mut self, expected: &'static str) -> Result<Expression<'q>, Error> {
        let value = match self.token() {
            Token::Number(_) | Token::Parameter(_) => self.optional_value()?,
            _ => None,
        };
        value.map_or_else(|| self.field(expected), |value| Ok(Expression::Value(value)))
    }
}
