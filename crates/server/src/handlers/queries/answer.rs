//! The answer to a query: statistics, documents, what they include.

use std::collections::HashSet;
use std::time::Instant;

use bytes::Bytes;
use database::Index;
use hyper::header::{ETAG, HeaderName, HeaderValue};

use super::facets::Counted;
use super::included::Included;
use super::plans;
use super::running::{Counts, Running};
use super::timings::Timings;
use crate::answers::WholeOut;
use crate::date::NEVER;
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::handlers::docs::write_includes;
use crate::reply::{self, Reply};

const REQUEST_TIME: HeaderName = HeaderName::from_static("request-time");

/// A query that is being answered.
pub(super) struct Answer<'a> {
    pub running: &'a Running<'a>,
    pub exchange: &'a Exchange,
    pub is_metadata_only: bool,
    /// What the index has of each result is wanted in place of it.
    pub is_of_entries: bool,
    pub etag: i64,
    pub start: Instant,
    /// Bytes of results up to which it is made whole.
    pub whole_size: usize,
}

impl<'a> Answer<'a> {
    /// Writes the answer, its properties in the order of the reference. How many results there are comes before them: known
    /// when they are all there, or, where they are too many for that, counted first.
    pub fn write(&self, out: &mut impl WholeOut) -> Result<()> {
        let running = self.running;
        if self.is_of_entries {
            return self.write_entries(out);
        }
        if running.plan.gives_in_place_of_results().is_some() {
            return self.write_in_place_of_results(out);
        }
        if let Some(timings) = running.timings.filter(|_| running.plan.is_explained) {
            return self.write_explained(timings, out);
        }
        let mut included = Included::new(running, self.is_metadata_only);
        if running.plan.is_distinct() {
            self.write_distinct(out, &mut included)?;
        } else {
            self.write_all(out, &mut included)?;
        }
        out.buffer().extend_from_slice(b"],\"Includes\":{");
        write_includes(out, &included.load(running)?)?;
        out.buffer().extend_from_slice(b"},");
        self.end(out);
        Ok(())
    }

    /// What a query suggests, a result for each field, or what it counts, a result for each facet.
    fn write_in_place_of_results(&self, out: &mut impl WholeOut) -> Result<()> {
        out.begin(self.head(), self.running.documents)?;
        let suggestions = self.running.plan.suggestions();
        let facets = &self.running.faceted;
        let mut body = Vec::new();
        json::Writer::new(&mut body).object(|json| {
            json.name("TotalResults").unsigned((suggestions.len() + facets.len()) as u64);
            json.name("DurationInMs").unsigned(elapsed_ms(self.start).max(1));
            json.name("IndexName").string(&self.running.index_name());
            json.name("Results").array(|json| {
                for (suggestion, words) in suggestions.iter().zip(&self.running.suggested) {
                    json.object(|json| {
                        json.name("Name").string(&suggestion.name);
                        json.name("Suggestions").array(|json| words.iter().for_each(|word| _ = json.string(word)));
                    });
                }
                facets.iter().for_each(|facet| facet.write(json));
            });
        });
        out.buffer().extend_from_slice(body.strip_suffix(b"}").unwrap_or(&body));
        out.buffer().extend_from_slice(b",\"Includes\":{");
        // As in the reference: the documents whose ids are values of a facet that has the name of the path.
        let paths = &self.running.plan.includes;
        let named = facets.iter().filter(|facet| paths.iter().any(|path| path == facet.name()));
        let ids = named.flat_map(Counted::values);
        write_includes(out, &self.running.documents.get_many(ids)?.into_iter().flatten().collect::<Vec<_>>())?;
        out.buffer().extend_from_slice(b"},");
        self.end(out);
        Ok(())
    }

