//! The memory that page versions live in: a pool of frames on huge pages, shared by all environments, never unmapped.
//!
//! A first touch of fresh memory costs 1.6 us here, a frame out of the pool costs nothing, so frames go back to a free
//! list. When nothing has been flushed for a while, the system gets the memory of most of them back, not their addresses.
//! A frame is a version's head (one line) and its page:
//!
//! ```text
//!  0          64                      8256      8320
//!  +----------+-----------------------+---------+
//!  | head     | page                  | padding |
//!  +----------+-----------------------+---------+
//! ```
//!
//! Versions of runs of pages (values over a page) are allocated one by one and freed for good.

use super::changes::LINE;
use super::map::Mapping;
use super::version::{HEAD_SIZE, Head, VersionPointer};
use crate::limits::PAGE_SIZE;
use crate::sync::IS_DIRECTED;
use parking_lot::Mutex;
use std::alloc::Layout;
use std::sync::atomic::{AtomicUsize, Ordering};

const FRAME_SIZE: usize = HEAD_SIZE + PAGE_SIZE + 64;
const _: () = assert!(FRAME_SIZE.is_multiple_of(128), "head and first line share a pair of cache lines");
const CHUNK_SIZE: usize = if cfg!(miri) { 256 << 10 } else { 4 << 20 };
const _: () = assert!(!CHUNK_SIZE.is_multiple_of(FRAME_SIZE), "frames of two chunks are never neighbours");

/// What one entry of the processor's tables reaches, where the system gives huge pages.
const HUGE_PAGE_SIZE: usize = if cfg!(miri) { 64 << 10 } else { 2 << 20 };

/// Versions that the process keeps although the file has them: 256 MiB, the branches of some 12 GiB of data.
const KEPT_FRAMES_MAX: usize = (256 << 20) / FRAME_SIZE;

/// Spares that the process keeps: 64 MiB.
const SPARE_FRAMES_MAX: usize = (64 << 20) / FRAME_SIZE;

/// Free frames whose memory the process keeps in any case: 4 MiB.
const WARM_FRAMES: usize = (4 << 20) / FRAME_SIZE;

/// The versions of one environment: its account with the pool.
#[derive(Default)]
pub(crate) struct Versions {
    bytes: AtomicUsize,
}

impl Versions {
    /// Bytes that the environment's versions take now, but for those that are only kept.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Keeps a version of one page that the file has as well. False: there are too many; let it go.
    pub fn keep(&self, version: VersionPointer) -> bool {
        if version.pages() > 1 {
            return false;
        }
        if POOL.kept.fetch_add(1, Ordering::Relaxed) >= KEPT_FRAMES_MAX {
            POOL.kept.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        self.give_back(take_spare(version));
        POOL.in_use.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(FRAME_SIZE, Ordering::Relaxed);
        version.set_kept(true);
        true
    }

    /// A version to come after `version`, both of one page: its spare, or `recycled`, or one of the pool. Its bytes are what they were.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub fn next_of(
        &self,
        version: VersionPointer,
        recycled: Option<VersionPointer>,
    ) -> std::io::Result<VersionPointer> {
        let Some(next) = recycled.or_else(|| take_spare(version)) else { return self.take() };
        self.count_as_used(next);
        if next.has_spare() {
            // It was replaced by a run, which is made of nothing.
            self.give_back(take_spare(next));
        }
        Ok(next)
    }

