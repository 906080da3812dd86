//! How well entries fit: the similarity of Lucene 3 (`DefaultSimilarity`), which the reference scores by.
//!
//! ```text
//! score  = sum of ( root(frequency) * idf^2 * boost * norm ) * query norm * coord
//! idf    = 1 + ln( entries / ( entries with the word + 1 ) )
//! query norm = 1 / root( sum of ( idf * boost )^2 );  coord = operands that hold / operands
//! ```
//!
//! An index may ask for BM25 instead ([`similarity`]). Its idf is `ln( 1 + ( entries - n + 0.5 ) / ( n + 0.5 ) )` for a word of n entries,
//! and a score is the sum of `idf * boost * saturated frequency`, without query norm and coord.
//!
//! What walks through terms counts as one word of idf 1. Norms are 1 unless an index boosts: as in the reference, the length of a
//! text says nothing then. Entries are asked for with rising ids, so that all lists are read once.

mod best;
mod explain;
mod parts;
mod similarity;

pub(super) use explain::explain;

use super::CancelCheck;
use super::condition::{self, ResolvedField};
use super::text::{self, Phrase, TextMatcher};
use crate::definition::Fields;
use crate::index::{EntryId, EntryIds, Error, FieldNumber, IndexSnapshot, Term, WordFrequencies};
use crate::plan::{Condition, Neighbours, TermValue};
pub(super) use parts::Parts;
use similarity::{Similarity, bm25_idf};
use std::collections::HashMap;
use storage::memory::MemoryReservation;

/// Scores entries of one query.
pub(super) struct Scores<'s> {
    index: &'s IndexSnapshot<'s>,
    root: Node<'s>,
    /// The query norm.
    norm: f32,
    /// What sorting has scored, by rising ids: the lists are behind these entries then.
    known: Vec<(EntryId, f32)>,
    reservation: MemoryReservation,
}

/// Values of `in` up to which each is scored by its list; more are one set.
pub(super) const SCORED_LISTS_MAX: usize = 64;

/// A part of a query, and what it adds to a score.
pub(super) enum Node<'s> {
    /// The same for all that have it.
    Constant { members: Members<'s>, weight: Weight },
    /// By how often a word comes.
    Word { members: Members<'s>, frequencies: WordFrequencies<'s>, similarity: Similarity<'s>, weight: Weight },
    /// By how often and how near words come together.
    Phrase { members: Members<'s>, phrase: Phrase, similarity: Similarity<'s>, weight: Weight },
    /// By how near a vector is: the cosine of the angle, or the share of bits that are the same.
    Near {
        found: Neighbours,
        /// Those before it were passed.
        place: usize,
        boost: f32,
        /// What it is called; empty unless scores are explained.
        name: String,
    },
    /// What its parts add.
    Sum {
        must: Vec<Node<'s>>,
        may: Parts<'s>,
        must_not: Vec<Members<'s>>,
        /// Whether it counts how many of them hold.
        counts: bool,
        /// The boost of parts that are weighed as one.
        as_one: Option<f32>,
    },
}

/// What a part counts.
pub(super) struct Weight {
    idf: f32,
    boost: f32,
    /// `idf^2 * boost * query norm`, once that is known; by BM25 `idf * boost`.
    value: f32,
    /// What is said of it; empty unless scores are explained.
    label: Label,
}

/// What an explanation calls a part.
#[derive(Default)]
struct Label {
    /// `field:word`
    name: String,
    /// Where its idf comes from.
    idf: String,
}

impl Weight {
    fn new(idf: f32, boost: f32, label: Label) -> Weight {
        Weight { idf, boost, value: boost, label }
    }

    fn square(&self) -> f32 {
        (self.idf * self.boost) * (self.idf * self.boost)
    }
}

/// Whether entries are in a list: asked with rising ids.
pub(super) enum Members<'s> {
    /// Everything that is asked for is.
    Known,
    List {
        ids: Box<dyn EntryIds + 's>,
        at: Option<EntryId>,
        is_started: bool,
    },
}

impl<'s> Members<'s> {
    fn of(ids: Box<dyn EntryIds + 's>) -> Members<'s> {
        Members::List { ids, at: None, is_started: false }
    }

    fn has(&mut self, entry: EntryId) -> Result<bool, Error> {
        Ok(self.from(entry)? == Some(entry))
    }

    /// The first of them from an entry on.
    fn from(&mut self, entry: EntryId) -> Result<Option<EntryId>, Error> {
        let Members::List { ids, at, is_started } = self else { return Ok(Some(entry)) };
        if !*is_started || at.is_some_and(|at| at < entry) {
            *is_started = true;
            *at = ids.seek(entry)?;
        }
        Ok(*at)
    }
}

impl<'s> Scores<'s> {
    /// What a condition scores by.
    pub fn of<E: From<Error>>(
        index: &'s IndexSnapshot<'s>,
        fields: &dyn Fields,
        condition: &Condition,
        check_cancel: CancelCheck<'_, E>,
    ) -> Result<Scores<'s>, E> {
        Self::build(Builder { index, fields, check_cancel, names: None }, condition)
    }

