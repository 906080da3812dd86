//! Queries that need no index: whole collections, and documents by id.

use super::{Parameters, Refused};
use crate::rql::{self, Call, Expression, Operator, Ordering, Output, Path, Query, Segment};
use std::collections::HashSet;

/// A query over a collection, its parameters put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionQuery {
    /// Where documents come from.
    pub source: Source,
    /// Which of them.
    pub filter: Filter,
    /// In which order.
    pub order: Order,
    /// Paths to ids of documents to include, without the alias.
    pub includes: Vec<String>,
    /// Documents that are left out.
    pub skip: u64,
    /// Documents that follow; `None`: all.
    pub take: Option<u64>,
    /// The text itself has a `limit` or `offset`.
    pub is_limited: bool,
}

/// Where documents come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// All of the database.
    All,
    /// A collection, as the query spells it.
    Collection(String),
}

/// Which of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// All.
    All,
    /// These, each once, in the order of first mention.
    Ids(Vec<String>),
    /// Those whose id begins so.
    IdPrefix(String),
}

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// That in which they were last written.
    Etag,
    /// By id.
    IdAscending,
    /// By id, the last first.
    IdDescending,
}

impl Source {
    /// What `IndexName` says: `collection/Users` as the query spells it.
    pub fn index_name(&self) -> String {
        match self {
            Source::All => "collection/@all_docs".to_owned(),
            Source::Collection(name) => format!("collection/{name}"),
        }
    }
}

impl CollectionQuery {
    /// What a query comes to if no index is needed for it.
    ///
    /// # Errors
    ///
    /// [`Refused`]
    pub fn plan(query: &Query<'_>, parameters: Parameters<'_>) -> Result<CollectionQuery, Refused> {
        let source = match &query.from.source {
            rql::Source::AllDocuments => Source::All,
            rql::Source::Collection(name) => Source::Collection(name.to_string()),
            rql::Source::Index(name) => return Err(Refused::NoSuchIndex(name.to_string())),
        };
        for (is_there, feature) in [
            (!query.functions.is_empty(), "declared functions"),
            (query.from.is_of_revisions, "queries over revisions"),
            (!query.group_by.is_empty(), "'group by'"),
            (!query.load.is_empty(), "'load'"),
            (query.filter.is_some() || query.filter_limit.is_some(), "'filter'"),
            (matches!(query.output, Output::Select(_)), "projections ('select')"),
            (matches!(query.output, Output::Update(_)), "patches ('update')"),
        ] {
            if is_there {
                return Err(Refused::NeedsIndex(feature));
            }
        }
        let planner = Planner { alias: query.from.alias.as_deref(), parameters };
        Ok(CollectionQuery {
            source,
            filter: query.condition.as_ref().map_or(Ok(Filter::All), |condition| planner.filter(condition))?,
            order: planner.order(query)?,
            includes: query.include.iter().map(|include| planner.include(include)).collect::<Result<_, _>>()?,
            skip: planner.count(query.limit.skip.as_ref())?.unwrap_or(0),
            take: planner.count(query.limit.take.as_ref())?,
            is_limited: query.limit != rql::Limit::default(),
        })
    }
}

struct Planner<'p> {
    alias: Option<&'p str>,
    parameters: Parameters<'p>,
}

impl Planner<'_> {
    fn filter(&self, condition: &Expression<'_>) -> Result<Filter, Refused> {
        match condition {
            Expression::Compare(comparison) if self.is_id(&comparison.left) => {
                match (comparison.operator, &comparison.right) {
                    (Operator::Equal, Expression::Value(value)) => {
                        Ok(Filter::Ids(once_each(self.parameters.texts(value)?)))
                    }
                    _ => Err(Refused::NeedsIndex("this comparison of id()")),
                }
            }
            Expression::In(choice) if self.is_id(&choice.operand) && !choice.is_all => {
                let texts =
                    choice.values.iter().map(|value| self.parameters.texts(value)).collect::<Result<Vec<_>, _>>()?;
                Ok(Filter::Ids(once_each(texts.into_iter().flatten())))
            }
            Expression::Call(call) if call.name.eq_ignore_ascii_case("startsWith") => match call.arguments.as_slice() {
                [id, Expression::Value(value)] if self.is_id(id) => match self.parameters.texts(value)?.as_slice() {
                    [prefix] => Ok(Filter::IdPrefix(prefix.clone())),
                    _ => Err(Refused::Invalid("startsWith() needs one text".to_owned())),
                },
                _ => Err(Refused::NeedsIndex("conditions on other fields than id()")),
            },
            Expression::And(_) | Expression::Or(_) | Expression::Not(_) => {
                Err(Refused::NeedsIndex("conditions joined by 'and' and 'or'"))
            }
            _ => Err(Refused::NeedsIndex("conditions on other fields than id()")),
        }
    }

    /// `id()`, or `id(alias)`.
    fn is_id(&self, expression: &Expression<'_>) -> bool {
        let Expression::Call(Call { name, arguments, member: None, .. }) = expression else { return false };
        name.eq_ignore_ascii_case("id")
            && match arguments.as_slice() {
                [] => true,
                [Expression::Field(path)] => path.rest.is_empty() && Some(&*path.first.text) == self.alias,
                _ => false,
            }
    }

    fn order(&self, query: &Query<'_>) -> Result<Order, Refused> {
        match query.order_by.as_slice() {
            [] => Ok(Order::Etag),
            [key] if !self.is_id(&key.key) => Err(Refused::NeedsIndex("sorting by other fields than id()")),
            [key] if !matches!(key.ordering, None | Some(Ordering::String)) || key.nulls.is_some() => {
                Err(Refused::NeedsIndex("this way of sorting by id()"))
            }
            [key] => Ok(if key.is_descending { Order::IdDescending } else { Order::IdAscending }),
            _ => Err(Refused::NeedsIndex("sorting by several fields")),
        }
    }

    fn include(&self, include: &Expression<'_>) -> Result<String, Refused> {
        match include {
            Expression::Field(path) => Ok(self.without_alias(path)),
            Expression::Value(value) => match self.parameters.texts(value)?.as_slice() {
                [path] => Ok(path.clone()),
                _ => Err(Refused::Invalid("'include' needs a path to ids of documents".to_owned())),
            },
            Expression::Call(_) => Err(Refused::NeedsIndex("'include' of a call")),
            _ => Err(Refused::Invalid("'include' needs a path to ids of documents".to_owned())),
        }
    }

    fn without_alias(&self, path: &Path<'_>) -> String {
        let text = path.text();
        let is_aliased = self.alias == Some(&*path.first.text) && matches!(path.rest.first(), Some(Segment::Name(_)));
        match text.strip_prefix(&*path.first.text).and_then(|rest| rest.strip_prefix('.')) {
            Some(rest) if is_aliased => rest.to_owned(),
            _ => text.into_owned(),
        }
    }

    fn count(&self, value: Option<&rql::Value<'_>>) -> Result<Option<u64>, Refused> {
        value.map_or(Ok(None), |value| self.parameters.count(value))
    }
}

/// Ids are the same in any case.
fn once_each(ids: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    ids.into_iter().filter(|id| seen.insert(id.to_lowercase())).collect()
}

#[cfg(test)]
#[path = "collection_tests.rs"]
mod tests;
