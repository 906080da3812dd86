//! The answer to a query: statistics, documents, what they include.

use std::time::Instant;

use bytes::Bytes;
use database::documents::{Document, IncludePath};
use hyper::header::{ETAG, HeaderName, HeaderValue};

use super::collection::keep;
use super::running::{Counts, Running};
use crate::answers::{AnswerWriter, Out};
use crate::date::NEVER;
use crate::error::Result;
use crate::exchange::Exchange;
use crate::handlers::docs::write_includes;
use crate::limits::WHOLE_ANSWER_SIZE;
use crate::reply;

const REQUEST_TIME: HeaderName = HeaderName::from_static("request-time");

/// What an index query scores where nothing scores.
const SCORE: f64 = 1.0;

/// A query that is being answered.
pub(super) struct Answer<'a> {
    pub running: &'a Running<'a>,
    pub exchange: &'a Exchange,
    pub is_metadata_only: bool,
    pub etag: i64,
    pub start: Instant,
}

impl<'a> Answer<'a> {
    /// Writes the answer, its properties in the order of the reference. How many results there are comes before them: known
    /// when they are all there, or, where they are too many for that, counted first.
    pub fn write(&self, out: &mut AnswerWriter) -> Result<()> {
        let running = self.running;
        let includes = &running.plan.includes;
        let mut results = Vec::new();
        let mut counted = None;
        let mut taken = 0;
        let mut kept = Vec::new();
        let mut room = running.memory.room();
        let score = running.index().map(|_| SCORE);
        let total = running.each(&mut |document| {
            let buffer = if counted.is_some() { out.buffer() } else { &mut results };
            if taken > 0 {
                buffer.push(b',');
            }
            taken += 1;
            document.write(buffer, self.is_metadata_only, score);
            if counted.is_none() && results.len() >= WHOLE_ANSWER_SIZE {
                let counts = running.counts()?;
                self.begin(out, counts)?;
                out.buffer().append(&mut results);
                counted = Some(counts);
            }
            if counted.is_some() {
                out.part_done()?;
                running.deadline.lift();
            }
            if !includes.is_empty() {
                keep(&mut kept, document, &mut room)?;
            }
            Ok(())
        })?;
        if counted.is_none() {
            self.begin(out, Counts { total, taken })?;
            out.buffer().append(&mut results);
        }
        out.buffer().extend_from_slice(b"],\"Includes\":{");
        if !includes.is_empty() {
            let paths: Vec<IncludePath> = includes.iter().map(|path| IncludePath::new(path)).collect();
            let documents: Vec<&Document<'_>> = kept.iter().collect();
            write_includes(out, &running.deadline.includes(running.documents, &documents, &paths)?)?;
        }
        out.buffer().extend_from_slice(b"},");
        self.end(out)
    }

    /// Writes all that comes before the results.
    fn begin(&self, out: &mut AnswerWriter, counts: Counts) -> Result<()> {
        let mut head = reply::ok(Bytes::new());
        head.headers_mut().insert(ETAG, HeaderValue::from(self.etag));
        head.headers_mut().insert(REQUEST_TIME, HeaderValue::from(elapsed_ms(self.start)));
        out.begin(head, self.running.documents)?;
        let plan = self.running.plan;
        let mut before = Vec::with_capacity(512);
        json::Writer::new(&mut before).object(|json| {
            json.name("TotalResults").signed(counts.total);
            if plan.page.is_limited {
                json.name("CappedMaxResults").unsigned(counts.taken);
            }
            json.name("ScannedResults").unsigned(0).name("SkippedResults").unsigned(0);
            json.name("DurationInMs").unsigned(elapsed_ms(self.start));
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
    fn end(&self, out: &mut AnswerWriter) -> Result<()> {
        let date = |date: Option<database::documents::Date>| date.map_or(NEVER.to_owned(), |date| date.to_string());
        let [indexed, queried] = match self.running.index() {
            None => [NEVER.to_owned(), NEVER.to_owned()],
            Some(index) => {
                index.note_query();
                let statistics = index.statistics()?;
                [date(statistics.last_indexed), date(statistics.last_query)]
            }
        };
        let mut rest = Vec::new();
        json::Writer::new(&mut rest).object(|json| {
            json.name("IndexTimestamp").string(&indexed).name("LastQueryTime").string(&queried);
            json.name("IsStale").bool(self.running.is_stale()).name("ResultEtag").signed(self.etag);
            json.name("NodeTag").string(self.exchange.database().documents().node_tag());
        });
        out.buffer().extend_from_slice(rest.strip_prefix(b"{").unwrap_or(&rest));
        Ok(())
    }
}

fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
