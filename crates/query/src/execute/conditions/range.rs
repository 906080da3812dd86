//! Entries with a term between two, or with a text that begins so.

use super::super::condition::{Ids, Operators, Profiler, ResolvedField, set};
use super::super::explain::Operator;
use super::super::highlight::{Gatherer, WordMatcher};
use super::super::text::Pattern;
use super::Behavior;
use crate::definition::Fields;
use crate::definition::terms;
use crate::index::{EntrySet, Error, IndexSnapshot, Number, Result, TermRange};
use crate::plan::FieldUse;
use crate::plan::conditions::text::Range;
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
            match ResolvedField::of(index, fields, self.0)?.and_then(|resolved| self.range(resolved)) {
                Some(range) => Ok(index.count_of_few(&range)?.unwrap_or(u64::MAX)),
                None => Ok(0),
            }
        }

        fn estimate(
            self,
            index: &IndexSnapshot<'_>,
            resolved: Option<ResolvedField>,
            _: &[Operator],
        ) -> Result<Option<u64>> {
            match resolved.and_then(|resolved| self.range(resolved)) {
                Some(range) => Ok(Some(index.estimate(&range)?.at_least)),
                None => Ok(None),
            }
        }

        fn ids<'s, E: From<Error>, W: Profiler>(
            self,
            operators: &Operators<'s, '_, E, W>,
        ) -> std::result::Result<Ids<'s>, E> {
            match operators.resolve(self.0)?.and_then(|resolved| self.range(resolved)) {
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

    fn range(self, resolved: ResolvedField) -> Option<TermRange> {
        Some(TermRange::numbers(resolved.number, *self.1, *self.2))
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

    fn range(self, resolved: ResolvedField) -> Option<TermRange> {
        let ResolvedField { number, analysis } = resolved;
        let Texts(_, low, high) = self;
        let is_bounded = !matches!((low, high), (Bound::Unbounded, Bound::Unbounded));
        if let (true, Some(low), Some(high)) = (is_bounded, resolved.time(low), resolved.time(high)) {
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

    fn range(self, resolved: ResolvedField) -> Option<TermRange> {
        Some(TermRange::prefix(resolved.number, &terms::analyzed(self.1, resolved.analysis)))
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> std::result::Result<(), E> {
        gatherer.of_field(self.0, |gatherer, resolved| {
            let prefix = terms::analyzed(self.1, resolved.analysis);
            gatherer.pattern(resolved.number, WordMatcher::Pattern(Pattern::Prefix(prefix)));
        })
    }

    behavior_of_ranges!();
}
