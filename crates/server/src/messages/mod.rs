//! Requests and answers as HTTP has them: query strings, bodies, compression, and the forms of single values.

pub(crate) mod answers;
pub(crate) mod body;
pub(crate) mod compression;
pub(crate) mod date;
pub(crate) mod decoding;
pub(crate) mod form;
pub(crate) mod query_string;
pub(crate) mod reply;
