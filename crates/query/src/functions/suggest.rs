//! `select suggest(field, terms[, options])`: words of a field that are like others.

use super::{Argument, Clause, Function, Kind, Use};
use crate::definition::Analysis;
use crate::limits::{BOUND_SIZE_MAX, SUGGESTED_TERMS_MAX, SUGGESTIONS_MAX};
use crate::plan::{FieldUse, Options, Parameters, Planner, Refused, Scalar};
use crate::rql::{self, Call, Column, ColumnValue, Expression, Output, Query, Select, Value};
use json::Value as Json;

pub(super) static SUGGEST: Function = Function {
    name: "suggest",
    aliases: &[],
    arguments: &[
        Argument::required("field", Kind::Field),
        Argument::required("terms", Kind::Texts),
        Argument::optional("options", Kind::Options),
    ],
    about: "Answers, in place of results, with terms of the field that are like the given ones. Options are `PageSize`, `Accuracy`, `Distance` and `SortMode`.",
    example: "from Companies select suggest(Name, 'ernst')",
    uses: &[Use::Known(Clause::Select)],
    missing: &[],
};

/// Words of one field that are to be suggested.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The name in the results.
    pub name: String,
    /// The field.
    pub field: FieldUse,
    /// What the words are to be like.
    pub terms: Vec<String>,
    /// How.
    pub options: SuggestionOptions,
}

/// How words are suggested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuggestionOptions {
    /// How many.
    pub page_size: usize,
    /// By what it is measured how like they are.
    pub distance: SuggestionDistance,
    /// Only what is at least so like: 0 to 1.
    pub accuracy: f32,
    /// The likest of all terms first, of these the most frequent, of these those of the first term; else those of the first term first.
    pub sorts_all: bool,
}

/// A measure of likeness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuggestionDistance {
    /// Characters to change, add or drop.
    Levenshtein,
    /// Characters in common, and a common beginning.
    JaroWinkler,
    /// Pairs of characters in common.
    NGram,
}

/// As the clients have them.
const DEFAULT: SuggestionOptions =
    SuggestionOptions { page_size: 15, distance: SuggestionDistance::Levenshtein, accuracy: 0.5, sorts_all: true };

/// Whether a query suggests words.
pub(crate) fn is_wanted(query: &Query<'_>) -> bool {
    match &query.output {
        Output::Select(Select { projection: rql::Projection::Columns(columns), .. }) => {
            columns.iter().any(|column| suggest(column).is_some())
        }
        _ => false,
    }
}

/// What a query suggests; nothing if it does not.
pub(crate) fn plan(query: &Query<'_>, planner: &mut Planner<'_>) -> Result<Vec<Suggestion>, Refused> {
    let Output::Select(Select { is_distinct, projection: rql::Projection::Columns(columns) }) = &query.output else {
        return Ok(Vec::new());
    };
    if !is_wanted(query) {
        return Ok(Vec::new());
    }
    if *is_distinct {
        return Err(Refused::Invalid("Cannot use SELECT DISTINCT in a suggestion query".to_owned()));
    }
    let mut suggestions = Vec::with_capacity(columns.len());
    for column in columns {
        let Some(call) = suggest(column) else {
            return Err(Refused::Invalid("Unsupported expression specified as an argument of suggest()".to_owned()));
        };
        suggestions.push(of(call, column.alias.as_deref(), planner)?);
    }
    Ok(suggestions)
}

fn suggest<'c, 'q>(column: &'c Column<'q>) -> Option<&'c Call<'q>> {
    match &column.value {
        ColumnValue::Call(call) if SUGGEST.is(&call.name) => Some(call),
        _ => None,
    }
}

fn of(call: &Call<'_>, alias: Option<&str>, planner: &mut Planner<'_>) -> Result<Suggestion, Refused> {
    let (field, terms, options) = match call.arguments.as_slice() {
        [field, Expression::Value(terms)] => (field, terms, None),
        [field, Expression::Value(terms), Expression::Value(options)] => (field, terms, Some(options)),
        _ => return Err(SUGGEST.wrong_arguments()),
    };
    let parameters = planner.parameters;
    let terms = terms_of(terms, parameters)?;
    let options = match options {
        Some(options) => options_of(options, parameters)?,
        None => DEFAULT,
    };
    let field = planner.suggested_field(field)?;
    debug_assert!(field.analysis == Analysis::LowerCase);
    Ok(Suggestion { name: alias.unwrap_or(&field.name.path).to_owned(), field, terms, options })
}

fn terms_of(terms: &Value<'_>, parameters: Parameters<'_>) -> Result<Vec<String>, Refused> {
    let mut texts = Vec::new();
    for term in parameters.scalars(terms)? {
        match term {
            Scalar::Text(text) if !text.is_empty() && text.len() <= BOUND_SIZE_MAX => texts.push(text),
            Scalar::Text(_) => {
                let message = format!("a term of suggest() has 1 to BOUND_SIZE_MAX = {BOUND_SIZE_MAX} bytes");
                return Err(Refused::Invalid(message));
            }
            _ => return Err(Refused::Invalid("Term can only be passed as string".to_owned())),
        }
    }
    match texts.len() {
        0 => Err(Refused::Invalid("Method suggest() needs a term".to_owned())),
        1..=SUGGESTED_TERMS_MAX => Ok(texts),
        count => {
            let limit =
                format!("{count} terms of suggest() exceed the limit SUGGESTED_TERMS_MAX = {SUGGESTED_TERMS_MAX}");
            Err(Refused::Invalid(limit))
        }
    }
}

fn options_of(given: &Value<'_>, parameters: Parameters<'_>) -> Result<SuggestionOptions, Refused> {
    let options = Options::of(SUGGEST.name, Some(given), parameters)?;
    let mut found = DEFAULT;
    found.page_size = match usize::try_from(options.number("PageSize", found.page_size as u64)?) {
        Ok(0) | Err(_) => return Err(options.wrong("PageSize", "must be above 0")),
        Ok(size) => size.min(SUGGESTIONS_MAX),
    };
    match options.get("Accuracy") {
        None => {}
        Some(Json::Number(number)) => match number.parse() {
            Ok(accuracy) if (0.0..=1.0).contains(&accuracy) => found.accuracy = accuracy,
            _ => return Err(options.wrong("Accuracy", "must be from 0 to 1")),
        },
        Some(_) => return Err(options.wrong("Accuracy", "must be a number")),
    }
    found.distance = match options.text("Distance") {
        None | Some("None" | "Default" | "Levenshtein") => SuggestionDistance::Levenshtein,
        Some("JaroWinkler") => SuggestionDistance::JaroWinkler,
        Some("NGram") => SuggestionDistance::NGram,
        Some(other) => return Err(options.wrong("Distance", &format!("cannot be '{other}'"))),
    };
    found.sorts_all = match options.text("SortMode") {
        None | Some("Popularity") => true,
        Some("None") => false,
        Some(other) => return Err(options.wrong("SortMode", &format!("cannot be '{other}'"))),
    };
    Ok(found)
}
