//! What scripts may not exceed.

use std::time::Duration;

/// Bounds of one run of a script: for one document, patched, projected or mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Jumps and calls of functions, which is what the engine counts; a turn of a loop is one or two. It looks after each
    /// [`STEPS_PER_CHECK`] of them only, so that a script is stopped up to so many later.
    pub steps: u64,
    /// The setting that says how many they are, for the error.
    pub steps_setting: Option<&'static str>,
    /// The processor time that a run may take. It ends some 40 ms later.
    pub time: Duration,
    /// Bytes that the engine of a script may hold, the script and all objects included.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 10_000, steps_setting: None, time: Duration::from_secs(1), memory: 64 << 20 }
    }
}

/// After so many turns and calls the engine asks whether it may go on. It is a constant of the library.
pub(crate) const STEPS_PER_CHECK: u64 = 10_000;

/// Bytes of the stack that a script may take: some 500 calls inside of one another. Threads have 2 MiB.
pub(crate) const STACK_SIZE_MAX: usize = 512 << 10;

/// Bytes of the text of one script, with all functions that it is declared with.
pub const SCRIPT_SIZE_MAX: usize = 1 << 20;

/// Brackets inside of one another in a script: its parser takes stack for each.
pub(crate) const BRACKET_DEPTH_MAX: usize = 256;

/// Documents that one run may load, and other questions it may put to the host, each of which begins the run anew.
pub(crate) const QUESTIONS_MAX: usize = 1024;

/// Documents that one run may put, delete or include, and lines that it may print.
pub(crate) const EFFECTS_MAX: usize = 16 * 1024;

/// Bytes of the results of one run, with what it puts and prints.
pub(crate) const RESULT_SIZE_MAX: usize = 64 << 20;

/// Bytes that an engine has without a reservation: its own, and what small runs take.
pub(crate) const ENGINE_SIZE_FREE: usize = 1 << 20;

/// Bytes of which an engine reserves a multiple.
pub(crate) const ENGINE_SIZE_STEP: usize = 1 << 20;

/// Engines that a thread keeps for the next run of the same script: each holds some 300 KiB.
pub(crate) const ENGINES_KEPT_MAX: usize = 4;