    fn build<E: From<Error>>(builder: Builder<'s, '_, E>, condition: &Condition) -> Result<Scores<'s>, E> {
        let mut root = condition.node(&builder, 1.0, true)?;
        let norm = match builder.fields.bm25() {
            Some(_) => {
                root.weigh_by_idf();
                1.0
            }
            None => {
                let norm = 1.0 / root.sum_of_squares().sqrt();
                let norm = if norm.is_finite() { norm } else { 1.0 };
                root.weigh(norm);
                norm
            }
        };
        Ok(Scores { index: builder.index, root, norm, known: Vec::new(), reservation: builder.index.reservation() })
    }

    /// The score of an entry that the query finds; they must rise. [`Self::of_all`] knows it from then on.
    pub fn score(&mut self, entry: EntryId) -> Result<f32, Error> {
        let score = self.score_now(entry)?;
        if self.known.len() == self.known.capacity() {
            self.reservation.grow(2 * size_of::<(EntryId, f32)>() * (self.known.len() + 1))?;
        }
        self.known.push((entry, score));
        Ok(score)
    }

    fn score_now(&mut self, entry: EntryId) -> Result<f32, Error> {
        Ok(self.root.score(self.index, entry)?.unwrap_or(0.0))
    }

    /// The scores of some entries, in their order; if they were sorted by these scores, of those that came first, without looking again.
    pub fn of_all<E: From<Error>>(
        &mut self,
        entries: &[EntryId],
        check_cancel: CancelCheck<'_, E>,
    ) -> Result<Vec<f32>, E> {
        let mut rising: Vec<usize> = (0..entries.len()).collect();
        rising.sort_unstable_by_key(|at| entries[*at]);
        let mut scores = vec![0.0; entries.len()];
        for at in rising {
            check_cancel()?;
            scores[at] = match self.known.binary_search_by_key(&entries[at], |(id, _)| *id) {
                Ok(place) => self.known[place].1,
                Err(_) => self.score_now(entries[at])?,
            };
        }
        Ok(scores)
    }
}

/// A number that is the greater the greater a score is.
pub(super) fn sortable(score: f32) -> u32 {
    let bits = score.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// The score that a number was made of by [`sortable`].
fn of_sortable(number: u32) -> f32 {
    f32::from_bits(if number >> 31 == 1 { number & !(1 << 31) } else { !number })
}

impl Node<'_> {
    fn sum_of_squares(&self) -> f32 {
        match self {
            Node::Sum { as_one: Some(boost), .. } => boost * boost,
            // It is not weighed against words.
            Node::Near { .. } => 0.0,
            Node::Constant { weight, .. } | Node::Word { weight, .. } | Node::Phrase { weight, .. } => weight.square(),
            Node::Sum { must, may, .. } => must.iter().chain(may.nodes()).map(Node::sum_of_squares).sum(),
        }
    }

    /// From a boost to what a score is made of.
    fn weigh(&mut self, norm: f32) {
        match self {
            Node::Constant { weight, .. } | Node::Word { weight, .. } | Node::Phrase { weight, .. } => {
                weight.value = weight.boost * (norm * weight.idf * weight.idf)
            }
            Node::Near { .. } => {}
            Node::Sum { must, may, .. } => {
                must.iter_mut().chain(may.nodes_mut()).for_each(|part| part.weigh(norm));
            }
        }
    }

    /// The same for BM25, which does not count how many parts of a query hold.
    fn weigh_by_idf(&mut self) {
        match self {
            Node::Constant { weight, .. } | Node::Word { weight, .. } | Node::Phrase { weight, .. } => {
                weight.value = weight.boost * weight.idf;
            }
            Node::Near { .. } => {}
            Node::Sum { must, may, counts, .. } => {
                *counts = false;
                must.iter_mut().chain(may.nodes_mut()).for_each(Node::weigh_by_idf);
            }
        }
    }

    /// `None`: it does not hold for the entry.
    fn score(&mut self, index: &IndexSnapshot<'_>, entry: EntryId) -> Result<Option<f32>, Error> {
        match self {
            Node::Constant { members, weight } => Ok(members.has(entry)?.then_some(weight.value)),
            Node::Word { members, frequencies, similarity, weight, .. } => {
                if !members.has(entry)? {
                    return Ok(None);
                }
                Ok(Some(similarity.of(frequencies.of(entry)? as f32, entry)?.factor() * weight.value))
            }
            Node::Phrase { members, phrase, similarity, weight, .. } => {
                if !members.has(entry)? {
                    return Ok(None);
                }
                let frequency = phrase_frequency(index, phrase, entry)?;
                if frequency <= 0.0 {
                    return Ok(None);
                }
                Ok(Some(similarity.of(frequency, entry)?.factor() * weight.value))
            }
            Node::Near { found, place, boost, .. } => Ok(near(found, place, entry).map(|near| near * *boost)),
            Node::Sum { must, may, must_not, counts, .. } => {
                let (mut sum, mut held) = (0.0, 0usize);
                for excluded in must_not {
                    if excluded.has(entry)? {
                        return Ok(None);
                    }
                }
                let count = must.len() + may.nodes().len();
                for part in must.iter_mut() {
                    let Some(score) = part.score(index, entry)? else { return Ok(None) };
                    sum += score;
                    held += 1;
                }
                may.each_at(entry, |part| {
                    if let Some(score) = part.score(index, entry)? {
                        sum += score;
                        held += 1;
                    }
                    Ok(())
                })?;
                Ok((held > 0).then(|| if *counts { sum * held as f32 / count as f32 } else { sum }))
            }
        }
    }
}

