//! RQL, the language of queries: from text to a syntax tree or an error with its place, and back.
//!
//! ```text
//! text ─► lexer ─► parser ─► Query ─► planner (`plan`)
//!                              └────► Display: the query in one form
//! ```
//!
//! [`parse`] knows the grammar and nothing else: calls are parsed by shape and looked up later, JavaScript and the bodies
//! of time series functions are kept as text, parameters stay parameters. `docs/rql.md` describes the language; each
//! file of `parser/` has the grammar of its clause. The lexer, the strings and the printer agree on one thing that tests
//! hold them to: what a tree prints is parsed to an equal tree.

mod ast;
mod error;
mod expression;
mod hint;
mod lexer;
pub(crate) mod nearest;
mod parser;
mod print;
mod script;
mod span;
mod text;
mod words;

pub use ast::{
    Column, ColumnValue, From, Function, GroupKey, Language, Limit, Load, Nulls, OrderKey, Ordering, Output,
    Projection, Query, Script, Select, Source,
};
pub use error::{ActualToken, Error, Reason};
pub use expression::{Between, Call, Comparison, Expression, In, Name, Operator, Path, Segment, Value, ValueKind};
pub use parser::parse;
pub use span::Span;
