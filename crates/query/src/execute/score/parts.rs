//! The parts of a sum of which any may hold: an entry asks those that may have it, not all.
//!
//! A query may have tens of thousands of them, most with a few entries each. They wait in a heap by the first entry that each may have
//! from now on, so that scoring costs what their lists have in them, whatever the number of parts.

use super::{Error, Members, Node};
use crate::index::EntryId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Parts up to which each is asked: that is quicker than a heap.
pub(super) const PARTS_ASKED_MAX: usize = 32;

/// Parts of which any may hold.
pub(in crate::execute) struct Parts<'s> {
    nodes: Vec<Node<'s>>,
    /// `None`: there are few.
    queue: Option<Queue>,
}

/// Which parts may have an entry.
struct Queue {
    /// The first entry that each of the others may have, and which part it is.
    waiting: BinaryHeap<Reverse<(EntryId, usize)>>,
    /// Parts that may have the entry that was asked for last, rising.
    here: Vec<usize>,
    at: Option<EntryId>,
}

impl<'s> Parts<'s> {
    pub fn new(nodes: Vec<Node<'s>>) -> Parts<'s> {
        let all = || (0..nodes.len()).map(|part| Reverse((EntryId(0), part))).collect();
        let is_many = nodes.len() > PARTS_ASKED_MAX;
        let queue = is_many.then(|| Queue { waiting: all(), here: Vec::new(), at: None });
        Parts { nodes, queue }
    }

    pub fn nodes(&self) -> &[Node<'s>] {
        &self.nodes
    }

    pub fn nodes_mut(&mut self) -> &mut [Node<'s>] {
        &mut self.nodes
    }

    /// Calls `each` with the parts that may have an entry, in their order. The ids must rise.
    pub fn each_at(
        &mut self,
        entry: EntryId,
        mut each: impl FnMut(&mut Node<'s>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(queue) = &mut self.queue else { return self.nodes.iter_mut().try_for_each(each) };
        queue.go_to(entry, &mut self.nodes)?;
        for part in &queue.here {
            if let Some(node) = self.nodes.get_mut(*part) {
                each(node)?;
            }
        }
        Ok(())
    }

    /// No part has an entry before this one, from one on. `None`: none has any more.
    fn next(&mut self, from: EntryId) -> Result<Option<EntryId>, Error> {
        if let Some(queue) = &mut self.queue {
            queue.go_to(from, &mut self.nodes)?;
            let waits = queue.waiting.peek().map(|Reverse((next, _))| *next);
            return Ok(if queue.here.is_empty() { waits } else { Some(from) });
        }
        let mut first: Option<EntryId> = None;
        for node in &mut self.nodes {
            first = first.into_iter().chain(node.next(from)?).min();
        }
        Ok(first)
    }
}

impl Queue {
    fn go_to(&mut self, entry: EntryId, nodes: &mut [Node<'_>]) -> Result<(), Error> {
        if self.at == Some(entry) {
            return Ok(());
        }
        let mut next = |part: usize| nodes.get_mut(part).map_or(Ok(None), |node| node.next(entry));
        for part in self.here.drain(..) {
            self.waiting.extend(next(part)?.map(|next| Reverse((next, part))));
        }
        while let Some(mut first) = self.waiting.peek_mut() {
            let Reverse((id, part)) = *first;
            if id > entry {
                break;
            }
            if id == entry {
                self.here.push(part);
                PeekMut::pop(first);
                continue;
            }
            match next(part)? {
                Some(next) => *first = Reverse((next, part)),
                None => _ = PeekMut::pop(first),
            }
        }
        self.at = Some(entry);
        Ok(())
    }
}

impl Node<'_> {
    /// It holds for no entry before this one, from one on. `None`: for none any more. The ids must rise.
    ///
    /// The depth of the recursion is that of the query's text, which is bounded.
    pub(super) fn next(&mut self, from: EntryId) -> Result<Option<EntryId>, Error> {
        match self {
            Node::Constant { members, .. } | Node::Word { members, .. } | Node::Phrase { members, .. } => {
                members.from(from)
            }
            Node::Near { found, place, .. } => {
                let rest = found.get(*place..).unwrap_or_default();
                *place += rest.partition_point(|(other, _)| *other < from);
                Ok(found.get(*place).map(|(entry, _)| *entry))
            }
            Node::Sum { must, may, .. } if must.is_empty() => may.next(from),
            // Whatever holds for all of them is not before the last of their next ones.
            Node::Sum { must, .. } => {
                let mut next = Some(from);
                for node in must {
                    let Some(from) = next else { break };
                    next = node.next(from)?;
                }
                Ok(next)
            }
        }
    }

    /// The entries that it has. `None`: they are no list.
    pub(super) fn members(&self) -> Option<&Members<'_>> {
        match self {
            Node::Constant { members, .. } | Node::Word { members, .. } | Node::Phrase { members, .. } => Some(members),
            Node::Near { .. } | Node::Sum { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Label, Scores, Weight, sum};
    use super::*;
    use crate::index::{Batch, EntryIds, EntrySet, Index, IndexSnapshot};
    use std::cell::Cell;
    use std::rc::Rc;
    use storage::Options;

    /// A list that counts the calls of it.
    struct CountingList {
        ids: std::vec::IntoIter<u64>,
        asked: Rc<Cell<usize>>,
    }

    impl EntryIds for CountingList {
        fn next(&mut self) -> Result<Option<EntryId>, Error> {
            self.seek(EntryId(0))
        }

        fn seek(&mut self, at_least: EntryId) -> Result<Option<EntryId>, Error> {
            self.asked.set(self.asked.get() + 1);
            Ok(self.ids.find(|id| *id >= at_least.0).map(EntryId))
        }

        fn count_max(&self) -> u64 {
            self.ids.len() as u64
        }
    }

    /// The entries of each part, and what each adds.
    type Lists = Vec<(Vec<u64>, f32)>;

    fn nodes<'s>(lists: &Lists, asked: &Rc<Cell<usize>>) -> Vec<Node<'s>> {
        let node = |(ids, weight): &(Vec<u64>, f32)| Node::Constant {
            members: Members::of(Box::new(CountingList { ids: ids.clone().into_iter(), asked: asked.clone() })),
            weight: Weight::new(1.0, *weight, Label::default()),
        };
        lists.iter().map(node).collect()
    }

    fn index() -> Index {
        let index = Index::in_memory(Options::default()).unwrap();
        index.write(&Batch::new()).unwrap();
        index
    }

    /// The best entries of parts of which any is enough, with their scores.
    fn best<'s>(snapshot: &'s IndexSnapshot<'s>, root: Node<'s>, set: &[u64], count_max: usize) -> Vec<(u64, f32)> {
        let mut scores =
            Scores { index: snapshot, root, norm: 1.0, known: Vec::new(), reservation: snapshot.reservation() };
        let mut entries = EntrySet::new();
        set.iter().for_each(|id| _ = entries.insert(EntryId(*id)));
        let check_cancel = || Ok::<(), Error>(());
        let found = scores.first(&entries, count_max, false, &check_cancel).unwrap();
        let of_all = scores.of_all(&found, &check_cancel).unwrap();
        found.iter().map(|id| id.0).zip(of_all).collect()
    }

    fn expected(lists: &Lists, set: &[u64], count_max: usize) -> Vec<(u64, f32)> {
        let score = |id: u64| {
            let held: Vec<f32> = lists.iter().filter(|(ids, _)| ids.contains(&id)).map(|(_, weight)| *weight).collect();
            held.iter().sum::<f32>() * held.len() as f32 / lists.len() as f32
        };
        let mut all: Vec<(u64, f32)> = set.iter().map(|id| (*id, score(*id))).collect();
        all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        all.truncate(count_max);
        all
    }

    /// 20,000 parts with one entry each: a list is asked for that entry, and once more to see that it ends.
    #[test]
    fn many_alternatives_cost_what_their_lists_have() {
        let (index, asked) = (index(), Rc::new(Cell::new(0)));
        let snapshot = index.read().unwrap();
        let count = 20_000;
        // Rising ids in parts that stand in no order.
        let lists: Lists = (0..count).map(|part| (vec![1 + part * 7 % count], 1.0)).collect();
        let set: Vec<u64> = (1..=count).collect();
        let found = best(&snapshot, sum(Vec::new(), nodes(&lists, &asked)), &set, 10);
        assert_eq!(found, (1..=10).map(|id| (id, 1.0 / count as f32)).collect::<Vec<_>>());
        // At the last entry nobody asks any more what comes after it.
        assert_eq!(asked.get(), 2 * count as usize - 1);
    }

    /// The same of parts that are conjunctions, and of alternatives within alternatives.
    #[test]
    fn alternatives_of_several_parts_cost_what_their_lists_have() {
        let (index, asked) = (index(), Rc::new(Cell::new(0)));
        let snapshot = index.read().unwrap();
        let count = 2_000;
        let set: Vec<u64> = (1..=count).collect();
        let all = set.clone();
        let both = (1..=count).map(|id| sum(nodes(&vec![(vec![id], 1.0), (all.clone(), 1.0)], &asked), Vec::new()));
        best(&snapshot, sum(Vec::new(), both.collect()), &set, 10);
        assert!(asked.get() <= 5 * count as usize, "{}", asked.get());
        asked.set(0);
        let any = (1..=count).map(|id| sum(Vec::new(), nodes(&vec![(vec![id], 1.0), (vec![id], 1.0)], &asked)));
        best(&snapshot, sum(Vec::new(), any.collect()), &set, 10);
        assert_eq!(asked.get(), 4 * count as usize - 2);
    }

    /// Few parts and many find what a plain look at all lists finds, in any subset of the entries.
    #[test]
    fn the_best_are_those_of_a_plain_look() {
        let index = index();
        let snapshot = index.read().unwrap();
        let mut random = testing::random::Random::new(5);
        let mut below = |end: u64| random.below(end);
        for round in 0..60 {
            let part_count = [1, 5, PARTS_ASKED_MAX, PARTS_ASKED_MAX + 1, 100][round % 5];
            let mut list = |_| {
                let one_in = 1 + below(60);
                let ids: Vec<u64> = (1..300).filter(|_| below(one_in) == 0).collect();
                // Powers of two: sums are exact in any order.
                (ids, (1 << below(4)) as f32)
            };
            let lists: Lists = (0..part_count).map(&mut list).collect();
            let skipped = 1 + below(3);
            let is_had = |id: &u64| lists.iter().any(|(ids, _)| ids.contains(id));
            let set: Vec<u64> = (1..300).filter(|id| id % skipped == 0).filter(is_had).collect();
            for count_max in [1, 10, 1000] {
                let asked = Rc::new(Cell::new(0));
                let root = sum(Vec::new(), nodes(&lists, &asked));
                assert_eq!(best(&snapshot, root, &set, count_max), expected(&lists, &set, count_max));
            }
        }
    }
}
