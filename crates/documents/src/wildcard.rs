//! Wildcards as `matches` and `exclude` have them: `*` for any characters, `?` for one, alternatives separated by `|`.

/// Patterns of which one must fit. Compared without regard to case, as ids are.
#[derive(Clone, Debug)]
pub struct Wildcards {
    patterns: Vec<Vec<char>>,
}

impl Wildcards {
    /// None for empty text, which asks for nothing.
    pub fn new(text: &str) -> Option<Wildcards> {
        let lower = |part: &str| String::from_utf8_lossy(&crate::id::lower(part)).chars().collect();
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
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut in_pattern) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(in_pattern) {
            Some('*') => {
                star = Some((in_pattern, at));
                in_pattern += 1;
            }
            Some(expected) if *expected == '?' || *expected == text[at] => {
                in_pattern += 1;
                at += 1;
            }
            _ => match star {
                Some((star_at, from)) => {
                    star = Some((star_at, from + 1));
                    in_pattern = star_at + 1;
                    at = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[in_pattern..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
