//! The program as a process: starting it, ending it in the ways that processes end, and its tools.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use testing::wait::{LONG, until};

use crate::client::Client;

/// A server that runs. Dropping kills it.
pub struct Server {
    child: Child,
    log: PathBuf,
    pub address: SocketAddr,
    started: Instant,
}

impl Server {
    /// Starts it on a folder, with the log beside it.
    pub fn start(data: &Path) -> Server {
        Server::start_logging_to(data, &log_of(data))
    }

    /// * `log`: not where something befalls it.
    pub fn start_logging_to(data: &Path, log: &Path) -> Server {
        Server::try_start(&mut command(data), log).unwrap_or_else(|log| panic!("it does not start: {log}"))
    }

    /// Starts it; if it ends instead of getting ready, its log.
    ///
    /// * `command`: as [`command`] gives it, perhaps with more.
    pub fn try_start(command: &mut Command, log: &Path) -> Result<Server, String> {
        let started = Instant::now();
        let mut child = spawn(command, log);
        let out = child.stdout.take().unwrap();
        let (ready, line) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(out).read_line(&mut line);
            let _ = ready.send(line);
        });
        let line = line.recv_timeout(LONG).unwrap_or_else(|_| {
            let _ = child.kill();
            panic!("it neither starts nor ends: {}", read_log(log))
        });
        match line.trim_end().strip_prefix("Server available on: http://") {
            Some(address) => Ok(Server { child, log: log.to_path_buf(), address: address.parse().unwrap(), started }),
            None => {
                let status = child.wait().unwrap();
                let log = read_log(log);
                assert!(status.code().is_some_and(|code| code != 101), "it ended with {status}: {log}");
                Err(log)
            }
        }
    }

    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How long ago it was started.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        read_log(&self.log)
    }

    /// SIGKILL, whatever it is doing.
    pub fn kill_now(&self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
    }

    /// SIGKILL; nothing of it runs any more when this returns its log.
    pub fn kill(mut self) -> String {
        self.kill_now();
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(Signal::KILL.as_raw()), "it had died before, with {status}: {}", self.log());
        self.sound_log()
    }

    /// The end of a server whose disk is gone, whichever way that came.
    pub fn end(mut self) {
        self.kill_now();
        self.child.wait().unwrap();
        self.sound_log();
    }

    /// SIGTERM, and a clean end.
    pub fn stop(mut self) -> String {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let status =
            until(|| self.child.try_wait().unwrap().ok_or_else(|| format!("it does not stop: {}", self.log())));
        assert!(status.success(), "{status}: {}", self.log());
        self.sound_log()
    }

    /// The log, in which there is no panic.
    fn sound_log(&self) -> String {
        let log = self.log();
        assert!(!has_panic(&log), "{log}");
        log
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts it and kills it after a moment, while it recovers or soon after: nobody waits until it is ready.
pub fn start_and_kill(data: &Path, moment: Duration) {
    let log = log_of(data);
    let mut child = spawn(&mut command(data), &log);
    let out = child.stdout.take().unwrap();
    // A database is opened by the first request for it.
    let caller = std::thread::spawn(move || {
        let mut line = String::new();
        let _ = BufReader::new(out).read_line(&mut line);
        let address = line.trim_end().strip_prefix("Server available on: http://")?.parse().ok()?;
        Client::new(address).call("GET", "/databases/db/stats", "").ok()
    });
    std::thread::sleep(moment);
    let _ = child.kill();
    let status = child.wait().unwrap();
    let _ = caller.join();
    let log = read_log(&log);
    assert!(status.code().is_none() && !has_panic(&log), "it ended by itself with {status}: {log}");
}

/// The program, to serve a folder on a free port.
pub fn command(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rookery"));
    command.args(["serve", "--url", "http://127.0.0.1:0", "--data"]).arg(data).current_dir(std::env::temp_dir());
    command
}

/// Runs a tool on a folder; whether it was content, and all that it printed.
pub fn tool(name: &str, folder: &Path) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_rookery")).arg(name).arg(folder).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{name} ended with {}: {text}", output.status);
    (output.status.success(), text)
}

/// Every page and document of a folder is as it should be.
pub fn check(data: &Path) {
    let (is_clean, text) = tool("check", data);
    assert!(is_clean && text.contains("no problems\n"), "{text}");
}

/// Where the log of a server on this folder goes.
pub fn log_of(data: &Path) -> PathBuf {
    let mut name = data.as_os_str().to_owned();
    name.push(".log");
    PathBuf::from(name)
}

fn spawn(command: &mut Command, log: &Path) -> Child {
    let log = File::create(log).unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().unwrap()
}

fn read_log(log: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned()
}

fn has_panic(log: &str) -> bool {
    log.contains("panicked") || log.contains("met a bug")
}
