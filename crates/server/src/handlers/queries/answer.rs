//! The answer to a query: statistics, documents, what they include.

use std::time::Instant;

use bytes::Bytes;
use database::Index;
use database::queries::{self, Counts, Included, MarkedTexts, Marks, QueryRun, RowCounts, RowSink, Timings};
use hyper::header::{ETAG, HeaderName, HeaderValue};

use super::{facets, plans, timings};
use crate::error::{Error, Result};
use crate::handlers::docs::{write_included_values, write_includes};
use crate::handlers::revisions::write_included_revisions;
use crate::messages::answers::WholeOut;
use crate::messages::date::NEVER;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

const REQUEST_TIME: HeaderName = HeaderName::from_static("request-time");

/// A query that is being answered.
pub(super) struct Answer<'a> {
    pub running: &'a QueryRun<'a>,
    pub exchange: &'a Exchange,
    pub is_metadata_only: bool,
    /// What the index has of each result is wanted in place of it.
    pub is_of_entries: bool,
    pub etag: i64,
    /// Names of the query that the data lacks, as sentences.
    pub warnings: Vec<String>,
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
        if running.plan().gives_in_place_of_results().is_some() {
            return self.write_in_place_of_results(out);
        }
        if let Some(timings) = running.timings().filter(|_| running.plan().is_explained) {
            return self.write_explained(timings, out);
        }
        let mut included = Included::new(running, self.is_metadata_only);
        if running.plan().is_distinct() {
            self.write_distinct(out, &mut included)?;
        } else {
            self.write_all(out, &mut included)?;
        }
        out.buffer().extend_from_slice(b"],\"Includes\":{");
        write_includes(out, &included.load(running)?)?;
        out.buffer().push(b'}');
        write_included_values(out, &included.values(running)?)?;
        write_included_revisions(running.documents(), out, &included.revisions(running)?)?;
        out.buffer().push(b',');
        if let Some(counters) = included.counters(running) {
            let mut both = Vec::new();
            json::Writer::new(&mut both).object(|json| {
                counters.write(json.name("CounterIncludes"));
                counters.write_names(json.name("IncludedCounterNames"));
            });
            out.buffer()
                .extend_from_slice(both.strip_prefix(b"{").and_then(|both| both.strip_suffix(b"}")).unwrap_or(b""));
            out.buffer().push(b',');
            out.part_done()?;
        }
        self.end(out);
        Ok(())
    }

    /// What a query suggests, a result for each field, or what it counts, a result for each facet.
    fn write_in_place_of_results(&self, out: &mut impl WholeOut) -> Result<()> {
        out.begin(self.head(), self.running.documents())?;
        let suggestions = self.running.plan().suggestions();
        let faceted = self.running.faceted();
        let mut body = Vec::new();
        json::Writer::new(&mut body).object(|json| {
            json.name("TotalResults").unsigned((suggestions.len() + faceted.len()) as u64);
            json.name("DurationInMs").unsigned(elapsed_ms(self.start).max(1));
            json.name("IndexName").string(&self.running.index_name());
            json.name("Results").array(|json| {
                for (suggestion, words) in suggestions.iter().zip(self.running.suggested()) {
                    json.object(|json| {
                        json.name("Name").string(&suggestion.name);
                        json.name("Suggestions").array(|json| words.iter().for_each(|word| _ = json.string(word)));
                    });
                }
                faceted.iter().for_each(|facet| facets::write(facet, json));
            });
        });
        out.buffer().extend_from_slice(body.strip_suffix(b"}").unwrap_or(&body));
        out.buffer().extend_from_slice(b",\"Includes\":{");
        // As in the reference: the documents whose ids are values of a facet that has the name of the path.
        let paths = &self.running.plan().includes;
        let named = faceted.iter().filter(|counted| paths.contains(&counted.facet.name));
        let ids = named.flat_map(|counted| counted.result.values.iter().map(|value| value.range.as_str()));
        write_includes(out, &self.running.documents().get_many(ids)?.into_iter().flatten().collect::<Vec<_>>())?;
        out.buffer().extend_from_slice(b"},");
        self.end(out);
        Ok(())
    }

    /// How the query ran, as its only result.
    fn write_explained(&self, timings: &Timings, out: &mut impl WholeOut) -> Result<()> {
        let running = self.running;
        let (counts, operator) = queries::explain(running, timings)?;
        out.begin(self.head(), running.documents())?;
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

    /// Results that are equal come once: they are all there before the first is sent, since those that are left out are counted.
    fn write_distinct(&self, out: &mut impl WholeOut, included: &mut Included<'a>) -> Result<()> {
        let mut results = DistinctResults(Vec::new());
        let written = self.running.write_rows(self.is_metadata_only, included, &mut results)?;
        self.begin(out, written.counts, written.skipped)?;
        out.buffer().append(&mut results.0);
        out.part_done()
    }

    fn write_all(&self, out: &mut impl WholeOut, included: &mut Included<'a>) -> Result<()> {
        let mut results = Results { answer: self, out, whole: Vec::new(), is_begun: false, is_sent: false };
        let written = self.running.write_rows(self.is_metadata_only, included, &mut results)?;
        let Results { out, mut whole, is_sent, .. } = results;
        if !is_sent {
            self.begin(out, written.counts, 0)?;
            out.buffer().append(&mut whole);
        }
        Ok(())
    }

    pub(super) fn head(&self) -> Reply {
        let mut head = reply::ok(Bytes::new());
        head.headers_mut().insert(ETAG, HeaderValue::from(self.etag));
        head.headers_mut().insert(REQUEST_TIME, HeaderValue::from(elapsed_ms(self.start)));
        head
    }

    /// Writes all that comes before the results.
    fn begin(&self, out: &mut impl WholeOut, counts: Counts, skipped: u64) -> Result<()> {
        out.begin(self.head(), self.running.documents())?;
        let plan = self.running.plan();
        let mut before = Vec::with_capacity(512);
        json::Writer::new(&mut before).object(|json| {
            json.name("TotalResults").signed(counts.total);
            if let Some(written) = plan.page.written {
                // A page that ended before all was counted is full.
                let unknown = written.skip.saturating_add(written.take.unwrap_or(counts.taken));
                let total = u64::try_from(counts.total).unwrap_or(unknown);
                json.name("CappedMaxResults").unsigned(written.count_of(total));
            }
            let filtered = self.running.filtered();
            json.name("ScannedResults").unsigned(filtered.scanned);
            json.name("SkippedResults").unsigned(skipped + filtered.refused + self.running.repeated_count());
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
            if !self.warnings.is_empty() {
                json.name("Warnings").array(|json| self.warnings.iter().for_each(|warning| _ = json.string(warning)));
            }
            write_marks(self.running.marks(), json);
            if let Some(measured) = self.running.timings().filter(|_| self.running.plan().has_timings) {
                timings::write(measured, json, self.start.elapsed());
            }
        });
        out.buffer().extend_from_slice(rest.strip_prefix(b"{").unwrap_or(&rest));
    }
}

