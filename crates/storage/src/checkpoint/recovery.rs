//! Recovery: the journal's replay over the data file, in memory.
//!
//! Every page that the journal changes becomes a version in memory, but for large values that their commits wrote to the data
//! file; the next flush brings them there. A page
//! of the file whose checksum does not fit is torn by a flush that a crash cut short, and made whole by the replay; or it
//! is damaged. The intent of that flush tells which (`intent`).

use super::intent::Intent;
use crate::environment::Inner;
use crate::error::{Error, Result};
use crate::ids::{PageNumber, SnapshotWord, TransactionId};
use crate::journal::files::JournalFile;
use crate::journal::record::Change;
use crate::journal::{diff, replay};
use crate::limits::{SEGMENT_PAGES, SEGMENTS_MAX};
use crate::page;
use crate::pager::Page;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Checks that the replay still has to pass.
struct Suspects {
    intent: Intent,
    /// Pages that did not fit their checksum when the replay began to change them.
    pages: BTreeSet<PageNumber>,
    /// The replay has come to the state that the intent describes.
    settled: bool,
}

impl Inner {
    /// Applies the journal to page versions in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] and [`Error::CorruptFile`] if the last durable state cannot be told.
    pub(crate) fn recover(&mut self, journals: &[Arc<JournalFile>], from: replay::ReplayState) -> Result<()> {
        let intent = match &self.intents {
            Some(intents) => intents.read(self.id, from.transaction)?,
            None => Intent::default(),
        };
        // The last flush ended: its header is in force.
        let settled = intent.transaction <= from.transaction;
        let mut suspects = Suspects { intent, pages: BTreeSet::new(), settled };
        let mut replayed = Vec::new();
        let this = &*self;
        let last = replay::replay(journals, self.id, from, |transaction, number, change| {
            if transaction > suspects.intent.transaction {
                this.settle(&mut suspects)?;
            }
            let pages = match change {
                Change::Run { pages, .. } | Change::Direct { pages, .. } => u64::from(pages),
                _ => 1,
            };
            let outside = || this.table.corrupt(number, "it lies outside of the file");
            let end = number.0.checked_add(pages).filter(|end| *end <= SEGMENT_PAGES * SEGMENTS_MAX as u64);
            this.grow(end.ok_or_else(outside)?)?;
            replayed.push(number);
            this.apply(transaction, number, change, &mut suspects)
        })?;
        if last.transaction < suspects.intent.transaction && !suspects.settled {
            return Err(Error::CorruptFile {
                path: self.path.clone(),
                rule: format!(
                    "transaction {} was durable when a flush of it began, but the journal ends at {}",
                    suspects.intent.transaction, last.transaction
                ),
            });
        }
        self.settle(&mut suspects)?;
        replayed.sort_unstable();
        replayed.dedup();
        for number in &replayed {
            // A page of the file is checked when it is first read; nobody looks at these again.
            if let Some(version) = self.table.newest(*number)? {
                page::check(version.page(), version.bytes()).map_err(|rule| self.table.corrupt(*number, rule))?;
            }
        }
        for journal in journals {
            // What was read may be in the page cache only (a killed process, not a lost device); later records rely on it.
            journal.file.sync().map_err(|e| Error::io("sync", journal.file.path(), 0, e))?;
        }
        if last.transaction > from.transaction {
            tracing::info!(path = %self.path.display(), from = from.transaction.0, to = last.transaction.0, "transactions recovered from the journal");
        }
        let writer = self.writer.get_mut();
        writer.last_transaction = last.transaction;
        writer.last_hash = last.hash;
        writer.synced = last.transaction;
        writer.dirty_since_flush = replayed;
        if last.transaction > from.transaction {
            writer.positions.push_back(last);
        }
        self.readers.publish(SnapshotWord::of(last.transaction));
        Ok(())
    }

