//! Results of groups as documents: the collection of the documents, and the documents that list their ids.
//!
//! `OutputReduceToCollection` names the collection. `PatternForOutputReduceToCollectionReferences` (`sales/{Company}/{Date:yyyy-MM}`)
//! gives documents that name the results, under ids that people can guess; `PatternReferencesCollectionName` is their collection.

use super::DefinitionError;
use crate::mapping::{Reduce, text_of};
use documents::id;
use json::{Raw, Value};

/// The properties of a definition that say it.
pub(super) const PROPERTIES: [&str; 3] = [COLLECTION, PATTERN, REFERENCES];
const COLLECTION: &str = "OutputReduceToCollection";
const PATTERN: &str = "PatternForOutputReduceToCollectionReferences";
const REFERENCES: &str = "PatternReferencesCollectionName";

/// What stands behind the collection where references have none of their own.
const REFERENCES_OF: &str = "/References";

/// That the results of an index become documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The collection of the documents.
    pub collection: String,
    /// The documents that list the ids of these; `None`: there are none.
    pub references: Option<References>,
}

/// Documents that name results under ids made of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    /// The pattern as it was given.
    pub pattern: String,
    /// Their collection.
    pub collection: String,
    parts: Vec<PatternPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternPart {
    Text(String),
    /// A property of the result, and a format of .NET or nothing.
    Property {
        name: String,
        format: String,
    },
}

impl Output {
    /// Reads it from a definition. `None`: results stay in the index.
    pub(super) fn of(given: &Value, reduce: Option<&Reduce>) -> Result<Option<Output>, DefinitionError> {
        let invalid = |message: String| Err(DefinitionError::InvalidOutput(message));
        let mut texts = [None; 3];
        for (text, property) in texts.iter_mut().zip(PROPERTIES) {
            *text = match given.get(property) {
                None | Some(Value::Null) => None,
                Some(Value::String(text)) => Some(text.trim()).filter(|text| !text.is_empty()),
                Some(_) => return invalid(format!("'{property}' must be a text")),
            };
        }
        let (collection, reduce) = match (texts, reduce) {
            ([None, None, None], _) => return Ok(None),
            ([None, ..], _) => return invalid(format!("'{PATTERN}' and '{REFERENCES}' need '{COLLECTION}'")),
            ([Some(_), None, Some(_)], _) => return invalid(format!("'{REFERENCES}' needs '{PATTERN}'")),
            ([Some(_), ..], None) => return invalid(format!("'{COLLECTION}' needs a 'Reduce'")),
            ([Some(collection), ..], Some(reduce)) => (collection, reduce),
        };
        refuse_reserved(COLLECTION, collection)?;
        let [_, pattern, references] = texts;
        let references = match pattern {
            None => None,
            Some(pattern) => {
                let own = references.map(str::to_owned);
                let references = References {
                    pattern: pattern.to_owned(),
                    collection: own.unwrap_or_else(|| format!("{collection}{REFERENCES_OF}")),
                    parts: parts(pattern, reduce)?,
                };
                refuse_reserved(REFERENCES, &references.collection)?;
                if id::is_same(&references.collection, collection) {
                    return invalid(format!(
                        "Collection defined in {REFERENCES} must not be the same as in {COLLECTION}. Collection name: '{collection}'"
                    ));
                }
                Some(references)
            }
        };
        Ok(Some(Output { collection: collection.to_owned(), references }))
    }

    /// The collections that its documents are of.
    pub fn collections(&self) -> impl Iterator<Item = &str> {
        let references = self.references.as_ref().map(|references| references.collection.as_str());
        std::iter::once(self.collection.as_str()).chain(references)
    }
}

/// Names that begin with `@` are those of the server.
fn refuse_reserved(property: &str, collection: &str) -> Result<(), DefinitionError> {
    match collection.starts_with('@') {
        true => Err(DefinitionError::InvalidOutput(format!("'{property}' cannot be '{collection}'"))),
        false => Ok(()),
    }
}

impl References {
    /// The id of the document that names a result.
    ///
    /// # Errors
    ///
    /// Why there is none: a property of the pattern is missing or null, or its format is none of such values; or the id cannot be one.
    pub fn id_of(&self, result: Raw<'_>) -> Result<String, String> {
        let refused = |why: String| {
            let pattern = &self.pattern;
            format!("No document names this result: {why}. Pattern: '{pattern}'")
        };
        let mut made = String::new();
        for part in &self.parts {
            match part {
                PatternPart::Text(text) => made.push_str(text),
                PatternPart::Property { name, format } => match result.get(name) {
                    None => return Err(refused(format!("it has no field '{name}'"))),
                    Some(value) => match text_of(value, format) {
                        Ok(Some(text)) => made.push_str(&text),
                        Ok(None) => return Err(refused(format!("its field '{name}' is null, an array or an object"))),
                        Err(error) => return Err(refused(format!("its field '{name}': {error}"))),
                    },
                },
            }
        }
        match id::check(&made) {
            Ok(()) => Ok(made),
            Err(error) => Err(refused(error.to_string())),
        }
    }
}

