//! How shapes lie to each other, and to the rectangles of cells. Borders belong to shapes.
//!
//! Segments of lines and polygons are compared in the plane of degrees. Circles are those of the earth: how near a segment comes to their
//! middle is looked for piece by piece, each so short that the earth under it may be taken for flat.

use super::distance::EARTH_MEAN_RADIUS_KM;
use super::planar::{self, Segment, Side, along, any_segment, shifts};
use super::shape::{Placed, Position, Rect, Shape, ShapePart};
use super::space::Space;

/// What is asked of a shape of an index and one of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// All of the index's is in that of the query.
    Within,
    /// All of the query's is in that of the index.
    Contains,
    /// Both have a position in common.
    Intersects,
    /// They have none in common.
    Disjoint,
}

/// How a rectangle lies to a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lie {
    /// All of it is in the shape.
    Inside,
    /// They have something in common, or it is not known that they have nothing.
    Meeting,
    Outside,
}

/// Degrees up to which a piece of a segment may be taken for flat.
const PIECE_DEGREES: f64 = 1.0;

impl Operation {
    /// Whether it holds.
    pub fn holds(self, indexed: &Shape, asked: &Shape, space: &Space) -> bool {
        match self {
            Operation::Within => within(indexed, asked, space),
            Operation::Contains => within(asked, indexed, space),
            Operation::Intersects => intersect(indexed, asked, space),
            Operation::Disjoint => !intersect(indexed, asked, space),
        }
    }
}

fn intersect(one: &Shape, other: &Shape, space: &Space) -> bool {
    one.parts.iter().any(|one| other.parts.iter().any(|other| parts_intersect(one, other, space)))
}

/// Each part has to lie in one part; what several only have together counts as outside.
fn within(inner: &Shape, outer: &Shape, space: &Space) -> bool {
    !inner.is_empty()
        && inner.parts.iter().all(|inner| outer.parts.iter().any(|outer| part_within(inner, outer, space)))
}

fn parts_intersect(one: &Placed, other: &Placed, space: &Space) -> bool {
    match (&one.part, &other.part) {
        (ShapePart::Circle { center, radius }, ShapePart::Circle { center: middle, radius: more }) => {
            space.distance(*center, *middle) <= radius + more
        }
        (ShapePart::Circle { center, radius }, _) => nearest_and_farthest(other, *center, space).0 <= *radius,
        (_, ShapePart::Circle { center, radius }) => nearest_and_farthest(one, *center, space).0 <= *radius,
        _ => shifts(space, &one.bounds, &other.bounds).any(|moved| {
            let meets_other = |segment: Segment| {
                planar::around(segment).meets(&other.bounds, 0.0)
                    && any_segment(&other.part, 0.0, &mut |fixed| planar::meet(segment, fixed))
            };
            any_segment(&one.part, moved, &mut { meets_other })
                || encloses_first(&other.part, &one.part, moved)
                || encloses_first(&one.part, &other.part, -moved)
        }),
    }
}

/// Whether a polygon has the first position of another part, which was moved along x.
fn encloses_first(polygon: &ShapePart, part: &ShapePart, moved: f64) -> bool {
    let ShapePart::Polygon(rings) = polygon else { return false };
    let first = match part {
        ShapePart::Point(at) => Some(*at),
        ShapePart::Circle { center, .. } => Some(*center),
        ShapePart::Line(line) => line.first().copied(),
        ShapePart::Polygon(rings) => rings.first().and_then(|ring| ring.first()).copied(),
    };
    let first = first.map(|at| Position { x: at.x + moved, y: at.y });
    first.is_some_and(|at| planar::place(rings, at) != Side::Outside)
}

fn part_within(inner: &Placed, outer: &Placed, space: &Space) -> bool {
    match (&inner.part, &outer.part) {
        (ShapePart::Circle { center, radius }, ShapePart::Circle { center: middle, radius: more }) => {
            space.distance(*center, *middle) + radius <= *more
        }
        (_, ShapePart::Circle { center, radius }) => nearest_and_farthest(inner, *center, space).1 <= *radius,
        (ShapePart::Circle { center, radius }, ShapePart::Polygon(_)) => {
            has(outer, *center, space) && nearest_border(outer, *center, space) >= *radius
        }
        (ShapePart::Circle { center, radius }, _) => *radius == 0.0 && has(outer, *center, space),
        (_, ShapePart::Polygon(rings)) => {
            shifts(space, &inner.bounds, &outer.bounds).any(|moved| is_in_polygon(inner, moved, outer, rings))
        }
        _ => shifts(space, &inner.bounds, &outer.bounds).any(|moved| {
            !any_segment(&inner.part, moved, &mut |segment| {
                let (from, to) = segment;
                [from, along(segment, 0.5), to]
                    .into_iter()
                    .any(|at| !any_segment(&outer.part, 0.0, &mut |outer| planar::is_on(outer, at)))
            })
        }),
    }
}

/// Whether a part, moved along x, is in a polygon: no end of a segment is outside, none goes through the border, and no border lies
/// within it.
fn is_in_polygon(inner: &Placed, moved: f64, outer: &Placed, rings: &[Vec<Position>]) -> bool {
    let is_out = any_segment(&inner.part, moved, &mut |segment| {
        [segment.0, segment.1, along(segment, 0.5)].into_iter().any(|at| planar::place(rings, at) == Side::Outside)
            || any_segment(&outer.part, 0.0, &mut |border| planar::cross(segment, border))
    });
    let has_hole = || match &inner.part {
        ShapePart::Polygon(own) => rings
            .iter()
            .filter_map(|ring| ring.first())
            .any(|first| planar::place(own, Position { x: first.x - moved, y: first.y }) == Side::Inside),
        _ => false,
    };
    !is_out && !has_hole()
}

