//! What the frequency of a word, or of a phrase, in an entry counts.
//!
//! ```text
//! DefaultSimilarity: root( frequency ) * norm
//! BM25:              frequency * ( k1 + 1 ) / ( frequency + k1 * ( 1 - b + b * length / average length ) )
//! ```
//!
//! A text that is one term, as a field that is not in words, is as long as the average.

use crate::definition::Bm25;
use crate::index::{EntryId, Error, FieldLengths, FieldNorms};

/// What scales the frequencies of one field. Entries are asked for with rising ids.
pub(crate) enum Similarity<'s> {
    /// `DefaultSimilarity`; the norms are absent unless the index boosts.
    Default(Option<FieldNorms<'s>>),
    Bm25(Bm25, Option<FieldLengths<'s>>),
}

/// What [`Similarity::of`] computed for one entry, and of what.
pub(crate) enum Scaled {
    Default { root: f32, norm: f32 },
    Bm25 { bm25: Bm25, length: f32, average: f32, factor: f32 },
}

impl Scaled {
    /// What the weight of a word is multiplied by.
    pub fn factor(&self) -> f32 {
        match self {
            Scaled::Default { root, norm } => root * norm,
            Scaled::Bm25 { factor, .. } => *factor,
        }
    }
}

impl Similarity<'_> {
    /// What a frequency counts in an entry.
    pub fn of(&mut self, frequency: f32, entry: EntryId) -> Result<Scaled, Error> {
        Ok(match self {
            Similarity::Default(norms) => {
                let norm = norms.as_mut().map_or(Ok(1.0), |norms| norms.of(entry))?;
                Scaled::Default { root: frequency.sqrt(), norm }
            }
            Similarity::Bm25(bm25, lengths) => {
                let average = lengths.as_ref().map_or(1.0, |lengths| lengths.average() as f32);
                let length = lengths.as_mut().map_or(Ok(None), |lengths| lengths.of(entry))?;
                let length = length.map_or(average, |length| length as f32);
                Scaled::Bm25 { bm25: *bm25, length, average, factor: saturated(*bm25, frequency, length / average) }
            }
        })
    }

    /// What a frequency counts at most in any entry. `None`: there is no bound.
    pub fn most(&self, frequency: f32) -> Option<f32> {
        match self {
            Similarity::Default(None) => Some(frequency.sqrt()),
            Similarity::Default(Some(_)) => None,
            Similarity::Bm25(bm25, Some(_)) => Some(saturated(*bm25, frequency, 0.0)),
            Similarity::Bm25(bm25, None) => Some(saturated(*bm25, frequency, 1.0)),
        }
    }
}

/// * `length`: as a share of the average one.
fn saturated(bm25: Bm25, frequency: f32, length: f32) -> f32 {
    let Bm25 { k1, b } = bm25;
    frequency * (k1 + 1.0) / (frequency + k1 * (1.0 - b + b * length))
}

/// The weight of a word by BM25: the rarer it is, the more it counts. Above 0.
///
/// * `entries`: all of them; `count`: those with the word.
pub(super) fn bm25_idf(entries: u64, count: u64) -> f32 {
    let (entries, count) = (entries as f64, count as f64);
    (1.0 + (entries - count + 0.5).max(0.0) / (count + 0.5)).ln() as f32
}
