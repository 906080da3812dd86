//! Values with a stable location, and tables of them with several keys.

pub(crate) mod records;
pub(crate) mod tables;
