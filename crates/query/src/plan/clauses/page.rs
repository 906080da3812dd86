//! Which part of the results is wanted.

use crate::plan::{Parameters, Refused};
use crate::rql::{Limit, Value};

/// Which part of the results is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Page {
    /// Results that are left out.
    pub skip: u64,
    /// Results that follow; `None`: all.
    pub take: Option<u64>,
    /// What the text of the query itself says. `None`: it has neither `limit` nor `offset`.
    pub written: Option<WrittenPage>,
}

/// The page of the text of a query, whatever else its request wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenPage {
    /// `offset`.
    pub skip: u64,
    /// `limit`.
    pub take: Option<u64>,
}

impl WrittenPage {
    /// The number of results on the page, out of `total` results.
    pub fn count_of(self, total: u64) -> u64 {
        total.saturating_sub(self.skip).min(self.take.unwrap_or(u64::MAX))
    }
}

impl Page {
    /// What the clauses `limit` and `offset` say.
    pub(in crate::plan) fn of(limit: &Limit<'_>, parameters: Parameters<'_>) -> Result<Page, Refused> {
        let count = |value: Option<&Value<'_>>, what| value.map_or(Ok(None), |value| parameters.count(value, what));
        let skip = count(limit.skip.as_ref(), "Offset (Start)")?.unwrap_or(0);
        let take = count(limit.take.as_ref(), "Limit (PageSize)")?;
        let written = (*limit != Limit::default()).then_some(WrittenPage { skip, take });
        Ok(Page { skip, take, written })
    }

    /// The page of a request beside that of the text: the later start and the smaller count hold.
    #[must_use]
    pub fn within(self, skip: u64, take: Option<u64>) -> Page {
        Page { skip: self.skip.max(skip), take: [self.take, take].into_iter().flatten().min(), ..self }
    }

    /// The positions of its first result and behind its last, out of `count` results.
    pub(crate) fn places(self, count: u64) -> (usize, usize) {
        let place = |place: u64| usize::try_from(place.min(count)).unwrap_or(usize::MAX);
        (place(self.skip), place(self.end()))
    }

    /// How many results have to be known for it.
    pub fn end(self) -> u64 {
        self.take.map_or(u64::MAX, |take| self.skip.saturating_add(take))
    }
}
