//! Entries with any of some terms, and with all of them.

use super::super::condition::{Ids, Kept, MERGED_LISTS_MAX, Operators, Watch, set};
use super::super::explain::Operator;
use super::super::highlight::Gatherer;
use super::super::score::{Builder, Node, Part, Parts, SCORED_LISTS_MAX, sum};
use super::Behavior;
use crate::definition::Fields;
use crate::definition::terms;
use crate::index::{EntryIds, EntrySet, Error, IndexSnapshot, Intersection, Result, Union};
use crate::limits::EXPLAINED_OPERATORS_MAX;
use crate::plan::condition_text::Several;
use crate::plan::{FieldUse, Sought};
use std::fmt;

/// Entries with any of the terms.
#[derive(Clone, Copy)]
pub(super) struct AnyOf<'c>(pub &'c FieldUse, pub &'c [Sought]);

/// Entries with all of the terms.
#[derive(Clone, Copy)]
pub(super) struct AllOf<'c>(pub &'c FieldUse, pub &'c [Sought]);

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
        let Some(kept) = Kept::of(index, fields, self.0)? else { return Ok(0) };
        let mut sum = 0u64;
        for value in self.1 {
            sum = sum.saturating_add(kept.list(index, value)?.count());
        }
        Ok(sum)
    }

    fn estimate(self, index: &IndexSnapshot<'_>, kept: Option<Kept>, _: &[Operator]) -> Result<Option<u64>> {
        let Some(kept) = kept.filter(|_| self.1.len() <= EXPLAINED_OPERATORS_MAX) else { return Ok(None) };
        Ok(Some(counts(index, kept, self.1)?.into_iter().fold(0, u64::saturating_add)))
    }

    fn ids<'s, E: From<Error>, W: Watch>(self, operators: &Operators<'s, '_, E, W>) -> std::result::Result<Ids<'s>, E> {
        let Some(kept) = operators.kept(self.0)? else { return Ok(set(EntrySet::new())) };
        if !self.walks() {
            let mut lists = operators.lists(kept, self.1)?;
            return Ok(if lists.len() == 1 { lists.remove(0) } else { Box::new(Union::new(lists)) });
        }
        let mut found = EntrySet::new();
        for value in self.1 {
            (operators.look)()?;
            kept.list(operators.index, value)?.add_to(&mut found)?;
        }
        Ok(set(found))
    }

    fn node<'s, E: From<Error>>(
        self,
        builder: &Builder<'s, '_, E>,
        part: Part<'_>,
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

    fn estimate(self, index: &IndexSnapshot<'_>, kept: Option<Kept>, _: &[Operator]) -> Result<Option<u64>> {
        let Some(kept) = kept else { return Ok(None) };
        Ok(counts(index, kept, self.1)?.into_iter().min())
    }

    fn ids<'s, E: From<Error>, W: Watch>(self, operators: &Operators<'s, '_, E, W>) -> std::result::Result<Ids<'s>, E> {
        let Some(kept) = operators.kept(self.0)? else { return Ok(set(EntrySet::new())) };
        Ok(Box::new(Intersection::new(operators.lists(kept, self.1)?)))
    }

    fn node<'s, E: From<Error>>(
        self,
        builder: &Builder<'s, '_, E>,
        part: Part<'_>,
    ) -> std::result::Result<Node<'s>, E> {
        node(builder, part, self.0, self.1, true)
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> std::result::Result<(), E> {
        mark(gatherer, self.0, self.1)
    }
}

/// How long the lists of the first terms are.
fn counts(index: &IndexSnapshot<'_>, kept: Kept, values: &[Sought]) -> Result<Vec<u64>> {
    let values = values.iter().take(EXPLAINED_OPERATORS_MAX);
    values.map(|value| Ok(kept.list(index, value)?.count())).collect()
}

fn node<'s, E: From<Error>>(
    builder: &Builder<'s, '_, E>,
    part: Part<'_>,
    field: &FieldUse,
    values: &[Sought],
    is_all: bool,
) -> std::result::Result<Node<'s>, E> {
    let Part { boost, is_known, .. } = part;
    let Some(kept) = Kept::of(builder.index, builder.fields, field)? else { return builder.constant(part, 1.0) };
    match values {
        [value] => builder.of_value(kept, value, boost, is_known, false),
        _ if values.len() > SCORED_LISTS_MAX => builder.constant(part, 1.0),
        values => {
            let is_known = is_all && is_known;
            let parts = values.iter().map(|value| builder.of_value(kept, value, boost, is_known, !is_all));
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
    values: &[Sought],
) -> std::result::Result<(), E> {
    let texts = values.iter().filter_map(|value| match value {
        Sought::Text(text) => Some(text),
        Sought::Null | Sought::Number(_) => None,
    });
    gatherer.of_field(field, |gatherer, kept| {
        texts.for_each(|text| gatherer.word(kept.number, terms::analyzed(text, kept.analysis)));
    })
}
