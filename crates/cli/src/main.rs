//! The `rookery` program.
fn main() {}