/// How near an entry is, asked with rising ids.
fn near(found: &Neighbours, place: &mut usize, entry: EntryId) -> Option<f32> {
    let rest = found.get(*place..).unwrap_or_default();
    *place += rest.partition_point(|(other, _)| *other < entry);
    found.get(*place).filter(|(other, _)| *other == entry).map(|(_, near)| *near)
}

/// How often a phrase comes in an entry.
fn phrase_frequency(index: &IndexSnapshot<'_>, phrase: &Phrase, entry: EntryId) -> Result<f32, Error> {
    let sequence = index.known_entry(entry)?.sequence(phrase.field)?;
    Ok(sequence.map_or(0.0, |sequence| phrase.frequency(&sequence)))
}

/// A boost within another one. Beyond all numbers nothing could be told apart.
pub(super) fn product(boost: f32, more: f32) -> f32 {
    (boost * more).clamp(f32::MIN, f32::MAX)
}

/// What all of some parts add.
pub(super) fn sum<'s>(must: Vec<Node<'s>>, may: Vec<Node<'s>>) -> Node<'s> {
    // How near something is stays what it is beside other conditions.
    let counts = !must.iter().chain(&may).any(|part| matches!(part, Node::Near { .. }));
    Node::Sum { must, may: Parts::new(may), must_not: Vec::new(), counts, as_one: None }
}

/// A condition that is a part of a query.
#[derive(Clone, Copy)]
pub(super) struct ScoredCondition<'c> {
    pub condition: &'c Condition,
    /// How much more it counts.
    pub boost: f32,
    /// Whether whatever is asked for has it.
    pub is_known: bool,
}

/// Makes the parts of a score.
pub(super) struct Builder<'s, 'l, E> {
    pub index: &'s IndexSnapshot<'s>,
    pub fields: &'l dyn Fields,
    pub check_cancel: CancelCheck<'l, E>,
    /// The names of fields, if scores are to be explained.
    pub names: Option<HashMap<FieldNumber, String>>,
}

