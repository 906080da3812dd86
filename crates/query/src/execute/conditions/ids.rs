//! Entries of documents by their ids, by what ids begin with, and by ranges of them.

use super::super::condition::{self, MERGED_LISTS_MAX, Operators, Profiler, set};
use super::super::explain::Operator;
use super::super::score::{Builder, Node, ScoredCondition};
use super::{Behavior, ResolvedField};
use crate::definition::Fields;
use crate::index::{EntrySet, Error, IndexSnapshot, Result};
use crate::plan::conditions::text::Several;
use std::fmt::{self, Formatter};
use std::ops::Bound;

/// Entries of these documents.
#[derive(Clone, Copy)]
pub(super) struct Ids<'c>(pub &'c [String]);

/// Entries of documents whose id begins so.
#[derive(Clone, Copy)]
pub(super) struct IdPrefix<'c>(pub &'c str);

/// Entries of documents whose id is between two bounds.
#[derive(Clone, Copy)]
pub(super) struct IdRange<'c>(pub &'c Bound<String>, pub &'c Bound<String>);

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

impl<'c> Behavior<'c> for IdRange<'c> {
    fn name(self) -> &'static str {
        "idRange"
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        let (open, low) = match self.0 {
            Bound::Included(low) => ('[', low.as_str()),
            Bound::Excluded(low) => ('(', low.as_str()),
            Bound::Unbounded => ('(', ""),
        };
        let (high, close) = match self.1 {
            Bound::Included(high) => (high.as_str(), ']'),
            Bound::Excluded(high) => (high.as_str(), ')'),
            Bound::Unbounded => ("", ')'),
        };
        write!(f, "{open}{low}..{high}{close}")
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
        let [low, high] = [self.0, self.1].map(|bound| bound.as_ref().map(String::as_str));
        Ok(set(operators.index.entries_by_id_range(low, high)?))
    }
}
