//! Fields of an index: their names, which are paths into documents, and how their texts become terms.

use super::scoring::Bm25;
use crate::analysis::Analyzer;
use crate::rql::{Path, Segment};
use crate::spatial::SpatialOptions;
use crate::vector::VectorOptions;

/// The name of a field: a path into documents, such as `Address.City` or `Lines[].Product`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldName {
    /// The path.
    pub path: String,
    /// Whether a part of it was written in quotes, which the name of an index shows.
    pub is_quoted: bool,
}

/// How a field is analysed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Analysis {
    /// The whole text, lower-cased, is the term.
    LowerCase,
    /// The whole text is the term.
    Exact,
    /// Each word of the text is a term.
    Words(Analyzer),
}

/// What an analysis makes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnalysisKind {
    /// One lower-cased term.
    LowerCase,
    /// One term.
    Exact,
    /// Words.
    Words,
}

impl Analysis {
    /// What it makes of a text.
    pub fn kind(&self) -> AnalysisKind {
        match self {
            Analysis::LowerCase => AnalysisKind::LowerCase,
            Analysis::Exact => AnalysisKind::Exact,
            Analysis::Words(_) => AnalysisKind::Words,
        }
    }
}

/// A field, and whether its terms are looked for as they are given (`exact(..)`) or as the index analyses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldUse {
    /// The field.
    pub name: FieldName,
    /// Its terms by this analysis.
    pub analysis: Analysis,
}

/// A field that a query needs, or that an automatic index has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: FieldName,
    /// What is stored in addition to the lower-cased texts.
    pub needs: FieldNeeds,
}

/// What is stored of a field in addition to its lower-cased texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FieldNeeds {
    /// Texts as they are, for `exact(..)`.
    pub is_exact: bool,
    /// Words, for `search(..)`.
    pub is_searched: bool,
    /// Nothing more; the query uses `suggest(..)`.
    pub is_suggested: bool,
    /// Nothing more than words; the query uses `highlight(..)`.
    pub is_highlighted: bool,
    /// Places or shapes, and no texts: the name says what of documents they are made of.
    pub is_spatial: bool,
    /// Vectors, and no texts: the name says which of documents, and how.
    pub is_vector: bool,
}

impl FieldNeeds {
    /// What an analysis needs.
    pub fn of(analysis: AnalysisKind) -> FieldNeeds {
        FieldNeeds {
            is_exact: analysis == AnalysisKind::Exact,
            is_searched: analysis == AnalysisKind::Words,
            ..FieldNeeds::default()
        }
    }

    /// What both need.
    pub fn and(self, other: FieldNeeds) -> FieldNeeds {
        FieldNeeds {
            is_exact: self.is_exact | other.is_exact,
            is_searched: self.is_searched | other.is_searched,
            is_suggested: self.is_suggested | other.is_suggested,
            is_highlighted: self.is_highlighted | other.is_highlighted,
            is_spatial: self.is_spatial | other.is_spatial,
            is_vector: self.is_vector | other.is_vector,
        }
    }

    /// Whether all of `other` is among these.
    pub fn cover(self, other: FieldNeeds) -> bool {
        self.and(other) == self
    }
}

impl FieldName {
    /// The name that a path of a query has. `Lines[0].Product` is `Lines.0.Product`, as in the reference: what stands under the
    /// property `0` of each line, which no array has.
    ///
    /// * `alias`: that of the query; it is no part of names.
    ///
    /// # Errors
    ///
    /// The text of a step that fields of indexes do not have: `.$Keys`, `.$Values`.
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
                Segment::Element(number) => {
                    name.path.push('.');
                    name.path.push_str(number);
                }
                Segment::Keys => return Err(".$Keys"),
                Segment::Values => return Err(".$Values"),
            }
        }
        Ok(name)
    }

    /// The same where one element of an array is no name that is understood.
    ///
    /// # Errors
    ///
    /// The text of a step, as [`FieldName::of`], or `[n]`.
    pub fn without_brackets(path: &Path<'_>, alias: Option<&str>) -> Result<FieldName, &'static str> {
        match path.rest.iter().any(|segment| matches!(segment, Segment::Element(_))) {
            true => Err("[n]"),
            false => FieldName::of(path, alias),
        }
    }

    /// The name as it stands in the name of an index.
    pub(crate) fn label(&self) -> String {
        if self.is_quoted { format!("'{}'", self.path) } else { self.path.clone() }
    }

    /// Under which name an index keeps the terms of an analysis.
    pub fn stored(&self, analysis: AnalysisKind) -> String {
        match analysis {
            AnalysisKind::LowerCase => self.path.clone(),
            AnalysisKind::Exact => format!("exact({})", self.path),
            AnalysisKind::Words => format!("search({})", self.path),
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

/// Where a text is that words are marked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkedText {
    /// Among the stored values of an entry.
    Stored,
    /// In the document, at the path that is the field's name.
    Document,
}

/// How an index keeps the fields that queries name.
pub trait Fields {
    /// Resolves a field: the name under which its terms are stored, and the analysis of query texts.
    fn resolve(&self, field: &FieldUse) -> (String, Analysis);

    /// Whether entries and fields have weights of their own, so that results come in the order of their scores.
    fn boosts(&self) -> bool {
        false
    }

    /// The parameters by which texts are scored. `None`: as the reference scores them.
    fn bm25(&self) -> Option<Bm25> {
        None
    }

    /// Where the texts of a field are that words are marked in. `None`: they are not kept for that.
    fn marked_text(&self, _field: &FieldName) -> Option<MarkedText> {
        None
    }

    /// How a field keeps shapes.
    fn spatial(&self, _field: &FieldUse) -> SpatialOptions {
        SpatialOptions::default()
    }

    /// How a field keeps vectors.
    fn vector(&self, _field: &FieldUse) -> VectorOptions {
        VectorOptions::default()
    }

    /// The fields by whose words entries and documents may be compared, with their analyses.
    fn compared(&self) -> Vec<(String, Analysis)> {
        Vec::new()
    }
}
