//! Entries with a term between two, or with a text that begins so.

use super::super::condition::{Ids, Kept, Operators, Watch, set};
use super::super::explain::Operator;
use super::super::highlight::{Gatherer, Matcher};
use super::super::text::Pattern;
use super::Behavior;
use crate::definition::Fields;
use crate::definition::terms;
use crate::index::{EntrySet, Error, IndexSnapshot, Number, Result, TermRange};
use crate::plan::FieldUse;
use crate::plan::condition_text::Range;
use std::fmt;
use std::ops::Bound;

/// Entries with a number between two bounds.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'c>(pub &'c FieldUse, pub &'c Bound<Number>, pub &'c Bound<Number>);

/// Entries with a text between two bounds.
#[derive(Clone, Copy)]
pub(super) struct Texts<'c>(pub &'c FieldUse, pub &'c Bound<String>, pub &'c Bound<String>);

/// Entries with a text that begins so.
#[derive(Clone, Copy)]
pub(super) struct Prefix<'c>(pub &'c FieldUse, pub &'c str);

/// What all ranges have in common.
macro_rules! behavior_of_ranges {
    () => {
        fn field(self) -> Option<&'c FieldUse> {
            Some(self.0)
        }

        fn walks(self) -> bool {
            true
        }

        fn is_range(self) -> bool {
            true
        }

        fn count_max(self, index: &IndexSnapshot<'_>, fields: &dyn Fields) -> Result<u64> {
            match Kept::of(index, fields, self.0)?.and_then(|kept| self.range(kept)) {
                Some(range) => Ok(index.count_of_few(&range)?.unwrap_or(u64::MAX)),
                None => Ok(0),
            }
        }

        fn estimate(self, index: &IndexSnapshot<'_>, kept: Option<Kept>, _: &[Operator]) -> Result<Option<u64>> {
            match kept.and_then(|kept| self.range(kept)) {
                Some(range) => Ok(Some(index.estimate(&range)?.at_least)),
                None => Ok(None),
            }
        }

        fn ids<'s, E: From<Error>, W: Watch>(
            self,
            operators: &Operators<'s, '_, E, W>,
        ) -> std::result::Result<Ids<'s>, E> {
            match operators.kept(self.0)?.and_then(|kept| self.range(kept)) {
                Some(range) => Ok(set(operators.index.range(&range)?)),
                None => Ok(set(EntrySet::new())),
            }
        }
    };
}

impl<'c> Behavior<'c> for Numbers<'c> {
    fn name(self) -> &'static str {
        "range"
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}", Range(self.1, self.2))
    }

    fn range(self, kept: Kept) -> Option<TermRange> {
        Some(TermRange::numbers(kept.number, *self.1, *self.2))
    }

    behavior_of_ranges!();
}

impl<'c> Behavior<'c> for Texts<'c> {
    fn name(self) -> &'static str {
        "range"
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}", Range(self.1, self.2))
    }

    fn range(self, kept: Kept) -> Option<TermRange> {
        let Kept { number, analysis } = kept;
        let Texts(_, low, high) = self;
        let is_bounded = !matches!((low, high), (Bound::Unbounded, Bound::Unbounded));
        if let (true, Some(low), Some(high)) = (is_bounded, kept.time(low), kept.time(high)) {
            return Some(TermRange::times(number, low, high));
        }
        let [low, high] = [low, high].map(|bound| bound.as_ref().map(|text| terms::analyzed(text, analysis)));
        let [low, high] = [&low, &high].map(|bound| bound.as_ref().map(String::as_str));
        Some(TermRange::text(number, low, high))
    }

    behavior_of_ranges!();
}

impl<'c> Behavior<'c> for Prefix<'c> {
    fn name(self) -> &'static str {
        "startsWith"
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}*", self.1)
    }

    fn range(self, kept: Kept) -> Option<TermRange> {
        Some(TermRange::prefix(kept.number, &terms::analyzed(self.1, kept.analysis)))
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> std::result::Result<(), E> {
        gatherer.of_field(self.0, |gatherer, kept| {
            let prefix = terms::analyzed(self.1, kept.analysis);
            gatherer.pattern(kept.number, Matcher::Pattern(Pattern::Prefix(prefix)));
        })
    }

    behavior_of_ranges!();
}
