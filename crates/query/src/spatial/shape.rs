//! Shapes: points, circles, lines and polygons, as they are given and as they lie in a space.
//!
//! ```text
//!  stored:  center x, y (f64 each) | parts
//!  part:    1 | x | y                     a point
//!           2 | x | y | radius            a circle; kilometres on the earth
//!           3 | n | n positions           a line
//!           4 | rings | for each n | n positions
//! ```
//!
//! Numbers are little-endian, counts are varints. On the earth x is the longitude, y the latitude. Lines go straight in degrees, as in
//! the reference; one whose longitude jumps by more than 180 degrees goes over the date line, and its positions go on beyond ±180, so
//! that it is one piece.

use super::planar;
use super::space::Space;
use crate::limits::SHAPE_POSITIONS_MAX;
use crate::varint;

/// A position: x is the longitude, y the latitude, where the space is the earth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// East is positive.
    pub x: f64,
    /// North is positive.
    pub y: f64,
}

/// All positions between two corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// The least of both coordinates.
    pub min: Position,
    /// The greatest.
    pub max: Position,
}

impl Rect {
    /// * `sides`: the least and the greatest x, then y.
    pub fn new(sides: [f64; 4]) -> Rect {
        let [min_x, max_x, min_y, max_y] = sides;
        Rect { min: Position { x: min_x, y: min_y }, max: Position { x: max_x, y: max_y } }
    }

    /// Whether a position is in it, or on its border.
    pub fn has(&self, position: Position) -> bool {
        (self.min.x..=self.max.x).contains(&position.x) && (self.min.y..=self.max.y).contains(&position.y)
    }

    /// Whether both have a position in common, after this one was moved along x.
    pub(super) fn meets(&self, other: &Rect, moved: f64) -> bool {
        self.min.x + moved <= other.max.x
            && other.min.x <= self.max.x + moved
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y
    }

    fn around(positions: &mut dyn Iterator<Item = Position>) -> Rect {
        let none = Rect::new([f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY]);
        positions.fold(none, |rect, at| rect.and(&Rect { min: at, max: at }))
    }

    fn and(&self, other: &Rect) -> Rect {
        Rect::new([
            self.min.x.min(other.min.x),
            self.max.x.max(other.max.x),
            self.min.y.min(other.min.y),
            self.max.y.max(other.max.y),
        ])
    }

    /// Its corners, one after the other around it.
    pub(super) fn corners(&self) -> [Position; 4] {
        let Rect { min, max } = *self;
        [min, Position { x: max.x, y: min.y }, max, Position { x: min.x, y: max.y }]
    }

    /// Its border: one closed ring.
    pub(super) fn ring(&self) -> Vec<Position> {
        let [a, b, c, d] = self.corners();
        vec![a, b, c, d, a]
    }
}

/// One connected part of a shape.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapePart {
    /// A point.
    Point(Position),
    /// All that is not farther from a point than the radius.
    Circle {
        /// Its middle.
        center: Position,
        /// In a [`Geometry`] in the unit that it was written in; in a [`Shape`] in that of its space.
        radius: f64,
    },
    /// A line through these positions, at least one.
    Line(Vec<Position>),
    /// Rings, each closed and of at least four positions: what an odd number of them encloses.
    Polygon(Vec<Vec<Position>>),
}

/// Parts as the input has them; none is an empty shape.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Geometry {
    /// The parts.
    pub parts: Vec<ShapePart>,
}

impl Geometry {
    /// A point.
    pub fn point(x: f64, y: f64) -> Geometry {
        Geometry { parts: vec![ShapePart::Point(Position { x, y })] }
    }

    /// A circle, its radius in whatever unit the reader of it takes.
    pub fn circle(x: f64, y: f64, radius: f64) -> Geometry {
        Geometry { parts: vec![ShapePart::Circle { center: Position { x, y }, radius }] }
    }
}

/// Why something is no shape of a space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShapeError(pub String);

/// A part, and what it lies in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub part: ShapePart,
    pub bounds: Rect,
}

/// A shape in a space. Two positions on the earth that are the same may differ by 360 degrees of x.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub(super) parts: Vec<Placed>,
}

