//! The text of an entry: whether it is complete, and the word in work.

/// Whether a query goes on in the next line: a quote, brace, bracket or parenthesis is open. Commands are one line.
pub(super) fn is_open(entry: &str) -> bool {
    if entry.trim_start().starts_with('\\') {
        return false;
    }
    let (mut depth, mut quote) = (0i64, None);
    let mut letters = entry.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => _ = letters.next(),
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '{' | '(' | '[') => depth += 1,
            (None, '}' | ')' | ']') => depth -= 1,
            (None, _) => {}
        }
    }
    depth > 0 || quote.is_some()
}

/// Words that a line of a query over several lines begins with, but for the first.
const CONTINUATIONS: [&str; 13] = [
    "where",
    "and",
    "or",
    "group",
    "order",
    "load",
    "filter",
    "select",
    "update",
    "include",
    "limit",
    "offset",
    "filter_limit",
];

/// Whether a query goes on in the `next` line, since that begins with a clause. A semicolon ends a query before.
pub(super) fn goes_on(entry: &str, next: &str) -> bool {
    let is_query = |text: &str| !text.is_empty() && !text.starts_with('\\') && !text.ends_with(';');
    let word =
        next.trim_start().split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
    is_query(entry.trim()) && CONTINUATIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The place where the last word of a text begins. Words have letters, digits and what names of fields have.
pub(super) fn word_start(text: &str) -> usize {
    let is_word = |letter: char| letter.is_alphanumeric() || "_.@-[]\\?".contains(letter);
    text.char_indices().rev().take_while(|(_, letter)| is_word(*letter)).last().map_or(text.len(), |(at, _)| at)
}

/// Whether the end of a text is inside of quotes.
pub(super) fn is_in_quotes(text: &str) -> bool {
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match quote {
            Some(_) if letter == '\\' => _ = letters.next(),
            Some(open) if open == letter => quote = None,
            None if matches!(letter, '\'' | '"') => quote = Some(letter),
            _ => {}
        }
    }
    quote.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_open_until_its_quotes_and_brackets_are_closed() {
        let check = |entry: &str, expected: bool| assert_eq!(is_open(entry), expected, "{entry}");
        check("from Orders", false);
        check("from Orders select {", true);
        check("from Orders select { a: '}' ", true);
        check("from Orders select { a: '}' }", false);
        check("where a = 'it\\'s", true);
        check("where a = 'it\\'s'", false);
        check("where a in (1,", true);
        check("\\d it's", false);
        check(") (", false);
        check("", false);
    }

    #[test]
    fn a_line_that_begins_with_a_clause_goes_on_with_the_query() {
        assert!(goes_on("from Orders\n", "  where Freight > 800"));
        assert!(goes_on("from Orders where A = 1\n", "AND B = 2"));
        assert!(goes_on("from Orders\n", "select{ a: 1 }"));
        assert!(!goes_on("from Orders;\n", "where A = 1"));
        assert!(!goes_on("from Orders\n", "from Companies"));
        assert!(!goes_on("\\d\n", "where"));
        assert!(!goes_on("\n", "where"));
        assert!(!goes_on("from Orders\n", "whereabouts"));
    }

    #[test]
    fn the_word_in_work_is_the_last_one() {
        assert_eq!(word_start("from Orders where Ship"), 18);
        assert_eq!(word_start("from Orders where ShipTo.Ci"), 18);
        assert_eq!(word_start("from "), 5);
        assert_eq!(word_start("\\d"), 0);
        assert_eq!(word_start("(é"), 1);
        assert!(is_in_quotes("where a = 'x ") && !is_in_quotes("where a = 'x' "));
    }
}
