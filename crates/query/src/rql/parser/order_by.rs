//! The clause `order by`.
//!
//! ```text
//! orderBy := "order" "by" key {"," key}
//! key     := (path | call) ["as" ordering] [direction] ["nulls" ("first" | "last")]
//! ordering := "string" | "long" | "double" | "alphaNumeric"
//! direction := "asc" | "ascending" | "desc" | "descending"
//! ```

use super::cursor::Cursor;
use crate::rql::ast::{Nulls, OrderKey, Ordering};
use crate::rql::error::Error;

impl<'q> Cursor<'q> {
    pub(super) fn order_by(&mut self) -> Result<Vec<OrderKey<'q>>, Error> {
        if !self.take_word("by") {
            return Err(self.expected("Expected BY after ORDER"));
        }
        self.list(Self::order_key)
    }

    fn order_key(&mut self) -> Result<OrderKey<'q>, Error> {
        let key = self.field("Unable to get field for ORDER BY")?;
        let ordering = if self.take_word("as") { Some(self.ordering()?) } else { None };
        let is_descending = self.take_word("desc") || self.take_word("descending");
        if !is_descending {
            // The default, which may be said.
            let _ = self.take_word("asc") || self.take_word("ascending");
        }
        let nulls = if self.take_word("nulls") { Some(self.nulls()?) } else { None };
        Ok(OrderKey { key, ordering, is_descending, nulls })
    }

    fn ordering(&mut self) -> Result<Ordering, Error> {
        let known = Ordering::NAMES.iter().find(|(name, _)| self.take_word(name));
        known
            .map(|(_, ordering)| *ordering)
            .ok_or_else(|| self.expected("Expected 'string', 'long', 'double' or 'alphaNumeric' after AS in ORDER BY"))
    }

    fn nulls(&mut self) -> Result<Nulls, Error> {
        if self.take_word("first") {
            Ok(Nulls::First)
        } else if self.take_word("last") {
            Ok(Nulls::Last)
        } else {
            Err(self.expected("Expected FIRST or LAST after NULLS"))
        }
    }
}
