//! The indexes of a database: found or made for a query, kept up to date by a pool of threads, removed when others replace them.

mod advice;
mod compacting;
mod control;
mod empty;
mod known_fields;
mod open;
mod output_rules;
mod outputs;
mod pool;
mod registry;
mod retirement;
mod scheduler;
mod speed;
mod state;
mod stored;
mod turns;
mod usage;
mod waiters;
pub(crate) mod wire;

pub use advice::{Action, Advice, Problem};
pub(crate) use compacting::IndexCompaction;
pub use open::{Index, NO_ANALYZER};
pub(crate) use pool::IndexingPool;
pub use registry::{Explanation, Indexes};
pub use state::{IndexStatistics, IndexingBatch, IndexingStatus};
pub use stored::FormerDefinition;
