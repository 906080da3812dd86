//! Explanations of scores, in the format of Lucene.
//!
//! ```text
//! 0.29 = (MATCH) weight(search(T):fox in 2), product of:
//!   0.41 = queryWeight(search(T):fox), product of:
//!     0.71 = idf(docFreq=3, maxDocs=3)
//!     0.58 = queryNorm
//!   0.71 = (MATCH) fieldWeight(search(T):fox in 2), product of:
//!     1 = tf(termFreq(search(T):fox)=1)
//!     0.71 = idf(docFreq=3, maxDocs=3)
//!     1 = fieldNorm(field=search(T), doc=2)
//! ```
//!
//! It goes the way of [`Node::score`], and says the numbers that it meets.

use super::super::CancelCheck;
use super::similarity::Scaled;
use super::{Builder, Node, Scores, Weight, near, phrase_frequency};
use crate::definition::{Bm25, Fields};
use crate::index::{EntryId, Error, IndexSnapshot};
use crate::plan::Condition;
use std::fmt::Write;

/// What all entries are called.
const ALL: &str = "*:*";

/// A number, what it is, and the numbers that it is made of.
struct Explained {
    value: f32,
    text: String,
    parts: Vec<Explained>,
}

/// Why entries score what they do, in their order.
///
/// # Errors
///
/// [`Error`] if the index cannot be read; that of `check_cancel`.
pub(in crate::execute) fn explain<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    condition: &Condition,
    entries: &[EntryId],
    check_cancel: CancelCheck<'_, E>,
) -> Result<Vec<String>, E> {
    let names = index.fields()?.into_iter().map(|(name, number)| (number, name)).collect();
    let mut scores = Scores::build(Builder { index, fields, check_cancel, names: Some(names) }, condition)?;
    // They are asked for with rising ids.
    let mut rising: Vec<usize> = (0..entries.len()).collect();
    rising.sort_unstable_by_key(|at| entries[*at]);
    let mut texts = vec![String::new(); entries.len()];
    for at in rising {
        check_cancel()?;
        let explained = scores.root.explain(index, entries[at], scores.norm)?;
        let nothing = || Explained { value: 0.0, text: "(NON-MATCH) nothing scores".to_owned(), parts: Vec::new() };
        explained.unwrap_or_else(nothing).write(0, &mut texts[at]);
    }
    Ok(texts)
}

impl Explained {
    fn leaf(value: f32, text: String) -> Explained {
        Explained { value, text, parts: Vec::new() }
    }

    /// The depth of the recursion is that of the query's text, which is bounded.
    fn write(&self, depth: usize, out: &mut String) {
        let ends = if self.parts.is_empty() { "" } else { ":" };
        // Writing to a text does not fail.
        let _ = writeln!(out, "{:1$}{2} = {3}{ends}", "", 2 * depth, self.value, self.text);
        self.parts.iter().for_each(|part| part.write(depth + 1, out));
    }
}

impl Weight {
    /// What the query gives a part, whatever entry it is found in.
    fn of_query(&self, query_norm: f32) -> Explained {
        let mut parts = Vec::new();
        if self.boost != 1.0 {
            parts.push(Explained::leaf(self.boost, "boost".to_owned()));
        }
        parts.push(self.explained_idf());
        parts.push(Explained::leaf(query_norm, "queryNorm".to_owned()));
        let text = format!("queryWeight({}), product of", self.label.name);
        Explained { value: self.boost * self.idf * query_norm, text, parts }
    }

    fn explained_idf(&self) -> Explained {
        Explained::leaf(self.idf, format!("idf({})", self.label.idf))
    }

