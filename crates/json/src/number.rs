//! Numbers in JSON text: where they end, and whether a double can hold them.

use crate::Reason;
use crate::minify::Numbers;

/// Digits that surely fit: the greatest double has 309 before the point.
const DIGITS_SURELY_IN_RANGE: usize = 308;

/// The size of the number at the start of `text`, which begins with `-` or a digit.
#[inline]
pub(crate) fn size(text: &[u8], numbers: Numbers) -> Result<usize, (Reason, usize)> {
    let mut at = usize::from(text.first() == Some(&b'-'));
    let first = at;
    match text.get(at) {
        Some(b'0') => at += 1,
        Some(b'1'..=b'9') => at += digits(text, at),
        Some(b'I' | b'N') => return Err((Reason::NotANumber, 0)),
        None => return Err((Reason::UnexpectedEnd, at)),
        Some(_) => return Err((Reason::MalformedNumber, at)),
    }
    let integer_digits = at - first;
    let mut check_range = integer_digits > DIGITS_SURELY_IN_RANGE;
    if text.get(at) == Some(&b'.') {
        let fraction = digits(text, at + 1);
        if fraction == 0 {
            return Err(incomplete(text, at + 1));
        }
        at += 1 + fraction;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(text, at);
        if exponent == 0 {
            return Err(incomplete(text, at));
        }
        at += exponent;
        check_range = true;
    }
    if let Some(b'0'..=b'9' | b'.' | b'-' | b'+') = text.get(at) {
        return Err((Reason::MalformedNumber, at));
    }
    if check_range && numbers == Numbers::Double && !is_in_range(&text[..at]) {
        return Err((Reason::NumberOutOfRange, 0));
    }
    Ok(at)
}

fn digits(text: &[u8], at: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn incomplete(text: &[u8], at: usize) -> (Reason, usize) {
    (if at >= text.len() { Reason::UnexpectedEnd } else { Reason::MalformedNumber }, at)
}

fn is_in_range(text: &[u8]) -> bool {
    std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()).is_some_and(f64::is_finite)
}
