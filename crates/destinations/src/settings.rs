//! The settings of destinations, as clients write them.

use database::backups::DestinationSettings;
use database::{Error, Result};
use json::Value;

/// The settings of one destination, by the names of their properties.
pub(crate) struct Settings<'v> {
    /// `S3Settings`, ..
    name: &'static str,
    settings: &'v Value,
}

/// Characters of a wrong name that an error repeats.
const NAME_LENGTH_SHOWN: usize = 128;
/// What all kinds of destinations have. The configuration of a backup refuses a script.
const OF_ALL: [&str; 2] = ["Disabled", "GetBackupConfigurationScript"];

impl<'v> Settings<'v> {
    /// * `known`: the properties that are served.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`] if others are given.
    pub fn new(given: &'v DestinationSettings, known: &[&str]) -> Result<Settings<'v>> {
        let name = given.kind.settings_name();
        for (property, value) in given.settings.members() {
            if *value != Value::Null && !known.contains(&property.as_str()) && !OF_ALL.contains(&property.as_str()) {
                let property: String = property.chars().take(NAME_LENGTH_SHOWN).collect();
                return Err(bad(format!("'{name}' has no '{property}'. Remove it, or correct its name")));
            }
        }
        Ok(Settings { name, settings: &given.settings })
    }

    /// Text that is not empty.
    pub fn text(&self, property: &str) -> Result<Option<&'v str>> {
        match self.settings.get(property) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.bad(property, "must be text")),
        }
    }

    pub fn required(&self, property: &str) -> Result<&'v str> {
        self.text(property)?.ok_or_else(|| self.bad(property, "must be given"))
    }

    pub fn flag(&self, property: &str) -> Result<bool> {
        match self.settings.get(property) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.bad(property, "must be true or false")),
        }
    }

    /// A name that becomes a part of addresses: letters of ASCII, digits, and some others.
    pub fn part_of_address(&self, property: &str, others: &str) -> Result<&'v str> {
        const SIZE_MAX: usize = 255;
        let name = self.required(property)?;
        if name.len() > SIZE_MAX || name.chars().any(|c| !c.is_ascii_alphanumeric() && !others.contains(c)) {
            let others: Vec<String> = others.chars().map(|c| format!("'{c}'")).collect();
            let others = if others.is_empty() { String::new() } else { format!(" and {}", others.join(", ")) };
            return Err(self.bad(property, &format!("may have letters, digits{others} only, {SIZE_MAX} at most")));
        }
        Ok(name)
    }

    /// `RemoteFolderName` without slashes around it; empty: none.
    pub fn folder(&self) -> Result<String> {
        const NAME: &str = "RemoteFolderName";
        let folder = self.text(NAME)?.unwrap_or_default().trim_matches('/');
        match object_store::path::Path::parse(folder) {
            Ok(folder) => Ok(folder.to_string()),
            Err(_) => Err(self.bad(NAME, "must be names with '/' between them, such as 'backups/shop'")),
        }
    }

    pub fn bad(&self, property: &str, rule: &str) -> Error {
        bad(format!("'{property}' in '{}' {rule}", self.name))
    }
}

pub(crate) fn bad(rule: impl Into<String>) -> Error {
    Error::BadBackup { rule: rule.into() }
}
