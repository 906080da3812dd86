//! The clauses of a query other than `where`, and what each is planned as.

pub(super) mod columns;
pub(super) mod filter;
pub(super) mod grouping;
pub(super) mod include;
pub(super) mod page;
pub(super) mod projection;
pub(super) mod script;
