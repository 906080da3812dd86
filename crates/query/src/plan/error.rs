//! Why a query that is RQL is not answered.

use documents::{Feature, MissingFeature};

/// Why a query that is RQL is not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It means nothing, or a parameter has no value or one that does not fit. The message has the place where there is one.
    #[error("{0}")]
    Invalid(String),
    /// It needs a feature of RavenDB that this version does not have.
    #[error(transparent)]
    MissingFeature(MissingFeature),
    /// It has a form or a combination that this version does not answer, and that belongs to no feature: which, as a noun.
    #[error("{0}")]
    NotSupported(String),
    /// It sorts by a sorter of the user's that does not exist.
    #[error("There is no sorter with '{0}' name.")]
    NoSuchSorter(String),
}

impl Refused {
    /// A form that needs a missing feature.
    ///
    /// * `form`: the form, as a noun.
    pub(crate) fn missing(feature: Feature, form: &'static str) -> Refused {
        Refused::MissingFeature(feature.missing_for(form))
    }

    /// A field stands where a value should: most often a text without its quotes.
    pub(crate) fn no_value(field: &str) -> Refused {
        Refused::Invalid(format!(
            "Expected value, but got: <Field>: {field}. Texts have quotes: '{field}'; fields are not compared with each other"
        ))
    }
}
