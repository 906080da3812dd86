//! The one crossing between async and the plain, blocking functions below.
//!
//! A short read (one document) runs right on the network thread: handing it over would cost more than it does. What may
//! take long runs on threads of a [`Pool`] ([`Bridge::run`], `answers`), of which each kind of work has its own, so that
//! none waits behind work that lasts as long as a client likes. Writes wait for a call-back, not on a thread ([`Bridge::answer`]).
//!
//! An API key or certificate takes half of the places for reads and for streams at most, and half of those that wait for one: what lasts as
//! long as a client likes must leave room for others. Without HTTPS clients are not told apart.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Duration;

use database::{AsyncWrites, Lead, script};
use parking_lot::Mutex;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::error::{Error, Result};
use crate::limits::{Limits, PLACE_THREADS_MAX, SHARES_SWEPT_FROM, SHORT_WORK_SIZE};
use crate::memory::Memory;

/// Whose threads work runs on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pool {
    /// Queries and lists: as long as `Limits.QueryRunTimeInSec`.
    Reads,
    /// Answers that are sent while they are made: as long as their readers take.
    Streams,
    /// Bulk inserts that wait for the disk.
    BulkInserts,
    /// What has an end of its own: administration, parsing and compressing.
    Short,
    /// Lists of places for backups, which wait for as long as a store elsewhere takes.
    Places,
}

/// Who has a share of the pools: SHA-256 of an API key or a certificate.
pub(crate) type Owner = [u8; 32];

/// The share of one owner: of reads and of streams.
#[derive(Debug)]
struct Share {
    pools: [SharePool; 2],
    turning: Arc<Semaphore>,
}

#[derive(Debug)]
struct SharePool {
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A place in a pool, and in the share of its owner.
#[derive(Debug)]
pub(crate) struct PoolPermit {
    _place: OwnedSemaphorePermit,
    _of_share: Option<(Arc<Share>, OwnedSemaphorePermit)>,
}

impl Pool {
    /// The place in a [`Share`] of pools that are shared.
    fn shared(self) -> Option<usize> {
        match self {
            Pool::Reads => Some(0),
            Pool::Streams => Some(1),
            Pool::BulkInserts | Pool::Short | Pool::Places => None,
        }
    }
}

/// The most that one owner has of a pool or a queue.
fn half(count: usize) -> usize {
    (count / 2).max(1)
}

/// The bounded pools.
#[derive(Debug)]
pub(crate) struct Bridge {
    pools: [Permits; 5],
    /// Those that are in use, and some that were.
    shares: Mutex<HashMap<Owner, Weak<Share>>>,
    /// Reads that turn out to be long, and wait with their thread for a place among the streams.
    turning: Arc<Semaphore>,
    bulk_inserts: BulkInsertThreads,
    waiting_max: usize,
    wait_max: Duration,
    memory: Arc<Memory>,
    async_writes: Option<Arc<AsyncWrites>>,
}

/// Threads of their own for bulk inserts. The allocator keeps what a thread has freed for that thread, some 10 MB after a part of a bulk
/// insert, and idle threads take turns. On the threads of all pools together (over 100 beside slow streams), that is more than a gigabyte.
#[derive(Debug)]
struct BulkInsertThreads(Option<tokio::runtime::Runtime>);

impl Drop for BulkInsertThreads {
    fn drop(&mut self) {
        // It may be dropped on a network thread, which must not wait for threads to end.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Debug)]
struct Permits {
    name: &'static str,
    count: usize,
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// One that waits; it may stop waiting at any time.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Bridge {
    /// * `memory`: where scripts reserve what they hold.
    /// * `async_writes`: where commits wait for the device, if the system has that.
    ///
    /// # Errors
    ///
    /// The system refuses what the threads of bulk inserts need.
    pub(crate) fn new(
        limits: &Limits,
        memory: Arc<Memory>,
        async_writes: Option<Arc<AsyncWrites>>,
    ) -> std::io::Result<Bridge> {
        let permits = |name, count| Permits {
            name,
            count,
            running: Arc::new(Semaphore::new(count)),
            waiting: AtomicUsize::new(0),
        };
        // What runs there waits for the disk alone, so that the runtime needs neither timers nor sockets.
        let bulk_inserts = tokio::runtime::Builder::new_current_thread()
            .thread_name("bulk-insert")
            // A limit of 0 refuses all bulk inserts, and a runtime has at least one thread.
            .max_blocking_threads(limits.bulk_insert_thread_count.max(1))
            .build()?;
        Ok(Bridge {
            bulk_inserts: BulkInsertThreads(Some(bulk_inserts)),
            pools: [
                permits("Limits.BlockingThreads", limits.blocking_thread_count),
                permits("Limits.Streams", limits.stream_count),
                permits("Limits.BulkInsertThreads", limits.bulk_insert_thread_count),
                permits("Limits.ShortThreads", limits.short_thread_count),
                permits("PLACE_THREADS_MAX", PLACE_THREADS_MAX),
            ],
            shares: Mutex::default(),
            turning: Arc::new(Semaphore::new(limits.stream_count)),
            waiting_max: limits.blocking_queue_count,
            wait_max: limits.blocking_wait,
            memory,
            async_writes,
        })
    }

    /// Runs `work` on a pool and waits for it. A panic in it becomes an error of this request. Who stops waiting before it
    /// has begun takes it back.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        pool: Pool,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.permit(pool, None).await?;
        self.with_permit(pool, permit, work).await
    }

    /// Runs `work` on a thread, with a place in `pool`, and waits for it. Scripts in it end soon after the caller stops waiting.
    pub(crate) async fn with_permit<T: Send + 'static>(
        &self,
        pool: Pool,
        permit: PoolPermit,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let memory = self.memory.clone();
        let waits = Arc::new(());
        let caller = Arc::downgrade(&waits);
        let work = move || {
            let _permit = permit;
            script::stoppable(Rc::new(move || caller.strong_count() == 0), || {
                database::with_script_memory(&memory, work)
            })
        };
        let handle = match (pool, &self.bulk_inserts.0) {
            (Pool::BulkInserts, Some(threads)) => threads.spawn_blocking(work),
            _ => tokio::task::spawn_blocking(work),
        };
        let outcome = handle.await;
        drop(waits);
        outcome.unwrap_or_else(|error| Err(Error::Panicked(error.to_string())))
    }

