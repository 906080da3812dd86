//! Names that resemble a misspelt one, for "Did you mean ..?".

/// Names longer than this are not compared.
const NAME_LENGTH_MAX: usize = 100;

/// The name that `wanted` most probably stands for: one that differs by a third of its letters at most, in any case.
pub(crate) fn similar<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(NAME_LENGTH_MAX + 1).collect();
    if wanted.len() > NAME_LENGTH_MAX {
        return None;
    }
    let distance_max = (wanted.len() / 3).clamp(1, 4);
    let distances = names.into_iter().map(|name| (distance(&wanted, name), name));
    let nearest = distances.filter(|(distance, _)| *distance <= distance_max).min_by_key(|(distance, _)| *distance);
    nearest.map(|(_, name)| name)
}

/// Letters that are added, dropped, replaced or exchanged with their neighbour (optimal string alignment distance).
fn distance(left: &[char], right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().take(NAME_LENGTH_MAX).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let mut least = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let is_exchanged = row > 0 && column > 0 && *letter == right[column - 1] && left[row - 1] == *other;
            if is_exchanged {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_the_right_one() {
        let names = ["DataDir", "DATA", "URL", "Log.Level", "Limits.Connections"];
        let check = |wanted: &str, expected: Option<&str>| assert_eq!(similar(wanted, names), expected, "{wanted}");
        check("DTAA", Some("DATA"));
        check("datadri", Some("DataDir"));
        check("log.levle", Some("Log.Level"));
        check("Limits.Conections", Some("Limits.Connections"));
        check("Nonsense", None);
        check("", None);
        check(&"x".repeat(1000), None);
    }

    #[test]
    fn distances_count_edits() {
        let check = |left: &str, right: &str, expected: usize| {
            let letters: Vec<char> = left.chars().collect();
            assert_eq!(distance(&letters, right), expected, "{left} {right}");
        };
        check("abc", "abc", 0);
        check("abc", "acb", 1);
        check("abc", "", 3);
        check("", "abc", 3);
        check("kitten", "sitting", 3);
    }
}
