//! `GET /databases/{name}/docs?id=&asOf=TIME`: documents as they were at a time, from their revisions, and what they included then.
//!
//! A document that has revisions is what its newest revision says that is not later than the time. One without any is what it is now, if it
//! was last written before. So the answer is exact for collections whose revisions are configured without limits, from the time of their
//! configuration on.

use std::collections::HashSet;

use bytes::Bytes;
use database::documents::{Date, Document, IncludePath, ResultsHash, Revision, Snapshot, id};
use database::queries::Deadline;

use crate::error::Result;
use crate::messages::answers::{AnswerWriter, Out};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// A document at a time.
enum State<'s> {
    Then(Box<Revision<'s>>),
    /// It has no revisions, and was not written since.
    Now(Document<'s>),
}

impl State<'_> {
    /// The state with this id; `None`: there was none.
    fn at<'s>(snapshot: &'s Snapshot<'_>, id: &str, time: Date) -> Result<Option<State<'s>>> {
        if let Some(revision) = snapshot.revision_before(id, time)? {
            return Ok(if revision.is_deletion() { None } else { Some(State::Then(Box::new(revision))) });
        }
        if snapshot.revision_count(id)? > 0 {
            return Ok(None);
        }
        Ok(snapshot.get(id)?.filter(|document| document.last_modified() <= time).map(State::Now))
    }

    /// Bytes that it holds in memory.
    fn size(&self) -> usize {
        match self {
            State::Then(revision) => revision.size(),
            State::Now(_) => 0,
        }
    }

    fn document(&self) -> Result<Document<'_>> {
        Ok(match self {
            State::Then(revision) => revision.document()?,
            State::Now(document) => *document,
        })
    }
}

/// Answers a load by ids.
pub(super) fn answer(
    exchange: &Exchange,
    out: &mut AnswerWriter,
    deadline: &Deadline,
    load: &Load<'_>,
) -> Result<Option<Reply>> {
    let Load { ids, includes, time, is_metadata_only } = load;
    let snapshot = exchange.database().read();
    let mut reservation = exchange.node.memory.reservation();
    let mut size = 0;
    let mut state_at = |id: &str| -> Result<_> {
        deadline.look()?;
        let state = State::at(&snapshot, id, *time)?;
        size += state.as_ref().map_or(0, State::size);
        reservation.grow(size)?;
        Ok(state)
    };
    let results = ids.iter().map(|id| state_at(id)).collect::<Result<Vec<_>>>()?;
    let mut hash = ResultsHash::new();
    let mut seen: HashSet<Vec<u8>> = ids.iter().map(|id| id::lower(id)).collect();
    let mut included = Vec::new();
    for state in &results {
        let Some(state) = state else {
            hash.add_missing();
            continue;
        };
        let document = state.document()?;
        hash.add(&document);
        for id in includes.iter().flat_map(|path| path.ids(document.body())) {
            if seen.insert(id::lower(&id)) {
                included.extend(state_at(&id)?);
            }
        }
    }
    for state in &included {
        hash.add(&state.document()?);
    }
    let etag = hash.finish();
    if reply::is_match(exchange.if_none_match(), etag.as_bytes()) {
        return Ok(Some(reply::empty(hyper::StatusCode::NOT_MODIFIED)));
    }
    if let [None] = results.as_slice() {
        return Ok(Some(reply::empty(hyper::StatusCode::NOT_FOUND)));
    }
    out.begin(reply::with_etag(reply::ok(Bytes::new()), reply::quoted_etag(etag.as_bytes())), &snapshot)?;
    out.buffer().extend_from_slice(b"{\"Results\":[");
    for (place, state) in results.iter().enumerate() {
        if place > 0 {
            out.buffer().push(b',');
        }
        match state {
            Some(state) => state.document()?.write(out.buffer(), *is_metadata_only, None),
            None => out.buffer().extend_from_slice(b"null"),
        }
        out.part_done()?;
    }
    out.buffer().extend_from_slice(b"],\"Includes\":{");
    for (place, state) in included.iter().enumerate() {
        let document = state.document()?;
        let body = out.buffer();
        body.extend_from_slice(if place > 0 { b",\"" } else { b"\"" });
        json::escape_into(body, document.id());
        body.extend_from_slice(b"\":");
        document.write_to(body);
        out.part_done()?;
    }
    out.buffer().extend_from_slice(b"}}");
    Ok(None)
}

/// The parameters of a load as of a time.
pub(super) struct Load<'l> {
    pub ids: &'l [std::borrow::Cow<'l, str>],
    pub includes: &'l [IncludePath],
    pub time: Date,
    pub is_metadata_only: bool,
}