    /// Runs `work` on `size` bytes: right here if they are few, else on the pool.
    pub(crate) async fn run_sized<T: Send + 'static>(
        &self,
        size: usize,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if size <= SHORT_WORK_SIZE { work() } else { self.run(Pool::Short, work).await }
    }

    /// Waits for a place in a pool.
    ///
    /// * `owner`: who has a share of the pool; `None`: it is not told from others.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if too many wait, or none becomes free in time.
    pub(crate) async fn permit(&self, pool: Pool, owner: Option<Owner>) -> Result<PoolPermit> {
        let Permits { name, count, running, waiting } = &self.pools[pool as usize];
        let share = owner.and_then(|owner| Some((self.share(owner), pool.shared()?)));
        let of_share = match &share {
            None => Some(None),
            Some((share, pool)) => {
                let permit = share.pools[*pool].running.clone().try_acquire_owned().ok();
                permit.map(|permit| Some((share.clone(), permit)))
            }
        };
        if let Some(of_share) = of_share
            && let Ok(place) = running.clone().try_acquire_owned()
        {
            return Ok(PoolPermit { _place: place, _of_share: of_share });
        }
        let busy =
            |limit, value: usize| Error::Busy { threads: name, count: *count as u64, limit, value: value as u64 };
        let is_full = waiting.fetch_add(1, Relaxed) >= self.waiting_max;
        let _waiting = Waiting(waiting);
        let own = share.as_ref().map(|(share, pool)| &share.pools[*pool].waiting);
        let is_own_full = own.is_some_and(|own| own.fetch_add(1, Relaxed) >= half(self.waiting_max));
        let _own_waiting = own.map(Waiting);
        if is_full || is_own_full {
            return Err(busy("Limits.BlockingQueue", self.waiting_max));
        }
        // Who has no room in its own share waits there, so that it does not stand before others in the queue of all.
        let permits = async {
            let of_share = match &share {
                None => None,
                Some((share, pool)) => {
                    let permit = share.pools[*pool].running.clone().acquire_owned().await.ok()?;
                    Some((share.clone(), permit))
                }
            };
            Some(PoolPermit { _place: running.clone().acquire_owned().await.ok()?, _of_share: of_share })
        };
        let permits = tokio::time::timeout(self.wait_max, permits).await;
        let seconds = usize::try_from(self.wait_max.as_secs()).unwrap_or(usize::MAX);
        permits.ok().flatten().ok_or_else(|| busy("Limits.BlockingWaitInSec", seconds))
    }

    fn share(&self, owner: Owner) -> Arc<Share> {
        let mut shares = self.shares.lock();
        if let Some(share) = shares.get(&owner).and_then(Weak::upgrade) {
            return share;
        }
        if shares.len() >= SHARES_SWEPT_FROM {
            shares.retain(|_, share| share.strong_count() > 0);
        }
        let pool = |pool: Pool| SharePool {
            running: Arc::new(Semaphore::new(half(self.pools[pool as usize].count))),
            waiting: AtomicUsize::new(0),
        };
        let turning = Arc::new(Semaphore::new(half(self.pools[Pool::Streams as usize].count)));
        let share = Arc::new(Share { pools: [pool(Pool::Reads), pool(Pool::Streams)], turning });
        shares.insert(owner, Arc::downgrade(&share));
        share
    }

