//! A segment: a file with consecutive records of a journal, and when they were committed.
//!
//! ```text
//! 0          8              12
//! +----------+--------------+------------+--------+-----+
//! | ROOKJRN1 | size of head | head: JSON | record | ... |
//! +----------+--------------+------------+--------+-----+
//! ```
//!
//! * The size is a little-endian number of 4 bytes. The head is `{"Database":"Shop","After":42,"Marks":[[<ticks>,<transaction>],..],
//!   "Record":{..}}`: at this time, in ticks of 100 ns since the year 1, this was the last transaction. Marks beyond the last record may
//!   follow. `Record` has the settings of the database at the time when the segment was written, as dumps have them.
//! * Records are as the journal has them (`docs/format.md`). Each has a hash of its own that covers all before it. The whole is compressed
//!   with a checksum, and encrypted if the task has a key.

use std::io::{self, Read, Write};

use documents::Date;
use json::Value;
use storage::TransactionId;

use crate::limits::SEGMENT_HEAD_SIZE_MAX;

const MAGIC: &[u8; 8] = b"ROOKJRN1";

/// What was the last transaction at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub time: Date,
    pub transaction: TransactionId,
}

/// What a segment begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub database: String,
    /// The transaction before the first record.
    pub after: TransactionId,
    /// Rising.
    pub marks: Vec<Mark>,
    /// The record of the database; `None` in segments of earlier versions.
    pub record: Option<Value>,
}

impl Head {
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let number = |number: u64| Value::Number(number.to_string());
        let mut head = Value::object();
        head.set("Database", self.database.as_str().into());
        head.set("After", number(self.after.0));
        let mark = |mark: &Mark| Value::Array(vec![number(mark.time.ticks()), number(mark.transaction.0)]);
        head.set("Marks", Value::Array(self.marks.iter().map(mark).collect()));
        if let Some(record) = &self.record {
            head.set("Record", record.clone());
        }
        let head = head.to_vec();
        let size = u32::try_from(head.len()).map_err(|_| io::Error::other("the head of a segment is too long"))?;
        [&MAGIC[..], &size.to_le_bytes(), &head].iter().try_for_each(|part| to.write_all(part))
    }

    /// Reads a head; the records follow it.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`]: it is none; those of `from`.
    pub fn read(from: &mut dyn Read) -> io::Result<Head> {
        let mut start = [0; MAGIC.len() + 4];
        from.read_exact(&mut start)?;
        let (magic, size) = start.split_at(MAGIC.len());
        let size = size.try_into().map_or(0, u32::from_le_bytes) as usize;
        if magic != MAGIC || size > SEGMENT_HEAD_SIZE_MAX {
            return Err(invalid("the file is no segment of an archive, or of a newer version"));
        }
        let mut head = vec![0; size];
        from.read_exact(&mut head)?;
        let head = Value::parse(&head).ok();
        head.as_ref().and_then(Head::from_json).ok_or_else(|| invalid("the head of the segment is damaged"))
    }

    fn from_json(value: &Value) -> Option<Head> {
        let number = |value: &Value| value.as_i64().and_then(|number| u64::try_from(number).ok());
        let Some(Value::Array(marks)) = value.get("Marks") else { return None };
        let mark = |mark: &Value| match mark {
            Value::Array(pair) => match &pair[..] {
                [ticks, transaction] => Some(Mark {
                    time: Date::from_ticks(number(ticks)?),
                    transaction: TransactionId(number(transaction)?),
                }),
                _ => None,
            },
            _ => None,
        };
        Some(Head {
            database: value.get("Database")?.as_str()?.to_owned(),
            after: TransactionId(number(value.get("After")?)?),
            marks: marks.iter().map(mark).collect::<Option<_>>()?,
            record: value.get("Record").cloned(),
        })
    }
}

fn invalid(rule: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        let mark = |ticks, transaction| Mark { time: Date::from_ticks(ticks), transaction: TransactionId(transaction) };
        let marks = vec![mark(638_000_000_000_000_000, 43), mark(638_000_000_010_000_000, 49)];
        let mut record = Value::object();
        record.set("LockMode", "Unlock".into());
        Head { database: "Shop".to_owned(), after: TransactionId(42), marks, record: Some(record) }
    }

    #[test]
    fn a_head_is_read_as_it_is_written_and_nothing_behind_it() {
        let mut bytes = Vec::new();
        head().write(&mut bytes).unwrap();
        bytes.extend(b"records");
        let mut rest = &bytes[..];
        assert_eq!(Head::read(&mut rest).unwrap(), head());
        assert_eq!(rest, b"records");
        let of_earlier_version = Head { record: None, ..head() };
        let mut bytes = Vec::new();
        of_earlier_version.write(&mut bytes).unwrap();
        assert_eq!(Head::read(&mut &bytes[..]).unwrap(), of_earlier_version);
    }

    #[test]
    fn what_is_cut_off_or_no_head_is_refused() {
        let mut whole = Vec::new();
        head().write(&mut whole).unwrap();
        for cut in 0..whole.len() {
            assert!(Head::read(&mut &whole[..cut]).is_err(), "{cut}");
        }
        let mut long = whole.clone();
        long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut newer = whole.clone();
        newer[7] = b'2';
        let mut broken = whole;
        broken[12] = b'[';
        for bytes in [long, newer, broken] {
            assert_eq!(Head::read(&mut &bytes[..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
