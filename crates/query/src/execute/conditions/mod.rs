//! The behaviour of each condition: its text, cost estimate, evaluation, score and highlighting.
//!
//! A file for each condition, or for a few that differ little, has a view of the variant of [`Condition`], and all of that in one
//! implementation of [`Behavior`]. The macro `each` is the one place that leads from variants to views: a variant without a view does not
//! compile, and neither does a view that lacks a part. `execute/condition.rs` evaluates, `execute/score/` scores and `execute/highlight/`
//! marks whole conditions by it.

mod all;
mod and;
mod boosted;
mod exists;
mod ids;
mod like;
mod matching;
mod not;
mod of_documents;
mod or;
mod place;
mod range;
mod terms;
mod vector;
mod words;

use super::condition::{Ids, Operators, Profiler, ResolvedField};
use super::explain::Operator;
use super::highlight::Gatherer;
use super::score::{Builder, Node, ScoredCondition};
use crate::definition::Fields;
use crate::index::{Error, IndexSnapshot, Result, TermRange};
use crate::plan::{Condition, FieldUse};
use std::fmt::{self, Display, Formatter};

/// A condition; `'c` is how long it lives.
trait Behavior<'c>: Copy {
    /// What kind of operator it is, in plans.
    fn name(self) -> &'static str;

    /// The field that it is about, if it is one.
    fn field(self) -> Option<&'c FieldUse> {
        None
    }

    /// What it asks of its field, or of entries; nothing of conditions that are made of others.
    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result;

    /// The whole condition, as Lucene writes queries.
    fn write(self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.field() {
            Some(field) => {
                write!(f, "{}:", field.name.stored(field.analysis.kind()))?;
                self.write_argument(f)
            }
            None => f.write_str(self.name()),
        }
    }

    /// Whether it is found by looking at many terms or documents before anything else is known.
    fn walks(self) -> bool;

    /// Whether it asks for all terms of its field between two, or that begin so: [`Behavior::range`] has them.
    fn is_range(self) -> bool {
        false
    }

    /// The terms that it asks for. `None`: they are no range.
    fn range(self, _resolved: ResolvedField) -> Option<TermRange> {
        None
    }

    /// How many entries it looks at, at most, from the counts of lists; `u64::MAX` if those do not tell.
    fn count_max(self, _index: &IndexSnapshot<'_>, _fields: &dyn Fields) -> Result<u64> {
        Ok(u64::MAX)
    }

    /// How many entries it has, from the counts of lists and what is known of its operands. `None`: that does not tell.
    ///
    /// * `resolved`: its field, if it is about one.
    fn estimate(
        self,
        _index: &IndexSnapshot<'_>,
        _resolved: Option<ResolvedField>,
        _operands: &[Operator],
    ) -> Result<Option<u64>> {
        Ok(None)
    }

    /// The entries that it finds, rising.
    fn ids<'s, E: From<Error>, W: Profiler>(
        self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<Ids<'s>, E>;

    /// What it adds to scores; unless it says more, the same for all entries that it finds.
    fn node<'s, E: From<Error>>(
        self,
        builder: &Builder<'s, '_, E>,
        part: ScoredCondition<'_>,
    ) -> std::result::Result<Node<'s>, E> {
        builder.constant(part, 1.0)
    }

    /// Gathers the words that it looks for; unless it says more, it looks for none.
    fn mark<E: From<Error>>(self, _gatherer: &mut Gatherer<'_, '_, E>) -> std::result::Result<(), E> {
        Ok(())
    }
}

