//! Bulk insert: an endless array of commands, cut up as it arrives, written in transactions of bounded size.
//!
//! Batches overlap: while some are on their way to the disk the next is taken apart. No more than a few are on their way, and
//! they wait for a place in the database's queue, so a client that sends faster than the disk writes is held back by the
//! connection, however many there are. What was applied before an error stays, and so does a batch that was on its way already
//! when the one before it was refused.

mod counts;

use std::sync::Arc;

use documents::{Batch, Expected, content_length};
use json::{Element, ElementScanner};
use storage::memory::MemoryReservation;

use crate::flight::Flight;
use crate::limits::{BULK_BATCH_COUNT_MAX, BULK_BATCH_SIZE_MAX, BULK_BUFFER_SIZE_KEPT, BULK_ELEMENT_SIZE_MAX};
pub use counts::BulkInsertCounts;

use crate::attachments::{ContentReceiver, ContentUpload, InlineRoom};
use crate::{Database, Error, Operation, OperationResult, OperationStatus, Progress, Result};

/// One bulk insert. Its functions may wait for the disk: call them on a thread that may.
pub struct BulkInsert {
    database: Arc<Database>,
    operation: Arc<Operation>,
    scanner: ElementScanner,
    /// What the network brought of an element that is not complete.
    buffer: Vec<u8>,
    /// The memory of the buffer.
    reservation: MemoryReservation,
    batch: Batch,
    skip_unchanged: bool,
    /// The content of the last command, while its bytes arrive, and how many are to come.
    content: Option<(ContentReceiver, u64)>,
    /// Contents of the batch that are stored already.
    uploads: Vec<ContentUpload>,
    inline_room: InlineRoom,
    flight: Arc<Flight<BulkInsertCounts>>,
}

impl Database {
    /// Begins a bulk insert as operation `id`, reserved by
    /// [`Operations::next_id`](crate::Operations::next_id); None reserves one.
    ///
    /// # Errors
    ///
    /// [`Error::OperationInUse`]
    pub fn bulk_insert(self: &Arc<Self>, id: Option<u64>, skip_unchanged: bool) -> Result<BulkInsert> {
        let id = id.unwrap_or_else(|| self.operations().next_id());
        Ok(BulkInsert {
            database: self.clone(),
            operation: self.operations().start(id, "Bulk Insert")?,
            scanner: ElementScanner::new(),
            buffer: Vec::new(),
            reservation: self.limits().bodies.reservation(),
            batch: Batch::new().skip_unchanged(skip_unchanged),
            skip_unchanged,
            content: None,
            uploads: Vec::new(),
            inline_room: InlineRoom::default(),
            flight: Flight::new(),
        })
    }
}

impl BulkInsert {
    /// The operation that it runs as.
    pub fn operation(&self) -> &Arc<Operation> {
        &self.operation
    }

    /// What is durable so far.
    pub fn counts(&self) -> BulkInsertCounts {
        self.flight.tally()
    }

