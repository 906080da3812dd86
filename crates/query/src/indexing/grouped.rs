//! Entries of indexes that group what is mapped and reduce each group: an entry is what a group gives.
//!
//! Values of documents are gathered while a batch is filled, with the places of their old values: a value whose group had one of the
//! document before takes its place, others get new numbers, what is left over goes. Then each group that changed is brought up to date
//! ([`reduce_tree`](super::reduce_tree)).

use super::extract::ExtractedValue;
use super::indexer::Unmapped;
use super::limits::{BATCH_BYTES, GATHERED_BYTES_KEPT, LEAF_BYTES, VALUE_OVERHEAD};
use super::map_runner::Loading;
use super::reduce_tree::{LevelChanges, Outcome, Reduces, apply};
use super::results_reservation::ResultsReservation;
use super::step::Failure;
use super::terms;
use crate::definition::{Analysis, MapIndex, Output};
use crate::index::{
    Batch, Entry, Error, FieldNumber, GroupKey, Index, IndexSnapshot, Member, NODE_ITEMS_BITS, NODE_ITEMS_MAX, NodeKey,
    Result,
};
use crate::mapping::MapError;
use documents::{Document, id};
use json::{Kind, Raw};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Places of a set that is kept from one batch to the next.
const SET_KEPT_MAX: usize = 1024;

/// Entries for which an index of groups keeps its memory when it has all that there is: results of one group.
const ENTRIES_KEPT: usize = 16;

/// What is mapped of documents, and into which groups it goes.
pub(super) trait Groups: Reduces {
    /// Calls `give` with each value of a document, an object, and its group.
    ///
    /// # Errors
    ///
    /// What is to be told of a document that cannot be mapped.
    fn map(&mut self, document: &Document<'_>, loading: Loading<'_>, give: Give<'_>) -> Result<(), MapError>;

    /// What the root of a group gives, as the result that users see.
    fn finish(&self, result: Vec<u8>) -> Vec<u8> {
        result
    }
}

/// Takes a value and its group; an error ends the mapping of the document.
pub(super) type Give<'g> = &'g mut dyn FnMut(GroupKey, &[u8]) -> Result<(), MapError>;

/// How a property of results is kept.
pub(super) struct ResultField {
    pub name: String,
    /// Its fields in the index; none: it is not indexed.
    pub kept: Vec<(FieldNumber, Analysis)>,
}

impl ResultField {
    /// As a definition says.
    ///
    /// # Errors
    ///
    /// Those of [`Index::field`].
    pub fn new(name: &str, definition: &MapIndex, index: &Index) -> Result<ResultField> {
        let kept = match definition.analysis(name) {
            Some(analysis) => vec![(index.field(name)?, analysis)],
            None => Vec::new(),
        };
        Ok(ResultField { name: name.to_owned(), kept })
    }
}

/// Brings batches of documents into groups. Keeps memory between them.
pub(super) struct GroupedEntries {
    groups: Box<dyn Groups + Send>,
    fields: Vec<ResultField>,
    /// Says how properties are kept that are not among the fields; `None`: they are not.
    others: Option<Arc<MapIndex>>,
    /// That results become documents.
    output: Option<Output>,
    /// Lower-cased ids and values.
    bytes: Vec<u8>,
    documents: Vec<Gathered>,
    values: Vec<(GroupKey, Range<usize>)>,
    results: ResultsReservation,
    /// Where the values of the documents are now.
    old: Vec<Member>,
    /// Bytes of the leaves that are written anew, as far as is known.
    leaf_bytes: usize,
    /// Those of them that were looked up,
    leaves: HashSet<NodeKey>,
    /// and the groups that values come to: one leaf of each is filled up first.
    grown: HashSet<GroupKey>,
    lower: Vec<u8>,
    entries: Vec<Entry>,
}

/// A document of the batch.
struct Gathered {
    /// Its lower-cased id, in the bytes.
    key: Range<usize>,
    /// Its values, in the list of all of them.
    values: Range<usize>,
    /// Where its values are now, in the list of all of these.
    old: Range<usize>,
}

/// A value of a group that changes.
struct Change {
    group: GroupKey,
    place: ValueSlot,
    /// `None`: it goes.
    value: Option<Range<usize>>,
}

/// Where a value is. Known places come before new ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ValueSlot {
    /// At a number of the group.
    Known(u64),
    /// At one that it gets now; the index of the member that is to know it.
    New(usize),
}

