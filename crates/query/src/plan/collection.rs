//! Queries that need no index: whole collections, and documents by id.

use super::{Parameters, Refused};
use crate::functions::{self, Function};
use crate::rql::{self, Expression, Operator, Ordering, Query, ValueKind};
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
    /// What a query comes to without an index; `None` if it needs one.
    ///
    /// # Errors
    ///
    /// [`Refused`]
    pub(super) fn plan(query: &Query<'_>, parameters: Parameters<'_>) -> Result<Option<CollectionQuery>, Refused> {
        let source = match &query.from.source {
            rql::Source::AllDocuments => Source::All,
            rql::Source::Collection(name) => Source::Collection(name.to_string()),
            rql::Source::Index(_) => return Ok(None),
        };
        let alias = query.from.alias.as_deref();
        let filter = match &query.condition {
            None => Some(Filter::All),
            Some(condition) => filter(condition, alias, parameters)?,
        };
        let order = order(query, alias);
        Ok(filter.zip(order).map(|(filter, order)| CollectionQuery { source, filter, order }))
    }
}

/// `None`: the condition needs an index.
fn filter(
    condition: &Expression<'_>,
    alias: Option<&str>,
    parameters: Parameters<'_>,
) -> Result<Option<Filter>, Refused> {
    let is_id = |expression| super::is_id(expression, alias);
    Ok(match condition {
        Expression::Value(value) if value.kind == ValueKind::Boolean(true) => Some(Filter::All),
        Expression::Compare(comparison) if is_id(&comparison.left) => match (comparison.operator, &comparison.right) {
            (Operator::Equal, Expression::Value(value)) => Some(Filter::Ids(once_each(parameters.texts(value)?))),
            _ => None,
        },
        Expression::In(choice) if is_id(&choice.operand) && !choice.is_all => {
            let texts = choice.values.iter().map(|value| parameters.texts(value)).collect::<Result<Vec<_>, _>>()?;
            Some(Filter::Ids(once_each(texts.into_iter().flatten())))
        }
        Expression::Call(call) => match functions::find(&call.name).and_then(Function::collection) {
            Some(plan) => plan(call, alias, parameters)?,
            None => None,
        },
        _ => None,
    })
}

/// `None`: the order needs an index.
fn order(query: &Query<'_>, alias: Option<&str>) -> Option<Order> {
    match query.order_by.as_slice() {
        [] => Some(Order::Etag),
        [key]
            if super::is_id(&key.key, alias)
                && matches!(key.ordering, None | Some(Ordering::String))
                && key.nulls.is_none() =>
        {
            Some(if key.is_descending { Order::IdDescending } else { Order::IdAscending })
        }
        _ => None,
    }
}

/// Ids are the same in any case.
fn once_each(ids: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    ids.into_iter().filter(|id| seen.insert(documents::id::lower(id))).collect()
}
