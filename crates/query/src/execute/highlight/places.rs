//! Finds matches of a query's words and phrases in texts, for highlighting.

use super::super::CancelCheck;
use super::marks::{MarkedPhrase, Marks, Meant};
use super::texts::Texts;
use crate::definition::Analysis;
use crate::definition::terms;
use std::ops::Range;

/// A match of a word or phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HighlightMatch {
    /// The bytes of the text that stand between tags, rising and apart from each other; at least one.
    pub spans: Vec<Range<usize>>,
    /// The number of what was looked for.
    pub number: u32,
}

impl HighlightMatch {
    pub fn start(&self) -> usize {
        self.spans.first().map_or(0, |span| span.start)
    }

    pub fn end(&self) -> usize {
        self.spans.last().map_or(0, |span| span.end)
    }
}

/// A word of the texts that means something to the query.
struct Token {
    meant: Meant,
    /// Its bytes in the text.
    place: (u32, u32),
    /// Words before it.
    position: u32,
}

/// What is found in texts, rising and apart from each other.
pub(super) fn of<E>(marks: &Marks, texts: &Texts, check_cancel: CancelCheck<'_, E>) -> Result<Vec<HighlightMatch>, E> {
    let Some(analysis) = &marks.analysis else { return Ok(Vec::new()) };
    let tokens = tokens(marks, analysis, texts, check_cancel)?;
    let mut places = Vec::new();
    let (mut at, mut border) = (0, 0);
    while let Some(token) = tokens.get(at) {
        check_cancel()?;
        let phrase = longest_phrase(marks, tokens.get(at..).unwrap_or_default());
        let (number, count) = match (phrase, token.meant.alone) {
            (Some(phrase), _) => (phrase.number, phrase.words.len()),
            (None, Some(number)) => (number, 1),
            (None, None) => {
                at += 1;
                continue;
            }
        };
        let words = tokens.get(at..at + count).unwrap_or_default();
        at += count;
        // Parts of words are of one place.
        if words.first().is_some_and(|word| word.place.0 as usize >= border) {
            let spans = spans(words);
            border = spans.last().map_or(border, |span| span.end);
            places.push(HighlightMatch { spans, number });
        }
    }
    Ok(places)
}

fn tokens<E>(
    marks: &Marks,
    analysis: &Analysis,
    texts: &Texts,
    check_cancel: CancelCheck<'_, E>,
) -> Result<Vec<Token>, E> {
    let mut tokens = Vec::new();
    let mut position = 0;
    for part in &texts.parts {
        let text = texts.text.get(part.clone()).unwrap_or_default();
        let mut add = |word: &str, place: Range<usize>| {
            check_cancel()?;
            if let Some(meant) = marks.meant(word) {
                // A text has less than 2^32 bytes.
                let place = ((part.start + place.start) as u32, (part.start + place.end) as u32);
                tokens.push(Token { meant, place, position });
            }
            position += 1;
            Ok(())
        };
        match analysis {
            Analysis::Words(analyzer) => analyzer.words(text, &mut |word| add(word.text, word.place))?,
            Analysis::LowerCase | Analysis::Exact => add(&terms::analyzed(text, analysis.kind()), 0..text.len())?,
        }
    }
    Ok(tokens)
}

/// The longest phrase that these words begin with. As in Lucene, words that mean nothing may stand between those of a phrase that may
/// be apart, but each has to be near to where it would follow the one before.
fn longest_phrase<'m>(marks: &'m Marks, tokens: &[Token]) -> Option<&'m MarkedPhrase> {
    let first = tokens.first()?.meant.in_phrases?;
    let fits = |phrase: &&MarkedPhrase| {
        let Some(words) = tokens.get(..phrase.words.len()) else { return false };
        let is_same = words.iter().zip(&phrase.words).all(|(token, word)| token.meant.in_phrases == Some(*word));
        is_same && words.windows(2).all(|pair| pair[1].position - pair[0].position <= phrase.distance.saturating_add(1))
    };
    marks.beginning_with(first).filter(fits).max_by_key(|phrase| phrase.words.len())
}

/// The bytes of words: those that follow each other are one.
fn spans(words: &[Token]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::with_capacity(1);
    let mut before: Option<u32> = None;
    for word in words {
        let (start, end) = (word.place.0 as usize, word.place.1 as usize);
        match spans.last_mut() {
            Some(last) if before.is_some_and(|before| word.position <= before + 1) || start < last.end => {
                last.end = last.end.max(end);
            }
            _ => spans.push(start..end),
        }
        before = Some(word.position);
    }
    spans
}
