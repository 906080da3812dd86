//! Client configuration: settings that the server sends to its clients, for the node, overridden by database.

use json::Value;

/// A client configuration with its etag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfiguration {
    /// Rises with each change; -2 when nothing was ever configured, as clients expect.
    pub etag: i64,
    /// None: nothing is configured.
    pub value: Option<Value>,
}

impl ClientConfiguration {
    pub(crate) const NONE: ClientConfiguration = ClientConfiguration { etag: -2, value: None };

    /// That of the database over that of the node: a property that the database sets counts.
    pub(crate) fn merged(node: &ClientConfiguration, database: &ClientConfiguration) -> ClientConfiguration {
        let value = match (&node.value, &database.value) {
            (None, None) => None,
            (Some(value), None) | (None, Some(value)) => Some(value.clone()),
            (Some(node), Some(database)) => {
                let mut merged = node.clone();
                for (name, value) in database.members().iter().filter(|(_, value)| *value != Value::Null) {
                    merged.set(name, value.clone());
                }
                Some(merged)
            }
        };
        ClientConfiguration { etag: node.etag.max(database.etag), value }
    }

    pub(crate) fn is_disabled(&self) -> bool {
        self.value.as_ref().and_then(|value| value.get("Disabled")).and_then(Value::as_bool) == Some(true)
    }

    /// The separator in ids that the server completes, if one is configured.
    pub fn identity_separator(&self) -> Option<char> {
        if self.is_disabled() {
            return None;
        }
        self.value
            .as_ref()?
            .get("IdentityPartsSeparator")?
            .as_str()?
            .chars()
            .next()
            .filter(|separator| *separator != '|')
    }
}
