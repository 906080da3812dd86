//! The program as others start it: flags, the line that says it is ready, the ways it stops, the tools.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Program {
    child: Child,
    url: String,
}

fn rookery(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rookery"));
    // A folder of its own, so that no settings.json of this one is read.
    command.args(arguments).current_dir(std::env::temp_dir());
    command
}

impl Program {
    fn start(arguments: &[&str]) -> Program {
        let mut child =
            rookery(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url =
            line.trim_end().strip_prefix("Server available on: ").unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Program { child, url }
    }

    fn get(&self, target: &str) -> String {
        self.request("GET", target, "")
    }

    fn request(&self, method: &str, target: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.url.strip_prefix("http://").unwrap()).unwrap();
        let size = body.len();
        write!(
            stream,
            "{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Waits for the end; how long it took, and whether it was clean.
    fn ended(&mut self) -> (Duration, bool) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (start.elapsed(), status.success());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("it does not stop");
    }

    fn terminate(&mut self) -> (Duration, bool) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        self.ended()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

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
    let (elapsed, is_clean) = program.terminate();
    assert!(is_clean && elapsed < Duration::from_secs(1), "{elapsed:?}");
}

#[test]
fn it_stops_within_a_second_although_clients_are_connected() {
    let mut program = Program::start(&["serve", "--url", "http://127.0.0.1:0", "--in-memory"]);
    let held: Vec<TcpStream> =
        (0..5).map(|_| TcpStream::connect(program.url.strip_prefix("http://").unwrap()).unwrap()).collect();
    assert!(program.get("/build/version").starts_with("HTTP/1.1 200"));
    let (elapsed, is_clean) = program.terminate();
    assert!(is_clean && elapsed < Duration::from_secs(1), "{elapsed:?}");
    drop(held);
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mut program = Program::start(&["serve", "--url", "http://127.0.0.1:0", "--in-memory"]);
    assert!(program.request("PUT", "/admin/databases?name=db", r#"{"DatabaseName":"db"}"#).starts_with("HTTP/1.1 201"));
    let document = format!(r#"{{"Text":"{}"}}"#, "x".repeat(32 << 20));
    assert!(program.request("PUT", "/databases/db/docs?id=a", &document).starts_with("HTTP/1.1 201"));
    // An answer that nobody takes keeps the server from stopping for a moment.
    let mut held = TcpStream::connect(program.url.strip_prefix("http://").unwrap()).unwrap();
    held.write_all(b"GET /databases/db/streams/docs HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    held.read_exact(&mut [0; 100]).unwrap();
    let process = rustix::process::Pid::from_child(&program.child);
    // Signals that come too close together are one: so more than two, until it is gone.
    while program.child.try_wait().unwrap().is_none() {
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(program.child.wait().unwrap().code(), Some(1));
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
    let mut program = Program::start(&["--ServerUrl=http://127.0.0.1:0", "--RunInMemory", "--Log.Level=trace"]);
    for _ in 0..200 {
        assert!(program.get("/nosuch").starts_with("HTTP/1.1 400"));
    }
    assert!(program.terminate().1);
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
    check(&["--Security.Certificate.Path=x.pfx"], "certificates");
    check(&["--config-path", "/nonexistent.json"], "/nonexistent.json");
}

#[test]
fn data_outlive_the_server_and_one_server_at_a_time_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let arguments = ["serve", "--url", "http://127.0.0.1:0", "--data", text(&data)];
    let lines = folder.path().join("users.jsonl");
    std::fs::write(&lines, "{\"Name\":\"Ann\",\"Id\":1}\n{oops\n{\"Name\":\"Bob\",\"Id\":2}\n").unwrap();

    let mut program = Program::start(&arguments);
    let second = rookery(&arguments).stdin(Stdio::null()).output().unwrap();
    let message = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && message.contains("in use by another process"), "{message}");

    let import =
        ["import", "--url", &program.url, "-d", "Shop", "--id-field", "Id", "--id-prefix", "users/", text(&lines)];
    let output = rookery(&import).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && out.starts_with("2 documents") && err.contains("line 2: "), "{out}{err}");
    assert!(program.get("/databases/Shop/docs?id=users/2").contains("\"@collection\":\"Users\""));
    assert!(program.terminate().1);

    let program = Program::start(&arguments);
    assert!(program.get("/databases/Shop/docs?id=users/1").contains("Ann"));
    // Killed, not stopped: what was answered is there all the same.
    assert!(program.request("PUT", "/databases/Shop/docs?id=users/3", "{}").starts_with("HTTP/1.1 201"));
    drop(program);

    let check = rookery(&["check", text(&data)]).output().unwrap();
    let out = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.status.success() && out.contains("3 documents") && out.ends_with("no problems\n"), "{out}");
    let shop = data.join("databases").join("shop");
    let dump = rookery(&["dump", text(&shop)]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&dump.stdout).lines().count(), 3);
    let stats = rookery(&["stats", text(&data)]).output().unwrap();
    assert!(stats.status.success() && String::from_utf8_lossy(&stats.stdout).contains("depth"));
    let compact = rookery(&["compact", text(&data)]).output().unwrap();
    assert!(compact.status.success(), "{}", String::from_utf8_lossy(&compact.stderr));
    assert!(rookery(&["check", text(&data)]).output().unwrap().status.success(), "compacted data are whole");
    let nothing = tempfile::tempdir().unwrap();
    std::fs::write(nothing.path().join("x.txt"), "x").unwrap();
    assert!(!rookery(&["check", text(nothing.path())]).output().unwrap().status.success(), "no environment");
    assert_eq!(std::fs::read_dir(nothing.path()).unwrap().count(), 1, "and none was made");
}
