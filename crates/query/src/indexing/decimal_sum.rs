//! Sums of numbers: exact (decimal) as long as 28 digits suffice, else as doubles.

use std::cmp::Ordering;

use json::Raw;
use rust_decimal::Decimal;

/// A sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DecimalSum {
    Exact(Decimal),
    Double(f64),
}

impl DecimalSum {
    pub const ZERO: DecimalSum = DecimalSum::Exact(Decimal::ZERO);

    /// A value of a document: null is nothing. `None`: it is no number.
    pub fn of(value: Raw<'_>) -> Option<DecimalSum> {
        if value.is_null() {
            return Some(DecimalSum::ZERO);
        }
        let text = value.number_text()?;
        let exact = Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text));
        // What a decimal had to round is a double, too.
        match exact {
            Ok(exact) if text.len() < 28 => Some(DecimalSum::Exact(exact)),
            _ => value.as_f64().map(DecimalSum::Double),
        }
    }

    pub fn plus(self, other: DecimalSum) -> DecimalSum {
        match (self, other) {
            (DecimalSum::Exact(one), DecimalSum::Exact(other)) => match one.checked_add(other) {
                Some(sum) => DecimalSum::Exact(sum),
                None => DecimalSum::Double(double(one) + double(other)),
            },
            (one, other) => DecimalSum::Double(one.double() + other.double()),
        }
    }

    /// Sums as well as single numbers have an order.
    pub fn order(self, other: DecimalSum) -> Ordering {
        match (self, other) {
            (DecimalSum::Exact(one), DecimalSum::Exact(other)) => one.cmp(&other),
            (one, other) => one.double().total_cmp(&other.double()),
        }
    }

    /// As a double.
    pub fn double(self) -> f64 {
        match self {
            DecimalSum::Exact(decimal) => double(decimal),
            DecimalSum::Double(double) => double,
        }
    }

    /// Writes it as a number of JSON.
    pub fn write(self, json: &mut json::Writer<'_>) {
        match self {
            DecimalSum::Exact(decimal) => json.raw(decimal.normalize().to_string().as_bytes()),
            // A sum beyond all doubles is what comes nearest.
            DecimalSum::Double(double) => json.double(double.clamp(f64::MIN, f64::MAX)),
        };
    }
}

fn double(decimal: Decimal) -> f64 {
    decimal.to_string().parse().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(numbers: &[&str]) -> String {
        let amounts = numbers.iter().map(|number| DecimalSum::of(Raw::new(number.as_bytes())).unwrap());
        let mut out = Vec::new();
        amounts.fold(DecimalSum::ZERO, DecimalSum::plus).write(&mut json::Writer::new(&mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn sums_are_exact_where_they_can_be() {
        for (numbers, expected) in [
            (&["1", "2.5", "null"][..], "3.5"),
            (&["0.1", "0.2"], "0.3"),
            (&["9007199254740993", "1"], "9007199254740994"),
            (&["2.50", "2.50"], "5"),
            (&["1e2", "-1"], "99"),
            (&["1e300", "1"], "1e300"),
            (&["1e308", "1e308"], "1.7976931348623157e308"),
            (&[], "0"),
        ] {
            assert_eq!(sum(numbers).to_lowercase().replace('+', ""), expected, "{numbers:?}");
        }
        assert_eq!(DecimalSum::of(Raw::new(b"\"7\"")), None);
    }
}
