//! `moreLikeThis(base[, options])`: entries whose words are like those of one document.

use super::{Argument, Function, Kind, Use};
use crate::definition::Analysis;
use crate::limits::MORE_LIKE_THIS_WORDS_MAX;
use crate::plan::{Condition, Options, Parameters, Planner, Refused, Scalar};
use crate::rql::{Call, Expression, Value};
use json::Value as Json;

pub(super) static MORE_LIKE_THIS: Function = Function {
    name: "moreLikeThis",
    aliases: &[],
    arguments: &[Argument::required("base", Kind::Base), Argument::optional("options", Kind::Options)],
    about: "Finds entries whose words are like those of one document: the first that a condition finds, or a document given as JSON. The index must be named.",
    example: "from index 'Products/ByName' where moreLikeThis(id() = 'products/1-A')",
    uses: &[Use::Condition(plan)],
    missing: &[],
};

fn plan(planner: &mut Planner<'_>, call: &Call<'_>, _analysis: Analysis) -> Result<Condition, Refused> {
    if !planner.is_named {
        return Err(Refused::Invalid("Method moreLikeThis() cannot be used in dynamic queries".to_owned()));
    }
    let wrong = || MORE_LIKE_THIS.wrong_arguments();
    let (base, options) = match call.arguments.as_slice() {
        [base] => (base, None),
        [base, Expression::Value(options)] => (base, Some(options)),
        _ => return Err(wrong()),
    };
    let base = match base {
        Expression::Value(value) => {
            let Scalar::Text(text) = planner.parameters.scalar(value)? else { return Err(wrong()) };
            let no_json = |error| Refused::Invalid(format!("the document of moreLikeThis() is no JSON: {error}"));
            Base::Document(Json::parse(text.as_bytes()).map_err(no_json)?)
        }
        condition => Base::Entry(Box::new(planner.condition(condition, Analysis::LowerCase)?)),
    };
    Ok(Condition::Like(Box::new(MoreLikeThis::new(base, options, planner.parameters)?)))
}

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
    fn new(base: Base, options: Option<&Value<'_>>, parameters: Parameters<'_>) -> Result<MoreLikeThis, Refused> {
        let given = Options::of(MORE_LIKE_THIS.name, options, parameters)?;
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
