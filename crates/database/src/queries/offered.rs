//! Offering documents one by one to a query, for subscriptions: whether a document fits, and what is made of it.

use documents::{CounterIncludes, Document, RevisionPair, Snapshot};
use storage::memory::MemoryReservation;

use super::filtering::{Filtering, Verdict};
use super::hits::Hit;
use super::included::Included;
use super::run::{QueryRun, RunContext};
use super::{Query, QueryError};
use crate::{Error, Result};

/// Takes the documents of a batch, each appended to its own buffer.
pub trait BatchSink {
    /// Begins a document: the buffer that its JSON is appended to.
    fn begin(&mut self) -> &mut Vec<u8>;

    /// The document is complete. If a script failed for it, it has its metadata alone, and the message tells why.
    fn end(&mut self, failure: Option<&str>);

    /// A document that others of the batch refer to, behind all of them.
    fn include(&mut self, document: &Document<'_>);

    /// The counters that come with the batch, behind its documents; called once if the query asks for some.
    fn include_counters(&mut self, counters: &CounterIncludes);

    /// Bytes so far.
    fn size(&self) -> usize;
}

/// A query over one snapshot, waiting for documents.
pub(crate) struct OfferedQuery<'a> {
    run: QueryRun<'a>,
    filtering: Option<Filtering<'a>>,
    included: Included<'a>,
    /// For the pair that is being asked about.
    reservation: MemoryReservation,
}

/// What became of a document that was offered.
enum Offered {
    /// It does not fit, or nothing is made of it.
    Left,
    /// What is made of it was written.
    Written,
    /// A script failed for it, and the sink was told.
    Failed,
}

impl<'a> OfferedQuery<'a> {
    /// * `query`: that of a subscription.
    ///
    /// # Errors
    ///
    /// A script of the query cannot be compiled.
    pub fn new(query: &'a Query, documents: &'a Snapshot<'a>, context: RunContext<'a>) -> Result<OfferedQuery<'a>> {
        let limits = context.script_limits;
        let run = QueryRun::new(&query.plan, None, documents, context)?;
        let filtering = query.plan.filter.as_ref().map(|clause| Filtering::new(clause, None, limits)).transpose()?;
        let included = Included::new(&run, false);
        let reservation = run.memory.reservation();
        Ok(OfferedQuery { run, filtering, included, reservation })
    }

    /// Asks the query about a document of the snapshot, and writes what is made of it: mostly one object, several or none if a script
    /// gives an array. False: it does not fit, or nothing is made of it.
    ///
    /// # Errors
    ///
    /// Storage fails, or memory is short. A script that fails for the document is no error: the sink gets its message.
    pub fn offer(&mut self, document: Document<'a>, sink: &mut dyn BatchSink) -> Result<bool> {
        let offered = self.offer_one(document, sink)?;
        if matches!(offered, Offered::Written) {
            self.included.keep(&self.run, Hit::of_document(document))?;
        }
        Ok(!matches!(offered, Offered::Left))
    }

    /// The same for a revision with the one before it.
    ///
    /// # Errors
    ///
    /// As [`Self::offer`].
    pub fn offer_pair(&mut self, pair: &RevisionPair<'_>, sink: &mut dyn BatchSink) -> Result<bool> {
        self.reservation.grow(pair.size())?;
        Ok(!matches!(self.offer_one(pair.document()?, sink)?, Offered::Left))
    }

    fn offer_one(&mut self, document: Document<'_>, sink: &mut dyn BatchSink) -> Result<Offered> {
        let hit = Hit::of_document(document);
        if let Some(filtering) = &mut self.filtering {
            match filtering.offer(&hit.row(), self.run.documents()) {
                Ok(Verdict::Taken) => {}
                Ok(Verdict::Left | Verdict::Full) => return Ok(Offered::Left),
                Err(error) => return fail(&document, error, sink),
            }
        }
        match self.run.script_rows(&hit, false) {
            Err(error) => return fail(&document, error, sink),
            Ok(Some(rows)) => {
                for row in &rows {
                    sink.begin().extend_from_slice(&row.json);
                    sink.end(None);
                    self.included.note(&self.run, &row.json)?;
                }
                if rows.is_empty() {
                    return Ok(Offered::Left);
                }
            }
            Ok(None) => {
                let buffer = sink.begin();
                let start = buffer.len();
                if let Err(error) = self.run.write_row(&hit, false, buffer) {
                    let failure = failure_of(error)?;
                    buffer.truncate(start);
                    document.write_metadata_only(buffer);
                    sink.end(Some(&failure));
                    return Ok(Offered::Failed);
                }
                self.included.note(&self.run, buffer.get(start..).unwrap_or_default())?;
                sink.end(None);
            }
        }
        Ok(Offered::Written)
    }

    /// True once [`Self::includes`] may have something to give.
    pub fn has_includes(&self) -> bool {
        self.included.has_references(&self.run)
    }

    /// The documents that those which fitted refer to by the paths of `include`.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn includes(&self) -> Result<Vec<Document<'_>>> {
        self.included.load(&self.run)
    }

    /// The counters that come with those which fitted; `None`: the query asks for none.
    pub fn counters(&self) -> Option<&CounterIncludes> {
        self.included.counters(&self.run)
    }

    /// Bytes of these counters, about.
    pub fn counters_size(&self) -> usize {
        self.counters().map_or(0, CounterIncludes::size)
    }

    /// Gives a sink all that comes with those which fitted.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn include_in(&self, sink: &mut dyn BatchSink) -> Result<()> {
        self.includes()?.iter().for_each(|document| sink.include(document));
        if let Some(counters) = self.counters() {
            sink.include_counters(counters);
        }
        Ok(())
    }
}

/// A script failed for a document: its worker gets the message, and goes on.
fn fail(document: &Document<'_>, error: Error, sink: &mut dyn BatchSink) -> Result<Offered> {
    let failure = failure_of(error)?;
    document.write_metadata_only(sink.begin());
    sink.end(Some(&failure));
    Ok(Offered::Failed)
}

/// The message for the worker of a failure that belongs to one document; another one is an error.
fn failure_of(error: Error) -> Result<String> {
    match &error {
        Error::Query(of_query) if matches!(**of_query, QueryError::Script(_) | QueryError::MissingValue(_)) => {
            Ok(error.to_string())
        }
        _ => Err(error),
    }
}
