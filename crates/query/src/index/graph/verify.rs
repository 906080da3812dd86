//! Checks the graphs of vectors: each vector has entries and one node, links go both ways between nodes of their
//! level, each level is in one piece, and all counts are right.

use super::search::Graph;
use super::vectors::{Node, Vectors};
use crate::index::dictionary::key::ListKind;
use crate::index::dictionary::term::{FieldNumber, Kind};
use crate::index::error::Result;
use crate::index::snapshot::IndexSnapshot;
use std::collections::{HashMap, HashSet};
use storage::Reader;

impl IndexSnapshot<'_> {
    /// Checks all graphs; `problem` is called with each rule that does not hold.
    pub(crate) fn verify_vectors(&self, problem: &mut dyn FnMut(String)) -> Result<()> {
        let Some(vectors) = &self.schema().vectors else { return Ok(()) };
        let (mut nodes, mut lists) = (0, 0);
        for (field, _) in vectors.states(self.tx())? {
            let (of_field, of_links) = self.verify_graph(vectors, field, problem)?;
            nodes += of_field;
            lists += of_links;
        }
        let (hashes, links) = vectors.counts(self.tx())?;
        if (hashes, links) != (nodes, lists) {
            problem(format!(
                "{nodes} vectors with {lists} lists of links, but {hashes} hashes and {links} lists are kept"
            ));
        }
        Ok(())
    }

    /// Whether the vector of a hash has a node.
    pub(crate) fn has_vector(&self, field: FieldNumber, hash: &[u8]) -> Result<bool> {
        match (&self.schema().vectors, hash.try_into()) {
            (Some(vectors), Ok(hash)) => Ok(vectors.node_of(self.tx(), field, hash)?.is_some()),
            _ => Ok(false),
        }
    }

    /// How many nodes and lists of links a field has.
    fn verify_graph(
        &self,
        vectors: &Vectors,
        field: FieldNumber,
        problem: &mut dyn FnMut(String),
    ) -> Result<(u64, u64)> {
        let Some(graph) = Graph::of(vectors, self.tx(), field)? else { return Ok((0, 0)) };
        let state = graph.state;
        let mut levels: HashMap<Node, u8> = HashMap::new();
        vectors.each_node(self.tx(), field, |node, stored| {
            levels.insert(node, stored.level);
            if vectors.node_of(self.tx(), field, &stored.hash)? != Some(node) {
                problem(format!("the hash of the vector {node} of {field:?} names another one"));
            }
            if self.list(field, ListKind::Term(Kind::Vector), &stored.hash)?.count() == 0 {
                problem(format!("no entry has the vector {node} of {field:?}"));
            }
            if node >= state.next {
                problem(format!("the vector {node} of {field:?} has a number that was not given out"));
            }
            Ok::<(), crate::index::Error>(())
        })?;
        if levels.len() as u64 != state.count {
            problem(format!("{} vectors of {field:?}, {} counted", levels.len(), state.count));
        }
        if state.count > 0 && levels.get(&state.entry).is_none_or(|level| *level < state.top) {
            problem(format!(
                "searches of {field:?} begin at {} on level {}, which is not there",
                state.entry, state.top
            ));
        }
        let mut lists = 0;
        let (mut neighbours, mut back) = (Vec::new(), Vec::new());
        for (node, level) in &levels {
            for level in 0..=*level {
                graph.neighbours(*node, level, &mut neighbours)?;
                lists += u64::from(!neighbours.is_empty());
                for neighbour in &neighbours {
                    graph.neighbours(*neighbour, level, &mut back)?;
                    let is_there = levels.get(neighbour).is_some_and(|other| *other >= level);
                    if !is_there || neighbour == node || back.binary_search(node).is_err() {
                        problem(format!("the link from {node} to {neighbour} of {field:?} on level {level} is none"));
                    }
                }
            }
        }
        for level in 0..=if state.count > 0 { state.top } else { 0 } {
            let count = levels.values().filter(|other| **other >= level).count();
            let reached = if state.count > 0 { reached(&graph, level)? } else { 0 };
            if reached != count {
                problem(format!("of {count} vectors of {field:?} on level {level}, {reached} are reached"));
            }
        }
        Ok((levels.len() as u64, lists))
    }
}

/// How many nodes links lead to on a level, from where searches begin.
fn reached(graph: &Graph<'_, impl Reader>, level: u8) -> Result<usize> {
    let mut seen = HashSet::from([graph.state.entry]);
    let (mut waiting, mut neighbours) = (vec![graph.state.entry], Vec::new());
    while let Some(node) = waiting.pop() {
        graph.neighbours(node, level, &mut neighbours)?;
        waiting.extend(neighbours.iter().filter(|neighbour| seen.insert(**neighbour)));
    }
    Ok(seen.len())
}
