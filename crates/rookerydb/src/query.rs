//! Queries in RQL.

use std::time::Duration;

use database::queries::{
    ByQuery, ByQueryOptions, CountedFacet, Deadline, Freshness, Included, PreparedChange, Query as Planned, QueryRun,
    RowSink, RunContext,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{of_database, of_query};
use crate::limits::{INDEX_WAIT, QUERY_TIME};
use crate::rows::Collected;
use crate::{Database, Document, Error, Result, Row, Rows};

/// A query in RQL, with its parameters. Nothing happens before it is run: [`run`](Self::run), [`values`](Self::values),
/// [`for_each`](Self::for_each), [`facets`](Self::facets), [`suggestions`](Self::suggestions), [`patch`](Self::patch) or
/// [`delete`](Self::delete).
///
/// Parameters are values, never text of the query: `where Name = $name`.
///
/// ```
/// use std::time::Duration;
///
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// # shop.collection("Users").put("users/1", &serde_json::json!({ "Name": "Ann", "City": "Rome" }))?;
/// let rows = shop
///     .query("from Users where City in ($cities) order by Name select Name")
///     .parameter("cities", ["Rome", "Oslo"])
///     .wait_for_indexing(Duration::from_secs(5))
///     .take(10)
///     .run()?;
/// assert!(rows.get(0).unwrap().json().starts_with(r#"{"Name":"Ann""#));
/// # Ok(())
/// # }
/// ```
pub struct Query<'d> {
    database: &'d Database,
    text: String,
    parameters: serde_json::Map<String, serde_json::Value>,
    failed: Option<serde_json::Error>,
    stale_wait: Option<Duration>,
    run_time: Option<Duration>,
    skip: u64,
    take: Option<u64>,
}

/// One facet of a query: the values of a field with their counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Facet {
    /// Its name.
    pub name: String,
    /// Its values or ranges.
    pub values: Vec<FacetValue>,
}

/// One value of a facet.
#[derive(Clone, Debug, PartialEq)]
pub struct FacetValue {
    /// The value, or the range as the query spells it.
    pub name: String,
    /// The number of results that have it.
    pub count: u64,
    /// The numbers that the facet aggregates (`sum(..)`, `avg(..)`), in the order of the query.
    pub aggregates: Vec<FacetAggregate>,
}

/// The numbers of one field in one value of a facet.
#[derive(Clone, Debug, PartialEq)]
pub struct FacetAggregate {
    /// The field, or its alias.
    pub name: String,
    /// Their sum.
    pub sum: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

/// Words that `suggest()` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestions {
    /// The field, or its alias.
    pub name: String,
    /// The words.
    pub words: Vec<String>,
}

impl Facet {
    fn of(counted: &CountedFacet<'_>) -> Facet {
        let names = || counted.facet.aggregations.iter().map(|aggregation| aggregation.name.clone());
        let values = counted.result.values.iter().map(|value| FacetValue {
            name: value.range.clone(),
            count: value.count,
            aggregates: names()
                .zip(&value.aggregates)
                .map(|(name, found)| FacetAggregate { name, sum: found.sum, min: found.min, max: found.max })
                .collect(),
        });
        Facet { name: counted.facet.name.clone(), values: values.collect() }
    }
}

