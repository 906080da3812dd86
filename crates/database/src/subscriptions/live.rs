//! What is known of a subscription while workers are connected: who they are, what was handed out to them, what is to be sent again.
//!
//! ```text
//!            durable        batches on their way        next
//! ───────────────┼──────────[──────)──[────────)──────────┼─────────────► etags
//!  acknowledged                                              not read yet
//! ```
//!
//! A document is with one worker at a time. One that is written again while it is with a worker, and one whose worker left before it
//! acknowledged, is noted to be sent again. A revision waits in the same way while a worker has another one of its document: those of
//! one document come in their order, also to several workers. Progress that is stored never passes a document that is with a worker or
//! noted, so that what a crash forgets is sent again: at least once.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, OnceLock};

use documents::{Date, Etag, id};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::definition::SubscriptionProgress;
use crate::Result;
use crate::limits::{SUBSCRIPTION_AGAIN_MAX, SUBSCRIPTION_WAITING_MAX, SUBSCRIPTION_WORKERS_MAX};

/// Called when there may be something new for a worker: it must only wake a task or thread, which then looks.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// What happens if a subscription has a worker already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The new one is refused.
    OpenIfFree,
    /// The other one is sent away.
    TakeOver,
    /// The new one waits until there is none.
    WaitForFree,
    /// Both get documents, if the other one agrees to that too.
    Concurrent,
}

/// Why a worker gets nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    /// Another worker has taken its place.
    TakenOver,
    /// An administrator ended its connection.
    Dropped,
    /// The subscription was deleted.
    Deleted,
    /// The subscription was changed: who connects again gets the changed one.
    Changed,
    /// The subscription was disabled.
    Disabled,
    /// The database was closed: disabled, deleted, or opened again.
    DatabaseClosed,
}

/// A connection, for people.
#[derive(Clone, Debug)]
pub struct ConnectionInfo {
    /// Where the worker is.
    pub address: String,
    /// How it connected.
    pub strategy: Strategy,
    /// The name that it gave itself.
    pub worker_id: Option<String>,
    /// Since when.
    pub since: Date,
}

/// Why a worker does not connect.
pub(super) enum NotConnected {
    /// There is another one.
    InUse,
    /// There is another one, and it does not share.
    InUseAlone,
    /// There are as many as there may be: the limit.
    TooMany(&'static str),
}

/// A worker's own part.
pub(super) struct Member {
    number: u64,
    info: ConnectionInfo,
    wake: Wake,
    end: OnceLock<WorkerEnd>,
}

impl Member {
    pub fn end(&self) -> Option<WorkerEnd> {
        self.end.get().copied()
    }

    fn send_away(&self, end: WorkerEnd) {
        // The first reason counts.
        _ = self.end.set(end);
        (self.wake)();
    }

    fn is_concurrent(&self) -> bool {
        self.info.strategy == Strategy::Concurrent
    }
}

/// The workers of one subscription.
#[derive(Default)]
pub(super) struct Live {
    state: Mutex<State>,
    /// No acknowledgement is being stored.
    stored: Condvar,
    /// Held by the one that reads: workers take turns.
    pub(super) reading: Mutex<()>,
}

#[derive(Default)]
struct State {
    members: Vec<Arc<Member>>,
    waiting: Vec<(u64, Wake)>,
    /// The next number of a member, a waiter or a batch.
    number: u64,
    progress: SubscriptionProgress,
    /// All up to this etag was handed out or passed over.
    next: Etag,
    batches: BTreeMap<u64, HandedOut>,
    /// By the lower-cased id: documents to be sent again, each with an etag that progress must not pass.
    again: BTreeMap<String, Etag>,
    /// Acknowledgements that are being stored.
    storing: usize,
}

/// A batch that a worker has and did not acknowledge.
struct HandedOut {
    member: u64,
    /// The etag before its first document.
    after: Etag,
    /// Lower-cased ids, of documents or of revisions ([`super::source`]).
    ids: Vec<String>,
}

/// Where a worker reads on.
pub(super) struct Place {
    pub after: Etag,
    /// Lower-cased ids of documents that are to be sent again, and that no worker has now.
    pub again: Vec<String>,
    /// Those of documents that workers have.
    pub taken: HashSet<String>,
}

impl Live {
    /// Takes a worker in, or says why not.
    ///
    /// * `progress`: reads what is stored.
    pub fn connect(
        &self,
        info: ConnectionInfo,
        wake: Wake,
        progress: impl FnOnce() -> Result<SubscriptionProgress>,
    ) -> Result<std::result::Result<Arc<Member>, NotConnected>> {
        let mut state = self.without_storing();
        let is_shared = state.members.iter().all(|member| member.is_concurrent());
        match info.strategy {
            _ if state.members.is_empty() => {}
            Strategy::Concurrent if is_shared => {}
            Strategy::Concurrent => return Ok(Err(NotConnected::InUseAlone)),
            Strategy::TakeOver if !is_shared => {
                for member in state.members.drain(..) {
                    member.send_away(WorkerEnd::TakenOver);
                }
            }
            Strategy::TakeOver | Strategy::OpenIfFree | Strategy::WaitForFree => return Ok(Err(NotConnected::InUse)),
        }
        if state.members.len() >= SUBSCRIPTION_WORKERS_MAX {
            return Ok(Err(NotConnected::TooMany("SUBSCRIPTION_WORKERS_MAX")));
        }
        if state.members.is_empty() {
            state.progress = progress()?;
            state.next = state.progress.etag;
            state.batches.clear();
            state.again.clear();
        }
        state.progress.connected = Some(info.since);
        let number = state.next_number();
        let member = Arc::new(Member { number, info, wake, end: OnceLock::new() });
        state.members.push(member.clone());
        Ok(Ok(member))
    }

