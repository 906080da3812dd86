//! The part of RQL that needs no index: whole collections, and documents by id.
//!
//! ```text
//! query   := "from" source [["as"] alias] ["where" filter] ["order" "by" order] ["include" paths] ["limit" ..]
//! source  := name | string | "@all_docs" | "@empty"
//! filter  := idTest | "(" filter ")"
//! idTest  := "id" "(" [alias] ")" ("=" | "==") value | "id" "(" [alias] ")" "in" "(" values ")"
//!          | "startsWith" "(" "id" "(" [alias] ")" "," value ")"
//! order   := "id" "(" ")" ["as" "string"] ["asc" | "ascending" | "desc" | "descending"]
//! limit   := skip "," take | take ["offset" skip] | "offset" skip
//! value   := string | "$" parameter | number
//! ```
//!
//! What is RQL beyond that is recognised and refused by name as not supported yet ([`Refused::NeedsIndex`]); what is
//! not RQL is a syntax error with its line and column. The whole language comes with the crate `query`.

mod lexer;
mod parser;

pub(crate) use parser::parse;

/// A query over a collection, its parameters put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CollectionQuery {
    pub(crate) source: Source,
    pub(crate) filter: Filter,
    pub(crate) order: Order,
    pub(crate) includes: Vec<String>,
    pub(crate) skip: u64,
    pub(crate) take: Option<u64>,
    /// The text itself has a `limit` or `offset`.
    pub(crate) is_limited: bool,
}

/// Where documents come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    All,
    Collection(String),
}

impl Source {
    /// What `IndexName` says: `collection/Users` as the query spells it.
    pub(crate) fn index_name(&self) -> String {
        match self {
            Source::All => "collection/@all_docs".to_owned(),
            Source::Collection(name) => format!("collection/{name}"),
        }
    }
}

/// Which of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Filter {
    All,
    /// These, each once, in the order of first mention.
    Ids(Vec<String>),
    IdPrefix(String),
}

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The order in which they were last written.
    Etag,
    IdAscending,
    IdDescending,
}

/// Why a text is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Not RQL. The message begins with line and column.
    Syntax(String),
    /// RQL, but a parameter has no value or one that does not fit.
    Parameter(String),
    /// RQL that needs an index, or another part of the query engine.
    NeedsIndex(String),
    /// `from index`: there are no indexes, so there is none of this name.
    NoSuchIndex(String),
}
