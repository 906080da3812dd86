//! Numbers in sentences: `1 document`, `2,000 documents`, `1.5 MB`.

/// A number with its noun, in the singular where the number is 1.
///
/// * `noun`: in the singular; its plural ends in `s`, in `ies` if it ends in `y`, or in `es` if it ends in `x`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("1 {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None if noun.ends_with('x') => format!("{count} {noun}es"),
        None => format!("{count} {noun}s"),
    }
}

/// The verb that agrees with a number.
pub(crate) fn is_or_are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// The verb that agrees with a number.
pub(crate) fn was_or_were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// Bytes as people read them: `512 bytes`, `1.5 MB`. Units are powers of 1,000.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return counted(bytes, "byte");
    }
    let mut tenths = bytes / 100;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    match tenths {
        1000.. => format!("{} {}", tenths / 10, UNITS[unit]),
        _ => format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_numbers() {
        assert_eq!(counted(0, "document"), "0 documents");
        assert_eq!(counted(1, "document"), "1 document");
        assert_eq!(counted(2, "identity"), "2 identities");
    }

    #[test]
    fn sizes_are_rounded_down_to_what_people_read() {
        let check = |bytes: u64, expected: &str| assert_eq!(size(bytes), expected, "{bytes}");
        check(1, "1 byte");
        check(999, "999 bytes");
        check(1000, "1.0 kB");
        check(99_999, "99.9 kB");
        check(100_000, "100 kB");
        check(999_999, "999 kB");
        check(1_500_000, "1.5 MB");
        check(16 << 40, "17.5 TB");
        check(u64::MAX, "18446744 TB");
    }
}
