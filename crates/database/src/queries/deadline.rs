//! Deadline and cancellation of work on documents.

use std::cell::Cell;
use std::collections::HashSet;
use std::time::{Duration, Instant};

use documents::{ByEtag, Document, IncludePath, PrefixQuery, Snapshot};

use super::error::QueryError;
use crate::limits::DEADLINE_EVERY;
use crate::{Error, Result};

/// The time of a piece of work, and whether it is still wanted. Work calls [`Self::look`] for each document that it reads.
pub struct Deadline {
    end: Cell<Option<Instant>>,
    run_time: Duration,
    looked_at: Cell<u64>,
    is_given_up: Box<dyn Fn() -> bool>,
}

impl Deadline {
    /// Begins now.
    ///
    /// * `run_time`: `None` is without a limit, and so is a time beyond what the clock can count.
    /// * `is_given_up`: true once the result is no longer wanted.
    pub fn new(run_time: Option<Duration>, is_given_up: impl Fn() -> bool + 'static) -> Deadline {
        Deadline {
            end: Cell::new(run_time.and_then(|run_time| Instant::now().checked_add(run_time))),
            run_time: run_time.unwrap_or_default(),
            looked_at: Cell::new(0),
            is_given_up: Box::new(is_given_up),
        }
    }

    /// Removes the limit of time: from now on the reader of the results sets the pace.
    pub fn lift(&self) {
        self.end.set(None);
    }

    /// Counts one more document that is read, found or not, and now and then checks the time.
    ///
    /// # Errors
    ///
    /// [`Error::Canceled`], [`QueryError::Timeout`].
    #[inline]
    pub fn look(&self) -> Result<()> {
        let looked_at = self.looked_at.replace(self.looked_at.get() + 1);
        if looked_at.is_multiple_of(DEADLINE_EVERY) { self.check() } else { Ok(()) }
    }

    /// Checks the time, and whether the result is still wanted.
    pub(super) fn check(&self) -> Result<()> {
        if (self.is_given_up)() {
            return Err(Error::Canceled);
        }
        match self.end.get() {
            Some(end) if Instant::now() >= end => Err(QueryError::Timeout { after: self.run_time }.into()),
            _ => Ok(()),
        }
    }

    /// Documents by prefix. Keys that are passed over count as well.
    ///
    /// # Errors
    ///
    /// As [`Self::look`]; storage fails.
    pub fn by_prefix<'s>(
        &self,
        snapshot: &'s Snapshot<'_>,
        query: PrefixQuery,
    ) -> Result<impl Iterator<Item = Result<Document<'s>>>> {
        let mut documents = snapshot.by_prefix(query)?;
        Ok(std::iter::from_fn(move || {
            loop {
                let next = documents.next_within(DEADLINE_EVERY);
                let looked = if next.is_some() { self.look() } else { self.check() };
                if let Err(error) = looked {
                    return Some(Err(error));
                }
                match next {
                    Some(next) => return next.map_err(Error::from).transpose(),
                    None => continue,
                }
            }
        }))
    }

    /// The documents that `documents` refer to by `paths`, each once and without those themselves.
    ///
    /// # Errors
    ///
    /// As [`Self::look`]; storage fails.
    pub fn includes<'s>(
        &self,
        snapshot: &'s Snapshot<'_>,
        documents: &[&Document<'_>],
        paths: &[IncludePath],
    ) -> Result<Vec<Document<'s>>> {
        let mut included = Vec::new();
        if paths.is_empty() {
            return Ok(included);
        }
        let mut seen: HashSet<String> = documents.iter().map(|document| document.id().to_owned()).collect();
        for some in documents.chunks(DEADLINE_EVERY as usize) {
            self.check()?;
            for document in snapshot.includes(some, paths)? {
                if seen.insert(document.id().to_owned()) {
                    included.push(document);
                }
            }
        }
        Ok(included)
    }

    /// Documents by etag after the first `skip`, `take` at the most.
    ///
    /// # Errors
    ///
    /// As [`Self::look`]; storage fails.
    pub fn by_etag<'s>(
        &self,
        mut documents: ByEtag<'s>,
        skip: u64,
        take: u64,
    ) -> Result<impl Iterator<Item = Result<Document<'s>>>> {
        let mut left = skip;
        while left > 0 {
            self.check()?;
            let some = left.min(DEADLINE_EVERY);
            left = if documents.skip_documents(some)? < some { 0 } else { left - some };
        }
        let take = usize::try_from(take).unwrap_or(usize::MAX);
        Ok(documents.take(take).map(|document| self.look().and_then(|()| Ok(document?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was added to the clock, which panics.
    #[test]
    fn a_time_beyond_the_clock_is_no_limit() {
        Deadline::new(Some(Duration::MAX), || false).check().unwrap();
    }

    /// It was said in whole seconds: 0.
    #[test]
    fn a_limit_below_a_second_is_reported_as_it_is() {
        let error = Deadline::new(Some(Duration::ZERO), || false).check().unwrap_err();
        assert_eq!(error.to_string(), "The query was cancelled after 0 s (the limit Limits.QueryRunTimeInSec)");
        let short = QueryError::Timeout { after: Duration::from_millis(1500) };
        assert_eq!(short.to_string(), "The query was cancelled after 1.5 s (the limit Limits.QueryRunTimeInSec)");
        let whole = QueryError::Timeout { after: Duration::from_secs(60) };
        assert_eq!(whole.to_string(), "The query was cancelled after 60 s (the limit Limits.QueryRunTimeInSec)");
    }
}