    /// A version with the same bytes as `version`, which has one page, made of what [`Self::next_of`] gives. A version with a spare is
    /// copied to that, and nothing is recycled for it.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub fn copy(&self, version: VersionPointer, recycled: Option<VersionPointer>) -> std::io::Result<VersionPointer> {
        let has_spare = version.has_spare();
        let mut copy = self.next_of(version, recycled)?;
        if !has_spare {
            copy.page_mut().copy_from_slice(version.page());
            return Ok(copy);
        }
        let (from, to) = (version.page(), copy.page_mut());
        for offset in version.lines().offsets() {
            to[offset..offset + LINE].copy_from_slice(&from[offset..offset + LINE]);
        }
        debug_assert!(from == to, "a spare differs in the lines that are noted only");
        Ok(copy)
    }

    /// Keeps an unreachable version as the spare of its successor. False: the successor cannot use it.
    pub fn keep_as_spare(&self, version: VersionPointer, successor: VersionPointer) -> bool {
        if !successor.has_use_for(version) || POOL.spares.load(Ordering::Relaxed) >= SPARE_FRAMES_MAX {
            return false;
        }
        POOL.spares.fetch_add(1, Ordering::Relaxed);
        self.count_as_used(version);
        successor.set_spare(version);
        true
    }

    /// A version that may have been kept is one like others again.
    fn count_as_used(&self, version: VersionPointer) {
        if version.set_kept(false) {
            POOL.kept.fetch_sub(1, Ordering::Relaxed);
            POOL.in_use.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(FRAME_SIZE, Ordering::Relaxed);
        }
    }

    /// A version of one page; its bytes are what they were.
    ///
    /// # Errors
    ///
    /// Of the operating system, if no memory can be had.
    pub fn take(&self) -> std::io::Result<VersionPointer> {
        let version = POOL.take()?;
        self.bytes.fetch_add(FRAME_SIZE, Ordering::Relaxed);
        Ok(version)
    }

    /// A version of `pages` pages, zeroed.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub fn take_run(&self, pages: u32) -> std::io::Result<VersionPointer> {
        let run = POOL.take_run(pages)?;
        self.bytes.fetch_add(size_of_version(pages), Ordering::Relaxed);
        Ok(run)
    }

    /// Takes versions back. The caller knows that no snapshot can reach them (`transaction::reclaim`).
    pub fn give_back(&self, versions: impl IntoIterator<Item = VersionPointer>) {
        let mut bytes = 0;
        let with_spares =
            versions.into_iter().flat_map(|version| [Some(version), take_spare(version)].into_iter().flatten());
        let returned = with_spares.inspect(|version| {
            if version.set_kept(false) {
                POOL.kept.fetch_sub(1, Ordering::Relaxed);
                POOL.in_use.fetch_add(1, Ordering::Relaxed);
            } else {
                bytes += size_of_version(version.pages());
            }
        });
        if IS_DIRECTED {
            // Getting at them may take steps that a test directs, which must not happen under the pool's lock.
            POOL.give_back(returned.collect::<Vec<_>>());
        } else {
            POOL.give_back(returned);
        }
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

fn take_spare(version: VersionPointer) -> Option<VersionPointer> {
    let spare = version.take_spare();
    POOL.spares.fetch_sub(usize::from(spare.is_some()), Ordering::Relaxed);
    spare
}

fn size_of_version(pages: u32) -> usize {
    if pages == 1 { FRAME_SIZE } else { HEAD_SIZE + pages as usize * PAGE_SIZE }
}

/// The pool. One for the process.
pub(crate) struct Pool {
    free: Mutex<Free>,
    in_use: AtomicUsize,
    kept: AtomicUsize,
    spares: AtomicUsize,
    run_bytes: AtomicUsize,
}

struct Free {
    frames: Vec<VersionPointer>,
    /// Frames whose memory the system has; their heads are made anew.
    cold: Vec<VersionPointer>,
    /// Kept for ever: frames are reused, not unmapped.
    chunks: Vec<Mapping>,
}

impl Free {
    /// Takes frames out to give their memory back, sorted by address: those of the huge pages that have most of them, until
    /// [`WARM_FRAMES`] are left. Of a huge page that is in use by half and more none is taken: that would split it, and what is in use
    /// there would be slower to reach.
    fn take_coolest(&mut self) -> Vec<VersionPointer> {
        self.frames.sort_unstable_by_key(VersionPointer::address);
        let of_one_huge_page = |one: &VersionPointer, next: &VersionPointer| {
            one.address() / HUGE_PAGE_SIZE == next.address() / HUGE_PAGE_SIZE
        };
        let mut groups: Vec<&[VersionPointer]> = self.frames.chunk_by(of_one_huge_page).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        let mut warm = self.frames.len();
        let coolest = groups.into_iter().take_while(|group| {
            let is_mostly_free = group.len() * 2 * FRAME_SIZE >= HUGE_PAGE_SIZE;
            warm = warm.saturating_sub(group.len());
            is_mostly_free && warm >= WARM_FRAMES
        });
        let mut cooling: Vec<VersionPointer> = coolest.flatten().copied().collect();
        cooling.sort_unstable_by_key(VersionPointer::address);
        // The last is taken first: in rising order, as from a new chunk.
        self.frames.retain(|frame| cooling.binary_search_by_key(&frame.address(), VersionPointer::address).is_err());
        self.frames.reverse();
        cooling
    }
}

static POOL: Pool = Pool::new();

impl Pool {
    const fn new() -> Pool {
        Pool {
            free: Mutex::new(Free { frames: Vec::new(), cold: Vec::new(), chunks: Vec::new() }),
            in_use: AtomicUsize::new(0),
            kept: AtomicUsize::new(0),
            spares: AtomicUsize::new(0),
            run_bytes: AtomicUsize::new(0),
        }
    }

    /// Bytes that versions take now, in all environments of the process, but for those that are only kept.
    pub fn used_bytes() -> usize {
        POOL.in_use.load(Ordering::Relaxed) * FRAME_SIZE + POOL.run_bytes.load(Ordering::Relaxed)
    }

    fn take(&self) -> std::io::Result<VersionPointer> {
        let mut free = self.free.lock();
        if free.frames.is_empty() {
            match free.cold.pop() {
                Some(cold) => {
                    // SAFETY: the frame is in a chunk, which stays mapped, and nobody else knows it.
                    unsafe { cold.0.as_ptr().write(Head::empty(1)) };
                    free.frames.push(cold);
                }
                None => Self::grow(&mut free)?,
            }
        }
        self.in_use.fetch_add(1, Ordering::Relaxed);
        let version = free.frames.pop().ok_or_else(|| std::io::Error::from(std::io::ErrorKind::OutOfMemory))?;
        if IS_DIRECTED {
            // The atomics in it are an earlier run's.
            // SAFETY: nobody can reach a frame that was in the pool.
            unsafe { version.0.write(Head::empty(1)) };
        }
        Ok(version)
    }

    /// Gives the memory of free frames back to the system, but for some that are kept warm. Costs some ms for each GiB.
    pub fn cool_all() {
        POOL.cool();
    }

    fn cool(&self) {
        let (cooling, mut chunks) = {
            let mut free = self.free.lock();
            (free.take_coolest(), free.chunks.clone())
        };
        chunks.sort_unstable_by_key(|chunk| chunk.base().addr());
        // Between two chunks there is a gap, so that neighbours are of one chunk.
        for neighbours in cooling.chunk_by(|one, next| one.address() + FRAME_SIZE == next.address()) {
            let (start, last) = (neighbours[0].address(), neighbours[neighbours.len() - 1].address());
            let next_chunk = chunks.partition_point(|chunk| chunk.base().addr() <= start);
            let chunk = &chunks[next_chunk - 1];
            let position = start - chunk.base().addr();
            let end = last + FRAME_SIZE - chunk.base().addr();
            // What is left behind the last frame of a chunk is nobody's.
            let end = if CHUNK_SIZE - end < FRAME_SIZE { CHUNK_SIZE } else { end };
            // The next huge page may be one that stays whole.
            let end = end.min((last / HUGE_PAGE_SIZE + 1) * HUGE_PAGE_SIZE - chunk.base().addr());
            chunk.discard(position, end - position);
        }
        self.free.lock().cold.extend(cooling.into_iter().rev());
    }

    fn grow(free: &mut Free) -> std::io::Result<()> {
        let chunk = Mapping::anonymous(CHUNK_SIZE)?;
        chunk.advise_huge();
        let first_aligned = chunk.base().align_offset(128);
        let count = (CHUNK_SIZE - first_aligned) / FRAME_SIZE;
        // From the last to the first, so that they are taken in rising order and touch memory in sequence.
        for index in (0..count).rev() {
            // SAFETY: `index` is below the number of whole frames in the chunk, which is writable and, being kept for
            // ever, never unmapped; the place is aligned to 128 bytes.
            let head = unsafe { chunk.base().add(first_aligned + index * FRAME_SIZE).cast::<Head>() };
            // SAFETY: as above; nobody knows the place yet.
            unsafe { head.write(Head::empty(1)) };
            free.frames.extend(VersionPointer::from_raw(head));
        }
        free.chunks.push(chunk);
        Ok(())
    }

    fn take_run(&self, pages: u32) -> std::io::Result<VersionPointer> {
        let layout = run_layout(pages)?;
        // SAFETY: the layout has a size above 0.
        let raw = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<Head>();
        let run = VersionPointer::from_raw(raw).ok_or_else(|| std::io::Error::from(std::io::ErrorKind::OutOfMemory))?;
        // SAFETY: newly allocated with the layout of a head and its pages; nobody else knows it.
        unsafe { raw.write(Head::empty(pages)) };
        self.run_bytes.fetch_add(layout.size(), Ordering::Relaxed);
        Ok(run)
    }

    fn give_back(&self, versions: impl IntoIterator<Item = VersionPointer>) {
        let mut free = self.free.lock();
        for version in versions {
            if version.pages() == 1 {
                debug_assert!(IS_DIRECTED || !version.has_spare(), "who takes a frame of the pool takes it for empty");
                free.frames.push(version);
                self.in_use.fetch_sub(1, Ordering::Relaxed);
            } else if let Ok(layout) = run_layout(version.pages()) {
                self.run_bytes.fetch_sub(layout.size(), Ordering::Relaxed);
                // SAFETY: runs come from `take_run` with this very layout, and nobody can reach this one any more.
                unsafe { std::alloc::dealloc(version.0.as_ptr().cast(), layout) };
            }
        }
    }
}

fn run_layout(pages: u32) -> std::io::Result<Layout> {
    Layout::from_size_align(HEAD_SIZE + pages as usize * PAGE_SIZE, 128).map_err(std::io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn frames_that_gave_their_memory_back_are_used_again() {
        const COUNT: usize = WARM_FRAMES * 2;
        let pool = Pool::new();
        let take_all = || (0..COUNT).map(|_| pool.take().unwrap()).collect::<Vec<_>>();
        let addresses = |taken: &[VersionPointer]| taken.iter().map(|v| v.0.as_ptr().addr()).collect::<HashSet<_>>();
        let mut taken = take_all();
        taken.iter_mut().for_each(|version| version.page_mut().fill(0xab));
        let before = addresses(&taken);
        pool.give_back(taken);
        pool.cool();
        let mut taken = take_all();
        let from_before = addresses(&taken).intersection(&before).count();
        assert!(from_before > COUNT - CHUNK_SIZE / FRAME_SIZE, "the same frames come again");
        let cold = taken.iter().filter(|version| version.page()[PAGE_SIZE / 2] == 0).count();
        let (least, most) = (WARM_FRAMES / 4, COUNT - WARM_FRAMES / 2);
        assert!((least..=most).contains(&cold), "the memory of some went back: {cold}");
        for version in &mut taken {
            assert_eq!((version.pages(), version.previous(), version.is_kept()), (1, None, false));
            version.page_mut().fill(0xcd);
        }
        pool.give_back(taken);
    }

    #[test]
    fn frames_between_those_in_use_give_their_memory_back() {
        const COUNT: usize = WARM_FRAMES * 4;
        let pool = Pool::new();
        let mut taken: Vec<VersionPointer> = (0..COUNT).map(|_| pool.take().unwrap()).collect();
        taken.iter_mut().for_each(|version| version.page_mut().fill(0xab));
        // Every eighth of the first half stays, and two of three of the others: their huge pages are not worth splitting.
        let mut index = 0;
        let (in_use, free): (Vec<_>, Vec<_>) = taken.into_iter().partition(|_| {
            index += 1;
            if index < COUNT / 2 { index % 8 == 0 } else { index % 3 != 0 }
        });
        pool.give_back(free);
        pool.cool();
        let cold = pool.free.lock().cold.clone();
        let few = COUNT / 2 * 7 / 8;
        assert!((few / 2..=few).contains(&cold.len()), "the memory of some went back: {}", cold.len());
        let is_zeroed = |version: &VersionPointer| version.page()[PAGE_SIZE / 2] == 0;
        assert!(cold.iter().filter(|version| is_zeroed(version)).count() > cold.len() * 9 / 10);
        let is_whole =
            |version: &VersionPointer| version.pages() == 1 && version.page().iter().all(|byte| *byte == 0xab);
        assert!(in_use.iter().all(is_whole), "what is in use is left alone");
        assert!(pool.free.lock().frames.iter().all(is_whole), "so is what stays warm");
        pool.give_back(in_use);
    }
}
