//! Ranges of mapped addresses.

use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// A mapped range that is unmapped when its last holder goes. Only this crate's `pager` and `io` look inside.
#[derive(Clone)]
pub struct Mapping(Arc<Range>);

/// A way back to a mapped range while somebody holds it.
pub(crate) struct WeakMapping(Weak<Range>);

impl WeakMapping {
    pub fn upgrade(&self) -> Option<Mapping> {
        self.0.upgrade().map(Mapping)
    }
}

struct Range {
    base: NonNull<u8>,
    length: usize,
    /// Bytes from the start that [`Mapping::write`] reached so far.
    written: AtomicUsize,
}

// SAFETY: the range stays mapped while the value lives, wherever it is used; who may read or write which part of it is
// decided by `table` and, for the simulated disk, by its lock.
unsafe impl Send for Range {}
// SAFETY: as above.
unsafe impl Sync for Range {}

impl Mapping {
    /// Maps `length` bytes of a file for reading. The range may reach past the end of the file.
    pub fn of_file(file: &File, position: u64, length: usize) -> io::Result<Mapping> {
        Self::held(memory::of_file(file, position, length)?, length)
    }

    fn held(base: *mut u8, length: usize) -> io::Result<Mapping> {
        let base = NonNull::new(base).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(Mapping(Arc::new(Range { base, length, written: AtomicUsize::new(0) })))
    }

    /// A way back to this range that does not hold it.
    pub(crate) fn downgrade(&self) -> WeakMapping {
        WeakMapping(Arc::downgrade(&self.0))
    }

    /// Reserves `length` bytes that read as zeros; memory is taken as they are written.
    pub fn anonymous(length: usize) -> io::Result<Mapping> {
        Self::held(memory::reserve(length)?, length)
    }

    /// Asks for huge pages: first touches and look-ups in them cost a fraction.
    pub fn advise_huge(&self) {
        memory::advise_huge(self);
    }

    /// The first address.
    pub(crate) fn base(&self) -> *mut u8 {
        self.0.base.as_ptr()
    }

    /// Bytes in the range.
    pub(crate) fn length(&self) -> usize {
        self.0.length
    }

    /// Makes the values of an anonymous range that nobody else knows yet.
    pub(crate) fn fill_with<T>(&self, value: impl Fn() -> T) {
        let base = self.base().cast::<T>();
        assert!(base.is_aligned(), "a range begins at a page of the processor");
        for index in 0..self.length() / size_of::<T>() {
            // SAFETY: the place is inside of the range, aligned (see above), writable (anonymous), and nobody else's yet.
            unsafe { base.add(index).write(value()) };
        }
    }

    /// Copies bytes into an anonymous range: how the simulated disk shows its writes in its maps.
    ///
    /// The caller holds the simulated disk's lock, and the engine does not read a page while it is being written (the
    /// rule of `table`), so nobody looks at the bytes that change.
    pub(crate) fn write(&self, position: usize, bytes: &[u8]) {
        assert!(position + bytes.len() <= self.length(), "a write past the end of a simulated map");
        // SAFETY: the destination is inside of the range (checked), writable (anonymous), and not read now (see above).
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base().add(position), bytes.len()) };
        self.0.written.fetch_max(position + bytes.len(), Ordering::Relaxed);
    }

    /// Gives the memory of a part of an anonymous range back to the system. What lies in it reads as before or as zeros then.
    ///
    /// The caller is the only one who knows the part, and has no reference into it.
    pub(super) fn discard(&self, position: usize, length: usize) {
        assert!(position + length <= self.length(), "a part past the end of a map");
        memory::discard(self, position, length);
    }

    /// Gives an anonymous range other content, zeros behind it, if nobody else holds it or a way back to it.
    pub(crate) fn fill_if_alone(&mut self, bytes: &[u8]) -> bool {
        const ZEROS: [u8; 4096] = [0; 4096];
        let Some(written) = Arc::get_mut(&mut self.0).map(|range| *range.written.get_mut()) else { return false };
        self.write(0, bytes);
        for position in (bytes.len()..written).step_by(ZEROS.len()) {
            self.write(position, &ZEROS[..ZEROS.len().min(written - position)]);
        }
        true
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        memory::release(self);
    }
}

