//! Entries that have the field, if only as null.

use super::super::condition::{Ids, Operators, Profiler, set};
use super::super::explain::Operator;
use super::{Behavior, ResolvedField};
use crate::index::{EntrySet, Error, IndexSnapshot, Kind, Result, Union};
use crate::plan::FieldUse;
use std::fmt;

/// Entries that have the field.
#[derive(Clone, Copy)]
pub(super) struct Exists<'c>(pub &'c FieldUse);

impl<'c> Behavior<'c> for Exists<'c> {
    fn name(self) -> &'static str {
        "exists"
    }

    fn field(self) -> Option<&'c FieldUse> {
        Some(self.0)
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("*")
    }

    fn walks(self) -> bool {
        false
    }

    fn estimate(
        self,
        index: &IndexSnapshot<'_>,
        resolved: Option<ResolvedField>,
        _: &[Operator],
    ) -> Result<Option<u64>> {
        let Some(resolved) = resolved else { return Ok(None) };
        let [nulls, texts] = [Kind::Null, Kind::Text].map(|kind| index.present(resolved.number, kind));
        Ok(Some(nulls?.count().saturating_add(texts?.count())))
    }

    /// A number is a text too.
    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<Ids<'s>, E> {
        let Some(resolved) = operators.resolve(self.0)? else { return Ok(set(EntrySet::new())) };
        let nulls: Ids<'s> = Box::new(operators.index.present(resolved.number, Kind::Null)?);
        let texts: Ids<'s> = Box::new(operators.index.present(resolved.number, Kind::Text)?);
        Ok(Box::new(Union::new(vec![nulls, texts])))
    }
}