/// The results of an answer: whole, as long as they are few, and then straight into the answer.
struct Results<'r, 'a, O> {
    answer: &'r Answer<'a>,
    out: &'r mut O,
    whole: Vec<u8>,
    is_begun: bool,
    /// The results were counted and the answer has begun.
    is_sent: bool,
}

impl<O: WholeOut> RowSink for Results<'_, '_, O> {
    type Error = Error;

    fn begin_row(&mut self) -> &mut Vec<u8> {
        let buffer = if self.is_sent { self.out.buffer() } else { &mut self.whole };
        if self.is_begun {
            buffer.push(b',');
        }
        self.is_begun = true;
        buffer
    }

    fn end_result(&mut self, _: RowCounts) -> Result<()> {
        if !self.is_sent && self.whole.len() >= self.answer.whole_size {
            self.answer.begin(self.out, self.answer.running.counts()?, 0)?;
            self.out.buffer().append(&mut self.whole);
            self.is_sent = true;
        }
        if self.is_sent {
            self.out.part_done()?;
            self.answer.running.deadline().lift();
        }
        Ok(())
    }
}

/// The results of `select distinct`.
struct DistinctResults(Vec<u8>);

impl RowSink for DistinctResults {
    type Error = Error;

    fn begin_row(&mut self) -> &mut Vec<u8> {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        &mut self.0
    }

    fn held_size(&self) -> usize {
        self.0.capacity()
    }
}

/// Writes `"Highlightings":{field:{key:[fragment]}},"Explanations":{key:[text]}`, as far as the query asks for them.
fn write_marks(marks: &Marks<'_>, json: &mut json::Writer<'_>) {
    if let Some(highlights) = marks.highlights() {
        json.name("Highlightings").object(|json| {
            for (field, results) in &*highlights {
                json.name(field).object(|json| write_texts(results, json));
            }
        });
    }
    if let Some(explanations) = marks.explanations() {
        json.name("Explanations").object(|json| write_texts(&explanations, json));
    }
}

fn write_texts(results: &MarkedTexts, json: &mut json::Writer<'_>) {
    for (key, texts) in results {
        json.name(key).array(|json| texts.iter().for_each(|text| _ = json.string(text)));
    }
}

pub(super) fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
