//! Patterns with `*`, any characters, and `?`, any one.

use super::Pattern;
use std::fmt::{self, Write};

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::execute) struct Glob(Vec<GlobPart>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum GlobPart {
    /// `*`
    Any,
    /// `?`
    One,
    Character(char),
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            GlobPart::Any => f.write_char('*'),
            GlobPart::One => f.write_char('?'),
            GlobPart::Character(character @ ('*' | '?' | '\\')) => write!(f, "\\{character}"),
            GlobPart::Character(character) => f.write_char(*character),
        })
    }
}

impl Glob {
    /// What a text with wildcards means; `\\` takes the next character as it is.
    pub fn pattern(text: &str) -> Pattern {
        let mut parts = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '*' if parts.last() == Some(&GlobPart::Any) => {}
                '*' => parts.push(GlobPart::Any),
                '?' => parts.push(GlobPart::One),
                '\\' => parts.push(GlobPart::Character(characters.next().unwrap_or('\\'))),
                character => parts.push(GlobPart::Character(character)),
            }
        }
        // A star at the end alone is a range.
        if let Some((GlobPart::Any, before)) = parts.split_last() {
            let prefix = before
                .iter()
                .map(|part| if let GlobPart::Character(character) = part { Some(*character) } else { None });
            if let Some(prefix) = prefix.collect::<Option<String>>() {
                return Pattern::Prefix(prefix);
            }
        }
        Pattern::Glob(Glob(parts))
    }

    /// Whether a word fits. A star takes as little as it can, and one more when what follows does not fit: only the last star is ever
    /// tried again, so it takes no more than the product of both lengths.
    pub fn fits(&self, word: &str) -> bool {
        let parts = &self.0;
        let mut part = 0;
        let mut rest = word.chars();
        // The last star, and what it has not taken yet.
        let mut star: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            let mut ahead = rest.clone();
            match (parts.get(part), ahead.next()) {
                (Some(GlobPart::Any), _) => {
                    part += 1;
                    star = Some((part, rest.clone()));
                }
                (None, None) => return true,
                (Some(GlobPart::One), Some(_)) => (part, rest) = (part + 1, ahead),
                (Some(GlobPart::Character(wanted)), Some(found)) if *wanted == found => {
                    (part, rest) = (part + 1, ahead)
                }
                _ => {
                    let Some((after, taken)) = &mut star else { return false };
                    if taken.next().is_none() {
                        return false;
                    }
                    (part, rest) = (*after, taken.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_to_patterns() {
        for (pattern, word, fits) in [
            ("f*x", "fox", true),
            ("f*x", "fx", true),
            ("f*x", "foxy", false),
            ("f?x", "fox", true),
            ("f?x", "fx", false),
            ("*o*o?", "foxboot", true),
            ("*o*o?", "foxboo", true),
            ("*o*o?", "fox", false),
            ("a\\*b*", "a*bc", true),
            ("a\\*b?", "axbc", false),
            ("?", "\u{1f426}", true),
            ("*a", "", false),
        ] {
            assert_eq!(Glob::pattern(pattern).fits(word), fits, "{pattern} {word}");
        }
        assert_eq!(Glob::pattern("fo**"), Pattern::Prefix("fo".to_owned()));
        assert_eq!(Glob::pattern("f\\*o*"), Pattern::Prefix("f*o".to_owned()));
    }
}
