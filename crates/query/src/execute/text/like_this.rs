//! Entries like another one: those that have its most telling words, as Lucene's `MoreLikeThis` chooses them.

use super::super::condition;
use super::{Several, TextCompiler, TextMatcher};
use crate::definition::Analysis;
use crate::index::{EntryId, EntrySet, Error, FieldNumber, StoredTerm};
use crate::plan::{Base, MoreLikeThis};
use json::Value as Json;
use std::collections::BTreeMap;

/// Words, how often each comes.
type Counts = BTreeMap<String, u64>;

impl<E: From<Error>> TextCompiler<'_, '_, E> {
    /// Compiles a `moreLikeThis` predicate.
    pub fn compile_likeness(&self, like: &MoreLikeThis) -> Result<TextMatcher, E> {
        let fields = self.fields_of_likeness(like)?;
        let (counts, base) = match &like.base {
            Base::Document(document) => {
                let mut counts = Counts::new();
                add_members(document, &fields, &mut counts);
                (counts, EntrySet::new())
            }
            Base::Entry(wanted) => {
                let first = condition::ids(self.index, self.fields, wanted, self.check_cancel)?.next()?;
                let first = first.ok_or(Error::NothingToCompare)?;
                let mut base = EntrySet::new();
                let entry = self.index.known_entry(first)?;
                self.index.entries_of(entry.document())?.into_iter().for_each(|id| _ = base.insert(id));
                (self.words_of_entry(first, &fields)?, base)
            }
        };
        let mut telling = Vec::new();
        for (word, count) in counts {
            (self.check_cancel)()?;
            if let Some(found) = self.telling(like, &fields, word, count)? {
                telling.push(found);
            }
        }
        telling.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.2.cmp(&other.2)));
        telling.truncate(like.options.query_terms_max);
        let best = telling.first().map_or(1.0, |best| best.0);
        let weighed = |(score, field, word): (f32, FieldNumber, String)| {
            let word = TextMatcher::Word(field, word);
            if like.options.boosts { TextMatcher::Boosted(Box::new(word), score / best) } else { word }
        };
        let may: Vec<TextMatcher> = telling.into_iter().map(weighed).collect();
        let must_not = if base.is_empty() { Vec::new() } else { vec![TextMatcher::Entries(base)] };
        Ok(TextMatcher::Several(Several { may, must_not, counts: true, ..Several::default() }))
    }

    /// The fields whose words count, with their names.
    fn fields_of_likeness(&self, like: &MoreLikeThis) -> Result<Vec<(String, FieldNumber, Analysis)>, E> {
        let mut fields = Vec::new();
        for (name, analysis) in self.fields.compared() {
            if like.fields.as_ref().is_none_or(|wanted| wanted.contains(&name))
                && let Some(number) = self.index.field(&name)?
            {
                fields.push((name, number, analysis));
            }
        }
        Ok(fields)
    }

    fn words_of_entry(&self, id: EntryId, fields: &[(String, FieldNumber, Analysis)]) -> Result<Counts, E> {
        let entry = self.index.known_entry(id)?;
        let mut counts = Counts::new();
        for (_, field, _) in fields {
            match entry.sequence(*field)? {
                Some(sequence) => {
                    for (word, count) in sequence.counts() {
                        if count > 0
                            && let Ok(word) = std::str::from_utf8(word)
                        {
                            *counts.entry(word.to_owned()).or_default() += u64::from(count);
                        }
                    }
                }
                None => {
                    for value in entry.values(*field)? {
                        if let StoredTerm::Text(text) = value {
                            *counts.entry(text).or_default() += 1;
                        }
                    }
                }
            }
        }
        Ok(counts)
    }

    /// How telling a word is, and in which field most entries have it. `None`: it says nothing.
    fn telling(
        &self,
        like: &MoreLikeThis,
        fields: &[(String, FieldNumber, Analysis)],
        word: String,
        count: u64,
    ) -> Result<Option<(f32, FieldNumber, String)>, E> {
        let options = like.options;
        let length = word.chars().count() as u64;
        if count < options.term_frequency_min
            || length < options.word_length_min
            || (options.word_length_max > 0 && length > options.word_length_max)
            || like.stop_words.contains(&word)
        {
            return Ok(None);
        }
        let mut best: Option<(u64, FieldNumber)> = None;
        for (_, field, _) in fields {
            let entries = self.index.count_of(*field, &word)?;
            if best.is_none_or(|(most, _)| entries > most) {
                best = Some((entries, *field));
            }
        }
        let Some((entries, field)) = best else { return Ok(None) };
        let all = self.index.entry_count();
        let share = options.document_frequency_percentage_max;
        let is_usual = (options.document_frequency_max > 0 && entries > options.document_frequency_max)
            || (share > 0 && entries > all.saturating_mul(share) / 100);
        if entries == 0 || entries < options.document_frequency_min || is_usual {
            return Ok(None);
        }
        let idf = (all as f64 / (entries + 1) as f64).ln() + 1.0;
        Ok(Some(((count as f64 * idf) as f32, field, word)))
    }
}

/// Adds the words of a document's properties that have the names of fields, in any case and wherever they stand. The recursion is as deep
/// as the document, which is bounded.
fn add_members(document: &Json, fields: &[(String, FieldNumber, Analysis)], counts: &mut Counts) {
    if let Json::Array(elements) = document {
        elements.iter().for_each(|element| add_members(element, fields, counts));
    }
    for (name, value) in document.members() {
        for (_, _, analysis) in fields.iter().filter(|(field, ..)| documents::id::is_same(field, name)) {
            add_words(value, analysis, counts);
        }
        add_members(value, fields, counts);
    }
}

/// The recursion is as deep as arrays in arrays, which is bounded.
fn add_words(value: &Json, analysis: &Analysis, counts: &mut Counts) {
    let mut add =
        |text: &str| analysis.query_words(text).into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
    match value {
        Json::String(text) | Json::Number(text) => add(text),
        Json::Bool(is_true) => add(if *is_true { "true" } else { "false" }),
        Json::Array(values) => values.iter().for_each(|value| add_words(value, analysis, counts)),
        Json::Null | Json::Object(_) => {}
    }
}
