//! Writes an image of an environment while that goes on.
//!
//! In turns: the records that were published since the last turn go to the destination; then a snapshot is opened, the few records that
//! came meanwhile, values that records name, and a piece of pages are read under it into memory; the snapshot closes, and what was read is
//! written. So neither a snapshot nor a flush waits for the destination. After the last piece the image has the state of its last
//! snapshot.

use super::error::{Error, Result};
use super::format::{END_SIZE, Encoder, Header, Kind};
use super::source::{Piece, Source};
use super::{Progress, Summary};
use crate::environment::{Environment, Inner};
use crate::ids::{Position, TransactionId};
use crate::journal::reader::{Failure, RecordReader};
use crate::limits::{IMAGE_LATE_RECORDS_SIZE, IMAGE_RUNS_SIZE_MAX, IMAGE_WAITING_BYTES_MAX, PAGE_SIZE};
use crate::transaction::ReadTransaction;
use crate::transaction::nesting::Nesting;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest time between two calls of a progress call-back while the writer pauses.
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// Bytes of records that are written at once.
const WRITE_SIZE: usize = 1 << 20;

/// How an image is written.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// Bytes that are written in a second, on average. `None`: as many as the destination takes.
    pub bytes_per_second_max: Option<u64>,
    /// Bytes of the journal, and of large values outside of it, that may wait for the destination. Past it the image fails; writes to the
    /// environment never wait.
    pub waiting_bytes_max: u64,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions { bytes_per_second_max: None, waiting_bytes_max: IMAGE_WAITING_BYTES_MAX }
    }
}

impl Environment {
    /// Writes an image of the environment to `to`, beside reads, writes and flushes. It has the state of one transaction, that which is in
    /// the summary: one that was published while the image was written. `to` should buffer nothing behind the end; it is flushed.
    ///
    /// What is in memory only is copied under one snapshot.
    ///
    /// * `progress`: called after each piece, and now and then in a pause. False cancels.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] with a page that is damaged: no image is made of it. [`Error::FellBehind`], [`Error::Destination`],
    /// [`Error::Cancelled`]. The environment goes on in any case; what was written is of no use.
    pub fn write_image(
        &self,
        to: &mut dyn Write,
        options: &WriteOptions,
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Summary> {
        Nesting::refuse(&self.inner)?;
        let inner = &*self.inner;
        let reader = RecordReader::from_now(inner, options.waiting_bytes_max);
        // Opened behind the reader's position: what it shows more is in the records.
        let tx = ReadTransaction::open(inner);
        let start = reader.as_ref().map_or(Position { transaction: tx.id(), hash: 0 }, RecordReader::position);
        let source = Source::new(inner, &tx)?;
        let pages_total = self.used_pages(&tx)?;
        let held = match &reader {
            Some(_) => {
                // It must not stay open for as long as the destination takes.
                drop(tx);
                None
            }
            None => Some(tx),
        };
        let mut out = Vec::new();
        let encoder = Encoder::begin(&Header { environment_id: inner.id, start, pages_total }, &mut out);
        let so_far = Progress { pages_total, transaction: start.transaction, ..Progress::default() };
        let sink = Sink { to, options, encoder, out, so_far, progress, started: Instant::now() };
        Writer { inner, source, reader, sink, held, start, piece: Piece::default(), run: Vec::new() }.run()
    }
}

/// An image that is being written.
struct Writer<'e, 'w> {
    inner: &'e Inner,
    source: Source<'e>,
    /// `None`: there is no journal.
    reader: Option<RecordReader<'e>>,
    /// The one snapshot of an environment without a journal.
    held: Option<ReadTransaction<'e>>,
    start: Position,
    sink: Sink<'w>,
    piece: Piece,
    run: Vec<u8>,
}

impl Writer<'_, '_> {
    fn run(mut self) -> Result<Summary> {
        loop {
            self.write_published_records()?;
            let is_last = self.turn()?;
            self.sink.write_out()?;
            if is_last {
                break;
            }
            if self.source.run_bytes() > self.sink.options.waiting_bytes_max {
                return Err(self.fell_behind());
            }
        }
        let position = self.reader.as_ref().map_or(self.start, RecordReader::position);
        self.sink.end(position)?;
        let Progress { bytes, pages, records, .. } = self.sink.so_far;
        Ok(Summary { environment_id: self.inner.id, position, bytes, pages, records })
    }

    fn fell_behind(&self) -> Error {
        Error::FellBehind { bytes_max: self.sink.options.waiting_bytes_max }
    }

    /// Writes records until few are left.
    fn write_published_records(&mut self) -> Result<()> {
        loop {
            let before = self.sink.so_far.bytes;
            self.gather_records(self.inner.readers.published().transaction(), true)?;
            self.sink.write_out()?;
            if self.sink.so_far.bytes - before <= IMAGE_LATE_RECORDS_SIZE {
                return Ok(());
            }
        }
    }