    /// Waits in line until the subscription has no worker; gives the place in the line. `wake` is called then, and perhaps before.
    pub fn wait(&self, wake: Wake) -> std::result::Result<u64, NotConnected> {
        let mut state = self.state.lock();
        if state.waiting.len() >= SUBSCRIPTION_WAITING_MAX {
            return Err(NotConnected::TooMany("SUBSCRIPTION_WAITING_MAX"));
        }
        let number = state.next_number();
        // It may have become free meanwhile.
        if state.members.is_empty() {
            wake();
        }
        state.waiting.push((number, wake));
        Ok(number)
    }

    pub fn wait_no_more(&self, place: u64) {
        self.state.lock().waiting.retain(|(number, _)| *number != place);
    }

    /// Whether no worker is connected, and none waits.
    pub fn is_unused(&self) -> bool {
        let state = self.state.lock();
        state.members.is_empty() && state.waiting.is_empty()
    }

    pub fn connections(&self) -> Vec<ConnectionInfo> {
        self.state.lock().members.iter().map(|member| member.info.clone()).collect()
    }

    /// When a worker connected last, if that is not stored yet.
    pub fn connected(&self) -> Option<Date> {
        self.state.lock().progress.connected
    }

    /// Sends workers away, and returns when none of their acknowledgements is being stored.
    ///
    /// * `worker_id`: those that gave themselves this name; `None`: all, and those that wait look again.
    pub fn send_away(&self, end: WorkerEnd, worker_id: Option<&str>) {
        let mut state = self.without_storing();
        let is_meant = |member: &Arc<Member>| worker_id.is_none() || member.info.worker_id.as_deref() == worker_id;
        let meant: Vec<Arc<Member>> = state.members.iter().filter(|member| is_meant(member)).cloned().collect();
        for member in meant {
            state.leave(&member);
            member.send_away(end);
        }
        state.wake_waiting();
    }

    /// A worker leaves.
    pub fn leave(&self, member: &Member) {
        self.state.lock().leave(member);
    }

    /// Where a worker reads on; `Err`: it may not.
    ///
    /// * `count_max`: how many documents it takes.
    pub fn place(&self, member: &Member, count_max: usize) -> std::result::Result<Place, WorkerEnd> {
        let state = self.state.lock();
        if let Some(end) = member.end() {
            return Err(end);
        }
        let ids = state.batches.values().flat_map(|batch| &batch.ids);
        let taken: HashSet<String> = ids.map(|id| document_of(id).to_owned()).collect();
        let again = state.again.keys().filter(|id| !taken.contains(document_of(id))).take(count_max).cloned().collect();
        Ok(Place { after: state.next, again, taken })
    }

    /// Whether as many documents wait to be sent again as may.
    pub fn is_congested(&self) -> bool {
        self.state.lock().again.len() >= SUBSCRIPTION_AGAIN_MAX
    }

    /// A worker gets documents which were to be sent again; those that are gone or fit no longer are forgotten. Gives the number of the
    /// batch; `Err`: the worker was sent away while it read, and what it read is for others.
    pub fn hand_out_again(
        &self,
        member: &Member,
        ids: Vec<String>,
        gone: &[String],
    ) -> std::result::Result<u64, WorkerEnd> {
        let mut state = self.state.lock();
        if let Some(end) = member.end() {
            return Err(end);
        }
        let after = ids.iter().filter_map(|id| state.again.get(id)).copied().min().unwrap_or(state.next);
        ids.iter().chain(gone).for_each(|id| _ = state.again.remove(id));
        Ok(state.hand_out(member, after, ids))
    }

