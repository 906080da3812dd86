//! Resolving the patches of a batch: from scripts and JSON Patches to plain commands.

use std::collections::{BTreeMap, HashMap};

use json::Raw;
use script::Effect;

use super::command::{Action, Command};
use super::patch::{JsonPatchRequest, PatchCommand, PatchForm, PatchReport, Patched, whole, with_archived};
use crate::counters::pending::PendingCounters;
use crate::ids::id;
use crate::limits::DOCUMENT_SIZE_MAX;
use crate::wire::content::{self, Content};
use crate::{
    Batch, CounterAction, CounterCommand, CounterOperation, Error, Expected, Operation, PatchInput, PatchRequest,
    PatchRun, PatchScript, PatchStatus, Result, Snapshot,
};

/// Runs the scripts of patches.
pub trait ScriptRunner {
    /// Why it fails.
    type Error: From<Error>;

    /// Runs a script.
    ///
    /// * `id`: of the document that is patched.
    /// * `document`: `None` for one that is not there; it begins empty.
    ///
    /// # Errors
    ///
    /// The script fails, or the documents cannot be read.
    fn run(
        &mut self,
        script: &PatchScript,
        id: &str,
        document: Option<&PatchInput>,
        view: &mut View<'_>,
    ) -> Result<PatchRun, Self::Error>;

    /// Told how many bytes the batch has come to so far, between two patches. An error ends it.
    ///
    /// # Errors
    ///
    /// The batch needs more memory than is free, or the client that waits for it has disconnected.
    fn hold(&mut self, size: usize) -> Result<(), Self::Error>;
}

/// The documents as a command of a batch sees them: a snapshot, and what the commands before it do.
pub struct View<'v> {
    snapshot: &'v Snapshot<'v>,
    /// The batch as far as it is resolved.
    batch: Batch,
    /// Pending writes by lower-cased id; `None`: deleted.
    written: HashMap<Vec<u8>, Option<Written>>,
    /// Lower-cased prefixes of what it deletes.
    deleted: Vec<Vec<u8>>,
    /// Ids read from the snapshot, with their change vectors.
    reads: BTreeMap<String, Option<String>>,
    counters: PendingCounters,
    /// Keys of compare-exchange values read from it, with their indexes.
    value_reads: BTreeMap<String, u64>,
    /// Bytes of the reports.
    reported: usize,
}

/// A document that a command before writes.
struct Written {
    id: String,
    content: Content,
    is_archived: bool,
}

