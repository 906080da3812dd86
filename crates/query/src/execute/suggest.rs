//! Words of a field that are like others, as Lucene's `SpellChecker` finds them: those that share a part with a term, by how like they
//! are, and by how many entries have them.

use super::{CancelCheck, likeness};
use crate::definition::{AnalysisKind, Fields};
use crate::index::{Direction, Error, IndexSnapshot, Kind, StoredTerm, TermRange};
use crate::plan::{Suggestion, SuggestionDistance};
use std::cmp::Ordering;
use std::collections::HashSet;

/// A word and how good it is.
struct Candidate {
    word: String,
    likeness: f32,
    entry_count: u64,
}

/// The words that are suggested, the best first.
///
/// # Errors
///
/// [`Error`] if the index cannot be read; that of `check_cancel`.
pub fn suggest<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    suggestion: &Suggestion,
    check_cancel: CancelCheck<'_, E>,
) -> Result<Vec<String>, E> {
    let (name, _) = fields.resolve(&suggestion.field);
    let Some(field) = index.field(&name)? else { return Ok(Vec::new()) };
    let options = suggestion.options;
    let mut queried: Vec<TermCandidates> = suggestion.terms.iter().map(|term| TermCandidates::new(term)).collect();
    let mut terms = index.terms(&TermRange::all(field, Kind::Text), Direction::Ascending);
    while let Some((term, entry_count)) = terms.next()? {
        check_cancel()?;
        let StoredTerm::Text(word) = term else { continue };
        let characters: Vec<char> = word.chars().collect();
        for query in &mut queried {
            // The term itself is none, in whatever case.
            if query.lower == word || !likeness::share_part(&query.characters, &characters) {
                continue;
            }
            let likeness = match options.distance {
                SuggestionDistance::Levenshtein => likeness::levenshtein(&query.characters, &characters),
                SuggestionDistance::JaroWinkler => likeness::jaro_winkler(&query.characters, &characters),
                SuggestionDistance::NGram => likeness::pairs(&query.characters, &characters),
            };
            if likeness >= options.accuracy && likeness > 0.0 {
                query.add(Candidate { word: word.clone(), likeness, entry_count }, options.page_size);
            }
        }
    }
    let mut taken = Vec::new();
    let mut seen = HashSet::new();
    for mut query in queried {
        query.keep(options.page_size);
        for candidate in query.candidates {
            if taken.len() < options.page_size && seen.insert(candidate.word.clone()) {
                taken.push(candidate);
            }
        }
    }
    if options.sorts_all {
        // Of those that are as good, the ones of the first term stay first.
        taken.sort_by(liker_first);
    }
    Ok(taken.into_iter().map(|candidate| candidate.word).collect())
}

/// A term of the request, and its best candidates so far.
struct TermCandidates {
    characters: Vec<char>,
    lower: String,
    candidates: Vec<Candidate>,
}

impl TermCandidates {
    fn new(term: &str) -> TermCandidates {
        let lower = crate::definition::terms::analyzed(term, AnalysisKind::LowerCase);
        TermCandidates { characters: term.chars().collect(), lower, candidates: Vec::new() }
    }

    /// Worse ones go now and then.
    fn add(&mut self, candidate: Candidate, count_max: usize) {
        self.candidates.push(candidate);
        if self.candidates.len() >= 2 * count_max + 64 {
            self.keep(count_max);
        }
    }

    fn keep(&mut self, count_max: usize) {
        self.candidates.sort_by(better_first);
        self.candidates.truncate(count_max);
    }
}

fn better_first(one: &Candidate, other: &Candidate) -> Ordering {
    liker_first(one, other).then_with(|| other.word.cmp(&one.word))
}

fn liker_first(one: &Candidate, other: &Candidate) -> Ordering {
    other.likeness.total_cmp(&one.likeness).then(other.entry_count.cmp(&one.entry_count))
}
