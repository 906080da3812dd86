//! Formats of numbers, in the invariant culture: `D`, `F`, `N`, `P`, `X`, `G`, `R`, `E` and custom ones of `0`, `#`, `,`, `.`, `%`.

use super::display::display;
use super::error::{MapError, Result};
use super::value::Value;
use rust_decimal::{Decimal, RoundingStrategy};

/// Digits behind the point that a format may ask for.
const PRECISION_MAX: usize = 99;

/// A number as a format says. `value` is a long, a double or a decimal.
///
/// # Errors
///
/// [`MapError::Format`] for a format that is none of these, or one that the number has not.
pub(crate) fn format_number(value: &Value<'_>, format: &str) -> Result<String> {
    let mut characters = format.chars();
    let unsupported = || MapError::Format(format.to_owned());
    match characters.next() {
        Some(kind) if kind.is_ascii_alphabetic() => {
            let digits = characters.as_str();
            let precision = match digits {
                "" => None,
                digits if digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
                _ => return Err(unsupported()),
            };
            standard(value, kind, precision).ok_or_else(unsupported)
        }
        Some(_) => custom(value, format).ok_or_else(unsupported),
        None => Ok(display(value).into_owned()),
    }
}

fn standard(value: &Value<'_>, kind: char, precision: Option<usize>) -> Option<String> {
    match (kind.to_ascii_uppercase(), value) {
        ('G' | 'R', _) if precision.is_none() => Some(display(value).into_owned()),
        ('D', Value::Long(long)) => {
            let sign = if *long < 0 { "-" } else { "" };
            Some(format!("{sign}{:0width$}", long.unsigned_abs(), width = precision.unwrap_or(1)))
        }
        ('X', Value::Long(long)) => {
            let width = precision.unwrap_or(1);
            Some(if kind == 'X' { format!("{long:0width$X}") } else { format!("{long:0width$x}") })
        }
        ('F', _) => fixed(value, precision.unwrap_or(2)),
        ('N', _) => fixed(value, precision.unwrap_or(2)).map(|text| with_groups(&text)),
        ('P', _) => {
            let percent =
                super::operator::binary(super::expression::Operator::Multiply, value.clone(), Value::Long(100));
            fixed(&percent.ok()?, precision.unwrap_or(2)).map(|text| with_groups(&text) + " %")
        }
        ('E', _) => {
            let Value::Double(double) = as_double(value)? else { return None };
            let text = format!("{double:.*e}", precision.unwrap_or(6));
            let (digits, exponent) = text.split_once('e')?;
            let exponent: i32 = exponent.parse().ok()?;
            let sign = if exponent < 0 { '-' } else { '+' };
            Some(format!("{digits}{kind}{sign}{:03}", exponent.abs()))
        }
        _ => None,
    }
}

