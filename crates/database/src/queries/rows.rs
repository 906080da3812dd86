//! The results of a run as JSON, written one behind the other into the buffer of a [`RowSink`].

use std::collections::HashSet;

use super::counts::Counts;
use super::included::Included;
use super::run::QueryRun;
use crate::Error;

/// Takes the results of a query. Each is appended to the sink's own buffer, so that a row is not copied on its way.
pub trait RowSink {
    /// Why it does not take more.
    type Error: From<Error>;

    /// Begins a row: returns the buffer that it is appended to, after a separator if there is one.
    fn begin_row(&mut self) -> &mut Vec<u8>;

    /// The row that was begun is complete.
    ///
    /// # Errors
    ///
    /// Ends the query.
    fn end_row(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The rows of one more result are complete. A script makes several rows of a result, or none.
    ///
    /// * `rows`: all rows so far.
    ///
    /// # Errors
    ///
    /// Ends the query.
    fn end_result(&mut self, _rows: RowCounts) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Bytes of the rows that it keeps until the query has ended. Only `select distinct` counts them.
    fn held_size(&self) -> usize {
        0
    }
}

/// The number of rows so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Results that were read.
    pub results: u64,
    /// Rows that were written.
    pub rows: u64,
}

/// The rows of a query that were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenRows {
    /// Their number.
    pub counts: Counts,
    /// Rows that `select distinct` left out, because an equal one was written before.
    pub skipped: u64,
}

impl<'a> QueryRun<'a> {
    /// Writes the rows of the page.
    ///
    /// * `is_metadata_only`: documents without their bodies.
    /// * `included`: notes what the rows include.
    ///
    /// # Errors
    ///
    /// Those of the sink; a projection or script fails; the time is up; storage fails. The last row may be incomplete then.
    pub fn write_rows<S: RowSink>(
        &self,
        is_metadata_only: bool,
        included: &mut Included<'a>,
        sink: &mut S,
    ) -> Result<WrittenRows, S::Error> {
        if self.plan.is_distinct() {
            return self.write_distinct(is_metadata_only, included, sink);
        }
        let mut counts = RowCounts::default();
        let total = self.each::<S::Error>(&mut |hit| {
            match self.script_rows(&hit, is_metadata_only)? {
                Some(rows) => {
                    for row in rows {
                        sink.begin_row().extend_from_slice(&row.json);
                        counts.rows += 1;
                        included.note(self, &row.json)?;
                        sink.end_row()?;
                    }
                }
                None => {
                    let buffer = sink.begin_row();
                    let start = buffer.len();
                    self.write_row(&hit, is_metadata_only, buffer)?;
                    counts.rows += 1;
                    included.note(self, buffer.get(start..).unwrap_or_default())?;
                    sink.end_row()?;
                }
            }
            counts.results += 1;
            sink.end_result(counts)?;
            Ok(included.keep(self, hit)?)
        })?;
        // A script adds rows to the total, or takes some away.
        let more = counts.rows.cast_signed() - counts.results.cast_signed();
        let total = if total < 0 { total } else { total + more };
        Ok(WrittenRows { counts: Counts { total, taken: counts.rows }, skipped: 0 })
    }

    /// Writes equal rows once. A page begins after a number of documents, not rows: clients add to what they skip the number of rows that
    /// were equal before. Rows of the documents before the page are not written again.
    fn write_distinct<S: RowSink>(
        &self,
        is_metadata_only: bool,
        included: &mut Included<'a>,
        sink: &mut S,
    ) -> Result<WrittenRows, S::Error> {
        let take = self.plan.page.take.unwrap_or(u64::MAX);
        let mut values = Vec::new();
        let (mut reservation, mut results) = (self.memory.reservation(), 0);
        // A filter has not read what is before the page.
        let before = if self.plan.filter.is_some() { 0 } else { self.plan.page.skip };
        let mut distinct = Distinct { seen: HashSet::new(), before, skipped: 0, taken: 0, take, is_full: take == 0 };
        let outcome = self.each::<S::Error>(&mut |hit| {
            let is_before = distinct.begin_result();
            match self.script_rows(&hit, false)? {
                Some(rows) => {
                    for row in rows {
                        if distinct.takes(&row.values, is_before)? {
                            sink.begin_row().extend_from_slice(&row.json);
                            included.note(self, &row.json)?;
                            sink.end_row()?;
                        }
                    }
                }
                None => {
                    values.clear();
                    self.write_values(self.plan.projection.as_ref(), &hit, &mut values)?;
                    if distinct.takes(&values, is_before)? {
                        let buffer = sink.begin_row();
                        let start = buffer.len();
                        self.write_row(&hit, is_metadata_only, buffer)?;
                        included.note(self, buffer.get(start..).unwrap_or_default())?;
                        sink.end_row()?;
                    }
                }
            }
            let seen_size = 2 * distinct.seen.capacity() * size_of::<u128>();
            reservation.grow(sink.held_size() + seen_size).map_err(Error::from)?;
            results += 1;
            sink.end_result(RowCounts { results, rows: distinct.taken })?;
            if is_before { Ok(()) } else { Ok(included.keep(self, hit)?) }
        });
        let total = match outcome {
            Err(_) if distinct.is_full => self.counts()?.total,
            outcome => outcome?,
        };
        Ok(WrittenRows { counts: Counts { total, taken: distinct.taken }, skipped: distinct.skipped })
    }
}

/// The rows that `select distinct` has seen.
struct Distinct {
    /// Hashes of their values.
    seen: HashSet<u128>,
    /// Results that are still before the page.
    before: u64,
    skipped: u64,
    taken: u64,
    take: u64,
    is_full: bool,
}

impl Distinct {
    /// True if the next result is before the page.
    fn begin_result(&mut self) -> bool {
        let is_before = self.before > 0;
        self.before -= u64::from(is_before);
        is_before
    }

    /// True if a row is new and on the page.
    ///
    /// # Errors
    ///
    /// [`Error::Canceled`] once the page is full.
    fn takes(&mut self, values: &[u8], is_before: bool) -> Result<bool, Error> {
        self.is_full |= self.taken == self.take;
        if self.is_full {
            return Err(Error::Canceled);
        }
        let is_new = self.seen.insert(xxhash_rust::xxh3::xxh3_128(values));
        if is_before || !is_new {
            self.skipped += u64::from(!is_before);
            return Ok(false);
        }
        self.taken += 1;
        Ok(true)
    }
}