    /// Waits for the call-back of a write, without holding a thread. `begin` gets the call-back and hands the write over.
    ///
    /// If the database's queue has no leader, this thread begins the commit, and goes on with other connections while the device
    /// writes. Where the system has no asynchronous writes, a write that is alone is led right here, until it is durable: the
    /// runtime gives this thread's other work to another one meanwhile, and the way to a thread of the pool and back would cost as
    /// much as the device.
    pub(crate) async fn answer<T: Send + 'static>(
        &self,
        begin: impl FnOnce(WriteSender<T>) -> Option<Lead>,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        if let Some(lead) = begin(WriteSender { sender }) {
            if let Some(writes) = &self.async_writes {
                // Requests that have arrived already go into the same commit.
                tokio::task::yield_now().await;
                lead.begin(writes);
            } else if lead.is_alone() && Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
                tokio::task::block_in_place(|| lead.run());
            }
        }
        match receiver.await {
            Ok(outcome) => Ok(outcome?),
            Err(_) => Err(Error::Panicked("a write was dropped without an answer".to_owned())),
        }
    }

    /// A place among the streams for work that runs already: waits on this thread, not in its old place.
    pub(crate) fn turn_into_stream(&self, old: Option<PoolPermit>, owner: Option<Owner>) -> Result<PoolPermit> {
        let Permits { name, count, .. } = &self.pools[Pool::Streams as usize];
        let count = *count as u64;
        let busy = |_| Error::Busy { threads: name, count, limit: name, value: count };
        let share = owner.map(|owner| self.share(owner));
        let _of_share = share.as_ref().map(|share| share.turning.try_acquire()).transpose().map_err(busy)?;
        let _turning = self.turning.try_acquire().map_err(busy)?;
        drop(old);
        tokio::runtime::Handle::current().block_on(self.permit(Pool::Streams, owner))
    }
}

/// The call-back of one write.
pub(crate) struct WriteSender<T> {
    sender: oneshot::Sender<database::Result<T>>,
}

impl<T: Send + 'static> WriteSender<T> {
    /// The function that databases call.
    pub(crate) fn into_call_back(self) -> impl FnOnce(database::Result<T>) + Send + 'static {
        // Nobody may be there any more to hear it: the client went away, the write counts all the same.
        move |outcome| drop(self.sender.send(outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_owner_leaves_half_of_the_places_and_of_the_queue_to_others() {
        let limits =
            Limits { stream_count: 4, blocking_queue_count: 4, blocking_wait: Duration::ZERO, ..Limits::default() };
        let bridge = Bridge::new(&limits, Memory::new("Limits.Test", 1 << 20), None).unwrap();
        let permit = async |owner: Option<Owner>| bridge.permit(Pool::Streams, owner).await;
        let limit = |outcome: Result<PoolPermit>| match outcome {
            Err(Error::Busy { limit, .. }) => limit,
            other => panic!("{other:?}"),
        };
        let (one, other) = (Some([1; 32]), Some([2; 32]));
        let held = [permit(one).await.unwrap(), permit(one).await.unwrap()];
        assert_eq!(limit(permit(one).await), "Limits.BlockingWaitInSec");
        let of_other = [permit(other).await.unwrap(), permit(other).await.unwrap()];
        assert_eq!(limit(permit(None).await), "Limits.BlockingWaitInSec");
        drop(of_other);
        // What waits for its own share is not before others.
        let patient = Limits { blocking_wait: Duration::from_secs(3600), ..limits };
        let bridge = Arc::new(Bridge::new(&patient, Memory::new("Limits.Test", 1 << 20), None).unwrap());
        let first =
            [bridge.permit(Pool::Streams, one).await.unwrap(), bridge.permit(Pool::Streams, one).await.unwrap()];
        let waiting: Vec<_> = (0..2)
            .map(|_| {
                let bridge = bridge.clone();
                tokio::spawn(async move { bridge.permit(Pool::Streams, one).await.map(drop) })
            })
            .collect();
        while bridge.pools[Pool::Streams as usize].waiting.load(Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(limit(bridge.permit(Pool::Streams, one).await), "Limits.BlockingQueue");
        assert!(bridge.permit(Pool::Streams, other).await.is_ok() && bridge.permit(Pool::Streams, None).await.is_ok());
        drop((first, held));
        for waiting in waiting {
            waiting.await.unwrap().unwrap();
        }
        assert_eq!(bridge.pools[Pool::Streams as usize].waiting.load(Relaxed), 0);
    }
}
