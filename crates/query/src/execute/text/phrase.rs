//! Words near to each other: how often, and how near.

use crate::index::{FieldNumber, Term, WordSequence};
use std::fmt;

/// Several words of a field.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::execute) struct Phrase {
    pub field: FieldNumber,
    /// At least two, in their order.
    pub words: Vec<String>,
    /// By how many places they may be moved in all; 0: they follow each other.
    pub distance: u32,
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.words.join(" "))?;
        if self.distance > 0 { write!(f, "~{}", self.distance) } else { Ok(()) }
    }
}

impl Phrase {
    /// How often it comes in an entry, what is not so near counting less. 0: it does not.
    pub fn frequency(&self, sequence: &WordSequence<'_>) -> f32 {
        let mut bytes = Vec::new();
        let mut places = Vec::with_capacity(self.words.len());
        for word in &self.words {
            bytes.clear();
            Term::Text(word).encode(&mut bytes);
            let found = sequence.places(&bytes);
            if found.is_empty() {
                return 0.0;
            }
            places.push(found);
        }
        let is_repeating = (1..self.words.len()).any(|at| self.words[..at].contains(&self.words[at]));
        match (self.distance, is_repeating) {
            (0, _) => exact(&places),
            (distance, false) => near(&places, distance),
            (distance, true) => near_repeating(&self.words, &places, distance),
        }
    }
}

/// How often places follow each other.
fn exact(places: &[Vec<u32>]) -> f32 {
    let Some((first, rest)) = places.split_first() else { return 0.0 };
    let follow = |start: &&u32| {
        let mut others = rest.iter().zip(1u32..);
        others.all(|(places, at)| start.checked_add(at).is_some_and(|place| places.binary_search(&place).is_ok()))
    };
    first.iter().filter(follow).count() as f32
}

/// The sum over all windows of one by their width and one more, as Lucene's `SloppyPhraseScorer` counts them.
fn near(places: &[Vec<u32>], distance: u32) -> f32 {
    // Of each word where it would have to begin for the phrase to be exact.
    let start = |word: usize, at: usize| Some(i64::from(*places.get(word)?.get(at)?) - word as i64);
    let mut at = vec![0; places.len()];
    let mut starts: Vec<i64> = (0..places.len()).filter_map(|word| start(word, 0)).collect();
    let mut end = starts.iter().copied().max().unwrap_or_default();
    let mut frequency = 0.0;
    loop {
        // The first one is moved on as long as it stays the first.
        let first = (0..starts.len()).min_by_key(|word| starts[*word]).unwrap_or_default();
        let next = (0..starts.len()).filter(|word| *word != first).map(|word| starts[word]).min().unwrap_or_default();
        let mut begin = starts[first];
        let moved = loop {
            if starts[first] <= next {
                begin = starts[first];
            } else {
                break true;
            }
            at[first] += 1;
            match start(first, at[first]) {
                Some(moved) => starts[first] = moved,
                None => break false,
            }
        };
        let width = end - begin;
        if width <= i64::from(distance) {
            frequency += 1.0 / (width + 1) as f32;
        }
        if !moved {
            return frequency;
        }
        end = end.max(starts[first]);
    }
}

/// The same where a word comes more than once in the phrase, and each needs a place of its own: the narrowest window counts.
fn near_repeating(words: &[String], places: &[Vec<u32>], distance: u32) -> f32 {
    let mut begins: Vec<i64> = places
        .iter()
        .enumerate()
        .flat_map(|(word, places)| places.iter().map(move |place| i64::from(*place) - word as i64))
        .collect();
    begins.sort_unstable();
    begins.dedup();
    let mut narrowest: Option<i64> = None;
    for begin in begins {
        let widest = narrowest.map_or(i64::from(distance), |narrowest| narrowest - 1);
        if let Some(width) = window(words, places, begin, widest) {
            narrowest = Some(width);
        }
    }
    narrowest.map_or(0.0, |width| 1.0 / (width + 1) as f32)
}

/// The width of the window that begins here, if it is not over the widest. Of equal words the first takes the first place that it can:
/// the places that are open to each rise from one to the next, so that this is never wrong.
fn window(words: &[String], places: &[Vec<u32>], begin: i64, widest: i64) -> Option<i64> {
    let mut width = 0;
    let mut taken: Vec<i64> = vec![-1; words.len()];
    for (word, places) in places.iter().enumerate() {
        let before =
            (0..word).filter(|other| words[*other] == words[word]).map(|other| taken[other]).max().unwrap_or(-1);
        let least = (begin + word as i64).max(before + 1);
        let at = places.partition_point(|place| i64::from(*place) < least);
        let place = i64::from(*places.get(at)?);
        taken[word] = place;
        width = width.max(place - word as i64 - begin);
        if width > widest {
            return None;
        }
    }
    Some(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frequencies that the scores of the reference come to.
    #[test]
    fn nearness_is_that_of_lucene() {
        // "quick brown fox jumps over lazy dog": dog quick
        assert_eq!(near(&[vec![6], vec![0]], 10), 1.0 / 8.0);
        assert_eq!(near(&[vec![6], vec![0]], 6), 0.0);
        // "quick fox", asked for as "fox quick"
        assert_eq!(near(&[vec![1], vec![0]], 2), 1.0 / 3.0);
        // "fox trot quick"
        assert_eq!(near(&[vec![0], vec![2]], 1), 0.5);
        assert_eq!(near(&[vec![0, 5], vec![1, 6]], 2), 2.0);
        assert_eq!(exact(&[vec![0, 5, 9], vec![1, 6]]), 2.0);
        assert_eq!(exact(&[vec![1], vec![0]]), 0.0);
    }

    #[test]
    fn a_word_that_comes_twice_needs_two_places() {
        let words = ["a", "a"].map(str::to_owned);
        assert_eq!(near_repeating(&words, &[vec![3], vec![3]], 9), 0.0);
        assert_eq!(near_repeating(&words, &[vec![3, 4], vec![3, 4]], 9), 1.0);
        assert_eq!(near_repeating(&words, &[vec![3, 6], vec![3, 6]], 2), 1.0 / 3.0);
        assert_eq!(near_repeating(&words, &[vec![3, 6], vec![3, 6]], 1), 0.0);
    }
}
