//! Planted bugs (mutation testing): they prove that the tests detect such faults (RELIABILITY.md, "What proves it").
//!
//! Only with the feature `planted-bugs`, which no crate turns on: without it [`is_planted`] is `false` and the compiler
//! removes the checks. A bug is planted in the calling thread alone, so tests beside each other do not disturb one another;
//! that reaches all of the engine when nothing runs in the background. Bugs that a disk can plant (no sync, wrong order)
//! are not here: a wrapper around the simulated disk has them (`tests/planted/main.rs`).

/// The faults that can be planted in the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// The hash of a page is not compared.
    PageHashUnchecked,
    /// The hash of a journal record is not compared.
    RecordHashUnchecked,
    /// Nothing ties a page's hash to its place.
    PlaceUnchecked,
    /// A record is written before the large values that it names.
    RecordBeforeRuns,
    /// A page that was freed counts as quiet at once, while a crash can still lead to a state that has it.
    FreedIsQuiet,
    /// Open snapshots do not keep what they see from being overwritten or used again.
    ReadersIgnored,
    /// A version that an open snapshot sees is made the next version of its page.
    SeenRecycled,
    /// A reader that announces its snapshot does not look again whether something newer was published.
    AnnouncementUnchecked,
    /// A transaction is published and answered as soon as its own record is durable, also before an earlier one is.
    PrefixIgnored,
    /// A batch that lands does not look whether a job waits for a leader.
    LandingIgnoresQueue,
    /// The intent of a flush is written over that of the flush before.
    IntentInPlace,
}

#[cfg(feature = "planted-bugs")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Plants a bug in the calling thread, or takes it out.
#[cfg(feature = "planted-bugs")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// Whether the calling thread has this bug.
#[cfg(feature = "planted-bugs")]
pub(crate) fn is_planted(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// Never.
#[cfg(not(feature = "planted-bugs"))]
#[inline(always)]
pub(crate) fn is_planted(_: Bug) -> bool {
    false
}
