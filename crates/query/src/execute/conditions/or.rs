//! Entries that any of some conditions finds.

use super::super::condition::{Ids, Operators, Profiler};
use super::super::explain::Operator;
use super::super::highlight::Gatherer;
use super::super::score::{Builder, Node, ScoredCondition, sum};
use super::{Behavior, ResolvedField};
use crate::definition::Fields;
use crate::index::{Error, IndexSnapshot, Result, Union};
use crate::plan::Condition;
use crate::plan::conditions::text::Several;
use std::fmt::{self, Formatter};

/// Entries that any of these finds.
#[derive(Clone, Copy)]
pub(super) struct Or<'c>(pub &'c [Condition]);

impl<'c> Behavior<'c> for Or<'c> {
    fn name(self) -> &'static str {
        "or"
    }

    fn write_argument(self, _: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }

    fn write(self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({})", Several(self.0, " OR "))
    }

    fn walks(self) -> bool {
        self.0.iter().any(Condition::walks)
    }

    fn count_max(self, index: &IndexSnapshot<'_>, fields: &dyn Fields) -> Result<u64> {
        let mut counts = self.0.iter().map(|condition| condition.count_max(index, fields));
        counts.try_fold(0, |sum: u64, count| Ok(sum.saturating_add(count?)))
    }

    fn estimate(self, _: &IndexSnapshot<'_>, _: Option<ResolvedField>, operands: &[Operator]) -> Result<Option<u64>> {
        Ok(operands.iter().map(|operand| operand.estimate).sum())
    }

    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<Ids<'s>, E> {
        let ids = self.0.iter().map(|condition| operators.of(condition));
        Ok(Box::new(Union::new(ids.collect::<std::result::Result<_, E>>()?)))
    }

    fn node<'s, E: From<Error>>(
        self,
        builder: &Builder<'s, '_, E>,
        ScoredCondition { boost, .. }: ScoredCondition<'_>,
    ) -> std::result::Result<Node<'s>, E> {
        let parts = self.0.iter().map(|condition| condition.node(builder, boost, false));
        Ok(sum(Vec::new(), parts.collect::<std::result::Result<_, E>>()?))
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> std::result::Result<(), E> {
        self.0.iter().try_for_each(|condition| gatherer.condition(condition))
    }
}
