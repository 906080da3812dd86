//! The properties of metadata that name a due time: `@expires`, `@refresh` and `@archive-at`. Compare-exchange values have the first alone.
//!
//! Most documents have none of them, so that reading them begins with a search for `@` in the stored metadata, which have some dozens of
//! bytes.

use json::{Properties, Raw};

use crate::{Date, Error, Result};

/// What happens to a document, or to a compare-exchange value, at a due time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DueKind {
    /// It is deleted.
    Expiration,
    /// It is written again without the property, so that what follows changes sees it.
    Refresh,
    /// It gets the flag `Archived`, and loses the property.
    Archival,
    /// A compare-exchange value is deleted.
    ValueExpiration,
}

impl DueKind {
    /// All of them.
    pub const ALL: [DueKind; KIND_COUNT] =
        [DueKind::Expiration, DueKind::Refresh, DueKind::Archival, DueKind::ValueExpiration];

    /// Those of documents. A database enables each by itself.
    pub const OF_DOCUMENTS: [DueKind; 3] = [DueKind::Expiration, DueKind::Refresh, DueKind::Archival];

    /// The property of `@metadata` that has the time.
    pub const fn property(self) -> &'static str {
        match self {
            DueKind::Expiration | DueKind::ValueExpiration => "@expires",
            DueKind::Refresh => "@refresh",
            DueKind::Archival => "@archive-at",
        }
    }

    /// The number that stands for it in keys and in logs of writes: never reuse one.
    pub(crate) const fn number(self) -> u8 {
        match self {
            DueKind::Expiration => 1,
            DueKind::Refresh => 2,
            DueKind::Archival => 3,
            DueKind::ValueExpiration => 4,
        }
    }

    pub(crate) fn from_number(number: u8) -> Option<DueKind> {
        DueKind::ALL.into_iter().find(|kind| kind.number() == number)
    }
}

/// How many kinds there are.
const KIND_COUNT: usize = 4;

/// The due times of one item, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DueTimes([Option<Date>; KIND_COUNT]);

impl DueTimes {
    /// Of an item that names none.
    pub(crate) const NONE: DueTimes = DueTimes([None; KIND_COUNT]);

    /// The times in the stored metadata of a document. A value that is no date is passed over: documents that an earlier version stored can
    /// have one.
    ///
    /// * `metadata`: properties without braces, minified.
    #[inline]
    pub(crate) fn of(metadata: &[u8]) -> DueTimes {
        if is_mentioned(metadata) { DueTimes::read(metadata) } else { DueTimes::NONE }
    }

    #[cold]
    fn read(metadata: &[u8]) -> DueTimes {
        DueTimes::NONE.with(DueKind::OF_DOCUMENTS.into_iter(), metadata)
    }

    /// The times in the stored metadata of a compare-exchange value.
    #[inline]
    pub(crate) fn of_value(metadata: &[u8]) -> DueTimes {
        match is_mentioned(metadata) {
            true => DueTimes::NONE.with(std::iter::once(DueKind::ValueExpiration), metadata),
            false => DueTimes::NONE,
        }
    }

    fn with(mut self, kinds: impl Iterator<Item = DueKind>, metadata: &[u8]) -> DueTimes {
        kinds.for_each(|kind| self.0[kind as usize] = value(metadata, kind).and_then(date));
        self
    }

    /// The time of a kind.
    pub fn get(&self, kind: DueKind) -> Option<Date> {
        self.0[kind as usize]
    }
}

/// True if stored metadata can have a due time; false is certain.
#[inline]
pub(crate) fn is_mentioned(metadata: &[u8]) -> bool {
    memchr::memchr_iter(b'@', metadata).any(|at| {
        let name = metadata.get(at..).unwrap_or_default();
        DueKind::OF_DOCUMENTS
            .iter()
            .any(|kind| name.strip_prefix(kind.property().as_bytes()).is_some_and(|rest| rest.starts_with(b"\":")))
    })
}

fn value(metadata: &[u8], kind: DueKind) -> Option<Raw<'_>> {
    Properties::new(metadata).get(kind.property())
}

/// The moment that a value names: text as [`Date::parse`] reads it, or the same with an offset such as `+02:00`.
fn date(value: Raw<'_>) -> Option<Date> {
    let text = value.as_str()?;
    Date::parse(&text).or_else(|| date_with_offset(&text))
}

