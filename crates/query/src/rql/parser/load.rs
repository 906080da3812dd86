//! The clause `load`.
//!
//! ```text
//! load := "load" item {"," item}
//! item := (path | value) ["as"] alias ["[" "]"]
//! ```

use super::cursor::Cursor;
use crate::rql::ast::Load;
use crate::rql::error::{Error, Reason};
use crate::rql::expression::Expression;
use crate::rql::lexer::Sign;

impl<'q> Cursor<'q> {
    pub(super) fn load(&mut self) -> Result<Vec<Load<'q>>, Error> {
        self.list(Self::load_item)
    }

    fn load_item(&mut self) -> Result<Load<'q>, Error> {
        let ids = self.item("Unable to get field for LOAD")?;
        let invalid = |cursor: &Self, message: &str| {
            let item = cursor.text_of(ids.span());
            cursor.failed_at(Reason::Invalid(format!("{message} {item}").into()), ids.span())
        };
        if matches!(ids, Expression::Call(_)) {
            return Err(invalid(self, "LOAD clause require a field or value references"));
        }
        let Some(alias) = self.optional_alias()? else {
            return Err(invalid(self, "LOAD clause requires an alias but got:"));
        };
        let is_array = self.take(Sign::OpenBracket);
        if is_array {
            self.expect(Sign::CloseBracket, "Expected to find closing ']'")?;
        }
        Ok(Load { ids, alias, is_array })
    }
}
