//! Facets: those of a query and of documents that it names, checked against the index, counted, and as JSON.

use std::borrow::Cow;
use std::collections::HashSet;

use database::Index;
use database::documents::Snapshot;
use json::Writer;
use query::definition::{Field, FieldNeeds};
use query::execute::{self, Aggregate, FacetResult, FacetValue};
use query::index::IndexSnapshot;
use query::limits::FACETS_MAX;
use query::plan::{Aggregation, Facet, FacetBy, FacetClause, IndexQuery, Refused};

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::memory::Room;

/// A facet and what it comes to.
pub(super) struct Counted<'q> {
    facet: Cow<'q, Facet>,
    result: FacetResult,
}

/// Counts by the facets of a query. The room is that of the results.
///
/// # Errors
///
/// [`Error::Facet`], [`Error::NoSuchDocument`]; the index cannot be read; the time is up.
pub(super) fn count<'q>(
    query: &IndexQuery,
    clauses: &'q [FacetClause],
    index: &Index,
    snapshot: &IndexSnapshot<'_>,
    documents: &Snapshot<'_>,
    deadline: &Deadline,
) -> Result<(Vec<Counted<'q>>, Room)> {
    let facets = facets(clauses, documents)?;
    check(&facets, index)?;
    let fields = index.definition().fields();
    let look = || deadline.look();
    let (results, room) = execute::facets(snapshot, fields, &query.condition, facets.iter().map(AsRef::as_ref), &look)?;
    Ok((facets.into_iter().zip(results).map(|(facet, result)| Counted { facet, result }).collect(), room))
}

/// The facets, those of documents among them.
fn facets<'q>(clauses: &'q [FacetClause], documents: &Snapshot<'_>) -> Result<Vec<Cow<'q, Facet>>> {
    let mut facets = Vec::with_capacity(clauses.len());
    for clause in clauses {
        match clause {
            FacetClause::Facet(facet) => facets.push(Cow::Borrowed(facet)),
            FacetClause::Setup(setup) => {
                let missing = || Error::NoSuchDocument { id: setup.id.clone() };
                let document = documents.get(&setup.id)?.ok_or_else(missing)?;
                let found = setup.facets(document.body().bytes()).map_err(|refused| match refused {
                    Refused::Invalid(message) => Error::Facet(message),
                    Refused::NotSupported(feature) => Error::not_supported(feature),
                    refused @ Refused::NoSuchSorter(_) => Error::NoSuchSorter(refused.to_string()),
                })?;
                facets.extend(found.into_iter().map(Cow::Owned));
            }
        }
    }
    Ok(facets)
}

/// A name for each, a field of the index for each, and not too many. What numbers are made of need not be a field: then there are none.
fn check(facets: &[Cow<'_, Facet>], index: &Index) -> Result<()> {
    let mut names = HashSet::with_capacity(facets.len());
    let mut count = 0;
    for facet in facets {
        if !names.insert(&facet.name) {
            return Err(Error::Facet(format!("Duplicate alias '{}' detected", facet.name)));
        }
        let (field, ranges) = match &facet.by {
            FacetBy::All => (None, 0),
            FacetBy::Terms(field, _) => (Some(field), 0),
            FacetBy::Ranges(field, ranges) => (Some(field), ranges.len()),
        };
        count += 1 + ranges + facet.aggregations.len();
        let needed = field.map(|field| Field { name: field.name.clone(), needs: FieldNeeds::default() });
        if let Some(missing) = needed.and_then(|needed| index.definition().missing(&needed)) {
            return Err(Error::Facet(format!("Field {missing} not found in Index '{}'.", index.name())));
        }
    }
    match count > FACETS_MAX {
        true => Err(Error::Facet(format!(
            "{count} facets, ranges and aggregations of a query exceed the limit FACETS_MAX = {FACETS_MAX}"
        ))),
        false => Ok(()),
    }
}

impl Counted<'_> {
    pub(super) fn name(&self) -> &str {
        &self.facet.name
    }

    /// The names of its values.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        self.result.values.iter().map(|value| value.range.as_str())
    }

    /// Writes a result: `{"Name","Values","RemainingHits","RemainingTermsCount","RemainingTerms"}`.
    pub(super) fn write(&self, json: &mut Writer<'_>) {
        let Counted { facet, result } = self;
        json.object(|json| {
            json.name("Name").string(&facet.name);
            json.name("Values").array(|json| {
                for value in &result.values {
                    write_value(value, &facet.aggregations, json);
                }
            });
            json.name("RemainingHits").unsigned(result.remaining_hits);
            json.name("RemainingTermsCount").unsigned(result.remaining_term_count);
            json.name("RemainingTerms").array(|json| {
                result.remaining_terms.iter().for_each(|term| _ = json.string(term));
            });
        });
    }
}

/// One object for each field that something is made of, or only one.
fn write_value(value: &FacetValue, aggregations: &[Aggregation], json: &mut Writer<'_>) {
    if aggregations.is_empty() {
        json.object(|json| {
            json.name("Name").null();
            json.name("Count").unsigned(value.count).name("Range").string(&value.range);
        });
    }
    for (at, Aggregation { name, measures, .. }) in aggregations.iter().enumerate() {
        json.object(|json| {
            json.name("Name").string(name);
            if let Some(Aggregate { sum, min, max }) = value.aggregates.get(at) {
                let numbers = [
                    ("Average", measures.average, sum / value.count as f64),
                    ("Max", measures.max, *max),
                    ("Min", measures.min, *min),
                    ("Sum", measures.sum, *sum),
                ];
                for (name, _, number) in numbers.into_iter().filter(|(_, is_wanted, _)| *is_wanted) {
                    write_double(number, json.name(name));
                }
            }
            json.name("Count").unsigned(value.count).name("Range").string(&value.range);
        });
    }
}

/// What is no number in JSON is its name, as everywhere.
fn write_double(number: f64, json: &mut Writer<'_>) {
    match number {
        f64::INFINITY => _ = json.string("Infinity"),
        f64::NEG_INFINITY => _ = json.string("-Infinity"),
        number if number.is_nan() => _ = json.string("NaN"),
        number => _ = json.double(number),
    }
}
