//! Entries that a condition does not find.

use super::super::condition::{Ids, Operators, Profiler};
use super::super::explain::Operator;
use super::{Behavior, ResolvedField};
use crate::index::{Difference, Error, IndexSnapshot, Result};
use crate::plan::Condition;
use std::fmt::{self, Formatter};

/// All entries but those that this one finds.
#[derive(Clone, Copy)]
pub(super) struct Not<'c>(pub &'c Condition);

impl<'c> Behavior<'c> for Not<'c> {
    fn name(self) -> &'static str {
        "not"
    }

    fn write_argument(self, _: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }

    fn write(self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "-({})", self.0)
    }

    fn walks(self) -> bool {
        self.0.walks()
    }

    fn estimate(
        self,
        index: &IndexSnapshot<'_>,
        _: Option<ResolvedField>,
        operands: &[Operator],
    ) -> Result<Option<u64>> {
        let excluded = operands.first().and_then(|operand| operand.estimate);
        Ok(excluded.map(|count| index.entry_count().saturating_sub(count)))
    }

    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<Ids<'s>, E> {
        Ok(Box::new(Difference::new(operators.index.all(), operators.of(self.0)?)))
    }
}
