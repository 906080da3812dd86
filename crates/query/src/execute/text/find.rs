//! Evaluates text matchers to rising ids of entries.

use super::super::CancelCheck;
use super::{Pattern, Phrase, TextMatcher};
use crate::index::{
    Difference, EntryIds, EntrySet, Error, FieldNumber, IndexSnapshot, Intersection, Kind, StoredTerm, Term, TermRange,
    Union,
};
use std::ops::Bound;

type Ids<'s> = Box<dyn EntryIds + 's>;

/// The entries that a matcher accepts. The depth of the recursion is that of the query's text, which is bounded.
pub(in crate::execute) fn ids<'s, E: From<Error>>(
    index: &'s IndexSnapshot<'s>,
    matcher: &TextMatcher,
    check_cancel: CancelCheck<'_, E>,
) -> Result<Ids<'s>, E> {
    check_cancel()?;
    let each = |matcher: &[TextMatcher]| {
        matcher.iter().map(|matcher| ids(index, matcher, check_cancel)).collect::<Result<Vec<_>, E>>()
    };
    Ok(match matcher {
        TextMatcher::Nothing => set(EntrySet::new()),
        TextMatcher::All => Box::new(index.all()),
        TextMatcher::Entries(entries) => set(entries.clone()),
        TextMatcher::Word(field, word) => Box::new(index.term(*field, Term::Text(word))?),
        TextMatcher::Like(field, pattern) => set(matching(index, *field, pattern, check_cancel)?),
        TextMatcher::Phrase(phrase) => set(together(index, phrase, check_cancel)?),
        TextMatcher::Boosted(matcher, _) => ids(index, matcher, check_cancel)?,
        TextMatcher::Several(several) => {
            let mut must = each(&several.must)?;
            let matcher: Ids<'s> = match (must.len(), several.may.is_empty()) {
                (0, true) => return Ok(set(EntrySet::new())),
                (0, false) => Box::new(Union::new(each(&several.may)?)),
                (1, _) => must.remove(0),
                _ => Box::new(Intersection::new(must)),
            };
            match several.must_not.is_empty() {
                true => matcher,
                false => Box::new(Difference::new(matcher, Union::new(each(&several.must_not)?))),
            }
        }
    })
}

fn set<'s>(entries: EntrySet) -> Ids<'s> {
    Box::new(entries.into_entries())
}

fn matching<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    field: FieldNumber,
    pattern: &Pattern,
    check_cancel: CancelCheck<'_, E>,
) -> Result<EntrySet, E> {
    let text = |bound: &Bound<String>| bound.clone();
    match pattern {
        Pattern::Prefix(prefix) => return Ok(index.range(&TermRange::prefix(field, prefix))?),
        Pattern::Range(low, high) => {
            let [low, high] = [low, high].map(text);
            let [low, high] = [&low, &high].map(|bound| bound.as_ref().map(String::as_str));
            return Ok(index.range(&TermRange::text(field, low, high))?);
        }
        Pattern::Suffix(_) | Pattern::Part(_) | Pattern::Glob(_) => {}
    }
    index.matching(&TermRange::all(field, Kind::Text), |term| {
        check_cancel()?;
        // The longest words are no words; what was cut of them cannot be looked at.
        Ok(matches!(term, StoredTerm::Text(word) if pattern.fits(&word)))
    })
}

/// Those that have all words, and have them near to each other.
fn together<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    phrase: &Phrase,
    check_cancel: CancelCheck<'_, E>,
) -> Result<EntrySet, E> {
    let mut lists: Vec<Ids<'_>> = Vec::with_capacity(phrase.words.len());
    for word in &phrase.words {
        lists.push(Box::new(index.term(phrase.field, Term::Text(word))?));
    }
    let mut found = EntrySet::new();
    let mut all = Intersection::new(lists);
    while let Some(id) = all.next()? {
        check_cancel()?;
        let sequence = index.known_entry(id)?.sequence(phrase.field)?;
        if sequence.is_some_and(|sequence| phrase.frequency(&sequence) > 0.0) {
            found.insert(id);
        }
    }
    Ok(found)
}
