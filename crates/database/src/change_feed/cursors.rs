//! Cursors of the change feed: named places that are kept with the database. Tombstones behind them are kept, for a bounded time
//! ([`FEED_CURSOR_KEPT`]).

use documents::{Date, DefinitionChange, Etag, Snapshot, Write};
use json::Value;

use super::{FeedHistory, FeedPlace, bad};
use crate::limits::{FEED_CURSOR_KEPT, FEED_CURSOR_NAME_SIZE_MAX, FEED_CURSOR_REFRESHED, FEED_CURSORS_MAX};
use crate::{Database, Error, Result};

/// The kind of definitions that cursors are stored as.
const CURSOR: &str = "feed-cursor";

/// A named place in the change feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedCursor {
    /// By which it is found, in any case.
    pub name: String,
    /// Its consumer has handled everything up to this place.
    pub place: FeedPlace,
    /// When it was moved last, or made; or when its consumer was seen without anything to move it for.
    pub moved: Date,
}

impl FeedCursor {
    fn put(&self) -> DefinitionChange {
        let mut value = Value::object();
        value.set("Name", self.name.as_str().into());
        value.set("Etag", Value::Number(self.place.after.to_string()));
        value.set("Began", Value::Number(self.place.began.to_string()));
        if let Some(history) = self.place.history {
            value.set("History", history.to_string().as_str().into());
        }
        value.set("Moved", Value::Number(self.moved.ticks().to_string()));
        let (kind, name) = (CURSOR.to_owned(), self.name.clone());
        DefinitionChange::Put { kind, name, generation: 0, definition: value.to_vec() }
    }

    fn decode(bytes: &[u8]) -> Result<FeedCursor> {
        let value = Value::parse(bytes).map_err(|_| corrupt())?;
        let number = |name| value.get(name).and_then(Value::as_i64).and_then(|number| u64::try_from(number).ok());
        Ok(FeedCursor {
            name: value.get("Name").and_then(Value::as_str).ok_or_else(corrupt)?.to_owned(),
            place: FeedPlace {
                after: number("Etag").ok_or_else(corrupt)?,
                began: number("Began").ok_or_else(corrupt)?,
                // Cursors that were stored before places had a history have none.
                history: match value.get("History") {
                    None => None,
                    Some(text) => Some(text.as_str().and_then(FeedHistory::parse).ok_or_else(corrupt)?),
                },
            },
            moved: number("Moved").map(Date::from_ticks).ok_or_else(corrupt)?,
        })
    }

    fn all(snapshot: &Snapshot<'_>) -> Result<Vec<FeedCursor>> {
        snapshot.definitions(CURSOR)?.iter().map(|bytes| FeedCursor::decode(bytes)).collect()
    }

    /// True if tombstones are kept for it in this database.
    pub fn holds_tombstones(&self, database: &Database, now: Date) -> bool {
        !self.place.is_of_other(database.feed_history()) && now.since(self.moved) < FEED_CURSOR_KEPT
    }
}

fn corrupt() -> Error {
    Error::Corrupt { rule: "a stored cursor of the change feed can be read" }
}

impl Database {
    /// All cursors of the change feed, by name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn feed_cursors(&self) -> Result<Vec<FeedCursor>> {
        FeedCursor::all(&self.read())
    }

    /// The cursor of this name, in any case.
    ///
    /// # Errors
    ///
    /// [`Error::NoFeedCursor`], or storage fails.
    pub fn feed_cursor(&self, name: &str) -> Result<FeedCursor> {
        let stored = self.read().definition(CURSOR, name)?;
        stored
            .map(|bytes| FeedCursor::decode(&bytes))
            .unwrap_or_else(|| Err(Error::NoFeedCursor { name: name.to_owned(), database: self.name().to_owned() }))
    }

    /// A cursor that is made or moved, and the write that does so. It is stored once the write is durable.
    ///
    /// * `place`: up to which its consumer has handled everything.
    /// * `now`: by the clock of the node.
    ///
    /// # Errors
    ///
    /// [`Error::BadFeed`], [`Error::FeedGone`] if the place is of another history or deletions behind it are not kept any more; storage
    /// fails.
    pub fn move_feed_cursor(&self, name: &str, place: FeedPlace, now: Date) -> Result<(FeedCursor, Write)> {
        if name.trim().is_empty() || name.len() > FEED_CURSOR_NAME_SIZE_MAX {
            return Err(bad(format!(
                "the name of a cursor has {} bytes; it needs one, and may have as many as the limit FEED_CURSOR_NAME_SIZE_MAX of \
                 {FEED_CURSOR_NAME_SIZE_MAX} allows",
                name.len()
            )));
        }
        let snapshot = self.read();
        self.check_feed(&snapshot, place)?;
        let is_new = snapshot.definition(CURSOR, name)?.is_none();
        if is_new && FeedCursor::all(&snapshot)?.len() >= FEED_CURSORS_MAX {
            return Err(bad(format!(
                "the database has as many cursors as the limit FEED_CURSORS_MAX of {FEED_CURSORS_MAX} allows. Delete some"
            )));
        }
        let place = FeedPlace { history: Some(self.feed_history()), ..place };
        let cursor = FeedCursor { name: name.to_owned(), place, moved: now };
        let write = Write::Definitions(vec![cursor.put()]);
        Ok((cursor, write))
    }

    /// The write that renews a cursor which does not move, so that it does not expire. `None` if the cursor is missing, was renewed
    /// lately, or its consumer has not handled everything.
    ///
    /// * `told`: the etag of the last change that the consumer was told of since it began at the cursor; 0: of none.
    /// * `now`: by the clock of the node.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn refresh_feed_cursor(&self, name: &str, told: Etag, now: Date) -> Result<Option<Write>> {
        let Some(stored) = self.read().definition(CURSOR, name)? else { return Ok(None) };
        let cursor = FeedCursor::decode(&stored)?;
        if cursor.place.after < told || now.since(cursor.moved) < FEED_CURSOR_REFRESHED {
            return Ok(None);
        }
        Ok(Some(Write::Definitions(vec![FeedCursor { moved: now, ..cursor }.put()])))
    }

    /// Deletes a cursor; false if there is none of that name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn delete_feed_cursor(&self, name: &str) -> Result<bool> {
        if self.read().definition(CURSOR, name)?.is_none() {
            return Ok(false);
        }
        let change = DefinitionChange::Delete { kind: CURSOR.to_owned(), name: name.to_owned() };
        self.write(&Write::Definitions(vec![change]))?;
        Ok(true)
    }

    /// The etag up to which all cursors that hold tombstones have come; `None`: there are none.
    pub(crate) fn feed_cursors_seen(&self, now: Date) -> Result<Option<Etag>> {
        let cursors = self.feed_cursors()?;
        Ok(cursors.iter().filter(|cursor| cursor.holds_tombstones(self, now)).map(|cursor| cursor.place.after).min())
    }
}
