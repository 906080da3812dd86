//! The order of the names of terms in facets: that of the Unicode Collation Algorithm's root for ASCII, as the reference has it,
//! which sorts `a_b` before `a-b`, both before `ab`, and capitals behind small letters where nothing else differs. Characters beyond
//! ASCII come behind it by their code points, where the algorithm would put `ä` beside `a`.

use std::cmp::Ordering;

/// ASCII's punctuation and symbols as the algorithm orders them, before digits and letters.
const SIGNS: &[u8] = b"\t\n\x0b\x0c\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Behind the signs: digits, then letters.
const DIGITS: u32 = 64;
const LETTERS: u32 = DIGITS + 10;
const OTHERS: u32 = LETTERS + 26;

/// The place of each sign; 0 for those that are none and for control characters, which count as nothing much.
const PLACES: [u8; 128] = {
    let mut places = [0; 128];
    let mut at = 0;
    while at < SIGNS.len() {
        places[SIGNS[at] as usize] = at as u8 + 1;
        at += 1;
    }
    places
};
const _: () = assert!((SIGNS.len() as u32) < DIGITS);

/// Where a character stands among others, its case set aside.
fn place(character: char) -> u32 {
    match character {
        '0'..='9' => DIGITS + (character as u32 - '0' as u32),
        'a'..='z' => LETTERS + (character as u32 - 'a' as u32),
        'A'..='Z' => LETTERS + (character as u32 - 'A' as u32),
        character => match PLACES.get(character as usize) {
            Some(place) => u32::from(*place),
            None => OTHERS + character as u32,
        },
    }
}

/// Which of two names comes first; equal only if they are the same.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let by_places = one.chars().map(place).cmp(other.chars().map(place));
    // A small letter is the greater byte, and comes first.
    by_places.then_with(|| other.cmp(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference orders the terms of a facet, those beyond ASCII left out.
    #[test]
    fn names_are_ordered_as_by_the_reference() {
        let sorted = [
            "10",
            "9",
            "a b",
            "a_b",
            "a-b",
            "A1",
            "ab",
            "ab2",
            "EMPTY_STRING",
            "mzz",
            "n",
            "null_value",
            "NULL_VALUE",
            "o",
            "Zeta",
            "é",
        ];
        for pair in sorted.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(compare(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
    }
}
