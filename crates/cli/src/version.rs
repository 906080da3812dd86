//! What `--version` says: version, commit and its date, and the version of RavenDB's protocol that the server speaks.

use std::sync::LazyLock;

/// The commit that the program was built from, where the build knows it (`build.rs`).
pub(crate) const COMMIT: Option<&str> = option_env!("ROOKERY_COMMIT");

/// The day of that commit: two builds of one commit say the same.
const COMMIT_DATE: Option<&str> = option_env!("ROOKERY_COMMIT_DATE");

static TEXT: LazyLock<String> = LazyLock::new(|| {
    let commit = match (COMMIT, COMMIT_DATE) {
        (Some(commit), Some(date)) => format!("commit {commit} of {date}"),
        (Some(commit), None) => format!("commit {commit}"),
        _ => "commit unknown".to_owned(),
    };
    format!("{} ({commit}, RavenDB protocol {})", env!("CARGO_PKG_VERSION"), server::PROTOCOL_VERSION)
});

/// `0.1.0 (commit 1a2b3c4d5e of 2026-11-24, RavenDB protocol 7.1.5.71028)`
pub(crate) fn text() -> &'static str {
    &TEXT
}