impl Shape {
    /// A geometry in a space.
    ///
    /// * `unit`: how long the unit of its radii is in that of the space.
    ///
    /// # Errors
    ///
    /// [`ShapeError`] if it is not within the space, or no ring closes.
    pub fn new(geometry: Geometry, space: &Space, unit: f64) -> Result<Shape, ShapeError> {
        let count = geometry.parts.iter().map(position_count).fold(0, usize::saturating_add);
        if count > SHAPE_POSITIONS_MAX {
            return Err(ShapeError(format!(
                "a shape of {count} positions exceeds the limit SHAPE_POSITIONS_MAX = {SHAPE_POSITIONS_MAX}"
            )));
        }
        let parts = geometry.parts.into_iter().map(|part| {
            let part = checked(part, space, unit)?;
            Ok(Placed { bounds: bounds(&part, space), part })
        });
        Ok(Shape { parts: parts.collect::<Result<_, ShapeError>>()? })
    }

    /// Whether there is nothing of it.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Its position, if it is one point.
    pub fn as_point(&self) -> Option<Position> {
        match self.parts.as_slice() {
            [Placed { part: ShapePart::Point(at), .. }] => Some(*at),
            _ => None,
        }
    }

    /// The middle of what it lies in: from there distances are taken.
    pub fn center(&self) -> Option<Position> {
        let bounds = self.parts.iter().map(|placed| placed.bounds).reduce(|one, other| one.and(&other))?;
        match self.parts.as_slice() {
            [Placed { part: ShapePart::Circle { center, .. }, .. }] => Some(*center),
            _ => {
                let x = (bounds.min.x + bounds.max.x) / 2.0;
                let y = (bounds.min.y + bounds.max.y) / 2.0;
                Some(Position { x: if x > 180.0 && bounds.max.x > 180.0 { x - 360.0 } else { x }, y })
            }
        }
    }

    /// The rectangles that its parts lie in; points stay what they are.
    pub fn boxed(self) -> Shape {
        let boxed = |placed: Placed| match placed.part {
            ShapePart::Point(_) => placed,
            _ => Placed { part: ShapePart::Polygon(vec![placed.bounds.ring()]), bounds: placed.bounds },
        };
        Shape { parts: self.parts.into_iter().map(boxed).collect() }
    }

    /// How many positions it has: what comparing with it costs.
    pub fn position_count(&self) -> usize {
        self.parts.iter().map(|placed| position_count(&placed.part)).sum()
    }

    /// Appends what an index keeps of it; nothing of an empty shape.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let Some(center) = self.center() else { return };
        put_position(out, center);
        for Placed { part, .. } in &self.parts {
            match part {
                ShapePart::Point(at) => {
                    out.push(POINT);
                    put_position(out, *at);
                }
                ShapePart::Circle { center, radius } => {
                    out.push(CIRCLE);
                    put_position(out, *center);
                    out.extend_from_slice(&radius.to_le_bytes());
                }
                ShapePart::Line(line) => {
                    out.push(LINE);
                    put_positions(out, line);
                }
                ShapePart::Polygon(rings) => {
                    out.push(POLYGON);
                    varint::put(out, rings.len() as u64);
                    rings.iter().for_each(|ring| put_positions(out, ring));
                }
            }
        }
    }

    /// Reads what [`Self::encode`] wrote. `None`: it is something else.
    pub fn decode(mut bytes: &[u8], space: &Space) -> Option<Shape> {
        take_position(&mut bytes)?;
        let mut parts = Vec::new();
        while let Some((kind, rest)) = bytes.split_first() {
            bytes = rest;
            let part = match *kind {
                POINT => ShapePart::Point(take_position(&mut bytes)?),
                CIRCLE => ShapePart::Circle { center: take_position(&mut bytes)?, radius: take_number(&mut bytes)? },
                LINE => ShapePart::Line(take_positions(&mut bytes)?),
                POLYGON => {
                    let count = varint::take(&mut bytes)?;
                    let mut rings = Vec::new();
                    for _ in 0..count {
                        rings.push(take_positions(&mut bytes)?);
                    }
                    ShapePart::Polygon(rings)
                }
                _ => return None,
            };
            parts.push(Placed { bounds: bounds(&part, space), part });
        }
        Some(Shape { parts })
    }

    /// The middle alone of what [`Self::encode`] wrote.
    pub fn decode_center(mut bytes: &[u8]) -> Option<Position> {
        take_position(&mut bytes)
    }
}

const POINT: u8 = 1;
const CIRCLE: u8 = 2;
const LINE: u8 = 3;
const POLYGON: u8 = 4;

fn put_position(out: &mut Vec<u8>, at: Position) {
    out.extend_from_slice(&at.x.to_le_bytes());
    out.extend_from_slice(&at.y.to_le_bytes());
}

