//! Which words are what: the few that are never names, and those that must be quoted where they would be read otherwise.

/// Words that are no field, alias or collection unless quoted, by their length: every name of a query is looked up here.
const RESERVED: [&[&str]; 8] = [
    &[],
    &[],
    &["as"],
    &[],
    &["load"],
    &["where", "order", "group", "limit"],
    &["select", "offset", "update"],
    &["include"],
];

/// Words that begin a clause behind a name, so that they are no alias without `as`; and others that would be misread
/// somewhere.
const CONTEXTUAL: [&str; 8] = ["filter", "filter_limit", "not", "true", "false", "null", "index", "timeseries"];

/// Whether `word` is a keyword wherever it stands.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.get(word.len()).is_some_and(|words| is_among(word, words))
}

/// Whether `word` begins a clause when it stands behind a source or key, and so is no alias there.
pub(super) fn ends_item(word: &str) -> bool {
    is_reserved(word) || is_among(word, &["filter", "filter_limit"])
}

/// Whether `name` is read as this name wherever a name may stand, without quotes.
pub(super) fn is_plain_name(name: &str) -> bool {
    is_word(name) && !is_reserved(name) && !is_among(name, &CONTEXTUAL)
}

/// Whether `name` is read as the name of a function before a parenthesis, without quotes.
pub(super) fn is_plain_function(name: &str) -> bool {
    is_word(name) && !is_reserved(name) && !is_among(name, &["not", "distinct"])
}

/// Whether the lexer takes `text` for one word.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '@')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '@' || c == '-')
}

fn is_among(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| other.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_known_in_any_case() {
        assert!(is_reserved("WHERE") && is_reserved("Group") && !is_reserved("by") && !is_reserved("including"));
        for (size, words) in RESERVED.iter().enumerate() {
            assert!(words.iter().all(|word| word.len() == size));
        }
        assert!(ends_item("Filter") && !is_reserved("Filter"));
    }

    #[test]
    fn a_plain_name_is_one_word_without_a_meaning() {
        assert!(is_plain_name("Orders") && is_plain_name("@empty") && is_plain_name("a-b") && is_plain_name("é"));
        for name in ["", "1a", "-a", "a b", "a.b", "order", "NULL", "not", "a'"] {
            assert!(!is_plain_name(name), "{name}");
        }
    }
}
