//! `rookery serve`: settings, the line that says it is ready, the ways it stops.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::support::{Program, rookery};

#[test]
fn ravendb_flags_start_it_and_the_port_is_told() {
    let mut program = Program::start(&[
        "--ServerUrl=http://127.0.0.1:0",
        "--RunInMemory",
        "--Setup.Mode=None",
        "--License.Eula.Accepted=true",
        "--Nobody.Knows=This",
        "-n",
    ]);
    assert!(program.get("/build/version").starts_with("HTTP/1.1 200"));
    assert!(program.terminate().1);
}

#[test]
fn the_command_on_standard_input_stops_it_and_its_end_does_not() {
    let mut program = Program::start(&["--ServerUrl=http://127.0.0.1:0", "--RunInMemory=true"]);
    drop(program.child.stdin.take());
    assert!(program.get("/build/version").starts_with("HTTP/1.1 200"));
    let mut other = Program::start(&["--ServerUrl=http://127.0.0.1:0", "--RunInMemory=true"]);
    other.child.stdin.as_mut().unwrap().write_all(b"shutdown no-confirmation").unwrap();
    assert!(other.ended().1);
    assert!(program.get("/build/version").starts_with("HTTP/1.1 200"));
}

#[test]
fn it_ends_with_its_parent() {
    let mut parent = Command::new("sleep").arg("60").spawn().unwrap();
    let flag = format!("--Testing.ParentProcessId={}", parent.id());
    let mut program = Program::start(&["--ServerUrl=http://127.0.0.1:0", "--RunInMemory", &flag]);
    assert!(program.get("/build/version").starts_with("HTTP/1.1 200"));
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!(program.ended().1);
}

#[test]
fn nobody_has_to_read_what_it_prints() {
    let arguments = ["--ServerUrl=http://127.0.0.1:0", "--RunInMemory", "--Log.Level=debug"];
    let mut program = Program::start_with(&arguments, Stdio::piped());
    // A line each, of some 80 bytes. The pipe takes 800, and 1,000 may wait: a log that waits would do so long before.
    for _ in 0..4000 {
        let mut stream = program.connect();
        stream.write_all(b"GET /\x01 HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    assert!(program.terminate().1);
    let mut log = Vec::new();
    program.child.stderr.take().unwrap().read_to_end(&mut log).unwrap();
    assert!(log.len() > 60_000, "nothing had to wait: only {} bytes were logged", log.len());
}

#[test]
fn it_takes_as_many_descriptors_as_it_may() {
    let start = |limits: &str| {
        let command = format!("cd /; {limits}; exec \"$0\" serve --url http://127.0.0.1:0 --in-memory");
        let mut program = Program::start_command(
            Command::new("sh").args(["-c", &command, env!("CARGO_BIN_EXE_rookery")]),
            Stdio::piped(),
        );
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", program.child.id())).unwrap();
        let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap().to_owned();
        let numbers: Vec<String> = line.split_whitespace().skip(3).take(2).map(str::to_owned).collect();
        assert!(program.terminate().1);
        let mut log = String::new();
        program.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (numbers, log)
    };
    let (numbers, log) = start("ulimit -Sn 256; ulimit -Hn 900");
    assert_eq!(numbers, ["900", "900"]);
    assert!(log.contains("the system allows 900 open files"), "{log}");
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_started() {
    let check = |arguments: &[&str], expected: &str| {
        let output = rookery(arguments).stdin(Stdio::null()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(expected), "{arguments:?}: {message}");
    };
    check(&["--Nonsense=1"], "unknown flag --Nonsense");
    check(&["serve", "--nonsense"], "--nonsense");
    check(&["--RunInMemory=perhaps"], "RunInMemory = 'perhaps' (from the flag): expected true or false");
    check(&["--RunInMemory", "--ServerUrl=http://0.0.0.0:0"], "UnsecuredAccessAllowed");
    for name in ["Certificate.Exec", "Certificate.Pasword", "MasterKey.Path", "UnsecuredAcess"] {
        check(&["--RunInMemory", &format!("--Security.{name}=x")], "the protection that was asked for");
    }
    check(&["--RunInMemory", "--Security.Certificate.Path=x"], "ServerUrl begins with http://, which does not use it");
    check(&["--RunInMemory", "--ServerUrl=https://127.0.0.1:0"], "which needs a certificate");
    let no_file = ["--RunInMemory", "--ServerUrl=https://127.0.0.1:0", "--Security.Certificate.Path=none.pfx"];
    check(&no_file, "the server's certificate cannot be used: cannot read none.pfx: No such file");
    check(&["serve", "--data", ""], "DataDir = '' (from the flag): expected a folder");
    let wrong_url = "PublicServerUrl = 'nonsense' (from the flag): expected a URL";
    let both = ["--PublicServerUrl=nonsense", "--Limits.BlockingThreads=0"];
    check(&both, &format!("error: {wrong_url}"));
    check(&both, "error: Limits.BlockingThreads = '0' (from the flag): expected a whole number from 1 to 1024");
    check(&["--ServerUrl=http://127.0.0.1:0/foo"], "expected scheme, host and port");
    check(&["--config-path", "/nonexistent.json"], "/nonexistent.json");
    let checked = ["serve", "--check-config", "--url", "http://127.0.0.1:0"];
    check(&[&checked[..], &["--data", "/proc/nope"]].concat(), "cannot open the data directory /proc/nope");
    let audit = ["--in-memory", "--Security.AuditLog.FolderPath=/proc/x"];
    check(&[&checked[..], &audit].concat(), "cannot write the audit log in /proc/x");
    check(&["--DataDri=x"], "unknown flag --DataDri; did you mean --DataDir?");
    // The cause is said once.
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = rookery(&["serve", "--url", "http://127.0.0.1:0", "--data"]).arg(file.path()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(message.matches("Not a directory").count(), 1, "{message}");
}

/// tokio panics where the system has no thread for it, and did so with others waiting for ever.
#[test]
fn too_little_memory_for_its_threads_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let start = |kibibytes: u32| {
        let limited = format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_rookery"), "serve", "--ServerUrl=http://127.0.0.1:0"]);
        // An error that takes a backtrace while memory ends waits for ever: the handler of that wants the lock of backtraces, too.
        command.env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
        let output = command.arg("--data").arg(folder.path()).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let mut has_failed = false;
    for kibibytes in (20_000..).step_by(2_000) {
        let message = start(kibibytes);
        // One that can have no thread at all may also find no memory for its first lines.
        assert!(!message.contains("panicked"), "{kibibytes}: {message}");
        has_failed |= message.contains("error: starting the network threads: ");
        // The files are opened by those threads, and want more addresses than any machine has memory.
        if message.contains("cannot open the data directory") {
            break;
        }
    }
    assert!(has_failed, "the limit never met a thread");
}

#[test]
fn the_environment_has_our_flags() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.json");
    std::fs::write(&file, "{\"Limits\": {\"MultiGetCount\": 0}}").unwrap();
    let output =
        rookery(&["serve"]).env("ROOKERY_CONFIG_PATH", &file).env("ROOKERY_URL", "nowhere:x").output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = "ServerUrl = 'nowhere:x' (from the variable ROOKERY_URL): a port is a number";
    assert!(message.contains("Limits.MultiGetCount = '0'") && message.contains(expected), "{message}");
}