fn put_positions(out: &mut Vec<u8>, positions: &[Position]) {
    varint::put(out, positions.len() as u64);
    positions.iter().for_each(|at| put_position(out, *at));
}

fn take_number(bytes: &mut &[u8]) -> Option<f64> {
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(f64::from_le_bytes(*number)).filter(|number| number.is_finite())
}

fn take_position(bytes: &mut &[u8]) -> Option<Position> {
    Some(Position { x: take_number(bytes)?, y: take_number(bytes)? })
}

fn take_positions(bytes: &mut &[u8]) -> Option<Vec<Position>> {
    let count = usize::try_from(varint::take(bytes)?).ok()?;
    // No more room than there are bytes for.
    if count == 0 || count > bytes.len() / 16 {
        return None;
    }
    (0..count).map(|_| take_position(bytes)).collect()
}

fn position_count(part: &ShapePart) -> usize {
    match part {
        ShapePart::Point(_) | ShapePart::Circle { .. } => 1,
        ShapePart::Line(line) => line.len(),
        ShapePart::Polygon(rings) => rings.iter().map(Vec::len).sum(),
    }
}

/// Checks a part, and brings it into the unit of the space and into one piece.
fn checked(part: ShapePart, space: &Space, unit: f64) -> Result<ShapePart, ShapeError> {
    Ok(match part {
        ShapePart::Point(at) => ShapePart::Point(space.check(at)?),
        ShapePart::Circle { center, radius } => {
            let radius = radius * unit;
            if !(radius.is_finite() && radius >= 0.0) {
                return Err(ShapeError(format!("distance must be >= 0; got {radius}")));
            }
            ShapePart::Circle { center: space.check(center)?, radius }
        }
        ShapePart::Line(line) => ShapePart::Line(space.in_one_piece(line)?),
        ShapePart::Polygon(rings) => {
            let mut checked: Vec<Vec<Position>> = Vec::with_capacity(rings.len());
            for ring in rings {
                let mut ring = space.in_one_piece(ring)?;
                if ring.len() < 4 || ring.first() != ring.last() {
                    return Err(ShapeError("the ring of a polygon must end where it begins".to_owned()));
                }
                // A hole on the other side of the date line goes to where the outer ring is.
                if let Some(outer) = checked.first() {
                    let outer = Rect::around(&mut outer.iter().copied());
                    let own = Rect::around(&mut ring.iter().copied());
                    let moved = planar::shifts(space, &own, &outer).next().unwrap_or(0.0);
                    ring.iter_mut().for_each(|at| at.x += moved);
                }
                checked.push(ring);
            }
            ShapePart::Polygon(checked)
        }
    })
}

/// What a part lies in.
fn bounds(part: &ShapePart, space: &Space) -> Rect {
    match part {
        ShapePart::Point(at) => Rect { min: *at, max: *at },
        ShapePart::Circle { center, radius } => space.around_circle(*center, *radius),
        ShapePart::Line(line) => Rect::around(&mut line.iter().copied()),
        ShapePart::Polygon(rings) => Rect::around(&mut rings.iter().flatten().copied()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_stored_comes_back() {
        for text in
            ["POINT(1 2)", "CIRCLE(13 52 d=7)", "LINESTRING(0 0, 1 1)", "POLYGON((170 0,-170 0,-170 9,170 9,170 0))"]
        {
            let shape = Shape::new(super::super::wkt::parse(text).unwrap(), &Space::Geography, 1.0).unwrap();
            let mut bytes = Vec::new();
            shape.encode(&mut bytes);
            assert_eq!(Shape::decode(&bytes, &Space::Geography).as_ref(), Some(&shape), "{text}");
            assert_eq!(Shape::decode_center(&bytes), shape.center());
        }
    }

    #[test]
    fn over_the_date_line_a_shape_is_one_piece() {
        let shape = |text: &str| Shape::new(super::super::wkt::parse(text).unwrap(), &Space::Geography, 1.0);
        let crossing = shape("POLYGON((170 0,-170 0,-170 10,170 10,170 0))").unwrap();
        assert_eq!(crossing.parts[0].bounds, Rect::new([170.0, 190.0, 0.0, 10.0]));
        assert_eq!(crossing.center(), Some(Position { x: 180.0, y: 5.0 }));
        // It goes around a pole.
        assert!(shape("POLYGON((0 80,90 80,180 80,-90 80,0 80))").is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_shape_or_none(bytes in prop::collection::vec(prop_oneof![0u8..6, any::<u8>()], 0..80)) {
            Shape::decode(&bytes, &Space::Geography);
        }
    }
}
