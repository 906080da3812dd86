//! `GET /databases/{name}/indexes/terms`: the terms of a field.

use std::ops::Bound;

use database::Index;
use hyper::StatusCode;
use query::index::{Direction, Kind, StoredTerm, TermRange};

use super::by_name;
use crate::bridge::Pool;
use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// What a present null is called among the terms of a field.
pub(crate) const NULL_TERM: &str = "NULL_VALUE";

/// The terms of a field, in order, after `fromValue`; `withCounts`: also in how many entries each is.
pub(crate) async fn terms(exchange: Exchange) -> Result<Reply> {
    let query = exchange.query();
    let (field, count) = (exchange.required("field")?.into_owned(), query.page_size()?);
    let from = query.get_nonempty("fromValue").map(|from| from.into_owned());
    let has_counts = query.is_true("withCounts")?;
    let index = by_name(exchange.database(), &exchange.required("name")?)?;
    let read = move || {
        let terms = read_terms(&index, &field, from.as_deref(), count)?;
        let progress = index.statistics()?.progress;
        let etags = progress.iter().flat_map(|progress| [progress.items, progress.tombstones]);
        let etags: Vec<u8> = etags.flat_map(u64::to_le_bytes).collect();
        let etag = xxhash_rust::xxh3::xxh3_64(&etags).cast_signed();
        Ok(reply::object(StatusCode::OK, |json| {
            json.name("IndexName").string(index.name()).name("ResultEtag").signed(etag);
            json.name("Terms").array(|json| terms.iter().for_each(|(term, _)| _ = json.string(term)));
            if has_counts {
                json.name("Counts").array(|json| terms.iter().for_each(|(_, count)| _ = json.unsigned(*count)));
            }
        }))
    };
    exchange.node.bridge.run(Pool::Reads, read).await
}

/// Terms, each with the number of its entries.
fn read_terms(index: &Index, field: &str, from: Option<&str>, count: u64) -> Result<Vec<(String, u64)>> {
    let snapshot = index.read()?;
    let mut terms = Vec::new();
    let Some(number) = snapshot.field(field)? else { return Ok(terms) };
    if from.is_none() && count > 0 {
        let nulls = snapshot.present(number, Kind::Null)?.count();
        if nulls > 0 {
            terms.push((NULL_TERM.to_owned(), nulls));
        }
    }
    let after = from.filter(|from| *from != NULL_TERM).map_or(Bound::Unbounded, Bound::Excluded);
    let mut found = snapshot.terms(&TermRange::text(number, after, Bound::Unbounded), Direction::Ascending);
    while (terms.len() as u64) < count {
        match found.next()? {
            None => break,
            Some((StoredTerm::Text(text), entries)) => terms.push((text, entries)),
            Some((StoredTerm::Cut(text), entries)) => terms.push((text + "…", entries)),
            Some(_) => {}
        }
    }
    Ok(terms)
}
