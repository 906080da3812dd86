//! Well-known text: `POLYGON((0 40, 20 40, 20 55, 0 55, 0 40))`, and an extension of the reference: `CIRCLE(x y d=radius)`,
//! `ENVELOPE(min x, max x, max y, min y)`, and a bare `x y`, `y, x` or
//! `min x, min y, max x, max y` with spaces between.
//!
//! Words are known in any case. Third and fourth coordinates are read and left out. Collections may stand in collections, without
//! recursion: their parts are what counts.

use super::shape::{Geometry, Position, Rect, ShapePart};
use crate::limits::SHAPE_POSITIONS_MAX;

/// Reads a shape. `None`: it is none.
pub fn parse(text: &str) -> Option<Geometry> {
    let mut reader = Reader { rest: text.trim(), count: 0 };
    let geometry = match reader.rest.bytes().next()? {
        b'+' | b'-' | b'.' | b'0'..=b'9' => reader.bare()?,
        _ => reader.geometry()?,
    };
    reader.is_at_end().then_some(geometry)
}

struct Reader<'t> {
    rest: &'t str,
    /// Positions so far.
    count: usize,
}

impl<'t> Reader<'t> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn is_at_end(&mut self) -> bool {
        self.skip();
        self.rest.is_empty()
    }

    fn take(&mut self, sign: char) -> Option<()> {
        self.skip();
        self.rest = self.rest.strip_prefix(sign)?;
        Some(())
    }

    /// A word, in capitals; empty if there is none.
    fn word(&mut self) -> String {
        self.skip();
        let end = self.rest.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_ascii_uppercase()
    }

    fn number(&mut self) -> Option<f64> {
        self.skip();
        let is_part = |character: char| character.is_ascii_digit() || matches!(character, '+' | '-' | '.' | 'e' | 'E');
        let end = self.rest.find(|character| !is_part(character)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        number.parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn position(&mut self) -> Option<Position> {
        let at = Position { x: self.number()?, y: self.number()? };
        for _ in 0..2 {
            self.skip();
            if self.rest.starts_with([',', ')']) || self.rest.is_empty() {
                break;
            }
            self.number()?;
        }
        self.count += 1;
        (self.count <= SHAPE_POSITIONS_MAX).then_some(at)
    }

    /// What stands between parentheses, with commas between.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.take('(')?;
        let mut items = vec![item(self)?];
        while self.take(',').is_some() {
            items.push(item(self)?);
        }
        self.take(')')?;
        Some(items)
    }

    fn positions(&mut self) -> Option<Vec<Position>> {
        self.list(Self::position)
    }

    fn polygon(&mut self) -> Option<ShapePart> {
        let rings = self.list(Self::positions)?;
        let is_ring = |ring: &Vec<Position>| ring.len() >= 4 && ring.first() == ring.last();
        rings.iter().all(is_ring).then_some(ShapePart::Polygon(rings))
    }

    /// Whether the shape of a word is empty; words of dimensions are passed over.
    fn is_empty(&mut self) -> bool {
        loop {
            let before = self.rest;
            match self.word().as_str() {
                "Z" | "M" | "ZM" => {}
                "EMPTY" => return true,
                _ => {
                    self.rest = before;
                    return false;
                }
            }
        }
    }

    fn geometry(&mut self) -> Option<Geometry> {
        let mut parts = Vec::new();
        // Collections that are open.
        let mut depth = 0usize;
        loop {
            let word = self.word();
            let is_empty = self.is_empty();
            match word.as_str() {
                "GEOMETRYCOLLECTION" if !is_empty => {
                    self.take('(')?;
                    depth += 1;
                    continue;
                }
                "GEOMETRYCOLLECTION" | "POINT" | "MULTIPOINT" | "LINESTRING" | "MULTILINESTRING" | "POLYGON"
                | "MULTIPOLYGON"
                    if is_empty => {}
                word => self.parts(word, &mut parts)?,
            }
            while depth > 0 && self.take(')').is_some() {
                depth -= 1;
            }
            if depth == 0 {
                return Some(Geometry { parts });
            }
            self.take(',')?;
        }
    }

    fn parts(&mut self, word: &str, parts: &mut Vec<ShapePart>) -> Option<()> {
        match word {
            "POINT" => match self.positions()?.as_slice() {
                [only] => parts.push(ShapePart::Point(*only)),
                _ => return None,
            },
            "MULTIPOINT" => {
                let point = |reader: &mut Self| {
                    let is_wrapped = reader.take('(').is_some();
                    let at = reader.position()?;
                    if is_wrapped {
                        reader.take(')')?;
                    }
                    Some(ShapePart::Point(at))
                };
                parts.extend(self.list(point)?);
            }
            "LINESTRING" => parts.push(ShapePart::Line(self.positions()?)),
            "MULTILINESTRING" => parts.extend(self.list(Self::positions)?.into_iter().map(ShapePart::Line)),
            "POLYGON" => parts.push(self.polygon()?),
            "MULTIPOLYGON" => parts.extend(self.list(Self::polygon)?),
            "CIRCLE" => parts.push(self.circle()?),
            "ENVELOPE" => parts.push(self.envelope()?),
            _ => return None,
        }
        Some(())
    }

    /// `(x y d=radius)`
    fn circle(&mut self) -> Option<ShapePart> {
        self.take('(')?;
        let x = self.number()?;
        let _ = self.take(',');
        let center = Position { x, y: self.number()? };
        if !matches!(self.word().as_str(), "D" | "DISTANCE") {
            return None;
        }
        self.take('=')?;
        let radius = self.number()?;
        self.take(')')?;
        Some(ShapePart::Circle { center, radius })
    }

    /// `(min x, max x, max y, min y)`; it goes over the date line where the first is greater than the second.
    fn envelope(&mut self) -> Option<ShapePart> {
        let sides = self.list(Self::number)?;
        let [min_x, max_x, max_y, min_y] = sides.as_slice().try_into().ok()?;
        rectangle([min_x, max_x, min_y, max_y])
    }

    fn bare(&mut self) -> Option<Geometry> {
        let first = self.number()?;
        let is_swapped = self.take(',').is_some();
        let second = self.number()?;
        if !is_swapped && !self.is_at_end() {
            let (max_x, max_y) = (self.number()?, self.number()?);
            return Some(Geometry { parts: vec![rectangle([first, max_x, second, max_y])?] });
        }
        Some(if is_swapped { Geometry::point(second, first) } else { Geometry::point(first, second) })
    }
}

