//! Characters beyond ASCII as the ASCII characters that they look like: what Lucene's `ASCIIFoldingFilter` makes of each of them.
//!
//! `folding.txt` has a line for each result: the result, a blank, and all characters that become it.

use std::sync::LazyLock;

const TABLE: &str = include_str!("folding.txt");

/// The characters of the table, sorted, each with what it becomes.
static FOLDED: LazyLock<Vec<(char, &'static str)>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter_map(|line| line.split_once(' '));
    let mut folded: Vec<_> =
        lines.flat_map(|(result, characters)| characters.chars().map(move |character| (character, result))).collect();
    folded.sort_unstable();
    folded
});

/// Folds a word in place.
///
/// * `spare`: memory that is used again.
pub(super) fn fold(word: &mut String, spare: &mut String) {
    if word.is_ascii() {
        return;
    }
    spare.clear();
    for character in word.chars() {
        match FOLDED.binary_search_by_key(&character, |(character, _)| *character) {
            Ok(at) if !character.is_ascii() => spare.push_str(FOLDED[at].1),
            _ => spare.push(character),
        }
    }
    std::mem::swap(word, spare);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: &str) {
        let mut folded = word.to_owned();
        fold(&mut folded, &mut String::new());
        assert_eq!(folded, expected, "{word}");
    }

    #[test]
    fn letters_lose_their_marks_and_ligatures_their_ties() {
        check("Rogério", "Rogerio");
        check("Größe ẞ Ærø ĲSSELMEER ﬁn Łódź İ", "Grosse SS AEro IJSSELMEER fin Lodz I");
        check("“½” ①⑳ ｆｕｌｌ ²", "\"½\" 120 full 2");
        check("русский 日本 テスト \u{1f600}", "русский 日本 テスト \u{1f600}");
        check("plain", "plain");
    }

    #[test]
    fn the_table_has_each_character_once_and_gives_ascii() {
        assert!(FOLDED.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(
            FOLDED.iter().all(|(character, result)| !character.is_ascii() && result.is_ascii() && !result.is_empty())
        );
        assert_eq!(FOLDED.len(), 1242);
    }
}
