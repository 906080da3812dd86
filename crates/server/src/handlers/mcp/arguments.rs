//! The arguments of a tool: their schema, and checking those of a call against it.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::outcome::ToolError;

/// One argument of a tool.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    kind: Kind,
    is_required: bool,
    about: &'static str,
}

/// What an argument may be.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Text,
    /// A whole number from 1 to `max`.
    Count {
        default: u64,
        max: u64,
    },
    /// A whole number from 0 on.
    Start,
    Flag,
    Object,
    /// A JSON object, or its text.
    Document,
}

pub(super) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, kind, is_required: true, about }
}

pub(super) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, kind, is_required: false, about }
}

/// The JSON schema of a tool's arguments.
pub(super) fn schema(parameters: &[Parameter]) -> Arc<JsonObject> {
    let property = |parameter: &Parameter| {
        let mut value = match parameter.kind {
            Kind::Text => json!({"type": "string"}),
            Kind::Count { default, max } => {
                json!({"type": "integer", "minimum": 1, "maximum": max, "default": default})
            }
            Kind::Start => json!({"type": "integer", "minimum": 0, "default": 0}),
            Kind::Flag => json!({"type": "boolean", "default": false}),
            Kind::Object => json!({"type": "object"}),
            Kind::Document => json!({"type": ["object", "string"]}),
        };
        value["description"] = parameter.about.into();
        (parameter.name.to_owned(), value)
    };
    let properties: JsonObject = parameters.iter().map(property).collect();
    let required = parameters.iter().filter(|parameter| parameter.is_required).map(|parameter| parameter.name);
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), required.collect::<Vec<_>>().into());
    schema.insert("additionalProperties".to_owned(), false.into());
    Arc::new(schema)
}

/// The arguments of a call, which fit its tool.
pub(super) struct Arguments {
    parameters: &'static [Parameter],
    given: JsonObject,
}

impl Arguments {
    /// Checks the arguments of a call.
    ///
    /// # Errors
    ///
    /// An argument is missing, unknown, or of another kind.
    pub(super) fn check(
        tool: &str,
        parameters: &'static [Parameter],
        mut given: JsonObject,
    ) -> Result<Arguments, ToolError> {
        // Some models send `null` for what they do not set.
        given.retain(|_, value| !value.is_null());
        for (name, value) in &given {
            let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
                let name: String = name.chars().take(NAME_LENGTH_SHOWN).collect();
                let known: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
                let text = format!("'{tool}' has no argument '{name}'; its arguments are: {}", known.join(", "));
                return Err(ToolError::new(text));
            };
            if let Err(expected) = parameter.kind.check(value) {
                return Err(ToolError::new(format!("The argument '{name}' must be {expected}")));
            }
        }
        let missing = parameters.iter().find(|parameter| parameter.is_required && !given.contains_key(parameter.name));
        if let Some(Parameter { name, about, .. }) = missing {
            return Err(ToolError::new(format!("The argument '{name}' is missing. {about}")));
        }
        Ok(Arguments { parameters, given })
    }

    /// A required text.
    pub(super) fn text(&self, name: &str) -> &str {
        self.optional_text(name).unwrap_or_default()
    }

    pub(super) fn optional_text(&self, name: &str) -> Option<&str> {
        self.given.get(name)?.as_str()
    }

    /// A number, or its default.
    pub(super) fn number(&self, name: &str) -> u64 {
        let default =
            self.parameters.iter().find(|parameter| parameter.name == name).map_or(0, |found| match found.kind {
                Kind::Count { default, .. } => default,
                _ => 0,
            });
        self.given.get(name).and_then(whole).unwrap_or(default)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.given.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Any value as JSON text; a document that came as text is that text.
    pub(super) fn json(&self, name: &str) -> Option<String> {
        self.given.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

/// Characters of an argument's name that a refusal repeats.
const NAME_LENGTH_SHOWN: usize = 64;

/// A whole number, also one that is written with a point: `5.0`.
fn whole(value: &Value) -> Option<u64> {
    const SAFE_MAX: f64 = 9_007_199_254_740_991.0;
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=SAFE_MAX).contains(number))?;
        Some(number as u64)
    })
}

impl Kind {
    /// `Err`: what it has to be.
    fn check(self, value: &Value) -> Result<(), String> {
        let (fits, expected) = match self {
            Kind::Text => (value.is_string(), "text".to_owned()),
            Kind::Count { max, .. } => (
                whole(value).is_some_and(|number| (1..=max).contains(&number)),
                format!("a whole number from 1 to {max}"),
            ),
            Kind::Start => (whole(value).is_some(), "a whole number from 0 on".to_owned()),
            Kind::Flag => (value.is_boolean(), "true or false".to_owned()),
            Kind::Object => (value.is_object(), "an object".to_owned()),
            Kind::Document => (value.is_object() || value.is_string(), "an object, or the text of one".to_owned()),
        };
        if fits { Ok(()) } else { Err(expected) }
    }
}