    /// How the query ran, as its only result.
    fn write_explained(&self, timings: &Timings, out: &mut impl WholeOut) -> Result<()> {
        let running = self.running;
        let (counts, operator) = plans::explain(running, timings)?;
        out.begin(self.head(), running.documents)?;
        let mut body = Vec::new();
        json::Writer::new(&mut body).object(|json| {
            json.name("TotalResults").unsigned(1);
            json.name("DurationInMs").unsigned(elapsed_ms(self.start).max(1));
            json.name("IndexName").string(&running.index_name());
            json.name("Results").array(|json| {
                json.object(|json| {
                    json.name("Index").string(&running.index_name());
                    json.name("TotalResults").signed(counts.total);
                    plans::write(&operator, json.name("Plan"));
                    json.name("@metadata").object(|json| _ = json.name("@projection").bool(true));
                });
            });
            json.name("Includes").object(|_| {});
        });
        out.buffer().extend_from_slice(body.strip_suffix(b"}").unwrap_or(&body));
        out.buffer().push(b',');
        self.end(out);
        Ok(())
    }

    fn write_all(&self, out: &mut impl WholeOut, included: &mut Included<'a>) -> Result<()> {
        let running = self.running;
        let mut results = Vec::new();
        let mut counted = None;
        let mut taken = 0u64;
        let (mut is_begun, mut more) = (false, 0);
        let total = running.each(&mut |hit| {
            let buffer = if counted.is_some() { out.buffer() } else { &mut results };
            match running.script_rows(&hit, self.is_metadata_only)? {
                Some(rows) => {
                    // A script may give several results, or none.
                    more += rows.len() as i64 - 1;
                    for row in rows {
                        if is_begun {
                            buffer.push(b',');
                        }
                        is_begun = true;
                        buffer.extend_from_slice(&row.json);
                        included.note(&row.json)?;
                    }
                }
                None => {
                    if is_begun {
                        buffer.push(b',');
                    }
                    is_begun = true;
                    let start = buffer.len();
                    running.write_row(&hit, self.is_metadata_only, buffer)?;
                    included.note(buffer.get(start..).unwrap_or_default())?;
                }
            }
            taken += 1;
            if counted.is_none() && results.len() >= self.whole_size {
                let counts = running.counts()?;
                self.begin(out, counts, 0)?;
                out.buffer().append(&mut results);
                counted = Some(counts);
            }
            if counted.is_some() {
                out.part_done()?;
                running.deadline.lift();
            }
            included.keep(running, hit)
        })?;
        if counted.is_none() {
            let total = if total < 0 { total } else { total + more };
            self.begin(out, Counts { total, taken: taken.saturating_add_signed(more) }, 0)?;
            out.buffer().append(&mut results);
        }
        Ok(())
    }

    /// Results that are equal come once. They are all there before the first is sent, since what is left out is counted. A page begins behind so
    /// many documents, not results: clients add to what they leave out how many were equal before. What those give does not come again.
    fn write_distinct(&self, out: &mut impl WholeOut, included: &mut Included<'a>) -> Result<()> {
        let running = self.running;
        let take = running.plan.page.take.unwrap_or(u64::MAX);
        let (mut results, mut row) = (Vec::new(), Vec::new());
        let mut room = running.memory.room();
        let mut seen = HashSet::new();
        // A filter has not even seen what is before the page.
        let before = if running.plan.filter.is_some() { 0 } else { running.plan.page.skip };
        let (mut before, mut skipped, mut taken) = (before, 0, 0);
        let mut is_full = take == 0;
        let outcome = running.each(&mut |hit| {
            let is_before = before > 0;
            before -= u64::from(is_before);
            let mut is_new = |values: &[u8], seen: &mut HashSet<u128>, results: &mut Vec<u8>| {
                is_full |= taken == take;
                if is_full {
                    return Err(Error::from(database::Error::Canceled));
                }
                let is_new = seen.insert(xxhash_rust::xxh3::xxh3_128(values));
                if is_before || !is_new {
                    skipped += u64::from(!is_before);
                    return Ok(false);
                }
                taken += 1;
                if !results.is_empty() {
                    results.push(b',');
                }
                Ok(true)
            };
            match running.script_rows(&hit, false)? {
                Some(rows) => {
                    for row in rows {
                        if is_new(&row.values, &mut seen, &mut results)? {
                            results.extend_from_slice(&row.json);
                            included.note(&row.json)?;
                        }
                    }
                }
                None => {
                    row.clear();
                    running.write_values(running.plan.projection.as_ref(), &hit, &mut row)?;
                    if is_new(&row, &mut seen, &mut results)? {
                        let start = results.len();
                        running.write_row(&hit, self.is_metadata_only, &mut results)?;
                        included.note(results.get(start..).unwrap_or_default())?;
                    }
                }
            }
            room.grow(results.capacity() + 2 * seen.capacity() * size_of::<u128>())?;
            if is_before { Ok(()) } else { included.keep(running, hit) }
        });
        let total = match outcome {
            Err(_) if is_full => running.counts()?.total,
            outcome => outcome?,
        };
        self.begin(out, Counts { total, taken }, skipped)?;
        out.buffer().append(&mut results);
        out.part_done()
    }

