//! The public interface, as a program uses it that knows nothing of the crates below.

mod documents;
mod queries;
mod stores;
