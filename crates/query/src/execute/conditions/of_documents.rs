//! All entries of the documents of what a condition finds.

use super::super::condition::{Ids, Operators, Profiler, set};
use super::super::highlight::Gatherer;
use super::super::score::{Builder, Node, ScoredCondition};
use super::Behavior;
use crate::index::{EntrySet, Error};
use crate::plan::Condition;
use std::fmt::{self, Formatter};

/// All entries of documents of which this one finds an entry.
#[derive(Clone, Copy)]
pub(super) struct OfDocuments<'c>(pub &'c Condition);

impl<'c> Behavior<'c> for OfDocuments<'c> {
    fn name(self) -> &'static str {
        "ofDocuments"
    }

    fn write_argument(self, _: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }

    fn write(self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "documents({})", self.0)
    }

    fn walks(self) -> bool {
        true
    }

    fn ids<'s, E: From<Error>, W: Profiler>(self, operators: &Operators<'s, '_, E, W>) -> Result<Ids<'s>, E> {
        let index = operators.index;
        let mut ids = operators.of(self.0)?;
        if !index.has_several_entries() {
            return Ok(ids);
        }
        let mut found = EntrySet::new();
        while let Some(id) = ids.next()? {
            (operators.check_cancel)()?;
            let Some(entry) = index.entry(id)? else { continue };
            index.entries_of(entry.document())?.into_iter().for_each(|entry| _ = found.insert(entry));
        }
        Ok(set(found))
    }

    /// Where documents have one entry each, it is the condition itself.
    fn node<'s, E: From<Error>>(self, builder: &Builder<'s, '_, E>, part: ScoredCondition<'_>) -> Result<Node<'s>, E> {
        match builder.index.has_several_entries() {
            true => builder.constant(part, 1.0),
            false => self.0.node(builder, part.boost, part.is_known),
        }
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> Result<(), E> {
        gatherer.condition(self.0)
    }
}
