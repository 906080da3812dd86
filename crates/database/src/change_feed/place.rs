//! A place in the change feed.

use std::fmt;

use documents::Etag;

/// Characters of the database id that a place has.
const HISTORY_SIZE: usize = 6;

/// A place in the change feed: what a reader has seen.
///
/// A reader who begins at the beginning sees no document that was deleted before, so that it needs no deletion up to the etag that was the
/// last one then. Later pages need to know that: tombstones up to there may be cleaned while it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedPlace {
    /// Everything up to this etag was looked at.
    pub after: Etag,
    /// The last etag when the reader began at the beginning; 0: it began elsewhere, or has passed it.
    pub began: Etag,
    /// The history whose etags these are; `None`: the etag was written by hand, or stored before places had a history.
    pub history: Option<FeedHistory>,
}

/// The history of a database, by the beginning of its database id: a database draws another id when it is made, and when it is restored.
/// Etags of two histories have nothing to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedHistory([u8; HISTORY_SIZE]);

impl FeedHistory {
    /// * `database_id`: in base64. The characters that addresses give another meaning are replaced, as base64url does.
    pub(super) fn new(database_id: &str) -> FeedHistory {
        let mut characters = database_id.bytes().map(|byte| match byte {
            b'+' => b'-',
            b'/' => b'_',
            byte => byte,
        });
        FeedHistory([(); HISTORY_SIZE].map(|()| characters.next().unwrap_or(b'A')))
    }

    pub(super) fn parse(text: &str) -> Option<FeedHistory> {
        let bytes = <[u8; HISTORY_SIZE]>::try_from(text.as_bytes()).ok()?;
        bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte)).then_some(FeedHistory(bytes))
    }
}

impl fmt::Display for FeedHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{}", char::from(*byte)))
    }
}

impl FeedPlace {
    /// The place behind an etag, of whichever history.
    pub fn after(after: Etag) -> FeedPlace {
        FeedPlace { after, ..FeedPlace::default() }
    }

    /// Reads what [`Display`](fmt::Display) writes: an etag, or two with a colon between them; then, behind `@`, a history, which may be
    /// missing.
    pub fn parse(text: &str) -> Option<FeedPlace> {
        let (etags, history) = match text.trim().split_once('@') {
            None => (text.trim(), None),
            Some((etags, history)) => (etags, Some(FeedHistory::parse(history)?)),
        };
        let (after, began) = etags.split_once(':').unwrap_or((etags, "0"));
        Some(FeedPlace { after: after.parse().ok()?, began: began.parse().ok()?, history })
    }

    /// True for a place in another history. A reader who has seen nothing is in none.
    pub(super) fn is_of_other(self, history: FeedHistory) -> bool {
        self.after != 0 && self.history.is_some_and(|own| own != history)
    }

    /// Deletions up to this etag are not needed.
    pub(super) fn needs_after(self) -> Etag {
        self.after.max(self.began)
    }

    /// The place behind a later etag.
    pub(super) fn moved_to(self, after: Etag) -> FeedPlace {
        FeedPlace { after, began: if after < self.began { self.began } else { 0 }, ..self }
    }
}

impl fmt::Display for FeedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.after)?;
        if self.began != 0 {
            write!(f, ":{}", self.began)?;
        }
        self.history.map_or(Ok(()), |history| write!(f, "@{history}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{FeedHistory, FeedPlace};

    #[test]
    fn places_are_read_as_they_are_written() {
        for text in ["0", "17", "17:90", "17@pITDlh", "17:90@-_Dlh0", "0@pITDlh"] {
            assert_eq!(FeedPlace::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "x", "1:", ":1", "1:2:3", "-1", "1@", "1@pITDl", "1@pITDlhl", "1@pITD/h", "@pITDlh", "1@pITDé"]
        {
            assert_eq!(FeedPlace::parse(text), None, "{text}");
        }
        let place = FeedPlace::parse("17:90@pITDlh").unwrap();
        assert_eq!(
            [place.moved_to(89), place.moved_to(90)].map(|place| place.to_string()),
            ["89:90@pITDlh", "90@pITDlh"]
        );
    }

    #[test]
    fn a_place_is_of_another_history_only_if_it_names_one_and_has_seen_something() {
        let history = FeedHistory::new("p+T/lhlRaEeJh16dDBREzg");
        assert_eq!(history.to_string(), "p-T_lh");
        let is_of_other = |text: &str| FeedPlace::parse(text).unwrap().is_of_other(history);
        assert!(!["17", "17:90", "17:90@p-T_lh", "0@pITDlh"].into_iter().any(is_of_other));
        assert!(["17@pITDlh", "17:90@pITDlh"].into_iter().all(is_of_other));
    }
}
