//! Finger search: a write transaction remembers its last position in a tree and starts the next search there. Rising keys, and
//! neighbouring keys such as the ids of a bulk insert, are mostly found with two compares and without a descent from the root
//! ( Guibas, McCreight, Plass and Roberts, "A New Representation for Linear Lists", STOC 1977).
//!
//! A key that lies between two entries of a leaf belongs to that leaf, whatever the branches above say; one past its end
//! does if no leaf comes after it. Else the way down decides. So a finger is a hint, and only has to lead to a leaf of the
//! tree: whatever changes which leaves a tree has forgets it.

use super::node;
use crate::ids::PageNumber;
use crate::pager::Page;
use std::cell::Cell;

/// Trees whose places a transaction remembers; those that meet in one place take turns.
const FINGERS: usize = 8;

#[derive(Clone, Copy, Default)]
struct Finger {
    /// Root of the tree and the leaf; 0, which is never a page of a tree: nothing is known.
    root: PageNumber,
    leaf: PageNumber,
    position: usize,
    /// No leaf comes after it.
    is_last: bool,
    /// The last two ways down ended in the same leaf: it is worth a look.
    is_warm: bool,
}

/// The fingers of one transaction.
#[derive(Default)]
pub struct Fingers([Cell<Finger>; FINGERS]);

impl Fingers {
    fn of(&self, root: PageNumber) -> &Cell<Finger> {
        &self.0[root.0 as usize % FINGERS]
    }

    /// The leaf to begin at.
    pub fn leaf(&self, root: PageNumber) -> Option<PageNumber> {
        let finger = self.of(root).get();
        (finger.is_warm && finger.root == root).then_some(finger.leaf)
    }

    /// Where a key is in the leaf of [`Self::leaf`], as [`node::search`] gives it. `None`: it may belong to another.
    pub fn search(&self, root: PageNumber, leaf: &Page, key: &[u8]) -> Option<(usize, bool)> {
        let cell = self.of(root);
        let finger = cell.get();
        let (position, found) = node::search_near(leaf, key, finger.position, finger.is_last)?;
        cell.set(Finger { position, ..finger });
        Some((position, found))
    }

    /// A way down from the root ended at a position of a leaf.
    pub fn note(&self, root: PageNumber, leaf: PageNumber, position: usize, is_last: bool) {
        let cell = self.of(root);
        let before = cell.get();
        let is_warm = before.root == root && before.leaf == leaf;
        cell.set(Finger { root, leaf, position, is_last, is_warm });
    }

    /// The leaves of a tree are about to change.
    pub fn forget(&self, root: PageNumber) {
        let cell = self.of(root);
        if cell.get().root == root {
            cell.take();
        }
    }

    /// Leaves of any tree are about to change.
    pub fn forget_all(&self) {
        for cell in &self.0 {
            cell.take();
        }
    }
}
