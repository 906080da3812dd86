//! Suggestions for misspelt names: the name that exists and is nearest to a given one.
//!
//! The distance of two names is the optimal string alignment distance: how many characters are inserted, deleted, replaced, or swapped
//! with their neighbour (Damerau, "A technique for computer detection and correction of spelling errors", CACM 7(3), 1964), without regard
//! to case.

use crate::limits::{SPELLING_DISTANCE_MAX, SPELLING_LENGTH_MAX};

/// The known name that is nearest to `name`, if it is near enough to be a misspelling: one difference in three characters, at most
/// [`SPELLING_DISTANCE_MAX`]. Of names that are as near, the first. A name of over [`SPELLING_LENGTH_MAX`] characters has none.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = characters(name)?;
    let mut bound = (wanted.len() / 3).min(SPELLING_DISTANCE_MAX) + 1;
    let mut found = None;
    for candidate in known.into_iter().filter(|known| *known != name) {
        let Some(characters) = characters(candidate) else { continue };
        if characters.len().abs_diff(wanted.len()) >= bound {
            continue;
        }
        let distance = distance(&wanted, &characters);
        if distance < bound {
            (bound, found) = (distance, Some(candidate));
        }
    }
    found
}

/// The lower-cased characters; `None`: they are too many.
fn characters(name: &str) -> Option<Vec<char>> {
    let characters: Vec<char> = name.chars().flat_map(char::to_lowercase).take(SPELLING_LENGTH_MAX + 1).collect();
    (characters.len() <= SPELLING_LENGTH_MAX).then_some(characters)
}

/// The optimal string alignment distance of two texts, in their units (characters or bytes), by three rows of its matrix.
pub fn distance<T: PartialEq>(one: &[T], other: &[T]) -> usize {
    let mut before_last = vec![0; other.len() + 1];
    let mut last: Vec<usize> = (0..=other.len()).collect();
    let mut row = vec![0; other.len() + 1];
    for (at, left) in one.iter().enumerate() {
        row[0] = at + 1;
        for (to, right) in other.iter().enumerate() {
            let replaced = last[to] + usize::from(left != right);
            let mut least = replaced.min(last[to + 1] + 1).min(row[to] + 1);
            if at > 0 && to > 0 && *left == other[to - 1] && one[at - 1] == *right {
                least = least.min(before_last[to - 1] + 1);
            }
            row[to + 1] = least;
        }
        std::mem::swap(&mut before_last, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_single_edits_and_swaps() {
        let check = |one: &str, other: &str, expected: usize| {
            let [one, other] = [one, other].map(|text| text.chars().collect::<Vec<_>>());
            assert_eq!((distance(&one, &other), distance(&other, &one)), (expected, expected));
        };
        check("", "", 0);
        check("", "abc", 3);
        check("freight", "freigth", 1);
        check("oders", "orders", 1);
        check("kitten", "sitting", 3);
        check("ca", "abc", 3);
    }

    #[test]
    fn the_nearest_name_is_suggested_if_it_is_near() {
        let known = ["Freight", "ShipTo", "ShipTo.Country", "Age", "Lines[].Product"];
        let check = |name: &str, expected: Option<&str>| assert_eq!(nearest(name, known), expected, "{name}");
        check("Freigth", Some("Freight"));
        check("freight", Some("Freight"));
        check("Frei", None);
        check("ShipTo.Contry", Some("ShipTo.Country"));
        check("Lines.Product", Some("Lines[].Product"));
        check("age", Some("Age"));
        check("Agx", Some("Age"));
        check("Ax", None);
        check("Weight", Some("Freight"));
        check("Price", None);
        check("Freight", None);
        check(&"x".repeat(SPELLING_LENGTH_MAX + 1), None);
    }
}
