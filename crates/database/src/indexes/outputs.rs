//! Results of an index as documents of a collection: written from what its batches noted, by whoever runs the batches.
//!
//! ```text
//!  batch (index, durable): results, and what is owed ─► documents (durable) ─► settled (index)
//! ```
//!
//! A crash between any two of these leaves something owed that is written already, or is written again: the same. A document's id is
//! made of its group's name, so nothing has to be remembered of what was written. An index that was built anew does not know which
//! groups went meanwhile, so it goes through the documents of before once (`Index::sweep`).
//!
//! Documents are written once the index has seen all that there is, and from then on with each batch; an index that is built to replace
//! another writes none before it has. So readers of the collection never see the results of an index that is half built.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use documents::{Batch, Document, Expected, OutputFate, OutputWrite, OutputWrites, PrefixQuery, Snapshot, Write, id};
use json::Writer;
use query::definition::Output;
use query::index::{GroupKey, IndexSnapshot, Owed};

use super::open::Index;
use super::stored::StoredOutput;
use crate::limits::{OUTPUTS_AT_ONCE, OUTPUTS_SIZE_AT_ONCE, OUTPUTS_SWEPT_AT_ONCE};
use crate::{Database, Error, Result};

/// The property of a document that has the ids of results.
const NAMED: &str = "ReduceOutputs";

/// That the results of an index become documents.
pub(super) struct Outputs {
    output: Output,
    stored: StoredOutput,
    /// What the ids of its documents begin with.
    prefix: String,
    /// Whether something may have to be written.
    owes: AtomicBool,
}

/// Work that is left to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    Something,
}

impl Outputs {
    pub fn new(output: &Output, stored: StoredOutput) -> Outputs {
        let prefix = stored.prefix(output);
        Outputs { output: output.clone(), stored, prefix, owes: AtomicBool::new(true) }
    }

    pub fn stored(&self) -> &StoredOutput {
        &self.stored
    }

    pub fn owes(&self) -> bool {
        self.owes.load(SeqCst)
    }

    /// Called before a batch is written, so that no reader sees its results without the debt of output documents.
    pub fn set_owes(&self, owes: bool) {
        self.owes.store(owes, SeqCst);
    }

    /// The id of a result of a group that gives `count` of them.
    fn id(&self, group: &GroupKey, number: usize, count: usize) -> String {
        let name = format!("{}{}", self.prefix, group.name());
        if count == 1 { name } else { format!("{name}/{number}") }
    }

    /// Whether a document has a result of an index, or names such, which this index wrote or the one that it replaced.
    fn is_ours(&self, document: &Document<'_>) -> bool {
        let prefixes = || std::iter::once(&self.prefix).chain(self.stored.former.iter().map(|former| &former.prefix));
        let names_ours = || {
            let first = document.body().get(NAMED).and_then(|ids| ids.elements().next());
            let first = first.and_then(|id| id.as_str());
            first.is_some_and(|id| prefixes().any(|prefix| begins(&id, prefix)))
        };
        document.flags().is_of_index() && (prefixes().any(|prefix| begins(document.id(), prefix)) || names_ours())
    }

    fn write_group(&self, index: &IndexSnapshot<'_>, group: &GroupKey) -> Result<Result<OutputWrite, String>> {
        let results = index.group_results(group)?;
        let (mut batch, mut surplus) = (Batch::of_index(), None);
        let name = format!("{}{}", self.prefix, group.name());
        match results.len() {
            0 => {
                batch.delete(&name, Expected::Any)?;
                batch.delete_prefixed(&format!("{name}/"))?;
            }
            1 => batch.delete_prefixed(&format!("{name}/"))?,
            count => {
                batch.delete(&name, Expected::Any)?;
                surplus = Some((name, count as u64));
            }
        }
        for (number, result) in results.iter().enumerate() {
            let id = self.id(group, number, results.len());
            let text = with_collection(result.bytes(), &self.output.collection);
            if let Err(error) = batch.put(&id, &text, Expected::Any) {
                return Ok(Err(format!("A result cannot be the document '{id}': {error}")));
            }
        }
        Ok(Ok(OutputWrite { batch, surplus }))
    }

