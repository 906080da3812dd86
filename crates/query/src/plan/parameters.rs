//! The values that come with a query, and those in its text.

use super::Refused;
use crate::rql::{Value, ValueKind};
use documents::Snapshot;

/// The values of `$name`, by name, and compare-exchange values.
#[derive(Clone, Copy, Default)]
pub struct Parameters<'p> {
    given: Option<&'p json::Value>,
    /// `None`: the query is planned for no database.
    stored: Option<&'p Snapshot<'p>>,
}

impl<'p> Parameters<'p> {
    /// * `values`: an object, or anything else for none.
    pub fn new(values: Option<&'p json::Value>) -> Parameters<'p> {
        Parameters { given: values.filter(|values| !values.members().is_empty()), stored: None }
    }

    /// The same for a query that may read compare-exchange values of a database.
    #[must_use]
    pub fn with_values(self, stored: &'p Snapshot<'p>) -> Parameters<'p> {
        Parameters { stored: Some(stored), ..self }
    }

    /// The database whose compare-exchange values the query may read.
    pub(crate) fn stored(&self) -> Option<&'p Snapshot<'p>> {
        self.stored
    }

    /// All of them as one JSON object.
    pub(crate) fn all(&self) -> Vec<u8> {
        self.given.map_or_else(|| b"{}".to_vec(), json::Value::to_vec)
    }

    fn get(&self, name: &str) -> Result<&'p json::Value, Refused> {
        let Some(values) = self.given else {
            let text = "The query is parametrized but the actual values of parameters were not provided";
            return Err(Refused::Invalid(text.to_owned()));
        };
        values.get(name).ok_or_else(|| Refused::Invalid(format!("Value of parameter '{name}' was not provided")))
    }

    /// The texts that a value stands for: numbers as written, the elements of an array that a parameter holds. `null`, `true`
    /// and objects are no texts.
    ///
    /// # Errors
    ///
    /// [`Refused::Invalid`] if a parameter has no value; as for all here.
    pub fn texts(&self, value: &Value<'_>) -> Result<Vec<String>, Refused> {
        Ok(match &value.kind {
            ValueKind::Text(text) | ValueKind::Number(text) => vec![text.to_string()],
            ValueKind::Boolean(_) | ValueKind::Null => Vec::new(),
            ValueKind::Parameter(name) => {
                let mut texts = Vec::new();
                push_texts(self.get(name)?, &mut texts);
                texts
            }
        })
    }

    /// A literal, or what a parameter holds.
    ///
    /// # Errors
    ///
    /// [`Refused::Invalid`] if that is an array.
    pub(crate) fn scalar(&self, value: &Value<'_>) -> Result<Scalar, Refused> {
        match (self.scalars(value)?.as_slice(), &value.kind) {
            ([scalar], kind) if !matches!(kind, ValueKind::Parameter(name) if self.is_array(name)) => {
                Ok(scalar.clone())
            }
            _ => Err(Refused::Invalid("An array is not supported where one value is compared".to_owned())),
        }
    }

    /// The same, with the elements of an array that a parameter holds.
    ///
    /// # Errors
    ///
    /// [`Refused::Invalid`] if a parameter has no value.
    pub(crate) fn scalars(&self, value: &Value<'_>) -> Result<Vec<Scalar>, Refused> {
        Ok(match &value.kind {
            ValueKind::Text(text) => vec![Scalar::Text(text.to_string())],
            ValueKind::Number(text) => vec![Scalar::Number(text.to_string())],
            ValueKind::Boolean(is_true) => vec![Scalar::Boolean(*is_true)],
            ValueKind::Null => vec![Scalar::Null],
            ValueKind::Parameter(name) => {
                let mut scalars = Vec::new();
                push_scalars(self.get(name)?, &mut scalars);
                scalars
            }
        })
    }

    /// A literal, or what a parameter holds, as JSON.
    ///
    /// # Errors
    ///
    /// [`Refused::Invalid`] if a parameter has no value, or a number is none of JSON's.
    pub(crate) fn json(&self, value: &Value<'_>) -> Result<Vec<u8>, Refused> {
        Ok(match &value.kind {
            ValueKind::Text(text) => json::Value::String(text.to_string()).to_vec(),
            ValueKind::Number(text) => match json::Value::parse(text.as_bytes()) {
                Ok(number) => number.to_vec(),
                Err(_) => return Err(Refused::Invalid(format!("'{text}' is not a number"))),
            },
            ValueKind::Boolean(is_true) => json::Value::Bool(*is_true).to_vec(),
            ValueKind::Null => b"null".to_vec(),
            ValueKind::Parameter(name) => self.get(name)?.to_vec(),
        })
    }

    fn is_array(&self, name: &str) -> bool {
        matches!(self.get(name), Ok(json::Value::Array(_)))
    }

    /// A number of documents; `None` for `null`. Those past 64 bits end there, which is what a page size of 2^63 - 1 in a client means.
    ///
    /// * `what`: what is counted, as an error names it.
    ///
    /// # Errors
    ///
    /// [`Refused::Invalid`] if it is negative, or no whole number.
    pub fn count(&self, value: &Value<'_>, what: &str) -> Result<Option<u64>, Refused> {
        let not_whole = |text: &str| Refused::Invalid(format!("{what} should be a whole number, but was {text}."));
        let text = match &value.kind {
            ValueKind::Null => return Ok(None),
            ValueKind::Number(text) => text,
            ValueKind::Text(text) => return Err(not_whole(&format!("'{text}'"))),
            ValueKind::Boolean(is_true) => return Err(not_whole(if *is_true { "true" } else { "false" })),
            ValueKind::Parameter(name) => match self.get(name)? {
                json::Value::Null => return Ok(None),
                json::Value::Number(text) => text.as_str(),
                json::Value::String(text) => return Err(not_whole(&format!("'{text}'"))),
                _ => return Err(Refused::Invalid(format!("The parameter '{name}' must be a number"))),
            },
        };
        let digits = text.trim_start_matches('-');
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(not_whole(text));
        }
        if digits.len() < text.len() && digits.bytes().any(|digit| digit != b'0') {
            return Err(Refused::Invalid(format!("{what} cannot be negative, but was {text}.")));
        }
        Ok(Some(digits.parse().unwrap_or(u64::MAX)))
    }
}

