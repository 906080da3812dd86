//! Cutting a text into fragments around what was found in it.
//!
//! ```text
//!             <------------- length ------------->
//!  .. the end, and here <it> stands in the middle of its frag|ment ..
//!             |<- from here                  to here ->|
//! ```
//!
//! The first place of a fragment stands in its middle; others that it has room for are taken along. It begins behind the last `.`, `;` or
//! the like before that place, unless it reaches the end of the text, or with a whole word, and ends with one, as the reference's mostly
//! do. No two fragments overlap.

use super::places::HighlightMatch;
use crate::plan::Tags;
use std::ops::Range;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    /// Its bytes.
    range: Range<usize>,
    /// The places that are in it.
    places: Range<usize>,
}

/// The first fragments of a text.
///
/// * `places`: rising, and apart from each other.
/// * `length`: in characters; one that has a longer place is as long as that.
pub(super) fn cut(text: &str, places: &[HighlightMatch], length: usize, count_max: usize) -> Vec<Fragment> {
    let mut fragments: Vec<Fragment> = Vec::new();
    let (mut at, mut border) = (0, 0);
    while let Some(first) = places.get(at).filter(|_| fragments.len() < count_max) {
        let (start, end) = (first.start(), first.end());
        // Half of it ends the fragment before.
        if start < border {
            at += 1;
            continue;
        }
        let margin = length.saturating_sub(text[start..end].chars().count()) / 2;
        let low = back(text, border..start, margin);
        let mut high = ahead(text, low, length).max(end);
        let from = match clause(text, low, start).filter(|_| low > 0 && high < text.len()) {
            Some(from) => {
                high = ahead(text, from, length).max(end);
                from
            }
            None => word(text, low, start),
        };
        let in_it = places.get(at..).unwrap_or_default().iter().take_while(|place| place.end() <= high);
        let next = at + in_it.count().max(1);
        let last = places.get(next - 1).map_or(end, HighlightMatch::end);
        border = finish(text, last, high);
        fragments.push(Fragment { range: from..border, places: at..next });
        at = next;
    }
    fragments
}

/// The position `count` characters before the end of a range, or its start.
fn back(text: &str, range: Range<usize>, count: usize) -> usize {
    let (start, end) = (range.start, range.end);
    // The end itself, the character before it, and so on.
    let places = text[range].char_indices().rev().map(|(at, _)| start + at);
    std::iter::once(end).chain(places).nth(count).unwrap_or(start)
}

/// The position `count` characters after a place, or the end of the text.
fn ahead(text: &str, at: usize, count: usize) -> usize {
    text[at..].char_indices().nth(count).map_or(text.len(), |(more, _)| at + more)
}

/// The beginning of the clause that a place is in, if that is behind `low`.
fn clause(text: &str, low: usize, place: usize) -> Option<usize> {
    let before = &text[low..place];
    let ends = before.char_indices().rev().filter(|(_, character)| matches!(character, '.' | '!' | '?' | ';' | ','));
    let mut starts = ends.map(|(at, _)| &before[at + 1..]).filter(|rest| rest.starts_with(char::is_whitespace));
    starts.next().map(|rest| place - rest.trim_start().len())
}

/// `low`, or the end of the word that it is inside of.
fn word(text: &str, low: usize, place: usize) -> usize {
    let before = &text[low..place];
    let is_start = low == 0 || text[..low].ends_with(char::is_whitespace);
    low + before.find(char::is_whitespace).filter(|_| !is_start).unwrap_or(0)
}

/// Where a fragment ends that has a place up to `place` and may end at `high`.
fn finish(text: &str, place: usize, high: usize) -> usize {
    let behind = &text[place..high];
    let is_inside = !behind.ends_with(char::is_whitespace) && !text[high..].starts_with(char::is_whitespace);
    let behind = match behind.rfind(char::is_whitespace) {
        Some(at) if is_inside && high < text.len() => &behind[..at],
        _ => behind,
    };
    place + behind.trim_end().len()
}

impl Fragment {
    /// The fragment with tags.
    pub fn tagged(&self, text: &str, places: &[HighlightMatch], tags: &Tags) -> String {
        let mut tagged = String::with_capacity(2 * self.range.len());
        let mut at = self.range.start;
        for place in places.get(self.places.clone()).unwrap_or_default() {
            let (before, behind) = tags.of(place.number as usize);
            for span in &place.spans {
                tagged.push_str(&text[at..span.start]);
                tagged.push_str(before);
                tagged.push_str(&text[span.clone()]);
                tagged.push_str(behind);
                at = span.end;
            }
        }
        tagged.push_str(&text[at..self.range.end]);
        tagged
    }
}

#[cfg(test)]
#[path = "fragments_tests.rs"]
mod tests;
