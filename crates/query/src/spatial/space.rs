//! Where shapes lie: on the earth, or in a plane with bounds.

use super::distance::{EARTH_MEAN_RADIUS_KM, angle};
use super::shape::{Position, Rect, ShapeError};

/// Where shapes lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Space {
    /// The earth: x is the longitude, y the latitude, in degrees; lengths are kilometres.
    Geography,
    /// A plane with these bounds; lengths are in the unit of its coordinates.
    Cartesian(Rect),
}

impl Space {
    /// What has all positions.
    pub fn bounds(&self) -> Rect {
        match self {
            Space::Geography => Rect::new([-180.0, 180.0, -90.0, 90.0]),
            Space::Cartesian(bounds) => *bounds,
        }
    }

    /// How far two positions are from each other, as circles mean it.
    pub fn distance(&self, one: Position, other: Position) -> f64 {
        match self {
            Space::Geography => angle(one, other) * EARTH_MEAN_RADIUS_KM,
            Space::Cartesian(_) => (one.x - other.x).hypot(one.y - other.y),
        }
    }

    /// The position, if it is in the bounds.
    ///
    /// # Errors
    ///
    /// [`ShapeError`], in the words of the reference.
    pub(super) fn check(&self, at: Position) -> Result<Position, ShapeError> {
        let Rect { min, max } = self.bounds();
        let check = |axis: &str, value: f64, low: f64, high: f64| match (low..=high).contains(&value) {
            true => Ok(()),
            false => Err(ShapeError(format!(
                "Bad {axis} value {value} is not in boundary Rect(minX={},maxX={},minY={},maxY={})",
                min.x, max.x, min.y, max.y
            ))),
        };
        check("X", at.x, min.x, max.x)?;
        check("Y", at.y, min.y, max.y)?;
        Ok(at)
    }

    /// Positions of a line, checked. On the earth a jump by more than 180 degrees goes the short way, over the date line.
    pub(super) fn in_one_piece(&self, mut line: Vec<Position>) -> Result<Vec<Position>, ShapeError> {
        let mut moved = 0.0;
        let mut before: Option<f64> = None;
        for at in &mut line {
            let x = self.check(*at)?.x;
            if let (Space::Geography, Some(before)) = (self, before) {
                if x - before > 180.0 {
                    moved -= 360.0;
                } else if before - x > 180.0 {
                    moved += 360.0;
                }
            }
            before = Some(x);
            at.x = x + moved;
        }
        Ok(line)
    }

    /// What a circle lies in. On the earth one that has a pole has all longitudes.
    pub(super) fn around_circle(&self, center: Position, radius: f64) -> Rect {
        let Position { x, y } = center;
        let Space::Geography = self else {
            return Rect::new([x - radius, x + radius, y - radius, y + radius]);
        };
        let angle = radius / EARTH_MEAN_RADIUS_KM;
        // Not less than it is, whatever was rounded.
        let (height, slack) = (angle.to_degrees(), 1e-9);
        let (low, high) = (y - height - slack, y + height + slack);
        if low <= -90.0 || high >= 90.0 {
            return Rect::new([-180.0, 180.0, low.max(-90.0), high.min(90.0)]);
        }
        let width = (angle.sin() / y.to_radians().cos()).min(1.0).asin().to_degrees() + slack;
        Rect::new([x - width, x + width, low, high])
    }
}
