//! Times of operations that say none.

use std::time::Duration;

/// How long a query may run.
pub const QUERY_TIME: Duration = Duration::from_secs(60);

/// How long an operation waits for indexes.
pub const INDEX_WAIT: Duration = Duration::from_secs(15);

/// The pause between two rounds of maintenance: tombstones that nothing needs are removed, databases at rest are flushed and closed.
pub(crate) const MAINTAIN_EVERY: Duration = Duration::from_secs(60);

/// Changes that a subscription reads at once.
pub(crate) const CHANGES_AT_ONCE: usize = 1024;
