//! What is fuzzed, on committed inputs and mutations of them, and what fuzzing found.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod found;
mod targets;

/// Counts what an input takes.
#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;
