//! Passes the commit and its date to the program: `ROOKERY_COMMIT` and `ROOKERY_COMMIT_DATE` while it is compiled.
//!
//! Both come from the repository, so that two builds of one commit are equal. A build outside of a repository may set the
//! variables itself; otherwise the program says `unknown`.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let given = ["ROOKERY_COMMIT", "ROOKERY_COMMIT_DATE"].map(|name| {
        println!("cargo::rerun-if-env-changed={name}");
        std::env::var(name).is_ok()
    });
    if given.contains(&true) {
        return;
    }
    let Some((commit, date)) = git(&["log", "-1", "--abbrev=10", "--format=%h %cs"])
        .and_then(|line| line.split_once(' ').map(|(commit, date)| (commit.to_owned(), date.to_owned())))
    else {
        return;
    };
    println!("cargo::rustc-env=ROOKERY_COMMIT={commit}");
    println!("cargo::rustc-env=ROOKERY_COMMIT_DATE={date}");
    // Each commit and checkout adds a line to the log of HEAD.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// The output of git; `None` if there is no git, or no repository that has this package.
fn git(arguments: &[&str]) -> Option<String> {
    // A copy of the sources inside of another repository must not take that one's commit.
    let is_ours = Command::new("git").args(["ls-files", "--error-unmatch", "build.rs"]).output().ok()?.status.success();
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| is_ours && output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
