//! Publication of durable transactions. Log writes may complete in any order; snapshots and answers follow the longest complete
//! prefix.

use super::commit::QueuedJob;
use crate::environment::Inner;
use crate::error::Error;
use crate::ids::{SnapshotWord, TransactionId};
use crate::planted::{Bug, is_planted};
use crate::sync::Mutex;
use std::collections::BTreeMap;

/// Jobs that wait for earlier transactions.
pub(crate) struct Publication {
    state: Mutex<PublicationState>,
}

#[derive(Default)]
struct PublicationState {
    /// Transactions whose own record is durable while an earlier record is not yet.
    complete: BTreeMap<TransactionId, Vec<QueuedJob>>,
    /// Jobs that changed nothing but saw what this transaction changed.
    waiting: Vec<(TransactionId, Vec<QueuedJob>)>,
    /// This transaction's record was not written; it and all after it are lost.
    failed_from: Option<TransactionId>,
}

impl Publication {
    pub fn new() -> Self {
        Publication { state: Mutex::new(PublicationState::default()) }
    }

    /// The record of a transaction is durable, or its write failed. Publishes what is complete and answers the jobs.
    pub fn finish(&self, inner: &Inner, id: TransactionId, written: Result<(), Error>, jobs: Vec<QueuedJob>) {
        let mut ready = Vec::new();
        let mut lost = Vec::new();
        {
            let mut state = self.state.lock();
            if let Err(error) = written {
                inner.fail(error);
                state.failed_from = Some(state.failed_from.map_or(id, |from| from.min(id)));
            }
            if let Some(from) = state.failed_from {
                lost.extend(state.complete.split_off(&from).into_values().flatten());
            }
            if state.failed_from.is_some_and(|from| id >= from) {
                lost.extend(jobs);
            } else {
                state.complete.insert(id, jobs);
            }
            let mut published = inner.readers.published().transaction();
            let before = published;
            if is_planted(Bug::PrefixIgnored) {
                published = published.max(id);
                ready.extend(state.complete.remove(&id).into_iter().flatten().map(|job| (id, job)));
            }
            while let Some(jobs) = state.complete.remove(&TransactionId(published.0 + 1)) {
                published.0 += 1;
                ready.extend(jobs.into_iter().map(|job| (published, job)));
            }
            if published > before {
                inner.readers.publish(SnapshotWord::of(published));
            }
            let failed = state.failed_from.is_some();
            for (seen, jobs) in state.waiting.extract_if(.., |(seen, _)| *seen <= published || failed) {
                if seen <= published {
                    ready.extend(jobs.into_iter().map(|job| (seen, job)));
                } else {
                    lost.extend(jobs);
                }
            }
        }
        for (id, job) in ready {
            job.done(Ok(id));
        }
        if !lost.is_empty() {
            let error = inner.refusal();
            lost.into_iter().for_each(|job| job.done(Err(error.clone())));
        }
    }

    /// Answers jobs that changed nothing, when all that they may have seen is durable.
    pub fn after_earlier(&self, inner: &Inner, seen: TransactionId, mut jobs: Vec<QueuedJob>) {
        {
            let mut state = self.state.lock();
            let published = inner.readers.published().transaction();
            if published < seen && state.failed_from.is_none() {
                state.waiting.push((seen, std::mem::take(&mut jobs)));
            }
        }
        if inner.has_failed() {
            let error = inner.refusal();
            return jobs.into_iter().for_each(|job| job.done(Err(error.clone())));
        }
        jobs.into_iter().for_each(|job| job.done(Ok(seen)));
    }

    /// Makes new snapshots different from all before, without a new transaction: what was unlinked until now cannot be
    /// reached by them. Returns the word from which on that holds.
    pub fn next_epoch(&self, inner: &Inner) -> SnapshotWord {
        let _state = self.state.lock();
        let published = inner.readers.published();
        match published.next_epoch() {
            Some(next) => {
                inner.readers.publish(next);
                next
            }
            None => SnapshotWord::of(TransactionId(published.transaction().0 + 1)),
        }
    }
}
