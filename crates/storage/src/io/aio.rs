//! Writes for which no thread waits: Linux's native asynchronous I/O, `io_submit(2)`.
//!
//! The kernel takes a write at once and signals an eventfd when it is durable. A thread that watches the eventfd beside its sockets calls
//! [`AsyncWrites::reap`], which runs the call-back of each write that has ended. So a commit costs no thread that sleeps in a write, and no
//! wake-up for each answer. io_uring would do as well; container runtimes forbid it by default.
//!
//! Only for files that are written past the page cache (`O_DIRECT`): for others `io_submit` writes on the calling thread.

use super::WriteDone;
use crate::limits::{ASYNC_WRITES_MAX, ASYNC_WRITES_REAPED_AT_ONCE_MAX};
use libc::{SYS_io_destroy, SYS_io_getevents, SYS_io_setup, SYS_io_submit, c_long};
use parking_lot::Mutex;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// `IOCB_CMD_PWRITE` and `IOCB_FLAG_RESFD` of `linux/aio_abi.h`.
const PWRITE: u16 = 1;
/// See [`PWRITE`].
const HAS_EVENT: u32 = 1;

/// `struct iocb` of `linux/aio_abi.h`. Its key and flags change places where integers are big-endian, and are 0 here.
#[repr(C)]
struct Command {
    data: u64,
    key_and_flags: u64,
    operation: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    length: u64,
    position: i64,
    reserved: u64,
    flags: u32,
    event: u32,
}

const _: () = assert!(size_of::<Command>() == 64);

/// `struct io_event` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Ended {
    data: u64,
    command: u64,
    result: i64,
    result2: i64,
}

const _: () = assert!(size_of::<Ended>() == 32);

/// A write on its way. The kernel reads its buffer until the write has ended.
struct Pending {
    file: Arc<File>,
    /// Memory that `start` aligns.
    buffer: Vec<u8>,
    start: usize,
    length: usize,
    position: u64,
    done: WriteDone,
}

/// Writes on their way to devices. One for the process is enough.
pub struct AsyncWrites {
    context: u64,
    event: OwnedFd,
    on_their_way: AtomicUsize,
    /// Writes that the kernel took since this was made.
    begun: AtomicU64,
    /// Writes that have ended and whose call-backs did not run yet. Call-backs may call [`Self::reap`].
    ended: Mutex<VecDeque<Ending>>,
}

/// What is left to do for a write.
enum Ending {
    /// The kernel has written, with this result: bytes, or an error as a negative number.
    Kernel(Box<Pending>, i64),
    /// All of it: see [`AsyncWrites::defer`].
    Deferred(Box<dyn FnOnce() + Send>),
}

impl std::fmt::Debug for AsyncWrites {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let on_their_way = self.on_their_way.load(Ordering::Relaxed);
        f.debug_struct("AsyncWrites").field("on_their_way", &on_their_way).finish_non_exhaustive()
    }
}

/// `result` of a system call that returns -1 and sets errno.
fn checked(result: c_long) -> Result<u64> {
    u64::try_from(result).map_err(|_| Error::last_os_error())
}

impl AsyncWrites {
    /// # Errors
    ///
    /// The system has no such I/O, or its bound on all processes (`fs.aio-max-nr`) is reached.
    pub fn new() -> Result<AsyncWrites> {
        let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let mut context = 0_u64;
        // SAFETY: the kernel writes one word, the context, to the address of `context`.
        checked(unsafe { libc::syscall(SYS_io_setup, ASYNC_WRITES_MAX as c_long, &raw mut context) })?;
        let (on_their_way, begun) = (AtomicUsize::new(0), AtomicU64::new(0));
        Ok(AsyncWrites { context, event, on_their_way, begun, ended: Mutex::default() })
    }

