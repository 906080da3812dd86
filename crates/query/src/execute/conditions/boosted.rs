//! The entries of a condition, which count more in scores.

use super::super::condition::{Ids, Operators, Profiler};
use super::super::explain::Operator;
use super::super::highlight::Gatherer;
use super::super::score::{Builder, Node, ScoredCondition, product};
use super::{Behavior, ResolvedField};
use crate::definition::Fields;
use crate::index::{Error, IndexSnapshot, Result};
use crate::plan::Condition;
use std::fmt::{self, Formatter};

/// What this one finds, by so much more.
#[derive(Clone, Copy)]
pub(super) struct Boosted<'c>(pub &'c Condition, pub f32);

impl<'c> Behavior<'c> for Boosted<'c> {
    fn name(self) -> &'static str {
        "boost"
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}", self.1)
    }

    fn write(self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({})^{}", self.0, self.1)
    }

    fn walks(self) -> bool {
        self.0.walks()
    }

    fn count_max(self, index: &IndexSnapshot<'_>, fields: &dyn Fields) -> Result<u64> {
        self.0.count_max(index, fields)
    }

    fn estimate(self, _: &IndexSnapshot<'_>, _: Option<ResolvedField>, operands: &[Operator]) -> Result<Option<u64>> {
        Ok(operands.first().and_then(|operand| operand.estimate))
    }

    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<Ids<'s>, E> {
        operators.of(self.0)
    }

    fn node<'s, E: From<Error>>(
        self,
        builder: &Builder<'s, '_, E>,
        part: ScoredCondition<'_>,
    ) -> std::result::Result<Node<'s>, E> {
        self.0.node(builder, product(part.boost, self.1), part.is_known)
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> std::result::Result<(), E> {
        gatherer.condition(self.0)
    }
}
