//! File descriptors: each connection takes one, and each database some for its files.
//!
//! Systems start programs with a soft limit of 1,024 for the sake of old ones, which would run out long before
//! `Limits.Connections` does. We may raise it as far as the hard limit.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What is kept for files: those of some hundred databases.
const FILE_COUNT: u64 = 1024;

/// Raises the limit, and says so if it is too low for as many connections all the same.
pub(crate) fn raise(connection_count: usize) -> Option<String> {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: before.maximum, ..before };
    let limit = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => raised.current,
        Err(_) => before.current,
    };
    let needed = connection_count as u64 + FILE_COUNT;
    let limit = limit.filter(|limit| *limit < needed)?;
    Some(format!(
        "the system allows {limit} open files, but Limits.Connections = {connection_count} and the files of databases \
         need {needed}: raise the hard limit (ulimit -Hn), or lower Limits.Connections"
    ))
}
