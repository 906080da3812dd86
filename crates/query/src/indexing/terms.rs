//! What a value of a document is found by.
//!
//! * null is a term of its own; `true` and `false` are texts; a text is lower-cased, or as it is where it is exact.
//! * A text that is a date, in one of the ways to write it, is when that is, and a text that all these ways have in common.
//! * A text that is a duration is also indexed as a number, its ticks.
//! * A number is its text, without zeros that end a fraction, and the number.
//! * An object is its JSON.

use super::extract::ExtractedValue;
use crate::definition::Analysis;
use crate::definition::terms::{number, number_text, time};
use crate::index::{Entry, FieldNumber, Number, Result, Term};
use crate::mapping::{DateTime, TimeSpan};
use documents::id;
use json::{Kind, Raw};

/// Adds the terms of a value to an entry.
///
/// * `lower`: memory for lower-cased text.
pub(crate) fn add(
    entry: &mut Entry,
    field: FieldNumber,
    analysis: &Analysis,
    found: &ExtractedValue<'_>,
    lower: &mut Vec<u8>,
) -> Result<()> {
    let value = match found {
        ExtractedValue::Value(value) => *value,
        ExtractedValue::Part(json) => Raw::new(json),
        ExtractedValue::Count(count) => return add_number(entry, field, analysis, &count.to_string()),
    };
    match value.kind() {
        Kind::Null => entry.add(field, Term::Null),
        Kind::Number => add_number(entry, field, analysis, value.number_text().unwrap_or_default()),
        Kind::Bool => {
            let text = if value.as_bool() == Some(true) { "true" } else { "false" };
            add_scalar(entry, field, analysis, text)
        }
        Kind::String => add_text(entry, field, analysis, &value.as_str().unwrap_or_default(), lower),
        Kind::Object | Kind::Array => add_text(entry, field, analysis, &String::from_utf8_lossy(value.bytes()), lower),
    }
}

fn add_text(entry: &mut Entry, field: FieldNumber, analysis: &Analysis, text: &str, lower: &mut Vec<u8>) -> Result<()> {
    if let Some(ticks) = time(text, analysis.kind()) {
        entry.add(field, Term::Time(ticks))?;
    }
    if let Some(ticks) = TimeSpan::ticks_of(text) {
        entry.add(field, Term::Number(Number::Long(ticks)))?;
    }
    if !matches!(analysis, Analysis::Words(_))
        && let Some(added) = DateTime::with_term_of(text, |date| entry.add(field, Term::Text(date)))
    {
        return added;
    }
    match analysis {
        Analysis::Exact => entry.add(field, Term::Text(text)),
        // A text without words is found by being empty.
        Analysis::Words(_) if text.is_empty() => entry.add(field, Term::Text(text)),
        Analysis::Words(analyzer) => analyzer.words(text, &mut |word| entry.add_word(field, word.text)),
        Analysis::LowerCase => {
            id::lower_into(lower, text);
            // What is lower-cased stays UTF-8; the text itself is the way out that is never taken.
            entry.add(field, Term::Text(std::str::from_utf8(lower).unwrap_or(text)))
        }
    }
}

/// Adds a text that is one word however it is analysed.
fn add_scalar(entry: &mut Entry, field: FieldNumber, analysis: &Analysis, text: &str) -> Result<()> {
    match analysis {
        Analysis::Words(_) => entry.add_word(field, text),
        Analysis::Exact | Analysis::LowerCase => entry.add(field, Term::Text(text)),
    }
}

fn add_number(entry: &mut Entry, field: FieldNumber, analysis: &Analysis, text: &str) -> Result<()> {
    add_scalar(entry, field, analysis, &number_text(text))?;
    match number(text) {
        Some(number) => entry.add(field, Term::Number(number)),
        None => Ok(()),
    }
}
