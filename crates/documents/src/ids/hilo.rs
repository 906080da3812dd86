//! Hi-lo: ranges of numbers that clients make ids from. The end of the last range is in a document `Raven/Hilo/<tag>`.

use std::time::Duration;

use json::Raw;

use crate::limits::{HILO_CAPACITY_MAX, HILO_CAPACITY_MIN};
use crate::{Batch, Date, Error, Expected, HILO_COLLECTION, Result, Writing};

/// Asked sooner than this after the last range: the next one is twice as large.
const GROW_WITHIN: Duration = Duration::from_secs(30);
/// Asked later than this: half as large.
const SHRINK_AFTER: Duration = Duration::from_secs(60);

/// A client's request for a range.
#[derive(Clone, Debug, Default)]
pub struct HiLoRequest {
    /// The collection that ids are made for.
    pub tag: String,
    /// Numbers in the client's last range; 0 at first.
    pub last_batch_size: u64,
    /// When the client got its last range.
    pub last_range_at: Option<Date>,
    /// Stands between tag and number; `/` by default.
    pub separator: Option<char>,
    /// The highest number that the client has used.
    pub last_max: u64,
}

/// A range of numbers, reserved for one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiLoRange {
    /// What ids begin with.
    pub prefix: String,
    /// The first number.
    pub low: u64,
    /// The last number.
    pub high: u64,
    /// How many there are.
    pub last_size: u64,
    /// The tag that ids end with.
    pub server_tag: String,
    /// When the range was given.
    pub last_range_at: Date,
}

fn document_id(tag: &str) -> String {
    format!("Raven/Hilo/{tag}")
}

impl Writing<'_, '_> {
    /// Gives the next range.
    ///
    /// # Errors
    ///
    /// Storage fails, or the numbers are used up.
    pub fn next_hilo(&mut self, request: &HiLoRequest) -> Result<HiLoRange> {
        if request.tag.is_empty() {
            return Err(Error::BadId { id: String::new(), rule: "a hi-lo has a tag" });
        }
        let capacity = capacity(request, self.now);
        let id = document_id(&request.tag);
        let max = self.hilo_max(&id)?.unwrap_or(0).max(request.last_max);
        let high = max.checked_add(capacity).filter(|high| *high <= i64::MAX as u64);
        let high =
            high.ok_or_else(|| Error::BadBatch { rule: format!("the hi-lo of '{}' is used up", request.tag) })?;
        self.put_hilo(&id, high)?;
        Ok(HiLoRange {
            prefix: format!("{}{}", request.tag, request.separator.unwrap_or('/')),
            low: max + 1,
            high,
            last_size: capacity,
            server_tag: self.store.node_tag().to_owned(),
            last_range_at: self.now,
        })
    }

    /// Takes back the unused end of a range, if it is still the last one given.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn return_hilo(&mut self, tag: &str, end: u64, last: u64) -> Result<()> {
        let id = document_id(tag);
        if last < end && self.hilo_max(&id)? == Some(end) {
            self.put_hilo(&id, last)?;
        }
        Ok(())
    }

    /// Sets `Max`. What else the document has, its collection too, stays as somebody put it there.
    fn put_hilo(&mut self, id: &str, max: u64) -> Result<()> {
        let mut document = vec![b'{'];
        let mut metadata = format!("\"@collection\":\"{HILO_COLLECTION}\"").into_bytes();
        if let Some(existing) = self.find(id)?.document {
            let record = self.store.schema.records.get(&*self.tx, existing.location)?;
            let (metadata_at, body_at) = (existing.head.metadata_at(), existing.head.body_at());
            metadata = record.get(metadata_at..body_at).unwrap_or_default().to_vec();
            let body = Raw::new(record.get(body_at..).unwrap_or_default());
            for (name, value) in body.members().filter(|(name, _)| !name.is("Max")) {
                document.push(b'"');
                document.extend_from_slice(name.escaped());
                document.extend_from_slice(b"\":");
                document.extend_from_slice(value.bytes());
                document.push(b',');
            }
        }
        document.extend_from_slice(format!("\"Max\":{max},\"@metadata\":{{").as_bytes());
        document.extend_from_slice(&metadata);
        document.extend_from_slice(b"}}");
        // A tag may end with `/` or `|`: what is written must be what the next one who asks finds.
        let mut batch = Batch::new();
        batch.ids_are_whole = true;
        batch.put(id, &document, Expected::Any)?;
        self.run_silently(&batch).map(drop)
    }

    /// The end of the last range; `None` if none was given.
    fn hilo_max(&mut self, id: &str) -> Result<Option<u64>> {
        let Some(existing) = self.find(id)?.document else { return Ok(None) };
        let record = self.store.schema.records.get(&*self.tx, existing.location)?;
        let body = Raw::new(record.get(existing.head.body_at()..).unwrap_or_default());
        let max = body.get("Max").and_then(|max| max.as_u64().or_else(|| integral(max.as_f64()?)));
        // To begin at 1 again would hand ids out that documents have.
        max.map(Some)
            .ok_or_else(|| Error::BadBatch { rule: format!("'Max' of the document '{id}' is not a whole number") })
    }
}

/// A number that was written with a point, as clients of dynamic languages do.
fn integral(number: f64) -> Option<u64> {
    const EXACT_MAX: f64 = (1u64 << 53) as f64;
    (number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(&number)).then_some(number as u64)
}

fn capacity(request: &HiLoRequest, now: Date) -> u64 {
    let last = request.last_batch_size;
    let capacity = match request.last_range_at {
        _ if last == 0 => HILO_CAPACITY_MIN,
        Some(at) if now.since(at) < GROW_WITHIN => last.saturating_mul(2),
        Some(at) if now.since(at) > SHRINK_AFTER => last / 2,
        _ => last,
    };
    capacity.clamp(HILO_CAPACITY_MIN, HILO_CAPACITY_MAX)
}
