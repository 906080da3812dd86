//! Values that mean something to the indexer, and not to expressions.

use super::value::Value;
use std::borrow::Cow;

/// A field whose name is known only when the document is mapped: `CreateField(name, value, …)`.
#[derive(Clone, Debug)]
pub struct DynamicField<'d> {
    /// The name of the field.
    pub name: Cow<'d, str>,
    /// Its value.
    pub value: Value<'d>,
    /// How it is to be indexed, where it says so.
    pub options: FieldOptions,
}

/// Options of a [`DynamicField`], in the words of index definitions: `Yes`, `No`, `Search`, `Exact`, `WithPositions`, …
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldOptions {
    /// `Storage`
    pub storage: Option<String>,
    /// `Indexing`
    pub indexing: Option<String>,
    /// `TermVector`
    pub term_vector: Option<String>,
}

/// A place or a shape: `CreateSpatialField(…)`.
#[derive(Clone, Debug)]
pub enum Spatial<'d> {
    /// A point.
    Point {
        /// North is positive.
        latitude: f64,
        /// East is positive.
        longitude: f64,
    },
    /// A shape as well-known text, not checked here.
    Wkt(Cow<'d, str>),
}

/// A value that counts more in scores: `x.Boost(2)`.
#[derive(Clone, Debug)]
pub struct Boosted<'d> {
    /// The value.
    pub value: Value<'d>,
    /// By how much: 1 changes nothing.
    pub boost: f64,
}
