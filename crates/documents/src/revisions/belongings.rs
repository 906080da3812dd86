//! Bringing a document back together with what belonged to it: the attachments and the counters of a revision.

use json::{Kind, Raw};

use super::contents::hash_of;
use super::versioning::COUNTERS_SNAPSHOT;
use crate::attachments::list;
use crate::attachments::read::{self as stored_attachments, ListedAttachment};
use crate::counters::command::{CounterAction, CounterCommand, CounterOperation};
use crate::counters::read as stored_counters;
use crate::ids::id;
use crate::items::found::CurrentItem;
use crate::items::kinds::ItemKind;
use crate::items::record;
use crate::wire::server_metadata::property;
use crate::{Batch, Error, Flags, NewContent, Result, Writing};

/// What belongs to a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Belongings {
    /// By name in lower case.
    attachments: Vec<ListedAttachment>,
    /// Names and values, by name in lower case.
    counters: Vec<(String, i64)>,
}

impl Belongings {
    /// * `server_metadata`: of a revision.
    pub(super) fn of_revision(server_metadata: &[u8]) -> Belongings {
        let list = property(server_metadata, list::PROPERTY).unwrap_or_default();
        let list = Some(Raw::new(&list)).filter(|list| list.kind() == Kind::Array);
        let text = |attachment: Raw<'_>, name: &str| attachment.get(name).and_then(Raw::as_str).map(Into::into);
        let attachment = |attachment: Raw<'_>| {
            let (name, hash) = (text(attachment, "Name")?, hash_of(attachment)?);
            Some(ListedAttachment { name, content_type: text(attachment, "ContentType").unwrap_or_default(), hash })
        };
        let mut attachments: Vec<_> = list.into_iter().flat_map(Raw::elements).filter_map(attachment).collect();
        attachments.sort_by_cached_key(|attachment| id::lower_text(&attachment.name));
        let snapshot = property(server_metadata, COUNTERS_SNAPSHOT).unwrap_or_default();
        let snapshot = Some(Raw::new(&snapshot)).filter(|snapshot| snapshot.kind() == Kind::Object);
        let counters = snapshot.into_iter().flat_map(Raw::members);
        let counters = counters.filter_map(|(name, value)| Some((name.decode().into_owned(), value.as_i64()?)));
        let mut counters: Vec<_> = counters.collect();
        counters.sort_by_cached_key(|(name, _)| id::lower_text(name));
        Belongings { attachments, counters }
    }
}

impl Writing<'_, '_> {
    pub(super) fn belongings_of(&self, document_key: &[u8]) -> Result<Belongings> {
        let (schema, names) = (&self.store.schema, &self.store.names);
        let attachments = stored_attachments::all(schema, names, &*self.tx, document_key)?;
        let attachments = attachments.iter().map(ListedAttachment::of);
        let counters = stored_counters::all(schema, names, &*self.tx, document_key)?;
        let counters = counters.iter().map(|counter| (counter.name().to_owned(), counter.total()));
        Ok(Belongings { attachments: attachments.collect(), counters: counters.collect() })
    }

    /// Puts a document as a revision has it, with the attachments and counters of the revision and no others. One revision of it all is
    /// made, as for a put.
    ///
    /// * `batch`: the put.
    /// * `server_metadata`: of the revision.
    pub(super) fn restore(
        &mut self,
        document_key: &[u8],
        document_id: &str,
        batch: Batch,
        server_metadata: &[u8],
    ) -> Result<()> {
        let (then, now) = (Belongings::of_revision(server_metadata), self.belongings_of(document_key)?);
        if then == now {
            self.run(&batch)?;
            return Ok(());
        }
        // The revision may go when the state before this is kept, and its contents with it.
        let held = self.hold_all(&then.attachments)?;
        if let Some(document) = self.find_item(ItemKind::Document, document_key)? {
            self.revise_before_change(&document, document_key, false)?;
        }
        self.run(&batch.without_revisions(true))?;
        self.set_attachments(document_id, &held)?;
        self.run_counters(&counters_command(document_id, &now.counters, &then.counters))?;
        for attachment in &held {
            self.release_content(attachment.hash)?;
        }
        self.skips_revisions = false;
        self.revise_restored(document_key)
    }

    /// Refers to contents; gives the attachments whose contents there are.
    fn hold_all(&mut self, attachments: &[ListedAttachment]) -> Result<Vec<ListedAttachment>> {
        let mut held = Vec::with_capacity(attachments.len());
        for attachment in attachments {
            match self.link_content(&NewContent::known(attachment.hash)) {
                Ok(_) => held.push(attachment.clone()),
                // It was never imported.
                Err(Error::UploadLost) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(held)
    }

    /// Keeps the state that a document has got back, as its configuration says.
    fn revise_restored(&mut self, document_key: &[u8]) -> Result<()> {
        let document = self.find_item(ItemKind::Document, document_key)?;
        let document = document.ok_or(Error::Bug { rule: "a document that was written is there" })?;
        let revise = self.decide_rewrite(&document, false)?;
        let has_revisions = revise.has_revisions || self.has_revisions(document_key)?;
        if has_revisions && !document.head.flags.has(Flags::HAS_REVISIONS) {
            let stored = self.store.schema.records.get(&*self.tx, document.location)?;
            let server = record::server_metadata(&document.head, stored).to_vec();
            let found = CurrentItem { key: document_key.to_vec(), document: None, tombstone: None };
            let flags = document.head.flags.with(Flags::HAS_REVISIONS);
            self.replace_without_revising(found, &document, &server, flags, self.now)?;
        }
        self.revise_written(&revise, document_key)
    }
}

/// What makes some counters of a document others.
fn counters_command(document_id: &str, now: &[(String, i64)], then: &[(String, i64)]) -> CounterCommand {
    let value_in = |counters: &[(String, i64)], name: &str| {
        counters.iter().find(|(known, _)| id::is_same(known, name)).map(|(_, value)| *value)
    };
    let mut operations = Vec::new();
    let mut push = |name: &str, action| operations.push(CounterOperation { name: name.to_owned(), action });
    for (name, value) in now {
        // The difference of two values may be none.
        let is_reached = value_in(then, name).is_some_and(|then| then.checked_sub(*value).is_some());
        if !is_reached {
            push(name, CounterAction::Delete);
        }
    }
    for (name, value) in then {
        match value_in(now, name).map(|now| value.checked_sub(now)) {
            Some(Some(0)) => {}
            Some(Some(difference)) => push(name, CounterAction::Increment(difference)),
            Some(None) | None => push(name, CounterAction::Increment(*value)),
        }
    }
    CounterCommand { document_id: document_id.to_owned(), operations, has_values: false }
}
