//! Running the scripts of a batch.

use std::sync::Arc;

use documents::{PatchInput, PatchRun, PatchScript, ScriptRunner, View};
use json::Raw;
use script::{Body, Document, Input, Program, Run, is_name};
use storage::memory::{Memory, MemoryReservation};

use super::debug::debug;
use super::host::{PatchHost, document};
use crate::{Database, Error, Result};

/// Runs scripts as clients send them: `this` is the document, `args` has the values, and `$name` is one of them.
pub(super) struct Runner<'d> {
    database: &'d Database,
    /// The last script: a batch mostly has one for all of its documents.
    last: Option<(PatchScript, Prepared)>,
    /// Of the batch that the patches come to.
    memory: MemoryReservation,
}

/// A script with its arguments.
pub(super) struct Prepared {
    pub program: Program,
    /// JSON of what `args` and the parameters behind it are.
    pub arguments: Vec<Vec<u8>>,
    /// The name of the script's output lines in its debug output.
    pub printed: &'static str,
}

impl Prepared {
    /// * `declarations`: functions that the script may call.
    /// * `before`: the beginning of the script's text, without an end of a line.
    /// * `more`: parameters behind those.
    pub fn new(
        database: &Database,
        declarations: &str,
        (before, script): (&str, &str),
        values: &[u8],
        more: &[&str],
    ) -> Result<Prepared, script::Error> {
        let mut names = vec!["args".to_owned()];
        let mut arguments = vec![values.to_vec()];
        for (name, value) in Raw::new(values).members() {
            let name = format!("${}", name.decode());
            if is_name(&name) {
                names.push(name);
                arguments.push(value.bytes().to_vec());
            }
        }
        let parameters: Vec<&str> = names.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let text = if before.is_empty() { script.to_owned() } else { format!("{before}{script}") };
        let program = Program::new(declarations, &parameters, Body::Statements(&text), database.limits().script)?;
        Ok(Prepared { program, arguments, printed: "Info" })
    }
}

impl<'d> Runner<'d> {
    /// * `memory`: for the batch that the patches come to.
    pub fn new(database: &'d Database, memory: &Arc<Memory>) -> Runner<'d> {
        Runner { database, last: None, memory: memory.reservation() }
    }
}

impl ScriptRunner for Runner<'_> {
    type Error = Error;

    fn run(
        &mut self,
        script: &PatchScript,
        id: &str,
        document: Option<&PatchInput>,
        view: &mut View<'_>,
    ) -> Result<PatchRun> {
        if self.last.as_ref().is_none_or(|(last, _)| last != script) {
            let prepared = Prepared::new(self.database, "", ("", &script.script), &script.values, &[]);
            let prepared = prepared.map_err(|error| Error::Script { id: id.to_owned(), error })?;
            self.last = Some((script.clone(), prepared));
        }
        let Some((_, prepared)) = &self.last else { unreachable!("it was prepared above") };
        run(self.database, prepared, &[], id, document, view)
    }

    fn hold(&mut self, size: usize) -> Result<()> {
        hold(&mut self.memory, size)
    }
}

/// Goes on with a batch that has come to `size` bytes.
///
/// # Errors
///
/// [`Error::Canceled`] if its client is gone, or its database is closed; it takes more memory than there is.
pub(super) fn hold(memory: &mut MemoryReservation, size: usize) -> Result<()> {
    if script::is_stopped() {
        return Err(Error::Canceled);
    }
    Ok(memory.grow(size)?)
}

/// Runs a script on one document.
///
/// * `loaded`: arguments behind those that are prepared.
pub(super) fn run(
    database: &Database,
    prepared: &Prepared,
    loaded: &[Input<'_>],
    id: &str,
    seen: Option<&PatchInput>,
    view: &mut View<'_>,
) -> Result<PatchRun> {
    let this = match seen {
        Some(seen) => document(seen),
        None => Document { id: id.to_owned(), json: (*b"{}").into(), stored: None },
    };
    let arguments: Vec<Input<'_>> =
        prepared.arguments.iter().map(|json| Input::Json(json)).chain(loaded.iter().copied()).collect();
    let run = Run {
        this: Some(Input::Document(&this)),
        arguments: &arguments,
        may_write: true,
        omits_undefined: true,
        ..Run::default()
    };
    let mut host = PatchHost { database, view, failed: None };
    let outcome = prepared.program.run(&run, &mut host);
    if let Some(failed) = host.failed {
        return Err(failed);
    }
    let outcome = outcome.map_err(|error| match error {
        script::Error::Stopped => Error::Canceled,
        script::Error::OverMemory { limit, max_mb } => {
            Error::Storage(storage::Error::OverMemory { limit, max_mb, passes: true })
        }
        error => Error::Script { id: id.to_owned(), error },
    })?;
    let debug = debug(&outcome, prepared.printed);
    Ok(PatchRun { json: outcome.json, effects: outcome.effects, debug })
}
