//! Keeping an index behind its documents: what came since it looked last becomes entries, one batch at a time.
//!
//! [`Indexer::step`] is one batch. There are no threads and no clock here: who calls decides when, and how much at once.

pub(crate) mod automatic;
mod automatic_groups;
mod control;
mod decimal_sum;
pub(crate) mod extract;
mod field_failures;
mod group_paths;
mod group_trees;
mod grouped;
mod indexer;
mod limits;
mod loaded_ids;
mod map_runner;
mod mapped;
mod mapped_groups;
mod measuring;
mod places;
mod progress;
mod reduce_tree;
mod reference_rounds;
mod results_reservation;
mod sample;
mod step;
pub(crate) mod terms;
mod vectors;

pub use control::BatchControl;
pub use group_trees::{GroupTree, GroupTrees, Parts, TreeNode, TreeValue, group_trees};
pub use indexer::Indexer;
pub use limits::{BATCH_BYTES, BATCH_DOCUMENTS, LEAF_BYTES, SHOWN_DOCUMENTS_MAX, SHOWN_GROUPS_MAX};
pub use progress::{has_failed, is_behind, progress_of, state_hash};
pub use sample::map_results;
pub use step::{BatchResult, Failure, Moment};
