//! A worker of a subscription: it takes batches and acknowledges them.

use std::sync::Arc;
use std::time::Instant;

use documents::{Date, Etag, ItemKind, Snapshot, Write};
use parking_lot::Mutex;

use super::definition::Subscription;
use super::live::{Live, Member, Place, WorkerEnd, document_of};
use super::source::{Entry, Source};
use crate::limits::{
    SUBSCRIPTION_BATCH_SIZE_MAX, SUBSCRIPTION_LOOK_TIME, SUBSCRIPTION_PASSED_STORED, SUBSCRIPTION_TRY_TIME,
};
use crate::queries::{BatchSink, Deadline, OfferedQuery, Query, RunContext};
use crate::{Database, Error, Result};

/// What there is for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A batch, whose number its acknowledgement names.
    Batch(u64),
    /// Nothing that fits was found yet, and there is more to look at.
    Searching,
    /// All documents were looked at.
    CaughtUp,
    /// The worker gets nothing more.
    Ended(WorkerEnd),
}

/// A connected worker. Dropping it frees the subscription for others; what it did not acknowledge is sent again.
pub struct Worker {
    database: Arc<Database>,
    subscription: Subscription,
    query: Mutex<Query>,
    live: Arc<Live>,
    member: Arc<Member>,
    count_max: usize,
}

/// An acknowledgement that is to be stored: apply the write, and drop this when it is durable, or has failed.
pub struct Acknowledgement {
    live: Arc<Live>,
    /// The write.
    pub write: Write,
}

impl Drop for Acknowledgement {
    fn drop(&mut self) {
        self.live.stored();
    }
}

impl Worker {
    pub(super) fn new(
        database: Arc<Database>,
        subscription: Subscription,
        query: Query,
        live: Arc<Live>,
        member: Arc<Member>,
        count_max: usize,
    ) -> Worker {
        Worker { database, subscription, query: Mutex::new(query), live, member, count_max }
    }

    /// The subscription as it was when the worker connected.
    pub fn subscription(&self) -> &Subscription {
        &self.subscription
    }

    /// The database.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The collection whose documents it gets; `None`: all.
    pub fn collection(&self) -> Option<String> {
        self.query.lock().plan.subscribed_collection().map(str::to_owned)
    }

    /// The kind of items whose writes may bring something new.
    pub fn kind(&self) -> ItemKind {
        if self.query.lock().plan.is_of_revisions { ItemKind::Revision } else { ItemKind::Document }
    }

    /// True if documents or counters may come with its batches.
    pub fn has_includes(&self) -> bool {
        let plan = &self.query.lock().plan;
        !plan.includes.is_empty() || !plan.counters.is_empty() || plan.script.is_some()
    }

    /// Why it gets nothing more, if that is so.
    pub fn end(&self) -> Option<WorkerEnd> {
        self.member.end().or_else(|| {
            let is_closed = self.database.is_closed() || self.database.has_moved();
            is_closed.then_some(WorkerEnd::DatabaseClosed)
        })
    }

    /// Makes the next batch. Does not wait for documents, but looks for some time for those that fit.
    ///
    /// # Errors
    ///
    /// Storage fails, memory is short, or a script of the query cannot be compiled.
    pub fn next(&self, sink: &mut dyn BatchSink) -> Result<Next> {
        let query = self.query.lock();
        let _turn = self.live.reading.lock();
        if let Some(end) = self.end() {
            return Ok(Next::Ended(end));
        }
        let place = match self.live.place(&self.member, self.count_max) {
            Ok(place) => place,
            Err(end) => return Ok(Next::Ended(end)),
        };
        let snapshot = self.database.read();
        let member = self.member.clone();
        let deadline = Deadline::new(None, move || member.end().is_some());
        let (memory, script_limits) = (self.database.limits().memory.clone(), self.database.limits().script);
        let context = RunContext { memory, deadline: &deadline, script_limits, timings: None };
        self.database.with_memory(|| {
            let mut offered = OfferedQuery::new(&query, &snapshot, context)?;
            let next = if place.again.is_empty() {
                self.read_on(&mut offered, &snapshot, &place, &query, sink)
            } else {
                self.read_again(&mut offered, &snapshot, &place.again, &query, sink)
            };
            let next = match next {
                Err(Error::Canceled) => Next::Ended(self.end().unwrap_or(WorkerEnd::Dropped)),
                next => next?,
            };
            if matches!(next, Next::Batch(_)) {
                offered.include_in(sink)?;
            }
            Ok(next)
        })
    }

