//! Words that are like another one: few characters to change, add or drop (Levenshtein), measured as Lucene does.

use super::super::CancelCheck;
use super::{Several, TextMatcher};
use crate::index::{Error, FieldNumber, IndexSnapshot, Kind, StoredTerm, TermRange};
use crate::limits::FUZZY_WORDS_MAX;

/// The words of a field that are liker to a text than `similarity`, the liker the more they count.
pub(super) fn matcher<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    field: FieldNumber,
    text: &str,
    similarity: f32,
    check_cancel: CancelCheck<'_, E>,
) -> Result<TextMatcher, E> {
    let query_chars: Vec<char> = text.chars().collect();
    // So short a word is like no other one.
    if query_chars.len() as f32 <= 1.0 / (1.0 - similarity) {
        return Ok(TextMatcher::Word(field, text.to_owned()));
    }
    let mut likes: Vec<(f32, String)> = Vec::new();
    let mut measure = Measure::default();
    let mut terms = index.terms(&TermRange::all(field, Kind::Text), crate::index::Direction::Ascending);
    while let Some((term, _)) = terms.next()? {
        check_cancel()?;
        // Cut ones are longer than anything that they could be like.
        let StoredTerm::Text(word) = term else { continue };
        let found = measure.similarity(&query_chars, &word, similarity);
        if found > similarity {
            likes.push((found, word));
        }
        // Those that are liker push others out, now and then.
        if likes.len() >= 2 * FUZZY_WORDS_MAX {
            keep_likest(&mut likes);
        }
    }
    keep_likest(&mut likes);
    let mut may: Vec<TextMatcher> = likes
        .into_iter()
        .map(|(found, word)| {
            let boost = (found - similarity) / (1.0 - similarity);
            TextMatcher::Boosted(Box::new(TextMatcher::Word(field, word)), boost)
        })
        .collect();
    Ok(match may.len() {
        0 => TextMatcher::Nothing,
        1 => may.remove(0),
        _ => TextMatcher::Several(Several { may, counts: false, ..Several::default() }),
    })
}

fn keep_likest(likes: &mut Vec<(f32, String)>) {
    likes.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    likes.truncate(FUZZY_WORDS_MAX);
}

/// Compares words; keeps its memory.
#[derive(Default)]
pub(in crate::execute) struct Measure {
    other: Vec<char>,
    row: Vec<usize>,
}

impl Measure {
    /// How like two words are: one less the characters that differ, by the length of the shorter. 0 where it is not above `least`.
    pub fn similarity(&mut self, query_chars: &[char], word: &str, least: f32) -> f32 {
        self.other.clear();
        self.other.extend(word.chars());
        let shorter = query_chars.len().min(self.other.len());
        if shorter == 0 {
            return 0.0;
        }
        let distance_max = ((1.0 - least) * shorter as f32) as usize;
        match self.distance(query_chars, distance_max) {
            Some(distance) => 1.0 - distance as f32 / shorter as f32,
            None => 0.0,
        }
    }

    /// The characters to change, add or drop. `None`: more than `max`.
    ///
    /// Wagner and Fischer, "The String-to-String Correction Problem", JACM 21(1), 1974; one row, ended early.
    fn distance(&mut self, query_chars: &[char], max: usize) -> Option<usize> {
        let Measure { other, row } = self;
        if query_chars.len().abs_diff(other.len()) > max {
            return None;
        }
        row.clear();
        row.extend(0..=other.len());
        for (at, character) in query_chars.iter().enumerate() {
            let mut diagonal = at;
            let mut left = at + 1;
            row[0] = left;
            let mut least = left;
            for (cell, found) in row.iter_mut().skip(1).zip(other.iter()) {
                let changed = diagonal + usize::from(character != found);
                diagonal = *cell;
                left = changed.min(*cell + 1).min(left + 1);
                *cell = left;
                least = least.min(left);
            }
            if least > max {
                return None;
            }
        }
        row.last().copied().filter(|distance| *distance <= max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (one, other, distance) in
            [("kitten", "sitting", 3), ("", "ab", 2), ("ab", "", 2), ("same", "same", 0), ("flaw", "lawn", 2)]
        {
            let mut measure = Measure::default();
            measure.other.extend(other.chars());
            let one: Vec<char> = one.chars().collect();
            assert_eq!(measure.distance(&one, 9), Some(distance));
            assert_eq!(measure.distance(&one, distance), Some(distance));
            if distance > 0 {
                assert_eq!(measure.distance(&one, distance - 1), None);
            }
        }
    }

    #[test]
    fn likeness_is_by_the_shorter_word() {
        let mut measure = Measure::default();
        let mut similarity = |one: &str, other: &str| measure.similarity(&one.chars().collect::<Vec<_>>(), other, 0.0);
        assert_eq!(similarity("quik", "quick"), 0.75);
        assert_eq!(similarity("fox", "fox"), 1.0);
        assert_eq!(similarity("fox", ""), 0.0);
    }
}
