//! Vectors of fields, each once however many entries have it, and the graph over those of a field.
//!
//! ```text
//!  vectors/nodes    fixed tree: field u16 << 48 | node          location
//!  vectors/records  records                                     hash, 16 bytes | level u8 | the vector, as crate::vector keeps it
//!  vectors/hashes   field u16 BE | hash of the vector           node u64 BE
//!  vectors/links    field u16 BE | node u64 BE | level u8       neighbours, rising: varints of gaps; none: no key
//!  vectors/fields   field u16 BE                                embedding u8 | level of the entry u8 | edges u16 BE | dimensions u32 BE
//!                                                               | entry node u64 BE | next node u64 BE | nodes u64 BE
//! ```
//!
//! The entries with a vector are in the posting list of its hash, a term of [`crate::index::Kind::Vector`]. Nodes are numbered from 1,
//! and no number is used again. Links go both ways.

use crate::index::dictionary::term::FieldNumber;
use crate::index::error::{Result, corrupt};
use crate::varint;
use crate::vector::{self, Embedding};
use storage::{FixedTree, Location, Reader, Records, Tree, WriteTransaction};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

const NODES: &[u8] = b"vectors/nodes";
const RECORDS: &[u8] = b"vectors/records";
const HASHES: &[u8] = b"vectors/hashes";
const LINKS: &[u8] = b"vectors/links";
const FIELDS: &[u8] = b"vectors/fields";

/// The tree that leads to records, and these.
pub const PLACED: (&[u8], &[u8]) = (NODES, RECORDS);

/// Bits of a node's number; those of its field stand above.
const NODE_BITS: u32 = 48;

/// The levels of a graph end here.
pub(crate) const LEVEL_MAX: u8 = 24;

/// A vector's name.
pub(crate) type Hash = [u8; 16];

/// The name of a kept vector: it stands for the vector in records and lists.
pub(crate) fn hash_of(stored: &[u8]) -> Hash {
    xxh3_128(stored).to_be_bytes()
}

/// The number of a node within its field.
pub(crate) type Node = u64;

/// Handles of the structures; only indexes that keep vectors have them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vectors {
    nodes: FixedTree,
    records: Records,
    hashes: Tree,
    links: Tree,
    fields: Tree,
}

/// What is known of a field's graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct GraphState {
    pub embedding: Embedding,
    /// How many components each vector has.
    pub dimensions: u32,
    /// The level of the entry, the highest.
    pub top: u8,
    /// Neighbours that a node gets on each level; on the lowest it has up to twice as many.
    pub edges: u16,
    /// Where searches begin; 0: there is no node.
    pub entry: Node,
    /// Above all nodes that ever were; at least 1.
    pub next: Node,
    pub count: u64,
}

/// A node as it is kept.
#[derive(Clone, Copy)]
pub(crate) struct StoredNode<'r> {
    pub hash: Hash,
    pub level: u8,
    pub vector: &'r [u8],
}

impl Vectors {
    /// Finds the structures. `None`: there are none.
    pub fn find(reader: &impl Reader) -> Result<Option<Vectors>> {
        let Some(nodes) = FixedTree::open(reader, NODES)? else { return Ok(None) };
        let missing = || corrupt("all structures of vectors exist");
        Ok(Some(Vectors {
            nodes,
            records: Records::open(reader, RECORDS)?.ok_or_else(missing)?,
            hashes: Tree::open(reader, HASHES)?.ok_or_else(missing)?,
            links: Tree::open(reader, LINKS)?.ok_or_else(missing)?,
            fields: Tree::open(reader, FIELDS)?.ok_or_else(missing)?,
        }))
    }

    pub fn open_or_create(tx: &mut WriteTransaction<'_>) -> Result<Vectors> {
        Ok(Vectors {
            nodes: FixedTree::open_or_create(tx, NODES)?,
            records: Records::open_or_create(tx, RECORDS)?,
            hashes: Tree::open_or_create(tx, HASHES)?,
            links: Tree::open_or_create(tx, LINKS)?,
            fields: Tree::open_or_create(tx, FIELDS)?,
        })
    }

    /// What is known of a field's graph. `None`: it never had a vector.
    pub fn state(&self, reader: &impl Reader, field: FieldNumber) -> Result<Option<GraphState>> {
        self.fields.get(reader, &field.0.to_be_bytes())?.map(state_of).transpose()
    }

