//! Takes `?.` and `?[` for `.` and `[`.
//!
//! Null spreads through every member here, so both are the same. The grammar binds `?.` more loosely than all operators and
//! reads `a + b?.c` as `(a + b)?.c`, which is the reason to do this before parsing. All places stay what they are.

/// What the scanner is in.
enum Inside {
    /// Code, with the number of open braces; within a hole of a text the first one that is not closes it.
    Code(usize),
    /// An interpolated text; whether it is a verbatim one.
    Text(bool),
}

/// The text with a blank for each question mark that only guards a member or an element.
pub(super) fn without_null_conditional(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut inside = vec![Inside::Code(0)];
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        at += match inside.last_mut() {
            Some(Inside::Text(is_verbatim)) => match rest {
                [b'{', b'{', ..] | [b'}', b'}', ..] => 2,
                [b'\\', _, ..] if !*is_verbatim => 2,
                [b'"', b'"', ..] if *is_verbatim => 2,
                [b'"', ..] => {
                    inside.pop();
                    1
                }
                [b'{', ..] => {
                    inside.push(Inside::Code(0));
                    1
                }
                _ => 1,
            },
            Some(Inside::Code(depth)) => match rest {
                [b'{', ..] => {
                    *depth += 1;
                    1
                }
                [b'}', ..] => {
                    match depth.checked_sub(1) {
                        Some(less) => *depth = less,
                        // The end of a hole; outside of texts the parser finds what is wrong.
                        None if inside.len() > 1 => drop(inside.pop()),
                        None => {}
                    }
                    1
                }
                [b'$', b'@', b'"', ..] | [b'@', b'$', b'"', ..] => {
                    inside.push(Inside::Text(true));
                    3
                }
                [b'$', b'"', after @ ..] if !after.starts_with(b"\"\"") => {
                    inside.push(Inside::Text(false));
                    2
                }
                [b'?', b'.', next, ..] if !next.is_ascii_digit() => {
                    out[at] = b' ';
                    1
                }
                [b'?', b'[', ..] if at > 0 && is_operand_end(bytes[at - 1]) => {
                    out[at] = b' ';
                    1
                }
                _ => literal_size(rest).max(1),
            },
            None => 1,
        };
    }
    // Only ASCII was replaced by ASCII.
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

fn is_operand_end(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b')' | b']')
}

/// The size of the text, character or comment that begins here; 0 if none does.
fn literal_size(rest: &[u8]) -> usize {
    let until = |from: usize, end: &[u8]| {
        let found = rest.get(from..).unwrap_or_default().windows(end.len()).position(|window| window == end);
        found.map_or(rest.len(), |at| from + at + end.len())
    };
    match rest {
        [b'/', b'/', ..] => until(2, b"\n"),
        [b'/', b'*', ..] => until(2, b"*/"),
        [b'"', b'"', b'"', ..] => until(3, b"\"\"\""),
        [b'@', b'"', ..] => {
            let mut at = 2;
            while at < rest.len() {
                match rest[at..] {
                    [b'"', b'"', ..] => at += 2,
                    [b'"', ..] => return at + 1,
                    _ => at += 1,
                }
            }
            at
        }
        [quote @ (b'"' | b'\''), ..] => {
            let mut at = 1;
            while at < rest.len() {
                match rest[at] {
                    b'\\' => at += 2,
                    byte if byte == *quote => return at + 1,
                    b'\n' => return at,
                    _ => at += 1,
                }
            }
            rest.len()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_guards_of_members_and_elements_go() {
        for (text, expected) in [
            ("a?.b?[0]?.c", "a .b [0] .c"),
            ("a ?? b ? c : d ?.e", "a ?? b ? c : d  .e"),
            ("a?.5:1", "a?.5:1"),
            ("\"a?.b\" + @\"c?.\"\"?.\" + '?' + d?.e", "\"a?.b\" + @\"c?.\"\"?.\" + '?' + d .e"),
            ("$\"x?.{a?.b:0?.0}?.{{?.}}\" + c?.d", "$\"x?.{a .b:0?.0}?.{{?.}}\" + c .d"),
            ("// a?.b\nc?.d /* e?.f */", "// a?.b\nc .d /* e?.f */"),
        ] {
            assert_eq!(without_null_conditional(text), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_places(text in "[a?.\\[{}$@\"'\\\\/*ü\n ]{0,40}") {
            prop_assert_eq!(without_null_conditional(&text).len(), text.len());
        }
    }
}