    /// Adds the records up to `until` to what is to be written; `writes`: and writes it when it is much.
    fn gather_records(&mut self, until: TransactionId, writes: bool) -> Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        loop {
            let header = match reader.next(until) {
                Ok(Some(header)) => header,
                Ok(None) => return Ok(()),
                Err(Failure::Storage(error)) => return Err(error.into()),
                Err(Failure::OtherHistory) => return Err(Error::OtherHistory { transaction: until }),
                Err(Failure::Gone) => {
                    return Err(Error::FellBehind { bytes_max: self.sink.options.waiting_bytes_max });
                }
            };
            self.source.note(&header, reader.record())?;
            self.sink.frame(Kind::Record, header.transaction, &[reader.record()]);
            self.sink.so_far.records += 1;
            if writes {
                self.sink.write_out_if_large()?;
            }
        }
    }

    /// Reads the next part under a snapshot. True: it was the last.
    fn turn(&mut self) -> Result<bool> {
        let opened;
        let held = self.held.take();
        let tx = match &held {
            Some(tx) => tx,
            None => {
                opened = ReadTransaction::open(self.inner);
                &opened
            }
        };
        self.gather_records(tx.id(), false)?;
        let mut read = 0;
        while read < IMAGE_RUNS_SIZE_MAX
            && let Some(first) = self.source.next_run(tx, &mut self.run)?
        {
            read += self.run.len();
            self.sink.frame(Kind::Run, tx.id(), &[&first.0.to_le_bytes(), &self.run]);
            self.sink.so_far.pages += (self.run.len() / PAGE_SIZE) as u64;
        }
        if self.source.run_bytes() == 0 && self.source.has_pages() {
            self.source.next_pages(tx, &mut self.piece)?;
            self.sink.pages(&self.piece, self.source.cursor(), tx.id());
        }
        let is_last = self.source.run_bytes() == 0 && !self.source.has_pages();
        self.held = held;
        Ok(is_last)
    }
}

/// Where an image goes, at which rate.
struct Sink<'w> {
    to: &'w mut dyn Write,
    options: &'w WriteOptions,
    encoder: Encoder,
    /// To be written.
    out: Vec<u8>,
    so_far: Progress,
    progress: &'w mut dyn FnMut(Progress) -> bool,
    started: Instant,
}

impl Sink<'_> {
    fn frame(&mut self, kind: Kind, transaction: TransactionId, payload: &[&[u8]]) {
        self.encoder.frame(kind, transaction, payload, &mut self.out);
        self.so_far.transaction = transaction;
    }

    fn pages(&mut self, piece: &Piece, end: u64, transaction: TransactionId) {
        let mut head = Vec::with_capacity(16 + 16 * piece.ranges.len());
        head.extend_from_slice(&end.to_le_bytes());
        head.extend_from_slice(&(piece.ranges.len() as u64).to_le_bytes());
        for (first, count) in &piece.ranges {
            head.extend_from_slice(&first.to_le_bytes());
            head.extend_from_slice(&count.to_le_bytes());
        }
        self.frame(Kind::Pages, transaction, &[&head, &piece.bytes]);
        self.so_far.pages += (piece.bytes.len() / PAGE_SIZE) as u64;
    }

    fn write_out_if_large(&mut self) -> Result<()> {
        if self.out.len() >= WRITE_SIZE { self.write_out() } else { Ok(()) }
    }

    /// Writes what was gathered, and waits as long as the rate says.
    fn write_out(&mut self) -> Result<()> {
        self.to.write_all(&self.out).map_err(|error| Error::Destination(Arc::new(error)))?;
        self.so_far.bytes += self.out.len() as u64;
        self.out.clear();
        // A run may have been much longer than what comes else.
        self.out.shrink_to(4 * WRITE_SIZE);
        self.report()?;
        let Some(rate) = self.options.bytes_per_second_max else { return Ok(()) };
        let due = Duration::from_secs_f64(self.so_far.bytes as f64 / rate.max(1) as f64);
        while let Some(left) = due.checked_sub(self.started.elapsed()).filter(|left| !left.is_zero()) {
            std::thread::sleep(left.min(PAUSE_MAX));
            self.report()?;
        }
        Ok(())
    }

    fn report(&mut self) -> Result<()> {
        if (self.progress)(self.so_far) { Ok(()) } else { Err(Error::Cancelled) }
    }

    fn end(&mut self, position: Position) -> Result<()> {
        let Progress { pages, records, bytes, .. } = self.so_far;
        let mut payload = Vec::with_capacity(END_SIZE);
        payload.extend_from_slice(&position.hash.to_le_bytes());
        [pages, records, bytes].iter().for_each(|total| payload.extend_from_slice(&total.to_le_bytes()));
        self.frame(Kind::End, position.transaction, &[&payload]);
        self.write_out()?;
        self.to.flush().map_err(|error| Error::Destination(Arc::new(error)))
    }
}
