//! Entries with a vector that is near to one. `execute/vector.rs` finds them.

use super::super::condition::{Ids, Operators, Profiler, set};
use super::super::score::{Builder, Node, ScoredCondition};
use super::super::vector;
use super::Behavior;
use crate::index::{EntrySet, Error};
use crate::plan::{FieldUse, VectorQuery};
use std::fmt;

/// Entries with a vector that is near to one.
#[derive(Clone, Copy)]
pub(super) struct Vector<'c>(pub &'c FieldUse, pub &'c VectorQuery);

impl<'c> Behavior<'c> for Vector<'c> {
    fn name(self) -> &'static str {
        "vector"
    }

    fn field(self) -> Option<&'c FieldUse> {
        Some(self.0)
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        let kind = if self.1.is_exact { "exact" } else { "nearest" };
        write!(f, "{kind} {} >= {}", self.1.count_max, self.1.similarity_min)
    }

    fn walks(self) -> bool {
        true
    }

    fn ids<'s, E: From<Error>, W: Profiler>(self, operators: &Operators<'s, '_, E, W>) -> Result<Ids<'s>, E> {
        let mut found = EntrySet::new();
        let near = vector::nearest(operators.index, operators.fields, self.0, self.1, operators.check_cancel)?;
        near.iter().for_each(|(entry, _)| _ = found.insert(*entry));
        Ok(set(found))
    }

    fn node<'s, E: From<Error>>(self, builder: &Builder<'s, '_, E>, part: ScoredCondition<'_>) -> Result<Node<'s>, E> {
        let found = vector::nearest(builder.index, builder.fields, self.0, self.1, builder.check_cancel)?;
        let name = if builder.names.is_some() { part.condition.to_string() } else { String::new() };
        Ok(Node::Near { found, place: 0, boost: part.boost, name })
    }
}
