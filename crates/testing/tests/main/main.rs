//! Checks of the repository itself: how the tree is laid out, and that `scripts/test` always ends with a total.

mod scripts;
mod tidy;
