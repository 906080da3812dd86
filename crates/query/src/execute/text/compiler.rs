//! Compiles full-text predicates for the analyzers of one index.

use super::super::CancelCheck;
use super::glob::Glob;
use super::{Pattern, Phrase, Several, TextMatcher, fuzzy};
use crate::definition::{Analysis, Fields};
use crate::index::{Error, FieldNumber, IndexSnapshot};
use crate::limits::PHRASE_WORDS_MAX;
use crate::plan::{FieldUse, LuceneQuery, SearchPart, TextQuery, Wildcard};

/// Compiles [`TextQuery`]s into [`TextMatcher`]s.
#[derive(Clone, Copy)]
pub(in crate::execute) struct TextCompiler<'s, 'l, E> {
    pub index: &'s IndexSnapshot<'s>,
    pub fields: &'l dyn Fields,
    pub check_cancel: CancelCheck<'l, E>,
}

impl<E: From<Error>> TextCompiler<'_, '_, E> {
    /// Compiles a predicate on one field.
    pub fn compile(&self, field: &FieldUse, query: &TextQuery) -> Result<TextMatcher, E> {
        let (name, analysis) = self.fields.resolve(field);
        // No entry ever had it.
        let Some(number) = self.index.field(&name)? else { return Ok(TextMatcher::Nothing) };
        Ok(match query {
            TextQuery::Search { parts, is_all } => {
                let matcher = parts.iter().filter_map(|part| search_part(number, &analysis, part).transpose());
                let matcher = matcher.collect::<Result<Vec<TextMatcher>, Error>>()?;
                if *is_all { TextMatcher::all_of(matcher) } else { TextMatcher::any_of(matcher) }
            }
            TextQuery::Fuzzy { text, similarity } => {
                let text = crate::definition::terms::analyzed(text, analysis.kind());
                return fuzzy::matcher(self.index, number, &text, *similarity, self.check_cancel);
            }
            TextQuery::Proximity { parts, distance } => {
                let words: Vec<String> = parts.iter().flat_map(|part| analysis.query_words(&part.text)).collect();
                if words.len() == 1 {
                    return Err(Error::ProximityOfOneWord.into());
                }
                words_together(number, words, *distance)?.unwrap_or(TextMatcher::Nothing)
            }
            TextQuery::Lucene { query, fields } => {
                let mut known = vec![Some((number, analysis))];
                for field in fields {
                    let (name, analysis) = self.fields.resolve(field);
                    known.push(self.index.field(&name)?.map(|number| (number, analysis)));
                }
                return Ok(self.lucene(query, &known)?.unwrap_or(TextMatcher::Nothing));
            }
        })
    }

    /// `None`: it has no words, and says nothing. The depth of the recursion is that of the text, which is bounded.
    fn lucene(
        &self,
        query: &LuceneQuery,
        fields: &[Option<(FieldNumber, Analysis)>],
    ) -> Result<Option<TextMatcher>, E> {
        (self.check_cancel)()?;
        let known = match query {
            LuceneQuery::Words(field, _)
            | LuceneQuery::Phrase(field, ..)
            | LuceneQuery::Wildcard(field, _)
            | LuceneQuery::Fuzzy(field, ..)
            | LuceneQuery::Range(field, ..) => fields.get(*field).cloned().flatten(),
            LuceneQuery::All => return Ok(Some(TextMatcher::All)),
            LuceneQuery::Boosted(query, boost) => {
                let matcher = self.lucene(query, fields)?;
                return Ok(matcher.map(|matcher| TextMatcher::Boosted(Box::new(matcher), *boost)));
            }
            LuceneQuery::Several { must, may, must_not } => {
                let each = |queries: &[LuceneQuery]| {
                    queries.iter().filter_map(|query| self.lucene(query, fields).transpose()).collect()
                };
                let [must, may, must_not]: [Result<Vec<TextMatcher>, E>; 3] =
                    [must, may, must_not].map(|all| each(all));
                return Ok(Some(TextMatcher::Several(Several {
                    must: must?,
                    may: may?,
                    must_not: must_not?,
                    counts: true,
                })));
            }
        };
        let Some((number, analysis)) = known else { return Ok(Some(TextMatcher::Nothing)) };
        let lower = |text: &str| crate::definition::terms::analyzed(text, analysis.kind());
        Ok(match query {
            LuceneQuery::Words(_, text) => words_together(number, analysis.query_words(text), 0)?,
            LuceneQuery::Phrase(_, text, distance) => words_together(number, analysis.query_words(text), *distance)?,
            LuceneQuery::Wildcard(_, pattern) => Some(TextMatcher::Like(number, Glob::pattern(&lower(pattern)))),
            LuceneQuery::Fuzzy(_, text, similarity) => {
                Some(fuzzy::matcher(self.index, number, &lower(text), *similarity, self.check_cancel)?)
            }
            LuceneQuery::Range(_, low, high) => {
                let [low, high] = [low, high].map(|bound| bound.as_ref().map(|text| lower(text)));
                Some(TextMatcher::Like(number, Pattern::Range(low, high)))
            }
            LuceneQuery::All | LuceneQuery::Boosted(..) | LuceneQuery::Several { .. } => None,
        })
    }
}

/// `None`: it has no words, and says nothing.
fn search_part(field: FieldNumber, analysis: &Analysis, part: &SearchPart) -> Result<Option<TextMatcher>, Error> {
    if part.wildcard == Wildcard::None {
        return words_together(field, analysis.query_words(&part.text), 0);
    }
    if part.text.is_empty() {
        return Ok(Some(TextMatcher::All));
    }
    // As in the reference, the end of a word may be too common, its beginning not.
    let mut words = match part.wildcard {
        Wildcard::Before | Wildcard::None if !analysis.is_custom() => analysis.query_words(&part.text),
        _ => analysis.query_word_parts(&part.text),
    };
    // A wildcard stands at a word; where there are several it stands nowhere, except that of a custom analyzer the first counts.
    let word = match words.len() {
        0 => return Ok(Some(TextMatcher::Nothing)),
        count if count > 1 && !analysis.is_custom() => return Ok(Some(TextMatcher::Nothing)),
        _ => words.remove(0),
    };
    let pattern = match part.wildcard {
        Wildcard::Behind => Pattern::Prefix(word),
        Wildcard::Before => Pattern::Suffix(word),
        Wildcard::Around | Wildcard::None => Pattern::Part(word),
    };
    Ok(Some(TextMatcher::Like(field, pattern)))
}

/// One word, or several as a phrase. `None`: there is none.
///
/// # Errors
///
/// [`Error::LongPhrase`]
pub(super) fn words_together(
    field: FieldNumber,
    mut words: Vec<String>,
    distance: u32,
) -> Result<Option<TextMatcher>, Error> {
    Ok(match words.len() {
        0 => None,
        1 => Some(TextMatcher::Word(field, words.remove(0))),
        count if count > PHRASE_WORDS_MAX => return Err(Error::LongPhrase { count }),
        _ => Some(TextMatcher::Phrase(Phrase { field, words, distance })),
    })
}
