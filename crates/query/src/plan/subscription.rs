//! Queries of subscriptions and of the change feed: a collection, a condition that is evaluated on each document, and what is made of
//! those that fit.
//!
//! There is no index: the condition of `where` is planned as that of `filter` is. The reference evaluates both as JavaScript does.

use super::{Find, Parameters, Plan, Refused, Source};
use crate::rql::{self, Expression, Query};

impl Plan {
    /// What the query of a subscription, or of a change feed, comes to: its documents, in the order of their etags.
    ///
    /// # Errors
    ///
    /// [`Refused`]: it has a clause that a subscription cannot have, or one that means nothing.
    pub fn of_subscription(query: &Query<'_>) -> Result<Plan, Refused> {
        let refused = |clause: &str, why: &str| {
            Err(Refused::Invalid(format!(
                "The query of a subscription or of a change feed cannot have {clause}: {why}. Remove it from the query"
            )))
        };
        if matches!(query.from.source, rql::Source::Index(_)) {
            return refused("'from index'", "it reads documents as they are written, not an index");
        }
        if !query.group_by.is_empty() {
            return refused("'group by'", "it sends documents one by one");
        }
        if !query.order_by.is_empty() {
            return refused("'order by'", "it sends documents in the order in which they were written");
        }
        if query.limit != rql::Limit::default() || query.filter_limit.is_some() {
            return refused("'limit'", "it goes on for as long as documents are written");
        }
        if query.is_explained {
            return refused("'explain'", "it is no query of an index");
        }
        let conditions: Vec<Expression<'_>> = query.condition.iter().chain(&query.filter).cloned().collect();
        let filter = match conditions.len() {
            0 | 1 => conditions.into_iter().next(),
            _ => Some(Expression::And(conditions)),
        };
        let mut query = Query { condition: None, filter, ..query.clone() };
        let is_of_revisions = std::mem::take(&mut query.from.is_of_revisions);
        let plan = Plan { is_of_revisions, ..Plan::new(&query, Parameters::new(None))? };
        if plan.is_distinct() {
            return refused("'select distinct'", "it does not know what it sent before");
        }
        if plan.explanations.is_some() || plan.has_timings || plan.gives_in_place_of_results().is_some() {
            return refused("'include explanations()', 'include timings()', facets or suggestions", "it has no index");
        }
        let unsent = [
            (!plan.revisions.is_empty(), "revisions() in 'include' of a subscription or a change feed"),
            (!plan.included_values.is_empty(), "cmpxchg() in 'include' of a subscription or a change feed"),
            (is_of_revisions && !plan.counters.is_empty(), "counters() in 'include' of a subscription to revisions"),
        ];
        if let Some((_, feature)) = unsent.iter().find(|(is_included, _)| *is_included) {
            return Err(Refused::NotSupported((*feature).to_owned()));
        }
        Ok(plan)
    }

    /// The collection whose documents a subscription reads; `None`: all.
    pub fn subscribed_collection(&self) -> Option<&str> {
        match &self.find {
            Find::Collection(query) => match &query.source {
                Source::Collection(name) => Some(name),
                Source::All => None,
            },
            Find::Index(_) => None,
        }
    }
}
