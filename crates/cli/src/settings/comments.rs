//! Comments in a file of settings: `// ..` up to the end of the line, and `/* .. */`. JSON has none, RavenDB's files may.

/// The text with a space in place of each byte of a comment, so that lines and columns of errors stay right.
pub(super) fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut plain = text.to_vec();
    let mut at = 0;
    let mut is_in_text = false;
    while at < plain.len() {
        match (is_in_text, plain[at]) {
            // The byte behind it belongs to it, be it a quote.
            (true, b'\\') => at += 1,
            (_, b'"') => is_in_text = !is_in_text,
            (false, b'/') => {
                let rest = &plain[at..];
                let size = match rest.get(1) {
                    Some(b'/') => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
                    Some(b'*') => rest[2..].windows(2).position(|end| end == b"*/").map_or(rest.len(), |end| end + 4),
                    _ => 0,
                };
                plain[at..at + size].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
                at += size.saturating_sub(1);
            }
            _ => {}
        }
        at += 1;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_blanked_and_texts_are_not() {
        let check = |text: &str, expected: &str| {
            assert_eq!(String::from_utf8(without_comments(text.as_bytes())).unwrap(), expected, "{text}");
        };
        check("{} // x", "{}     ");
        check("// x\n{}", "    \n{}");
        check("/* a\n b */{}", "    \n     {}");
        check(r#"{"a":"http://x", "b\"//":1}//"#, r#"{"a":"http://x", "b\"//":1}  "#);
        check("/*/ 1 */2", "        2");
        check("/* open", "       ");
        check("/", "/");
        check("1/2", "1/2");
        check("\"\\", "\"\\");
    }
}
