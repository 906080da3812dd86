//! Rust text, taken apart just far enough to tell code from comments and strings.

/// The text with everything in comments, strings and characters replaced by spaces. Lines stay where they are.
pub fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = skipped_end(bytes, at);
        if end == at {
            at += 1;
            continue;
        }
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// Where the comment, string or character that begins at `at` ends; `at` itself if none begins there.
fn skipped_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    match rest {
        [b'/', b'/', ..] => at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment_end(bytes, at),
        [b'"', ..] => string_end(bytes, at + 1),
        [b'r', b'"' | b'#', ..] if begins_a_token(bytes, at) => raw_string_end(bytes, at),
        [b'\'', b'\\', _, ..] => at + 3 + rest[3..].iter().position(|byte| *byte == b'\'').map_or(0, |end| end + 1),
        [b'\'', ..] => character_end(bytes, at),
        _ => at,
    }
}

/// Whether the `r` here is not the end of a word; `br` begins a string too.
fn begins_a_token(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| bytes[before] == b'b' || !is_word(bytes[before]))
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn raw_string_end(bytes: &[u8], start: usize) -> usize {
    let hashes = bytes[start + 1..].iter().take_while(|byte| **byte == b'#').count();
    if bytes.get(start + 1 + hashes) != Some(&b'"') {
        return start;
    }
    let closing = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    let content = start + 2 + hashes;
    let length = bytes[content..].windows(closing.len()).position(|window| window == closing);
    length.map_or(bytes.len(), |length| content + length + closing.len())
}

/// A character of one to four bytes; else the quote belongs to a lifetime.
fn character_end(bytes: &[u8], at: usize) -> usize {
    let first = bytes.get(at + 1).copied().unwrap_or(0);
    let size = if first < 0x80 { 1 } else { first.leading_ones() as usize };
    if bytes.get(at + 1 + size) == Some(&b'\'') { at + size + 2 } else { at }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether `word` stands in `text` with no letter, digit or underscore right before or after it.
pub fn has_word(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let after = bytes.get(at + word.len()).copied().filter(|_| word.ends_with(|c: char| c.is_alphanumeric()));
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Whether a sentence `// SAFETY:` stands above line `index`, in the comment that ends there. Attributes in between do
/// not matter.
pub fn has_safety_comment(lines: &[&str], index: usize) -> bool {
    let above = lines[..index].iter().rev().map(|line| line.trim_start());
    let mut comment = above.skip_while(|line| line.starts_with("#[")).take_while(|line| line.starts_with("//"));
    comment.any(|line| line.starts_with("// SAFETY:"))
}

/// The comment that a line is, or ends with. `mark`: what comments begin with, `//` or `#`.
pub fn comment_of<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    let line = line.trim_start();
    let at = if line.starts_with(mark) { 0 } else { line.find(&format!(" {mark} "))? + 1 };
    Some(&line[at + mark.len()..])
}

/// What looks like paths of files in a text, relative ones. Patterns, addresses and parts of longer names are left out.
pub fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let is_of_path = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(is_of_path)?;
        let before = rest[..start].chars().next_back();
        let found = &rest[start..];
        let found = &found[..found.find(|c| !is_of_path(c)).unwrap_or(found.len())];
        rest = &rest[start + found.len()..];
        let is_whole = !before.is_some_and(|before| "*<>{}$@~:".contains(before)) && !rest.starts_with(['<', '{', '*']);
        let begins = found.trim_start_matches("../").starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        Some(Some(found.trim_end_matches('.')).filter(|_| is_whole && begins))
    })
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(code_only(text).split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        check("a // unsafe\nb", "a b");
        check("a /* x /* y */ z */ b", "a b");
        check(r#"a("x \" unsafe", b)"#, "a( , b)");
        check("a(r#\"x \" y\"#) b", "a( ) b");
        check("a(br\"x\\\") b", "a(b ) b");
        check("let c = '\"'; d", "let c = ; d");
        check("let c = '\\''; d", "let c = ; d");
        check("let c = '\\u{1F600}'; d", "let c = ; d");
        check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check("let r#type = 'é'; d", "let r#type = ; d");
    }

    #[test]
    fn a_word_is_found_only_whole() {
        assert!(has_word("an unsafe block", "unsafe"));
        assert!(!has_word("forbid(unsafe_code)", "unsafe"));
        assert!(has_word("dbg!(x)", "dbg!"));
        assert!(!has_word("eprintln!(x)", "println!"));
    }

    #[test]
    fn comments_and_the_paths_in_them_are_found() {
        assert_eq!(comment_of("    /// a", "//"), Some("/ a"));
        assert_eq!(comment_of("f(); // a", "//"), Some(" a"));
        assert_eq!(comment_of("let url = \"http://a\";", "//"), None);
        let text = "see `docs/x.md`, ../y.rs and z.rs. Not *_tests.rs, http://h/a.md, /abs/b.rs, <name>.md, {c}.rs";
        let found: Vec<_> = paths_in(text).filter(|path| path.contains(".rs") || path.contains(".md")).collect();
        assert_eq!(found, ["docs/x.md", "../y.rs", "z.rs"]);
    }

    #[test]
    fn a_safety_comment_stands_right_above() {
        let lines = ["// SAFETY: it is ours,", "// and alive.", "#[allow(x)]", "unsafe { f() }", "unsafe { g() }"];
        assert!(has_safety_comment(&lines, 3));
        assert!(!has_safety_comment(&lines, 4));
    }
}
