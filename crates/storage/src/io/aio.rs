//! Writes for which no thread waits: Linux's native asynchronous I/O, `io_submit(2)`.
//!
//! The kernel takes a write at once and signals an eventfd when it is durable. A thread that watches the eventfd beside its sockets calls
//! [`AsyncWrites::reap`], which runs the call-back of each write that has ended. So a commit costs no thread that sleeps in a write, and no
//! wake-up for each answer. io_uring would do as well; container runtimes forbid it by default.
//!
//! Only for files that are written past the page cache (`O_DIRECT`): for others `io_submit` writes on the calling thread.

use super::WriteDone;
use crate::limits::ASYNC_WRITES_MAX;
use libc::{SYS_io_destroy, SYS_io_getevents, SYS_io_setup, SYS_io_submit, c_long};
use parking_lot::Mutex;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
        Ok(AsyncWrites { context, event, on_their_way: AtomicUsize::new(0), ended: Mutex::default() })
    }

    /// Becomes readable when a write has ended. It need not be read: each write that ends is a new edge.
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
        Ok(())
    }

    /// Runs the call-backs of writes that have ended, on this thread.
    pub fn reap(&self) {
        loop {
            let count = self.fetch();
            while let Some(ending) = self.next_ended() {
                match ending {
                    Ending::Kernel(pending, result) => pending.end(result),
                    Ending::Deferred(write) => write(),
                }
            }
            if count == 0 {
                return;
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

    /// Waits until a write has ended or the time is over, and runs call-backs.
    pub(crate) fn wait(&self, timeout: Duration) {
        let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
        let mut events = [PollFd::new(&self.event, PollFlags::IN)];
        // Whatever it says: what has ended is looked for.
        let _ = rustix::event::poll(&mut events, Some(&timeout));
        self.reap();
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
