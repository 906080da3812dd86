//! Classes in C#, which users send as whole files: read, never run.
//!
//! A file is parsed by the parser of index definitions ([`crate::mapping`]). What the classes mean is for those to say who look for one:
//! [`crate::analysis`] for custom analyzers, [`crate::sorters`] for custom sorters.

mod file;

pub(crate) use file::{Class, File, has_modifier, type_name};
