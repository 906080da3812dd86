//! Facets: those of a query and of documents that it names, checked against the index and counted.

use std::borrow::Cow;
use std::collections::HashSet;

use documents::Snapshot;
use query::definition::{Field, FieldNeeds};
use query::execute::{self, FacetResult};
use query::index::IndexSnapshot;
use query::limits::FACETS_MAX;
use query::plan::{Facet, FacetBy, FacetClause, IndexQuery, Refused};
use storage::memory::MemoryReservation;

use super::deadline::Deadline;
use super::error::QueryError;
use crate::{Index, Result};

/// A facet and its counts.
#[derive(Debug)]
pub struct CountedFacet<'q> {
    /// The facet.
    pub facet: Cow<'q, Facet>,
    /// Its values and what is counted of them.
    pub result: FacetResult,
}

/// Counts by the facets of a query. The reservation holds the memory of the results.
///
/// # Errors
///
/// [`QueryError::Facet`], [`QueryError::NoSuchDocument`]; the index cannot be read; the time is up.
pub(super) fn count<'q>(
    query: &IndexQuery,
    clauses: &'q [FacetClause],
    index: &Index,
    snapshot: &IndexSnapshot<'_>,
    documents: &Snapshot<'_>,
    deadline: &Deadline,
) -> Result<(Vec<CountedFacet<'q>>, MemoryReservation)> {
    let facets = facets(clauses, documents)?;
    check(&facets, index)?;
    let fields = index.definition().fields();
    let look = || deadline.look();
    let (results, reservation) =
        execute::facets(snapshot, fields, &query.condition, facets.iter().map(AsRef::as_ref), &look)?;
    Ok((facets.into_iter().zip(results).map(|(facet, result)| CountedFacet { facet, result }).collect(), reservation))
}

/// The facets, those of documents among them.
fn facets<'q>(clauses: &'q [FacetClause], documents: &Snapshot<'_>) -> Result<Vec<Cow<'q, Facet>>> {
    let mut facets = Vec::with_capacity(clauses.len());
    for clause in clauses {
        match clause {
            FacetClause::Facet(facet) => facets.push(Cow::Borrowed(facet)),
            FacetClause::Setup(setup) => {
                let missing = || QueryError::NoSuchDocument { id: setup.id.clone() };
                let document = documents.get(&setup.id)?.ok_or_else(missing)?;
                let found = setup.facets(document.body().bytes()).map_err(|refused| match refused {
                    Refused::Invalid(message) => QueryError::Facet(message),
                    Refused::MissingFeature(missing) => QueryError::MissingFeature(missing),
                    Refused::NotSupported(form) => QueryError::not_supported(form),
                    refused @ Refused::NoSuchSorter(_) => QueryError::NoSuchSorter(refused.to_string()),
                })?;
                facets.extend(found.into_iter().map(Cow::Owned));
            }
        }
    }
    Ok(facets)
}

/// A name for each, a field of the index for each, and not too many. What numbers are made of need not be a field: then there are none.
fn check(facets: &[Cow<'_, Facet>], index: &Index) -> Result<(), QueryError> {
    let mut names = HashSet::with_capacity(facets.len());
    let mut count = 0;
    for facet in facets {
        if !names.insert(&facet.name) {
            return Err(QueryError::Facet(format!("Duplicate alias '{}' detected", facet.name)));
        }
        let (field, ranges) = match &facet.by {
            FacetBy::All => (None, 0),
            FacetBy::Terms(field, _) => (Some(field), 0),
            FacetBy::Ranges(field, ranges) => (Some(field), ranges.len()),
        };
        count += 1 + ranges + facet.aggregations.len();
        let needed = field.map(|field| Field { name: field.name.clone(), needs: FieldNeeds::default() });
        if let Some(missing) = needed.and_then(|needed| index.definition().missing(&needed)) {
            return Err(QueryError::Facet(format!("Field {missing} not found in Index '{}'.", index.name())));
        }
    }
    match count > FACETS_MAX {
        true => Err(QueryError::Facet(format!(
            "{count} facets, ranges and aggregations of a query exceed the limit FACETS_MAX = {FACETS_MAX}"
        ))),
        false => Ok(()),
    }
}
