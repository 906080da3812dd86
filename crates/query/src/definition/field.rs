//! Fields of an index: their names, which are paths into documents, and how their texts become terms.

use crate::plan::FieldUse;
use crate::rql::{Path, Segment};

/// The name of a field: a path into documents, such as `Address.City` or `Lines[].Product`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldName {
    /// The path.
    pub path: String,
    /// Whether a part of it was written in quotes, which the name of an index shows.
    pub is_quoted: bool,
}

/// How a field is analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Analysis {
    /// The whole text, lower-cased, is the term.
    LowerCase,
    /// The whole text is the term.
    Exact,
}

/// A field of an automatic index. All are lower-cased whole; some are kept as they are besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: FieldName,
    /// Whether `exact(..)` finds something in it.
    pub is_exact: bool,
}

impl FieldName {
    /// The name that a path of a query has.
    ///
    /// * `alias`: that of the query; it is no part of names.
    ///
    /// # Errors
    ///
    /// The text of a step that fields of indexes do not have: `.$Keys`, `.$Values`, `[3]`.
    pub fn of(path: &Path<'_>, alias: Option<&str>) -> Result<FieldName, &'static str> {
        let is_aliased = alias == Some(&*path.first.text) && !path.rest.is_empty();
        let mut name = FieldName { path: String::new(), is_quoted: false };
        if !is_aliased {
            name.path.push_str(&path.first.text);
            name.is_quoted = path.first.is_quoted && !is_plain(&path.first.text);
        }
        for segment in &path.rest {
            match segment {
                Segment::Name(part) => {
                    if !name.path.is_empty() {
                        name.path.push('.');
                    }
                    name.path.push_str(&part.text);
                    name.is_quoted |= part.is_quoted && !is_plain(&part.text);
                }
                Segment::Elements => name.path.push_str("[]"),
                Segment::Element(_) => return Err("[n]"),
                Segment::Keys => return Err(".$Keys"),
                Segment::Values => return Err(".$Values"),
            }
        }
        Ok(name)
    }

    /// The name as it stands in the name of an index.
    pub(crate) fn label(&self) -> String {
        if self.is_quoted { format!("'{}'", self.path) } else { self.path.clone() }
    }

    /// Under which name an index keeps the terms of an analysis.
    pub fn stored(&self, analysis: Analysis) -> String {
        match analysis {
            Analysis::LowerCase => self.path.clone(),
            Analysis::Exact => format!("exact({})", self.path),
        }
    }
}

/// Whether a name would be the same without quotes.
fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    let is_first = |character: char| character.is_alphabetic() || character == '_';
    characters.next().is_some_and(is_first)
        && characters.all(|character| character.is_alphanumeric() || matches!(character, '_' | '.' | '[' | ']'))
}

/// How an index keeps the fields that queries name.
pub trait Fields {
    /// The name under which the terms of a field are kept, and how the texts that are looked for become terms.
    fn kept(&self, field: &FieldUse) -> (String, Analysis);
}
