//! Progress of work that takes longer than a moment: a bar on standard error if that is a terminal, and nothing if it is not.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that counts steps of one kind, such as pages.
///
/// * `what`: the work and its unit, `checking pages` for example.
/// * `total`: the number of steps, as far as it is known.
pub(crate) fn steps(what: &str, total: u64) -> ProgressBar {
    styled(ProgressBar::new(total), "{elapsed_precise} [{bar:40}] {pos}/{len} {msg}").with_message(what.to_owned())
}

/// A bar that counts the bytes of a file.
///
/// * `size`: bytes of the file; 0 if that is unknown, as of a pipe.
/// * `is_quiet`: shows nothing on a terminal either.
pub(crate) fn bytes(size: u64, is_quiet: bool) -> ProgressBar {
    match (is_quiet, size) {
        (true, _) => ProgressBar::hidden(),
        (false, 0) => styled(ProgressBar::new_spinner(), "{elapsed_precise} {bytes} {msg}"),
        (false, size) => styled(ProgressBar::new(size), "{elapsed_precise} [{bar:40}] {bytes}/{total_bytes} {msg}"),
    }
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
