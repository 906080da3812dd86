//! JSON as dumps of RavenDB have it in definitions of automatic indexes: with a comma behind the last property.

use std::borrow::Cow;

/// The text without commas that nothing follows.
pub(crate) fn without_trailing_commas(text: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while let Some(byte) = text.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
            }
            b',' => {
                let next = text[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
                if matches!(next, Some(b'}' | b']')) {
                    out.extend_from_slice(&text[kept..at]);
                    kept = at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.extend_from_slice(&text[kept..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commas_before_a_closing_bracket_go() {
        let check = |text: &str, expected: &str| {
            let found = without_trailing_commas(text.as_bytes()).into_owned();
            assert_eq!(String::from_utf8(found).unwrap(), expected);
        };
        check(r#"{"a":1,"b":[1,2,],}"#, r#"{"a":1,"b":[1,2]}"#);
        check(r#"{"a":",}","b":"\",]"}"#, r#"{"a":",}","b":"\",]"}"#);
        check("[1, \n ]", "[1 \n ]");
        check(r#"{"a":"open \"#, r#"{"a":"open \"#);
        check(",", ",");
    }
}
