//! English words without their endings: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the changes that its
//! author made to it later (`bli` and `logi`), as Lucene's `PorterStemFilter` has them.

use crate::limits::WORD_LENGTH_MAX;

/// Shortens a lower-cased word to its stem. Words of one or two characters, and of more than [`WORD_LENGTH_MAX`], stay.
///
/// * `letters`: memory that is used again.
pub(super) fn stem(word: &mut String, letters: &mut Vec<char>) {
    letters.clear();
    letters.extend(word.chars());
    if !(3..=WORD_LENGTH_MAX).contains(&letters.len()) {
        return;
    }
    let mut stem = Stem { letters };
    stem.plurals_and_participles();
    stem.final_y();
    stem.replace_by_measure(&DOUBLE_SUFFIXES, 0);
    stem.replace_by_measure(&SUFFIXES, 0);
    stem.drop_suffixes();
    stem.final_e_and_double_l();
    word.clear();
    word.extend(stem.letters.iter());
}

/// Endings of several suffixes, and the one that is left.
const DOUBLE_SUFFIXES: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];

const SUFFIXES: [(&str, &str); 7] =
    [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

/// Endings that go where at least two vowels with consonants behind them stay. Longer ones stand before those that they end with.
const DROPPED: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism",
    "ate", "iti", "ous", "ive",
];

struct Stem<'l> {
    letters: &'l mut Vec<char>,
}

impl Stem<'_> {
    fn is_consonant(&self, at: usize) -> bool {
        match self.letters[at] {
            'a' | 'e' | 'i' | 'o' | 'u' => false,
            // A `y` behind a consonant is a vowel. Of several the first one decides.
            'y' => {
                let ys = self.letters[..at].iter().rev().take_while(|letter| **letter == 'y').count();
                let first = at - ys;
                let is_first_consonant = first == 0 || matches!(self.letters[first - 1], 'a' | 'e' | 'i' | 'o' | 'u');
                is_first_consonant == (ys % 2 == 0)
            }
            _ => true,
        }
    }

    /// How often a vowel is followed by a consonant in the first `length` letters.
    fn measure(&self, length: usize) -> usize {
        (1..length).filter(|at| !self.is_consonant(at - 1) && self.is_consonant(*at)).count()
    }

    fn has_vowel(&self, length: usize) -> bool {
        (0..length).any(|at| !self.is_consonant(at))
    }

    /// The number of letters before an ending; `None`: the word ends otherwise.
    fn before(&self, ending: &str) -> Option<usize> {
        let length = self.letters.len().checked_sub(ending.len())?;
        self.letters[length..].iter().copied().eq(ending.chars()).then_some(length)
    }

    fn replace_end(&mut self, length: usize, by: &str) {
        self.letters.truncate(length);
        self.letters.extend(by.chars());
    }

    fn ends_with_double_consonant(&self) -> bool {
        let length = self.letters.len();
        length >= 2 && self.letters[length - 1] == self.letters[length - 2] && self.is_consonant(length - 1)
    }

    /// Whether the first `length` letters end with a short syllable: consonant, vowel, consonant, the last one not w, x or y.
    fn ends_short(&self, length: usize) -> bool {
        length >= 3
            && self.is_consonant(length - 1)
            && !self.is_consonant(length - 2)
            && self.is_consonant(length - 3)
            && !matches!(self.letters[length - 1], 'w' | 'x' | 'y')
    }

    /// `-s`, `-ed`, `-ing`.
    fn plurals_and_participles(&mut self) {
        if self.letters.last() == Some(&'s') {
            if let Some(length) = self.before("sses").or_else(|| self.before("ies")) {
                let kept = if self.before("sses").is_some() { length + 2 } else { length + 1 };
                self.letters.truncate(kept);
            } else if self.before("ss").is_none() {
                self.letters.pop();
            }
        }
        if let Some(length) = self.before("eed") {
            if self.measure(length) > 0 {
                self.letters.pop();
            }
            return;
        }
        let Some(length) = self.before("ed").or_else(|| self.before("ing")).filter(|length| self.has_vowel(*length))
        else {
            return;
        };
        self.letters.truncate(length);
        if ["at", "bl", "iz"].iter().any(|ending| self.before(ending).is_some()) {
            self.letters.push('e');
        } else if self.ends_with_double_consonant() {
            if !matches!(self.letters.last(), Some('l' | 's' | 'z')) {
                self.letters.pop();
            }
        } else if self.measure(length) == 1 && self.ends_short(length) {
            self.letters.push('e');
        }
    }

    fn final_y(&mut self) {
        if let Some(length) = self.before("y").filter(|length| self.has_vowel(*length)) {
            self.replace_end(length, "i");
        }
    }

    /// Replaces the first ending that is found, if what is before it has more vowels with consonants behind them.
    fn replace_by_measure(&mut self, endings: &[(&str, &str)], more_than: usize) {
        let found = endings.iter().find_map(|(ending, by)| Some((self.before(ending)?, *by)));
        if let Some((length, by)) = found.filter(|(length, _)| self.measure(*length) > more_than) {
            self.replace_end(length, by);
        }
    }

    fn drop_suffixes(&mut self) {
        let found = DROPPED.iter().find_map(|ending| {
            let length = self.before(ending)?;
            // Of `sion` and `tion` the first letter stays.
            Some(if ending.ends_with("ion") { length + 1 } else { length })
        });
        let found = found.or_else(|| self.before("ize"));
        if let Some(length) = found.filter(|length| self.measure(*length) > 1) {
            self.letters.truncate(length);
        }
    }

    fn final_e_and_double_l(&mut self) {
        if let Some(length) = self.before("e") {
            let measure = self.measure(length);
            if measure > 1 || measure == 1 && !self.ends_short(length) {
                self.letters.pop();
            }
        }
        if self.before("ll").is_some() && self.measure(self.letters.len()) > 1 {
            self.letters.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: &str) {
        let mut stemmed = word.to_owned();
        stem(&mut stemmed, &mut Vec::new());
        assert_eq!(stemmed, expected, "{word}");
    }

    /// `stems.txt` has words with the terms that the reference made of them.
    #[test]
    fn words_become_the_stems_of_the_reference() {
        let pairs: Vec<_> = include_str!("stems.txt").lines().filter_map(|line| line.split_once(' ')).collect();
        assert!(pairs.len() > 200);
        pairs.into_iter().for_each(|(word, expected)| check(word, expected));
    }

    #[test]
    fn short_and_endless_words_stay() {
        ["as", "is", "x", "by"].into_iter().for_each(|word| check(word, word));
        let endless = "y".repeat(1_000_000) + "ing";
        check(&endless, &endless);
        check(&("a".repeat(249) + "ations"), &("a".repeat(249) + "ation"));
    }
}