/// Does the same with the view of each variant.
macro_rules! each {
    (@ $condition:expr, $view:ident => $result:expr, $($variant:pat => $of:expr,)*) => {
        match $condition {
            $($variant => {
                let $view = $of;
                $result
            })*
        }
    };
    ($condition:expr, $view:ident => $result:expr) => {
        each!(@ $condition, $view => $result,
            Condition::All => all::All,
            Condition::Nothing => all::Nothing,
            Condition::Ids(ids) => ids::Ids(ids),
            Condition::IdPrefix(prefix) => ids::IdPrefix(prefix),
            Condition::IdRange(low, high) => ids::IdRange(low, high),
            Condition::AnyOf(field, values) => terms::AnyOf(field, values),
            Condition::AllOf(field, values) => terms::AllOf(field, values),
            Condition::Numbers(field, low, high) => range::Numbers(field, low, high),
            Condition::Texts(field, low, high) => range::Texts(field, low, high),
            Condition::Prefix(field, prefix) => range::Prefix(field, prefix),
            Condition::Suffix(field, suffix) => matching::Suffix(field, suffix),
            Condition::Pattern(field, regex) => matching::Pattern(field, regex),
            Condition::Exists(field) => exists::Exists(field),
            Condition::And(conditions) => and::And(conditions),
            Condition::Or(conditions) => or::Or(conditions),
            Condition::Not(condition) => not::Not(condition),
            Condition::OfDocuments(condition) => of_documents::OfDocuments(condition),
            Condition::Words(field, query) => words::Words(field, query),
            Condition::Boosted(condition, boost) => boosted::Boosted(condition, *boost),
            Condition::Spatial(field, query) => place::Spatial(field, query),
            Condition::Vector(field, query) => vector::Vector(field, query),
            Condition::Like(like) => like::Like(like),
        )
    };
}

impl Condition {
    /// What kind of condition it is.
    pub fn operator(&self) -> &'static str {
        each!(self, view => view.name())
    }

    /// The field that it is about, if it is one.
    pub fn field(&self) -> Option<&FieldUse> {
        each!(self, view => view.field())
    }

    /// What it asks of its field, or of entries; nothing of conditions that are made of others.
    pub fn write_argument(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        each!(self, view => view.write_argument(f))
    }

    /// Whether it is found by looking at many terms or documents before anything else is known.
    pub(super) fn walks(&self) -> bool {
        each!(self, view => view.walks())
    }

    /// Whether it asks for all terms of its field between two, or that begin so.
    pub(super) fn is_range(&self) -> bool {
        each!(self, view => view.is_range())
    }

    /// The terms that it asks for. `None`: they are no range.
    pub(super) fn range(&self, resolved: ResolvedField) -> Option<TermRange> {
        each!(self, view => view.range(resolved))
    }

    /// How many entries it looks at, at most, from the counts of lists; `u64::MAX` if those do not tell.
    pub(super) fn count_max(&self, index: &IndexSnapshot<'_>, fields: &dyn Fields) -> Result<u64> {
        each!(self, view => view.count_max(index, fields))
    }

    /// How many entries it has, from the counts of lists and what is known of its operands. `None`: that does not tell.
    pub(super) fn estimate(
        &self,
        index: &IndexSnapshot<'_>,
        fields: &dyn Fields,
        operands: &[Operator],
    ) -> Result<Option<u64>> {
        let resolved = match self.field() {
            None => None,
            Some(field) => match ResolvedField::of(index, fields, field)? {
                Some(resolved) => Some(resolved),
                // No entry ever had it.
                None => return Ok(Some(0)),
            },
        };
        each!(self, view => view.estimate(index, resolved, operands))
    }

    /// The entries that it finds, rising. The depth of the recursion is that of the query's text, which is bounded.
    pub(super) fn ids<'s, E: From<Error>, W: Profiler>(
        &self,
        operators: &Operators<'s, '_, E, W>,
    ) -> std::result::Result<Ids<'s>, E> {
        each!(self, view => view.ids(operators))
    }

    /// What it adds to scores. The depth of the recursion is that of the query's text, which is bounded.
    pub(super) fn node<'s, E: From<Error>>(
        &self,
        builder: &Builder<'s, '_, E>,
        boost: f32,
        is_known: bool,
    ) -> std::result::Result<Node<'s>, E> {
        let part = ScoredCondition { condition: self, boost, is_known };
        each!(self, view => view.node(builder, part))
    }

    /// Gathers the words that it looks for. The depth of the recursion is that of the query's text, which is bounded.
    pub(super) fn mark<E: From<Error>>(&self, gatherer: &mut Gatherer<'_, '_, E>) -> std::result::Result<(), E> {
        each!(self, view => view.mark(gatherer))
    }
}

/// As Lucene writes queries: `Name:ann`, `Age:[3 TO *]`. The depth of the recursion is that of the query's text, which is bounded.
impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        each!(self, view => view.write(f))
    }
}
