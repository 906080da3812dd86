//! Runs each example as a program and compares its output with what the first lines of its source print.
//!
//! A test program without the usual harness: it prints the same lines. `cargo test -p rookerydb` builds the examples before.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::SystemTime;

/// What a check finds wrong.
type Checked = Result<(), String>;

fn main() -> ExitCode {
    let filter = filter();
    let is_chosen = |name: &str| filter.is_empty() || filter.iter().any(|part| name.contains(part.as_str()));
    let (mut passed, mut failed) = (0, 0);
    for source in sources() {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !is_chosen(&name) {
            continue;
        }
        match check(&name, &source) {
            Ok(()) => {
                passed += 1;
                println!("test {name} ... ok");
            }
            Err(reason) => {
                failed += 1;
                println!("test {name} ... FAILED\n{reason}");
            }
        }
    }
    let outcome = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {outcome}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Parts of names, without the options that are for the usual harness.
fn filter() -> Vec<String> {
    let (mut filter, mut arguments) = (Vec::new(), std::env::args().skip(1));
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-Z" | "--test-threads" | "--skip" => drop(arguments.next()),
            option if option.starts_with('-') => {}
            _ => filter.push(argument),
        }
    }
    filter
}

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = std::fs::read_dir(folder).expect("the examples are there");
    let mut sources: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    sources.sort();
    assert!(sources.len() >= 5, "{sources:?}");
    sources
}

/// The lines of the first `text` block of a file's comment.
fn printed(source: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(source).expect("it can be read");
    let lines =
        text.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    let block = lines.skip_while(|line| *line != "```text").skip(1);
    block.take_while(|line| *line != "```").map(str::to_owned).collect()
}

/// The built program, beside this one's folder.
fn program(name: &str, source: &Path) -> Result<PathBuf, String> {
    let own = std::env::current_exe().expect("it has a path");
    let folder = own.parent().and_then(Path::parent).expect("it is in a folder of the target");
    let program = folder.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let changed =
        |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    match changed(&program) >= changed(source) {
        true => Ok(program),
        false => Err(format!("{name} is not built, or older than its source: cargo build -p rookerydb --examples")),
    }
}

fn check(name: &str, source: &Path) -> Checked {
    let (program, expected) = (program(name, source)?, printed(source));
    if expected.is_empty() {
        return Err("its comment does not say what it prints".to_owned());
    }
    if name == "web_service" {
        return check_service(&program, &expected);
    }
    let output = Command::new(program).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().collect();
    match output.status.success() && lines == expected {
        true => Ok(()),
        false => Err(format!("it printed\n{text}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// A program that is ended with its owner.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends the requests of its comment, and compares the answers with the lines behind them.
fn check_service(program: &Path, expected: &[String]) -> Checked {
    let started = Command::new(program).arg("0").stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let mut service = Running(started);
    let mut url = String::new();
    let stdout = service.0.stdout.take().ok_or("it has no output")?;
    BufReader::new(stdout).read_line(&mut url).map_err(|error| error.to_string())?;
    let address = url.trim().strip_prefix("http://").and_then(|url| url.strip_suffix("/notes"));
    let address = address.ok_or_else(|| format!("it begins with {url}"))?;
    let mut request = "";
    for line in expected {
        match line.strip_prefix("< ") {
            None => request = line,
            Some(answer) => {
                let given = ask(address, request).map_err(|error| format!("{request}: {error}"))?;
                if given.trim_end() != answer {
                    return Err(format!("{request}\nwas answered with {given}"));
                }
            }
        }
    }
    Ok(())
}

/// Status and body of the answer to `METHOD PATH [BODY]`.
fn ask(address: &str, request: &str) -> std::io::Result<String> {
    let mut parts = request.splitn(3, ' ');
    let (method, path, body) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(testing::wait::LONG))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    Ok(format!("{} {body}", head.split(' ').nth(1).unwrap_or("")))
}
