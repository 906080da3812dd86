//! The workspaces that `cargo test` does not build: their manifests fit the rest of the tree.
//!
//! Building them costs minutes, so `scripts/nightly lint` does. Here is what is cheap: cargo can read each manifest, its files and the
//! crates that it names by path exist, and its patches are those of the program.

use std::path::Path;
use std::process::Command;

use crate::tidy::Findings;
use testing::tree;

/// Each has a manifest with a `[workspace]` of its own.
const APART: &[&str] = &["bench/compare", "bench/micro", "fuzz"];

#[test]
fn cargo_reads_the_manifests_of_the_other_workspaces() {
    for folder in APART {
        let manifest = tree::root().join(folder).join("Cargo.toml");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"]);
        let output = command.arg(&manifest).output().expect("cargo runs");
        assert!(output.status.success(), "{folder}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn manifests_of_the_other_workspaces_name_what_exists() {
    let mut findings = Findings::default();
    let program = tree::read("Cargo.toml");
    for folder in APART {
        let path = format!("{folder}/Cargo.toml");
        let (text, mut section) = (tree::read(&path), "");
        for (index, line) in text.lines().enumerate() {
            if line.starts_with('[') {
                section = line.trim_matches(['[', ']']);
            }
            let Some(named) = line.split_once("path = \"").and_then(|(_, rest)| rest.split_once('"')) else { continue };
            let target = tree::root().join(folder).join(named.0);
            if section == "bin" {
                if !target.is_file() {
                    findings.add(&path, index + 1, &format!("there is no file {}", named.0));
                }
                continue;
            }
            let name = package_of(&target.join("Cargo.toml"));
            let expected = line.split_once("package = \"").map_or(line, |(_, rest)| rest);
            let expected = expected.split([' ', '"']).next().unwrap_or_default();
            if name.as_deref() != Some(expected) {
                findings.add(&path, index + 1, &format!("the folder {} has no package {expected}", named.0));
            }
            let ours = line.replace("../../", "").replace("../", "");
            if section.starts_with("patch.") && !program.lines().any(|line| line == ours) {
                findings.add(&path, index + 1, "the program does not have this patch");
            }
        }
        let patches = || {
            program.lines().skip_while(|line| !line.starts_with("[patch.")).skip(1).take_while(|line| !line.is_empty())
        };
        for patch in patches().filter(|_| depends_on_scripts(&text)) {
            let name = patch.split(' ').next().unwrap_or_default();
            if !text.contains(&format!("\n{name} = {{ path")) {
                findings.add(&path, 1, &format!("the program has a patch of {name}, this workspace does not"));
            }
        }
    }
    findings.none();
}

/// Whether a manifest leads to the crates above `script`, whose engine is patched.
fn depends_on_scripts(manifest: &str) -> bool {
    ["documents", "database", "server", "fuzzing"].iter().any(|name| manifest.contains(&format!("crates/{name}\"")))
}

/// The name of the package of a manifest, if there is one.
fn package_of(manifest: &Path) -> Option<String> {
    let text = std::fs::read_to_string(manifest).ok()?;
    let (_, rest) = text.split_once("name = \"")?;
    rest.split_once('"').map(|(name, _)| name.to_owned())
}
