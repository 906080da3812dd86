//! Groups as people look at them: which values some documents gave, in which groups, and what each part of a group was reduced to.
//!
//! Nothing is computed but the key: all of it is what the index has ([`crate::index::GroupKey`] tells how). A group of up to
//! [`SHOWN_WHOLE_NODES_MAX`] nodes is read whole; of a larger one the nodes on the way to the values of the documents, and what their
//! neighbours were reduced to.

use super::limits::{SHOWN_BYTES_MAX, SHOWN_GROUPS_MAX, SHOWN_WHOLE_NODES_MAX};
use super::reduce_tree::root_level;
use crate::definition::IndexDefinition;
use crate::index::{
    GroupKey, IndexSnapshot, Member, NO_RESULT, NODE_ITEMS_BITS, NODE_ITEMS_MAX, NodeKey, Result, items,
};
use documents::id;
use json::{Raw, Writer};
use std::collections::BTreeMap;

/// The groups that documents have values in.
#[derive(Debug)]
pub struct GroupTrees<'s> {
    /// In the order of the documents and their values, [`SHOWN_GROUPS_MAX`] at most.
    pub trees: Vec<GroupTree<'s>>,
    /// How many groups there are.
    pub group_count: usize,
}

/// A group.
#[derive(Debug)]
pub struct GroupTree<'s> {
    /// Its name in the index.
    pub group: GroupKey,
    /// Its key, JSON: an object of the key's fields, or the value of a key that is no field. Empty: no value of it was read.
    pub key: Vec<u8>,
    /// Levels of nodes, at least 1.
    pub level_count: u8,
    /// The number of nodes; an upper bound unless all were read.
    pub node_count: u64,
    /// The number of mapped values; an upper bound unless all nodes were read.
    pub value_count: u64,
    /// Whether all of its nodes were read.
    pub is_whole: bool,
    /// What stands above all others.
    pub root: TreeNode<'s>,
}

/// A node of a group.
#[derive(Debug)]
pub struct TreeNode<'s> {
    /// 0: a leaf.
    pub level: u8,
    /// Its number on its level.
    pub number: u64,
    /// What it was reduced to, objects: mostly one.
    pub results: Vec<Raw<'s>>,
    /// It could not be reduced, so that the group has no result.
    pub has_failed: bool,
    /// What is in it.
    pub parts: Parts<'s>,
}

/// What is in a node.
#[derive(Debug)]
pub enum Parts<'s> {
    /// It was not read.
    Unread,
    /// Nodes, rising by number.
    Nodes(Vec<TreeNode<'s>>),
    /// Values, rising by number.
    Values(Vec<TreeValue<'s>>),
}

/// A value that was mapped.
#[derive(Debug)]
pub struct TreeValue<'s> {
    /// Its number in the group.
    pub number: u64,
    /// An object.
    pub value: Raw<'s>,
    /// Which of the documents that were asked for gave it; `None`: another one.
    pub document: Option<usize>,
}

/// The groups in which documents have values.
///
/// * `documents`: their ids, whatever the case.
///
/// # Errors
///
/// The index cannot be read.
pub fn group_trees<'s>(
    index: &'s IndexSnapshot<'_>,
    definition: &IndexDefinition,
    documents: &[&str],
) -> Result<GroupTrees<'s>> {
    let is_partial = definition.as_map().and_then(|map| map.reduce()).is_none_or(|reduce| reduce.is_partial());
    let mut order = Vec::new();
    let mut numbers_by_group: BTreeMap<GroupKey, BTreeMap<u64, usize>> = BTreeMap::new();
    for (document, id) in documents.iter().enumerate() {
        let mut members = Vec::new();
        index.group_members(&id::lower(id), &mut members)?;
        for Member { group, number } in members {
            let numbers = numbers_by_group.entry(group).or_insert_with(|| {
                order.push(group);
                BTreeMap::new()
            });
            numbers.entry(number).or_insert(document);
        }
    }
    let mut reading = Reading { index, bytes_left: SHOWN_BYTES_MAX };
    let mut trees = Vec::new();
    for group in order.iter().take(SHOWN_GROUPS_MAX) {
        let Some(numbers) = numbers_by_group.get(group) else { continue };
        trees.push(reading.tree(*group, numbers, is_partial, definition)?);
    }
    Ok(GroupTrees { trees, group_count: order.len() })
}

/// How many nodes a group has on each level, from the leaves to the root, by the count of numbers that were given out.
fn nodes_by_level(given: u64, level_count: u8) -> impl Iterator<Item = u64> {
    (1..=u32::from(level_count)).map(move |level| {
        let last = given.saturating_sub(1).checked_shr(NODE_ITEMS_BITS * level);
        last.unwrap_or(0) + 1
    })
}

struct Reading<'s, 'env> {
    index: &'s IndexSnapshot<'env>,
    bytes_left: usize,
}

/// The nodes of a group to read.
struct NodeSelection<'w> {
    group: GroupKey,
    /// The numbers of values that were asked for, and whose they are.
    numbers: &'w BTreeMap<u64, usize>,
    is_whole: bool,
}

impl NodeSelection<'_> {
    /// Whether a node is to be read.
    fn has(&self, level: u8, number: u64) -> bool {
        let shift = NODE_ITEMS_BITS * (u32::from(level) + 1);
        // The number of the first value that is no more below the node; beyond all numbers for the root of the largest groups.
        let end = (number + 1).checked_shl(shift).unwrap_or(u64::MAX);
        let first = number.checked_shl(shift).unwrap_or(0);
        self.is_whole || self.numbers.range(first..end).next().is_some()
    }
}

