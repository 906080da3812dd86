//! Entries that are like another one: `moreLikeThis`. `execute/text/like_this.rs` chooses the words.

use super::super::condition::{Ids, Operators, Profiler};
use super::super::highlight::Gatherer;
use super::super::score::{Builder, Node, ScoredCondition};
use super::super::text::{self, TextCompiler};
use super::Behavior;
use crate::index::Error;
use crate::plan::MoreLikeThis;
use std::fmt;

/// Entries that are like another one.
#[derive(Clone, Copy)]
pub(super) struct Like<'c>(pub &'c MoreLikeThis);

impl<'c> Behavior<'c> for Like<'c> {
    fn name(self) -> &'static str {
        "moreLikeThis"
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        match &self.0.fields {
            Some(names) => f.write_str(&names.join(", ")),
            None => Ok(()),
        }
    }

    fn walks(self) -> bool {
        true
    }

    fn ids<'s, E: From<Error>, W: Profiler>(self, operators: &Operators<'s, '_, E, W>) -> Result<Ids<'s>, E> {
        let Operators { index, fields, check_cancel, .. } = operators;
        let matcher = TextCompiler { index, fields: *fields, check_cancel: *check_cancel }.compile_likeness(self.0)?;
        text::ids(operators.index, &matcher, operators.check_cancel)
    }

    fn node<'s, E: From<Error>>(self, builder: &Builder<'s, '_, E>, part: ScoredCondition<'_>) -> Result<Node<'s>, E> {
        let Builder { index, fields, check_cancel, .. } = builder;
        let matcher = TextCompiler { index, fields: *fields, check_cancel: *check_cancel }.compile_likeness(self.0)?;
        builder.of_matcher(&matcher, part.boost, part.is_known)
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> Result<(), E> {
        let matcher = gatherer.compiler().compile_likeness(self.0)?;
        gatherer.matcher(&matcher);
        Ok(())
    }
}