    pub(super) fn head(&self) -> Reply {
        let mut head = reply::ok(Bytes::new());
        head.headers_mut().insert(ETAG, HeaderValue::from(self.etag));
        head.headers_mut().insert(REQUEST_TIME, HeaderValue::from(elapsed_ms(self.start)));
        head
    }

    /// Writes all that comes before the results.
    fn begin(&self, out: &mut impl WholeOut, counts: Counts, skipped: u64) -> Result<()> {
        out.begin(self.head(), self.running.documents)?;
        let plan = self.running.plan;
        let mut before = Vec::with_capacity(512);
        json::Writer::new(&mut before).object(|json| {
            json.name("TotalResults").signed(counts.total);
            if let Some(written) = plan.page.written {
                // A page that ended before all was counted is full.
                let unknown = written.skip.saturating_add(written.take.unwrap_or(counts.taken));
                let total = u64::try_from(counts.total).unwrap_or(unknown);
                json.name("CappedMaxResults").unsigned(written.count_of(total));
            }
            let filtered = self.running.filtered.get();
            json.name("ScannedResults").unsigned(filtered.scanned);
            json.name("SkippedResults").unsigned(skipped + filtered.refused + self.running.repeated);
            json.name("DurationInMs").unsigned(elapsed_ms(self.start).max(1));
            match plan.includes.as_slice() {
                [] => json.name("IncludedPaths").null(),
                paths => json.name("IncludedPaths").array(|json| {
                    paths.iter().for_each(|path| {
                        json.string(path);
                    })
                }),
            };
            json.name("IndexName").string(&self.running.index_name());
        });
        out.buffer().extend_from_slice(before.strip_suffix(b"}").unwrap_or(&before));
        out.buffer().extend_from_slice(b",\"Results\":[");
        Ok(())
    }

    /// Writes all that comes after what is included.
    pub(super) fn end(&self, out: &mut impl WholeOut) {
        let index = self.running.index();
        let dates = [index.and_then(Index::last_indexed), index.map(Index::note_query)];
        let [indexed, queried] = dates.map(|date| date.map_or(NEVER.to_owned(), |date| date.to_string()));
        let mut rest = Vec::new();
        json::Writer::new(&mut rest).object(|json| {
            json.name("IndexTimestamp").string(&indexed).name("LastQueryTime").string(&queried);
            json.name("IsStale").bool(self.running.is_stale()).name("ResultEtag").signed(self.etag);
            json.name("NodeTag").string(self.exchange.database().documents().node_tag());
            self.running.marks.write(json);
            if let Some(timings) = self.running.timings.filter(|_| self.running.plan.has_timings) {
                timings.write(json, self.start.elapsed());
            }
        });
        out.buffer().extend_from_slice(rest.strip_prefix(b"{").unwrap_or(&rest));
    }
}

pub(super) fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
