//! What is fuzzed, on committed inputs and mutations of them, and what fuzzing found.

mod found;
mod targets;

/// Counts what an input takes.
#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;
