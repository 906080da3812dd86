//! Pruning links of HNSW nodes that have too many, so that every reachable node stays reachable.
//!
//! A link goes only where there is a way round it: by a neighbour that both its nodes have. Where no link has one, a link is handed on to a
//! neighbour instead: from `a - c` and `a - b` to `a - c - b`. So each level of a graph stays in one piece, whatever comes and goes.
//!
//! Of links with ways round, the farthest goes first, if another neighbour is nearer to its end (algorithm 4 of Malkov and Yashunin,
//! [`super::search`]), and if it has enough ways round: a link from a cluster to another one has few, those within a cluster many. Were the
//! farthest ones taken whatever their ways round, those between clusters would be the first to go.

use super::search::{Graph, Near};
use super::vectors::{GraphState, Node, similarity};
use super::writer::GraphWriter;
use crate::index::error::Result;
use storage::Reader;

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
    /// Neighbours that both have: ways round the link.
    detours: usize,
}

/// The neighbours of a node, until enough are found that it can do without.
struct Neighbourhood<'r> {
    state: GraphState,
    /// The farthest first.
    neighbours: Vec<Neighbour<'r>>,
    /// Which of those that there were at first are linked to each other: pairs of nodes, rising.
    links: Vec<(Node, Node)>,
}

/// What a node can best do without.
struct Dispensable {
    neighbour: Node,
    /// Who is linked to that one from now on. `None`: there is a way round.
    heir: Option<Node>,
}

impl GraphWriter<'_, '_, '_> {
    /// Takes links off a node that has too many: on the lowest level more than twice as many as a node gets. An eighth goes at once, so
    /// that not each link that comes has to be weighed against all others.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Corrupt`]; those of the storage.
    pub(in crate::index) fn limit(&mut self, state: &GraphState, node: Node, level: u8) -> Result<()> {
        let count_max = LINKS_MIN.max(usize::from(state.edges) * if level == 0 { 2 } else { 1 });
        let mut moves_left = LINKS_MOVED_MAX;
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            let nodes = self.neighbours(node, level)?;
            if nodes.len() <= count_max {
                continue;
            }
            let mut neighbourhood = Neighbourhood::of(&self.graph(*state), node, &nodes, level)?;
            let mut dispensables = Vec::new();
            while neighbourhood.neighbours.len() > count_max - count_max / 8 {
                let may_move = moves_left > 0 && neighbourhood.neighbours.len() > count_max;
                let Some(dispensable) = neighbourhood.take_dispensable(may_move) else { break };
                moves_left -= usize::from(dispensable.heir.is_some());
                dispensables.push(dispensable);
            }
            for Dispensable { neighbour, heir } in dispensables {
                if let Some(heir) = heir {
                    self.link(heir, neighbour, level)?;
                    waiting.push(heir);
                }
                self.unlink(node, neighbour, level)?;
            }
        }
        Ok(())
    }
}

impl<'r> Neighbourhood<'r> {
    /// * `nodes`: the neighbours of `node`, rising.
    fn of(graph: &Graph<'r, impl Reader>, node: Node, nodes: &[Node], level: u8) -> Result<Neighbourhood<'r>> {
        let vector = graph.vector(node)?;
        let mut neighbours = Vec::with_capacity(nodes.len());
        let (mut links, mut others) = (Vec::new(), Vec::new());
        for node in nodes {
            let other = graph.vector(*node)?;
            graph.neighbours(*node, level, &mut others)?;
            let before = links.len();
            links.extend(in_common(nodes, &others).map(|other| (*node, other)));
            let near = Near { similarity: similarity(&graph.state, vector, other), node: *node };
            neighbours.push(Neighbour { near, vector: other, detours: links.len() - before });
        }
        neighbours.sort_unstable_by_key(|neighbour| neighbour.near);
        Ok(Neighbourhood { state: graph.state, neighbours, links })
    }

    /// Takes out what the node can best do without. `None`: it has at most one, or nothing has a way round.
    ///
    /// * `may_move`: a link without a way round may be handed on.
    fn take_dispensable(&mut self, may_move: bool) -> Option<Dispensable> {
        let sorted = &self.neighbours;
        let is_covered = |place: usize, one: &Neighbour<'_>| {
            let mut nearer = sorted.iter().skip(place + 1);
            nearer.any(|other| self.similarity(one, other) > one.near.similarity)
        };
        let farthest = |detours_min: usize| {
            let mut with_detours = sorted.iter().enumerate().filter(|(_, one)| one.detours >= detours_min);
            with_detours.find(|(place, one)| is_covered(*place, one)).map(|(place, _)| place)
        };
        let most = || {
            let with_detours = sorted.iter().enumerate().filter(|(_, one)| one.detours > 0);
            with_detours.max_by_key(|(_, one)| one.detours).map(|(place, _)| place)
        };
        if let Some(place) = farthest(DETOURS_MANY).or_else(|| farthest(1)).or_else(most) {
            return Some(Dispensable { neighbour: self.take(place), heir: None });
        }
        let (last, nearer) = sorted.split_first().filter(|_| may_move)?;
        let to_last = |other: &Neighbour<'_>| Near { similarity: self.similarity(last, other), node: other.near.node };
        let heir = nearer.iter().map(to_last).max()?.node;
        // They are linked from now on, but that is of no more use to this node.
        Some(Dispensable { neighbour: self.take(0), heir: Some(heir) })
    }

    fn similarity(&self, one: &Neighbour<'_>, other: &Neighbour<'_>) -> f32 {
        similarity(&self.state, one.vector, other.vector)
    }

    /// Takes a neighbour out, and gives its node: it is a way round for nobody any more.
    fn take(&mut self, place: usize) -> Node {
        let node = self.neighbours.remove(place).near.node;
        for neighbour in &mut self.neighbours {
            let is_linked = self.links.binary_search(&(neighbour.near.node, node)).is_ok();
            neighbour.detours -= usize::from(is_linked);
        }
        node
    }
}

/// The numbers that two rising lists have in common, rising.
fn in_common(one: &[Node], other: &[Node]) -> impl Iterator<Item = Node> {
    let mut other = other.iter().peekable();
    one.iter().copied().filter(move |node| {
        while other.next_if(|next| *next < node).is_some() {}
        other.next_if_eq(&node).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_common_rises() {
        let in_common = |one: &[Node], other: &[Node]| super::in_common(one, other).collect::<Vec<_>>();
        assert_eq!(in_common(&[1, 3, 5, 9], &[2, 3, 4, 9, 10]), [3, 9]);
        assert!(in_common(&[], &[1]).is_empty());
        assert_eq!(in_common(&[7], &[7]), [7]);
    }
}
