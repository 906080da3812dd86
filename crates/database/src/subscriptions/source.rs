//! What a subscription reads, one after the other, by etag: documents, or revisions with those before them.
//!
//! Live state ([`super::live`]) knows both by names: of a document its id, of a revision the id that it has among all items, which begins
//! with that of its document.

use documents::{ByEtag, Changes, Document, Etag, Flags, Item, ItemKind, Snapshot};

use super::live::key;
use crate::queries::{BatchSink, OfferedQuery, Query};
use crate::{Error, Result};

/// The documents or revisions after an etag.
pub(super) enum Source<'s> {
    Documents(Box<ByEtag<'s>>),
    Revisions(Changes<'s>),
}

/// One of them.
pub(super) enum Entry<'s> {
    Document(Document<'s>),
    Revision(Item<'s>),
}

impl<'s> Source<'s> {
    /// What the query of a subscription reads after an etag.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn after(snapshot: &'s Snapshot<'_>, query: &Query, after: Etag) -> Result<Source<'s>> {
        let collection = query.plan.subscribed_collection();
        Ok(match (query.plan.is_of_revisions, collection) {
            (true, collection) => Source::Revisions(snapshot.items(&[ItemKind::Revision], collection, after)?),
            (false, Some(collection)) => Source::Documents(Box::new(snapshot.collection_after(collection, after)?)),
            (false, None) => Source::Documents(Box::new(snapshot.after(after))),
        })
    }
}

impl<'s> Iterator for Source<'s> {
    type Item = Result<Entry<'s>>;

    fn next(&mut self) -> Option<Result<Entry<'s>>> {
        match self {
            Source::Documents(documents) => Some(documents.next()?.map(Entry::Document).map_err(Error::from)),
            Source::Revisions(items) => Some(items.next()?.map(Entry::Revision).map_err(Error::from)),
        }
    }
}

impl<'s> Entry<'s> {
    /// The one that a name of [`Self::name`] means, if it is still there and the query reads it.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn named(snapshot: &'s Snapshot<'_>, query: &Query, name: &str) -> Result<Option<Entry<'s>>> {
        let collection = query.plan.subscribed_collection();
        if query.plan.is_of_revisions {
            let Some(item) = snapshot.revision_item(name)? else { return Ok(None) };
            let is_read =
                collection.map_or(Ok(true), |collection| snapshot.is_item_in_collection(&item, collection))?;
            return Ok(is_read.then_some(Entry::Revision(item)));
        }
        let Some(document) = snapshot.get(name)? else { return Ok(None) };
        let is_read = collection.map_or(Ok(true), |collection| snapshot.is_in_collection(&document, collection))?;
        Ok(is_read.then_some(Entry::Document(document)))
    }

    pub fn etag(&self) -> Etag {
        match self {
            Entry::Document(document) => document.etag(),
            Entry::Revision(item) => item.etag(),
        }
    }

    pub fn flags(&self) -> Flags {
        match self {
            Entry::Document(document) => document.flags(),
            Entry::Revision(item) => item.flags(),
        }
    }

    /// What it is known by.
    pub fn name(&self) -> String {
        key(match self {
            Entry::Document(document) => document.id(),
            Entry::Revision(item) => item.id(),
        })
    }

    /// Asks the query about it, and writes what is made of it. False: it does not fit.
    ///
    /// # Errors
    ///
    /// As [`OfferedQuery::offer`].
    pub fn offer(
        &self,
        offered: &mut OfferedQuery<'s>,
        snapshot: &Snapshot<'_>,
        sink: &mut dyn BatchSink,
    ) -> Result<bool> {
        match self {
            Entry::Document(document) => offered.offer(*document, sink),
            Entry::Revision(item) => {
                let pair = snapshot.revision_pair(item)?;
                offered.offer_pair(&pair, sink)
            }
        }
    }
}
