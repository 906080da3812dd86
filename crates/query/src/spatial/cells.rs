//! Cells: rectangles that halve the bounds of a space, first along x, then along y, and so on.
//!
//! A cell is the bits of its halves, the first ones highest. Five bits are a digit of the text that is a term, in the alphabet of
//! geohashes (Niemeyer, 2008), so that on the earth these are geohashes and texts sort as cells do. A term begins with what it is of:
//!
//! * `p`: a point, all digits of its cell. What lies in a cell is a range of terms.
//! * `s`: another shape, a cell of those that cover it, with fewer digits where it is larger. What meets a cell is in that range too,
//!   or has the cell of one of its beginnings.

use super::relation::{Lie, lie};
use super::shape::{Position, Rect, Shape};
use super::space::Space;
use crate::limits::{CELLS_OF_QUERY_MAX, CELLS_OF_SHAPE_MAX, COVERING_POSITIONS_MAX};
use std::collections::VecDeque;

const ALPHABET: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// Bits of a digit.
const DIGIT_BITS: u32 = 5;

/// Digits of the smallest cells: their bits are in a word, with room above.
pub(crate) const DIGITS_MAX: u32 = 12;

/// What terms of points and of other shapes begin with.
const POINT: char = 'p';
const SHAPE: char = 's';

/// The cells of a space, down to some size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    space: Space,
    digits: u32,
}

/// Cells of the smallest size that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeRange {
    start: u64,
    /// After the last one.
    end: u64,
    /// Whether all of them are in the shape.
    pub is_inside: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    bits: u64,
    length: u32,
}

impl Grid {
    /// * `digits`: of the smallest cells, 1 to [`DIGITS_MAX`].
    pub fn new(space: Space, digits: u32) -> Grid {
        Grid { space, digits: digits.clamp(1, DIGITS_MAX) }
    }

    fn bits(&self) -> u32 {
        self.digits * DIGIT_BITS
    }

    /// Calls `each` with the terms that a shape is found by.
    ///
    /// # Errors
    ///
    /// Those of `each`.
    pub fn terms<E>(&self, shape: &Shape, each: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        if let Some(at) = shape.as_point() {
            return each(&self.term(POINT, self.smallest(at), self.digits));
        }
        for (cell, _) in self.cover(shape, DIGIT_BITS, CELLS_OF_SHAPE_MAX) {
            each(&self.term(SHAPE, cell.bits << (self.bits() - cell.length), cell.length / DIGIT_BITS))?;
        }
        Ok(())
    }