impl GroupedEntries {
    pub fn new(
        groups: Box<dyn Groups + Send>,
        fields: Vec<ResultField>,
        others: Option<Arc<MapIndex>>,
        output: Option<Output>,
    ) -> GroupedEntries {
        let (bytes, documents, values) = (Vec::new(), Vec::new(), Vec::new());
        GroupedEntries {
            groups,
            fields,
            others,
            output,
            bytes,
            documents,
            values,
            results: ResultsReservation::new(),
            old: Vec::new(),
            leaf_bytes: 0,
            leaves: HashSet::new(),
            grown: HashSet::new(),
            lower: Vec::new(),
            entries: Vec::new(),
        }
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.documents.clear();
        self.values.clear();
        self.results.clear();
        self.old.clear();
        self.leaf_bytes = 0;
        empty(&mut self.leaves);
        empty(&mut self.grown);
    }

    /// Forgets what was gathered, and keeps little of the memory: nothing may come for long.
    pub fn rest(&mut self) {
        self.clear();
        let count = |size: usize| GATHERED_BYTES_KEPT / size;
        self.bytes.shrink_to(GATHERED_BYTES_KEPT);
        self.documents.shrink_to(count(size_of::<Gathered>()));
        self.values.shrink_to(count(size_of::<(GroupKey, Range<usize>)>()));
        self.old.shrink_to(count(size_of::<Member>()));
        self.entries.truncate(ENTRIES_KEPT);
    }

