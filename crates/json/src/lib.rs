//! JSON as text: checked once when it comes in, then read and copied by slices.
//!
//! Nothing here builds a tree unless asked to. A body is checked and stripped of white space in one pass by
//! [`Minifier`], kept as text, read by field through [`Raw`], and answered through [`Writer`]. [`ElementScanner`] cuts
//! the elements out of an array that arrives in pieces. [`Patch`] changes text by paths. [`Value`] is the tree, for records and settings.
//!
//! Decisions, with their reasons:
//!
//! * Numbers keep the text they came with, `-0` included (the reference answers `0` for it): a database has no
//!   business changing what it was given.
//! * A property that occurs twice in one object is refused, since keeping either loses data in silence. No published
//!   client is known to send one.
//! * A string is stored with only those escapes that JSON demands, so equal strings have equal bytes.
//!
//! A part of the database Rookery. Programs use it through the crate `rookerydb`, which is the public face; this crate carries no promise
//! of stability.
#![forbid(unsafe_code)]

mod error;
mod escape;
mod limits;
mod minify;
mod number;
mod patch;
mod path;
mod property_set;
mod raw;
mod scanner;
mod value;
mod writer;

pub use error::{Error, Reason};
pub use escape::{Text, escape_into};
pub use limits::{DEPTH_MAX, INPUT_SIZE_MAX, PATCH_OPERATIONS_MAX, PATCH_WORK_MAX, PROPERTY_NAME_SIZE_MAX};
pub use minify::Minifier;
pub use patch::{Patch, PatchError};
pub use path::{Path, PathMatch};
pub use raw::{Elements, Kind, Members, Properties, Raw};
pub use scanner::{Element, ElementScanner, ValueScanner};
pub use value::Value;
pub use writer::Writer;
