//! The clause `include`.
//!
//! ```text
//! include := "include" item {"," item}
//! item    := path | call | value
//! ```
//!
//! Calls are `counters(..)`, `timeseries(..)`, `revisions(..)`, `cmpxchg(..)`, `highlight(..)`, `explanations(..)` and
//! `timings()`; as everywhere, the planner knows them.

use super::cursor::Cursor;
use crate::rql::error::Error;
use crate::rql::expression::Expression;

impl<'q> Cursor<'q> {
    pub(super) fn include(&mut self) -> Result<Vec<Expression<'q>>, Error> {
        self.list(|cursor| cursor.item("Unable to understand include clause expression"))
    }
}