    /// What a word or phrase adds that comes so often.
    fn explained(&self, frequency: f32, kind: &str, scaled: &Scaled, entry: EntryId, query_norm: f32) -> Explained {
        let name = &self.label.name;
        let field = name.split_once(':').map_or("", |(field, _)| field);
        let kind = if kind == "termFreq" { format!("termFreq({name})") } else { kind.to_owned() };
        let (tf, norm) = match scaled {
            Scaled::Default { root, norm } => (*root, *norm),
            Scaled::Bm25 { bm25: Bm25 { k1, b }, length, average, factor } => {
                let frequency = Explained::leaf(frequency, kind);
                let leaf = |value: f32, text: &str| Explained::leaf(value, text.to_owned());
                let parts = vec![
                    frequency,
                    leaf(*k1, "k1"),
                    leaf(*b, "b"),
                    leaf(*length, "length"),
                    leaf(*average, "average length"),
                ];
                let text = "tf = freq * (k1 + 1) / (freq + k1 * (1 - b + b * length / average)), of".to_owned();
                let tf = Explained { value: *factor, text, parts };
                let mut parts = vec![self.explained_idf(), tf];
                if self.boost != 1.0 {
                    parts.insert(0, Explained::leaf(self.boost, "boost".to_owned()));
                }
                let text = format!("(MATCH) weight({name} in {}) by BM25, product of", entry.0);
                return Explained { value: self.value * factor, text, parts };
            }
        };
        let of_field = Explained {
            value: tf * self.idf * norm,
            text: format!("(MATCH) fieldWeight({name} in {}), product of", entry.0),
            parts: vec![
                Explained::leaf(tf, format!("tf({kind}={frequency})")),
                self.explained_idf(),
                Explained::leaf(norm, format!("fieldNorm(field={field}, doc={})", entry.0)),
            ],
        };
        let of_query = self.of_query(query_norm);
        // As in Lucene, what changes nothing is not said.
        if of_query.value == 1.0 {
            return of_field;
        }
        let text = format!("(MATCH) weight({name} in {}), product of", entry.0);
        Explained { value: tf * self.value * norm, text, parts: vec![of_query, of_field] }
    }
}

impl Node<'_> {
    /// `None`: it does not hold for the entry. The depth of the recursion is that of the query's text, which is bounded.
    fn explain(
        &mut self,
        index: &IndexSnapshot<'_>,
        entry: EntryId,
        query_norm: f32,
    ) -> Result<Option<Explained>, Error> {
        match self {
            Node::Constant { members, weight } => {
                if !members.has(entry)? {
                    return Ok(None);
                }
                let is_all = weight.label.name == ALL;
                let mut parts = Vec::new();
                if !is_all || weight.boost != 1.0 {
                    parts.push(Explained::leaf(weight.boost, "boost".to_owned()));
                }
                if weight.idf != 1.0 {
                    parts.extend([weight.explained_idf(), weight.explained_idf()]);
                }
                parts.push(Explained::leaf(query_norm, "queryNorm".to_owned()));
                let text = match is_all {
                    true => "(MATCH) MatchAllDocsQuery, product of".to_owned(),
                    false => format!("(MATCH) ConstantScoreQuery({}), product of", weight.label.name),
                };
                Ok(Some(Explained { value: weight.value, text, parts }))
            }
            Node::Word { members, frequencies, similarity, weight } => {
                if !members.has(entry)? {
                    return Ok(None);
                }
                let frequency = frequencies.of(entry)? as f32;
                let scaled = similarity.of(frequency, entry)?;
                Ok(Some(weight.explained(frequency, "termFreq", &scaled, entry, query_norm)))
            }
            Node::Phrase { members, phrase, similarity, weight } => {
                if !members.has(entry)? {
                    return Ok(None);
                }
                match phrase_frequency(index, phrase, entry)? {
                    frequency if frequency > 0.0 => {
                        let scaled = similarity.of(frequency, entry)?;
                        Ok(Some(weight.explained(frequency, "phraseFreq", &scaled, entry, query_norm)))
                    }
                    _ => Ok(None),
                }
            }
            Node::Near { found, place, boost, name } => {
                let Some(near) = near(found, place, entry) else { return Ok(None) };
                let mut parts = vec![Explained::leaf(near, "similarity".to_owned())];
                if *boost != 1.0 {
                    parts.push(Explained::leaf(*boost, "boost".to_owned()));
                }
                Ok(Some(Explained { value: near * *boost, text: format!("(MATCH) {name}, product of"), parts }))
            }
            Node::Sum { must, may, must_not, counts, .. } => {
                for excluded in must_not {
                    if excluded.has(entry)? {
                        return Ok(None);
                    }
                }
                let count = must.len() + may.nodes().len();
                let mut parts = Vec::new();
                for part in must.iter_mut() {
                    let Some(part) = part.explain(index, entry, query_norm)? else { return Ok(None) };
                    parts.push(part);
                }
                may.each_at(entry, |part| {
                    parts.extend(part.explain(index, entry, query_norm)?);
                    Ok(())
                })?;
                let (held, value) = (parts.len(), parts.iter().map(|part| part.value).sum::<f32>());
                if held == 0 {
                    return Ok(None);
                }
                let sum = Explained { value, text: "(MATCH) sum of".to_owned(), parts };
                if !*counts || held == count {
                    return Ok(Some(sum));
                }
                let share = Explained::leaf(held as f32 / count as f32, format!("coord({held}/{count})"));
                let value = value * held as f32 / count as f32;
                Ok(Some(Explained { value, text: "(MATCH) product of".to_owned(), parts: vec![sum, share] }))
            }
        }
    }
}
