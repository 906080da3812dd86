//! Options that a function takes as an object.

use super::{Parameters, Refused};
use crate::rql::Value;
use json::Value as Json;

/// An object of options. Clients spell their names in any case.
pub(crate) struct Options {
    function: &'static str,
    json: Json,
}

impl Options {
    /// * `value`: an object, or the text of one.
    ///
    /// # Errors
    ///
    /// [`Refused::Invalid`] if it is neither.
    pub fn of(
        function: &'static str,
        value: Option<&Value<'_>>,
        parameters: Parameters<'_>,
    ) -> Result<Options, Refused> {
        let Some(value) = value else { return Ok(Options { function, json: Json::object() }) };
        let given = Json::parse(&parameters.json(value)?).map_err(|error| Refused::Invalid(error.to_string()))?;
        let json = match given.as_str() {
            Some(text) => Json::parse(text.as_bytes()).unwrap_or(Json::Null),
            None => given,
        };
        Options::of_json(function, json)
    }

    /// * `json`: an object.
    ///
    /// # Errors
    ///
    /// [`Refused::Invalid`] if it is none.
    pub fn of_json(function: &'static str, json: Json) -> Result<Options, Refused> {
        match json {
            Json::Object(_) => Ok(Options { function, json }),
            _ => Err(Refused::Invalid(format!("The options of {function}() must be an object"))),
        }
    }

    /// An option that is not null.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let found = self.json.members().iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value).filter(|value| **value != Json::Null)
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Json::as_str)
    }

    /// A whole number from 0 on.
    ///
    /// # Errors
    ///
    /// [`Refused::Invalid`] if it is none.
    pub fn number(&self, name: &str, default: u64) -> Result<u64, Refused> {
        match self.get(name) {
            None => Ok(default),
            Some(number) => match number.as_i64().and_then(|number| u64::try_from(number).ok()) {
                Some(number) => Ok(number),
                None => Err(self.wrong(name, "must be a whole number from 0 on")),
            },
        }
    }

    /// True or false, which it is where it is not said.
    ///
    /// # Errors
    ///
    /// [`Refused::Invalid`] if it is neither.
    pub fn flag(&self, name: &str) -> Result<bool, Refused> {
        match self.get(name) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(name, "must be true or false")),
        }
    }

    /// What is said of an option that means nothing.
    pub fn wrong(&self, name: &str, rule: &str) -> Refused {
        Refused::Invalid(format!("'{name}' of {}() {rule}", self.function))
    }
}
