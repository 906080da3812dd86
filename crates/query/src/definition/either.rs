//! An index of any kind.

use super::{AutomaticIndex, Field, Fields, IndexSource, MapIndex, Output};
use std::sync::Arc;

/// What an index is.
#[derive(Clone, Debug)]
pub enum IndexDefinition {
    /// A query made it.
    Automatic(AutomaticIndex),
    /// A user defined it.
    Map(Arc<MapIndex>),
}

impl IndexDefinition {
    /// Its name.
    pub fn name(&self) -> String {
        match self {
            IndexDefinition::Automatic(index) => index.name(),
            IndexDefinition::Map(index) => index.name().to_owned(),
        }
    }

    /// What it reads: collections, or all documents alone, and collections that are loaded from.
    pub fn sources(&self) -> Vec<IndexSource> {
        match self {
            IndexDefinition::Automatic(index) => vec![IndexSource::of(index.collection.clone())],
            IndexDefinition::Map(index) => index.sources(),
        }
    }

    /// Whether its maps load documents.
    pub fn has_references(&self) -> bool {
        self.sources().iter().any(|source| source.is_referenced)
    }

    /// Whether entries may have vectors.
    pub fn has_vectors(&self) -> bool {
        match self {
            IndexDefinition::Automatic(index) => index.vectors().next().is_some(),
            IndexDefinition::Map(index) => index.makes_vectors(),
        }
    }

    /// The index, if a query made it.
    pub fn as_automatic(&self) -> Option<&AutomaticIndex> {
        match self {
            IndexDefinition::Automatic(index) => Some(index),
            IndexDefinition::Map(_) => None,
        }
    }

    /// The index, if a user defined it.
    pub fn as_map(&self) -> Option<&Arc<MapIndex>> {
        match self {
            IndexDefinition::Automatic(_) => None,
            IndexDefinition::Map(index) => Some(index),
        }
    }

    /// The name of a field that it lacks, as errors say it.
    pub fn missing(&self, needed: &Field) -> Option<String> {
        match self {
            IndexDefinition::Automatic(index) => index.missing(needed),
            IndexDefinition::Map(index) => index.missing(needed),
        }
    }

    /// Whether its entries are results of groups, which have no documents.
    pub fn is_grouped(&self) -> bool {
        match self {
            IndexDefinition::Automatic(index) => !index.group_by().is_empty(),
            IndexDefinition::Map(index) => index.reduce().is_some(),
        }
    }

    /// Where its results become documents.
    pub fn output(&self) -> Option<&Output> {
        self.as_map().and_then(|index| index.output())
    }

    /// Whether the values of a field are kept as they are, so that projections need no document.
    pub fn stores(&self, field: &str) -> bool {
        match self {
            IndexDefinition::Automatic(_) => false,
            IndexDefinition::Map(index) => index.stores(field),
        }
    }

    /// Whether words of a field may be suggested.
    pub fn suggests(&self, field: &str) -> bool {
        match self {
            IndexDefinition::Automatic(index) => index.fields().iter().any(|known| known.name.path == field),
            IndexDefinition::Map(index) => index.suggests(field),
        }
    }

    /// How it keeps its fields.
    pub fn fields(&self) -> &dyn Fields {
        match self {
            IndexDefinition::Automatic(index) => index,
            IndexDefinition::Map(index) => &**index,
        }
    }
}
