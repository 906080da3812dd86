//! Numbers as bytes that sort as the numbers do: longs and doubles in one order.
//!
//! ```text
//!  0                        8                 10
//!  +------------------------+-----------------+
//!  | double, order bits, BE | remainder, BE   |   zeros at the end are cut
//!  +------------------------+-----------------+
//! ```
//!
//! * The double is the greatest that is not above the number. Its order bits: all flipped if it is negative, else only the
//!   sign; so they rise with it.
//! * The remainder is what a long is above that double, 0 for all longs of up to 53 bits and for all doubles; so a long and a
//!   double that are equal are one term, and longs that no double can tell apart are not.
//! * Cutting zeros at the end keeps the order: where one ends and the other goes on, the other has something above zero
//!   later. A small whole number has two or three bytes.
//!
//! -0 is 0, and NaN (which JSON has not) is above everything.

use crate::index::error::{Result, corrupt};
use std::cmp::Ordering;

const SIZE: usize = 10;
const SIGN: u64 = 1 << 63;

/// A number of a document.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// A whole number that fits 64 bits.
    Long(i64),
    /// Any other.
    Double(f64),
}

impl Number {
    /// The nearest double.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Long(long) => long as f64,
            Number::Double(double) => double,
        }
    }

    /// The greatest double that is not above the number, and what is missing.
    fn parts(self) -> (f64, u16) {
        match self {
            // Adding it turns -0 into 0.
            Number::Double(double) => (double + 0.0, 0),
            Number::Long(long) => {
                let mut double = long as f64;
                if double as i128 > i128::from(long) {
                    double = double.next_down();
                }
                // The doubles of this size are at most 1,024 apart.
                (double, (i128::from(long) - double as i128) as u16)
            }
        }
    }

    /// Appends the bytes.
    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        let (double, remainder) = self.parts();
        let bits = if double.is_nan() { f64::NAN.to_bits() & !SIGN } else { double.to_bits() };
        let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&ordered.to_be_bytes());
        bytes[8..].copy_from_slice(&remainder.to_be_bytes());
        let size = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        out.extend_from_slice(&bytes[..size]);
    }

    /// Reads what [`Self::encode`] wrote. A whole number that is exactly a double is given as a long.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Number> {
        let mut padded = [0; SIZE];
        let to = padded.get_mut(..bytes.len()).ok_or_else(|| corrupt("a number has at most 10 bytes"))?;
        to.copy_from_slice(bytes);
        let [a, b, c, d, e, f, g, h, high, low] = padded;
        let ordered = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        let bits = if ordered & SIGN == 0 { !ordered } else { ordered ^ SIGN };
        let (double, remainder) = (f64::from_bits(bits), u16::from_be_bytes([high, low]));
        let number = match whole(double).and_then(|whole| i64::try_from(whole + i128::from(remainder)).ok()) {
            Some(long) => Number::Long(long),
            None => Number::Double(double),
        };
        let mut again = Vec::with_capacity(SIZE);
        number.encode(&mut again);
        if again != bytes {
            return Err(corrupt("a number is written in one way"));
        }
        Ok(number)
    }
}

/// A double that is a whole number of a size that a long can have.
fn whole(double: f64) -> Option<i128> {
    (double.trunc() == double && double.abs() <= SIGN as f64).then_some(double as i128)
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    /// The exact order: no rounding of a long.
    fn cmp(&self, other: &Self) -> Ordering {
        let ((a, a_more), (b, b_more)) = (self.parts(), other.parts());
        let doubles = a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
        doubles.then(a_more.cmp(&b_more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(number: Number) -> Vec<u8> {
        let mut out = Vec::new();
        number.encode(&mut out);
        out
    }

    /// Exact, without the code under test: whole numbers by `i128`, others by doubles.
    fn compare(a: Number, b: Number) -> Ordering {
        match (a, b) {
            (Number::Long(a), Number::Long(b)) => a.cmp(&b),
            (Number::Double(a), Number::Double(b)) => a.partial_cmp(&b).unwrap(),
            (Number::Double(_), Number::Long(_)) => compare(b, a).reverse(),
            (Number::Long(a), Number::Double(b)) if b.abs() < 1e30 => {
                let floor = b.floor() as i128;
                i128::from(a).cmp(&floor).then(if b > b.floor() { Ordering::Less } else { Ordering::Equal })
            }
            (Number::Long(_), Number::Double(b)) => 0.0.partial_cmp(&b).unwrap(),
        }
    }

    fn numbers() -> impl Strategy<Value = Number> {
        let near =
            (any::<i64>(), 0u32..64, -3i64..4).prop_map(|(long, shift, off)| (long >> shift).saturating_add(off));
        prop_oneof![
            near.clone().prop_map(Number::Long),
            near.prop_map(|long| Number::Double(long as f64)),
            (-1000i64..1000, 1u32..64).prop_map(|(a, b)| Number::Double(a as f64 / f64::from(b))),
            any::<f64>().prop_filter("no NaN", |double| !double.is_nan()).prop_map(Number::Double),
            prop::sample::select(vec![i64::MIN, i64::MAX, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1])
                .prop_map(Number::Long),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn bytes_sort_as_the_numbers_do(a in numbers(), b in numbers()) {
            prop_assert_eq!(bytes(a).cmp(&bytes(b)), compare(a, b));
            prop_assert_eq!(a.cmp(&b), compare(a, b));
        }

        #[test]
        fn a_number_comes_back(number in numbers()) {
            prop_assert_eq!(compare(Number::decode(&bytes(number)).unwrap(), number), Ordering::Equal);
        }

        #[test]
        fn any_bytes_are_a_number_in_one_way_or_none(found: Vec<u8>) {
            if let Ok(number) = Number::decode(&found) {
                prop_assert_eq!(bytes(number), found);
            }
        }
    }

    #[test]
    fn a_small_whole_number_is_short() {
        for (long, size) in [(0, 1), (1, 2), (42, 2), (1997, 3), (i64::MAX, 10)] {
            assert_eq!(bytes(Number::Long(long)).len(), size, "{long}");
        }
    }

    #[test]
    fn nan_is_above_everything_and_minus_zero_is_zero() {
        assert!(bytes(Number::Double(f64::NAN)) > bytes(Number::Double(f64::INFINITY)));
        assert_eq!(bytes(Number::Double(-0.0)), bytes(Number::Long(0)));
    }
}