/// Whether a part has a position.
fn has(placed: &Placed, at: Position, space: &Space) -> bool {
    let point = Rect { min: at, max: at };
    shifts(space, &point, &placed.bounds).any(|moved| {
        let at = Position { x: at.x + moved, y: at.y };
        match &placed.part {
            ShapePart::Polygon(rings) => planar::place(rings, at) != Side::Outside,
            part => any_segment(part, 0.0, &mut |segment| planar::is_on(segment, at)),
        }
    })
}

/// How near and how far from a position the positions of a part are, in the unit of the space. The part is no circle.
fn nearest_and_farthest(placed: &Placed, at: Position, space: &Space) -> (f64, f64) {
    let (mut near, mut far) = (f64::INFINITY, 0.0f64);
    any_segment(&placed.part, 0.0, &mut |segment| {
        let (nearest, farthest) = of_segment(segment, at, space);
        near = near.min(nearest);
        far = far.max(farthest);
        false
    });
    if let ShapePart::Polygon(_) = placed.part {
        if has(placed, at, space) {
            near = 0.0;
        }
        if let Space::Geography = space
            && has(placed, opposite(at), space)
        {
            far = std::f64::consts::PI * EARTH_MEAN_RADIUS_KM;
        }
    }
    (near, far)
}

/// The other side of the earth.
fn opposite(at: Position) -> Position {
    Position { x: if at.x > 0.0 { at.x - 180.0 } else { at.x + 180.0 }, y: -at.y }
}

fn nearest_border(placed: &Placed, at: Position, space: &Space) -> f64 {
    let mut near = f64::INFINITY;
    any_segment(&placed.part, 0.0, &mut |segment| {
        near = near.min(of_segment(segment, at, space).0);
        false
    });
    near
}

/// The least and the greatest distance of a segment from a position.
fn of_segment(segment: Segment, at: Position, space: &Space) -> (f64, f64) {
    let (from, to) = segment;
    let Space::Geography = space else {
        let nearest = along(segment, planar::nearest(segment, at, 1.0));
        return (space.distance(nearest, at), space.distance(from, at).max(space.distance(to, at)));
    };
    let pieces = ((to.x - from.x).abs().max((to.y - from.y).abs()) / PIECE_DEGREES).ceil().max(1.0);
    let (mut near, mut far) = (f64::INFINITY, space.distance(from, at));
    let mut start = from;
    for number in 1..=pieces as u32 {
        let end = along(segment, f64::from(number) / pieces);
        let piece = (start, end);
        let middle = along(piece, 0.5);
        // The turn of the earth that is nearest to the piece.
        let at = Position { x: at.x + ((middle.x - at.x) / 360.0).round() * 360.0, y: at.y };
        let nearest = along(piece, planar::nearest(piece, at, middle.y.to_radians().cos()));
        near = near.min(space.distance(nearest, at));
        far = far.max(space.distance(end, at));
        start = end;
    }
    (near, far)
}

/// By how much, at most, [`of_segment`] may be wrong for the sides of a rectangle.
fn slack(rect: &Rect, space: &Space) -> f64 {
    let Space::Geography = space else { return 0.0 };
    let side = (rect.max.x - rect.min.x).max(rect.max.y - rect.min.y);
    let piece = side.min(PIECE_DEGREES).to_radians();
    EARTH_MEAN_RADIUS_KM * piece * piece / 4.0 + 1e-9
}

/// How a rectangle within the bounds of the space lies to a shape.
pub(super) fn lie(rect: &Rect, shape: &Shape, space: &Space) -> Lie {
    let mut lie = Lie::Outside;
    for placed in &shape.parts {
        match lie_to_part(rect, placed, space) {
            Lie::Inside => return Lie::Inside,
            Lie::Meeting => lie = Lie::Meeting,
            Lie::Outside => {}
        }
    }
    lie
}

fn lie_to_part(rect: &Rect, placed: &Placed, space: &Space) -> Lie {
    let mut lie = Lie::Outside;
    for moved in shifts(space, rect, &placed.bounds) {
        let (corner, far) = (rect.min, rect.max);
        let rect =
            Rect { min: Position { x: corner.x + moved, y: corner.y }, max: Position { x: far.x + moved, y: far.y } };
        match &placed.part {
            ShapePart::Circle { center, radius } => {
                return lie_to_circle(&rect, *center, *radius, &placed.bounds, space);
            }
            part => {
                if any_segment(part, 0.0, &mut |segment| planar::meets_rect(segment, &rect)) {
                    lie = Lie::Meeting;
                } else if let ShapePart::Polygon(rings) = part
                    && planar::place(rings, rect.min) == Side::Inside
                {
                    return Lie::Inside;
                }
            }
        }
    }
    lie
}

fn lie_to_circle(rect: &Rect, center: Position, radius: f64, bounds: &Rect, space: &Space) -> Lie {
    let is_larger =
        rect.max.x - rect.min.x > bounds.max.x - bounds.min.x || rect.max.y - rect.min.y > bounds.max.y - bounds.min.y;
    if is_larger {
        return Lie::Meeting;
    }
    let placed = Placed { part: ShapePart::Polygon(vec![rect.ring()]), bounds: *rect };
    let (near, far) = nearest_and_farthest(&placed, center, space);
    let slack = slack(rect, space);
    match (near - slack <= radius, far + slack <= radius) {
        (_, true) => Lie::Inside,
        (true, _) => Lie::Meeting,
        _ => Lie::Outside,
    }
}