impl std::fmt::Debug for Parameters<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parameters").field("given", &self.given).finish_non_exhaustive()
    }
}

/// One value of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scalar {
    Null,
    Boolean(bool),
    /// As written.
    Number(String),
    Text(String),
    /// An object, as compact JSON text.
    Object(String),
}

impl Scalar {
    /// A number as written.
    pub fn number(&self) -> Option<&str> {
        match self {
            Scalar::Number(text) => Some(text),
            Scalar::Null | Scalar::Boolean(_) | Scalar::Text(_) | Scalar::Object(_) => None,
        }
    }

    /// Texts, and numbers as written.
    pub fn text(&self) -> Option<String> {
        match self {
            Scalar::Text(text) | Scalar::Number(text) => Some(text.clone()),
            Scalar::Null | Scalar::Boolean(_) | Scalar::Object(_) => None,
        }
    }
}

fn push_texts(value: &json::Value, texts: &mut Vec<String>) {
    match value {
        json::Value::String(text) | json::Value::Number(text) => texts.push(text.clone()),
        json::Value::Array(values) => values.iter().for_each(|value| push_texts(value, texts)),
        json::Value::Null | json::Value::Bool(_) | json::Value::Object(_) => {}
    }
}

fn push_scalars(value: &json::Value, scalars: &mut Vec<Scalar>) {
    match value {
        json::Value::Null => scalars.push(Scalar::Null),
        json::Value::Bool(is_true) => scalars.push(Scalar::Boolean(*is_true)),
        json::Value::Number(text) => scalars.push(Scalar::Number(text.clone())),
        json::Value::String(text) => scalars.push(Scalar::Text(text.clone())),
        json::Value::Array(values) => values.iter().for_each(|value| push_scalars(value, scalars)),
        // What is read from JSON text is UTF-8, so nothing is replaced.
        json::Value::Object(_) => scalars.push(Scalar::Object(String::from_utf8_lossy(&value.to_vec()).into_owned())),
    }
}
