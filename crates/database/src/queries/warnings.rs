//! Warnings of a query: it names a collection or fields that no document has.
//!
//! Each is a sentence that is true of the snapshots that the query reads. A query whose collection and fields are known costs one look at
//! a bit for each field; only one that gets a warning reads documents, a bounded number, for a suggestion
//! ([design](../../../../docs/design/queries-that-help.md)).

use documents::Snapshot;
use query::definition::{AutomaticIndex, Field, MeasuredField};
use query::index::IndexSnapshot;
use query::plan::{Find, IndexChoice, Source};
use query::spelling::nearest;

use super::field_sample::FieldSample;
use super::run::{QueryRun, Results};
use crate::limits::{WARNED_NAME_LENGTH_MAX, WARNINGS_MAX};
use crate::{Index, Result};

impl QueryRun<'_> {
    /// Sentences about names of the query that the data lacks, at most [`WARNINGS_MAX`]; none for most queries.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn warnings(&self) -> Result<Vec<String>> {
        match &self.results {
            Results::Collection(query) => match &query.source {
                Source::Collection(name) => unknown_collection(self.documents, name),
                Source::All => Ok(Vec::new()),
            },
            Results::Index { index, snapshot, .. } => match &self.plan.find {
                Find::Index(query) => match &query.index {
                    IndexChoice::Covering(needed) => of_automatic(needed, index, snapshot, self.documents),
                    IndexChoice::Named(_, fields) => of_named(fields, index, snapshot),
                },
                Find::Collection(_) => Ok(Vec::new()),
            },
        }
    }
}

/// A warning if no document was ever in a collection. The server itself uses names that begin with `@`.
fn unknown_collection(documents: &Snapshot<'_>, name: &str) -> Result<Vec<String>> {
    if name.starts_with('@') || documents.collection(name)?.is_some() {
        return Ok(Vec::new());
    }
    let collections = documents.collections()?;
    let names = collections.iter().map(|collection| collection.name.as_str()).filter(|name| !name.starts_with('@'));
    let warning = format!("There is no collection `{}`.", shown(name));
    Ok(vec![with_suggestion(warning, nearest(name, names))])
}

fn of_automatic(
    needed: &AutomaticIndex,
    index: &Index,
    snapshot: &IndexSnapshot<'_>,
    documents: &Snapshot<'_>,
) -> Result<Vec<String>> {
    let collection = needed.collection.as_deref();
    if snapshot.entry_count() == 0 {
        // Of a collection without documents fields are not known.
        return collection.map_or(Ok(Vec::new()), |name| unknown_collection(documents, name));
    }
    let without = index.fields_without_values(needed, snapshot)?;
    if without.is_empty() {
        return Ok(Vec::new());
    }
    let sample = FieldSample::of(documents, collection)?;
    let count = match collection {
        Some(name) => documents.collection(name)?.map_or(0, |collection| collection.documents().count),
        None => documents.statistics()?.documents().count,
    };
    let claim = match needed.group_by() {
        // The index has a null both for null and for nothing, so that only the documents can tell.
        [_, ..] if sample.document_count == 0 => return Ok(Vec::new()),
        [_, ..] if sample.document_count == count => Claim::Whole,
        [_, ..] => Claim::Sample(sample.document_count),
        [] => {
            let is_stale = index.is_stale(snapshot, 0, documents, None)?;
            if is_stale || snapshot.document_count() != count { Claim::Indexed } else { Claim::NoValue }
        }
    };
    // A document of the sample has it: as an empty array, or as null.
    let paths = without.into_iter().map(|field| path_of(field, needed));
    let unknown = paths.filter(|path| !sample.has(path)).take(WARNINGS_MAX);
    let warning = |path: &str| with_suggestion(claim.sentence(collection, path), sample.nearest(path));
    Ok(unknown.map(warning).collect())
}

/// Where documents have what a field of an automatic index holds.
fn path_of<'f>(field: &'f Field, index: &AutomaticIndex) -> &'f str {
    match MeasuredField::of_name(&field.name.path) {
        Some(measured) if !index.group_by().is_empty() => measured.path,
        _ => &field.name.path,
    }
}

/// Warnings of fields whose names an index decides when it runs. It refuses others that it lacks.
fn of_named(fields: &[Field], index: &Index, snapshot: &IndexSnapshot<'_>) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    let makes_fields = index.definition().as_map().is_some_and(|map| map.makes_fields());
    if !makes_fields || snapshot.entry_count() == 0 {
        return Ok(warnings);
    }
    for field in fields {
        let path = field.name.path.as_str();
        if warnings.len() == WARNINGS_MAX || snapshot.field(path)?.is_some() {
            continue;
        }
        let known = snapshot.fields()?;
        let warning = format!("No entry of the index '{}' has a field `{}`.", shown(index.name()), shown(path));
        warnings.push(with_suggestion(warning, nearest(path, known.iter().map(|(name, _)| name.as_str()))));
    }
    Ok(warnings)
}

/// How much of the documents is known to lack a field.
enum Claim {
    /// All of them were read.
    Whole,
    /// So many were read, of more.
    Sample(u64),
    /// No entry of the index has a value, and the index has all documents. An empty array is no value.
    NoValue,
    /// The same, and the index does not have all documents.
    Indexed,
}

impl Claim {
    fn sentence(&self, collection: Option<&str>, field: &str) -> String {
        let field = shown(field);
        let of = |before: &str| collection.map_or_else(String::new, |name| format!(" {before} {}", shown(name)));
        match self {
            Claim::Whole => format!("No document{} has `{field}`.", of("in")),
            Claim::Sample(count) => {
                format!("None of the newest {count} documents{}, which were read, has `{field}`.", of("in"))
            }
            Claim::NoValue => format!("No document{} has a value in `{field}`.", of("in")),
            Claim::Indexed => format!("No document{} that is indexed so far has a value in `{field}`.", of("in")),
        }
    }
}

fn with_suggestion(mut warning: String, suggestion: Option<&str>) -> String {
    if let Some(suggestion) = suggestion {
        warning.push_str(&format!(" Did you mean `{}`?", shown(suggestion)));
    }
    warning
}

/// The beginning of a name.
fn shown(name: &str) -> &str {
    name.char_indices().nth(WARNED_NAME_LENGTH_MAX).map_or(name, |(end, _)| name.get(..end).unwrap_or(name))
}