    /// Bytes that were gathered so far, and a share of those of the leaves that are written for them.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.leaf_bytes / (LEAF_BYTES / BATCH_BYTES)
    }

    /// Gathers the values of a document, in place of all that it had.
    ///
    /// * `before`: the index as it is until the batch is written.
    pub fn put(
        &mut self,
        document: &Document<'_>,
        loading: Loading<'_>,
        before: &IndexSnapshot<'_>,
    ) -> Result<(), Unmapped> {
        let first = self.values.len();
        let GroupedEntries { groups, bytes, values, results, leaf_bytes, grown, .. } = self;
        results.begin_document();
        // An error of ours, on its way through the map.
        let mut failed = None;
        let mapped = groups.map(document, loading, &mut |group, value| {
            results.add(value.len() + VALUE_OVERHEAD, || before.reservation()).map_err(|error| {
                let stopped = MapError::Stopped(error.to_string());
                failed = Some(error);
                stopped
            })?;
            let start = bytes.len();
            bytes.extend_from_slice(value);
            values.push((group, start..bytes.len()));
            // The first comes to others of its group, as many as may lie in a leaf, which are taken to be of its size.
            *leaf_bytes += value.len() * if grown.insert(group) { NODE_ITEMS_MAX as usize } else { 1 };
            Ok(())
        });
        match mapped {
            Ok(()) => Ok(self.gather(document.id(), first, before)?),
            Err(error) => {
                self.values.truncate(first);
                Err(failed.map_or_else(|| Unmapped::from(error), Unmapped::from))
            }
        }
    }

    /// A document has no values any more.
    ///
    /// * `before`: the index as it is until the batch is written.
    pub fn remove(&mut self, document: &str, before: &IndexSnapshot<'_>) -> Result<()> {
        self.gather(document, self.values.len(), before)
    }

    fn gather(&mut self, document: &str, first: usize, before: &IndexSnapshot<'_>) -> Result<()> {
        let (start, first_old) = (self.bytes.len(), self.old.len());
        id::lower_into(&mut self.lower, document);
        self.bytes.extend_from_slice(&self.lower);
        before.group_members(&self.lower, &mut self.old)?;
        for member in self.old.iter().skip(first_old) {
            let leaf = NodeKey { group: member.group, level: 0, number: member.number >> NODE_ITEMS_BITS };
            if self.leaves.insert(leaf) {
                self.leaf_bytes += before.group_node(&leaf)?.len();
            }
        }
        self.documents.push(Gathered {
            key: start..self.bytes.len(),
            values: first..self.values.len(),
            old: first_old..self.old.len(),
        });
        Ok(())
    }

    /// Brings what was gathered into a batch.
    ///
    /// * `snapshot`: the one by which it was gathered.
    /// * `results_bytes_max`: bytes of results that all groups together may have.
    ///
    /// # Errors
    ///
    /// The index cannot be read; [`Error::LargeBatch`] if there is a bound and what changes is over it or that of batches.
    pub fn finish(
        &mut self,
        index: &Index,
        snapshot: &IndexSnapshot<'_>,
        results_bytes_max: usize,
        batch: &mut Batch,
        failures: &mut Vec<Failure>,
    ) -> Result<()> {
        let mut members = Vec::new();
        let mut moved = Vec::new();
        let mut changes = self.find_changes(&mut members, &mut moved);
        changes.sort_unstable_by_key(|change| (change.group, change.place));
        let mut leaves = LevelChanges::default();
        let (mut outcomes, mut results_bytes) = (Vec::new(), 0);
        for changes in changes.chunk_by(|a, b| a.group == b.group) {
            let Some(group) = changes.first().map(|change| change.group) else { continue };
            let before = snapshot.group_given(&group)?;
            let mut after = before;
            leaves.clear();
            for change in changes {
                let number = match change.place {
                    ValueSlot::Known(number) => number,
                    ValueSlot::New(member) => {
                        after += 1;
                        if let Some(member) = members.get_mut(member) {
                            member.number = after - 1;
                        }
                        after - 1
                    }
                };
                let value = change.value.as_ref().map(|range| self.bytes.get(range.clone()).unwrap_or_default());
                leaves.push(number, value);
            }
            let groups = &mut batch.groups;
            let mut outcome = apply(snapshot, group, (before, after), &mut leaves, &*self.groups, groups)?;
            if let Outcome::Results(results) = &mut outcome {
                results.iter_mut().for_each(|result| *result = self.groups.finish(std::mem::take(result)));
                results_bytes += results.iter().map(Vec::len).sum::<usize>();
            }
            if results_bytes > results_bytes_max {
                return Err(Error::LargeBatch { size: results_bytes, max: results_bytes_max });
            }
            let first = changes.iter().filter_map(|change| change.value.as_ref()).map(|value| value.start).min();
            outcomes.push((first.unwrap_or(usize::MAX), group, outcome));
        }
        // Groups get their entries in the order in which their first values came.
        outcomes.sort_by_key(|(first, ..)| *first);
        for (_, group, outcome) in outcomes {
            match outcome {
                Outcome::Unchanged => {}
                Outcome::Gone => self.remove_results(group, batch)?,
                Outcome::Results(results) => match self.put_results(index, group, &results, batch) {
                    Ok(()) => self.put_outputs(group, &results, batch, failures),
                    Err(error @ Error::LargeBatch { .. }) if results_bytes_max < usize::MAX => return Err(error),
                    Err(error @ (Error::TooLarge { .. } | Error::LargeBatch { .. } | Error::TooManyFields { .. })) => {
                        self.remove_results(group, batch)?;
                        failures.push(Failure { document: None, field: None, message: error.to_string() });
                    }
                    Err(error) => return Err(error),
                },
                Outcome::Failed(message) => {
                    self.remove_results(group, batch)?;
                    failures.push(Failure { document: None, field: None, message });
                }
            }
        }
        for (document, range) in moved {
            let key = self.bytes.get(document).unwrap_or_default();
            batch.groups.set_mapped(key, members.get(range).unwrap_or_default().iter().copied());
        }
        Ok(())
    }

    /// What changes of all groups.
    ///
    /// * `members`: gets where the values of documents are whose places change; those of new values are not known yet.
    /// * `moved`: gets these documents by their keys, rising, and which of the members are theirs.
    fn find_changes(
        &mut self,
        members: &mut Vec<Member>,
        moved: &mut Vec<(Range<usize>, Range<usize>)>,
    ) -> Vec<Change> {
        let GroupedEntries { bytes, documents, values, old, .. } = self;
        let key_of = |gathered: &Gathered| bytes.get(gathered.key.clone()).unwrap_or_default();
        // Stable: of several changes of one document the last counts.
        documents.sort_by(|a, b| key_of(a).cmp(key_of(b)));
        let mut changes = Vec::with_capacity(values.len());
        let last_of_each = documents.chunk_by(|a, b| key_of(a) == key_of(b)).filter_map(<[Gathered]>::last);
        for document in last_of_each {
            let old = old.get_mut(document.old.clone()).unwrap_or_default();
            old.sort_unstable();
            let new = values.get_mut(document.values.clone()).unwrap_or_default();
            new.sort_by_key(|(group, _)| *group);
            let first = members.len();
            let (mut left, mut is_moved) = (old.iter().copied().peekable(), false);
            for (group, value) in new.iter() {
                while let Some(gone) = left.next_if(|member| member.group < *group) {
                    changes.push(Change { group: gone.group, place: ValueSlot::Known(gone.number), value: None });
                    is_moved = true;
                }
                let known = left.next_if(|member| member.group == *group);
                let place = known.map_or(ValueSlot::New(members.len()), |member| ValueSlot::Known(member.number));
                is_moved |= known.is_none();
                members.push(known.unwrap_or(Member { group: *group, number: 0 }));
                changes.push(Change { group: *group, place, value: Some(value.clone()) });
            }
            for gone in left {
                changes.push(Change { group: gone.group, place: ValueSlot::Known(gone.number), value: None });
                is_moved = true;
            }
            if is_moved {
                moved.push((document.key.clone(), first..members.len()));
            }
        }
        changes
    }

    fn remove_results(&self, group: GroupKey, batch: &mut Batch) -> Result<()> {
        if self.output.is_some() {
            batch.outputs.set(group, std::iter::empty());
        }
        batch.remove(&group.name())
    }

    /// Notes which documents results are to be. One that the pattern makes no id of is a document all the same.
    fn put_outputs(&self, group: GroupKey, results: &[Vec<u8>], batch: &mut Batch, failures: &mut Vec<Failure>) {
        let Some(output) = &self.output else { return };
        let mut name = |result: &Vec<u8>| match &output.references {
            None => String::new(),
            Some(references) => references.id_of(Raw::new(result)).unwrap_or_else(|message| {
                failures.push(Failure { document: None, field: None, message });
                String::new()
            }),
        };
        let names: Vec<String> = results.iter().map(&mut name).collect();
        batch.outputs.set(group, names.iter().map(String::as_str));
    }

    fn put_results(&mut self, index: &Index, group: GroupKey, results: &[Vec<u8>], batch: &mut Batch) -> Result<()> {
        let GroupedEntries { fields, others, entries, lower, .. } = self;
        entries.resize_with(entries.len().max(results.len()), Entry::new);
        let entries = entries.get_mut(..results.len()).unwrap_or_default();
        for (entry, result) in entries.iter_mut().zip(results) {
            entry.clear();
            entry.store(result)?;
            for (name, value) in Raw::new(result).members() {
                let known = fields.iter().position(|field| name.is(&field.name));
                let place = match (known, &*others) {
                    (Some(place), _) => place,
                    (None, None) => continue,
                    (None, Some(definition)) => {
                        fields.push(ResultField::new(&name.decode(), definition, index)?);
                        fields.len() - 1
                    }
                };
                for (number, analysis) in fields.get(place).map(|field| field.kept.as_slice()).unwrap_or_default() {
                    add(entry, *number, analysis, value, lower)?;
                }
            }
        }
        batch.put(&group.name(), 0, entries)
    }
}