    pub fn set_state(&self, tx: &mut WriteTransaction<'_>, field: FieldNumber, state: &GraphState) -> Result<()> {
        let mut bytes = vec![state.embedding as u8, state.top];
        bytes.extend_from_slice(&state.edges.to_be_bytes());
        bytes.extend_from_slice(&state.dimensions.to_be_bytes());
        for number in [state.entry, state.next, state.count] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        Ok(self.fields.put(tx, &field.0.to_be_bytes(), &bytes)?)
    }

    /// All fields that ever had a vector.
    pub fn states(&self, reader: &impl Reader) -> Result<Vec<(FieldNumber, GraphState)>> {
        let mut states = Vec::new();
        let mut cursor = self.fields.cursor(reader);
        while let Some((key, value)) = cursor.next()? {
            let field = key.try_into().map_err(|_| corrupt("the field of a graph has two bytes"))?;
            states.push((FieldNumber(u16::from_be_bytes(field)), state_of(value)?));
        }
        Ok(states)
    }

    /// The node of a vector. `None`: no entry has it.
    pub fn node_of(&self, reader: &impl Reader, field: FieldNumber, hash: &Hash) -> Result<Option<Node>> {
        let found = self.hashes.get(reader, &hash_key(field, hash))?;
        found
            .map(|node| node.try_into().map(u64::from_be_bytes).map_err(|_| corrupt("a node has eight bytes")))
            .transpose()
    }

    /// A node that is there.
    pub fn node<'r>(&self, reader: &'r impl Reader, field: FieldNumber, node: Node) -> Result<StoredNode<'r>> {
        let location = self.nodes.get(reader, node_key(field, node))?;
        let location = location.ok_or_else(|| corrupt("the nodes that links and hashes name exist"))?;
        self.read(reader, Location(location))
    }

    fn read<'r>(&self, reader: &'r impl Reader, location: Location) -> Result<StoredNode<'r>> {
        let broken = || corrupt("a node has a hash, a level and a vector");
        let (hash, rest) = self.records.get(reader, location)?.split_first_chunk().ok_or_else(broken)?;
        let (level, vector) = rest.split_first().ok_or_else(broken)?;
        if *level > LEVEL_MAX {
            return Err(broken());
        }
        Ok(StoredNode { hash: *hash, level: *level, vector })
    }

    /// Calls `each` with all nodes of a field, rising.
    pub fn each_node<'r, E: From<crate::index::Error>>(
        &self,
        reader: &'r impl Reader,
        field: FieldNumber,
        mut each: impl FnMut(Node, StoredNode<'r>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut cursor = self.nodes.cursor(reader);
        let mut found = cursor.seek(node_key(field, 0)).map_err(crate::index::Error::from)?;
        while let Some((key, location)) = found {
            if key >> NODE_BITS != u64::from(field.0) {
                break;
            }
            each(key & ((1 << NODE_BITS) - 1), self.read(reader, Location(location))?)?;
            found = cursor.next().map_err(crate::index::Error::from)?;
        }
        Ok(())
    }

    /// The first node of a field.
    pub fn first(&self, reader: &impl Reader, field: FieldNumber) -> Result<Option<Node>> {
        let found = self.nodes.cursor(reader).seek(node_key(field, 0))?;
        let is_of_field = |(key, _): &(u64, u64)| key >> NODE_BITS == u64::from(field.0);
        Ok(found.filter(is_of_field).map(|(key, _)| key & ((1 << NODE_BITS) - 1)))
    }

    pub fn insert_node(
        &self,
        tx: &mut WriteTransaction<'_>,
        field: FieldNumber,
        node: Node,
        stored: &StoredNode<'_>,
    ) -> Result<()> {
        if node >> NODE_BITS != 0 {
            return Err(corrupt("a field never comes to the end of its nodes"));
        }
        let location = self.records.insert(tx, &[&stored.hash, &[stored.level], stored.vector])?;
        self.nodes.put(tx, node_key(field, node), location.0)?;
        Ok(self.hashes.put(tx, &hash_key(field, &stored.hash), &node.to_be_bytes())?)
    }

    pub fn delete_node(
        &self,
        tx: &mut WriteTransaction<'_>,
        field: FieldNumber,
        node: Node,
        hash: &Hash,
    ) -> Result<()> {
        let key = node_key(field, node);
        let location = self.nodes.get(tx, key)?.ok_or_else(|| corrupt("a node that goes is there"))?;
        self.records.delete(tx, Location(location))?;
        self.nodes.delete(tx, key)?;
        self.hashes.delete(tx, &hash_key(field, hash))?;
        Ok(())
    }

    /// The neighbours of a node on a level, rising, in place of what `neighbours` had.
    pub fn neighbours(
        &self,
        reader: &impl Reader,
        field: FieldNumber,
        node: Node,
        level: u8,
        neighbours: &mut Vec<Node>,
    ) -> Result<()> {
        neighbours.clear();
        let mut bytes = self.links.get(reader, &links_key(field, node, level))?.unwrap_or_default();
        let mut last = 0u64;
        while !bytes.is_empty() {
            let gap = varint::take(&mut bytes).filter(|gap| *gap > 0);
            let next = gap.and_then(|gap| last.checked_add(gap)).filter(|next| next >> NODE_BITS == 0);
            last = next.ok_or_else(|| corrupt("the neighbours of a node rise"))?;
            neighbours.push(last);
        }
        Ok(())
    }

    /// * `neighbours`: rising, each once.
    pub fn set_neighbours(
        &self,
        tx: &mut WriteTransaction<'_>,
        field: FieldNumber,
        node: Node,
        level: u8,
        neighbours: &[Node],
    ) -> Result<()> {
        let key = links_key(field, node, level);
        if neighbours.is_empty() {
            self.links.delete(tx, &key)?;
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(neighbours.len() * 3);
        let mut last = 0;
        for next in neighbours {
            varint::put(&mut bytes, next - last);
            last = *next;
        }
        Ok(self.links.put(tx, &key, &bytes)?)
    }

    /// How many hashes and lists of neighbours there are, for a check.
    pub fn counts(&self, reader: &impl Reader) -> Result<(u64, u64)> {
        let count = |tree: &Tree| {
            let (mut count, mut cursor) = (0, tree.cursor(reader));
            while cursor.next()?.is_some() {
                count += 1;
            }
            Ok::<u64, crate::index::Error>(count)
        };
        Ok((count(&self.hashes)?, count(&self.links)?))
    }
}

