//! What a text means to the analyzer of its field.

use super::super::Look;
use super::glob::Glob;
use super::{Pattern, Phrase, Several, Wanted, fuzzy};
use crate::definition::{Analysis, Fields};
use crate::index::{Error, FieldNumber, IndexSnapshot};
use crate::limits::PHRASE_WORDS_MAX;
use crate::plan::{FieldUse, LuceneQuery, SearchPart, TextQuery, Wildcard};

/// Where meanings come from.
#[derive(Clone, Copy)]
pub(in crate::execute) struct Meaning<'s, 'l, E> {
    pub index: &'s IndexSnapshot<'s>,
    pub fields: &'l dyn Fields,
    pub look: Look<'l, E>,
}

impl<E: From<Error>> Meaning<'_, '_, E> {
    /// What is wanted of a field.
    pub fn of(&self, field: &FieldUse, query: &TextQuery) -> Result<Wanted, E> {
        let (name, analysis) = self.fields.kept(field);
        // No entry ever had it.
        let Some(number) = self.index.field(&name)? else { return Ok(Wanted::Nothing) };
        Ok(match query {
            TextQuery::Search { parts, is_all } => {
                let wanted = parts.iter().filter_map(|part| search_part(number, analysis, part).transpose());
                let wanted = wanted.collect::<Result<Vec<Wanted>, Error>>()?;
                if *is_all { Wanted::all_of(wanted) } else { Wanted::any_of(wanted) }
            }
            TextQuery::Fuzzy { text, similarity } => {
                let text = crate::definition::terms::analyzed(text, analysis);
                return fuzzy::wanted(self.index, number, &text, *similarity, self.look);
            }
            TextQuery::Proximity { parts, distance } => {
                let words: Vec<String> = parts.iter().flat_map(|part| analysis.sought(&part.text)).collect();
                if words.len() == 1 {
                    return Err(Error::ProximityOfOneWord.into());
                }
                words_together(number, words, *distance)?.unwrap_or(Wanted::Nothing)
            }
            TextQuery::Lucene { query, fields } => {
                let mut known = vec![Some((number, analysis))];
                for field in fields {
                    let (name, analysis) = self.fields.kept(field);
                    known.push(self.index.field(&name)?.map(|number| (number, analysis)));
                }
                return Ok(self.lucene(query, &known)?.unwrap_or(Wanted::Nothing));
            }
        })
    }

    /// `None`: it has no words, and says nothing. The depth of the recursion is that of the text, which is bounded.
    fn lucene(&self, query: &LuceneQuery, fields: &[Option<(FieldNumber, Analysis)>]) -> Result<Option<Wanted>, E> {
        (self.look)()?;
        let known = match query {
            LuceneQuery::Words(field, _)
            | LuceneQuery::Phrase(field, ..)
            | LuceneQuery::Wildcard(field, _)
            | LuceneQuery::Fuzzy(field, ..)
            | LuceneQuery::Range(field, ..) => fields.get(*field).copied().flatten(),
            LuceneQuery::All => return Ok(Some(Wanted::All)),
            LuceneQuery::Boosted(query, boost) => {
                let wanted = self.lucene(query, fields)?;
                return Ok(wanted.map(|wanted| Wanted::Boosted(Box::new(wanted), *boost)));
            }
            LuceneQuery::Several { must, may, must_not } => {
                let each = |queries: &[LuceneQuery]| {
                    queries.iter().filter_map(|query| self.lucene(query, fields).transpose()).collect()
                };
                let [must, may, must_not]: [Result<Vec<Wanted>, E>; 3] = [must, may, must_not].map(|all| each(all));
                return Ok(Some(Wanted::Several(Several {
                    must: must?,
                    may: may?,
                    must_not: must_not?,
                    counts: true,
                })));
            }
        };
        let Some((number, analysis)) = known else { return Ok(Some(Wanted::Nothing)) };
        let lower = |text: &str| crate::definition::terms::analyzed(text, analysis);
        Ok(match query {
            LuceneQuery::Words(_, text) => words_together(number, analysis.sought(text), 0)?,
            LuceneQuery::Phrase(_, text, distance) => words_together(number, analysis.sought(text), *distance)?,
            LuceneQuery::Wildcard(_, pattern) => Some(Wanted::Like(number, Glob::pattern(&lower(pattern)))),
            LuceneQuery::Fuzzy(_, text, similarity) => {
                Some(fuzzy::wanted(self.index, number, &lower(text), *similarity, self.look)?)
            }
            LuceneQuery::Range(_, low, high) => {
                let [low, high] = [low, high].map(|bound| bound.as_ref().map(|text| lower(text)));
                Some(Wanted::Like(number, Pattern::Range(low, high)))
            }
            LuceneQuery::All | LuceneQuery::Boosted(..) | LuceneQuery::Several { .. } => None,
        })
    }
}

/// `None`: it has no words, and says nothing.
fn search_part(field: FieldNumber, analysis: Analysis, part: &SearchPart) -> Result<Option<Wanted>, Error> {
    if part.wildcard == Wildcard::None {
        return words_together(field, analysis.sought(&part.text), 0);
    }
    if part.text.is_empty() {
        return Ok(Some(Wanted::All));
    }
    // As in the reference, the end of a word may be too common, its beginning not.
    let mut words = match part.wildcard {
        Wildcard::Before | Wildcard::None => analysis.sought(&part.text),
        Wildcard::Behind | Wildcard::Around => analysis.sought_parts(&part.text),
    };
    // A wildcard stands at a word; where there are several it stands nowhere.
    let word = match words.len() {
        1 => words.remove(0),
        _ => return Ok(Some(Wanted::Nothing)),
    };
    let pattern = match part.wildcard {
        Wildcard::Behind => Pattern::Prefix(word),
        Wildcard::Before => Pattern::Suffix(word),
        Wildcard::Around | Wildcard::None => Pattern::Part(word),
    };
    Ok(Some(Wanted::Like(field, pattern)))
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
) -> Result<Option<Wanted>, Error> {
    Ok(match words.len() {
        0 => None,
        1 => Some(Wanted::Word(field, words.remove(0))),
        count if count > PHRASE_WORDS_MAX => return Err(Error::LongPhrase { count }),
        _ => Some(Wanted::Phrase(Phrase { field, words, distance })),
    })
}
