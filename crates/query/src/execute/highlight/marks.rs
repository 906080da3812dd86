//! The words, phrases and wildcards of a query to highlight in a field. Each has a number, which selects its tags.

use super::super::CancelCheck;
use super::super::condition::ResolvedField;
use super::super::text::{Pattern, TextCompiler, TextMatcher};
use crate::definition::{Analysis, Fields};
use crate::index::{Error, FieldNumber, IndexSnapshot};
use crate::plan::{Condition, FieldUse, Highlight, IndexQuery};
use regex::Regex;
use std::collections::HashMap;

/// What is looked for in one field.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// How its texts become words; `None`: nothing is looked for.
    pub analysis: Option<Analysis>,
    /// Words by themselves.
    words: HashMap<String, u32>,
    patterns: Vec<(WordMatcher, u32)>,
    /// Words of phrases, numbered.
    vocabulary: HashMap<String, u32>,
    phrases: Vec<MarkedPhrase>,
    /// The phrases that begin with a word of the vocabulary.
    beginning: HashMap<u32, Vec<usize>>,
}

/// Words that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MarkedPhrase {
    /// Their numbers in the vocabulary; at least two.
    pub words: Vec<u32>,
    /// By how many places each may be away from where it would follow.
    pub distance: u32,
    pub number: u32,
}

/// What words a pattern is of.
#[derive(Clone, Debug)]
pub(in crate::execute) enum WordMatcher {
    Pattern(Pattern),
    Regex(Regex),
}

/// What a word of a text is to the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meant {
    /// The number of what it is by itself.
    pub alone: Option<u32>,
    /// Its number in the vocabulary of phrases.
    pub in_phrases: Option<u32>,
}

impl Marks {
    /// Nothing, in texts that become words like this.
    pub fn new(analysis: Analysis) -> Marks {
        Marks { analysis: Some(analysis), ..Marks::default() }
    }

    /// `None`: nothing.
    pub fn meant(&self, word: &str) -> Option<Meant> {
        let fits = |matcher: &WordMatcher| match matcher {
            WordMatcher::Pattern(pattern) => pattern.fits(word),
            WordMatcher::Regex(regex) => regex.is_match(word),
        };
        let by_pattern = || self.patterns.iter().find(|(matcher, _)| fits(matcher)).map(|(_, number)| *number);
        let alone = self.words.get(word).copied().or_else(by_pattern);
        let in_phrases = self.vocabulary.get(word).copied();
        (alone.is_some() || in_phrases.is_some()).then_some(Meant { alone, in_phrases })
    }

    /// The phrases that begin with a word.
    pub fn beginning_with(&self, word: u32) -> impl Iterator<Item = &MarkedPhrase> {
        let numbers = self.beginning.get(&word).map(Vec::as_slice).unwrap_or_default();
        numbers.iter().filter_map(|number| self.phrases.get(*number))
    }

    /// Adds a word by itself. One that is there already keeps its number.
    pub fn add_word(&mut self, word: String, number: u32) {
        self.words.entry(word).or_insert(number);
    }

    /// Adds words that follow each other, at least two.
    pub fn add_phrase(&mut self, words: &[String], distance: u32, number: u32) {
        let vocabulary = &mut self.vocabulary;
        let mut number_of = |word: &String| {
            let next = vocabulary.len() as u32;
            *vocabulary.entry(word.clone()).or_insert(next)
        };
        let words: Vec<u32> = words.iter().map(&mut number_of).collect();
        let Some(first) = words.first() else { return };
        self.beginning.entry(*first).or_default().push(self.phrases.len());
        self.phrases.push(MarkedPhrase { words, distance, number });
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.patterns.is_empty() && self.phrases.is_empty()
    }
}

