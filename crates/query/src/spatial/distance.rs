//! How far two positions on the earth are from each other.

use super::options::Units;
use super::shape::Position;
use super::space::Space;

/// The radius by which circles are measured, as in the reference.
pub(super) const EARTH_MEAN_RADIUS_KM: f64 = 6371.0087714;

/// Kilometres of a mile.
pub(super) const KILOMETERS_PER_MILE: f64 = 1.609344;

/// The same in what `spatial.distance` gives, as in the reference.
const SORTED_KILOMETERS_PER_MILE: f64 = 1.609_344_000_614_692;

/// Miles of one degree of a great circle in what `spatial.distance` gives: the reference has another radius there than for circles
/// (60 nautical miles of 1.1515 miles each).
const SORTED_MILES_PER_DEGREE: f64 = 60.0 * 1.1515;

/// The angle between two positions as seen from the middle of the earth, in radians: the haversine, which is exact for near
/// positions where the cosine of the angle is not.
pub(super) fn angle(one: Position, other: Position) -> f64 {
    let (low, high) = (one.y.to_radians(), other.y.to_radians());
    let across = ((other.x - one.x).to_radians() / 2.0).sin();
    let along = ((high - low) / 2.0).sin();
    let half = along * along + low.cos() * high.cos() * across * across;
    2.0 * half.sqrt().min(1.0).asin()
}

impl Space {
    /// The distance that results are sorted by and come with; in a plane units say nothing.
    pub fn sorted_distance(&self, one: Position, other: Position, units: Units) -> f64 {
        match self {
            Space::Cartesian(_) => self.distance(one, other),
            Space::Geography => {
                let miles = angle(one, other).to_degrees() * SORTED_MILES_PER_DEGREE;
                match units {
                    Units::Kilometers => miles * SORTED_KILOMETERS_PER_MILE,
                    Units::Miles => miles,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference gives them.
    #[test]
    fn distances_are_those_of_the_reference() {
        let berlin = Position { x: 13.405, y: 52.52 };
        for (x, y, km) in [
            (2.3522, 48.8566, 877.4211107294784),
            (151.2093, -33.8688, 16093.725635844774),
            (0.0, 90.0, 4167.3853460525415),
            (-178.0, -17.7, 16016.575526831337),
            (13.405, 52.52, 0.0),
        ] {
            let found = Space::Geography.sorted_distance(berlin, Position { x, y }, Units::Kilometers);
            assert!((found - km).abs() <= km * 1e-12, "{found} {km}");
        }
        let miles = Space::Geography.sorted_distance(berlin, Position { x: 2.3522, y: 48.8566 }, Units::Miles);
        assert!((miles - 545.20420145994).abs() < 1e-9);
    }
}
