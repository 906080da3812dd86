//! Entries with any of some terms, and with all of them.

use super::super::condition::{Ids, MERGED_LISTS_MAX, Operators, Profiler, ResolvedField, set};
use super::super::explain::Operator;
use super::super::highlight::Gatherer;
use super::super::score::{Builder, Node, Parts, SCORED_LISTS_MAX, ScoredCondition, sum};
use super::Behavior;
use crate::definition::Fields;
use crate::definition::terms;
use crate::index::{EntryIds, EntrySet, Error, IndexSnapshot, Intersection, Result, Union};
use crate::limits::EXPLAINED_OPERATORS_MAX;
use crate::plan::conditions::text::Several;
use crate::plan::{FieldUse, TermValue};
use std::fmt;

/// Entries with any of the terms.
#[derive(Clone, Copy)]
pub(super) struct AnyOf<'c>(pub &'c FieldUse, pub &'c [TermValue]);

/// Entries with all of the terms.
#[derive(Clone, Copy)]
pub(super) struct AllOf<'c>(pub &'c FieldUse, pub &'c [TermValue]);

impl<'c> Behavior<'c> for AnyOf<'c> {
    fn name(self) -> &'static str {
        if self.1.len() == 1 { "term" } else { "in" }
    }

    fn field(self) -> Option<&'c FieldUse> {
        Some(self.0)
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}", Several(self.1, ", "))
    }

    fn walks(self) -> bool {
        self.1.len() > MERGED_LISTS_MAX
    }

    fn count_max(self, index: &IndexSnapshot<'_>, fields: &dyn Fields) -> Result<u64> {
        if self.walks() {
            return Ok(u64::MAX);
        }
        let Some(resolved) = ResolvedField::of(index, fields, self.0)? else { return Ok(0) };
        let mut sum = 0u64;
        for value in self.1 {
            sum = sum.saturating_add(resolved.list(index, value)?.count());
        }
        Ok(sum)
    }

    fn estimate(
        self,
        index: &IndexSnapshot<'_>,
        resolved: Option<ResolvedField>,
        _: &[Operator],
    ) -> Result<Option<u64>> {
        let Some(resolved) = resolved.filter(|_| self.1.len() <= EXPLAINED_OPERATORS_MAX) else { return Ok(None) };
        Ok(Some(counts(index, resolved, self.1)?.into_iter().fold(0, u64::saturating_add)))
    }

    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<Ids<'s>, E> {
        let Some(resolved) = operators.resolve(self.0)? else { return Ok(set(EntrySet::new())) };
        if !self.walks() {
            let mut lists = operators.lists(resolved, self.1)?;
            return Ok(if lists.len() == 1 { lists.remove(0) } else { Box::new(Union::new(lists)) });
        }
        let mut found = EntrySet::new();
        for value in self.1 {
            (operators.check_cancel)()?;
            resolved.list(operators.index, value)?.add_to(&mut found)?;
        }
        Ok(set(found))
    }

    fn node<'s, E: From<Error>>(
        self,
        builder: &Builder<'s, '_, E>,
        part: ScoredCondition<'_>,
    ) -> std::result::Result<Node<'s>, E> {
        node(builder, part, self.0, self.1, false)
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> std::result::Result<(), E> {
        mark(gatherer, self.0, self.1)
    }
}

impl<'c> Behavior<'c> for AllOf<'c> {
    fn name(self) -> &'static str {
        "allIn"
    }

    fn field(self) -> Option<&'c FieldUse> {
        Some(self.0)
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}", Several(self.1, ", "))
    }

    fn walks(self) -> bool {
        self.1.len() > MERGED_LISTS_MAX
    }

    fn estimate(
        self,
        index: &IndexSnapshot<'_>,
        resolved: Option<ResolvedField>,
        _: &[Operator],
    ) -> Result<Option<u64>> {
        let Some(resolved) = resolved else { return Ok(None) };
        Ok(counts(index, resolved, self.1)?.into_iter().min())
    }

    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<Ids<'s>, E> {
        let Some(resolved) = operators.resolve(self.0)? else { return Ok(set(EntrySet::new())) };
        Ok(Box::new(Intersection::new(operators.lists(resolved, self.1)?)))
    }

    fn node<'s, E: From<Error>>(
        self,
        builder: &Builder<'s, '_, E>,
        part: ScoredCondition<'_>,
    ) -> std::result::Result<Node<'s>, E> {
        node(builder, part, self.0, self.1, true)
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> std::result::Result<(), E> {
        mark(gatherer, self.0, self.1)
    }
}

/// How long the lists of the first terms are.
fn counts(index: &IndexSnapshot<'_>, resolved: ResolvedField, values: &[TermValue]) -> Result<Vec<u64>> {
    let values = values.iter().take(EXPLAINED_OPERATORS_MAX);
    values.map(|value| Ok(resolved.list(index, value)?.count())).collect()
}

fn node<'s, E: From<Error>>(
    builder: &Builder<'s, '_, E>,
    part: ScoredCondition<'_>,
    field: &FieldUse,
    values: &[TermValue],
    is_all: bool,
) -> std::result::Result<Node<'s>, E> {
    let ScoredCondition { boost, is_known, .. } = part;
    let Some(resolved) = ResolvedField::of(builder.index, builder.fields, field)? else {
        return builder.constant(part, 1.0);
    };
    match values {
        [value] => builder.of_value(resolved, value, boost, is_known, false),
        _ if values.len() > SCORED_LISTS_MAX => builder.constant(part, 1.0),
        values => {
            let is_known = is_all && is_known;
            let parts = values.iter().map(|value| builder.of_value(resolved, value, boost, is_known, !is_all));
            let parts = parts.collect::<std::result::Result<Vec<_>, E>>()?;
            Ok(match is_all {
                true => sum(parts, Vec::new()),
                // As in the reference, the values of 'in' are not weighed against each other.
                false => Node::Sum {
                    must: Vec::new(),
                    may: Parts::new(parts),
                    must_not: Vec::new(),
                    counts: false,
                    as_one: Some(boost),
                },
            })
        }
    }
}

fn mark<E: From<Error>>(
    gatherer: &mut Gatherer<'_, '_, E>,
    field: &FieldUse,
    values: &[TermValue],
) -> std::result::Result<(), E> {
    let texts = values.iter().filter_map(|value| match value {
        TermValue::Text(text) => Some(text),
        TermValue::Null | TermValue::Number(_) => None,
    });
    gatherer.of_field(field, |gatherer, resolved| {
        texts.for_each(|text| gatherer.word(resolved.number, terms::analyzed(text, resolved.analysis)));
    })
}
