//! File descriptors: each connection takes one, and each database some for its files.

use rustix::process::{Resource, getrlimit};

/// What is kept for files: those of some hundred databases.
const FILE_COUNT: u64 = 1024;

/// What to tell if the system allows fewer open files than so many connections and the databases need.
pub(crate) fn shortage(connection_count: usize) -> Option<String> {
    let needed = connection_count as u64 + FILE_COUNT;
    let limit = getrlimit(Resource::Nofile).maximum.filter(|limit| *limit < needed)?;
    Some(format!(
        "the system allows {limit} open files, but Limits.Connections = {connection_count} and the files of databases \
         need {needed}: raise the hard limit (ulimit -Hn), or lower Limits.Connections"
    ))
}