    /// Becomes readable when a write has ended, and when this is dropped. It need not be read: each of these is a new edge.
    pub fn event(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// Begins a write.
    ///
    /// * `buffer[start..start + length]`: what is written; the memory's address, `length` and `position` are aligned as the file wants it.
    ///
    /// Gives buffer and call-back back if the kernel does not take it.
    pub(super) fn begin(
        &self,
        file: &Arc<File>,
        (buffer, start, length): (Vec<u8>, usize, usize),
        position: u64,
        done: WriteDone,
    ) -> std::result::Result<(), (Vec<u8>, WriteDone)> {
        assert!(start.checked_add(length).is_some_and(|end| end <= buffer.len()), "the write is inside of its buffer");
        if self.on_their_way.fetch_add(1, Ordering::Relaxed) >= ASYNC_WRITES_MAX {
            self.on_their_way.fetch_sub(1, Ordering::Relaxed);
            return Err((buffer, done));
        }
        let pending = Box::new(Pending { file: file.clone(), buffer, start, length, position, done });
        let pending = Box::into_raw(pending);
        // SAFETY: `pending` was just made, and is not given to anyone else before the kernel has the command.
        let mut command = unsafe {
            Command {
                data: pending.expose_provenance() as u64,
                key_and_flags: 0,
                operation: PWRITE,
                priority: 0,
                file: (*pending).file.as_raw_fd() as u32,
                buffer: (&(*pending).buffer)[start..].as_ptr().expose_provenance() as u64,
                length: length as u64,
                position: position as i64,
                reserved: 0,
                flags: HAS_EVENT,
                event: self.event.as_raw_fd() as u32,
            }
        };
        let commands = [&raw mut command];
        // SAFETY: one command, which the kernel copies. What it names, the buffer, stays where it is until `fetch` takes `pending` back
        // from the event of this command: nothing else frees it.
        let submitted = checked(unsafe { libc::syscall(SYS_io_submit, self.context, 1 as c_long, commands.as_ptr()) });
        if !matches!(submitted, Ok(1)) {
            self.on_their_way.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: the kernel did not take the command, so that no event will give `pending`.
            let pending = unsafe { Box::from_raw(pending) };
            return Err((pending.buffer, pending.done));
        }
        self.begun.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// How many writes the kernel took since this was made. 0 where no file is written past the page cache.
    pub fn begun_count(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Runs call-backs of writes that have ended, on this thread, [`ASYNC_WRITES_REAPED_AT_ONCE_MAX`] at most. A call-back that
    /// panics is logged, and the others run.
    ///
    /// True: there may be more. Call it again, after the thread's other work: the event does not say so once more.
    #[must_use]
    pub fn reap(&self) -> bool {
        let mut ran_count = 0;
        loop {
            let fetched_count = self.fetch();
            while let Some(ending) = self.next_ended() {
                let ran = catch_unwind(AssertUnwindSafe(|| match ending {
                    Ending::Kernel(pending, result) => pending.end(result),
                    Ending::Deferred(write) => write(),
                }));
                if ran.is_err() {
                    tracing::error!("the call-back of a write panicked");
                }
                ran_count += 1;
                if ran_count == ASYNC_WRITES_REAPED_AT_ONCE_MAX {
                    return true;
                }
            }
            if fetched_count == 0 {
                return false;
            }
        }
    }

    fn next_ended(&self) -> Option<Ending> {
        let ending = self.ended.lock().pop_front()?;
        self.on_their_way.fetch_sub(1, Ordering::Relaxed);
        Some(ending)
    }

    /// A write of a simulated disk: [`Self::reap`] does all of it.
    pub(super) fn defer(&self, write: impl FnOnce() + Send + 'static) {
        self.on_their_way.fetch_add(1, Ordering::Relaxed);
        self.ended.lock().push_back(Ending::Deferred(Box::new(write)));
        // Should the eventfd's counter be full, it is readable already.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }

    /// Runs the call-backs of all writes on their way, and of those that they begin. Waits for the device, `timeout` at most. For
    /// the end of the thread that reaps.
    pub fn drain(&self, timeout: Duration) {
        let until = Instant::now() + timeout;
        loop {
            // The counter: it stays readable otherwise. If it is 0, there is none.
            let _ = rustix::io::read(&self.event, &mut [0; 8]);
            while self.reap() {}
            let left = until.saturating_duration_since(Instant::now());
            if self.on_their_way.load(Ordering::Relaxed) == 0 || left.is_zero() {
                return;
            }
            let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            let mut events = [PollFd::new(&self.event, PollFlags::IN)];
            // Whatever the result is: `reap` looks for what has ended.
            let _ = rustix::event::poll(&mut events, Some(&left));
        }
    }

    /// Takes what has ended from the kernel; gives how many writes that were.
    fn fetch(&self) -> usize {
        if self.on_their_way.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        let mut events = [Ended::default(); 16];
        let no_time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let (least, most) = (0 as c_long, events.len() as c_long);
        // SAFETY: the kernel writes at most `most` events to `events`.
        let got = checked(unsafe {
            libc::syscall(SYS_io_getevents, self.context, least, most, events.as_mut_ptr(), &raw const no_time)
        });
        let Ok(count) = got else { return 0 };
        let mut ended = self.ended.lock();
        for event in &events[..count as usize] {
            let pending = std::ptr::with_exposed_provenance_mut::<Pending>(event.data as usize);
            // SAFETY: `data` is what `begin` made by `Box::into_raw`. Each event comes once, so that this is its only owner now.
            let pending = unsafe { Box::from_raw(pending) };
            ended.push_back(Ending::Kernel(pending, event.result));
        }
        count as usize
    }
}

impl Drop for AsyncWrites {
    fn drop(&mut self) {
        // Environments wait for their writes before they let go of this, so that none is on its way.
        // SAFETY: the context is this value's own, and is not used again.
        drop(checked(unsafe { libc::syscall(SYS_io_destroy, self.context) }));
        // Ends the thread that watches a duplicate of the descriptor. Should the counter be full, it is readable already.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }
}

impl Pending {
    /// Runs the call-back of a write that ended with the kernel's `result`.
    fn end(self, result: i64) {
        let Pending { file, buffer, start, length, position, done } = self;
        let written = match usize::try_from(result) {
            Ok(written) if written == length => Ok(()),
            // Part of it, as after a signal. Rare enough to wait for the rest.
            Ok(written) => {
                file.write_all_at(&buffer[start + written.min(length)..start + length], position + written as u64)
            }
            Err(_) => Err(Error::from_raw_os_error(i32::try_from(-result).unwrap_or(libc::EIO))),
        };
        super::real::keep_direct_buffer(buffer);
        done(written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Ends a write of ten bytes at position 2 with a result of the kernel, which has written `written` of them. Gives the file
    /// and the outcome.
    fn end(name: &str, result: i64, written: usize) -> (Vec<u8>, Result<()>) {
        let path = std::env::temp_dir().join(format!("rookery-aio-{}-{name}", std::process::id()));
        let options = File::options().read(true).write(true).create(true).truncate(true).clone();
        let file = Arc::new(options.open(&path).unwrap());
        let buffer = b"....0123456789".to_vec();
        file.write_all_at(&buffer[4..4 + written], 2).unwrap();
        let (sender, outcome) = channel();
        let done = Box::new(move |outcome| sender.send(outcome).unwrap());
        Pending { file, buffer, start: 4, length: 10, position: 2, done }.end(result);
        let content = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        (content, outcome.try_recv().unwrap())
    }

    #[test]
    fn a_write_that_the_kernel_did_whole_is_not_repeated() {
        let (content, outcome) = end("whole", 10, 0);
        assert!(content.is_empty() && outcome.is_ok());
    }

    #[test]
    fn the_rest_of_a_short_write_is_written() {
        let (content, outcome) = end("short", 3, 3);
        assert_eq!(content, b"\0\x000123456789");
        outcome.unwrap();
        let (content, outcome) = end("none", 0, 0);
        assert_eq!(content, b"\0\x000123456789");
        outcome.unwrap();
    }

    #[test]
    fn a_negative_result_is_the_error_of_the_write() {
        let (content, outcome) = end("full", -i64::from(libc::ENOSPC), 0);
        assert!(content.is_empty());
        assert_eq!(outcome.unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    }

    #[test]
    fn a_call_back_that_panics_costs_no_other_its_run() {
        let (writes, (sender, ran)) = (AsyncWrites::new().unwrap(), channel());
        writes.defer(|| panic!("a fault of the engine"));
        writes.defer(move || sender.send(()).unwrap());
        while writes.reap() {}
        assert_eq!(ran.try_recv(), Ok(()));
    }

    #[test]
    fn one_call_runs_a_bounded_number_of_call_backs() {
        let (writes, (sender, ran)) = (AsyncWrites::new().unwrap(), channel());
        for number in 0..=ASYNC_WRITES_REAPED_AT_ONCE_MAX {
            let sender = sender.clone();
            writes.defer(move || sender.send(number).unwrap());
        }
        assert!(writes.reap());
        assert_eq!(ran.try_iter().count(), ASYNC_WRITES_REAPED_AT_ONCE_MAX);
        assert!(!writes.reap());
        assert_eq!(ran.try_iter().count(), 1);
    }
}
