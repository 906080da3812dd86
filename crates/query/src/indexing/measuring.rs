//! Least and greatest numbers and averages of groups, computed of parts.

use std::cmp::Ordering;

use json::{Raw, Writer};

use super::decimal_sum::DecimalSum;
use crate::definition::Measure;

/// Computes one measure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measuring(Measure);

/// What the numbers of a part come to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Measured {
    /// The one number whose order to all others is this; `None`: there are no numbers.
    Extreme(Ordering, Option<DecimalSum>),
    /// The sum and count of the numbers.
    Average(DecimalSum, u64),
}

impl Measuring {
    pub fn new(measure: Measure) -> Measuring {
        Measuring(measure)
    }

    /// Whether parts are written otherwise than results.
    pub fn has_parts(self) -> bool {
        self.0 == Measure::Average
    }

    /// What numbers come to.
    pub fn of(self, numbers: &[DecimalSum]) -> Measured {
        let of = |number: &DecimalSum| match self.0 {
            Measure::Average => Measured::Average(*number, 1),
            Measure::Least => Measured::Extreme(Ordering::Less, Some(*number)),
            Measure::Greatest => Measured::Extreme(Ordering::Greater, Some(*number)),
        };
        let nothing = match self.0 {
            Measure::Average => Measured::Average(DecimalSum::ZERO, 0),
            Measure::Least => Measured::Extreme(Ordering::Less, None),
            Measure::Greatest => Measured::Extreme(Ordering::Greater, None),
        };
        numbers.iter().map(of).fold(nothing, Measured::and)
    }

    /// Reads what [`Measured::write`] wrote.
    pub fn read(self, value: Raw<'_>) -> Measured {
        match self.0 {
            Measure::Average => {
                let mut parts = value.elements();
                let sum = parts.next().and_then(DecimalSum::of).unwrap_or(DecimalSum::ZERO);
                Measured::Average(sum, parts.next().and_then(Raw::as_u64).unwrap_or(0))
            }
            Measure::Least | Measure::Greatest if value.is_null() => self.of(&[]),
            Measure::Least | Measure::Greatest => {
                DecimalSum::of(value).map_or(self.of(&[]), |number| self.of(&[number]))
            }
        }
    }
}

impl Measured {
    /// What both parts come to, which are of one measure.
    pub fn and(self, other: Measured) -> Measured {
        match (self, other) {
            (Measured::Average(sum, count), Measured::Average(more, others)) => {
                Measured::Average(sum.plus(more), count + others)
            }
            (Measured::Extreme(order, Some(one)), Measured::Extreme(_, Some(other))) => {
                Measured::Extreme(order, Some(if other.order(one) == order { other } else { one }))
            }
            (Measured::Extreme(_, None), other) => other,
            (one, _) => one,
        }
    }

    /// Writes a part.
    pub fn write(self, json: &mut Writer<'_>) {
        match self {
            Measured::Extreme(_, None) => _ = json.null(),
            Measured::Extreme(_, Some(number)) => number.write(json),
            Measured::Average(sum, count) => {
                json.array(|json| {
                    sum.write(json);
                    json.unsigned(count);
                });
            }
        }
    }

    /// Writes the result.
    pub fn finish(self, json: &mut Writer<'_>) {
        match self {
            Measured::Average(_, 0) => _ = json.null(),
            // A sum beyond all doubles is what comes nearest.
            Measured::Average(sum, count) => _ = json.double(sum.double().clamp(f64::MIN, f64::MAX) / count as f64),
            Measured::Extreme(..) => self.write(json),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in parts of two, as JSON in between.
    #[track_caller]
    fn check(numbers: &str, expected: [&str; 3]) {
        let numbers = Raw::new(numbers.as_bytes());
        let numbers: Vec<DecimalSum> = numbers.elements().map(|number| DecimalSum::of(number).unwrap()).collect();
        for (measure, expected) in [Measure::Least, Measure::Greatest, Measure::Average].into_iter().zip(expected) {
            let measuring = Measuring::new(measure);
            let mut whole = measuring.of(&[]);
            for part in numbers.chunks(2) {
                let mut json = Vec::new();
                measuring.of(part).write(&mut Writer::new(&mut json));
                whole = whole.and(measuring.read(Raw::new(&json)));
            }
            let mut out = Vec::new();
            whole.finish(&mut Writer::new(&mut out));
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{measure:?}");
        }
    }

    #[test]
    fn parts_come_to_what_all_numbers_do() {
        check("[]", ["null", "null", "null"]);
        check("[5]", ["5", "5", "5"]);
        check("[3,-1,2.5]", ["-1", "3", "1.5"]);
        check("[0.1,0.2]", ["0.1", "0.2", "0.15"]);
        check("[1,2,2]", ["1", "2", "1.6666666666666667"]);
        check("[1e300,-1e300,4]", ["-1e300", "1e300", "1.3333333333333333"]);
        check("[9007199254740993,9007199254740992]", ["9007199254740992", "9007199254740993", "9007199254740992"]);
    }
}
