//! The commonest words of English, which say nothing about a text: the list that Lucene's analyzers have.

/// Sorted.
const WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
];

/// Whether a lower-cased word is one of them.
pub(super) fn contains(word: &str) -> bool {
    word.len() <= 5 && WORDS.binary_search(&word).is_ok()
}

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    WORDS.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_short() {
        assert!(WORDS.is_sorted() && WORDS.iter().all(|word| word.len() <= 5));
        assert!(contains("the") && !contains("fox") && !contains("theirs"));
    }
}
