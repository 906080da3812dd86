//! `scripts/test` always ends, and always with its total: when a tool is missing, and when a gate hangs.
//!
//! It runs with a `PATH` of our own, in which `cargo` is what a test needs it to be. Python has to be there.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use testing::tree;

/// A folder for `PATH` with what the scripts use of a system, but for compilers.
fn tools(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for tool in ["dirname", "sed", "cut", "sort", "head", "sleep"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().unwrap();
        std::os::unix::fs::symlink(String::from_utf8(found.stdout).unwrap().trim(), folder.join(tool)).unwrap();
    }
    folder
}

fn add(folder: &Path, tool: &str, script: &str) {
    let path = folder.join(tool);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let python = String::from_utf8(python.stdout).unwrap();
    let script = tree::root().join("scripts/test");
    Command::new(python.trim()).arg(script).args(arguments).env("PATH", folder).output().unwrap()
}

#[track_caller]
fn check(output: &Output, expected: &str) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    assert!(!err.contains("Traceback"), "{err}");
    assert!(out.contains(expected), "{out}{err}");
    assert_eq!(out.lines().last(), Some("0 passed, 1 failed"), "{out}{err}");
}

#[test]
fn a_missing_tool_is_named_and_the_total_comes() {
    check(&run(&tools("missing"), &["--only", "format"]), "missing: Rust");
}

#[test]
fn a_gate_that_hangs_is_stopped_with_all_that_it_started() {
    let folder = tools("hangs");
    add(&folder, "rustc", "echo rustc 99.0.0 ours");
    // What hangs is not the command itself, and holds its output open.
    add(&folder, "cargo", "if [ \"$2\" = --version ]; then exit 0; fi\nsleep 600 &\nwait");
    let start = Instant::now();
    let output = run(&folder, &["--only", "format", "--minutes", "0.02"]);
    check(&output, "STOPPED: the gate took longer than 0.02 minutes, in: cargo fmt --all --check");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
