//! Executing a query over a collection, or over ids.

use std::sync::Arc;

use documents::{Document, PrefixQuery, Snapshot, id};
use query::plan::{CollectionQuery, Filter, Order, Page, Source};
use storage::memory::{Memory, MemoryReservation};

use super::counts::Counts;
use super::deadline::Deadline;
use super::hits::taken;
use crate::{Error, Result};

/// Calls `found` with each document of the page, and gives how many there are without paging: -1 if that is not
/// known because the page ended before the prefix did.
pub(super) fn execute<'s, E: From<Error>>(
    snapshot: &'s Snapshot<'_>,
    query: &CollectionQuery,
    page: Page,
    memory: &Arc<Memory>,
    deadline: &Deadline,
    found: &mut dyn FnMut(Document<'s>) -> Result<(), E>,
) -> Result<i64, E> {
    let take = page.take.unwrap_or(u64::MAX);
    let mut reservation = memory.reservation();
    let mut passed = 0u64;
    let mut taken = 0u64;
    let in_source = |document: &Document<'_>| match &query.source {
        Source::All => Ok::<_, Error>(true),
        Source::Collection(name) => Ok(snapshot.is_in_collection(document, name)?),
    };
    let mut offer = |document: Document<'s>| -> Result<bool, E> {
        passed += 1;
        if passed > page.skip && taken < take {
            taken += 1;
            found(document)?;
        }
        Ok(taken >= take && passed > page.skip)
    };
    match (&query.filter, query.order) {
        (Filter::All, Order::Etag) => {
            let documents = match &query.source {
                Source::All => snapshot.after(0),
                Source::Collection(name) => snapshot.collection_after(name, 0).map_err(Error::from)?,
            };
            // Passing over documents reads none of them, and the count is known.
            let count = document_count(snapshot, &query.source)?;
            for document in deadline.by_etag(documents, page.skip.min(count), take)? {
                found(document?)?;
            }
            return Ok(count.cast_signed());
        }
        (Filter::Ids(ids), order) => {
            let mut documents = Vec::new();
            for wanted in ids {
                deadline.look()?;
                if let Some(document) = snapshot.get(wanted).map_err(Error::from)?
                    && in_source(&document)?
                {
                    keep(&mut documents, document, &mut reservation)?;
                }
            }
            // Without an order of its own the reference gives them by id.
            documents.sort_by_cached_key(|document| id::lower(document.id()));
            if order == Order::IdDescending {
                documents.reverse();
            }
            let total = documents.len() as i64;
            for document in documents {
                offer(document)?;
            }
            return Ok(total);
        }
        (Filter::IdPrefix(_) | Filter::All, Order::IdDescending) => {
            let mut documents = Vec::new();
            for document in deadline.by_prefix(snapshot, prefix_of(query))? {
                let document = document?;
                if in_source(&document)? {
                    keep(&mut documents, document, &mut reservation)?;
                }
            }
            let total = documents.len() as i64;
            for document in documents.into_iter().rev() {
                offer(document)?;
            }
            return Ok(total);
        }
        (Filter::IdPrefix(_) | Filter::All, Order::IdAscending | Order::Etag) => {
            for document in deadline.by_prefix(snapshot, prefix_of(query))? {
                let document = document?;
                if in_source(&document)? && offer(document)? {
                    return Ok(known_total(snapshot, query)?);
                }
            }
        }
    }
    Ok(passed.cast_signed())
}

/// Keeps a document for later, as far as there is room.
pub(super) fn keep<'s>(
    documents: &mut Vec<Document<'s>>,
    document: Document<'s>,
    reservation: &mut MemoryReservation,
) -> Result<()> {
    if documents.len() == documents.capacity() {
        let count = 2 * documents.len().max(128);
        reservation.grow(count * size_of::<Document<'_>>())?;
        documents.reserve_exact(count - documents.len());
    }
    documents.push(document);
    Ok(())
}

/// The total when the page ended early: known for a whole collection, else -1 as the reference says.
fn known_total(snapshot: &Snapshot<'_>, query: &CollectionQuery) -> Result<i64> {
    Ok(match &query.filter {
        Filter::All => document_count(snapshot, &query.source)?.cast_signed(),
        Filter::Ids(_) | Filter::IdPrefix(_) => -1,
    })
}

fn document_count(snapshot: &Snapshot<'_>, source: &Source) -> Result<u64> {
    Ok(match source {
        Source::All => snapshot.statistics()?.documents().count,
        Source::Collection(name) => snapshot.collection(name)?.map_or(0, |collection| collection.documents().count),
    })
}

/// How many documents a query looks at, at most; `u64::MAX` where that is not known without looking.
pub(super) fn document_count_max(query: &CollectionQuery, page: Page) -> u64 {
    match (&query.filter, query.order) {
        (Filter::Ids(ids), _) => ids.len() as u64,
        (Filter::All, Order::Etag) => page.end(),
        _ => u64::MAX,
    }
}

/// Counts what a query finds: at once for whole collections, else by executing it.
pub(super) fn count(
    snapshot: &Snapshot<'_>,
    query: &CollectionQuery,
    page: Page,
    memory: &Arc<Memory>,
    deadline: &Deadline,
) -> Result<Counts> {
    if query.filter == Filter::All {
        let count = document_count(snapshot, &query.source)?;
        return Ok(Counts { total: count.cast_signed(), taken: taken(page, count) });
    }
    let mut taken = 0;
    let total = execute::<Error>(snapshot, query, page, memory, deadline, &mut |_| {
        taken += 1;
        Ok(())
    })?;
    Ok(Counts { total, taken })
}

fn prefix_of(query: &CollectionQuery) -> PrefixQuery {
    let prefix = match &query.filter {
        Filter::IdPrefix(prefix) => prefix.clone(),
        Filter::All | Filter::Ids(_) => String::new(),
    };
    PrefixQuery { prefix, count_max: u64::MAX, ..PrefixQuery::default() }
}
