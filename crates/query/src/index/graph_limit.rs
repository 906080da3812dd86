//! Taking links off nodes that have too many, so that whoever was reached still is.
//!
//! A link goes only where there is a way round it: by a neighbour that both its nodes have. Where no link has one, a link is handed on to a
//! neighbour instead: from `a - c` and `a - b` to `a - c - b`. So each level of a graph stays in one piece, whatever comes and goes.
//!
//! Of links with ways round, the farthest goes first, if another neighbour is nearer to its end (algorithm 4 of Malkov and Yashunin,
//! [`super::graph`]), and if it has enough ways round: a link from a cluster to another one has few, those within a cluster many. Were the
//! farthest ones taken whatever their ways round, those between clusters would be the first to go.

use super::error::Result;
use super::graph::Near;
use super::graph_writer::GraphWriter;
use super::vectors::{GraphState, Node, similarity};

/// Ways round a link from which on it is one of many.
const DETOURS_MANY: usize = 8;

/// Links that are handed on for one that comes. What has too many then keeps them until the next one comes.
const LINKS_MOVED_MAX: usize = 16;

/// Links that each node may have: with fewer, no graph is in one piece.
const LINKS_MIN: usize = 4;

/// A neighbour of a node, as one that it might do without.
struct Neighbour<'r> {
    near: Near,
    vector: &'r [u8],
    /// Neighbours that both have.
    detours: usize,
}

/// What a node can best do without.
struct Dispensable {
    neighbour: Node,
    /// Who is linked to that one from now on. `None`: there is a way round.
    heir: Option<Node>,
}

impl GraphWriter<'_, '_, '_> {
    /// Takes links off a node that has too many: on the lowest level more than twice as many as a node gets.
    ///
    /// # Errors
    ///
    /// [`super::Error::Corrupt`]; those of the storage.
    pub(super) fn limit(&mut self, state: &GraphState, node: Node, level: u8) -> Result<()> {
        let count_max = LINKS_MIN.max(usize::from(state.edges) * if level == 0 { 2 } else { 1 });
        let mut moves_left = LINKS_MOVED_MAX;
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            loop {
                let neighbours = self.neighbours(node, level)?;
                if neighbours.len() <= count_max {
                    break;
                }
                let Some(Dispensable { neighbour, heir }) = self.dispensable(state, node, &neighbours, level)? else {
                    break;
                };
                if let Some(heir) = heir {
                    if moves_left == 0 {
                        return Ok(());
                    }
                    moves_left -= 1;
                    self.link(heir, neighbour, level)?;
                    waiting.push(heir);
                }
                self.unlink(node, neighbour, level)?;
            }
        }
        Ok(())
    }

    /// `None`: it has at most one.
    fn dispensable(
        &self,
        state: &GraphState,
        node: Node,
        neighbours: &[Node],
        level: u8,
    ) -> Result<Option<Dispensable>> {
        let graph = self.graph(*state);
        let vector = graph.vector(node)?;
        let mut sorted = Vec::with_capacity(neighbours.len());
        let mut others = Vec::new();
        for neighbour in neighbours {
            let other = graph.vector(*neighbour)?;
            graph.neighbours(*neighbour, level, &mut others)?;
            let near = Near { similarity: similarity(state, vector, other), node: *neighbour };
            sorted.push(Neighbour { near, vector: other, detours: in_common(neighbours, &others) });
        }
        // The farthest first.
        sorted.sort_unstable_by_key(|neighbour| neighbour.near);
        let is_covered = |place: usize, one: &Neighbour<'_>| {
            let mut nearer = sorted.iter().skip(place + 1);
            nearer.any(|other| similarity(state, one.vector, other.vector) > one.near.similarity)
        };
        let farthest = |detours_min: usize| {
            let with_detours = sorted.iter().enumerate().filter(|(_, one)| one.detours >= detours_min);
            with_detours.into_iter().find(|(place, one)| is_covered(*place, one)).map(|(_, one)| one)
        };
        let most = || sorted.iter().filter(|one| one.detours > 0).max_by_key(|one| one.detours);
        if let Some(one) = farthest(DETOURS_MANY).or_else(|| farthest(1)).or_else(most) {
            return Ok(Some(Dispensable { neighbour: one.near.node, heir: None }));
        }
        let Some((last, nearer)) = sorted.split_first() else { return Ok(None) };
        let to_last = |other: &Neighbour<'_>| Near {
            similarity: similarity(state, last.vector, other.vector),
            node: other.near.node,
        };
        let heir = nearer.iter().map(to_last).max().map(|near| near.node);
        Ok(heir.map(|heir| Dispensable { neighbour: last.near.node, heir: Some(heir) }))
    }
}

/// How many numbers two rising lists have in common.
fn in_common(one: &[Node], other: &[Node]) -> usize {
    let (mut other, mut count) = (other.iter().peekable(), 0);
    for node in one {
        while other.next_if(|next| *next < node).is_some() {}
        count += usize::from(other.next_if_eq(&node).is_some());
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_common_are_counted() {
        assert_eq!(in_common(&[1, 3, 5, 9], &[2, 3, 4, 9, 10]), 2);
        assert_eq!(in_common(&[], &[1]), 0);
        assert_eq!(in_common(&[7], &[7]), 1);
    }
}
