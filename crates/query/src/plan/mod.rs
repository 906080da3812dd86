//! From a syntax tree to what is to be done.
//!
//! A query is answered from a collection or by ids ([`CollectionQuery`]), or by an index ([`IndexQuery`]) that it names, or
//! that has the fields it needs. What the engine has not, or what means nothing, is refused; nothing of a query is passed over
//! in silence.

mod clauses;
mod collection;
pub(crate) mod conditions;
mod error;
mod index_query;
mod options;
mod parameters;
mod subscription;

pub use crate::definition::FieldUse;
pub use clauses::filter::FilterClause;
pub(crate) use clauses::filter::{FilterCondition, Operand, Planner as FilterPlanner};
pub(crate) use clauses::include::Includes;
pub use clauses::include::{CounterClause, Explanations};
pub use clauses::page::{Page, WrittenPage};
pub use clauses::projection::{PathStep, Projected, ProjectedColumn, Projection, ProjectionBehavior};
pub use collection::{CollectionQuery, Filter, Order, Source};
pub use conditions::condition::{Condition, Neighbours, SpatialQuery, TermValue, TextQuery, VectorQuery, VectorTarget};
pub use conditions::lucene::LuceneQuery;
pub(crate) use conditions::path::write_path;
pub use conditions::search_text::{SearchPart, Wildcard};
pub(crate) use conditions::term_value::{check_bound, end, range};
pub use error::Refused;
pub(crate) use index_query::Planner;
pub use index_query::{DistanceKey, IndexChoice, IndexQuery, SortBy, SortKey};
pub(crate) use options::Options;
pub use parameters::Parameters;
pub(crate) use parameters::Scalar;

pub use crate::functions::facet::{
    ALL_RESULTS, Aggregation, Facet, FacetBy, FacetClause, FacetOptions, FacetRange, FacetSetup, Measures, TermSort,
};
pub use crate::functions::highlight::{Highlight, Tags};
pub use crate::functions::more_like_this::{Base, LikenessOptions, MoreLikeThis};
pub use crate::functions::suggest::{Suggestion, SuggestionDistance, SuggestionOptions};
pub use clauses::script::{Load, LoadIds, ScriptClause, ScriptForm};

use crate::functions::{ID, facet, suggest};
use crate::rql::{self, Call, Expression, Query, Segment};
use clauses::grouping::Grouping;
use documents::{Feature, RevisionClause};

/// A query, its parameters put in.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What it finds.
    pub find: Find,
    /// What is made of each document; `None`: nothing, it is wanted itself.
    pub projection: Option<Projection>,
    /// What is run for each document: what changes it, or what its result is.
    pub script: Option<ScriptClause>,
    /// Paths to ids of documents to include, without the alias.
    pub includes: Vec<String>,
    /// Paths to keys of compare-exchange values that come with the results.
    pub included_values: Vec<String>,
    /// True if the query reads compare-exchange values.
    pub reads_values: bool,
    /// True if the query may read the time, so that its results change without a write.
    pub reads_time: bool,
    /// Whether it is to be told why results score what they do.
    pub explanations: Option<Explanations>,
    /// Counters that come with results.
    pub counters: Vec<CounterClause>,
    /// Revisions that come with results.
    pub revisions: RevisionClause,
    /// Whether it is to be told how long each step takes.
    pub has_timings: bool,
    /// Whether it is to be told how it runs.
    pub is_explained: bool,
    /// Whether a document is a result for each of its entries, rather than once. The request says that, not the text of the query.
    pub keeps_repeats: bool,
    /// Which of what it finds are results.
    pub filter: Option<FilterClause>,
    /// Which part of what it finds is wanted.
    pub page: Page,
    /// True for a subscription that reads revisions, each with the one before it.
    pub is_of_revisions: bool,
}

/// Where the results of a query come from.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "one for each query")]
pub enum Find {
    /// Collections and ids.
    Collection(CollectionQuery),
    /// An index.
    Index(IndexQuery),
}

impl Plan {
    /// What a query comes to.
    ///
    /// # Errors
    ///
    /// [`Refused`]
    pub fn new(query: &Query<'_>, parameters: Parameters<'_>) -> Result<Plan, Refused> {
        if query.from.is_of_revisions {
            return Err(Refused::missing(Feature::Revisions, "queries over revisions"));
        }
        let query = &*clauses::columns::resolved(query)?;
        let is_of_others = suggest::is_wanted(query) || facet::is_wanted(query);
        let filter = FilterClause::plan(query, parameters)?;
        if facet::is_wanted(query) && filter.is_some() {
            return Err(Refused::Invalid("Facet query does not support a filter clause.".to_owned()));
        }
        if is_of_others && filter.is_some() {
            return Err(Refused::NotSupported("'filter' beside suggest()".to_owned()));
        }
        let grouping = Grouping::plan(query, parameters)?;
        let needs_index = grouping.is_some() || is_of_others;
        let collection = if needs_index { None } else { CollectionQuery::plan(query, parameters)? };
        let includes = Includes::plan(query, parameters)?;
        let explains = includes.explanations.is_some();
        let find = match collection {
            Some(_) if explains => {
                return Err(Refused::Invalid("Collection queries cannot return explanations.".to_owned()));
            }
            Some(collection) => Find::Collection(collection),
            None => Find::Index(IndexQuery { explains, ..IndexQuery::plan(query, grouping.as_ref(), parameters)? }),
        };
        let script = ScriptClause::plan(query, parameters)?;
        let projection = match script.is_some() || is_of_others {
            true => None,
            false => Projection::plan(query, grouping.as_ref(), parameters)?,
        };
        let revisions = includes.revisions();
        let Includes { paths: includes, values: included_values, explanations, counters, has_timings, .. } = includes;
        if explanations.is_some() && filter.is_some() {
            return Err(Refused::NotSupported("'filter' beside explanations()".to_owned()));
        }
        let page = Page::of(&query.limit, parameters)?;
        let is_explained = query.is_explained;
        let reads_values = !included_values.is_empty();
        let plan = Plan {
            find,
            projection,
            script,
            includes,
            included_values,
            reads_values,
            reads_time: false,
            explanations,
            counters,
            revisions,
            has_timings,
            is_explained,
            keeps_repeats: false,
            filter,
            page,
            is_of_revisions: false,
        };
        match plan.not_explained().filter(|_| is_explained) {
            Some(feature) => Err(Refused::NotSupported(format!("{feature} with 'explain'"))),
            None => Ok(plan),
        }
    }
}

