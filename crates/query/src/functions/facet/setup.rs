//! Facets that a document has:
//!
//! ```text
//! {"Facets":[{"FieldName","DisplayFieldName","Options":{..},"Aggregations":{"Sum":[{"Name","DisplayName"}]}}],
//!  "RangeFacets":[{"Ranges":["Cost <= 200",..],"DisplayFieldName","Aggregations":{..}}]}
//! ```
//!
//! What is null or missing counts as not said. Ranges have no order and no pages; the options that clients store with them are not
//! looked at, as with the reference.

use super::range::{self, RangeOf};
use super::{Aggregation, Context, FACET, Facet, FacetBy, FacetOptions, Measures, named, push_range};
use crate::plan::{Options, Parameters, Refused};
use crate::rql::{self, Column, ColumnValue, Output, Select};
use json::Value as Json;

/// A document that has facets.
#[derive(Clone, Debug)]
pub struct FacetSetup {
    /// Its id.
    pub id: String,
    /// Those of the query, which its ranges may name: an object.
    parameters: Vec<u8>,
}

impl FacetSetup {
    pub(super) fn new(id: String, parameters: Parameters<'_>) -> FacetSetup {
        FacetSetup { id, parameters: parameters.all() }
    }

    /// The facets that the document has.
    ///
    /// * `document`: an object.
    ///
    /// # Errors
    ///
    /// [`Refused`]; the message names the document.
    pub fn facets(&self, document: &[u8]) -> Result<Vec<Facet>, Refused> {
        let parse = |text: &[u8]| Json::parse(text).map_err(|error| Refused::Invalid(error.to_string()));
        let (document, parameters) = (parse(document)?, parse(&self.parameters)?);
        let context = Context { alias: None, parameters: Parameters::new(Some(&parameters)) };
        let facets = list(&document, "Facets").and_then(|terms| {
            let mut facets = terms.iter().map(by_terms).collect::<Result<Vec<Facet>, Refused>>()?;
            for facet in list(&document, "RangeFacets")? {
                facets.push(by_ranges(facet, context)?);
            }
            Ok(facets)
        });
        facets.map_err(|refused| match refused {
            Refused::Invalid(message) => Refused::Invalid(format!("Facet setup '{}': {message}", self.id)),
            refused @ (Refused::MissingFeature(_) | Refused::NotSupported(_) | Refused::NoSuchSorter(_)) => refused,
        })
    }
}

fn wrong(key: &str, rule: &str) -> Refused {
    Refused::Invalid(format!("'{key}' {rule}"))
}

/// The elements of an array.
fn list<'j>(object: &'j Json, key: &str) -> Result<&'j [Json], Refused> {
    match object.get(key) {
        None | Some(Json::Null) => Ok(&[]),
        Some(Json::Array(elements)) => Ok(elements),
        Some(_) => Err(wrong(key, "must be an array")),
    }
}

fn text<'j>(object: &'j Json, key: &str) -> Result<Option<&'j str>, Refused> {
    match object.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(key, "must be a text")),
    }
}

fn by_terms(facet: &Json) -> Result<Facet, Refused> {
    let by = match (text(facet, "FieldName")?, facet.get("Options")) {
        (Some(field), options) => {
            let options = match options {
                None | Some(Json::Null) => Json::object(),
                Some(options) => options.clone(),
            };
            FacetBy::Terms(named(field), FacetOptions::of(&Options::of_json(FACET.name, options)?)?)
        }
        (None, _) => FacetBy::All,
    };
    Ok(Facet { name: by.name(text(facet, "DisplayFieldName")?), by, aggregations: aggregations(facet)? })
}

fn by_ranges(facet: &Json, context: Context<'_>) -> Result<Facet, Refused> {
    let mut by = FacetBy::All;
    for range in list(facet, "Ranges")? {
        let Json::String(text) = range else { return Err(wrong("Ranges", "must be texts")) };
        let RangeOf { field, range } = range_of(text, context)?;
        push_range(&mut by, field, range)?;
    }
    match by {
        FacetBy::Ranges(..) => {
            Ok(Facet { name: by.name(text(facet, "DisplayFieldName")?), by, aggregations: aggregations(facet)? })
        }
        _ => Err(wrong("Ranges", "must have a range")),
    }
}

/// A range as it stands in a query.
fn range_of(text: &str, context: Context<'_>) -> Result<RangeOf, Refused> {
    let query = format!("from index 'x' select facet({text})");
    let query = rql::parse(&query).map_err(|error| Refused::Invalid(format!("the range '{text}': {error}")))?;
    if query.include.is_empty()
        && query.limit == rql::Limit::default()
        && let Output::Select(Select { projection: rql::Projection::Columns(columns), .. }) = &query.output
        && let [Column { value: ColumnValue::Call(call), alias: None }] = columns.as_slice()
        && let [range] = call.arguments.as_slice()
    {
        return range::of(range, context);
    }
    Err(Refused::Invalid(format!("'{text}' is not a range")))
}

fn aggregations(facet: &Json) -> Result<Vec<Aggregation>, Refused> {
    const KEY: &str = "Aggregations";
    let given = match facet.get(KEY) {
        None | Some(Json::Null) => return Ok(Vec::new()),
        Some(given @ Json::Object(_)) => given,
        Some(_) => return Err(wrong(KEY, "must be an object")),
    };
    let mut aggregations = Vec::new();
    for (function, _) in given.members() {
        let Some(measures) = Measures::of(function) else {
            return Err(wrong(KEY, &format!("cannot have '{function}'")));
        };
        for field in list(given, function)? {
            let Some(name) = text(field, "Name")? else { return Err(wrong(KEY, "need fields with a 'Name'")) };
            Aggregation::add(&mut aggregations, named(name), text(field, "DisplayName")?, measures);
        }
    }
    Ok(aggregations)
}
