//! What the program says about itself: version, help, completion scripts, manual pages, settings.

use std::process::Stdio;

use crate::support::{outcome, rookery, text};

#[test]
fn the_version_names_commit_date_and_protocol() {
    let (is_content, out, _) = outcome(rookery(&["--version"]));
    let rest = out.strip_prefix("rookery 0.1.0 (commit ").unwrap_or_else(|| panic!("{out}"));
    let (commit, protocol) = rest.split_once(", RavenDB protocol ").unwrap_or_else(|| panic!("{out}"));
    assert!(is_content && protocol == "7.1.5.71028)\n", "{out}");
    let Some((commit, date)) = commit.split_once(" of ") else { return assert_eq!(commit, "unknown") };
    assert!(commit.len() >= 10 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{out}");
    assert!(date.len() == 10 && date.starts_with("20"), "{out}");
}

#[test]
fn help_names_the_variables_of_the_environment() {
    let (_, out, _) = outcome(rookery(&["serve", "--help"]));
    for variable in ["URL", "DATA", "IN_MEMORY", "LOG_LEVEL", "LOG_FORMAT", "CONFIG_PATH"] {
        assert!(out.contains(&format!("[env: ROOKERY_{variable}]")), "{variable}: {out}");
    }
    for command in ["import", "query", "export", "status", "shell"] {
        let (_, out, _) = outcome(rookery(&[command, "--help"]));
        assert!(out.contains("[env: ROOKERY_URL]"), "{command}: {out}");
    }
}

#[test]
fn every_command_has_completion_and_a_manual_page() {
    let commands = [
        "serve",
        "import",
        "export",
        "query",
        "shell",
        "status",
        "mcp",
        "cert",
        "backup",
        "restore",
        "check",
        "compact",
        "dump",
        "inspect",
        "access",
        "safety",
        "stats",
        "settings",
        "completion",
        "man",
    ];
    for shell in ["bash", "zsh", "fish"] {
        let (is_content, out, err) = outcome(rookery(&["completion", shell]));
        assert!(is_content, "{err}");
        for command in commands {
            assert!(out.contains(command), "{shell} lacks {command}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert!(outcome(rookery(&["man", "--output", text(&pages)])).0);
    for command in commands {
        let page = std::fs::read_to_string(pages.join(format!("rookery-{command}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{command}: {page}");
        assert_eq!(outcome(rookery(&["man", command])).1, page, "{command}");
    }
    let page = std::fs::read_to_string(pages.join("rookery.1")).unwrap();
    assert_eq!(outcome(rookery(&["man"])).1, page);
    assert_eq!(std::fs::read_dir(&pages).unwrap().count(), commands.len() + 1);
    let (is_content, _, err) = outcome(rookery(&["man", "nonsense"]));
    assert!(!is_content && err.contains("there is no command 'nonsense'"), "{err}");
}

#[test]
fn settings_are_checked_without_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    let check = |content: &str, more: &[&str]| {
        std::fs::write(&file, content).unwrap();
        let mut command = rookery(&["serve", "--check-config", "--config-path", text(&file)]);
        command.args(more).current_dir(folder.path());
        outcome(command)
    };
    let (is_content, out, err) =
        check("{\n  // The folder.\n  \"DataDir\": \"x\", /* and */ \"Log.Levle\": \"info\"}", &[]);
    assert!(is_content, "{err}");
    let from = text(&file);
    let warning = format!("warning: unknown setting Log.Levle (from {from}); did you mean Log.Level?");
    assert!(out.contains(&warning) && out.ends_with("the settings are valid\n"), "{out}");
    assert!(!folder.path().join("x").exists(), "nothing was opened");
    let (is_content, out, err) = check("{\"Limits\": {\"Connections\": 0}}", &["--url", "nowhere:x"]);
    assert!(!is_content && out.is_empty(), "{out}");
    assert!(err.contains("Limits.Connections = '0'") && err.contains("ServerUrl = 'nowhere:x'"), "{err}");
    let (is_content, _, err) = check("{}", &["--url", "http://0.0.0.0:1"]);
    assert!(!is_content && err.contains("can be reached from other machines"), "{err}");
    let (is_content, _, err) = check("{\n// x\n\"a\" 1}", &[]);
    assert!(!is_content && err.contains("line 3"), "comments keep the lines: {err}");
}

#[test]
fn a_sample_of_the_settings_is_a_file_of_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    let (is_content, out, err) = outcome(rookery(&["settings", "--sample"]));
    assert!(is_content && out.contains("  // \"Limits.Connections\": 10000,\n"), "{out}{err}");
    std::fs::write(&file, out.replace("// \"Limits.Connections\": 10000", "\"Limits.Connections\": 77")).unwrap();
    let (is_content, out, err) = outcome(rookery(&["settings", "--config-path", text(&file), "--DataDir=elsewhere"]));
    assert!(is_content, "{err}");
    assert!(out.contains(&format!("Limits.Connections = 77 (from {})\n", text(&file))), "{out}");
    assert!(out.contains("DataDir = elsewhere (from the flag)\n") && out.contains("Limits.Streams = 64"), "{out}");
    let (_, out, _) = outcome(rookery(&["settings", "--sample", "env"]));
    assert!(out.contains("#ROOKERY_ServerUrl=http://127.0.0.1:8080\n"), "{out}");
    let output = rookery(&["settings"]).env("ROOKERY_DATA", "").stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success(), "an invalid setting is an error");
}