impl Plan {
    /// What is suggested in place of results.
    pub fn suggestions(&self) -> &[Suggestion] {
        match &self.find {
            Find::Index(query) => &query.suggestions,
            Find::Collection(_) => &[],
        }
    }

    /// By what results are counted, in place of being given.
    pub fn facets(&self) -> &[FacetClause] {
        match &self.find {
            Find::Index(query) => &query.facets,
            Find::Collection(_) => &[],
        }
    }

    /// The fields whose words are marked.
    pub fn highlights(&self) -> &[Highlight] {
        match &self.find {
            Find::Index(query) => &query.highlights,
            Find::Collection(_) => &[],
        }
    }

    /// Whether anything comes with its results.
    pub fn has_includes(&self) -> bool {
        !self.includes.is_empty()
            || !self.counters.is_empty()
            || !self.revisions.is_empty()
            || !self.included_values.is_empty()
            || !self.highlights().is_empty()
            || self.explanations.is_some()
            || self.has_timings
    }

    /// The function of `select` that gives something else than results, if there is one.
    pub fn gives_in_place_of_results(&self) -> Option<&'static str> {
        match (self.suggestions(), self.facets()) {
            ([], []) => None,
            ([], _) => Some("facet()"),
            _ => Some("suggest()"),
        }
    }

    /// Gives an order by chance that has no seed the one that `chance` makes, so that it is another one with each request.
    pub fn seed(&mut self, chance: impl FnOnce() -> String) {
        let Find::Index(query) = &mut self.find else { return };
        let unseeded = query.order.iter_mut().find_map(|key| match &mut key.by {
            SortBy::Random(seed @ None) => Some(seed),
            _ => None,
        });
        if let Some(seed) = unseeded {
            *seed = Some(chance());
        }
    }

    /// Whether JavaScript is run for its results, or a filter loads other documents: it may take long, and depend on more than the results.
    pub fn runs_scripts(&self) -> bool {
        let is_long = |filter: &FilterClause| !filter.calls.is_empty() || !filter.loads.is_empty();
        self.script.is_some() || self.filter.as_ref().is_some_and(is_long)
    }

    /// What it has that `explain` cannot tell of.
    fn not_explained(&self) -> Option<&'static str> {
        let is_update = matches!(self.script.as_ref().map(|script| &script.form), Some(ScriptForm::Update(_)));
        match self.gives_in_place_of_results() {
            Some(function) => Some(function),
            None if is_update => Some("'update'"),
            None if self.has_includes() => Some("'include'"),
            None if self.is_distinct() => Some("'select distinct'"),
            None => self.filter.as_ref().map(|_| "'filter'"),
        }
    }

    /// Whether results that are equal come once.
    pub fn is_distinct(&self) -> bool {
        self.projection.as_ref().is_some_and(|projection| projection.is_distinct)
            || self.script.as_ref().is_some_and(|script| script.is_distinct)
    }
}

fn without_alias(path: &rql::Path<'_>, alias: Option<&str>) -> String {
    let text = path.text();
    let is_aliased = alias == Some(&*path.first.text) && matches!(path.rest.first(), Some(Segment::Name(_)));
    match text.strip_prefix(&*path.first.text).and_then(|rest| rest.strip_prefix('.')) {
        Some(rest) if is_aliased => rest.to_owned(),
        _ => text.into_owned(),
    }
}

/// Whether an expression is `id()`, or `id(alias)`.
pub(crate) fn is_id(expression: &Expression<'_>, alias: Option<&str>) -> bool {
    matches!(expression, Expression::Call(call) if is_id_call(call, alias))
}

/// The same of a call.
fn is_id_call(call: &Call<'_>, alias: Option<&str>) -> bool {
    let Call { name, arguments, member: None, .. } = call else { return false };
    ID.is(name)
        && match arguments.as_slice() {
            [] => true,
            [Expression::Field(path)] => path.rest.is_empty() && Some(&*path.first.text) == alias,
            _ => false,
        }
}

#[cfg(test)]
mod tests;
