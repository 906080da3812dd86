//! One version of a page, or of a run of pages: a head, and the bytes behind it.

use super::Page;
use super::changes::{LINE, Lines, PageMut, SavedLine, Saver};
use crate::ids::TransactionId;
use crate::limits::PAGE_SIZE;
use crate::sync::atomic::{AtomicPtr, AtomicU64};
use crate::sync::{IS_DIRECTED, Watched};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a head: one line.
pub(super) const HEAD_SIZE: usize = if IS_DIRECTED { 64 * 7 } else { 64 };

/// The head of one version of a page, or of a run of pages; the bytes follow it.
///
/// Readers on their way to an older version look at heads of versions that the writer is still changing. So the writer never
/// has a `&mut Head`: what readers look at is atomic or never changes, the notes of the writer are in cells.
#[repr(C, align(64))]
pub(crate) struct Head {
    /// The next older version; null: the file has it.
    previous: AtomicPtr<Head>,
    /// A version that is no longer reachable and that differs from this one in `lines` only: the next version of the page is
    /// made of it. Only the writer looks at it.
    spare: AtomicPtr<Head>,
    /// The transaction that wrote this version.
    transaction: AtomicU64,
    /// Pages that follow: 1, or more for a run.
    pages: u32,
    /// The job of the transaction that made it (see `transaction::write`).
    job: Cell<u32>,
    /// The last job that saved lines of it, and which.
    saved_by: Cell<u32>,
    /// Once it is replaced: its place among those that wait (`transaction::reclaim`).
    waits_at: Cell<u32>,
    saved: Cell<Lines>,
    /// What was changed since the previous version. Of no meaning for fresh pages and runs.
    lines: Cell<Lines>,
    /// The journal must describe it from zeros: the page was allocated by this transaction.
    fresh: Cell<bool>,
    /// A run that its commit writes to the data file, not to the journal. Set before it is published.
    direct: Cell<bool>,
    /// The file's page below the oldest version was not verified: the page was allocated again without being read.
    base_unverified: AtomicBool,
    /// The file has the same bytes; the version stays because huge pages are quicker to reach.
    kept: AtomicBool,
    /// A flush is writing it: it must not go back to the pool, although no snapshot can see it.
    pinned: AtomicBool,
    /// A newer version of the page was committed.
    replaced: AtomicBool,
    /// A flush has written it to the file, or found that no reader will need it there.
    settled: AtomicBool,
    /// The bytes behind it.
    content: Watched,
}

const _: () = assert!(size_of::<Head>() == HEAD_SIZE || IS_DIRECTED && size_of::<Head>() <= HEAD_SIZE);

impl Head {
    /// One that belongs to nothing yet.
    pub(super) fn empty(pages: u32) -> Head {
        Head {
            previous: AtomicPtr::new(std::ptr::null_mut()),
            spare: AtomicPtr::new(std::ptr::null_mut()),
            transaction: AtomicU64::new(0),
            pages,
            job: Cell::new(0),
            saved_by: Cell::new(0),
            waits_at: Cell::new(0),
            saved: Cell::new(Lines::NONE),
            lines: Cell::new(Lines::NONE),
            fresh: Cell::new(false),
            direct: Cell::new(false),
            base_unverified: AtomicBool::new(false),
            kept: AtomicBool::new(false),
            pinned: AtomicBool::new(false),
            replaced: AtomicBool::new(false),
            settled: AtomicBool::new(false),
            content: Watched::new(),
        }
    }
}

/// A pointer to a version. Dereferenced only under the rules of `table`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VersionPointer(pub NonNull<Head>);

// SAFETY: a version is plain memory; who may read or write it when is the rule of `table`, not of a thread.
unsafe impl Send for VersionPointer {}

