//! Putting vectors into the graph of a field, and taking them out.
//!
//! Putting in is algorithm 1 of Malkov and Yashunin ([`super::search`]), with the heuristic of their algorithm 4. A node that would have
//! too many links loses one both ways ([`super::pruning`]). A node that goes leaves its neighbours linked by a tree of the nearest
//! pairs among them (Prim 1957). So each level of a graph stays in one piece: whoever was reached still is.

use super::search::{Graph, Near, WIDTH_ABOVE};
use super::vectors::{GraphState, Hash, Node, StoredNode, Vectors, level_of, similarity};
use crate::index::dictionary::term::FieldNumber;
use crate::index::error::{Error, Result, corrupt};
use crate::vector::VectorOptions;
use storage::WriteTransaction;

/// A vector that comes.
pub(crate) struct NewVector<'v> {
    pub hash: Hash,
    pub stored: &'v [u8],
    pub dimensions: u32,
    pub options: VectorOptions,
}

/// Changes the graph of one field.
pub(crate) struct GraphWriter<'w, 'tx, 'env> {
    vectors: &'w Vectors,
    tx: &'tx mut WriteTransaction<'env>,
    field: FieldNumber,
}

/// Nobody interrupts a batch.
fn go_on() -> Result<(), Error> {
    Ok(())
}

impl<'w, 'tx, 'env> GraphWriter<'w, 'tx, 'env> {
    pub fn new(vectors: &'w Vectors, tx: &'tx mut WriteTransaction<'env>, field: FieldNumber) -> Self {
        GraphWriter { vectors, tx, field }
    }

    pub(in crate::index) fn graph(&self, state: GraphState) -> Graph<'_, WriteTransaction<'env>> {
        Graph { vectors: self.vectors, reader: &*self.tx, field: self.field, state }
    }

    /// Puts a vector in that is not there.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`]; those of the storage. As for all that follows.
    pub fn insert(&mut self, new: &NewVector<'_>) -> Result<()> {
        let embedding = new.options.destination;
        let edges = u16::try_from(new.options.edge_count()).unwrap_or(u16::MAX);
        let first = GraphState { embedding, dimensions: new.dimensions, top: 0, edges, entry: 0, next: 1, count: 0 };
        let mut state = self.vectors.state(self.tx, self.field)?.unwrap_or(first);
        if (state.embedding, state.dimensions) != (embedding, new.dimensions) {
            return Err(corrupt("the vectors of a field are of one kind and size"));
        }
        let node = state.next;
        let level = level_of(self.field, node, usize::from(state.edges));
        let stored = StoredNode { hash: new.hash, level, vector: new.stored };
        self.vectors.insert_node(self.tx, self.field, node, &stored)?;
        if state.count > 0 {
            self.link_in(&state, node, level, new)?;
        }
        if state.count == 0 || level > state.top {
            (state.entry, state.top) = (node, level);
        }
        state.next += 1;
        state.count += 1;
        self.vectors.set_state(self.tx, self.field, &state)
    }

    fn link_in(&mut self, state: &GraphState, node: Node, level: u8, new: &NewVector<'_>) -> Result<()> {
        let edges = usize::from(state.edges);
        let width = new.options.candidate_count().max(edges);
        let mut from = vec![self.graph(*state).near(new.stored, state.entry)?];
        for above in (level + 1..=state.top).rev() {
            from = self.graph(*state).search_level(new.stored, &from, WIDTH_ABOVE, above, &go_on)?;
        }
        for level in (0..=level.min(state.top)).rev() {
            from = self.graph(*state).search_level(new.stored, &from, width, level, &go_on)?;
            let chosen = self.chosen(state, &from, edges)?;
            self.link_all(node, &chosen, level)?;
            for neighbour in chosen {
                self.limit(state, neighbour, level)?;
            }
        }
        Ok(())
    }

    /// Algorithm 4: of candidates, the nearest first, those that are nearer to the new one than to any that was chosen before; then, up to
    /// the bound, the nearest others.
    fn chosen(&self, state: &GraphState, candidates: &[Near], count_max: usize) -> Result<Vec<Node>> {
        let graph = self.graph(*state);
        let mut chosen: Vec<(Node, &[u8])> = Vec::with_capacity(count_max);
        let mut others = Vec::new();
        for candidate in candidates {
            if chosen.len() >= count_max {
                break;
            }
            let vector = graph.vector(candidate.node)?;
            let is_covered = |(_, other): &(Node, &[u8])| similarity(state, vector, other) > candidate.similarity;
            match chosen.iter().any(is_covered) {
                true => others.push(candidate.node),
                false => chosen.push((candidate.node, vector)),
            }
        }
        let mut nodes: Vec<Node> = chosen.into_iter().map(|(node, _)| node).collect();
        nodes.extend(others.into_iter().take(count_max - nodes.len()));
        Ok(nodes)
    }

