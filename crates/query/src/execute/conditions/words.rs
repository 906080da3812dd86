//! Entries whose words fit to a text: `search`, `fuzzy`, `proximity`, `lucene`. `execute/text/` finds them.

use super::super::condition::{Ids, Operators, Profiler};
use super::super::highlight::Gatherer;
use super::super::score::{Builder, Node, ScoredCondition};
use super::super::text::{self, TextCompiler};
use super::Behavior;
use crate::index::Error;
use crate::plan::{FieldUse, TextQuery};
use std::fmt;

/// Entries whose words in a field fit.
#[derive(Clone, Copy)]
pub(super) struct Words<'c>(pub &'c FieldUse, pub &'c TextQuery);

impl<'c> Behavior<'c> for Words<'c> {
    fn name(self) -> &'static str {
        match self.1 {
            TextQuery::Search { .. } => "search",
            TextQuery::Fuzzy { .. } => "fuzzy",
            TextQuery::Proximity { .. } => "proximity",
            TextQuery::Lucene { .. } => "lucene",
        }
    }

    fn field(self) -> Option<&'c FieldUse> {
        Some(self.0)
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}", self.1)
    }

    fn walks(self) -> bool {
        true
    }

    fn ids<'s, E: From<Error>, W: Profiler>(self, operators: &Operators<'s, '_, E, W>) -> Result<Ids<'s>, E> {
        let Operators { index, fields, check_cancel, .. } = operators;
        let matcher = TextCompiler { index, fields: *fields, check_cancel: *check_cancel }.compile(self.0, self.1)?;
        text::ids(operators.index, &matcher, operators.check_cancel)
    }

    fn node<'s, E: From<Error>>(self, builder: &Builder<'s, '_, E>, part: ScoredCondition<'_>) -> Result<Node<'s>, E> {
        let Builder { index, fields, check_cancel, .. } = builder;
        let matcher = TextCompiler { index, fields: *fields, check_cancel: *check_cancel }.compile(self.0, self.1)?;
        builder.of_matcher(&matcher, part.boost, part.is_known)
    }

    fn mark<E: From<Error>>(self, gatherer: &mut Gatherer<'_, '_, E>) -> Result<(), E> {
        let matcher = gatherer.compiler().compile(self.0, self.1)?;
        gatherer.matcher(&matcher);
        Ok(())
    }
}
