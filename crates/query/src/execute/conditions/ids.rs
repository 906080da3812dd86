//! Entries of documents by their ids, and by what ids begin with.

use super::super::condition::{self, MERGED_LISTS_MAX, Operators, Profiler, set};
use super::super::explain::Operator;
use super::super::score::{Builder, Node, ScoredCondition};
use super::{Behavior, ResolvedField};
use crate::definition::Fields;
use crate::index::{EntrySet, Error, IndexSnapshot, Result};
use crate::plan::conditions::text::Several;
use std::fmt::{self, Formatter};

/// Entries of these documents.
#[derive(Clone, Copy)]
pub(super) struct Ids<'c>(pub &'c [String]);

/// Entries of documents whose id begins so.
#[derive(Clone, Copy)]
pub(super) struct IdPrefix<'c>(pub &'c str);

impl<'c> Behavior<'c> for Ids<'c> {
    fn name(self) -> &'static str {
        "ids"
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}", Several(self.0, ", "))
    }

    fn write(self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("id():")?;
        self.write_argument(f)
    }

    fn walks(self) -> bool {
        self.0.len() > MERGED_LISTS_MAX
    }

    fn count_max(self, index: &IndexSnapshot<'_>, _: &dyn Fields) -> Result<u64> {
        if self.walks() {
            return Ok(u64::MAX);
        }
        let mut sum = 0u64;
        for id in self.0 {
            sum = sum.saturating_add(index.entries_of(id)?.len() as u64);
        }
        Ok(sum)
    }

    fn estimate(self, _: &IndexSnapshot<'_>, _: Option<ResolvedField>, _: &[Operator]) -> Result<Option<u64>> {
        Ok(Some(self.0.len() as u64))
    }

    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<condition::Ids<'s>, E> {
        let mut found = EntrySet::new();
        for id in self.0 {
            operators.index.entries_of(id)?.into_iter().for_each(|entry| _ = found.insert(entry));
        }
        Ok(set(found))
    }

    fn node<'s, E: From<Error>>(
        self,
        builder: &Builder<'s, '_, E>,
        part: ScoredCondition<'_>,
    ) -> std::result::Result<Node<'s>, E> {
        let mut count = 0;
        for id in self.0 {
            count += builder.index.entries_of(id)?.len() as u64;
        }
        builder.constant(part, builder.idf(count))
    }
}

impl<'c> Behavior<'c> for IdPrefix<'c> {
    fn name(self) -> &'static str {
        "idPrefix"
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}*", self.0)
    }

    fn write(self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("id():")?;
        self.write_argument(f)
    }

    fn walks(self) -> bool {
        true
    }

    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<condition::Ids<'s>, E> {
        Ok(set(operators.index.entries_by_prefix(self.0)?))
    }
}