impl View<'_> {
    /// The document with this id.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn get(&mut self, id: &str) -> Result<Option<PatchInput>> {
        let key = id::lower(id);
        if let Some(written) = self.written.get(&key) {
            return Ok(written.as_ref().map(|Written { id, content, is_archived }| {
                let (metadata, body) = content.bytes(&self.batch.text).split_at(content.metadata_size as usize);
                let json = whole(&with_archived(metadata, *is_archived), body);
                PatchInput { id: id.clone(), json, is_archived: *is_archived, stored: None }
            }));
        }
        if self.deleted.iter().any(|prefix| key.starts_with(prefix)) {
            return Ok(None);
        }
        let document = self.snapshot.get(id)?;
        let vector = document.as_ref().map(|document| document.change_vector());
        self.reads.insert(id.to_owned(), vector.clone());
        Ok(document.zip(vector).map(|(document, vector)| PatchInput {
            id: document.id().to_owned(),
            json: document.json_of_scripts(),
            is_archived: document.flags().is_archived(),
            stored: Some((vector, document.last_modified())),
        }))
    }

    /// The value of a counter of each database, by node tag and database id; `None`: there is no such counter.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn counter(&mut self, id: &str, name: &str) -> Result<Option<Vec<(String, i64)>>> {
        let key = id::lower(id);
        let is_deleted = self.deleted.iter().any(|prefix| key.starts_with(prefix));
        self.counters.read(self.snapshot, (id, name), is_deleted)
    }

    /// The name of this database among the values of a counter.
    pub fn counter_database(&self) -> String {
        self.snapshot.counter_database()
    }

    /// The compare-exchange value with this key, without its metadata: JSON.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn value(&mut self, key: &str) -> Result<Option<Vec<u8>>> {
        let value = self.snapshot.compare_exchange_value(key)?;
        self.value_reads.insert(key.to_owned(), value.map_or(0, |value| value.index()));
        Ok(value.and_then(|value| value.object()).map(|object| object.bytes().to_vec()))
    }

    /// Adds a document to what is written.
    fn put(&mut self, id: &str, json: &[u8], expected: Expected) -> Result<()> {
        self.batch.push_put(id, Raw::new(json), expected)?;
        self.note_last()
    }

    /// Adds a document that is there to what is written. Its id is whole, however it ends.
    ///
    /// * `is_unarchived`: it is no longer archived.
    fn put_back(&mut self, id: &str, json: &[u8], is_unarchived: bool) -> Result<()> {
        self.batch.push_put(id, Raw::new(json), Expected::Any)?;
        if let Some(Command { action: Action::Put { has_whole_id, unarchives, .. }, .. }) =
            self.batch.commands.last_mut()
        {
            (*has_whole_id, *unarchives) = (true, is_unarchived);
        }
        self.note_last()
    }

    /// Notes what the last command writes.
    fn note_last(&mut self) -> Result<()> {
        let Some(command) = self.batch.commands.last() else { return Ok(()) };
        match &command.action {
            Action::Put { content, unarchives, .. } => {
                let key = id::lower(&command.id);
                let is_archived = match self.written.get(&key) {
                    _ if *unarchives => false,
                    Some(before) => before.as_ref().is_some_and(|before| before.is_archived),
                    None if self.deleted.iter().any(|prefix| key.starts_with(prefix)) => false,
                    None => self.snapshot.get(&command.id)?.is_some_and(|document| document.flags().is_archived()),
                };
                self.written.insert(key, Some(Written { id: command.id.clone(), content: *content, is_archived }));
            }
            Action::Delete => {
                let key = id::lower(&command.id);
                self.counters.delete_document(&key);
                self.written.insert(key, None);
            }
            Action::DeletePrefixed => {
                let prefix = id::lower(&command.id);
                self.counters.delete_prefixed(&prefix);
                self.written.retain(|key, _| !key.starts_with(&prefix));
                self.deleted.push(prefix);
            }
            Action::Counters(counters) => self.counters.note(counters),
            // A patch reads no attachments.
            Action::Attachment(_) => {}
            Action::ForceRevision
            | Action::CheckCounters(_)
            | Action::TrackChanges(_)
            | Action::Patch(_)
            | Action::Patched(_) => {}
        }
        Ok(())
    }

    /// Runs the patch of one document, and adds what it writes.
    fn patch<R: ScriptRunner>(
        &mut self,
        runner: &mut R,
        request: &PatchRequest,
        id: &str,
        expected: &Expected,
    ) -> Result<PatchReport, R::Error> {
        let seen = self.get(id)?;
        let mut report = PatchReport {
            id: id.to_owned(),
            is_json: false,
            status: PatchStatus::DocumentDoesNotExist,
            is_written: false,
            document: None,
            original: seen.as_ref().filter(|_| self.batch.keeps_originals).map(|seen| seen.json.clone()),
            debug: Vec::new(),
        };
        if let Err(conflict) = check_expected(id, expected, seen.as_ref()) {
            if request.skips_mismatch {
                return Ok(PatchReport { status: PatchStatus::Skipped, ..report });
            }
            return Err(conflict.into());
        }
        let script = match (&seen, &request.if_missing, &request.create_if_missing) {
            (Some(_), _, _) => &request.patch,
            (None, Some(script), _) => script,
            (None, None, Some(document)) => {
                self.put(id, document, Expected::Any)?;
                let document = request.returns_document.then(|| document.clone());
                return Ok(PatchReport { status: PatchStatus::Created, is_written: true, document, ..report });
            }
            (None, None, None) => return Ok(report),
        };
        let run = runner.run(script, id, seen.as_ref(), self)?;
        let mut is_unarchived = false;
        for effect in &run.effects {
            match effect {
                Effect::Put { id, json, expected } => {
                    self.put(id, json, Expected::from_wire(expected.as_deref()))?;
                }
                Effect::Delete { id, expected } => {
                    self.batch.delete(id, Expected::from_wire(expected.as_deref()))?;
                    self.note_last()?;
                }
                // Counts for the document that is patched, as with the reference: others are put as they are.
                Effect::Unarchive { id: of } => is_unarchived |= id::is_same(of, id),
                Effect::Counter { id, name, delta } => {
                    let action = delta.map_or(CounterAction::Delete, CounterAction::Increment);
                    let operation = CounterOperation { name: name.clone(), action };
                    self.batch.push_counters(CounterCommand::new(id, vec![operation], false)?);
                    self.note_last()?;
                }
            }
        }
        report.status = match &seen {
            None => PatchStatus::Created,
            Some(seen) if !is_unarchived && is_equal(&seen.json, &run.json)? => PatchStatus::NotModified,
            Some(_) => PatchStatus::Patched,
        };
        if report.status != PatchStatus::NotModified {
            match &seen {
                Some(seen) => self.put_back(&seen.id, &run.json, is_unarchived)?,
                None => self.put(id, &run.json, Expected::Any)?,
            }
            report.is_written = true;
        }
        report.document = request.returns_document.then(|| content::without_computed(run.json));
        report.debug = run.debug;
        Ok(report)
    }
}