    /// Takes the next bytes of the stream. True: the array is closed, and [`finish`](Self::finish) comes next, whatever the
    /// connection still has.
    ///
    /// # Errors
    ///
    /// The stream is not acceptable, a batch was refused, or the operation was killed. Then [`fail`](Self::fail) comes next.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<bool> {
        self.operation.check_kill()?;
        // Whole elements are mostly found in the bytes as they came; only what is cut off is kept.
        if self.buffer.is_empty() {
            let consumed = self.scan(bytes)?;
            self.keep(bytes.get(consumed..).unwrap_or_default())?;
        } else {
            self.keep(bytes)?;
            let mut buffer = std::mem::take(&mut self.buffer);
            let consumed = self.scan(&buffer)?;
            buffer.drain(..consumed.min(buffer.len()));
            if buffer.capacity() > BULK_BUFFER_SIZE_KEPT && buffer.len() <= BULK_BUFFER_SIZE_KEPT {
                buffer.shrink_to_fit();
                self.reservation.clear();
                self.reservation.grow(buffer.capacity())?;
            }
            self.buffer = buffer;
        }
        if self.buffer.len() > BULK_ELEMENT_SIZE_MAX {
            let rule = format!("one command of a bulk insert is larger than {BULK_ELEMENT_SIZE_MAX} bytes");
            return Err(Error::BadStream { rule });
        }
        Ok(self.scanner.is_closed())
    }

    /// Adds bytes to the buffer, if there is room for them.
    fn keep(&mut self, bytes: &[u8]) -> Result<()> {
        let size = self.buffer.len() + bytes.len();
        if size > self.buffer.capacity() {
            let capacity = size + size / 2;
            self.reservation.grow(capacity)?;
            self.buffer.reserve_exact(capacity - self.buffer.len());
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Takes all whole elements; gives how many bytes are done with.
    fn scan(&mut self, buffer: &[u8]) -> Result<usize> {
        let mut passed = 0;
        loop {
            // The bytes of a content are not JSON: the scanner continues after them.
            if self.content.is_some() {
                let consumed = self.scanner.consumed();
                self.scanner.discard(consumed);
                passed += consumed;
                passed += self.take_content(buffer.get(passed..).unwrap_or_default())?;
                if self.content.is_some() {
                    return Ok(passed);
                }
            }
            let rest = buffer.get(passed..).unwrap_or_default();
            let Element::Complete(range) = self.scanner.next(rest)? else { break };
            let element = rest.get(range).unwrap_or_default();
            self.batch.push_bulk_element(element)?;
            match self.batch.awaits_last_content() {
                true => self.content = Some((ContentReceiver::new(&self.database), content_length(element)?)),
                false => self.send_if_full()?,
            }
        }
        let consumed = self.scanner.consumed();
        self.scanner.discard(consumed);
        Ok(passed + consumed)
    }

    /// Takes bytes of the content of the last command; gives how many.
    fn take_content(&mut self, bytes: &[u8]) -> Result<usize> {
        let Some((mut receiver, left)) = self.content.take() else { return Ok(0) };
        let size = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        receiver.add(bytes.get(..size).unwrap_or_default())?;
        let left = left - size as u64;
        if left > 0 {
            self.content = Some((receiver, left));
            return Ok(size);
        }
        let (content, upload) = receiver.finish(&mut self.inline_room)?;
        self.batch.give_contents(vec![content])?;
        self.uploads.extend(upload);
        self.send_if_full()?;
        Ok(size)
    }

    /// Adds one command that was cut out elsewhere.
    ///
    /// # Errors
    ///
    /// As [`feed`](Self::feed).
    pub fn push(&mut self, element: &[u8]) -> Result<()> {
        self.operation.check_kill()?;
        self.batch.push_bulk_element(element)?;
        self.send_if_full()
    }

    /// Adds one document.
    ///
    /// # Errors
    ///
    /// As [`feed`](Self::feed).
    pub fn put(&mut self, id: &str, document: &[u8]) -> Result<()> {
        self.operation.check_kill()?;
        self.batch.put(id, document, Expected::Any)?;
        self.send_if_full()
    }

    fn send_if_full(&mut self) -> Result<()> {
        let is_full = self.batch.len() >= BULK_BATCH_COUNT_MAX || self.batch.size() >= BULK_BATCH_SIZE_MAX;
        if is_full { self.send() } else { Ok(()) }
    }

    /// Whether commands wait for their batch to be full.
    pub fn has_open_batch(&self) -> bool {
        !self.batch.is_empty() && self.content.is_none()
    }

    /// Submits the commands that were added and not yet submitted, although their batch is not full. Waits while
    /// `BULK_BATCHES_IN_FLIGHT_MAX` batches are in flight, and not for this one: an error of it is returned by a later call.
    ///
    /// # Errors
    ///
    /// As [`feed`](Self::feed).
    pub fn flush(&mut self) -> Result<()> {
        // A command whose content is on its way stays with those before it.
        if self.content.is_some() { Ok(()) } else { self.send() }
    }

    /// Sends the batch on its way, when there is room.
    fn send(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.flight.begin()?;
        let batch = std::mem::replace(&mut self.batch, Batch::new().skip_unchanged(self.skip_unchanged));
        let uploads = std::mem::take(&mut self.uploads);
        self.inline_room = InlineRoom::default();
        let count = batch.len() as u64;
        let (flight, operation) = (self.flight.clone(), self.operation.clone());
        self.database.submit_blocking(batch, move |outcome| {
            flight.land(outcome, |counts, outcome| {
                uploads.into_iter().for_each(ContentUpload::linked);
                counts.items += count;
                counts.documents += outcome.stored_count;
                counts.counters += outcome.counter_count;
                counts.attachments += outcome.attachment_count;
                counts.batches += 1;
                counts.last_id = outcome.last_id.or_else(|| counts.last_id.take());
                operation.set_progress(Progress {
                    processed: counts.items,
                    total: counts.items,
                    batch_count: counts.batches,
                    last_processed_id: counts.last_id.clone(),
                    documents_processed: counts.documents,
                    counters_processed: counts.counters,
                    attachments_processed: counts.attachments,
                    ..Progress::default()
                });
            });
        });
        Ok(())
    }

    /// Writes what is left and waits until all of it is durable. Ends the operation, well or not.
    ///
    /// # Errors
    ///
    /// [`Error::BulkInsert`]: a batch was refused.
    pub fn finish(mut self) -> Result<BulkInsertCounts> {
        let sent = self.send();
        let landed = self.flight.wait();
        match sent.and(landed) {
            Ok(counts) => {
                self.operation.end(OperationStatus::Completed(OperationResult {
                    total: counts.items,
                    documents_processed: counts.documents,
                    counters_processed: counts.counters,
                    attachments_processed: counts.attachments,
                    message: format!("Processed {} items.", counts.items),
                    ..OperationResult::default()
                }));
                Ok(counts)
            }
            Err(error) => {
                let done = self.end_badly(error.clone());
                Err(Error::BulkInsert { done, cause: Box::new(error) })
            }
        }
    }

    /// Ends the operation because of an error, after what is on its way has landed.
    pub fn fail(self, error: Error) -> BulkInsertCounts {
        let _ = self.flight.wait();
        self.end_badly(error)
    }

    fn end_badly(&self, error: Error) -> BulkInsertCounts {
        let done = self.counts();
        self.operation.end(match error {
            Error::Canceled => OperationStatus::Canceled,
            error => {
                OperationStatus::Faulted(Arc::new(Error::BulkInsert { done: done.clone(), cause: Box::new(error) }))
            }
        });
        done
    }
}

/// Dropped without an end, for example because the connection broke: the operation says so.
impl Drop for BulkInsert {
    fn drop(&mut self) {
        let rule = "the stream of the bulk insert ended before its array was closed".to_owned();
        self.end_badly(Error::BadStream { rule });
    }
}