impl<'d> Query<'d> {
    pub(crate) fn new(database: &'d Database, text: String) -> Query<'d> {
        let parameters = serde_json::Map::new();
        Query { database, text, parameters, failed: None, stale_wait: None, run_time: None, skip: 0, take: None }
    }

    /// The value of `$name`.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => _ = self.parameters.insert(name.into(), value),
            Err(error) => _ = self.failed.get_or_insert(error),
        }
        self
    }

    /// Waits, `wait` at most, until the index has everything that was written before the query. [`Rows::is_stale`] says whether it has.
    #[must_use]
    pub fn wait_for_indexing(mut self, wait: Duration) -> Self {
        self.stale_wait = Some(wait);
        self
    }

    /// Skips results.
    #[must_use]
    pub fn skip(mut self, count: u64) -> Self {
        self.skip = count;
        self
    }

    /// Takes so many results at most.
    #[must_use]
    pub fn take(mut self, count: u64) -> Self {
        self.take = Some(count);
        self
    }

    /// How long the query may run. Unless given it is [`QUERY_TIME`], and without a limit for [`patch`](Self::patch) and
    /// [`delete`](Self::delete), which may have many documents to change. The wait for an index comes on top.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.run_time = Some(time);
        self
    }

    /// Runs the query.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`]: the text is wrong, or does not fit the index that it names; [`Error::NotSupported`], [`Error::NoSuchIndex`],
    /// [`Error::Timeout`], [`Error::Busy`], [`Error::Storage`].
    pub fn run(self) -> Result<Rows> {
        let planned = self.planned_rows()?;
        self.with_run(&planned, |run| {
            let (mut included, mut collected) = (Included::new(run, false), Collected::default());
            let written = run.write_rows(false, &mut included, &mut collected)?;
            Ok(Rows {
                total: u64::try_from(written.counts.total).ok(),
                is_stale: run.is_stale(),
                index: run.index().map(|index| index.name().to_owned()),
                included: included.load(run)?.iter().map(Document::of).collect(),
                highlights: run.marks().highlights().map(|highlights| highlights.clone()).unwrap_or_default(),
                explanations: run.marks().explanations().map(|texts| texts.clone()).unwrap_or_default(),
                ..collected.into_rows()
            })
        })
    }

    /// Runs the query and returns its results as values.
    ///
    /// # Errors
    ///
    /// As [`Self::run`]; [`Error::Json`]: one does not fit the type.
    pub fn values<T: DeserializeOwned>(self) -> Result<Vec<T>> {
        self.run()?.values()
    }

    /// Runs the query and returns its first result as a value.
    ///
    /// # Errors
    ///
    /// As [`Self::values`].
    pub fn first<T: DeserializeOwned>(self) -> Result<Option<T>> {
        self.take(1).run()?.get(0).map(|row| row.to()).transpose()
    }

    /// Runs the query and calls `work` with each result, without keeping them in memory. Returns the number of results. An error of `work`
    /// ends the query and is returned. The time limit counts until the last result.
    ///
    /// ```
    /// # fn main() -> rookerydb::Result<()> {
    /// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
    /// # shop.collection("Users").put("users/1", &serde_json::json!({ "Name": "Ann" }))?;
    /// let mut size = 0;
    /// let count = shop.query("from Users").for_each(|row| {
    ///     size += row.json().len();
    ///     Ok(())
    /// })?;
    /// assert_eq!(count, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Self::run`]; those of `work`; [`Error::NotSupported`]: the query has `include`.
    pub fn for_each(self, mut work: impl FnMut(Row<'_>) -> Result<()>) -> Result<u64> {
        let planned = self.planned_rows()?;
        if planned.plan.has_includes() {
            return Err(Error::NotSupported("'include' in for_each()".to_owned()));
        }
        let mut each = Each { row: Vec::new(), count: 0, work: &mut work, failed: None };
        let outcome = self.with_run(&planned, |run| run.write_rows(false, &mut Included::new(run, false), &mut each));
        match each.failed {
            Some(failed) => Err(failed),
            None => outcome.map(|_| each.count),
        }
    }

    /// Runs a query that ends with `select facet(..)`.
    ///
    /// # Errors
    ///
    /// As [`Self::run`]; [`Error::Invalid`]: the query has no facets.
    pub fn facets(self) -> Result<Vec<Facet>> {
        let planned = self.planned()?;
        if planned.plan.facets().is_empty() {
            return Err(Error::Invalid("the query has no facet()".to_owned()));
        }
        self.with_run(&planned, |run| Ok(run.faceted().iter().map(Facet::of).collect()))
    }

    /// Runs a query that ends with `select suggest(..)`.
    ///
    /// # Errors
    ///
    /// As [`Self::run`]; [`Error::Invalid`]: the query has no suggestions.
    pub fn suggestions(self) -> Result<Vec<Suggestions>> {
        let planned = self.planned()?;
        if planned.plan.suggestions().is_empty() {
            return Err(Error::Invalid("the query has no suggest()".to_owned()));
        }
        self.with_run(&planned, |run| {
            let found = run.plan().suggestions().iter().zip(run.suggested());
            Ok(found.map(|(of, words)| Suggestions { name: of.name.clone(), words: words.clone() }).collect())
        })
    }

    /// Runs the script of the clause `update` on each document that the query finds, and returns when all changes are durable. The call
    /// waits until the index has everything that was written before it ([`Self::wait_for_indexing`] sets how long, `INDEX_WAIT` unless
    /// given).
    ///
    /// Returns the number of documents that the query found. It includes those that the script left unchanged, and those that another
    /// write deleted before the script came to them.
    ///
    /// # Errors
    ///
    /// As [`Self::run`]; [`Error::Invalid`]: there is no `update`, or the script fails; [`Error::Stale`]: the index is not complete in
    /// time.
    /// Documents that were changed before an error stay changed.
    pub fn patch(self) -> Result<u64> {
        self.change(ByQuery::Patch)
    }

    /// Deletes each document that the query finds, unless another write changes it after this call began. Waits for the index as
    /// [`Self::patch`] does. Returns the number of documents that were deleted.
    ///
    /// ```
    /// # fn main() -> rookerydb::Result<()> {
    /// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
    /// # shop.collection("Users").put("users/1", &serde_json::json!({ "Name": "Ann" }))?;
    /// assert_eq!(shop.query("from Users where Name = $name").parameter("name", "Ann").delete()?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Self::run`]; [`Error::Stale`]: the index is not complete in time. Documents that were deleted before an error stay deleted.
    pub fn delete(self) -> Result<u64> {
        self.change(ByQuery::Delete)
    }

    fn change(self, change: ByQuery) -> Result<u64> {
        let query = change.check(self.parsed()?).map_err(of_query)?;
        let database = self.database.open()?;
        let options = ByQueryOptions { run_time: self.run_time, ..ByQueryOptions::default() };
        let stale_wait = self.stale_wait.unwrap_or(INDEX_WAIT);
        let changed = database.with_memory(|| {
            change.check_script(&database, &query)?;
            let freshness = Freshness { stale_wait: Some(stale_wait), ..Freshness::default() };
            let ready = database.ready(&query, &freshness, self.run_time.unwrap_or(QUERY_TIME))?;
            let prepared = PreparedChange::new(database.clone(), change, query, options, Ok(ready))?;
            if let Some((index, etag)) = prepared.awaited() {
                database::queries::wait_for(&index, etag, stale_wait);
            }
            prepared.begin()?.run()
        });
        Ok(changed.map_err(of_database)?.total)
    }

    /// Parses the text and puts the parameters in.
    fn parsed(&self) -> Result<Planned> {
        if let Some(failed) = &self.failed {
            return Err(Error::Invalid(format!("a parameter cannot become JSON: {failed}")));
        }
        let parameters = serde_json::to_vec(&self.parameters)?;
        let parameters = json::Value::parse(&parameters).map_err(|error| Error::Invalid(error.to_string()))?;
        let database = self.database.open()?;
        let planned = Planned::parse_for(&self.text, Some(&parameters), &database.read());
        let mut planned = planned.map_err(of_query)?;
        planned.plan.page = planned.plan.page.within(self.skip, self.take);
        Ok(planned)
    }

    fn planned(&self) -> Result<Planned> {
        let planned = self.parsed()?.refuse_update().map_err(of_query)?;
        match (planned.plan.is_explained, planned.plan.has_timings) {
            (true, _) => Err(Error::NotSupported("'explain' in process".to_owned())),
            (_, true) => Err(Error::NotSupported("'include timings()' in process".to_owned())),
            _ => Ok(planned),
        }
    }

    /// The same for a query whose results are rows.
    fn planned_rows(&self) -> Result<Planned> {
        let planned = self.planned()?;
        match planned.plan.gives_in_place_of_results() {
            Some(form) => Err(Error::Invalid(format!("{form} gives no rows: call facets() or suggestions()"))),
            None => Ok(planned),
        }
    }

    fn with_run<T>(
        &self,
        query: &Planned,
        work: impl for<'a> FnOnce(&QueryRun<'a>) -> database::Result<T>,
    ) -> Result<T> {
        let database = self.database.open()?;
        let freshness = Freshness { stale_wait: self.stale_wait, ..Freshness::default() };
        let run_time = self.run_time.unwrap_or(QUERY_TIME);
        let deadline = Deadline::new(Some(run_time), || false);
        let (memory, script_limits) = (database.limits().memory.clone(), database.limits().script);
        let context = RunContext { memory, deadline: &deadline, script_limits, timings: None };
        database.with_memory(|| database.query(query, &freshness, run_time, &context, work)).map_err(of_database)
    }
}

/// Calls a function with each row.
struct Each<'w> {
    row: Vec<u8>,
    count: u64,
    work: &'w mut dyn FnMut(Row<'_>) -> Result<()>,
    failed: Option<Error>,
}

impl RowSink for Each<'_> {
    type Error = database::Error;

    fn begin_row(&mut self) -> &mut Vec<u8> {
        self.row.clear();
        &mut self.row
    }

    fn end_row(&mut self) -> database::Result<()> {
        self.count += 1;
        let text = std::str::from_utf8(&self.row);
        let outcome = match text {
            Ok(text) => (self.work)(Row::new(text)),
            Err(error) => Err(Error::Storage(Box::new(error))),
        };
        outcome.map_err(|error| {
            self.failed = Some(error);
            database::Error::Canceled
        })
    }
}
