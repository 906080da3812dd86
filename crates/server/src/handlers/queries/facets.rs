//! Facets as JSON.

use database::queries::CountedFacet;
use json::Writer;
use query::execute::{Aggregate, FacetValue};
use query::plan::Aggregation;

/// Writes a result: `{"Name","Values","RemainingHits","RemainingTermsCount","RemainingTerms"}`.
pub(super) fn write(counted: &CountedFacet<'_>, json: &mut Writer<'_>) {
    let CountedFacet { facet, result } = counted;
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
