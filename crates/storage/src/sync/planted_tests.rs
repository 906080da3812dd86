//! Mutation tests of the concurrency models: with a planted bug each model must fail. Each model runs in its own process, because
//! a failed model leaves threads behind.

use crate::planted::{Bug, plant};
use std::process::Command;

const VARIABLE: &str = "PLANTED_BUG";
const BUGS: [Bug; 5] =
    [Bug::AnnouncementUnchecked, Bug::PrefixIgnored, Bug::ReadersIgnored, Bug::SeenRecycled, Bug::LandingIgnoresQueue];

/// Plants what this process was started to find.
pub(crate) fn plant_if_asked() {
    let Ok(name) = std::env::var(VARIABLE) else { return };
    plant(BUGS.into_iter().find(|bug| format!("{bug:?}") == name));
}

/// Holds when a test of this binary fails with a bug, for one of the reasons that are given by parts of their texts.
#[track_caller]
pub(crate) fn check_that_it_is_found(bug: Bug, test: &str, reasons: &[&str]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "--nocapture", test])
        .env(VARIABLE, format!("{bug:?}"))
        .env_remove("SLOW")
        .env_remove("SCHEDULES");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let seen = text.lines().find(|line| reasons.iter().any(|reason| line.contains(reason)));
    let seen = seen.filter(|_| !output.status.success());
    println!("{bug:?}: seen by {test}: {}", seen.unwrap_or_else(|| panic!("{bug:?}: planted, and not seen: {text}")));
}
