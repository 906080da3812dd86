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
        // Equal words have the same places.
        let mut distinct: Vec<Vec<u32>> = Vec::new();
        let mut words: Vec<(&str, usize)> = Vec::with_capacity(self.words.len());
        for word in &self.words {
            if let Some((_, known)) = words.iter().find(|(other, _)| other == word) {
                words.push((word, *known));
                continue;
            }
            bytes.clear();
            Term::Text(word).encode(&mut bytes);
            let found = sequence.places(&bytes);
            if found.is_empty() {
                return 0.0;
            }
            words.push((word, distinct.len()));
            distinct.push(found);
        }
        let is_repeating = distinct.len() < words.len();
        let places: Vec<&[u32]> =
            words.iter().filter_map(|(_, known)| distinct.get(*known)).map(Vec::as_slice).collect();
        match (self.distance, is_repeating) {
            (0, _) => exact(&places),
            (distance, false) => near(&places, distance),
            (distance, true) => {
                let known: Vec<usize> = words.iter().map(|(_, known)| *known).collect();
                near_repeating(&known, &places, distance)
            }
        }
    }
}

/// How often places follow each other: of those of the first word, which all rise, each next word leaves some.
fn exact(places: &[&[u32]]) -> f32 {
    let Some((first, rest)) = places.split_first() else { return 0.0 };
    let mut starts = first.to_vec();
    for (places, at) in rest.iter().zip(1u32..) {
        let mut places = places.iter().copied().peekable();
        starts.retain(|start| {
            let wanted = start.saturating_add(at);
            while places.next_if(|place| *place < wanted).is_some() {}
            places.peek() == Some(&wanted)
        });
    }
    starts.len() as f32
}

/// The sum over all windows of one by their width and one more, as Lucene's `SloppyPhraseScorer` counts them.
fn near(places: &[&[u32]], distance: u32) -> f32 {
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
///
/// * `words`: equal numbers are equal words.
fn near_repeating(words: &[usize], places: &[&[u32]], distance: u32) -> f32 {
    // Where a window may begin, each once and rising: equal words have the same places, which are many.
    let end = places.iter().filter_map(|places| places.last()).max().map_or(0, |last| *last as usize + 1);
    let mut is_begin = vec![false; words.len() + end];
    for (word, places) in places.iter().enumerate() {
        for place in places.iter() {
            if let Some(is_begin) = is_begin.get_mut(words.len() + *place as usize - word) {
                *is_begin = true;
            }
        }
    }
    let begins = is_begin.iter().enumerate().filter(|(_, is_begin)| **is_begin);
    // The last equal word before each, whose place is taken.
    let before: Vec<Option<usize>> =
        words.iter().enumerate().map(|(at, word)| words.iter().take(at).rposition(|other| other == word)).collect();
    let mut taken = vec![0; words.len()];
    let mut narrowest: Option<i64> = None;
    for (at, _) in begins {
        let begin = at as i64 - words.len() as i64;
        let widest = narrowest.map_or(i64::from(distance), |narrowest| narrowest - 1);
        if let Some(width) = window(&before, places, begin, widest, &mut taken) {
            narrowest = Some(width);
        }
    }
    narrowest.map_or(0.0, |width| 1.0 / (width + 1) as f32)
}

/// The width of the window that begins here, if it is not over the widest. Of equal words the first takes the first place that it can:
/// the places that are open to each rise from one to the next, so that this is never wrong.
///
/// * `before`: of each word the last equal one before it.
/// * `taken`: memory for the places that words have.
fn window(before: &[Option<usize>], places: &[&[u32]], begin: i64, widest: i64, taken: &mut [i64]) -> Option<i64> {
    let mut width = 0;
    for (word, (places, before)) in places.iter().zip(before).enumerate() {
        let least = before.and_then(|before| taken.get(before)).map_or(0, |place| place + 1);
        let least = (begin + word as i64).max(least);
        let at = places.partition_point(|place| i64::from(*place) < least);
        let place = i64::from(*places.get(at)?);
        *taken.get_mut(word)? = place;
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
        assert_eq!(near(&[&[6], &[0]], 10), 1.0 / 8.0);
        assert_eq!(near(&[&[6], &[0]], 6), 0.0);
        // "quick fox", asked for as "fox quick"
        assert_eq!(near(&[&[1], &[0]], 2), 1.0 / 3.0);
        // "fox trot quick"
        assert_eq!(near(&[&[0], &[2]], 1), 0.5);
        assert_eq!(near(&[&[0, 5], &[1, 6]], 2), 2.0);
        assert_eq!(exact(&[&[0, 5, 9], &[1, 6]]), 2.0);
        assert_eq!(exact(&[&[1], &[0]]), 0.0);
    }

    #[test]
    fn a_word_that_comes_twice_needs_two_places() {
        let words = [0, 0];
        assert_eq!(near_repeating(&words, &[&[3], &[3]], 9), 0.0);
        assert_eq!(near_repeating(&words, &[&[3, 4], &[3, 4]], 9), 1.0);
        assert_eq!(near_repeating(&words, &[&[3, 6], &[3, 6]], 2), 1.0 / 3.0);
        assert_eq!(near_repeating(&words, &[&[3, 6], &[3, 6]], 1), 0.0);
    }
}
