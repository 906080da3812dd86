//! How full-text fields of a static index are scored: settings in its `Configuration`, which the reference
//! does not know.

use json::Value;

use super::configuration::{BM25_B, BM25_K1, SCORING, setting_text};

/// The greatest `k1`: beyond it a frequency counts nearly as it is, and numbers lose their precision.
const K1_MAX: f32 = 100.0;

/// The parameters of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// How much more a word counts that comes again: 0, not at all. 0 to 100.
    pub k1: f32,
    /// How much less a word counts in a text that is longer than the average: 0, not at all; 1, in proportion.
    pub b: f32,
}

impl Default for Bm25 {
    fn default() -> Bm25 {
        Bm25 { k1: 1.2, b: 0.75 }
    }
}

impl Bm25 {
    /// Reads a definition. `None`: it is scored as the reference does.
    ///
    /// # Errors
    ///
    /// What is wrong with a setting, as a sentence.
    pub(super) fn of(definition: &Value) -> Result<Option<Bm25>, String> {
        let setting =
            |name| definition.get("Configuration").and_then(|settings| settings.get(name)).and_then(setting_text);
        let is_on = setting(SCORING).is_some_and(|scoring| scoring.eq_ignore_ascii_case("Bm25"));
        let number = |name, default: f32, max: f32| match setting(name) {
            None => Ok(default),
            Some(_) if !is_on => Err(format!("'{name}' needs '{SCORING}' to be Bm25")),
            Some(text) => match text.parse::<f32>() {
                Ok(number) if (0.0..=max).contains(&number) => Ok(number),
                _ => Err(format!("'{name}' must be a number from 0 to {max}, and not '{text}'")),
            },
        };
        let defaults = Bm25::default();
        let bm25 = Bm25 { k1: number(BM25_K1, defaults.k1, K1_MAX)?, b: number(BM25_B, defaults.b, 1.0)? };
        Ok(is_on.then_some(bm25))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(settings: &str, expected: Result<Option<Bm25>, &str>) {
        let definition = Value::parse(format!("{{\"Configuration\":{{{settings}}}}}").as_bytes()).unwrap();
        assert_eq!(Bm25::of(&definition), expected.map_err(str::to_owned), "{settings}");
    }

    #[test]
    fn settings_are_read() {
        check("", Ok(None));
        check(r#""Indexing.FullText.Scoring":"TfIdf""#, Ok(None));
        check(r#""Indexing.FullText.Scoring":"bm25""#, Ok(Some(Bm25 { k1: 1.2, b: 0.75 })));
        let all = r#""Indexing.FullText.Scoring":"Bm25","Indexing.FullText.Bm25.K1":"2","Indexing.FullText.Bm25.B":0"#;
        check(all, Ok(Some(Bm25 { k1: 2.0, b: 0.0 })));
        check(
            r#""Indexing.FullText.Bm25.B":"0.5""#,
            Err("'Indexing.FullText.Bm25.B' needs 'Indexing.FullText.Scoring' to be Bm25"),
        );
        check(
            r#""Indexing.FullText.Scoring":"Bm25","Indexing.FullText.Bm25.B":"1.5""#,
            Err("'Indexing.FullText.Bm25.B' must be a number from 0 to 1, and not '1.5'"),
        );
        check(
            r#""Indexing.FullText.Scoring":"Bm25","Indexing.FullText.Bm25.K1":"NaN""#,
            Err("'Indexing.FullText.Bm25.K1' must be a number from 0 to 100, and not 'NaN'"),
        );
    }
}
