//! The syntax tree of a query: its clauses. What they are made of is in [`expression`](super::expression).
//!
//! A tree borrows from the text it was parsed from. It has what the grammar knows and no more: that `group by` fits
//! `select`, that a function exists, that a parameter has a value, is for the planner to check, with the spans for its errors.

use super::expression::{Call, Expression, Path, Value};
use super::span::Span;
use std::borrow::Cow;

/// A whole query, one field for each clause, in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query<'q> {
    /// `explain`: it is to be told how it runs.
    pub is_explained: bool,
    /// `declare function ..` and `declare timeseries ..`; no name occurs twice.
    pub functions: Vec<Function<'q>>,
    /// `from ..`
    pub from: From<'q>,
    /// `group by ..`
    pub group_by: Vec<GroupKey<'q>>,
    /// `where ..`
    pub condition: Option<Expression<'q>>,
    /// `order by ..`
    pub order_by: Vec<OrderKey<'q>>,
    /// `load ..`
    pub load: Vec<Load<'q>>,
    /// `filter ..`
    pub filter: Option<Expression<'q>>,
    /// What is made of each document.
    pub output: Output<'q>,
    /// `include ..`: fields, parameters and calls such as `counters(..)`.
    pub include: Vec<Expression<'q>>,
    /// `limit ..`, `offset ..`
    pub limit: Limit<'q>,
    /// `filter_limit ..`
    pub filter_limit: Option<Value<'q>>,
}

impl Query<'_> {
    /// Whether a call means a function that the query declares: `f(..)`, or `f.call(document, ..)`, as the C# client writes conditions of
    /// subscriptions. They come before the functions of RavenDB, as in the reference.
    pub fn declares(&self, call: &Call<'_>) -> bool {
        let name = call.name.strip_suffix(".call").unwrap_or(&call.name);
        self.functions.iter().any(|function| function.name == name)
    }
}

/// A declared function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function<'q> {
    /// In which language it is written.
    pub language: Language,
    /// How it is called.
    pub name: &'q str,
    /// The names of its parameters.
    pub parameters: Vec<&'q str>,
    /// With its braces.
    pub body: Script<'q>,
}

/// The language of a declared function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// `declare function`
    JavaScript,
    /// `declare timeseries`
    TimeSeries,
}

/// A part of the query in another language, kept as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script<'q> {
    /// With its brackets.
    pub text: &'q str,
    /// Where it stands.
    pub span: Span,
}

/// The clause `from`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct From<'q> {
    /// Where documents come from.
    pub source: Source<'q>,
    /// `(Revisions = true)`: pairs of `Current` and `Previous` instead of documents. For subscriptions.
    pub is_of_revisions: bool,
    /// The name of a document in the other clauses.
    pub alias: Option<Cow<'q, str>>,
    /// The source alone.
    pub span: Span,
}

/// Where documents come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source<'q> {
    /// `@all_docs`
    AllDocuments,
    /// A collection, `@empty` among them.
    Collection(Cow<'q, str>),
    /// `index 'name'`
    Index(Cow<'q, str>),
}

/// One key of `group by`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupKey<'q> {
    /// A field, a value, or a call: `array(field)`.
    pub key: Expression<'q>,
    /// Its name in `select`.
    pub alias: Option<Cow<'q, str>>,
}

/// One key of `order by`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderKey<'q> {
    /// A field, or a call such as `score()`.
    pub key: Expression<'q>,
    /// `as ..`
    pub ordering: Option<Ordering>,
    /// `desc`
    pub is_descending: bool,
    /// `nulls ..`
    pub nulls: Option<Nulls>,
}

/// How keys are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// As text.
    String,
    /// As whole numbers.
    Long,
    /// As floating point numbers.
    Double,
    /// As text in which digits are numbers: `a2` is before `a10`.
    AlphaNumeric,
}

/// Where documents without the key come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// Before the others.
    First,
    /// After the others.
    Last,
}

/// One item of `load`: documents that are named by others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load<'q> {
    /// A field that holds ids, or a parameter.
    pub ids: Expression<'q>,
    /// The name of the loaded document.
    pub alias: Cow<'q, str>,
    /// `alias[]`: all of the documents as an array.
    pub is_array: bool,
}

/// What is made of each document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output<'q> {
    /// Itself.
    Documents,
    /// `select ..`
    Select(Select<'q>),
    /// `update {..}`: it is changed by JavaScript.
    Update(Script<'q>),
}

/// The clause `select`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select<'q> {
    /// `distinct`
    pub is_distinct: bool,
    /// What is selected.
    pub projection: Projection<'q>,
}

/// What is selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projection<'q> {
    /// `*`
    All,
    /// `a, b as c`
    Columns(Vec<Column<'q>>),
    /// `{ .. }`: an object literal of JavaScript.
    Object(Script<'q>),
}

/// One of the selected columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column<'q> {
    /// What it holds.
    pub value: ColumnValue<'q>,
    /// Its name in the result.
    pub alias: Option<Cow<'q, str>>,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnValue<'q> {
    /// A field.
    Field(Path<'q>),
    /// A value, the same in each result.
    Value(Value<'q>),
    /// Of RavenDB (`count()`, `facet(..)`) or of the query (a declared function).
    Call(Call<'q>),
    /// `timeseries(from ..)`, kept as text with its parentheses.
    TimeSeries(Script<'q>),
}

/// The clauses `limit` and `offset`: numbers, parameters, or `null` for no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limit<'q> {
    /// How many results are left out.
    pub skip: Option<Value<'q>>,
    /// How many follow.
    pub take: Option<Value<'q>>,
}

impl Ordering {
    /// All of them with their names.
    pub(super) const NAMES: [(&'static str, Ordering); 4] = [
        ("string", Ordering::String),
        ("long", Ordering::Long),
        ("double", Ordering::Double),
        ("alphaNumeric", Ordering::AlphaNumeric),
    ];
}