/// Empties a set, and keeps its memory, unless emptying it would take long.
fn empty<T>(set: &mut HashSet<T>) {
    if set.capacity() > SET_KEPT_MAX { *set = HashSet::new() } else { set.clear() }
}

/// The recursion ends: it goes into arrays of a result, whose depth is bounded.
fn add(entry: &mut Entry, field: FieldNumber, analysis: &Analysis, value: Raw<'_>, lower: &mut Vec<u8>) -> Result<()> {
    match value.kind() {
        Kind::Array => value.elements().try_for_each(|element| add(entry, field, analysis, element, lower)),
        _ => terms::add(entry, field, analysis, &ExtractedValue::Value(value), lower),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Item, put_item};
    use json::Raw;
    use storage::Options;

    struct Nothing;

    impl Reduces for Nothing {
        fn reduce(&self, _: &GroupKey, _: &[Raw<'_>], _: &mut dyn FnMut(&[u8])) -> Result<(), MapError> {
            Ok(())
        }

        fn is_partial(&self) -> bool {
            true
        }
    }

    impl Groups for Nothing {
        fn map(&mut self, _: &Document<'_>, _: Loading<'_>, _: Give<'_>) -> Result<(), MapError> {
            Ok(())
        }
    }

    #[test]
    fn what_goes_counts_for_the_leaves_that_it_lies_in_each_once() {
        let index = Index::in_memory(Options::default()).unwrap().with_groups().unwrap();
        let mut batch = Batch::new();
        let mut groups = [b"a", b"b"].map(|name| GroupKey::of(name));
        groups.sort_unstable();
        let mut sizes = Vec::new();
        for (at, group) in groups.into_iter().enumerate() {
            for number in 0..2 {
                let mut node = Vec::new();
                put_item(&mut node, Item { number: 3, bytes: &vec![b'x'; 100_000 * (1 + at * 2 + number as usize)] });
                sizes.push(node.len());
                batch.groups.set_node(NodeKey { group, level: 0, number }, &node);
            }
            batch.groups.set_given(group, 128);
        }
        let member = |group: usize, number| Member { group: groups[group], number };
        batch.groups.set_mapped(b"one", [member(0, 3), member(1, 67)].into_iter());
        batch.groups.set_mapped(b"two", [member(0, 4), member(0, 67)].into_iter());
        index.write(&batch).unwrap();
        let (snapshot, mut entries) =
            (index.read().unwrap(), GroupedEntries::new(Box::new(Nothing), Vec::new(), None, None));
        for _ in 0..2 {
            let mut gathered = 0;
            for (document, leaves) in [
                ("none", 0),
                ("ONE", sizes[0] + sizes[3]),
                ("two", sizes[0] + sizes[1] + sizes[3]),
                ("one", sizes[0] + sizes[1] + sizes[3]),
            ] {
                entries.remove(document, &snapshot).unwrap();
                gathered += document.len();
                assert_eq!(entries.size(), gathered + leaves / (LEAF_BYTES / BATCH_BYTES), "{document}");
            }
            entries.clear();
            assert_eq!(entries.size(), 0);
        }
    }
}
