//! The best entries of a set by their scores, without scoring all.
//!
//! Of a search for several words, most entries have a common one only, and once a page is full of better ones they cannot come
//! into it any more: a part cannot add more than its weight for as often as its word ever comes. Parts that together do not reach
//! the worst entry kept lead nowhere; candidates are what the others have. This is MaxScore (Turtle and Flood, "Query
//! evaluation: strategies and optimizations", 1995). Each candidate asks each part for its next entry, so it is for few parts only: those
//! of many wait in a heap ([`super::parts`]), and all that is found is scored.

use super::super::CancelCheck;
use super::super::best::Best;
use super::parts::PARTS_ASKED_MAX;
use super::{Members, Node, Scores, of_sortable, sortable};
use crate::index::{EntryId, EntryIds, EntrySet, Error};
use std::cmp::Reverse;

/// What a bound is raised by, so that rounding never puts a score above it.
const SLACK: f32 = 1.0001;

impl Scores<'_> {
    /// The first entries of a set by their scores, and by their ids where those are equal.
    ///
    /// They are asked for once, of new `Scores`; [`Self::of_all`] knows the scores of what is given from then on.
    ///
    /// * `worst_first`: the other way round.
    pub fn first<E: From<Error>>(
        &mut self,
        set: &EntrySet,
        count_max: usize,
        worst_first: bool,
        check_cancel: CancelCheck<'_, E>,
    ) -> Result<Vec<EntryId>, E> {
        if let Some(alternatives) = self.root.alternatives().filter(|_| !worst_first && count_max > 0) {
            return self.best_of(alternatives, set, count_max, check_cancel);
        }
        let mut best = Best::new(count_max, self.index.reservation());
        let mut entries = set.entries();
        while let Some(id) = entries.next()? {
            check_cancel()?;
            let key = sortable(self.score_now(id)?);
            best.push((Reverse(if worst_first { !key } else { key }), id))?;
        }
        Ok(self.keep(best, worst_first))
    }

    fn best_of<E: From<Error>>(
        &mut self,
        alternatives: Alternatives,
        set: &EntrySet,
        count_max: usize,
        check_cancel: CancelCheck<'_, E>,
    ) -> Result<Vec<EntryId>, E> {
        let mut best = Best::new(count_max, self.index.reservation());
        let (mut from, mut hopeless) = (EntryId(0), 0);
        loop {
            check_cancel()?;
            let mut candidate = None;
            for part in alternatives.rising.get(hopeless..).unwrap_or_default() {
                candidate = candidate.into_iter().chain(self.root.next_of(*part, from)?).min();
            }
            let Some(id) = candidate else { return Ok(self.keep(best, false)) };
            from = EntryId(id.0 + 1);
            if !set.contains(id) {
                continue;
            }
            best.push((Reverse(sortable(self.score_now(id)?)), id))?;
            // Ids rise, so that another one of the same score comes behind.
            if let Some((Reverse(worst), _)) = best.last() {
                while alternatives.reach.get(hopeless).is_some_and(|most| sortable(*most) <= *worst) {
                    hopeless += 1;
                }
            }
        }
    }

    /// Keeps the scores of the best, and gives their ids.
    fn keep(&mut self, best: Best<(Reverse<u32>, EntryId)>, worst_first: bool) -> Vec<EntryId> {
        let best = best.into_sorted();
        let score = |key: u32| of_sortable(if worst_first { !key } else { key });
        self.known = best.iter().map(|(Reverse(key), id)| (*id, score(*key))).collect();
        self.known.sort_unstable_by_key(|(id, _)| *id);
        best.into_iter().map(|(_, id)| id).collect()
    }
}

/// The parts of a search of which any is enough.
struct Alternatives {
    /// Which part, that which can add least first.
    rising: Vec<usize>,
    /// What an entry can reach at most that has none but the first, the first two, and so on.
    reach: Vec<f32>,
}

impl Node<'_> {
    /// `None`: all that is found has to be scored.
    fn alternatives(&self) -> Option<Alternatives> {
        let Node::Sum { must, may, must_not, counts, .. } = self else { return None };
        let may = may.nodes();
        let has_lists = may.iter().all(|part| matches!(part.members(), Some(Members::List { .. })));
        if may.is_empty() || may.len() > PARTS_ASKED_MAX || !must.is_empty() || !must_not.is_empty() || !has_lists {
            return None;
        }
        let bounds: Vec<f32> = may.iter().map(Node::most).collect();
        if bounds.iter().any(|bound| bound.is_nan() || *bound < 0.0) {
            return None;
        }
        let mut rising: Vec<usize> = (0..may.len()).collect();
        rising.sort_by(|a, b| bounds[*a].total_cmp(&bounds[*b]));
        let (mut sum, mut held) = (0.0, 0);
        let reach = rising.iter().map(|part| {
            sum += bounds[*part];
            held += 1;
            SLACK * if *counts { sum * held as f32 / may.len() as f32 } else { sum }
        });
        let reach = reach.collect();
        Some(Alternatives { rising, reach })
    }

    /// The first entry from one on that an alternative has.
    fn next_of(&mut self, part: usize, from: EntryId) -> Result<Option<EntryId>, Error> {
        let Node::Sum { may, .. } = self else { return Ok(None) };
        may.nodes_mut().get_mut(part).map_or(Ok(None), |part| part.next(from))
    }

    /// What it can add at most.
    fn most(&self) -> f32 {
        match self {
            Node::Constant { weight, .. } => weight.value,
            Node::Word { frequencies, similarity, weight, .. } => {
                similarity.most(frequencies.most() as f32).map_or(f32::INFINITY, |most| most * weight.value)
            }
            Node::Phrase { .. } | Node::Near { .. } | Node::Sum { .. } => f32::INFINITY,
        }
    }
}
