//! All entries, and none.

use super::super::condition::{Ids, Operators, Profiler, set};
use super::super::explain::Operator;
use super::{Behavior, ResolvedField};
use crate::definition::Fields;
use crate::index::{EntrySet, Error, IndexSnapshot, Result};
use std::fmt::{self, Formatter};

/// All entries.
#[derive(Clone, Copy)]
pub(super) struct All;

/// No entries.
#[derive(Clone, Copy)]
pub(super) struct Nothing;

impl Behavior<'_> for All {
    fn name(self) -> &'static str {
        "all"
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("*")
    }

    fn write(self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("*:*")
    }

    fn walks(self) -> bool {
        false
    }

    fn estimate(self, index: &IndexSnapshot<'_>, _: Option<ResolvedField>, _: &[Operator]) -> Result<Option<u64>> {
        Ok(Some(index.entry_count()))
    }

    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<Ids<'s>, E> {
        Ok(Box::new(operators.index.all()))
    }
}

impl Behavior<'_> for Nothing {
    fn name(self) -> &'static str {
        "nothing"
    }

    fn write_argument(self, _: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }

    fn walks(self) -> bool {
        false
    }

    fn count_max(self, _: &IndexSnapshot<'_>, _: &dyn Fields) -> Result<u64> {
        Ok(0)
    }

    fn estimate(self, _: &IndexSnapshot<'_>, _: Option<ResolvedField>, _: &[Operator]) -> Result<Option<u64>> {
        Ok(Some(0))
    }

    fn ids<'s, E: From<Error>, W: Profiler>(self, _: &Operators<'s, '_, E, W>) -> std::result::Result<Ids<'s>, E> {
        Ok(set(EntrySet::new()))
    }
}
