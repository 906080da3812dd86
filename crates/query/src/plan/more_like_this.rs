//! `moreLikeThis(base[, options])`: entries whose words are like those of one document.

use super::options::Options;
use super::{Condition, Parameters, Refused};
use crate::limits::MORE_LIKE_THIS_WORDS_MAX;
use crate::rql::Value;
use json::Value as Json;

/// What is to be like what.
#[derive(Clone, Debug)]
pub struct MoreLikeThis {
    /// What the others are compared with.
    pub base: Base,
    /// Only the words of these fields; `None`: of all that keep their words.
    pub fields: Option<Vec<String>>,
    /// The document whose `StopWords` say nothing.
    pub stop_words_document: Option<String>,
    /// These words, lower-cased, once somebody has looked them up.
    pub stop_words: Vec<String>,
    /// Which words count, and how.
    pub options: LikenessOptions,
}

/// What others are compared with.
#[derive(Clone, Debug)]
pub enum Base {
    /// The first entry that a condition finds.
    Entry(Box<Condition>),
    /// A document that the index need not have.
    Document(Json),
}

/// Which words of the base count, and how. What is 0 where that is no number that makes sense is not looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LikenessOptions {
    /// How often a word comes in the base at least.
    pub term_frequency_min: u64,
    /// How many entries have it at least.
    pub document_frequency_min: u64,
    /// How many entries have it at most.
    pub document_frequency_max: u64,
    /// The same in hundredths of all entries.
    pub document_frequency_percentage_max: u64,
    /// Characters of a word at least.
    pub word_length_min: u64,
    /// Characters of a word at most.
    pub word_length_max: u64,
    /// How many words, the most telling.
    pub query_terms_max: usize,
    /// Whether more telling words count more.
    pub boosts: bool,
}

/// Options that are not heeded, and the values by which nothing is asked of them.
const NOT_HEEDED: [(&str, i64); 2] = [("BoostFactor", 1), ("MaximumNumberOfTokensParsed", 5000)];

impl MoreLikeThis {
    /// * `options`: an object, the text of one, or nothing.
    pub(super) fn new(
        base: Base,
        options: Option<&Value<'_>>,
        parameters: Parameters<'_>,
    ) -> Result<MoreLikeThis, Refused> {
        let given = Options::of("moreLikeThis", options, parameters)?;
        for (name, default) in NOT_HEEDED {
            let is_default = |value: &Json| *value == Json::Null || value.as_i64() == Some(default);
            if given.get(name).is_some_and(|value| !is_default(value)) {
                return Err(Refused::NotSupported(format!("the option '{name}' of moreLikeThis()")));
            }
        }
        let number = |name: &str, default: u64| given.number(name, default);
        let fields = match given.get("Fields") {
            None => None,
            Some(Json::Array(names)) => {
                let names = names.iter().map(|name| name.as_str().map(str::to_owned));
                Some(names.collect::<Option<Vec<String>>>().ok_or_else(|| given.wrong("Fields", "must be texts"))?)
            }
            Some(_) => return Err(given.wrong("Fields", "must be texts")),
        };
        let options = LikenessOptions {
            // What the clients call defaults (2 and 5) the reference does not heed.
            term_frequency_min: number("MinimumTermFrequency", 1)?,
            document_frequency_min: number("MinimumDocumentFrequency", 1)?,
            document_frequency_max: number("MaximumDocumentFrequency", 0)?,
            document_frequency_percentage_max: number("MaximumDocumentFrequencyPercentage", 0)?,
            word_length_min: number("MinimumWordLength", 0)?,
            word_length_max: number("MaximumWordLength", 0)?,
            query_terms_max: usize::try_from(number("MaximumQueryTerms", 25)?)
                .unwrap_or(usize::MAX)
                .min(MORE_LIKE_THIS_WORDS_MAX),
            boosts: given.flag("Boost")?,
        };
        let stop_words_document = given.text("StopWordsDocumentId").map(str::to_owned);
        Ok(MoreLikeThis { base, fields, stop_words_document, stop_words: Vec::new(), options })
    }
}
