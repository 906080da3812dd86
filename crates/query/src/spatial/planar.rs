//! Segments, rectangles and rings in a plane. Degrees are a plane too, which repeats itself every 360 of them.

use super::shape::{Position, Rect, ShapePart};
use super::space::Space;

/// By how much one rectangle has to be moved along x to meet another: on the earth perhaps by a whole turn.
pub(super) fn shifts<'r>(space: &Space, moved: &'r Rect, fixed: &'r Rect) -> impl Iterator<Item = f64> + use<'r> {
    let turns: &'static [f64] = match space {
        Space::Geography => &[0.0, 360.0, -360.0],
        Space::Cartesian(_) => &[0.0],
    };
    turns.iter().copied().filter(|turn| moved.meets(fixed, *turn))
}

/// Two ends.
pub(super) type Segment = (Position, Position);

/// Calls `each` with the segments of a part, moved along x, until it gives true. A point is a segment with equal ends; a circle has
/// none.
pub(super) fn any_segment(part: &ShapePart, moved: f64, each: &mut dyn FnMut(Segment) -> bool) -> bool {
    let at = |at: &Position| Position { x: at.x + moved, y: at.y };
    let mut of_line = |line: &[Position]| match line {
        [only] => each((at(only), at(only))),
        line => line.windows(2).any(|ends| each((at(&ends[0]), at(&ends[1])))),
    };
    match part {
        ShapePart::Circle { .. } => false,
        ShapePart::Point(only) => of_line(&[*only]),
        ShapePart::Line(line) => of_line(line),
        ShapePart::Polygon(rings) => rings.iter().any(|ring| of_line(ring)),
    }
}

/// On which side of a line a position is: positive to its left, 0 on it.
fn side((from, to): Segment, at: Position) -> f64 {
    (to.x - from.x) * (at.y - from.y) - (to.y - from.y) * (at.x - from.x)
}

pub(super) fn around((one, other): Segment) -> Rect {
    Rect::new([one.x.min(other.x), one.x.max(other.x), one.y.min(other.y), one.y.max(other.y)])
}

/// Whether a position is on a segment.
pub(super) fn is_on(segment: Segment, at: Position) -> bool {
    around(segment).has(at) && side(segment, at) == 0.0
}

/// Whether two segments have a position in common.
pub(super) fn meet(one: Segment, other: Segment) -> bool {
    if !around(one).meets(&around(other), 0.0) {
        return false;
    }
    let (a, b) = (side(one, other.0), side(one, other.1));
    let (c, d) = (side(other, one.0), side(other, one.1));
    // Where all four are 0 they lie on one line, and their bounds meet.
    !((a > 0.0 && b > 0.0) || (a < 0.0 && b < 0.0) || (c > 0.0 && d > 0.0) || (c < 0.0 && d < 0.0))
}

/// Whether two segments go through each other, and do not only touch.
pub(super) fn cross(one: Segment, other: Segment) -> bool {
    let opposite = |a: f64, b: f64| (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0);
    opposite(side(one, other.0), side(one, other.1)) && opposite(side(other, one.0), side(other, one.1))
}

/// Whether a segment has a position in common with a rectangle.
pub(super) fn meets_rect(segment: Segment, rect: &Rect) -> bool {
    if !around(segment).meets(rect, 0.0) {
        return false;
    }
    // Its line has all corners on one side, or goes through the rectangle.
    let sides = rect.corners().map(|corner| side(segment, corner));
    !(sides.iter().all(|side| *side > 0.0) || sides.iter().all(|side| *side < 0.0))
}

/// Where a position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Inside,
    Border,
    Outside,
}

/// Where a position is to what an odd number of rings encloses.
pub(super) fn place(rings: &[Vec<Position>], at: Position) -> Side {
    let mut is_inside = false;
    for ends in rings.iter().flat_map(|ring| ring.windows(2)) {
        let (from, to) = (ends[0], ends[1]);
        if is_on((from, to), at) {
            return Side::Border;
        }
        // It is crossed by what goes from the position to the right.
        if (from.y > at.y) != (to.y > at.y) {
            let is_left = side((from, to), at) > 0.0;
            is_inside ^= is_left == (to.y > from.y);
        }
    }
    if is_inside { Side::Inside } else { Side::Outside }
}

/// The part of a segment that is nearest to a position: 0 its begin, 1 its end.
///
/// * `stretch`: how long a step along x is, in steps along y.
pub(super) fn nearest((from, to): Segment, at: Position, stretch: f64) -> f64 {
    let (x, y) = ((to.x - from.x) * stretch, to.y - from.y);
    let length = x * x + y * y;
    if length == 0.0 {
        return 0.0;
    }
    (((at.x - from.x) * stretch * x + (at.y - from.y) * y) / length).clamp(0.0, 1.0)
}

/// A position on a segment: 0 its begin, 1 its end.
pub(super) fn along((from, to): Segment, part: f64) -> Position {
    Position { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}
