//! The known word that a misspelt one probably means.

use crate::spelling::distance;

/// The word of `known` that is nearest to `word`, in any case of letters: one edit away, or two if both have five letters or more. `None`:
/// none is that near, or `word` is one of them. Edits are those of [`distance`].
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() < 3 || word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    let near = known.into_iter().filter_map(|candidate| {
        let max = if word.len() >= 5 && candidate.len() >= 5 { 2 } else { 1 };
        let distance = distance(word.as_bytes(), candidate.to_lowercase().as_bytes());
        (1..=max).contains(&distance).then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_is_near_and_two_are_in_long_words() {
        let known = ["where", "order", "group", "select", "from", "in"];
        for (word, expected) in [
            ("wher", Some("where")),
            ("WEHRE", Some("where")),
            ("oder", Some("order")),
            ("slect", Some("select")),
            ("selcte", Some("select")),
            ("form", Some("from")),
            ("where", None),
            ("it", None),
            ("status", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
