//! Entries that all of some conditions find.

use super::super::condition::{Ids, Operators, Profiler, RECORD_COST};
use super::super::explain::Operator;
use super::super::highlight::Gatherer;
use super::super::score::{Builder, Node, ScoredCondition, sum};
use super::{Behavior, ResolvedField};
use crate::definition::Fields;
use crate::index::{Error, IndexSnapshot, Result};
use crate::plan::Condition;
use crate::plan::conditions::text::Several;
use std::fmt::{self, Formatter};

/// Entries that all of these find.
#[derive(Clone, Copy)]
pub(super) struct And<'c>(pub &'c [Condition]);

impl<'c> Behavior<'c> for And<'c> {
    fn name(self) -> &'static str {
        "and"
    }

    fn write_argument(self, _: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }

    fn write(self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({})", Several(self.0, " AND "))
    }

    fn walks(self) -> bool {
        self.0.iter().any(Condition::walks)
    }

    /// What walks through terms does so before anything is known of the others; but ranges stop where records are cheaper.
    fn count_max(self, index: &IndexSnapshot<'_>, fields: &dyn Fields) -> Result<u64> {
        let counts = self.0.iter().map(|condition| condition.count_max(index, fields)).collect::<Result<Vec<u64>>>()?;
        let (mut is_walking, mut walked, mut ranges) = (false, 0u64, 0);
        for (condition, count) in self.0.iter().zip(&counts) {
            match condition {
                Condition::All => {}
                Condition::Not(condition) if condition.is_range() => ranges += 1,
                Condition::Not(condition) => is_walking |= condition.walks(),
                condition if condition.is_range() => ranges += 1,
                // It is walked through whole, whatever the others find; `u64::MAX` if the count is unknown.
                condition if condition.walks() => walked = walked.saturating_add(*count),
                _ => {}
            }
        }
        let least = counts.into_iter().min().unwrap_or(u64::MAX);
        Ok(match is_walking {
            true => u64::MAX,
            false => least.saturating_mul(1 + RECORD_COST * ranges).saturating_add(walked),
        })
    }

    fn estimate(self, _: &IndexSnapshot<'_>, _: Option<ResolvedField>, operands: &[Operator]) -> Result<Option<u64>> {
        Ok(operands.iter().filter_map(|operand| operand.estimate).min())
    }

    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<Ids<'s>, E> {
        operators.and(self.0)
    }

    fn node<'s, E: From<Error>>(
        self,
        builder: &Builder<'s, '_, E>,
        ScoredCondition { boost, is_known, .. }: ScoredCondition<'_>,
    ) -> std::result::Result<Node<'s>, E> {
        let parts = self.0.iter().map(|condition| condition.node(builder, boost, is_known));
        Ok(sum(parts.collect::<std::result::Result<_, E>>()?, Vec::new()))
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> std::result::Result<(), E> {
        self.0.iter().try_for_each(|condition| gatherer.condition(condition))
    }
}