impl<'s> Reading<'s, '_> {
    fn tree(
        &mut self,
        group: GroupKey,
        numbers: &BTreeMap<u64, usize>,
        is_partial: bool,
        definition: &IndexDefinition,
    ) -> Result<GroupTree<'s>> {
        let given = self.index.group_given(&group)?;
        // A group that is reduced whole has leaves only; what it gives stands above them.
        let leaf_count = given.div_ceil(NODE_ITEMS_MAX);
        let level_count = if is_partial { root_level(given) + 1 } else { 1 + u8::from(leaf_count > 1) };
        let node_count = match is_partial {
            true => nodes_by_level(given, level_count).sum(),
            false => leaf_count + u64::from(leaf_count > 1),
        };
        let selection = NodeSelection { group, numbers, is_whole: node_count <= SHOWN_WHOLE_NODES_MAX };
        let root_level = level_count - 1;
        let results = self.index.group_results(&group)?;
        let root = if is_partial || level_count == 1 {
            self.node(&selection, root_level, 0, results, false)?
        } else {
            let mut leaves = Vec::new();
            for number in (0..leaf_count).filter(|number| selection.has(0, *number)) {
                leaves.push(self.node(&selection, 0, number, Vec::new(), false)?);
            }
            leaves.retain(|leaf| !matches!(&leaf.parts, Parts::Values(values) if values.is_empty()));
            TreeNode { level: 1, number: 0, results, has_failed: false, parts: Parts::Nodes(leaves) }
        };
        let mut tree = GroupTree {
            group,
            key: Vec::new(),
            level_count,
            node_count,
            value_count: given,
            is_whole: selection.is_whole && root.is_read(),
            root,
        };
        if tree.is_whole {
            (tree.node_count, tree.value_count) = tree.root.counts();
        }
        if let Some(value) = tree.root.first_value() {
            tree.key = key_of(definition, &group, value);
        }
        Ok(tree)
    }

    /// The recursion is as deep as the group has levels, at most 11.
    fn node(
        &mut self,
        selection: &NodeSelection<'_>,
        level: u8,
        number: u64,
        results: Vec<Raw<'s>>,
        has_failed: bool,
    ) -> Result<TreeNode<'s>> {
        let mut node = TreeNode { level, number, results, has_failed, parts: Parts::Unread };
        if !selection.has(level, number) {
            return Ok(node);
        }
        let bytes = self.index.group_node(&NodeKey { group: selection.group, level, number })?;
        let Some(left) = self.bytes_left.checked_sub(bytes.len()) else { return Ok(node) };
        self.bytes_left = left;
        let items = items(bytes)?;
        let first = number << NODE_ITEMS_BITS;
        if level == 0 {
            let values = items.iter().filter(|item| !item.bytes.is_empty()).map(|item| {
                let number = first + u64::from(item.number);
                let document = selection.numbers.get(&number).copied();
                TreeValue { number, value: Raw::new(item.bytes), document }
            });
            node.parts = Parts::Values(values.collect());
            return Ok(node);
        }
        let mut nodes = Vec::new();
        for of_child in items.chunk_by(|one, other| one.number == other.number) {
            let Some(item) = of_child.first() else { continue };
            let child_failed = of_child.iter().any(|item| item.bytes.is_empty());
            node.has_failed |= child_failed;
            let results = of_child.iter().map(|item| item.bytes);
            let results = results.filter(|bytes| !bytes.is_empty() && *bytes != NO_RESULT).map(Raw::new).collect();
            nodes.push(self.node(selection, level - 1, first + u64::from(item.number), results, child_failed)?);
        }
        node.parts = Parts::Nodes(nodes);
        Ok(node)
    }
}

impl<'s> TreeNode<'s> {
    /// Whether it and all below it were read.
    fn is_read(&self) -> bool {
        match &self.parts {
            Parts::Unread => false,
            Parts::Nodes(nodes) => nodes.iter().all(TreeNode::is_read),
            Parts::Values(_) => true,
        }
    }

    /// Nodes and values from here down, of what was read.
    fn counts(&self) -> (u64, u64) {
        match &self.parts {
            Parts::Unread => (1, 0),
            Parts::Values(values) => (1, values.len() as u64),
            Parts::Nodes(nodes) => nodes
                .iter()
                .map(TreeNode::counts)
                .fold((1, 0), |(nodes, values), (more, others)| (nodes + more, values + others)),
        }
    }

    fn first_value(&self) -> Option<Raw<'s>> {
        match &self.parts {
            Parts::Unread => None,
            Parts::Nodes(nodes) => nodes.iter().find_map(TreeNode::first_value),
            Parts::Values(values) => values.first().map(|value| value.value),
        }
    }
}

/// The key of a group by one of its values. Empty: it cannot be computed any more.
fn key_of(definition: &IndexDefinition, group: &GroupKey, value: Raw<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    match definition {
        IndexDefinition::Automatic(definition) => {
            // The keys stand before what is added up.
            let keys = value.members().take(definition.keys().count());
            Writer::new(&mut out).object(|json| {
                for (name, key) in keys {
                    json.name(&name.decode()).raw(key.bytes());
                }
            });
        }
        IndexDefinition::Map(definition) => {
            let Some(reduce) = definition.reduce() else { return out };
            // It was computed before, and may not be any more only if the definition asks what changes, as the time.
            let _ = reduce.key(value, &mut |key| {
                if !out.is_empty() || GroupKey::of(&key.identity) != *group {
                    return Ok(());
                }
                let mut json = Writer::new(&mut out);
                match (reduce.key_fields(), key.values.as_slice()) {
                    ([name], [only]) if name.is_empty() => only.write_json(&mut json),
                    (names, values) => {
                        json.object(|json| {
                            names.iter().zip(values).for_each(|(name, value)| value.write_json(json.name(name)));
                        });
                    }
                }
                Ok(())
            });
        }
    }
    out
}