impl<'s, E: From<Error>> Builder<'s, '_, E> {
    /// The same score for all entries of a condition.
    pub fn constant(&self, part: ScoredCondition<'_>, idf: f32) -> Result<Node<'s>, E> {
        let ScoredCondition { condition, boost, is_known } = part;
        let members = match is_known {
            true => Members::Known,
            false => Members::of(condition::ids(self.index, self.fields, condition, self.check_cancel)?),
        };
        let label = self.label(None, || condition.to_string(), || "entries of ids".to_owned());
        Ok(Node::Constant { members, weight: Weight::new(idf, boost, label) })
    }

    /// What explanations call a part; nothing if there are none.
    fn label(&self, field: Option<FieldNumber>, name: impl FnOnce() -> String, idf: impl FnOnce() -> String) -> Label {
        if self.names.is_none() {
            return Label::default();
        }
        let name = match field {
            Some(field) => format!("{}:{}", self.name_of(field), name()),
            None => name(),
        };
        Label { name, idf: idf() }
    }

    fn name_of(&self, field: FieldNumber) -> &str {
        self.names.as_ref().and_then(|names| names.get(&field)).map_or("?", String::as_str)
    }

    fn counts(&self, count: u64) -> String {
        format!("docFreq={count}, maxDocs={}", self.index.entry_count())
    }

    /// What one term adds.
    ///
    /// * `is_flat`: one of several, all of which count the same.
    pub fn of_value(
        &self,
        resolved: ResolvedField,
        value: &TermValue,
        boost: f32,
        is_known: bool,
        is_flat: bool,
    ) -> Result<Node<'s>, E> {
        let is_date = |text: &str| crate::definition::terms::time(text, resolved.analysis).is_some();
        if let TermValue::Text(text) = value
            && !is_date(text)
        {
            let text = crate::definition::terms::analyzed(text, resolved.analysis);
            return self.word(resolved.number, &text, boost, is_known, is_flat);
        }
        let list = resolved.list(self.index, value)?;
        let idf = match value {
            TermValue::Null if !is_flat => self.idf(list.count()),
            _ => 1.0,
        };
        let label = self.label(Some(resolved.number), || value.to_string(), || self.counts(list.count()));
        let members = if is_known { Members::Known } else { Members::of(Box::new(list)) };
        Ok(Node::Constant { members, weight: Weight::new(idf, boost, label) })
    }

    fn word(&self, field: FieldNumber, word: &str, boost: f32, is_known: bool, is_flat: bool) -> Result<Node<'s>, E> {
        let list = self.index.term(field, Term::Text(word))?;
        let idf = if is_flat { 1.0 } else { self.idf(list.count()) };
        let label = self.label(Some(field), || word.to_owned(), || self.counts(list.count()));
        Ok(Node::Word {
            members: if is_known { Members::Known } else { Members::of(Box::new(list)) },
            frequencies: self.index.word_frequencies(field, word)?,
            similarity: self.similarity(field)?,
            weight: Weight::new(idf, boost, label),
        })
    }

    /// What the words of a text add.
    pub fn of_matcher(&self, matcher: &TextMatcher, boost: f32, is_known: bool) -> Result<Node<'s>, E> {
        let each = |matcher: &[TextMatcher], is_known: bool| {
            matcher.iter().map(|matcher| self.of_matcher(matcher, boost, is_known)).collect::<Result<Vec<_>, E>>()
        };
        let members = |matcher: &TextMatcher, is_known: bool| match is_known {
            true => Ok::<_, E>(Members::Known),
            false => Ok(Members::of(text::ids(self.index, matcher, self.check_cancel)?)),
        };
        Ok(match matcher {
            TextMatcher::Nothing | TextMatcher::All | TextMatcher::Entries(_) | TextMatcher::Like(..) => {
                let label = match matcher {
                    TextMatcher::Like(field, pattern) => self.label(Some(*field), || pattern.to_string(), String::new),
                    TextMatcher::All => self.label(None, || "*:*".to_owned(), String::new),
                    _ => self.label(None, || "entries".to_owned(), String::new),
                };
                Node::Constant { members: members(matcher, is_known)?, weight: Weight::new(1.0, boost, label) }
            }
            TextMatcher::Word(field, word) => self.word(*field, word, boost, is_known, false)?,
            TextMatcher::Phrase(phrase) => {
                let (mut idf, mut counts) = (0.0, Vec::new());
                for word in &phrase.words {
                    let count = self.index.count_of(phrase.field, word)?;
                    idf += self.idf(count);
                    counts.extend(self.names.is_some().then(|| format!("{word}={count}")));
                }
                let similarity = self.similarity(phrase.field)?;
                let of_field = || format!("{}: {}", self.name_of(phrase.field), counts.join(" "));
                let label = self.label(Some(phrase.field), || phrase.to_string(), of_field);
                let weight = Weight::new(idf, boost, label);
                Node::Phrase { members: members(matcher, is_known)?, phrase: phrase.clone(), similarity, weight }
            }
            TextMatcher::Boosted(matcher, more) => self.of_matcher(matcher, product(boost, *more), is_known)?,
            TextMatcher::Several(several) => Node::Sum {
                must: each(&several.must, is_known)?,
                may: Parts::new(each(&several.may, false)?),
                must_not: match is_known {
                    true => Vec::new(),
                    false => {
                        several.must_not.iter().map(|matcher| members(matcher, false)).collect::<Result<_, E>>()?
                    }
                },
                counts: several.counts,
                as_one: None,
            },
        })
    }

    /// How telling something is that so many entries have.
    pub fn idf(&self, count: u64) -> f32 {
        if self.fields.bm25().is_some() {
            return bm25_idf(self.index.entry_count(), count);
        }
        ((self.index.entry_count() as f64 / (count + 1) as f64).ln() + 1.0) as f32
    }

    fn similarity(&self, field: FieldNumber) -> Result<Similarity<'s>, E> {
        Ok(match self.fields.bm25() {
            Some(bm25) => Similarity::Bm25(bm25, self.index.field_lengths(field)?),
            None if self.fields.boosts() => Similarity::Default(self.index.field_norms(field)?),
            None => Similarity::Default(None),
        })
    }
}