pub(crate) use memory::bring;

/// Memory of the operating system.
#[cfg(not(miri))]
mod memory {
    use super::{Mapping, Range};
    use rustix::io::Errno;
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
    use std::fs::File;
    use std::io;

    pub fn of_file(file: &File, position: u64, length: usize) -> io::Result<*mut u8> {
        // SAFETY: a new range is mapped (no fixed address), so no memory of ours changes under anyone.
        let base = unsafe {
            let base = mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file, position)?;
            // Pages are reached at random; reading ahead would only evict others.
            madvise(base, length, Advice::Random).ok();
            base
        };
        Ok(base.cast())
    }

    pub fn reserve(length: usize) -> io::Result<*mut u8> {
        // SAFETY: a new range is mapped (no fixed address), so no memory of ours changes under anyone.
        let base = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )?
        };
        Ok(base.cast())
    }

    pub fn advise_huge(map: &Mapping) {
        // SAFETY: the range is ours and mapped; the advice does not change its content.
        unsafe { madvise(map.base().cast(), map.length(), Advice::LinuxHugepage).ok() };
    }

    /// Brings bytes of a map of a file into memory. `Unsupported` by kernels before 5.14.
    pub fn bring(bytes: &[u8]) -> io::Result<()> {
        // SAFETY: it fills tables of the processor for addresses that may be read anyway; no content changes.
        match unsafe { madvise(bytes.as_ptr().cast_mut().cast(), bytes.len(), Advice::LinuxPopulateRead) } {
            Ok(()) => Ok(()),
            // What touching them would be a signal for: the device cannot read them, or the file was cut.
            Err(Errno::FAULT | Errno::HWPOISON) => Err(Errno::IO.into()),
            Err(Errno::INVAL) => Err(io::ErrorKind::Unsupported.into()),
            Err(error) => Err(error.into()),
        }
    }

    pub fn discard(map: &Mapping, position: usize, length: usize) {
        let system_page_size = rustix::param::page_size();
        let first = position.next_multiple_of(system_page_size);
        let end = (position + length) / system_page_size * system_page_size;
        if first < end {
            // SAFETY: whole pages inside of the range, which is ours and mapped, and of which nobody knows this part.
            unsafe { madvise(map.base().add(first).cast(), end - first, Advice::LinuxDontNeed).ok() };
        }
    }

    pub fn release(range: &mut Range) {
        // SAFETY: the range was mapped by us with this length, and the owner of all pointers into it is being dropped.
        unsafe { munmap(range.base.as_ptr().cast(), range.length).ok() };
    }
}

/// Plain memory, for an interpreter that knows nothing else: there are no maps of files then, only the simulated disk's.
#[cfg(miri)]
mod memory {
    use super::{Mapping, Range};
    use std::alloc::Layout;
    use std::fs::File;
    use std::io;

    fn layout(length: usize) -> io::Result<Layout> {
        assert!(length > 0, "an empty range cannot be mapped");
        Layout::from_size_align(length, 4096).map_err(io::Error::other)
    }

    pub fn of_file(_: &File, _: u64, _: usize) -> io::Result<*mut u8> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub fn reserve(length: usize) -> io::Result<*mut u8> {
        // SAFETY: the layout has a size above 0.
        Ok(unsafe { std::alloc::alloc_zeroed(layout(length)?) })
    }

    pub fn advise_huge(_: &Mapping) {}

    pub fn bring(_: &[u8]) -> io::Result<()> {
        Ok(())
    }

    pub fn discard(map: &Mapping, position: usize, length: usize) {
        // SAFETY: inside of the range, of which nobody knows this part.
        unsafe { map.base().add(position).write_bytes(0, length) };
    }

    pub fn release(range: &mut Range) {
        let Ok(layout) = layout(range.length) else { return };
        // SAFETY: the range was allocated by `reserve` with this layout, and the owner of all pointers into it is going.
        unsafe { std::alloc::dealloc(range.base.as_ptr(), layout) };
    }
}
