//! Searching the graph of a field: a hierarchical navigable small world.
//!
//! After Y. Malkov and D. Yashunin, "Efficient and robust approximate nearest neighbor search using hierarchical navigable small world
//! graphs", 2016: algorithms 2 (a level) and 5 (from the top). What differs: links go both ways, so that a node can be taken out
//! where it stands ([`super::writer`]).

use super::vectors::{GraphState, Hash, Node, Vectors, similarity};
use crate::index::dictionary::term::FieldNumber;
use crate::index::error::{Error, Result};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use storage::Reader;

/// Vectors that are gone through between two looks at whether to go on.
const VECTORS_PER_CHECK: u32 = 1024;

/// How many nodes a search keeps on the levels above the one that it looks for. In the paper it is one, which stays in the first cluster
/// that is nearer than those around it.
pub(in crate::index) const WIDTH_ABOVE: usize = 64;

/// A node and how near it is. The greater, the nearer; of equal ones the elder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub similarity: f32,
    pub node: Node,
}

impl Ord for Near {
    fn cmp(&self, other: &Near) -> Ordering {
        self.similarity.total_cmp(&other.similarity).then_with(|| other.node.cmp(&self.node))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Near) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Near {
    fn eq(&self, other: &Near) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Near {}

/// A graph as one transaction sees it.
pub(crate) struct Graph<'r, R> {
    pub vectors: &'r Vectors,
    pub reader: &'r R,
    pub field: FieldNumber,
    pub state: GraphState,
}

impl<'r, R: Reader> Graph<'r, R> {
    /// `None`: the field never had a vector.
    pub fn of(vectors: &'r Vectors, reader: &'r R, field: FieldNumber) -> Result<Option<Graph<'r, R>>> {
        let state = vectors.state(reader, field)?;
        Ok(state.map(|state| Graph { vectors, reader, field, state }))
    }

    pub fn vector(&self, node: Node) -> Result<&'r [u8]> {
        Ok(self.vectors.node(self.reader, self.field, node)?.vector)
    }

    pub fn hash(&self, node: Node) -> Result<Hash> {
        Ok(self.vectors.node(self.reader, self.field, node)?.hash)
    }

    pub fn neighbours(&self, node: Node, level: u8, into: &mut Vec<Node>) -> Result<()> {
        self.vectors.neighbours(self.reader, self.field, node, level, into)
    }

    pub fn near(&self, vector: &[u8], node: Node) -> Result<Near> {
        Ok(Near { similarity: similarity(&self.state, vector, self.vector(node)?), node })
    }

    /// The nearest nodes that a search finds, the nearest first.
    ///
    /// * `count_max`: how many.
    /// * `width`: how many are kept on the way; at least as many.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`]; those of the storage; those of `check_cancel`, which is called now and then. As for all that follows.
    pub fn nearest<E: From<Error>>(
        &self,
        vector: &[u8],
        count_max: usize,
        width: usize,
        check_cancel: &dyn Fn() -> Result<(), E>,
    ) -> Result<Vec<Near>, E> {
        if self.state.count == 0 {
            return Ok(Vec::new());
        }
        let mut from = vec![self.near(vector, self.state.entry)?];
        for level in (1..=self.state.top).rev() {
            from = self.search_level(vector, &from, WIDTH_ABOVE, level, check_cancel)?;
        }
        let mut found = self.search_level(vector, &from, width.max(count_max), 0, check_cancel)?;
        found.truncate(count_max);
        Ok(found)
    }

    /// The nearest of all, whatever the graph says.
    pub fn nearest_of_all<E: From<Error>>(
        &self,
        vector: &[u8],
        count_max: usize,
        check_cancel: &dyn Fn() -> Result<(), E>,
    ) -> Result<Vec<Near>, E> {
        let mut kept: BinaryHeap<Reverse<Near>> = BinaryHeap::new();
        let mut until_check = 0;
        self.vectors.each_node(self.reader, self.field, |node, stored| {
            check_cancel_now(&mut until_check, check_cancel)?;
            let near = Near { similarity: similarity(&self.state, vector, stored.vector), node };
            if kept.len() < count_max {
                kept.push(Reverse(near));
            } else if kept.peek().is_some_and(|Reverse(farthest)| near > *farthest) {
                kept.pop();
                kept.push(Reverse(near));
            }
            Ok::<(), E>(())
        })?;
        Ok(sorted(kept))
    }

    /// Algorithm 2: what is nearest on a level, from some nodes on, the nearest first.
    pub fn search_level<E: From<Error>>(
        &self,
        vector: &[u8],
        from: &[Near],
        width: usize,
        level: u8,
        check_cancel: &dyn Fn() -> Result<(), E>,
    ) -> Result<Vec<Near>, E> {
        let mut seen: VisitedNodes = from.iter().map(|near| near.node).collect();
        let mut candidates: BinaryHeap<Near> = from.iter().copied().collect();
        // The farthest of those that are kept is at the top.
        let mut kept: BinaryHeap<Reverse<Near>> = from.iter().map(|near| Reverse(*near)).collect();
        let mut neighbours = Vec::new();
        let mut until_check = 0;
        while let Some(nearest) = candidates.pop() {
            if kept.len() >= width && kept.peek().is_some_and(|Reverse(farthest)| nearest < *farthest) {
                break;
            }
            self.neighbours(nearest.node, level, &mut neighbours)?;
            for neighbour in &neighbours {
                if !seen.insert(*neighbour) {
                    continue;
                }
                check_cancel_now(&mut until_check, check_cancel)?;
                let near = self.near(vector, *neighbour)?;
                if kept.len() < width || kept.peek().is_none_or(|Reverse(farthest)| near > *farthest) {
                    candidates.push(near);
                    kept.push(Reverse(near));
                    if kept.len() > width {
                        kept.pop();
                    }
                }
            }
        }
        Ok(sorted(kept))
    }
}

fn check_cancel_now<E>(until_check: &mut u32, check_cancel: &dyn Fn() -> Result<(), E>) -> Result<(), E> {
    if *until_check == 0 {
        check_cancel()?;
        *until_check = VECTORS_PER_CHECK;
    }
    *until_check -= 1;
    Ok(())
}

/// The nearest first.
fn sorted(kept: BinaryHeap<Reverse<Near>>) -> Vec<Near> {
    kept.into_sorted_vec().into_iter().map(|Reverse(near)| near).collect()
}

type VisitedNodes = HashSet<Node, BuildHasherDefault<NodeHasher>>;

/// Nodes are small numbers that nobody outside gives: a product spreads them.
#[derive(Default)]
pub(in crate::index) struct NodeHasher(u64);

impl Hasher for NodeHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, node: u64) {
        self.0 = (self.0 ^ node).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}
