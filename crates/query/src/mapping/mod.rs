//! Maps and reduces: what users write to say what is indexed of a document.
//!
//! ```text
//! C# ─► linq ─► Program (expression) ─► evaluate ─► values ─► whoever makes entries of them
//!                                          ▲
//!                              documents, as stored text; Host for others
//! ```
//!
//! A definition is compiled once: names, functions and types are resolved, and what is not supported is refused with its place.
//! It is run for each document over the stored text, of which nothing is read that is not asked for. The tree knows
//! nothing of C#; another language is another front end. `docs/design/mapping.md` has the reasons.

mod convert;
mod date;
mod date_format;
mod display;
mod error;
mod evaluate;
mod expression;
mod function;
mod host;
mod identity;
mod javascript;
pub mod limits;
mod linq;
mod map;
mod number_format;
mod operator;
mod part;
mod partial;
mod property;
mod reduce;
mod source;
mod special;
mod value;

pub(crate) use date::rewritten;
pub use date::{DateKind, DateTime, TimeSpan};
pub use error::{CompileError, MapError};
pub(crate) use evaluate::text_of;
pub(crate) use expression::Constant;
pub use host::{Attachment, DocumentView, Following, Host, NoHost};
pub(crate) use linq::{Parsed, Syntax, constant};
pub use map::{Emit, Map, Output, ScriptRefused};
pub(crate) use part::{part_named, part_of};
pub(crate) use property::Property;
pub use reduce::{Reduce, ReduceKey};
pub use source::Source;
pub use special::{Boosted, DynamicField, FieldOptions, Spatial};
pub use value::{Group, Names, Object, Value};
