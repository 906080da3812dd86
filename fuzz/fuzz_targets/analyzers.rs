//! See `crates/fuzzing`: the target `analyzers`.
#![no_main]

#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzing::run("analyzers", input));