    fn read_on<'a>(
        &self,
        offered: &mut OfferedQuery<'a>,
        snapshot: &'a Snapshot<'a>,
        place: &Place,
        query: &Query,
        sink: &mut dyn BatchSink,
    ) -> Result<Next> {
        let begin = Instant::now();
        let last = snapshot.last_etag()?;
        let (mut names, mut later, mut until, mut is_at_end) = (Vec::new(), Vec::new(), place.after, true);
        let is_congested = self.live.is_congested();
        for entry in Source::after(snapshot, query, place.after)? {
            let size = sink.size() + offered.counters_size();
            let is_full = names.len() >= self.count_max || size >= SUBSCRIPTION_BATCH_SIZE_MAX;
            if is_full || is_congested || begin.elapsed() >= SUBSCRIPTION_LOOK_TIME {
                is_at_end = false;
                break;
            }
            let entry = entry?;
            let name = entry.name();
            until = entry.etag();
            if place.taken.contains(document_of(&name)) {
                later.push(name);
            } else if self.subscription.archived.takes(entry.flags()) && entry.offer(offered, snapshot, sink)? {
                names.push(name);
            }
        }
        if is_at_end {
            until = last;
        }
        match self.live.hand_out(&self.member, names, later, until) {
            Err(end) => Ok(Next::Ended(end)),
            Ok(Some(batch)) => Ok(Next::Batch(batch)),
            Ok(None) => {
                self.store_passed()?;
                Ok(if is_at_end || is_congested { Next::CaughtUp } else { Next::Searching })
            }
        }
    }

    fn read_again<'a>(
        &self,
        offered: &mut OfferedQuery<'a>,
        snapshot: &'a Snapshot<'a>,
        again: &[String],
        query: &Query,
        sink: &mut dyn BatchSink,
    ) -> Result<Next> {
        let (mut names, mut gone) = (Vec::new(), Vec::new());
        for name in again {
            if sink.size() + offered.counters_size() >= SUBSCRIPTION_BATCH_SIZE_MAX {
                break;
            }
            match Entry::named(snapshot, query, name)? {
                Some(entry)
                    if self.subscription.archived.takes(entry.flags()) && entry.offer(offered, snapshot, sink)? =>
                {
                    names.push(name.clone());
                }
                _ => gone.push(name.clone()),
            }
        }
        if names.is_empty() {
            return Ok(match self.live.forget(&self.member, &gone) {
                Ok(()) => Next::Searching,
                Err(end) => Next::Ended(end),
            });
        }
        Ok(match self.live.hand_out_again(&self.member, names, &gone) {
            Ok(batch) => Next::Batch(batch),
            Err(end) => Next::Ended(end),
        })
    }

    /// Documents that do not fit are not looked at again after a restart, once there are many of them.
    fn store_passed(&self) -> Result<()> {
        let Some(mut progress) = self.live.passed(SUBSCRIPTION_PASSED_STORED) else { return Ok(()) };
        progress.change_vector = Some(self.database.documents().vector_of(progress.etag));
        let acknowledgement = Acknowledgement { live: self.live.clone(), write: progress.write(self.subscription.id) };
        self.database.write_blocking(&acknowledgement.write).map(drop)
    }

    /// Acknowledges a batch, which counts once the write is durable.
    ///
    /// `Err`: the worker gets nothing more; or, without a reason, it has no such batch.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn acknowledge(&self, batch: u64) -> std::result::Result<Acknowledgement, Option<WorkerEnd>> {
        if let Some(end) = self.end() {
            return Err(Some(end));
        }
        let mut progress = self.live.acknowledge(&self.member, batch, Date::now())?;
        progress.change_vector = Some(self.database.documents().vector_of(progress.etag));
        Ok(Acknowledgement { live: self.live.clone(), write: progress.write(self.subscription.id) })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.live.leave(&self.member);
    }
}

/// Writes documents of a subscription without a worker, from an etag on, and what comes with them.
pub(super) fn look(
    database: &Database,
    query: &Query,
    subscription: &Subscription,
    after: Etag,
    count_max: usize,
    sink: &mut dyn BatchSink,
) -> Result<()> {
    let (begin, snapshot) = (Instant::now(), database.read());
    let deadline = Deadline::new(Some(SUBSCRIPTION_TRY_TIME), || false);
    let (memory, script_limits) = (database.limits().memory.clone(), database.limits().script);
    let context = RunContext { memory, deadline: &deadline, script_limits, timings: None };
    database.with_memory(|| {
        let mut offered = OfferedQuery::new(query, &snapshot, context)?;
        let mut count = 0;
        for entry in Source::after(&snapshot, query, after)? {
            let size = sink.size() + offered.counters_size();
            let is_full = count >= count_max || size >= SUBSCRIPTION_BATCH_SIZE_MAX;
            if is_full || begin.elapsed() >= SUBSCRIPTION_TRY_TIME {
                break;
            }
            let entry = entry?;
            if subscription.archived.takes(entry.flags()) && entry.offer(&mut offered, &snapshot, sink)? {
                count += 1;
            }
        }
        offered.include_in(sink)
    })
}