impl VersionPointer {
    pub fn from_raw(head: *mut Head) -> Option<Self> {
        NonNull::new(head).map(VersionPointer)
    }
    /// Where it lies.
    pub(super) fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }
    fn head<'a>(&self) -> &'a Head {
        // SAFETY: a `VersionPointer` in use points to a live version: it is freed only after every snapshot that could
        // reach it is gone (`Reclaim` in `transaction::reclaim`), and the pool never unmaps. Nobody has a `&mut Head`, and
        // of the cells only those change after publishing that nobody looks at without the writer's lock.
        unsafe { self.0.as_ref() }
    }
    pub fn transaction(&self) -> TransactionId {
        TransactionId(self.head().transaction.load(Ordering::Relaxed))
    }
    pub fn previous(&self) -> Option<VersionPointer> {
        Self::from_raw(self.head().previous.load(Ordering::Acquire))
    }
    pub fn set_previous(&self, previous: Option<VersionPointer>) {
        let raw = previous.map_or(std::ptr::null_mut(), |p| p.0.as_ptr());
        self.head().previous.store(raw, Ordering::Release);
    }
    pub fn pages(&self) -> u32 {
        self.head().pages
    }
    pub fn job(&self) -> u32 {
        self.head().job.get()
    }
    pub fn lines(&self) -> Lines {
        self.head().lines.get()
    }
    pub fn fresh(&self) -> bool {
        self.head().fresh.get()
    }
    pub fn direct(&self) -> bool {
        self.head().direct.get()
    }
    pub fn base_unverified(&self) -> bool {
        self.head().base_unverified.load(Ordering::Relaxed)
    }
    /// Says that the journal must describe it from zeros; `on_unverified`: on a page of the file that was not verified.
    pub fn set_fresh(&self, on_unverified: bool) {
        let head = self.head();
        head.fresh.set(true);
        if on_unverified {
            head.base_unverified.store(true, Ordering::Relaxed);
        }
    }
    /// Whether the commit writes it to the data file, not to the journal.
    pub fn set_direct(&self, direct: bool) {
        self.head().direct.set(direct);
    }
    /// Whether the file has the same bytes.
    pub fn is_kept(&self) -> bool {
        self.head().kept.load(Ordering::Relaxed)
    }
    /// Says whether it is only kept; gives what was said before.
    pub(super) fn set_kept(&self, kept: bool) -> bool {
        self.head().kept.swap(kept, Ordering::Relaxed)
    }
    /// Whether a flush is writing it.
    pub fn is_pinned(&self) -> bool {
        self.head().pinned.load(Ordering::Relaxed)
    }
    /// Holds a version for a flush, which has announced a snapshot that keeps it until then; or lets it go.
    pub fn set_pinned(&self, pinned: bool) {
        self.head().pinned.store(pinned, Ordering::Relaxed);
    }
    /// Whether a flush has seen to it.
    pub fn is_settled(&self) -> bool {
        self.head().settled.load(Ordering::Relaxed)
    }
    pub fn set_settled(&self) {
        self.head().settled.store(true, Ordering::Relaxed);
    }
    /// Notes that a newer version of the page was committed, and where it waits from then on.
    pub fn set_replaced(&self, waits_at: u32) {
        self.head().replaced.store(true, Ordering::Relaxed);
        self.head().waits_at.set(waits_at);
    }
    /// Where it waits, if it was replaced; else of no meaning.
    pub fn waits_at(&self) -> u32 {
        self.head().waits_at.get()
    }
    /// Takes `version`, which it followed until now, out between itself and the one `behind` that.
    pub fn follows(&self, version: VersionPointer, behind: Option<VersionPointer>) {
        let (head, other) = (self.head(), version.head());
        let lines = if other.fresh.get() { Lines::ALL } else { head.lines.get().and(other.lines.get()) };
        head.lines.set(lines);
        self.set_previous(behind);
    }
    /// Whether there is one that the next version of the page will be made of.
    pub fn has_spare(&self) -> bool {
        !self.head().spare.load(Ordering::Relaxed).is_null()
    }
    /// The next version of the page will be made of `spare`.
    pub(super) fn set_spare(&self, spare: VersionPointer) {
        self.head().spare.store(spare.0.as_ptr(), Ordering::Relaxed);
    }
    /// Takes its spare from it, if it has one.
    pub(super) fn take_spare(&self) -> Option<VersionPointer> {
        Self::from_raw(self.head().spare.swap(std::ptr::null_mut(), Ordering::Relaxed))
    }
    /// Whether `version`, which it replaced, would be of use as its spare. Not to one that is kept: it may not change again for long.
    pub(super) fn has_use_for(&self, version: VersionPointer) -> bool {
        let head = self.head();
        let is_current = !head.replaced.load(Ordering::Relaxed) && !head.kept.load(Ordering::Relaxed);
        let are_pages = head.pages == 1 && version.pages() == 1;
        are_pages && is_current && !head.fresh.get() && !version.has_spare()
    }
    /// Starts a version: its place in the chain is set before anyone can see it.
    pub fn start(&self, transaction: TransactionId, job: u32, previous: Option<VersionPointer>) {
        self.set_previous(previous);
        let head = self.head();
        head.transaction.store(transaction.0, Ordering::Relaxed);
        head.replaced.store(false, Ordering::Relaxed);
        head.settled.store(false, Ordering::Relaxed);
        head.base_unverified.store(previous.is_some_and(|previous| previous.base_unverified()), Ordering::Relaxed);
        head.job.set(job);
        head.saved_by.set(job);
        head.lines.set(Lines::NONE);
        head.fresh.set(false);
        head.direct.set(false);
    }
    /// The first page of the version.
    pub fn page<'a>(&self) -> &'a Page {
        self.head().content.read();
        // SAFETY: a page follows each head. The lifetime is bounded by the callers in `table` to that of the transaction
        // that keeps the version alive. The page is written only while no snapshot sees it.
        unsafe { &*self.0.as_ptr().cast::<u8>().add(HEAD_SIZE).cast::<Page>() }
    }
    /// The bytes of all pages of the version.
    pub fn bytes<'a>(&self) -> &'a [u8] {
        self.head().content.read();
        // SAFETY: as in `page`; `pages` whole pages follow the head.
        unsafe {
            let start = self.0.as_ptr().cast::<u8>().add(HEAD_SIZE);
            std::slice::from_raw_parts(start, self.pages() as usize * PAGE_SIZE)
        }
    }
    /// The bytes, for the writer that owns this unpublished version.
    ///
    /// The caller is the single writer, the version belongs to its running transaction, and it holds no other reference
    /// into it (each comes from `&mut WriteTransaction`).
    pub fn bytes_mut<'a>(&mut self) -> &'a mut [u8] {
        self.head().content.write();
        // SAFETY: see above; readers look at the page of a version only when its transaction is published.
        unsafe {
            let start = self.0.as_ptr().cast::<u8>().add(HEAD_SIZE);
            std::slice::from_raw_parts_mut(start, self.pages() as usize * PAGE_SIZE)
        }
    }
    /// The first page with the notes of its changes, for a job of the transaction that made the version, under the conditions
    /// of [`Self::bytes_mut`]. What an earlier job left is saved in `log`.
    #[inline]
    pub fn changes_by<'a>(&mut self, job: u32, log: &'a mut Vec<SavedLine>) -> PageMut<'a> {
        let head = self.head();
        if head.job.get() == job {
            return self.changes();
        }
        if head.saved_by.replace(job) != job {
            head.saved.set(Lines::NONE);
        }
        let version = *self;
        self.changes().saving(Saver { version, saved: &head.saved, log })
    }
    /// Brings a line back, under the conditions of [`Self::bytes_mut`].
    pub fn restore(&mut self, offset: usize, line: &[u8; LINE]) {
        self.page_mut()[offset..offset + LINE].copy_from_slice(line);
    }
    /// The first page with the notes of its changes, under the conditions of [`Self::bytes_mut`].
    pub fn changes<'a>(&mut self) -> PageMut<'a> {
        PageMut::noting(self.page_mut(), &self.head().lines)
    }
    /// The first page without them, under the same conditions: for a version that is being filled.
    pub fn page_mut<'a>(&mut self) -> &'a mut Page {
        self.head().content.write();
        // SAFETY: as in `bytes_mut`.
        unsafe { &mut *self.0.as_ptr().cast::<u8>().add(HEAD_SIZE).cast::<Page>() }
    }
}
