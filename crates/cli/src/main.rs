//! The binary `rookery`: sets the allocator and runs the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

// mimalloc keeps freed memory in lists of each thread, so that the next request allocates without a lock.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    rookery_cli::run()
}
