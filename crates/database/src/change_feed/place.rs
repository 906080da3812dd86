//! A place in the change feed.

use std::fmt;

use documents::Etag;

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
}

impl FeedPlace {
    /// The place behind an etag.
    pub fn after(after: Etag) -> FeedPlace {
        FeedPlace { after, began: 0 }
    }

    /// Reads what [`Display`](fmt::Display) writes: an etag, or two with a colon between them.
    pub fn parse(text: &str) -> Option<FeedPlace> {
        match text.trim().split_once(':') {
            None => Some(FeedPlace::after(text.trim().parse().ok()?)),
            Some((after, began)) => Some(FeedPlace { after: after.parse().ok()?, began: began.parse().ok()? }),
        }
    }

    /// Deletions up to this etag are not needed.
    pub(super) fn needs_after(self) -> Etag {
        self.after.max(self.began)
    }

    /// The place behind a later etag.
    pub(super) fn moved_to(self, after: Etag) -> FeedPlace {
        FeedPlace { after, began: if after < self.began { self.began } else { 0 } }
    }
}

impl fmt::Display for FeedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.began {
            0 => write!(f, "{}", self.after),
            began => write!(f, "{}:{began}", self.after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FeedPlace;

    #[test]
    fn places_are_read_as_they_are_written() {
        for text in ["0", "17", "17:90"] {
            assert_eq!(FeedPlace::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "x", "1:", ":1", "1:2:3", "-1"] {
            assert_eq!(FeedPlace::parse(text), None, "{text}");
        }
        let place = FeedPlace { after: 17, began: 90 };
        assert_eq!([place.moved_to(89), place.moved_to(90)].map(|place| place.to_string()), ["89:90", "90"]);
    }
}
