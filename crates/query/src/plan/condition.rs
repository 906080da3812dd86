//! What a query asks of the fields of an index, its parameters put in. Texts are as they were asked for: how they are analysed is
//! for the index to say.

use crate::definition::{Analysis, FieldName};
use crate::index::Number;
use regex::Regex;
use std::ops::Bound;

/// Which entries of an index are wanted.
#[derive(Clone, Debug)]
pub enum Condition {
    /// All.
    All,
    /// None.
    Nothing,
    /// Those of these documents.
    Ids(Vec<String>),
    /// Those of documents whose id begins so.
    IdPrefix(String),
    /// Those with any of these terms.
    AnyOf(FieldUse, Vec<Sought>),
    /// Those with all of these terms.
    AllOf(FieldUse, Vec<Sought>),
    /// Those with a number between two bounds.
    Numbers(FieldUse, Bound<Number>, Bound<Number>),
    /// Those with a text between two bounds, in the order of bytes.
    Texts(FieldUse, Bound<String>, Bound<String>),
    /// Those with a text that begins so.
    Prefix(FieldUse, String),
    /// Those with a text that ends so.
    Suffix(FieldUse, String),
    /// Those with a text that a regular expression fits.
    Pattern(FieldUse, Regex),
    /// Those that have the field, if only as null.
    Exists(FieldUse),
    /// Those that are in all of these; at least two.
    And(Vec<Condition>),
    /// Those that are in any of these; at least two.
    Or(Vec<Condition>),
    /// All others.
    Not(Box<Condition>),
}

/// A field, and whether its terms are looked for as they are given (`exact(..)`) or as the index analyses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldUse {
    /// The field.
    pub name: FieldName,
    /// Its terms by this analysis.
    pub analysis: Analysis,
}

/// A term that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sought {
    /// A present null.
    Null,
    /// A text.
    Text(String),
    /// A number.
    Number(Number),
}