    pub(in crate::index) fn neighbours(&self, node: Node, level: u8) -> Result<Vec<Node>> {
        let mut neighbours = Vec::new();
        self.vectors.neighbours(self.tx, self.field, node, level, &mut neighbours)?;
        Ok(neighbours)
    }

    /// Links a node that has no links on this level yet.
    fn link_all(&mut self, node: Node, others: &[Node], level: u8) -> Result<()> {
        for other in others {
            let mut neighbours = self.neighbours(*other, level)?;
            if let Err(place) = neighbours.binary_search(&node) {
                neighbours.insert(place, node);
                self.vectors.set_neighbours(self.tx, self.field, *other, level, &neighbours)?;
            }
        }
        let mut rising = others.to_vec();
        rising.sort_unstable();
        self.vectors.set_neighbours(self.tx, self.field, node, level, &rising)
    }

    pub(in crate::index) fn link(&mut self, one: Node, other: Node, level: u8) -> Result<()> {
        for (from, to) in [(one, other), (other, one)] {
            let mut neighbours = self.neighbours(from, level)?;
            if let Err(place) = neighbours.binary_search(&to) {
                neighbours.insert(place, to);
                self.vectors.set_neighbours(self.tx, self.field, from, level, &neighbours)?;
            }
        }
        Ok(())
    }

    pub(in crate::index) fn unlink(&mut self, one: Node, other: Node, level: u8) -> Result<()> {
        for (from, to) in [(one, other), (other, one)] {
            let mut neighbours = self.neighbours(from, level)?;
            if let Ok(place) = neighbours.binary_search(&to) {
                neighbours.remove(place);
                self.vectors.set_neighbours(self.tx, self.field, from, level, &neighbours)?;
            }
        }
        Ok(())
    }

    /// Takes a vector out. One that is not there is passed over.
    pub fn remove(&mut self, hash: &Hash) -> Result<()> {
        let Some(node) = self.vectors.node_of(self.tx, self.field, hash)? else { return Ok(()) };
        let state = self.vectors.state(self.tx, self.field)?;
        let mut state = state.ok_or_else(|| corrupt("a field with nodes has a graph"))?;
        let level = self.vectors.node(self.tx, self.field, node)?.level;
        // Where searches begin from now on, if they began there.
        let mut heir = None;
        for level in (0..=level).rev() {
            let neighbours = self.neighbours(node, level)?;
            if let (None, Some(first)) = (heir, neighbours.first()) {
                heir = Some((*first, level));
            }
            for neighbour in &neighbours {
                self.unlink(node, *neighbour, level)?;
            }
            self.join(&state, &neighbours, level)?;
            for neighbour in &neighbours {
                self.limit(&state, *neighbour, level)?;
            }
        }
        self.vectors.delete_node(self.tx, self.field, node, hash)?;
        state.count = state.count.checked_sub(1).ok_or_else(|| corrupt("a graph counts its nodes"))?;
        if state.entry == node {
            (state.entry, state.top) = match heir {
                Some(heir) => heir,
                // Nobody was linked to it: any other will do.
                None => match self.vectors.first(self.tx, self.field)? {
                    Some(first) => (first, self.vectors.node(self.tx, self.field, first)?.level),
                    None => (0, 0),
                },
            };
        }
        self.vectors.set_state(self.tx, self.field, &state)
    }

    /// Links nodes by a tree of the nearest pairs among them.
    fn join(&mut self, state: &GraphState, nodes: &[Node], level: u8) -> Result<()> {
        for (one, other) in self.nearest_pairs(state, nodes)? {
            self.link(one, other, level)?;
        }
        Ok(())
    }

    fn nearest_pairs(&self, state: &GraphState, nodes: &[Node]) -> Result<Vec<(Node, Node)>> {
        let graph = self.graph(*state);
        let [first, rest @ ..] = nodes else { return Ok(Vec::new()) };
        let mut newest = (*first, graph.vector(*first)?);
        // Those outside of the tree, with the nearest one inside.
        let mut outside = Vec::with_capacity(rest.len());
        for node in rest {
            outside.push((Near { similarity: f32::NEG_INFINITY, node: 0 }, *node, graph.vector(*node)?));
        }
        let mut pairs = Vec::with_capacity(outside.len());
        while !outside.is_empty() {
            for (nearest, _, vector) in &mut outside {
                let near = Near { similarity: similarity(state, newest.1, vector), node: newest.0 };
                if near.similarity > nearest.similarity || nearest.node == 0 {
                    *nearest = near;
                }
            }
            let best = outside.iter().enumerate().max_by(|(_, a), (_, b)| a.0.similarity.total_cmp(&b.0.similarity));
            let Some(place) = best.map(|(place, _)| place) else { break };
            let (near, node, vector) = outside.swap_remove(place);
            pairs.push((near.node, node));
            newest = (node, vector);
        }
        Ok(pairs)
    }
}