/// The parts of a pattern: at least one is a property that the reduce gives.
fn parts(pattern: &str, reduce: &Reduce) -> Result<Vec<PatternPart>, DefinitionError> {
    let not_supported = || DefinitionError::InvalidOutput(format!("Provided pattern is not supported: {pattern}"));
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some((text, after)) = rest.split_once('{') {
        let (inside, after) = after.split_once('}').ok_or_else(not_supported)?;
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        if text.contains('}') || name.is_empty() || name.contains('{') {
            return Err(not_supported());
        }
        if !reduce.makes_fields() && !reduce.output_fields().iter().any(|field| **field == *name) {
            return Err(DefinitionError::InvalidOutput(format!(
                "The pattern '{pattern}' names the field '{name}', which the reduce does not give"
            )));
        }
        if !text.is_empty() {
            parts.push(PatternPart::Text(text.to_owned()));
        }
        parts.push(PatternPart::Property { name: name.to_owned(), format: format.to_owned() });
        rest = after;
    }
    if parts.is_empty() || rest.contains('}') {
        return Err(not_supported());
    }
    if !rest.is_empty() {
        parts.push(PatternPart::Text(rest.to_owned()));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(more: &str) -> Result<Option<Output>, DefinitionError> {
        let reduce = Reduce::compile(
            "from r in results group r by r.A into g select new { A = g.Key, N = g.Sum(x => x.N), D = g.Min(x => x.D) }",
        );
        Output::of(&Value::parse(format!("{{{more}}}").as_bytes()).unwrap(), Some(&reduce.unwrap()))
    }

    fn with_pattern(pattern: &str) -> Result<References, DefinitionError> {
        let output = output(&format!(r#""OutputReduceToCollection":"Out","{PATTERN}":"{pattern}""#))?;
        Ok(output.and_then(|output| output.references).expect("it has a pattern"))
    }

    #[test]
    fn ids_are_made_of_a_pattern() {
        let check = |pattern: &str, result: &str, expected: Result<&str, &str>| {
            let id = with_pattern(pattern).unwrap().id_of(Raw::new(result.as_bytes()));
            match (id, expected) {
                (Ok(id), Ok(expected)) => assert_eq!(id, expected, "{pattern}"),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{pattern}: {why}"),
                (id, _) => panic!("{pattern}: {id:?}"),
            }
        };
        check("a/{A}/{N}", r#"{"A":"x y","N":7.5}"#, Ok("a/x y/7.5"));
        check("{A}-{A}/end", r#"{"A":true}"#, Ok("True-True/end"));
        check("{D:yyyy/MM}/{N:D4}", r#"{"D":"2020-03-04T05:06:07.0000000","N":7}"#, Ok("2020/03/0007"));
        check("{A:D3}", r#"{"A":"x"}"#, Ok("x"));
        check("{N:D3}", r#"{"N":7.5}"#, Err("'N'"));
        check("a/{A}", r#"{"A":null}"#, Err("'A' is null"));
        check("a/{A}", r#"{"A":[1]}"#, Err("'A' is null, an array"));
        check("a/{A}", r#"{"N":1}"#, Err("has no field 'A'"));
        check("{A}", r#"{"A":""}"#, Err("Pattern: '{A}'"));
    }

    #[test]
    fn patterns_and_collections_that_mean_nothing_are_refused() {
        for pattern in ["xyz", "x/{A", "x/A}", "x/{}", "{{A}}", "{A}}", "}{A}"] {
            let error = with_pattern(pattern).unwrap_err().to_string();
            assert_eq!(error, format!("Provided pattern is not supported: {pattern}"));
        }
        let check = |more: &str, expected: &str| {
            let error = output(more).unwrap_err().to_string();
            assert!(error.contains(expected), "{more}: {error}");
        };
        check(
            r#""OutputReduceToCollection":"O","PatternForOutputReduceToCollectionReferences":"{B}""#,
            "the field 'B', which",
        );
        check(r#""OutputReduceToCollection":"@o""#, "cannot be '@o'");
        check(r#""OutputReduceToCollection":7"#, "must be a text");
        check(r#""PatternForOutputReduceToCollectionReferences":"{A}""#, "need 'OutputReduceToCollection'");
        check(r#""OutputReduceToCollection":"O","PatternReferencesCollectionName":"R""#, "needs 'PatternFor");
        let same = r#""OutputReduceToCollection":"O","PatternForOutputReduceToCollectionReferences":"{A}","PatternReferencesCollectionName":"o""#;
        check(same, "must not be the same");
        assert_eq!(output(r#""OutputReduceToCollection":" ","PatternReferencesCollectionName":null"#), Ok(None));
        assert_eq!(with_pattern("{A}").unwrap().collection, "Out/References");
        let without = Output::of(&Value::parse(br#"{"OutputReduceToCollection":"O"}"#).unwrap(), None);
        assert!(without.unwrap_err().to_string().contains("needs a 'Reduce'"));
    }
}