    /// Ranges of the smallest cells that have all of a shape, rising.
    pub fn ranges(&self, shape: &Shape) -> Vec<CodeRange> {
        let range = |(cell, is_inside): (Cell, bool)| {
            let shift = self.bits() - cell.length;
            CodeRange { start: cell.bits << shift, end: (cell.bits + 1) << shift, is_inside }
        };
        let mut ranges: Vec<CodeRange> = self.cover(shape, 1, CELLS_OF_QUERY_MAX).into_iter().map(range).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, range| {
            let is_one = range.end == next.start && range.is_inside == next.is_inside;
            if is_one {
                range.end = next.end;
            }
            is_one
        });
        ranges
    }

    /// The first term of points in a range, and one behind the last.
    pub fn points(&self, range: &CodeRange) -> (String, String) {
        self.between(POINT, range)
    }

    /// The same of the cells of other shapes that begin in the range; and perhaps of some that begin behind it.
    pub fn shapes(&self, range: &CodeRange) -> (String, String) {
        self.between(SHAPE, range)
    }

    /// The terms of shapes whose cells begin before a range and reach into it, each once.
    pub fn larger(&self, ranges: &[CodeRange]) -> Vec<String> {
        let of_range = |range: &CodeRange| {
            let start = range.start;
            (0..=self.digits).map(move |digits| (start, digits))
        };
        let mut terms: Vec<String> =
            ranges.iter().flat_map(of_range).map(|(start, digits)| self.term(SHAPE, start, digits)).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    fn between(&self, kind: char, range: &CodeRange) -> (String, String) {
        let end = match range.end >> self.bits() {
            0 => self.term(kind, range.end, self.digits),
            // After all of this kind: no term begins with the letter that follows.
            _ => char::from(kind as u8 + 1).to_string(),
        };
        (self.term(kind, range.start, self.digits), end)
    }

    /// * `code`: of a smallest cell; `digits`: how many of its digits are written.
    fn term(&self, kind: char, code: u64, digits: u32) -> String {
        let digit = |at: u32| char::from(ALPHABET[(code >> (self.bits() - DIGIT_BITS * (at + 1)) & 31) as usize]);
        std::iter::once(kind).chain((0..digits).map(digit)).collect()
    }

    /// The smallest cell of a position.
    fn smallest(&self, at: Position) -> u64 {
        let Rect { min, max } = self.space.bounds();
        let number = |value: f64, low: f64, high: f64, bits: u32| {
            let count = (1u64 << bits) as f64;
            // A number that is not below the last cell's end is in the last cell.
            (((value - low) / (high - low) * count).max(0.0) as u64).min((1 << bits) - 1)
        };
        let (along_x, along_y) = (self.bits().div_ceil(2), self.bits() / 2);
        let x = number(at.x, min.x, max.x, along_x);
        let y = number(at.y, min.y, max.y, along_y);
        let bit = |code: u64, at: u32| match at % 2 {
            0 => code << 1 | x >> (along_x - 1 - at / 2) & 1,
            _ => code << 1 | y >> (along_y - 1 - at / 2) & 1,
        };
        (0..self.bits()).fold(0, bit)
    }

    fn rect(&self, cell: Cell) -> Rect {
        let (mut x, mut y) = (0u64, 0u64);
        for at in 0..cell.length {
            let bit = cell.bits >> (cell.length - 1 - at) & 1;
            match at % 2 {
                0 => x = x << 1 | bit,
                _ => y = y << 1 | bit,
            }
        }
        let Rect { min, max } = self.space.bounds();
        let side = |number: u64, bits: u32, low: f64, high: f64| {
            let count = (1u64 << bits) as f64;
            let at = |number: u64| low + (high - low) * (number as f64 / count);
            (at(number), at(number + 1))
        };
        let (min_x, max_x) = side(x, cell.length.div_ceil(2), min.x, max.x);
        let (min_y, max_y) = side(y, cell.length / 2, min.y, max.y);
        Rect::new([min_x, max_x, min_y, max_y])
    }

    /// Cells that have all of a shape, and whether each is in it: the largest are parted as long as there are not too many.
    ///
    /// * `step`: bits that a part has more than its cell.
    fn cover(&self, shape: &Shape, step: u32, count_max: usize) -> Vec<(Cell, bool)> {
        // Each comparison goes through the whole shape.
        let count_max = count_max.min(COVERING_POSITIONS_MAX / shape.position_count().max(1)).max(1);
        let mut found = Vec::new();
        let mut open = VecDeque::from([Cell { bits: 0, length: 0 }]);
        while let Some(cell) = open.pop_front() {
            let length = cell.length + step;
            if length > self.bits() {
                found.push((cell, false));
                continue;
            }
            let mut parts = Vec::new();
            for part in 0..1u64 << step {
                let part = Cell { bits: cell.bits << step | part, length };
                let lie = lie(&self.rect(part), shape, &self.space);
                if lie != Lie::Outside {
                    parts.push((part, lie == Lie::Inside));
                }
            }
            if parts.len() > 1 && found.len() + open.len() + parts.len() > count_max {
                found.push((cell, false));
                continue;
            }
            for (part, is_inside) in parts {
                if is_inside {
                    found.push((part, true));
                } else {
                    open.push_back(part);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::wkt;
    use super::*;

    fn grid() -> Grid {
        Grid::new(Space::Geography, 9)
    }

    fn terms(text: &str) -> Vec<String> {
        let shape = Shape::new(wkt::parse(text).unwrap(), &Space::Geography, 1.0).unwrap();
        let mut terms = Vec::new();
        grid()
            .terms(&shape, &mut |term| {
                terms.push(term.to_owned());
                Ok::<_, ()>(())
            })
            .unwrap();
        terms
    }

    /// As the reference has them.
    #[test]
    fn on_the_earth_cells_are_geohashes() {
        assert_eq!(terms("POINT(-0.1278 51.5074)"), ["pgcpvj0duq"]);
        assert_eq!(terms("POINT(7 5)"), ["ps0uurq1pp"].map(|term| term.to_owned()));
        assert_eq!(terms("POINT(180 90)"), ["pzzzzzzzzz"]);
        assert_eq!(terms("POINT(-180 -90)"), ["p000000000"]);
    }

    #[test]
    fn a_cover_is_bounded_and_has_the_shape() {
        let found = terms("POLYGON((0 40, 20 40, 20 55, 0 55, 0 40))");
        assert!(!found.is_empty() && found.len() <= CELLS_OF_SHAPE_MAX, "{found:?}");
        let circle = wkt::parse("CIRCLE(13.405 52.52 d=100)").unwrap();
        let circle = Shape::new(circle, &Space::Geography, 1.0).unwrap();
        let ranges = grid().ranges(&circle);
        assert!(ranges.len() <= CELLS_OF_QUERY_MAX && ranges.iter().any(|range| range.is_inside));
        let code = grid().smallest(Position { x: 13.405, y: 52.52 });
        assert!(ranges.iter().any(|range| range.is_inside && (range.start..range.end).contains(&code)));
    }

    #[test]
    fn a_position_is_in_its_cells() {
        for (x, y) in [(13.405, 52.52), (-180.0, 90.0), (0.0, 0.0), (179.999_999, -89.9)] {
            let code = grid().smallest(Position { x, y });
            for length in 0..=45 {
                let rect = grid().rect(Cell { bits: code >> (45 - length), length });
                assert!(rect.has(Position { x, y }), "{x} {y} {length} {rect:?}");
            }
        }
    }
}
