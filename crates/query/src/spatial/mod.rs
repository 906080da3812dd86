//! Places and shapes: what they are, how they lie to each other, and the cells that they are found by.
//!
//! [`Geometry`] is what somebody wrote ([`wkt`]); a [`Shape`] is that in a [`Space`], checked and with its lengths in the space's
//! unit. An index keeps the cells of a shape as terms ([`cells`]) and its coordinates beside them; a query covers what it looks for
//! with cells, and compares the coordinates of what lies on their border ([`relation`]). `docs/design/spatial.md` tells why it is so.

mod cells;
mod distance;
mod options;
mod planar;
mod relation;
mod shape;
mod space;
mod wkt;

pub use cells::{CodeRange, Grid};
pub use options::{SpatialOptions, Strategy, Units, geometry_of_text};
pub use relation::Operation;
pub use shape::{Geometry, Position, Rect, Shape, ShapeError, ShapePart};
pub use space::Space;
