//! Wildcards as `matches` and `exclude` have them: `*` for any characters, `?` for one, alternatives separated by `|`.

use std::str::Chars;

/// Patterns of which one must fit. Compared without regard to case, as ids are.
#[derive(Clone, Debug)]
pub struct Wildcards {
    patterns: Vec<Vec<char>>,
}

impl Wildcards {
    /// None for empty text, which asks for nothing.
    pub fn new(text: &str) -> Option<Wildcards> {
        let lower = |part: &str| String::from_utf8_lossy(&super::id::lower(part)).chars().collect();
        let patterns: Vec<_> = text.split('|').filter(|part| !part.is_empty()).map(lower).collect();
        if patterns.is_empty() { None } else { Some(Wildcards { patterns }) }
    }

    /// Whether one of the patterns fits the lower-cased text.
    pub fn fit(&self, lower: &str) -> bool {
        self.patterns.iter().any(|pattern| fits(pattern, lower))
    }
}

/// Goes back to the last `*` when a character does not fit: linear for patterns with one `*`, never exponential.
fn fits(pattern: &[char], text: &str) -> bool {
    let (mut rest, mut in_pattern) = (text.chars(), 0);
    // Its place in the pattern, and the text from where it began on.
    let mut star: Option<(usize, Chars<'_>)> = None;
    let mut after = rest.clone();
    while let Some(character) = after.next() {
        match pattern.get(in_pattern) {
            Some('*') => {
                star = Some((in_pattern, rest.clone()));
                in_pattern += 1;
            }
            Some(expected) if *expected == '?' || *expected == character => {
                in_pattern += 1;
                rest = after.clone();
            }
            _ => match &mut star {
                Some((star_at, from)) => {
                    from.next();
                    in_pattern = *star_at + 1;
                    rest = from.clone();
                }
                None => return false,
            },
        }
        after = rest.clone();
    }
    pattern[in_pattern..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_and_question_marks_fit() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("1*", "10", true),
            ("1*", "21", false),
            ("?", "a", true),
            ("?", "", false),
            ("a?c|x*", "abc", true),
            ("a?c|x*", "xyz", true),
            ("*1*2", "0102", true),
            ("*1*2", "0201", false),
            ("AB*", "abc", true),
            ("a**b", "ab", true),
            ("İ*", "İx", true),
            ("Ä*", "äx", true),
        ] {
            assert_eq!(Wildcards::new(pattern).unwrap().fit(text), expected, "{pattern} {text}");
        }
        assert!(Wildcards::new("").is_none() && Wildcards::new("|").is_none());
    }

    /// By trying all there is.
    fn fits_slowly(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|from| fits_slowly(rest, &text[from..])),
            Some((expected, rest)) => text
                .split_first()
                .is_some_and(|(first, text)| (*expected == '?' || expected == first) && fits_slowly(rest, text)),
        }
    }

    proptest! {
        #[test]
        fn what_fits_is_what_trying_all_finds(pattern in "[ab?*ä]{0,7}", text in "[abä]{0,9}") {
            let (pattern, characters): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
            prop_assert_eq!(fits(&pattern, &text), fits_slowly(&pattern, &characters));
        }
    }
}