    /// The replay has come to the state that the interrupted flush was writing: what was torn must be whole now.
    fn settle(&self, suspects: &mut Suspects) -> Result<()> {
        if std::mem::replace(&mut suspects.settled, true) {
            return Ok(());
        }
        for number in std::mem::take(&mut suspects.pages) {
            let Some(expected) = suspects.intent.checksum(number) else { continue };
            let version = self.table.newest(number)?;
            if version.is_none_or(|version| page::checksum(version.bytes(), self.id) != expected) {
                return Err(self.table.corrupt(number, "it was damaged before a flush of it was cut short"));
            }
        }
        Ok(())
    }

    /// A page of the file, to apply a diff to. It fits its checksum, or the interrupted flush may have torn it.
    fn base(&self, number: PageNumber, suspects: &mut Suspects) -> Result<&Page> {
        self.table.bring(number, 1)?;
        let page = self.table.file_page_unverified(number)?;
        let Err(rule) = page::verify(page, page, number, self.id) else { return Ok(page) };
        if suspects.settled || !suspects.intent.covers(number) {
            return Err(self.table.corrupt(number, rule));
        }
        suspects.pages.insert(number);
        Ok(page)
    }

    /// Drops the versions of pages that a run takes over but for its first. They were freed before, and may be nothing but
    /// differences applied to what an interrupted flush has already written of the run.
    fn forget_inside(&self, first: PageNumber, pages: u32) -> Result<()> {
        for inside in (first.0 + 1..first.0 + u64::from(pages)).map(PageNumber) {
            if let Some(version) = self.table.newest(inside)? {
                self.table.set_unverified(inside)?;
                self.table.versions.give_back([version]);
            }
        }
        Ok(())
    }

    /// Applies one change of the journal. Nobody reads yet, so versions are changed in place.
    fn apply(
        &self,
        transaction: TransactionId,
        number: PageNumber,
        change: Change<'_>,
        suspects: &mut Suspects,
    ) -> Result<()> {
        let no_memory = |e| Error::io("get memory for a page of", &self.path, 0, e);
        let broken = || self.table.corrupt(number, "the journal has a broken diff for it");
        let newest = self.table.newest(number)?;
        if let Change::Run { pages, .. } | Change::Direct { pages } = change {
            self.forget_inside(number, pages)?;
        }
        if let Change::Direct { .. } = change {
            // It was durable before its record was written. The first who reads it verifies it.
            self.table.set_unverified(number)?;
            self.table.versions.give_back(newest);
            return Ok(());
        }
        if let Change::Run { pages, bytes } = change {
            let mut run = match pages {
                1 => self.table.versions.take().map_err(no_memory)?,
                _ => self.table.versions.take_run(pages).map_err(no_memory)?,
            };
            run.start(transaction, 0, None);
            let target = run.bytes_mut();
            target[..bytes.len()].copy_from_slice(bytes);
            target[bytes.len()..].fill(0);
            page::set_identity(&mut run.changes(), number, transaction);
            self.table.set(number, Some(run))?;
            self.table.versions.give_back(newest);
            return Ok(());
        }
        let mut version = match newest {
            Some(version) if version.pages() == 1 => version,
            other => {
                let mut version = self.table.versions.take().map_err(no_memory)?;
                match (&other, &change) {
                    (None, Change::Diff(_)) => {
                        version.page_mut().copy_from_slice(self.base(number, suspects)?);
                    }
                    // A run that was freed, and whose first page lives on as a page of its own.
                    _ => version.page_mut().fill(0),
                }
                self.table.set(number, Some(version))?;
                self.table.versions.give_back(other);
                version
            }
        };
        version.start(transaction, 0, None);
        let (diff, fresh) = match change {
            Change::Fresh(diff) => (diff, true),
            Change::Diff(diff) => (diff, false),
            Change::Run { .. } | Change::Direct { .. } => return Err(broken()),
        };
        if fresh {
            version.page_mut().fill(0);
        }
        if !diff::apply(diff, version.page_mut()) {
            return Err(broken());
        }
        page::set_identity(&mut version.changes(), number, transaction);
        Ok(())
    }
}
