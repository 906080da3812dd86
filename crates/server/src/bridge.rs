//! The one crossing between async and the plain, blocking functions below.
//!
//! A short read (one document) runs right on the network thread: handing it over would cost more than it does. What may
//! take long runs on threads of a [`Pool`] ([`Bridge::run`], `answers`), of which each kind of work has its own, so that
//! none waits behind work that lasts as long as a client likes. Writes wait for a call-back, not on a thread ([`Bridge::answer`]).

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use database::{AsyncWrites, Lead, script};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::error::{Error, Result};
use crate::limits::{Limits, SHORT_WORK_SIZE};
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
}

/// The bounded pools.
#[derive(Debug)]
pub(crate) struct Bridge {
    pools: [Permits; 4],
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
            ],
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
        let permit = self.permit(pool).await?;
        self.with_permit(pool, permit, work).await
    }

    /// Runs `work` on a thread, with a place in `pool`, and waits for it. Scripts in it end soon after the caller stops waiting.
    pub(crate) async fn with_permit<T: Send + 'static>(
        &self,
        pool: Pool,
        permit: OwnedSemaphorePermit,
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
    /// # Errors
    ///
    /// [`Error::Busy`] if too many wait, or none becomes free in time.
    pub(crate) async fn permit(&self, pool: Pool) -> Result<OwnedSemaphorePermit> {
        let Permits { name, count, running, waiting } = &self.pools[pool as usize];
        if let Ok(permit) = running.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let busy =
            |limit, value: usize| Error::Busy { threads: name, count: *count as u64, limit, value: value as u64 };
        let is_full = waiting.fetch_add(1, Relaxed) >= self.waiting_max;
        let _waiting = Waiting(waiting);
        if is_full {
            return Err(busy("Limits.BlockingQueue", self.waiting_max));
        }
        let permit = tokio::time::timeout(self.wait_max, running.clone().acquire_owned()).await;
        let seconds = usize::try_from(self.wait_max.as_secs()).unwrap_or(usize::MAX);
        permit.ok().and_then(|permit| permit.ok()).ok_or_else(|| busy("Limits.BlockingWaitInSec", seconds))
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
    pub(crate) fn turn_into_stream(&self, old: Option<OwnedSemaphorePermit>) -> Result<OwnedSemaphorePermit> {
        let Permits { name, count, .. } = &self.pools[Pool::Streams as usize];
        let count = *count as u64;
        let _turning = self.turning.try_acquire();
        let _turning = _turning.map_err(|_| Error::Busy { threads: name, count, limit: name, value: count })?;
        drop(old);
        tokio::runtime::Handle::current().block_on(self.permit(Pool::Streams))
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