fn date_with_offset(text: &str) -> Option<Date> {
    let (local, offset) = text.split_at_checked(text.len().checked_sub("+00:00".len())?)?;
    let &[sign @ (b'+' | b'-'), hour, ten_hour, b':', minute, ten_minute] = offset.as_bytes() else { return None };
    let number = |tens: u8, ones: u8| {
        let is_number = tens.is_ascii_digit() && ones.is_ascii_digit();
        is_number.then(|| u64::from(tens - b'0') * 10 + u64::from(ones - b'0'))
    };
    let (hours, minutes) = (number(hour, ten_hour)?, number(minute, ten_minute)?);
    if hours > 14 || minutes > 59 || local.ends_with('Z') {
        return None;
    }
    let (local, offset) = (Date::parse(local)?.ticks(), (hours * 60 + minutes) * TICKS_PER_MINUTE);
    let ticks = if sign == b'+' { local.saturating_sub(offset) } else { local.saturating_add(offset) };
    Some(Date::from_ticks(ticks))
}

const TICKS_PER_MINUTE: u64 = 60 * 10_000_000;

/// Characters of a wrong value that an error repeats.
const VALUE_LENGTH_SHOWN: usize = 80;

/// Refuses metadata of a document to be stored in which a due time is no date.
pub(crate) fn check(metadata: &[u8]) -> Result<()> {
    if !is_mentioned(metadata) {
        return Ok(());
    }
    for kind in DueKind::OF_DOCUMENTS {
        let Some(wrong) = value(metadata, kind).filter(|value| date(*value).is_none()) else { continue };
        let shown: String = String::from_utf8_lossy(wrong.bytes()).chars().take(VALUE_LENGTH_SHOWN).collect();
        let name = kind.property();
        let rule = format!(
            "'{name}' in '@metadata' must be a date in UTC such as \"2030-01-31T08:00:00.0000000Z\", but is {shown}; correct it, or remove '{name}'"
        );
        return Err(Error::BadBatch { rule });
    }
    Ok(())
}

/// Stored metadata without the property of a kind.
pub(crate) fn without(metadata: &[u8], kind: DueKind) -> Vec<u8> {
    let mut out = Vec::with_capacity(metadata.len());
    for (name, value) in Properties::new(metadata).members() {
        if name.is(kind.property()) {
            continue;
        }
        if !out.is_empty() {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(name.escaped());
        out.extend_from_slice(b"\":");
        out.extend_from_slice(value.bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_times(metadata: &str, expected: [Option<&str>; 3]) {
        let times = DueTimes::of(metadata.as_bytes());
        let texts = DueKind::OF_DOCUMENTS.map(|kind| times.get(kind).map(|date| date.to_string()));
        assert_eq!(texts.each_ref().map(Option::as_deref), expected, "{metadata}");
    }

    #[test]
    fn due_times_are_properties_of_the_metadata_itself() {
        let first = Some("2030-01-01T00:00:00.0000000Z");
        check_times("", [None; 3]);
        check_times(r#""@collection":"Users","Raven-Clr-Type":"@expires""#, [None; 3]);
        check_times(r#""@collection":"Users","@expires":"2030-01-01T00:00:00Z""#, [first, None, None]);
        check_times(
            r#""@archive-at":"2030-01-01T02:00:00+02:00","@refresh":"2029-12-31T22:30:00-01:30""#,
            [None, first, first],
        );
        check_times(r#""X":{"@expires":"2030-01-01T00:00:00Z"}"#, [None; 3]);
        check_times(r#""@expires":"soon","@refresh":5,"@archive-at":null"#, [None; 3]);
        check_times(r#""@expires-at":"2030-01-01T00:00:00Z""#, [None; 3]);
    }

    #[test]
    fn what_is_no_date_is_refused() {
        assert!(check(br#""@collection":"Users","X":{"@expires":"soon"}"#).is_ok());
        assert!(check(br#""@expires":"2030-01-01T00:00:00","@refresh":"2030-01-01T00:00:00.123Z""#).is_ok());
        let wrong = [
            "\"soon\"",
            "null",
            "5",
            "{}",
            "\"\"",
            "\"2030-01-01\"",
            "\"2030-01-01T00:00:00Z+02:00\"",
            "\"2030-01-01T00:00:00+15:00\"",
            "\"2030-01-01T00:00:00+02:60\"",
            "\"2030-01-01T00:00:00*02:00\"",
            "\"+02:00\"",
            "\"é02:00\"",
        ];
        for value in wrong {
            let error = check(format!("\"@refresh\":{value}").as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("'@refresh' in '@metadata' must be a date") && error.contains(value), "{error}");
        }
    }

    #[test]
    fn a_property_is_taken_out() {
        let metadata = br#""@collection":"Users","@expires":"x","X":{"@expires":1}"#;
        assert_eq!(without(metadata, DueKind::Expiration), br#""@collection":"Users","X":{"@expires":1}"#);
        assert_eq!(without(metadata, DueKind::Refresh), metadata);
        assert_eq!(without(br#""@refresh":"x""#, DueKind::Refresh), b"");
    }
}
