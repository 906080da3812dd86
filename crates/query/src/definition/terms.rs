//! Field analysis: the terms that texts and numbers become, both those of documents and those that a query searches for.

use super::{Analysis, AnalysisKind};
use crate::analysis::Analyzer;
use crate::index::Number;
use crate::mapping::DateTime;
use documents::id;
use std::borrow::Cow;

impl Analysis {
    /// The terms that a text which is searched for stands for.
    pub fn query_words(&self, text: &str) -> Vec<String> {
        match self {
            Analysis::Words(analyzer) => analyzer.query_words(text),
            Analysis::Exact | Analysis::LowerCase => vec![analyzed(text, self.kind())],
        }
    }

    /// Whether a custom analyzer makes the terms.
    pub fn is_custom(&self) -> bool {
        matches!(self, Analysis::Words(Analyzer::Custom(_)))
    }

    /// The same of parts of terms, beside which there is a wildcard.
    pub fn query_word_parts(&self, text: &str) -> Vec<String> {
        match self {
            Analysis::Words(analyzer) => analyzer.query_word_parts(text),
            Analysis::Exact | Analysis::LowerCase => self.query_words(text),
        }
    }
}

/// A text as one term of a field: what is compared with a field in words is one of them.
pub(crate) fn analyzed(text: &str, analysis: AnalysisKind) -> String {
    match analysis {
        AnalysisKind::Exact => text.to_owned(),
        AnalysisKind::LowerCase | AnalysisKind::Words => {
            String::from_utf8(id::lower(text)).unwrap_or_else(|_| text.to_owned())
        }
    }
}

/// The ticks of a text that is compared as a date. `None`: it is none, or the field is kept in words.
pub(crate) fn time(text: &str, analysis: AnalysisKind) -> Option<u64> {
    match analysis {
        AnalysisKind::Exact | AnalysisKind::LowerCase => DateTime::ticks_of(text),
        AnalysisKind::Words => None,
    }
}

/// A number by its JSON text: whole and of 64 bits, or the nearest double.
pub(crate) fn number(text: &str) -> Option<Number> {
    match text.parse() {
        Ok(long) => Some(Number::Long(long)),
        Err(_) => text.parse().ok().filter(|double: &f64| double.is_finite()).map(Number::Double),
    }
}

/// The text by which a number is found: `1.50` is `1.5`, `10.0` is `10`, `-0` is `0`; others as they are written.
pub(crate) fn number_text(text: &str) -> Cow<'_, str> {
    let trimmed = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte.is_ascii_digit()) => {
            match fraction.trim_end_matches('0') {
                "" => whole,
                _ => text.trim_end_matches('0'),
            }
        }
        _ => text,
    };
    Cow::Borrowed(if trimmed == "-0" { "0" } else { trimmed })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the terms of the reference are.
    #[test]
    fn numbers_lose_the_zeros_that_say_nothing() {
        for (written, found) in [
            ("1.50", "1.5"),
            ("10.0", "10"),
            ("10", "10"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0.1", "0.1"),
            ("1.0E5", "1.0E5"),
            ("1e2", "1e2"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ] {
            assert_eq!(number_text(written), found);
        }
    }

    #[test]
    fn longs_stay_exact() {
        assert_eq!(number("9007199254740993"), Some(Number::Long(9_007_199_254_740_993)));
        assert_eq!(number("9223372036854775808"), Some(Number::Double(9_223_372_036_854_775_808.0)));
        assert_eq!(number("1e999"), None);
    }
}