/// What a query looks for in each of the fields that it wants to be highlighted; `None`: nothing.
pub(super) fn of<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    highlights: &[Highlight],
    query: &IndexQuery,
    check_cancel: CancelCheck<'_, E>,
) -> Result<Vec<Option<Marks>>, E> {
    let mut marked = Vec::with_capacity(highlights.len());
    for highlight in highlights {
        marked.push(ResolvedField::of(index, fields, &highlight.field)?);
    }
    let mut gathered: HashMap<FieldNumber, Marks> = HashMap::new();
    for (resolved, highlight) in marked.iter().zip(highlights) {
        let (_, analysis) = fields.resolve(&highlight.field);
        resolved.iter().for_each(|resolved| _ = gathered.insert(resolved.number, Marks::new(analysis.clone())));
    }
    let mut gatherer = Gatherer { index, fields, check_cancel, gathered, next: 0 };
    gatherer.condition(&query.condition)?;
    let of_field = |resolved: Option<ResolvedField>| {
        gatherer.gathered.get(&resolved?.number).filter(|marks| !marks.is_empty()).cloned()
    };
    Ok(marked.into_iter().map(of_field).collect())
}

/// Gathers what a query looks for.
pub(in crate::execute) struct Gatherer<'s, 'l, E> {
    index: &'s IndexSnapshot<'s>,
    fields: &'l dyn Fields,
    check_cancel: CancelCheck<'l, E>,
    gathered: HashMap<FieldNumber, Marks>,
    /// The number of the next word, phrase or wildcard that is found.
    next: u32,
}

impl<'s, 'l, E: From<Error>> Gatherer<'s, 'l, E> {
    /// Gathers the words of a condition. The depth of the recursion is that of the query's text, which is bounded.
    pub fn condition(&mut self, condition: &Condition) -> Result<(), E> {
        (self.check_cancel)()?;
        condition.mark(self)
    }

    /// Makes texts that are looked for into words.
    pub fn compiler(&self) -> TextCompiler<'s, 'l, E> {
        TextCompiler { index: self.index, fields: self.fields, check_cancel: self.check_cancel }
    }

    /// Adds what is looked for in a field, if the index has that.
    pub fn of_field(&mut self, field: &FieldUse, add: impl FnOnce(&mut Self, ResolvedField)) -> Result<(), E> {
        if let Some(resolved) = ResolvedField::of(self.index, self.fields, field)? {
            add(self, resolved);
        }
        Ok(())
    }

    /// The depth of the recursion is that of the query's text, which is bounded.
    pub fn matcher(&mut self, matcher: &TextMatcher) {
        match matcher {
            TextMatcher::Nothing | TextMatcher::All | TextMatcher::Entries(_) => {}
            TextMatcher::Word(field, word) => self.word(*field, word.clone()),
            // As in Lucene, a range is of no words.
            TextMatcher::Like(_, Pattern::Range(..)) => {}
            TextMatcher::Like(field, pattern) => self.pattern(*field, WordMatcher::Pattern(pattern.clone())),
            TextMatcher::Phrase(phrase) => self.phrase(phrase.field, &phrase.words, phrase.distance),
            TextMatcher::Boosted(matcher, _) => self.matcher(matcher),
            TextMatcher::Several(several) => {
                several.must.iter().chain(&several.may).for_each(|matcher| self.matcher(matcher));
            }
        }
    }

    pub fn word(&mut self, field: FieldNumber, word: String) {
        self.add(field, |marks, number| marks.add_word(word, number));
    }

    pub fn pattern(&mut self, field: FieldNumber, matcher: WordMatcher) {
        self.add(field, |marks, number| marks.patterns.push((matcher, number)));
    }

    fn phrase(&mut self, field: FieldNumber, words: &[String], distance: u32) {
        self.add(field, |marks, number| marks.add_phrase(words, distance, number));
    }

    fn add(&mut self, field: FieldNumber, add: impl FnOnce(&mut Marks, u32)) {
        if let Some(marks) = self.gathered.get_mut(&field) {
            add(marks, self.next);
            self.next += 1;
        }
    }
}
