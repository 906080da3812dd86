//! Settings of an index that can change without a rebuild: its lock mode, its priority, and whether it is enabled.

use json::Value;

use super::DefinitionError;

/// Whether the definition of an index may be changed, and the index be deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockMode {
    /// Yes.
    #[default]
    Unlock,
    /// Who tries is not told that nothing happened.
    LockedIgnore,
    /// Who tries gets an error.
    LockedError,
}

/// Which share of the threads that index an index has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// Half of the normal one.
    Low,
    /// The normal one.
    #[default]
    Normal,
    /// Twice the normal one.
    High,
}

/// What may be changed of an index without building it anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexSettings {
    /// Whether it may be changed.
    pub lock_mode: LockMode,
    /// Its share of the threads.
    pub priority: Priority,
    /// It answers, but is not kept up to date.
    pub is_disabled: bool,
}

/// One of several names.
fn one_of<T: Copy>(what: &str, name: &str, all: &[(&str, T)]) -> Result<T, DefinitionError> {
    let found = all.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(known, _)| *known).collect();
        DefinitionError::Invalid(format!("'{what}' must be one of {}, and not '{name}'", names.join(", ")))
    })
}

impl LockMode {
    const ALL: [(&str, LockMode); 3] = [
        ("Unlock", LockMode::Unlock),
        ("LockedIgnore", LockMode::LockedIgnore),
        ("LockedError", LockMode::LockedError),
    ];

    /// The mode of a name.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Invalid`]
    pub fn parse(name: &str) -> Result<LockMode, DefinitionError> {
        one_of("LockMode", name, &Self::ALL)
    }

    /// How clients call it.
    pub fn name(self) -> &'static str {
        match self {
            LockMode::Unlock => "Unlock",
            LockMode::LockedIgnore => "LockedIgnore",
            LockMode::LockedError => "LockedError",
        }
    }
}

impl Priority {
    const ALL: [(&str, Priority); 3] = [("Low", Priority::Low), ("Normal", Priority::Normal), ("High", Priority::High)];

    /// The priority of a name.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Invalid`]
    pub fn parse(name: &str) -> Result<Priority, DefinitionError> {
        one_of("Priority", name, &Self::ALL)
    }

    /// How clients call it.
    pub fn name(self) -> &'static str {
        match self {
            Priority::Low => "Low",
            Priority::Normal => "Normal",
            Priority::High => "High",
        }
    }
}

const STATES: [(&str, bool); 2] = [("Normal", false), ("Disabled", true)];

impl IndexSettings {
    /// Reads `LockMode`, `Priority` and `State` of a definition as clients send it; what is missing is as by default.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Invalid`]
    pub fn from_json(given: &Value) -> Result<IndexSettings, DefinitionError> {
        let text = |name: &str| match given.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(DefinitionError::Invalid(format!("'{name}' must be text"))),
        };
        Ok(IndexSettings {
            lock_mode: text("LockMode")?.map_or(Ok(LockMode::default()), LockMode::parse)?,
            priority: text("Priority")?.map_or(Ok(Priority::default()), Priority::parse)?,
            is_disabled: text("State")?.map_or(Ok(false), |state| one_of("State", state, &STATES))?,
        })
    }

    /// As it is kept, which [`Self::from_json`] reads.
    pub fn to_json(self) -> Value {
        let mut value = Value::object();
        let state = if self.is_disabled { "Disabled" } else { "Normal" };
        let names = [("LockMode", self.lock_mode.name()), ("Priority", self.priority.name()), ("State", state)];
        for (key, name) in names {
            value.set(key, Value::String(name.to_owned()));
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_and_what_is_unknown_refused() {
        for (_, lock_mode) in LockMode::ALL {
            for (_, priority) in Priority::ALL {
                for is_disabled in [false, true] {
                    let settings = IndexSettings { lock_mode, priority, is_disabled };
                    assert_eq!(IndexSettings::from_json(&settings.to_json()), Ok(settings));
                }
            }
        }
        let read = |text: &str| IndexSettings::from_json(&Value::parse(text.as_bytes()).unwrap());
        assert_eq!(read(r#"{"LockMode":null,"Priority":"Normal"}"#), Ok(IndexSettings::default()));
        let refused = |text: &str| match read(text) {
            Err(DefinitionError::Invalid(message)) => message,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            refused(r#"{"LockMode":"Perhaps"}"#),
            "'LockMode' must be one of Unlock, LockedIgnore, LockedError, and not 'Perhaps'"
        );
        assert_eq!(refused(r#"{"State":"Idle"}"#), "'State' must be one of Normal, Disabled, and not 'Idle'");
        assert_eq!(refused(r#"{"Priority":1}"#), "'Priority' must be text");
    }
}