    fn write_reference(
        &self,
        index: &IndexSnapshot<'_>,
        documents: &Snapshot<'_>,
        id: &str,
    ) -> Result<Result<OutputWrite, String>> {
        let mut batch = Batch::of_index();
        let write = |batch| Ok(Ok(OutputWrite { batch, surplus: None }));
        let named = index.outputs_named(id)?;
        let references = self.output.references.as_ref().filter(|_| !named.is_empty());
        let existing = documents.get(id)?;
        let mut expected = Expected::Missing;
        match (&existing, references) {
            (None, None) => return write(batch),
            (None, Some(_)) => {}
            // Somebody made it his own.
            (Some(document), None) if !self.is_ours(document) => return write(batch),
            (Some(document), Some(_)) if !self.is_ours(document) => {
                return Ok(Err(format!(
                    "The document '{id}' was not written by this index, so it does not become one that names results"
                )));
            }
            (Some(document), references) => {
                let vector = Expected::Vector(document.change_vector());
                let collection = references.map(|references| references.collection.as_str());
                match (collection, document.collection()) {
                    (Some(collection), Some(known)) if id::is_same(collection, &known) => expected = vector,
                    // It changes its collection, or goes.
                    _ => batch.delete(id, vector)?,
                }
            }
        }
        if let Some(references) = references {
            let mut text = Vec::new();
            let counts = named.iter().map(|(group, number)| Ok((group, *number, index.output_count(group)?)));
            let counts = counts.collect::<Result<Vec<_>>>()?;
            Writer::new(&mut text).object(|json| {
                json.name(NAMED).array(|json| {
                    for (group, number, count) in counts {
                        json.string(&self.id(group, number as usize, count as usize));
                    }
                });
            });
            if let Err(error) = batch.put(id, &with_collection(&text, &references.collection), expected) {
                return Ok(Err(format!("The document '{id}' cannot name results: {error}")));
            }
        }
        write(batch)
    }

    /// The group that a document has a result of, if the index does not give that result.
    fn gone(&self, index: &IndexSnapshot<'_>, id: &str) -> Result<Option<GroupKey>> {
        let Some(rest) = id.get(self.prefix.len()..) else { return Ok(None) };
        let (name, number) = rest.split_once('/').map_or((rest, None), |(name, number)| (name, Some(number)));
        let is_name = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(group) = u128::from_str_radix(name, 16).ok().filter(|_| is_name) else { return Ok(None) };
        let group = GroupKey(group.to_be_bytes());
        let count = index.output_count(&group)?;
        let is_given = match number {
            None => count == 1,
            Some(number) => count > 1 && number.parse().is_ok_and(|number: u64| number < count),
        };
        Ok((!is_given).then_some(group))
    }
}

impl Index {
    /// Writes as documents what is owed. Called by who has the turn, without a snapshot of the documents.
    ///
    /// * `is_complete`: whether it has seen all that there is.
    ///
    /// # Errors
    ///
    /// The index cannot be read, or the documents not be written: what is left stays owed.
    pub(super) fn write_outputs(&self, database: &Database, is_complete: bool) -> Result<Left> {
        let Some(outputs) = &self.outputs else { return Ok(Left::Nothing) };
        if self.is_replacement() || !(is_complete || self.was_complete()) {
            return Ok(Left::Nothing);
        }
        if is_complete && self.store()?.read()?.is_sweep_due()? {
            self.sweep(outputs, database)?;
        }
        let left = self.write_owed(outputs, database)?;
        if left == Left::Nothing {
            outputs.set_owes(false);
        }
        Ok(left)
    }

    /// The documents of some of what is owed, in one transaction.
    fn write_owed(&self, outputs: &Outputs, database: &Database) -> Result<Left> {
        let (mut writes, mut owed_by_writes, mut refused, mut settled) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut size = 0;
        let is_all = {
            let (index, documents) = (self.store()?.read()?, database.read());
            let owed = index.owed(OUTPUTS_AT_ONCE)?;
            let mut is_all = owed.len() < OUTPUTS_AT_ONCE;
            for owed in owed {
                let write = match &owed {
                    Owed::Group(group) => outputs.write_group(&index, group)?,
                    Owed::Reference(id) => outputs.write_reference(&index, &documents, id)?,
                };
                match write {
                    Ok(write) => {
                        size += write.batch.size();
                        writes.push(write);
                        owed_by_writes.push(owed);
                    }
                    Err(message) => {
                        refused.push(message);
                        settled.push(owed);
                    }
                }
                if size > OUTPUTS_SIZE_AT_ONCE {
                    is_all = false;
                    break;
                }
            }
            is_all
        };
        let mut is_again = false;
        for (owed, fate) in owed_by_writes.into_iter().zip(self.write_documents(database, writes)?) {
            match fate {
                OutputFate::Written => settled.push(owed),
                OutputFate::Again => is_again = true,
                OutputFate::Refused(message) => {
                    refused.push(message);
                    settled.push(owed);
                }
            }
        }
        if !settled.is_empty() {
            self.store()?.settle(&settled, &Self::notes_of_refused(refused))?;
        }
        Ok(if is_all && !is_again { Left::Nothing } else { Left::Something })
    }