impl View<'_> {
    /// Applies a JSON Patch to one document, and adds what it comes to.
    fn json_patch(&mut self, request: &JsonPatchRequest, id: &str, expected: &Expected) -> Result<PatchReport> {
        let seen = self.get(id)?;
        check_expected(id, expected, seen.as_ref())?;
        let bad = |rule: String| Error::BadBatch { rule };
        let seen =
            seen.ok_or_else(|| bad(format!("a JSON Patch cannot be applied to '{id}': there is no such document")))?;
        let applied = request.patch.apply(&seen.json, DOCUMENT_SIZE_MAX);
        let json = applied.map_err(|error| bad(format!("document '{id}': {error}")))?;
        let is_written = !is_equal(&seen.json, &json)?;
        if is_written {
            check_made(&json)?;
            self.put_back(&seen.id, &json, false)?;
        }
        Ok(PatchReport {
            id: seen.id,
            is_json: true,
            status: if is_written { PatchStatus::Patched } else { PatchStatus::NotModified },
            is_written,
            document: (request.returns_document && is_written).then(|| content::without_computed(json)),
            original: self.batch.keeps_originals.then_some(seen.json),
            debug: Vec::new(),
        })
    }
}

impl Batch {
    /// Whether there are patches in it, so that it has to be resolved before it is run.
    pub fn has_patches(&self) -> bool {
        self.commands.iter().any(|command| matches!(command.action, Action::Patch(_)))
    }

    /// The same batch with plain commands in the place of patches, for a run right after the state of `snapshot`.
    ///
    /// # Errors
    ///
    /// A document is not as a patch expects it; a script fails.
    pub fn resolve<R: ScriptRunner>(&self, snapshot: &Snapshot<'_>, runner: &mut R) -> Result<Batch, R::Error> {
        let batch = Batch { commands: Vec::with_capacity(self.commands.len()), ..self.clone() };
        let mut view = View {
            snapshot,
            batch,
            written: HashMap::new(),
            deleted: Vec::new(),
            reads: BTreeMap::new(),
            counters: PendingCounters::default(),
            value_reads: BTreeMap::new(),
            reported: 0,
        };
        for command in &self.commands {
            match &command.action {
                Action::Patch(patch) => view.resolve(runner, patch)?,
                _ => {
                    view.batch.commands.push(command.clone());
                    view.note_last()?;
                }
            }
        }
        let (reads, value_reads) = (view.reads.into_iter().collect(), view.value_reads.into_iter().collect());
        Ok(Batch { reads, value_reads, ..view.batch })
    }

    /// The report of the first patch of a resolved batch, for a dry run.
    pub fn patch_report(&self) -> Option<&PatchReport> {
        self.commands.iter().find_map(|command| match &command.action {
            Action::Patched(patched) => patched.report.as_ref(),
            _ => None,
        })
    }
}

impl View<'_> {
    fn resolve<R: ScriptRunner>(&mut self, runner: &mut R, patch: &PatchCommand) -> Result<(), R::Error> {
        let first = self.batch.commands.len();
        let mut report = None;
        for (id, expected) in &patch.ids {
            let of_one = match &patch.form {
                PatchForm::Script(request) => self.patch(runner, request, id, expected)?,
                PatchForm::Json(request) => self.json_patch(request, id, expected)?,
            };
            report = Some(of_one).filter(|_| !patch.is_of_many);
            let of_report = report.as_ref().map_or(0, PatchReport::size);
            runner.hold(self.batch.size() + self.reported + of_report)?;
        }
        self.reported += report.as_ref().map_or(0, PatchReport::size);
        let mut commands = self.batch.commands.split_off(first);
        let reads = self.counters.take_reads();
        if !reads.is_empty() {
            let check = Command { action: Action::CheckCounters(reads), id: String::new(), expected: Expected::Any };
            commands.insert(0, check);
        }
        let action = Action::Patched(Box::new(Patched { commands, report }));
        self.batch.push(Command { action, id: String::new(), expected: Expected::Any });
        Ok(())
    }
}

/// Refuses a document that is not as its client expects it.
fn check_expected(id: &str, expected: &Expected, seen: Option<&PatchInput>) -> Result<()> {
    let stored = seen.and_then(|seen| seen.stored.as_ref());
    let is_as_expected = match (expected, seen) {
        (Expected::Any, _) | (Expected::Missing, None) => true,
        (Expected::Vector(given), _) => stored.is_some_and(|(vector, _)| crate::change_vector::is_same(given, vector)),
        (Expected::Missing, Some(_)) => false,
    };
    if is_as_expected {
        return Ok(());
    }
    let actual = stored.map(|(vector, _)| crate::Actual::Vector(vector.clone()));
    Err(Error::Conflict {
        id: id.to_owned(),
        operation: Operation::Patch,
        expected: expected.as_wire().to_owned(),
        actual: actual.unwrap_or(crate::Actual::Missing),
    })
}

/// Refuses what operations made, if clients could not have sent it: it is nested too deep.
fn check_made(json: &[u8]) -> Result<()> {
    json::Minifier::new().minify(json)?;
    Ok(())
}

/// Whether two documents are stored as the same bytes.
fn is_equal(before: &[u8], after: &[u8]) -> Result<bool> {
    if before == after {
        return Ok(true);
    }
    let mut buffers = [Vec::new(), Vec::new()];
    content::split(&mut buffers[0], Raw::new(before))?;
    content::split(&mut buffers[1], Raw::new(after))?;
    Ok(buffers[0] == buffers[1])
}
