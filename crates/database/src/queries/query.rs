//! The text of a query and its parameters, planned.

use documents::{Snapshot, id};
use query::functions::may_read_time;
use query::plan::{Parameters, Plan, ScriptForm};
use query::rql;

use super::error::QueryError;
use super::timings::Timings;

/// The name of the function that reads compare-exchange values.
const NAME: &[u8] = b"cmpxchg";

/// A query that can be run: any number of times, on any database unless it was planned for one.
#[derive(Debug)]
pub struct Query {
    /// Its text, which errors repeat.
    pub text: String,
    /// What it comes to.
    pub plan: Plan,
    /// Measures its steps, if the text has `include timings()` or `explain`.
    pub timings: Option<Timings>,
}

impl Query {
    /// Parses and plans a text.
    ///
    /// * `parameters`: a JSON object with the values of `$name`, if there are any.
    ///
    /// # Errors
    ///
    /// [`QueryError::Text`], [`QueryError::NotSupported`], [`QueryError::NoSuchSorter`].
    pub fn parse(text: &str, parameters: Option<&json::Value>) -> Result<Query, QueryError> {
        Self::plan(text, Parameters::new(parameters))
    }

    /// The same for one database, whose compare-exchange values the query may compare with.
    ///
    /// * `snapshot`: they are read from it now.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`].
    pub fn parse_for(
        text: &str,
        parameters: Option<&json::Value>,
        snapshot: &Snapshot<'_>,
    ) -> Result<Query, QueryError> {
        Self::plan(text, Parameters::new(parameters).with_values(snapshot))
    }

    fn plan(text: &str, parameters: Parameters<'_>) -> Result<Query, QueryError> {
        let tree = tree_of(text)?;
        let mut plan = Plan::new(&tree, parameters).map_err(|error| QueryError::of_plan(error, text))?;
        // In conditions, columns or scripts, whatever their case.
        plan.reads_values |= text.as_bytes().windows(NAME.len()).any(|word| word.eq_ignore_ascii_case(NAME));
        plan.reads_time = may_read_time(text);
        plan.seed(|| u128::from_ne_bytes(id::random_bytes()).to_string());
        let timings = (plan.has_timings || plan.is_explained).then(Timings::default);
        Ok(Query { text: text.to_owned(), plan, timings })
    }

    /// Parses and plans the query of a subscription.
    ///
    /// # Errors
    ///
    /// [`QueryError::Text`], [`QueryError::NotSupported`], [`QueryError::MissingFeature`].
    pub fn parse_subscription(text: &str) -> Result<Query, QueryError> {
        let tree = tree_of(text)?;
        let plan = Plan::of_subscription(&tree).map_err(|error| QueryError::of_plan(error, text))?;
        Query { text: text.to_owned(), plan, timings: None }.refuse_update()
    }

    /// True if the text ends with the clause `update`.
    pub fn is_update(&self) -> bool {
        self.plan.script.as_ref().is_some_and(|script| matches!(script.form, ScriptForm::Update(_)))
    }

    /// Refuses the clause `update` where results are read.
    ///
    /// # Errors
    ///
    /// [`QueryError::Text`].
    pub fn refuse_update(self) -> Result<Query, QueryError> {
        match self.is_update() {
            false => Ok(self),
            true => Err(QueryError::Text {
                message: "`update` changes documents, which a query does not: send it as an update by query, PATCH /databases/{name}/queries".to_owned(),
                query: self.text,
                is_grammar: false,
            }),
        }
    }

    /// Requires the clause `update` where documents are patched.
    ///
    /// # Errors
    ///
    /// [`QueryError::Text`].
    pub fn require_update(self) -> Result<Query, QueryError> {
        match self.is_update() {
            true => Ok(self),
            false => Err(QueryError::Text {
                message: "Update operations must end with UPDATE clause".to_owned(),
                query: self.text,
                is_grammar: true,
            }),
        }
    }
}

fn tree_of(text: &str) -> Result<rql::Query<'_>, QueryError> {
    rql::parse(text).map_err(|error| QueryError::Text {
        message: error.to_string(),
        query: text.to_owned(),
        is_grammar: error.reason.is_grammar(),
    })
}
