//! When two values are the same: for groups and for what is distinct.
//!
//! Numbers are the same if they are equal, whatever their types; null and missing are; objects are by names and values in
//! their order, those of documents by their text.

use super::convert::whole;
use super::display::double_text;
use super::value::Value;
use rust_decimal::Decimal;

/// Bytes that are equal for values that are the same, and for no others. They are stable: not kept for long, but between two
/// runs of the program.
pub(crate) fn identity(value: &Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    append(value, &mut out);
    out
}

fn append(value: &Value<'_>, out: &mut Vec<u8>) {
    match value.clone().read() {
        Value::Missing | Value::Null => out.push(b'0'),
        Value::Bool(value) => out.push(if value { b't' } else { b'f' }),
        Value::Long(long) => number(long.into(), out),
        Value::Decimal(decimal) => number(decimal, out),
        Value::Double(double) => match (double_text(double).parse(), whole(double)) {
            (Ok(decimal), _) => number(decimal, out),
            (Err(_), Some(long)) if double.trunc() == double => number(long.into(), out),
            _ => sized(b'e', &double.to_bits().to_be_bytes(), out),
        },
        Value::Text(text) => sized(b's', text.as_bytes(), out),
        Value::Date(date) => sized(b'd', &date.ticks.to_be_bytes(), out),
        Value::Span(span) => sized(b'p', &span.0.to_be_bytes(), out),
        Value::Array(values) => list(&values, out),
        Value::Group(group) => list(&group.elements, out),
        Value::Object(object) => {
            out.push(b'{');
            for (name, value) in object.members() {
                sized(b's', name.as_bytes(), out);
                append(value, out);
            }
            out.push(b'}');
        }
        other => sized(b'j', &other.to_json(), out),
    }
}

fn list(values: &[Value<'_>], out: &mut Vec<u8>) {
    out.push(b'[');
    values.iter().for_each(|value| append(value, out));
    out.push(b']');
}

fn number(decimal: Decimal, out: &mut Vec<u8>) {
    sized(b'n', decimal.normalize().to_string().as_bytes(), out);
}

fn sized(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::Raw;

    #[test]
    fn equal_numbers_are_the_same_whatever_their_types() {
        let one = identity(&Value::Long(1));
        for same in [Value::Double(1.0), Value::Decimal(Decimal::new(100, 2)), Value::Json(Raw::new(b"1.0"))] {
            assert_eq!(identity(&same), one, "{same:?}");
        }
        assert_ne!(identity(&Value::Json(Raw::new(b"\"1\""))), one);
        assert_ne!(identity(&Value::Long(i64::MAX)), identity(&Value::Long(i64::MAX - 1)));
        assert_eq!(identity(&Value::Missing), identity(&Value::Null));
    }
}