    /// Documents that were to be sent again are gone, or fit no longer. `Err`: as of [`Self::hand_out_again`].
    pub fn forget(&self, member: &Member, ids: &[String]) -> std::result::Result<(), WorkerEnd> {
        let mut state = self.state.lock();
        if let Some(end) = member.end() {
            return Err(end);
        }
        ids.iter().for_each(|id| _ = state.again.remove(id));
        Ok(())
    }

    /// A worker gets documents, and everything up to an etag was read.
    ///
    /// `Err`: as of [`Self::hand_out_again`]. The one that took its place has begun anew, and must not find that these were passed.
    ///
    /// * `later`: ids of documents that were passed over because another worker has them.
    pub fn hand_out(
        &self,
        member: &Member,
        ids: Vec<String>,
        later: Vec<String>,
        until: Etag,
    ) -> std::result::Result<Option<u64>, WorkerEnd> {
        let mut state = self.state.lock();
        if let Some(end) = member.end() {
            return Err(end);
        }
        let after = state.next;
        for id in later {
            let known = state.again.entry(id).or_insert(after);
            *known = after.min(*known);
        }
        state.next = until;
        Ok(if ids.is_empty() { None } else { Some(state.hand_out(member, after, ids)) })
    }

    /// A worker acknowledges a batch: what is to be stored. [`Self::stored`] must follow.
    pub fn acknowledge(
        &self,
        member: &Member,
        batch: u64,
        now: Date,
    ) -> std::result::Result<SubscriptionProgress, Option<WorkerEnd>> {
        let mut state = self.state.lock();
        if let Some(end) = member.end() {
            return Err(Some(end));
        }
        if state.batches.get(&batch).is_none_or(|handed| handed.member != member.number) {
            return Err(None);
        }
        state.batches.remove(&batch);
        state.progress.etag = state.acknowledged();
        state.progress.acknowledged = Some(now);
        state.storing += 1;
        if !state.again.is_empty() {
            state.members.iter().for_each(|other| (other.wake)());
        }
        Ok(state.progress.clone())
    }

    /// What is to be stored because much was passed over, if it is worth a write. [`Self::stored`] must follow.
    pub fn passed(&self, worth: u64) -> Option<SubscriptionProgress> {
        let mut state = self.state.lock();
        let reached = state.acknowledged();
        if reached.saturating_sub(state.progress.etag) < worth {
            return None;
        }
        state.progress.etag = reached;
        state.storing += 1;
        Some(state.progress.clone())
    }

    /// What was to be stored is, or could not be.
    pub fn stored(&self) {
        self.state.lock().storing -= 1;
        self.stored.notify_all();
    }

    fn without_storing(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        while state.storing > 0 {
            self.stored.wait(&mut state);
        }
        state
    }
}

impl State {
    fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn hand_out(&mut self, member: &Member, after: Etag, ids: Vec<String>) -> u64 {
        let number = self.next_number();
        self.batches.insert(number, HandedOut { member: member.number, after, ids });
        number
    }

    /// Everything up to this etag is acknowledged or was passed over.
    fn acknowledged(&self) -> Etag {
        let handed_out = self.batches.values().map(|batch| batch.after);
        handed_out.chain(self.again.values().copied()).min().unwrap_or(self.next)
    }

    fn leave(&mut self, member: &Member) {
        let before = self.members.len();
        self.members.retain(|other| other.number != member.number);
        if self.members.len() == before {
            return;
        }
        let left: Vec<u64> =
            self.batches.iter().filter(|(_, batch)| batch.member == member.number).map(|(number, _)| *number).collect();
        for number in left {
            let Some(batch) = self.batches.remove(&number) else { continue };
            for id in batch.ids {
                let known = self.again.entry(id).or_insert(batch.after);
                *known = batch.after.min(*known);
            }
        }
        if self.members.is_empty() {
            self.wake_waiting();
        } else if !self.again.is_empty() {
            self.members.iter().for_each(|other| (other.wake)());
        }
    }

    fn wake_waiting(&self) {
        self.waiting.iter().for_each(|(_, wake)| wake());
    }
}

/// The id of a document as it is compared.
pub(super) fn key(id: &str) -> String {
    id::lower_text(id)
}

/// The document that an id of a batch belongs to: no two workers have anything of one document at once.
pub(super) fn document_of(name: &str) -> &str {
    name.split_once('\0').map_or(name, |(document, _)| document)
}
