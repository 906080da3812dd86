//! The trees of revisions beside those of each kind of items.

use storage::{FixedTree, Reader, Tree, WriteTransaction};

use crate::{Error, Result};

const BY_VECTOR: &[u8] = b"revisions/by-vector";
const BASES: &[u8] = b"revisions/bases";
const BASE_USERS: &[u8] = b"revisions/base-users";
const BIN: &[u8] = b"revisions/bin";

/// Handles; see the module's comment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RevisionTrees {
    /// Hash of a change vector, 8 bytes big-endian, and etag of its revision, to nothing.
    pub by_vector: Tree,
    /// Number of a base to its location among the records.
    pub bases: FixedTree,
    /// Number of a base to how many revisions need it.
    pub base_users: FixedTree,
    /// Etags of revisions of deletions that are the last of their document.
    pub bin: FixedTree,
}

impl RevisionTrees {
    pub fn find(reader: &impl Reader) -> Result<RevisionTrees> {
        let missing = || Error::Corrupt { rule: "all trees of a document environment exist" };
        Ok(RevisionTrees {
            by_vector: Tree::open(reader, BY_VECTOR)?.ok_or_else(missing)?,
            bases: FixedTree::open(reader, BASES)?.ok_or_else(missing)?,
            base_users: FixedTree::open(reader, BASE_USERS)?.ok_or_else(missing)?,
            bin: FixedTree::open(reader, BIN)?.ok_or_else(missing)?,
        })
    }

    pub fn create(tx: &mut WriteTransaction<'_>) -> Result<RevisionTrees> {
        Ok(RevisionTrees {
            by_vector: Tree::open_or_create(tx, BY_VECTOR)?,
            bases: FixedTree::open_or_create(tx, BASES)?,
            base_users: FixedTree::open_or_create(tx, BASE_USERS)?,
            bin: FixedTree::open_or_create(tx, BIN)?,
        })
    }
}

/// The key of a revision in the tree by vector.
pub(super) fn vector_key(vector: &str, etag: u64) -> [u8; 16] {
    let mut key = [0; 16];
    let (hash, number) = key.split_at_mut(8);
    hash.copy_from_slice(&xxhash_rust::xxh3::xxh3_64(vector.as_bytes()).to_be_bytes());
    number.copy_from_slice(&etag.to_be_bytes());
    key
}
