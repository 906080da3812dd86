//! Starting the program, and speaking to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testing::wait;

/// A server that runs; killed when dropped.
pub struct Program {
    pub child: Child,
    pub url: String,
}

/// The program with these arguments, in a folder where no settings.json is.
pub fn rookery(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rookery"));
    command.args(arguments).current_dir(std::env::temp_dir());
    command
}

impl Program {
    pub fn start(arguments: &[&str]) -> Program {
        Program::start_with(arguments, Stdio::null())
    }

    pub fn in_memory() -> Program {
        Program::start(&["serve", "--url", "http://127.0.0.1:0", "--in-memory"])
    }

    /// * `log`: where standard error goes.
    pub fn start_with(arguments: &[&str], log: Stdio) -> Program {
        Program::start_command(&mut rookery(arguments), log)
    }

    pub fn start_command(command: &mut Command, log: Stdio) -> Program {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url =
            line.trim_end().strip_prefix("Server available on: ").unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Program { child, url }
    }

    pub fn get(&self, target: &str) -> String {
        self.request("GET", target, "")
    }

    pub fn request(&self, method: &str, target: &str, body: &str) -> String {
        let mut stream = self.connect();
        let size = body.len();
        write!(
            stream,
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// A connection on which waiting for an answer ends, so that a server that hangs fails the test.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.url.strip_prefix("http://").unwrap()).unwrap();
        stream.set_read_timeout(Some(wait::LONG)).unwrap();
        stream
    }

    /// Waits for the end; how long it took, and whether it was clean.
    pub fn ended(&mut self) -> (Duration, bool) {
        let start = Instant::now();
        let status = wait::until(|| self.child.try_wait().unwrap().ok_or("the program does not stop"));
        (start.elapsed(), status.success())
    }

    pub fn terminate(&mut self) -> (Duration, bool) {
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

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What a command printed: whether it was content, standard output, standard error.
pub fn outcome(mut command: Command) -> (bool, String, String) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert_ne!(output.status.code(), Some(101), "{command:?} panicked: {}", text(output.stderr));
    (output.status.success(), text(output.stdout), text(output.stderr))
}
