//! Tests that need a process of their own, without a test binary of their own.

use std::process::Command;

/// Tells a process that it was started for one test.
const VARIABLE: &str = "ROOKERY_TEST_ALONE";

/// Runs a test as the only one of a new process, since the tests of a binary share its process and run beside each
/// other. For tests that measure the process, such as its memory, or that need it at rest.
///
/// * `test`: a closure in the test function itself. Its type has the name of the test, by which the new process knows
///   what to run.
///
/// # Panics
///
/// If the test fails there, or does not run.
pub fn alone(test: impl FnOnce()) {
    if std::env::var_os(VARIABLE).is_some() {
        return test();
    }
    let name = name_around(&test);
    let program = std::env::current_exe().expect("a test knows its binary");
    let output = Command::new(program).args(["--exact", name, "--nocapture"]).env(VARIABLE, "1").output();
    let output = output.unwrap_or_else(|error| panic!("{name} cannot be started as a process: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let has_passed = out.contains("test result: ok. 1 passed");
    // Without the totals, which `scripts/test` adds up.
    out.lines().filter(|line| !line.starts_with("test result:")).for_each(|line| println!("{line}"));
    eprint!("{err}");
    assert!(output.status.success() && has_passed, "{name} failed in a process of its own: {}", output.status);
}

/// The name of the test that a closure stands in: its path without the crate.
fn name_around<T>(_: &T) -> &'static str {
    let path = std::any::type_name::<T>();
    let path = path.split_once("::").map_or(path, |(_, path)| path);
    path.trim_end_matches("::{{closure}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_runs_in_another_process() {
        let ours = std::process::id();
        let is_child = std::env::var_os(VARIABLE).is_some();
        alone(|| println!("ran in process {}", std::process::id()));
        assert!(is_child || ours == std::process::id());
    }

    #[test]
    fn a_failure_in_the_other_process_is_one_here() {
        let is_child = std::env::var_os(VARIABLE).is_some();
        let outcome = std::panic::catch_unwind(|| alone(|| panic!("as it should")));
        // There it fails, and here because of that; the assertion holds here only.
        assert!(outcome.is_err() && !is_child);
    }
}