fn as_double(value: &Value<'_>) -> Option<Value<'static>> {
    match value {
        Value::Long(long) => Some(Value::Double(*long as f64)),
        Value::Double(double) => Some(Value::Double(*double)),
        Value::Decimal(decimal) => rust_decimal::prelude::ToPrimitive::to_f64(decimal).map(Value::Double),
        _ => None,
    }
}

/// Formats with `precision` digits after the point; halves of decimals away from zero.
fn fixed(value: &Value<'_>, precision: usize) -> Option<String> {
    let precision = precision.min(PRECISION_MAX);
    let decimal = match value {
        Value::Long(long) => Decimal::from(*long),
        Value::Decimal(decimal) => *decimal,
        Value::Double(double) if double.is_finite() => {
            // Exact halves go to the even digit, and all digits that the double has decide, not those of its shortest text.
            return Some(without_negative_zero(format!("{double:.precision$}")));
        }
        Value::Double(_) => return Some(display(value).into_owned()),
        _ => return None,
    };
    // Decimals have at most 28 digits behind the point.
    let rounded = decimal.round_dp_with_strategy(precision.min(28) as u32, RoundingStrategy::MidpointAwayFromZero);
    // The decimal's own formatting with a precision panics where whole and decimal digits are more than its buffer holds.
    let mut text = rounded.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if precision > decimals {
        if decimals == 0 {
            text.push('.');
        }
        text.extend(std::iter::repeat_n('0', precision - decimals));
    }
    Some(without_negative_zero(text))
}

fn without_negative_zero(text: String) -> String {
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// A comma before each three digits in front of the point.
fn with_groups(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = sign.to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

/// What stands before, in and behind the digits of a custom format.
fn custom(value: &Value<'_>, format: &str) -> Option<String> {
    let is_digit = |c: char| matches!(c, '0' | '#' | ',' | '.');
    let start = format.find(is_digit)?;
    let end = format.rfind(is_digit)? + 1;
    let (prefix, pattern, suffix) = (&format[..start], &format[start..end], &format[end..]);
    // Sections, exponents and quoted parts are not among the usual formats.
    if !pattern.chars().all(is_digit) || format.contains([';', '\'', '"', '\\']) {
        return None;
    }
    let (whole, fraction) = pattern.split_once('.').unwrap_or((pattern, ""));
    if fraction.contains(['.', ',']) || whole.ends_with(',') || fraction.len() > PRECISION_MAX {
        return None;
    }
    let value = if suffix.contains('%') || prefix.contains('%') {
        super::operator::binary(super::expression::Operator::Multiply, value.clone(), Value::Long(100)).ok()?
    } else {
        value.clone()
    };
    let text = fixed(&value, fraction.len())?;
    let (sign, digits) = text.strip_prefix('-').map_or(("", &*text), |digits| ("-", digits));
    let (digits, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let needed = whole.chars().skip_while(|c| *c != '0').filter(|c| *c != ',').count();
    let digits = digits.trim_start_matches('0');
    let mut digits = format!("{digits:0>needed$}");
    if whole.contains(',') {
        digits = with_groups(&digits);
    }
    let kept = fraction.rfind('0').map_or(0, |last| last + 1);
    let decimals = decimals.get(..kept).unwrap_or_default().to_owned()
        + decimals.get(kept..).unwrap_or_default().trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    Some(format!("{sign}{prefix}{digits}{point}{decimals}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(value: Value<'_>, format: &str, expected: &str) {
        assert_eq!(format_number(&value, format).unwrap(), expected, "{format}");
    }

    #[test]
    fn formats_of_numbers() {
        check(Value::Double(1.5), "0.00", "1.50");
        check(Value::Long(7), "D5", "00007");
        check(Value::Long(-7), "D3", "-007");
        check(Value::Double(1.5), "N2", "1.50");
        check(Value::Long(12_345_678_901), "N0", "12,345,678,901");
        check(Value::Double(1.5), "P1", "150.0 %");
        check(Value::Double(1.005), "F2", "1.00");
        check(Value::Double(0.125), "F2", "0.12");
        check(Value::Double(2.5), "F0", "2");
        check(Value::Decimal(Decimal::new(125, 2)), "F1", "1.3");
        check(Value::Double(-0.001), "F2", "0.00");
        check(Value::Long(-100_000_000_000), "N20", "-100,000,000,000.00000000000000000000");
        check(Value::Decimal(Decimal::MAX), "F3", "79228162514264337593543950335.000");
        check(Value::Long(255), "X4", "00FF");
        check(Value::Long(255), "x", "ff");
        check(Value::Double(1234.5678), "#,##0.##", "1,234.57");
        check(Value::Double(0.5), "#.##", ".5");
        check(Value::Long(5), "000", "005");
        check(Value::Double(0.256), "0%", "26%");
        check(Value::Long(5), "$0.00", "$5.00");
        check(Value::Decimal(Decimal::new(150, 2)), "G", "1.50");
        check(Value::Double(12345.678), "E2", "1.23E+004");
        assert!(format_number(&Value::Double(1.5), "D5").is_err());
        assert!(format_number(&Value::Long(1), "Q").is_err());
    }

    proptest! {
        #[test]
        fn any_format_gives_a_text_or_an_error(format in "[0-9#,.%A-Za-zü;]{0,8}", double: f64, long: i64) {
            let _ = format_number(&Value::Double(double), &format);
            let _ = format_number(&Value::Long(long), &format);
        }
    }
}
