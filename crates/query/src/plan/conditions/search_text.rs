//! The text of `search(..)`: what stands between white space, phrases in quotes, wildcards.
//!
//! ```text
//! text   := ( white space | '"' phrase [ '"' ] | part )*
//! part   := [ '*' ] word [ '*' ]        a star at either end is a wildcard; '\' takes the next character as it is
//! ```
//!
//! No text is wrong. What a part means is for the analyzer of a field to say: a part that it makes several words of is a phrase.

/// A part of a text that is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPart {
    /// The text, without quotes and stars at its ends.
    pub text: String,
    /// What else may stand around it.
    pub wildcard: Wildcard,
}

/// Where a word may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wildcard {
    /// Nowhere.
    None,
    /// `word*`
    Behind,
    /// `*word`
    Before,
    /// `*word*`
    Around,
}

/// Takes a text apart.
pub(crate) fn parts(text: &str) -> Vec<SearchPart> {
    let mut parts = Vec::new();
    let mut part = SearchWord::default();
    let mut is_quoted = false;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                part.end(is_quoted, &mut parts);
                is_quoted = !is_quoted;
            }
            '\\' => part.push(characters.next().unwrap_or('\\'), true),
            character if character.is_whitespace() && !is_quoted => part.end(false, &mut parts),
            character => part.push(character, false),
        }
    }
    part.end(is_quoted, &mut parts);
    parts
}

/// A part that is being read.
#[derive(Default)]
struct SearchWord {
    text: String,
    /// The bytes of escaped characters, where they stand.
    escaped: Vec<usize>,
}

impl SearchWord {
    fn push(&mut self, character: char, is_escaped: bool) {
        if is_escaped {
            self.escaped.push(self.text.len());
        }
        self.text.push(character);
    }

    fn end(&mut self, is_quoted: bool, parts: &mut Vec<SearchPart>) {
        let SearchWord { text, escaped } = std::mem::take(self);
        if text.is_empty() {
            return;
        }
        if is_quoted {
            return parts.push(SearchPart { text, wildcard: Wildcard::None });
        }
        let is_star = |at: usize| text.as_bytes().get(at) == Some(&b'*') && !escaped.contains(&at);
        let (mut start, mut end) = (0, text.len());
        while is_star(start) {
            start += 1;
        }
        while end > start && is_star(end - 1) {
            end -= 1;
        }
        let wildcard = match (start > 0, end < text.len()) {
            (false, false) => Wildcard::None,
            (false, true) => Wildcard::Behind,
            (true, false) => Wildcard::Before,
            (true, true) => Wildcard::Around,
        };
        // Only stars: anything.
        let wildcard = if start == end { Wildcard::Around } else { wildcard };
        parts.push(SearchPart { text: text.get(start..end).unwrap_or_default().to_owned(), wildcard });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, Wildcard)]) {
        let found = parts(text);
        let found: Vec<(&str, Wildcard)> = found.iter().map(|part| (part.text.as_str(), part.wildcard)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn texts_are_taken_apart() {
        use Wildcard::{Around, Before, Behind, None};
        check("", &[]);
        check(" \t ", &[]);
        check("fox  Dog", &[("fox", None), ("Dog", None)]);
        check("fo* *ox *o* f*x", &[("fo", Behind), ("ox", Before), ("o", Around), ("f*x", None)]);
        check("* ***", &[("", Around), ("", Around)]);
        check("**fo fo**", &[("fo", Before), ("fo", Behind)]);
        check("\"quick  fox\" dog", &[("quick  fox", None), ("dog", None)]);
        check("a\"b c\"d", &[("a", None), ("b c", None), ("d", None)]);
        check("\"open end", &[("open end", None)]);
        check("fo\\* \\\"x\\\" \\", &[("fo*", None), ("\"x\"", None), ("\\", None)]);
        check("\"fo* b\"", &[("fo* b", None)]);
    }
}
