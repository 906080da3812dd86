//! Parts of words.

use super::{Each, Word};

/// Characters of the shortest and the longest part.
const SIZES: std::ops::RangeInclusive<usize> = 2..=6;

/// Gives the parts of a word, the shortest first.
pub(super) fn cut<E>(word: &Word<'_>, each: Each<'_, E>) -> Result<(), E> {
    let mut borders: Vec<usize> = word.text.char_indices().map(|(at, _)| at).collect();
    borders.push(word.text.len());
    for size in SIZES {
        for ends in borders.windows(size + 1) {
            let (start, end) = (ends[0], ends[size]);
            each(Word { text: &word.text[start..end], place: word.place.clone() })?;
        }
    }
    Ok(())
}
