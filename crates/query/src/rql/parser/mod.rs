//! The parser: recursive descent over the tokens of a query, one file for each clause.
//!
//! ```text
//! query := [explain] declare* from [group by] [where] [order by] [load] [filter] [select | update] tail
//! tail  := { include | limit | filter_limit }          each once, in any order; after update no include
//! ```
//!
//! Each clause is a method of [`Cursor`] that begins behind its keyword. A parser decides by the token it stands on and, at
//! few places, by the next one; it never goes back.

mod cursor;
mod declare;
mod expression;
mod from;
mod group_by;
mod include;
mod limit;
mod load;
mod names;
mod operand;
mod order_by;
mod output;
#[cfg(test)]
mod tests;

use super::ast::{Output, Query};
use super::error::{Error, Reason};
use super::hint::explained;
use crate::limits::QUERY_SIZE_MAX;
use cursor::Cursor;
use expression::Clause;

/// Parses a whole query.
///
/// # Errors
///
/// [`Error`], with the place and what was expected there. Texts over the bounds of [`limits`](crate::limits) are refused.
pub fn parse(text: &str) -> Result<Query<'_>, Error> {
    if text.len() > QUERY_SIZE_MAX {
        return Err(Error::at(Reason::TooLong, text, 0));
    }
    Cursor::new(text).query().map_err(|error| explained(error, text))
}

impl<'q> Cursor<'q> {
    fn query(mut self) -> Result<Query<'q>, Error> {
        let is_explained = self.take_word("explain");
        let functions = self.functions()?;
        if self.at_word("match") || self.at_word("with") {
            return Err(self.failed(Reason::Removed("Graph queries ('with', 'match') are not supported any more")));
        }
        if !self.take_word("from") {
            return Err(self.expected("Expected FROM clause"));
        }
        let from = self.from()?;
        let group_by = if self.take_word("group") { self.group_by()? } else { Vec::new() };
        let condition = if self.take_word("where") { Some(self.condition(Clause::Where)?) } else { None };
        let order_by = if self.take_word("order") { self.order_by()? } else { Vec::new() };
        let load = if self.take_word("load") { self.load()? } else { Vec::new() };
        let filter = if self.take_word("filter") { Some(self.condition(Clause::Filter)?) } else { None };
        let output = self.output()?;
        let mut query = Query {
            is_explained,
            functions,
            from,
            group_by,
            condition,
            order_by,
            load,
            filter,
            output,
            include: Vec::new(),
            limit: Default::default(),
            filter_limit: None,
        };
        self.tail(&mut query)?;
        if self.at_end() { Ok(query) } else { Err(self.expected("Expected end of query")) }
    }

    fn tail(&mut self, query: &mut Query<'q>) -> Result<(), Error> {
        let mut is_limited = false;
        loop {
            let may_include = !matches!(query.output, Output::Update(_));
            if may_include && self.at_word("include") {
                if !query.include.is_empty() {
                    return Err(self.expected("Query already has an include statement, but encountered a second one"));
                }
                self.advance();
                query.include = self.include()?;
            } else if !is_limited && (self.at_word("limit") || self.at_word("offset")) {
                is_limited = true;
                query.limit = self.limit()?;
            } else if query.filter_limit.is_none() && self.take_word("filter_limit") {
                query.filter_limit = Some(self.filter_limit()?);
            } else {
                return Ok(());
            }
        }
    }
}
