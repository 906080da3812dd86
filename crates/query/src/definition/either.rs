//! An index of any kind.

use super::{ArchivedDocuments, AutomaticIndex, Field, Fields, IndexSource, MapIndex, Output};
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

    /// Whether its results are documents: neither results of groups nor of counters.
    pub fn gives_documents(&self) -> bool {
        !self.is_grouped() && !self.is_of_counters()
    }

    /// Whether it is over counters.
    pub fn is_of_counters(&self) -> bool {
        self.as_map().is_some_and(|index| index.is_of_counters())
    }

    /// What it is over, as clients know it.
    pub fn source_type(&self) -> &'static str {
        if self.is_of_counters() { "Counters" } else { "Documents" }
    }

    /// Which documents it takes.
    pub fn archived(&self) -> ArchivedDocuments {
        match self {
            IndexDefinition::Automatic(_) => ArchivedDocuments::default(),
            IndexDefinition::Map(index) => index.archived(),
        }
    }

    /// Where its results become documents.
    pub fn output(&self) -> Option<&Output> {
        self.as_map().and_then(|index| index.output())
    }

    /// Whether the values of a field may be kept as they are, for projections.
    pub fn may_store(&self, field: &str) -> bool {
        self.as_map().is_some_and(|index| index.may_store(field))
    }

    /// Whether words of a field may be suggested.
    pub fn suggests(&self, field: &str) -> bool {
        match self {
            IndexDefinition::Automatic(index) => index.fields().iter().any(|known| known.name.path == field),
            IndexDefinition::Map(index) => index.suggests(field),
        }
    }

    /// The names of the fields that its entries may have, sorted, each once; fields whose names are known only when it runs are not among
    /// them.
    pub fn field_names(&self) -> Vec<String> {
        let mut names: Vec<String> = match self {
            IndexDefinition::Automatic(index) => {
                let stored = index.stored_fields().into_iter().map(|(_, _, name)| name);
                let others = index.places().map(|(name, _)| name).chain(index.vectors().map(|(name, _)| name));
                stored.chain(others.map(str::to_owned)).collect()
            }
            IndexDefinition::Map(index) => match index.reduce() {
                Some(reduce) => reduce.output_fields().iter().map(|name| name.to_string()).collect(),
                None => index.maps().iter().flat_map(|map| map.output_fields()).map(|name| name.to_string()).collect(),
            },
        };
        names.sort_unstable();
        names.dedup();
        names
    }

    /// How it keeps its fields.
    pub fn fields(&self) -> &dyn Fields {
        match self {
            IndexDefinition::Automatic(index) => index,
            IndexDefinition::Map(index) => &**index,
        }
    }
}