/// The level of a node: each next one has one in so many of the nodes below. From its number alone, so that the same batches make the same
/// graph.
pub(crate) fn level_of(field: FieldNumber, node: Node, edges: usize) -> u8 {
    let base = edges.max(2) as u64;
    let mut digits = xxh3_64(&node_key(field, node).to_be_bytes());
    let mut level = 0;
    while level < LEVEL_MAX && digits.is_multiple_of(base) {
        digits /= base;
        level += 1;
    }
    level
}

/// How near two vectors of a field are.
pub(crate) fn similarity(state: &GraphState, one: &[u8], other: &[u8]) -> f32 {
    vector::similarity(state.embedding, one, other)
}

fn node_key(field: FieldNumber, node: Node) -> u64 {
    u64::from(field.0) << NODE_BITS | node
}

fn hash_key(field: FieldNumber, hash: &Hash) -> [u8; 18] {
    let mut key = [0; 18];
    key[..2].copy_from_slice(&field.0.to_be_bytes());
    key[2..].copy_from_slice(hash);
    key
}

fn links_key(field: FieldNumber, node: Node, level: u8) -> [u8; 11] {
    let mut key = [0; 11];
    key[..2].copy_from_slice(&field.0.to_be_bytes());
    key[2..10].copy_from_slice(&node.to_be_bytes());
    key[10] = level;
    key
}

fn state_of(bytes: &[u8]) -> Result<GraphState> {
    let broken = || corrupt("a graph has a kind of vectors, a size, an entry and counts");
    let ([embedding, top], rest) = bytes.split_first_chunk().ok_or_else(broken)?;
    let (edges, rest) = rest.split_first_chunk().ok_or_else(broken)?;
    let (dimensions, rest) = rest.split_first_chunk().ok_or_else(broken)?;
    let (numbers, rest) = rest.as_chunks::<8>();
    let [entry, next, count]: [[u8; 8]; 3] = numbers.try_into().map_err(|_| broken())?;
    let [entry, next, count] = [entry, next, count].map(u64::from_be_bytes);
    if !rest.is_empty() || *top > LEVEL_MAX || entry >= next || count >= next || (entry == 0) != (count == 0) {
        return Err(broken());
    }
    let embedding = Embedding::of(*embedding).ok_or_else(broken)?;
    let (edges, dimensions) = (u16::from_be_bytes(*edges), u32::from_be_bytes(*dimensions));
    Ok(GraphState { embedding, dimensions, top: *top, edges, entry, next, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_one_in_so_many() {
        let mut counts = [0usize; 4];
        for node in 1..=100_000 {
            counts[usize::from(level_of(FieldNumber(3), node, 16)).min(3)] += 1;
        }
        assert!((5_900..6_600).contains(&(counts[1] + counts[2] + counts[3])), "{counts:?}");
        assert!((330..450).contains(&(counts[2] + counts[3])), "{counts:?}");
    }
}