/// * `sides`: the first and the last x, then the least and the greatest y.
fn rectangle(sides: [f64; 4]) -> Option<ShapePart> {
    let [min_x, max_x, min_y, max_y] = sides;
    if min_y > max_y {
        return None;
    }
    let [a, b, c, d] = Rect::new(sides).corners();
    // A side of more than half the earth has a position within, or it would be taken for the short way around.
    let is_wide = max_x - min_x > 180.0;
    let middle = |y: f64| Position { x: (min_x + max_x) / 2.0, y };
    let ring = if is_wide { vec![a, middle(min_y), b, c, middle(max_y), d, a] } else { vec![a, b, c, d, a] };
    Some(ShapePart::Polygon(vec![ring]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shapes_are_read() {
        let count = |text: &str| parse(text).map(|geometry| geometry.parts.len());
        for (text, parts) in [
            ("POINT(1 2)", 1),
            (" point z ( 1 2 3 ) ", 1),
            ("POINT EMPTY", 0),
            ("MULTIPOINT(1 2, 3 4)", 2),
            ("MULTIPOINT((1 2),(3 4))", 2),
            ("LINESTRING(0 0, 1 1)", 1),
            ("MULTILINESTRING((0 0,1 1),(2 2,3 3))", 2),
            ("POLYGON((0 40, 20 40, 20 55, 0 55, 0 40),(1 41,2 41,2 42,1 41))", 1),
            ("MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))", 2),
            ("GEOMETRYCOLLECTION(POINT(1 2),GEOMETRYCOLLECTION(POINT(3 4),POINT EMPTY),LINESTRING(0 0,1 1))", 3),
            ("Circle(13.405 52.52 d=1000)", 1),
            ("ENVELOPE(170,-170,0,-40)", 1),
            ("13.405 52.52", 1),
            ("52.52,13.405", 1),
            ("2 2 4 4", 1),
        ] {
            assert_eq!(count(text), Some(parts), "{text}");
        }
        assert_eq!(parse("52.52,13.405"), parse("POINT(13.405 52.52)"));
    }

    /// As the reference refuses them.
    #[test]
    fn what_is_no_shape_is_none() {
        for text in [
            "",
            "nonsense",
            "POINT(1",
            "POINT(1 2",
            "POINT(NaN 1)",
            "POINT(1e999 1)",
            "POLYGON((0 40, 20 40, 20 55, 0 55))",
            "POLYGON((0 0, 1 1))",
            "SRID=4326;POINT(1 2)",
            "POINT(1 2) x",
            "GEOMETRYCOLLECTION(",
            "ENVELOPE(0,1,0,1)",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"GEOMETRYCOLLECTION(".repeat(100_000)), None);
        assert_eq!(parse(&format!("LINESTRING({})", "1 1,".repeat(200_000))), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_shape_or_none(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "POINT", "POLYGON", "CIRCLE", "ENVELOPE", "GEOMETRYCOLLECTION", "EMPTY", "(", ")", ",", " ", "1", "-2e300", "d=", "ä",
                ]),
                0..24,
            )
        ) {
            if let Some(geometry) = parse(&words.concat()) {
                let _ = super::super::Shape::new(geometry, &super::super::Space::Geography, 1.0);
            }
        }
    }
}
