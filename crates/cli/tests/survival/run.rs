//! How long a run is, its seed, and what it reports at its end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use testing::effort::{self, is_slow};
use testing::seeds;

/// One run of a harness.
pub struct Run {
    name: &'static str,
    pub seed: u64,
    pub rounds: u64,
    begin: Instant,
}

impl Run {
    /// Says how to repeat it.
    ///
    /// * `name`: of the test, as `cargo test` takes it.
    /// * `quick`, `slow`: rounds with `cargo test`, and with `SLOW=1`.
    pub fn begin(name: &'static str, quick: u64, slow: u64) -> Run {
        let seed = seeds::one();
        let rounds = effort::number("ROUNDS").unwrap_or(effort::choose(quick, slow));
        say(&format!("{name}: SEED={seed} ROUNDS={rounds} cargo test -p rookery-cli --test survival {name}"));
        Run { name, seed, rounds, begin: Instant::now() }
    }

    /// The figures, on a line that the nightly run keeps.
    pub fn end(&self, figures: &str) {
        let seconds = self.begin.elapsed().as_secs_f64();
        let rate = self.rounds as f64 * 60.0 / seconds;
        let Run { name, seed, rounds, .. } = self;
        say(&format!("FIGURES {name}: {rounds} rounds in {seconds:.0} s ({rate:.0} a minute), {figures}, seed {seed}"));
    }
}

/// Prints figures of a test that has no rounds.
pub fn report(figures: &str) {
    say(&format!("FIGURES {figures}"));
}

/// Says that something could not be tested. A nightly run fails by that.
pub fn skipped(name: &str, reason: &str) {
    say(&format!("SKIPPED: {name}: {reason}"));
    assert!(!is_slow(), "{name} was skipped: {reason}");
}

/// Past the capture of the test runner, which keeps what a test prints unless it fails.
fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// A folder on the disk that has the build, gone at the end of the test.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A folder in memory, where there is room for one; what flushes its files costs little there.
pub fn folder_in_memory() -> tempfile::TempDir {
    const ROOM_MIN: u64 = 2 << 30;
    const MEMORY: &str = "/dev/shm";
    let has_room = rustix::fs::statvfs(MEMORY).is_ok_and(|it| it.f_bavail.saturating_mul(it.f_frsize) >= ROOM_MIN);
    let made = has_room.then(|| tempfile::tempdir_in(MEMORY).ok()).flatten();
    made.unwrap_or_else(folder)
}

/// All files below a folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
