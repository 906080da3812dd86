//! Numbers as JSON text, in the way of the reference server: whole numbers that 64 bits hold as such, others with the fewest digits
//! that read back as them, with an exponent of at least two digits below 1E-05 and from 1E+15 on.

/// Appends a number that is finite.
pub(crate) fn write(out: &mut Vec<u8>, value: f64) {
    if value.trunc() == value && value.abs() < 9_223_372_036_854_775_807.0 {
        // Exact: it is whole and within 64 bits. A zero has no sign.
        return out.extend_from_slice((value as i64).to_string().as_bytes());
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..15).contains(&exponent) {
        return out.extend_from_slice(value.to_string().as_bytes());
    }
    out.extend_from_slice(digits.as_bytes());
    let sign = if exponent < 0 { '-' } else { '+' };
    out.extend_from_slice(format!("E{sign}{:02}", exponent.unsigned_abs()).as_bytes());
}

/// Whether the text of a number comes back letter for letter when it is read as a double and written again. May say no where it would.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.len() > 15 || text == b"-0" {
        return false;
    }
    match digits.iter().position(|byte| *byte == b'.') {
        None => digits.iter().all(u8::is_ascii_digit),
        Some(point) => {
            let fraction = &digits[point + 1..];
            // Small numbers have more zeros than digits, and are written with an exponent.
            digits[..point].iter().chain(fraction).all(u8::is_ascii_digit)
                && fraction.last() != Some(&b'0')
                && !digits.starts_with(b"0.000")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(value: f64) -> String {
        let mut out = Vec::new();
        write(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    /// What the reference answered to a patch that stores them.
    #[test]
    fn numbers_are_written_as_the_reference_does() {
        for (value, expected) in [
            (1e15, "1000000000000000"),
            (1e18, "1000000000000000000"),
            (1e19, "1E+19"),
            (0.0001, "0.0001"),
            (0.00001, "1E-05"),
            (1e-7, "1E-07"),
            (1.5e300, "1.5E+300"),
            (123456789012345680000.0, "1.2345678901234568E+20"),
            (9007199254740992.0, "9007199254740992"),
            (0.1 + 0.2, "0.30000000000000004"),
            (-5.5, "-5.5"),
            (-0.0, "0"),
        ] {
            assert_eq!(written(value), expected);
        }
    }

    proptest! {
        #[test]
        fn what_is_plain_comes_back(text in "-?(0|[1-9][0-9]{0,9})(\\.[0-9]{1,9})?(e-?[0-9])?") {
            if is_plain(text.as_bytes()) {
                prop_assert_eq!(written(text.parse().unwrap()), text);
            }
        }

        #[test]
        fn what_is_written_reads_back(value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
            prop_assert_eq!(written(value).parse::<f64>().unwrap(), value);
        }
    }
}
