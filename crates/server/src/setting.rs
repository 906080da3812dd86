//! Settings as `GET /admin/configuration/settings` tells of them: who starts the server knows where each came from.

/// A setting of the server, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// `Limits.Connections`.
    pub name: String,
    /// What it does; empty if it does nothing here.
    pub description: String,
    /// What it is while nobody says otherwise, in words.
    pub default: String,
    /// What somebody set it to, and where; `None`: the default is in force.
    pub given: Option<GivenSetting>,
}

/// What a setting was set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenSetting {
    /// `None`: it changes nothing here, or may be a secret, and is not told.
    pub value: Option<String>,
    /// `the flag`, `the variable RAVEN_DataDir`, or a file.
    pub source: String,
}
