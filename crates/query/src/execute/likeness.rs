//! How like two words are, from 0 to 1: the measures of Lucene's `SpellChecker`.

/// Sizes of the parts of a word that it is looked up by.
fn part_sizes(length: usize) -> std::ops::RangeInclusive<usize> {
    match length {
        6.. => 3..=4,
        5 => 2..=3,
        _ => 1..=2,
    }
}

/// Whether two words have a part in common, of a size that both are cut into.
pub(super) fn share_part(one: &[char], other: &[char]) -> bool {
    let (of_one, of_other) = (part_sizes(one.len()), part_sizes(other.len()));
    let mut sizes = *of_one.start().max(of_other.start())..=*of_one.end().min(of_other.end());
    sizes.any(|size| one.windows(size).any(|part| other.windows(size).any(|found| found == part)))
}

/// One less the share of the longer word that has to be changed, added or dropped.
pub(super) fn levenshtein(one: &[char], other: &[char]) -> f32 {
    let longer = one.len().max(other.len());
    if longer == 0 {
        return 1.0;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, character) in one.iter().enumerate() {
        let (mut diagonal, mut left) = (at, at + 1);
        row[0] = left;
        for (cell, found) in row.iter_mut().skip(1).zip(other) {
            let changed = diagonal + usize::from(character != found);
            diagonal = *cell;
            left = changed.min(*cell + 1).min(left + 1);
            *cell = left;
        }
    }
    1.0 - row[other.len()] as f32 / longer as f32
}

/// Jaro's measure, and a tenth more of what is missing for each character of a common beginning (Winkler, "String Comparator Metrics
/// and Enhanced Decision Rules", 1990), in Lucene's form: the beginning may be of any length.
pub(super) fn jaro_winkler(one: &[char], other: &[char]) -> f32 {
    let (shorter, longer) = if one.len() > other.len() { (other, one) } else { (one, other) };
    let reach = (longer.len() / 2).saturating_sub(1);
    let mut is_matched = vec![false; longer.len()];
    let mut of_shorter = Vec::new();
    for (at, character) in shorter.iter().enumerate() {
        let places = at.saturating_sub(reach)..longer.len().min(at + reach + 1);
        for place in places {
            if !is_matched[place] && longer[place] == *character {
                is_matched[place] = true;
                of_shorter.push(*character);
                break;
            }
        }
    }
    if of_shorter.is_empty() {
        return 0.0;
    }
    let of_longer =
        longer.iter().zip(&is_matched).filter(|(_, is_matched)| **is_matched).map(|(character, _)| character);
    let moved = of_shorter.iter().zip(of_longer).filter(|(one, other)| one != other).count() / 2;
    let matches = of_shorter.len() as f32;
    let jaro = (matches / one.len() as f32 + matches / other.len() as f32 + (matches - moved as f32) / matches) / 3.0;
    if jaro < 0.7 {
        return jaro;
    }
    let begin = shorter.iter().zip(longer).take_while(|(one, other)| one == other).count();
    jaro + 0.1f32.min(1.0 / longer.len() as f32) * begin as f32 * (1.0 - jaro)
}

/// Pairs of characters in common, as an edit distance of pairs (Kondrak, "N-Gram Similarity and Distance", 2005).
pub(super) fn pairs(one: &[char], other: &[char]) -> f32 {
    let (one_length, other_length) = (one.len(), other.len());
    let longer = one_length.max(other_length) as f32;
    if one_length < 2 || other_length < 2 {
        let same = one.iter().zip(other).filter(|(one, other)| one == other).count();
        return if longer == 0.0 { 1.0 } else { same as f32 / longer };
    }
    // Before each word stands a character that no word has.
    let at = |word: &[char], place: usize| place.checked_sub(1).map(|place| word[place]);
    let mut before: Vec<f32> = (0..=one_length).map(|cell| cell as f32).collect();
    let mut row = before.clone();
    for to in 1..=other_length {
        row[0] = to as f32;
        for from in 1..=one_length {
            let (mut cost, mut size) = (0.0, 2.0);
            for offset in 0..2 {
                let (found, wanted) = (at(one, from - 1 + offset), at(other, to - 1 + offset));
                if found != wanted {
                    cost += 1.0;
                } else if found.is_none() {
                    size -= 1.0;
                }
            }
            row[from] = (row[from - 1] + 1.0f32).min(before[from] + 1.0).min(before[from - 1] + cost / size);
        }
        std::mem::swap(&mut before, &mut row);
    }
    1.0 - before[one_length] / longer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(measure: fn(&[char], &[char]) -> f32, one: &str, other: &str) -> f32 {
        let [one, other] = [one, other].map(|word| word.chars().collect::<Vec<_>>());
        (measure(&one, &other) * 1000.0).round() / 1000.0
    }

    #[test]
    fn words_are_measured() {
        assert_eq!(with(levenshtein, "orn", "oren"), 0.75);
        assert_eq!(with(levenshtein, "johny", "jon"), 0.6);
        assert_eq!(with(levenshtein, "", "abc"), 0.0);
        assert_eq!(with(jaro_winkler, "martha", "marhta"), 0.961);
        assert_eq!(with(jaro_winkler, "dixon", "dicksonx"), 0.813);
        assert_eq!(with(jaro_winkler, "abc", "xyz"), 0.0);
        assert_eq!(with(pairs, "john", "john"), 1.0);
        assert_eq!(with(pairs, "ab", "ac"), 0.75);
        assert_eq!(with(pairs, "a", "ab"), 0.5);
    }

    #[test]
    fn what_shares_no_part_is_not_suggested() {
        let share =
            |one: &str, other: &str| share_part(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>());
        assert!(share("orn", "john") && share("johnson", "johnston") && share("johny", "johnny"));
        assert!(!share("abc", "xyz") && !share("abcdef", "abxxef") && !share("ab", "abcdef"));
    }
}
