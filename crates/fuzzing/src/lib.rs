//! What is fuzzed: a function for everything that reads bytes from disk or network, and seeds to begin from.
//!
//! `fuzz/` hands these functions to libFuzzer (`make fuzz`); `tests/main/targets.rs` runs them on the committed inputs of
//! `fuzz/corpus/` and on seeded mutations of those and of the seeds, so that each is a regression test as well.
//!
//! A target fails by panicking: where the code under it panics, on this or another thread; where it breaks a rule that
//! the target states (a round trip, agreement with another implementation); and, in [`run`], where it takes more memory
//! than the input is worth ([`memory_max`]). An error that the code returns is a pass.
//! RELIABILITY.md, "What proves it", has the figures.

#![forbid(unsafe_code)]

mod analyzers;
mod certificates;
mod disk;
mod documents_file;
mod edits;
mod images;
mod linq;
mod rows;
mod rql;
mod scripts;
mod settings;
mod shapes;
mod streams;
mod text;
mod wire;
mod words;
mod writes;

use peak_alloc::PeakAlloc;

/// One thing that is fuzzed.
#[derive(Debug)]
pub struct Target {
    /// The name of its binary in `fuzz/` and of its folder in `fuzz/corpus/`.
    pub name: &'static str,
    /// Gives it an input.
    pub run: fn(&[u8]),
    /// Inputs to begin from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "journal", run: disk::journal, seeds: disk::journal_seeds },
    Target { name: "pages", run: disk::pages, seeds: disk::page_seeds },
    Target { name: "images", run: images::images, seeds: images::seeds },
    Target { name: "records", run: images::records, seeds: images::record_seeds },
    Target { name: "documents", run: documents_file::documents, seeds: documents_file::seeds },
    Target { name: "json", run: text::json, seeds: text::json_seeds },
    Target { name: "query", run: text::query, seeds: text::query_seeds },
    Target { name: "rql", run: rql::rql, seeds: rql::seeds },
    Target { name: "linq", run: linq::linq, seeds: linq::seeds },
    Target { name: "vectors", run: text::vectors, seeds: text::vector_seeds },
    Target { name: "ids", run: text::ids, seeds: text::id_seeds },
    Target { name: "dates", run: text::dates, seeds: text::date_seeds },
    Target { name: "framing", run: wire::framing, seeds: wire::http_seeds },
    Target { name: "http", run: wire::http, seeds: wire::http_seeds },
    Target { name: "bulk_insert", run: streams::bulk_insert, seeds: streams::bulk_insert_seeds },
    Target { name: "dump", run: streams::dump, seeds: streams::dump_seeds },
    Target { name: "form", run: streams::form, seeds: streams::form_seeds },
    Target { name: "certificates", run: certificates::certificates, seeds: certificates::seeds },
    Target { name: "settings", run: settings::settings, seeds: settings::seeds },
    Target { name: "analyzers", run: analyzers::analyzers, seeds: analyzers::seeds },
    Target { name: "words", run: words::words, seeds: words::seeds },
    Target { name: "shapes", run: shapes::shapes, seeds: shapes::seeds },
    Target { name: "scripts", run: scripts::scripts, seeds: scripts::seeds },
    Target { name: "rows", run: rows::rows, seeds: rows::seeds },
    Target { name: "writes", run: writes::writes, seeds: writes::seeds },
];

/// Bytes that an input may cost: 64 times its own, and 16 MiB.
pub fn memory_max(input: &[u8]) -> usize {
    64 * input.len() + (16 << 20)
}

/// Runs a target by its name, and holds it to its memory. The binary counts with [`PeakAlloc`] as its allocator; the size of
/// one test at a time, for the count is that of the process.
///
/// # Panics
///
/// Whatever the target does not survive.
pub fn run(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.unwrap_or_else(|| panic!("there is no target {name}"));
    PeakAlloc.reset_peak_usage();
    let before = PeakAlloc.current_usage();
    (target.run)(input);
    let taken = PeakAlloc.peak_usage().saturating_sub(before);
    assert!(taken <= memory_max(input), "{name}: an input of {} bytes took {taken} bytes of memory", input.len());
}
