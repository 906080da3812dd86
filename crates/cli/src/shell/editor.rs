//! The line editor of the shell on a terminal: history over sessions, completion by Tab, queries over several lines.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use anyhow::Context;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Editor, Helper};

use super::complete::complete;
use super::session::{Next, Session};
use super::text::is_open;
use crate::output::{chain, complain};

/// Entries of the history.
const HISTORY_LENGTH_MAX: usize = 1000;

/// Reads and executes entries until the end. Ctrl-C drops an entry, Ctrl-D ends.
pub(super) fn run(session: Session) -> anyhow::Result<ExitCode> {
    let session = Rc::new(RefCell::new(session));
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .max_history_size(HISTORY_LENGTH_MAX)
        .context("preparing the terminal")?
        .build();
    let mut editor = Editor::<Names, FileHistory>::with_config(config).context("preparing the terminal")?;
    editor.set_helper(Some(Names(session.clone())));
    let history = history_file();
    if let Some(path) = &history {
        // There is none in the first session.
        let _ = editor.load_history(path);
    }
    complain("Rookery shell. \\? lists the commands, \\q leaves.");
    loop {
        let prompt = session.borrow().prompt();
        let entry = match editor.readline(&prompt) {
            Ok(entry) => entry,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error).context("reading from the terminal"),
        };
        if !entry.trim().is_empty() {
            let _ = editor.add_history_entry(entry.as_str());
        }
        let outcome = session.borrow_mut().execute(&entry);
        match outcome {
            Ok(Next::Read) => {}
            Ok(Next::Leave) => break,
            Err(error) => complain(format_args!("error: {}", chain(&error))),
        }
    }
    if let Some(path) = &history
        && let Err(error) = editor.save_history(path)
    {
        complain(format_args!("the history was not saved to {}: {error}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// `$XDG_STATE_HOME/rookery/history`, or the same below the home folder. `None`: there is no such folder.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local").join("state")))?;
    let folder = state.join("rookery");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

/// What the editor asks of the session.
struct Names(Rc<RefCell<Session>>);

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &rustyline::Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..pos).unwrap_or(line);
        Ok(complete(before, &*self.0.borrow()))
    }
}

impl Validator for Names {
    fn validate(&self, entry: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_open(entry.input()) { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}

impl Helper for Names {}
