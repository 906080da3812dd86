//! Entries with a shape that lies so to one. `execute/spatial.rs` finds them.

use super::super::condition::{Ids, Operators, Profiler, set};
use super::super::spatial;
use super::Behavior;
use crate::index::Error;
use crate::plan::{FieldUse, SpatialQuery};
use crate::spatial::Operation;
use std::fmt;

/// Entries with a shape that lies so to one.
#[derive(Clone, Copy)]
pub(super) struct Spatial<'c>(pub &'c FieldUse, pub &'c SpatialQuery);

impl<'c> Behavior<'c> for Spatial<'c> {
    fn name(self) -> &'static str {
        "spatial"
    }

    fn field(self) -> Option<&'c FieldUse> {
        Some(self.0)
    }

    fn write_argument(self, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str(match self.1.operation {
            Operation::Within => "within",
            Operation::Contains => "contains",
            Operation::Intersects => "intersects",
            Operation::Disjoint => "disjoint",
        })
    }

    fn walks(self) -> bool {
        true
    }

    fn ids<'s, E: From<Error>, W: Profiler>(self, operators: &Operators<'s, '_, E, W>) -> Result<Ids<'s>, E> {
        Ok(set(spatial::entries(operators.index, operators.fields, self.0, self.1, operators.check_cancel)?))
    }
}