    /// Writes documents of this index, unless it was deleted, replaced or built anew meanwhile.
    fn write_documents(&self, database: &Database, writes: Vec<OutputWrite>) -> Result<Vec<OutputFate>> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let only_if = self.stored().condition_of_outputs();
        Ok(database.write_blocking(&Write::Outputs(OutputWrites { only_if, writes }))?.fates()?)
    }

    /// Goes through the documents that were written before the index was built anew, or for what it replaced, and makes owed what is
    /// not as the index says; what only the replaced one knew is deleted.
    fn sweep(&self, outputs: &Outputs, database: &Database) -> Result<()> {
        let refuse_closed = || match database.is_closed() || self.is_removed() {
            true => Err(Error::Disabled { name: database.name().to_owned() }),
            false => Ok(()),
        };
        each_by_prefix(database, &outputs.prefix, &mut |found| {
            refuse_closed()?;
            let index = self.store()?.read()?;
            let gone = found.iter().filter_map(|(id, _)| outputs.gone(&index, id).transpose());
            let mut gone = gone.collect::<Result<Vec<GroupKey>>>()?;
            drop(index);
            gone.dedup();
            let owed: Vec<Owed> = gone.into_iter().map(Owed::Group).collect();
            match owed.is_empty() {
                true => Ok(()),
                false => Ok(self.store()?.owe(&owed)?),
            }
        })?;
        for former in outputs.stored.former.iter().filter(|former| !id::is_same(&former.prefix, &outputs.prefix)) {
            each_by_prefix(database, &former.prefix, &mut |found| {
                refuse_closed()?;
                let mut batch = Batch::of_index();
                for (id, _) in found.iter().filter(|(_, is_of_index)| *is_of_index) {
                    batch.delete(id, Expected::Any)?;
                }
                let writes = if batch.is_empty() { Vec::new() } else { vec![OutputWrite { batch, surplus: None }] };
                match self.write_documents(database, writes)?.pop() {
                    Some(OutputFate::Again) => Err(Error::Disabled { name: database.name().to_owned() }),
                    _ => Ok(()),
                }
            })?;
        }
        let references = outputs.output.references.as_ref().map(|references| &references.collection);
        let former = outputs.stored.former.iter().filter_map(|former| former.references.as_ref());
        for collection in references.into_iter().chain(former) {
            let mut after = 0;
            loop {
                refuse_closed()?;
                let (mut owed, mut count) = (Vec::new(), 0);
                {
                    let (index, documents) = (self.store()?.read()?, database.read());
                    for document in documents.collection_after(collection, after)?.take(OUTPUTS_SWEPT_AT_ONCE) {
                        let document = document?;
                        (count, after) = (count + 1, document.etag());
                        if outputs.is_ours(&document) && index.outputs_named(document.id())?.is_empty() {
                            owed.push(Owed::Reference(document.id().to_owned()));
                        }
                    }
                }
                if !owed.is_empty() {
                    self.store()?.owe(&owed)?;
                }
                if count < OUTPUTS_SWEPT_AT_ONCE {
                    break;
                }
            }
        }
        Ok(self.store()?.swept()?)
    }
}

/// Whether an id begins so, in any case.
fn begins(id: &str, prefix: &str) -> bool {
    id.get(..prefix.len()).is_some_and(|start| id::is_same(start, prefix))
}

/// Calls `each` with the ids of documents that begin so, some at once, and whether an index wrote them.
fn each_by_prefix(
    database: &Database,
    prefix: &str,
    each: &mut dyn FnMut(Vec<(String, bool)>) -> Result<()>,
) -> Result<()> {
    let mut start_after = None;
    loop {
        let query = PrefixQuery {
            prefix: prefix.to_owned(),
            matches: None,
            exclude: None,
            start_after: start_after.take(),
            start: 0,
            count_max: OUTPUTS_SWEPT_AT_ONCE as u64,
        };
        let mut found = Vec::new();
        {
            let documents = database.read();
            for document in documents.by_prefix(query)? {
                let document = document?;
                found.push((document.id().to_owned(), document.flags().is_of_index()));
            }
        }
        let is_last = found.len() < OUTPUTS_SWEPT_AT_ONCE;
        start_after = found.last().map(|(id, _)| id.clone());
        each(found)?;
        if is_last {
            return Ok(());
        }
    }
}

/// An object with the metadata that says its collection.
fn with_collection(object: &[u8], collection: &str) -> Vec<u8> {
    let mut text = object.strip_suffix(b"}").unwrap_or(object).to_vec();
    if !text.ends_with(b"{") {
        text.push(b',');
    }
    text.extend_from_slice(b"\"@metadata\":");
    Writer::new(&mut text).object(|json| _ = json.name("@collection").string(collection));
    text.push(b'}');
    text
}

#[cfg(test)]
#[path = "outputs_tests.rs"]
mod tests;
