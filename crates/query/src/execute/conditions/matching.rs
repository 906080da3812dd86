//! Entries with a text that ends so, or that a regular expression fits: all texts of the field are walked through.

use super::super::condition::{Ids, Operators, Profiler, set};
use super::super::highlight::{Gatherer, WordMatcher};
use super::super::text;
use super::Behavior;
use crate::definition::terms;
use crate::index::{EntrySet, Error};
use crate::plan::FieldUse;
use regex::Regex;
use std::fmt;

/// Entries with a text that ends so.
#[derive(Clone, Copy)]
pub(super) struct Suffix<'c>(pub &'c FieldUse, pub &'c str);

/// Entries with a text that a regular expression fits.
#[derive(Clone, Copy)]
pub(super) struct Pattern<'c>(pub &'c FieldUse, pub &'c Regex);

impl<'c> Behavior<'c> for Suffix<'c> {
    fn name(self) -> &'static str {
        "endsWith"
    }

    fn field(self) -> Option<&'c FieldUse> {
        Some(self.0)
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "*{}", self.1)
    }

    fn walks(self) -> bool {
        true
    }

    fn ids<'s, E: From<Error>, W: Profiler>(self, operators: &Operators<'s, '_, E, W>) -> Result<Ids<'s>, E> {
        let Some(resolved) = operators.resolve(self.0)? else { return Ok(set(EntrySet::new())) };
        let suffix = terms::analyzed(self.1, resolved.analysis);
        operators.matching(self.0, resolved.number, |text| text.ends_with(&suffix))
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> Result<(), E> {
        gatherer.of_field(self.0, |gatherer, resolved| {
            let suffix = terms::analyzed(self.1, resolved.analysis);
            gatherer.pattern(resolved.number, WordMatcher::Pattern(text::Pattern::Suffix(suffix)));
        })
    }
}

impl<'c> Behavior<'c> for Pattern<'c> {
    fn name(self) -> &'static str {
        "regex"
    }

    fn field(self) -> Option<&'c FieldUse> {
        Some(self.0)
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "/{}/", self.1)
    }

    fn walks(self) -> bool {
        true
    }

    fn ids<'s, E: From<Error>, W: Profiler>(self, operators: &Operators<'s, '_, E, W>) -> Result<Ids<'s>, E> {
        let Some(resolved) = operators.resolve(self.0)? else { return Ok(set(EntrySet::new())) };
        operators.matching(self.0, resolved.number, |text| self.1.is_match(text))
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> Result<(), E> {
        gatherer.of_field(self.0, |gatherer, resolved| {
            gatherer.pattern(resolved.number, WordMatcher::Regex(self.1.clone()));
        })
    }
}
