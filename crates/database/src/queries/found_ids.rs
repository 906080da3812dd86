//! The ids of the documents that a query finds, as the input of deletions and patches by query.

use documents::Etag;
use query::plan::Plan;
use storage::memory::Memory;

use super::deadline::Deadline;
use super::hits::each_id;
use super::ready::ReadyIndex;
use super::run::{QueryRun, RunContext};
use crate::limits::FOUND_IDS_SIZE_MAX;
use crate::{Database, Error, Result};

/// Ids one behind the other.
#[derive(Debug, Default)]
pub(super) struct FoundIds {
    text: String,
    /// Where each ends.
    ends: Vec<u32>,
    /// True if the query finds no more.
    pub is_all: bool,
    /// Results that the query has on its page, as far as they are counted.
    pub expected: u64,
}

/// Restrictions on the ids to return.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdsRequest {
    /// Those that were not written after this etag. `None`: all.
    pub until: Option<Etag>,
    /// The maximum number of ids.
    pub count_max: usize,
    /// The index must have everything up to this etag.
    pub cutoff: Option<Etag>,
    /// True if the results of the page are counted, which may be as much work as finding them.
    pub counts: bool,
}

impl FoundIds {
    /// Finds ids in one snapshot, each once, in the order of the results.
    ///
    /// * `plan`: of documents, without a projection.
    ///
    /// # Errors
    ///
    /// [`Error::StaleIndex`]; [`Error::TooManyFound`] over [`FOUND_IDS_SIZE_MAX`]; those of a query.
    pub fn find(
        database: &Database,
        plan: &Plan,
        ready: Option<&ReadyIndex>,
        request: IdsRequest,
        deadline: &Deadline,
    ) -> Result<FoundIds> {
        let ready = ready.map(|ready| ReadyIndex { cutoff: request.cutoff.or(ready.cutoff), ..ready.clone() });
        let found = database.with_snapshots(ready.as_ref(), |index, documents| {
            // Nobody waits for an answer that could ask to try again later.
            let memory = Memory::unbounded();
            let script_limits = database.limits().script;
            let run =
                QueryRun::new(plan, index, documents, RunContext { memory, deadline, script_limits, timings: None })?;
            if request.cutoff.is_some() && run.is_stale() {
                return Err(Error::StaleIndex { name: run.index_name() });
            }
            FoundIds::of(&run, request)
        });
        found.inspect_err(|error| ready.iter().for_each(|ready| ready.fail_if_damaged(error)))
    }

    fn of(run: &QueryRun<'_>, request: IdsRequest) -> Result<FoundIds> {
        let mut ids = FoundIds { is_all: true, ..FoundIds::default() };
        let outcome = each_id(run, &mut |id, etag| {
            if request.until.is_some_and(|until| etag > until) {
                return Ok(());
            }
            ids.is_all = ids.len() < request.count_max;
            if ids.is_all { ids.add(id) } else { Err(Error::Canceled) }
        });
        if ids.is_all {
            outcome?;
        }
        // With a filter, counting would filter once more.
        ids.expected = match request.counts && run.plan.filter.is_none() {
            true => run.counts()?.taken,
            false => ids.len() as u64,
        };
        Ok(ids)
    }

    fn add(&mut self, id: &str) -> Result<()> {
        self.text.push_str(id);
        let end = u32::try_from(self.text.len()).map_err(|_| Error::TooManyFound)?;
        self.ends.push(end);
        let size = self.text.len() + self.ends.len() * size_of::<u32>();
        if size <= FOUND_IDS_SIZE_MAX { Ok(()) } else { Err(Error::TooManyFound) }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Lists of `count` ids each, the last one shorter.
    pub fn chunks(&self, count: usize) -> impl Iterator<Item = Vec<String>> {
        let mut begin = 0;
        self.ends.chunks(count).map(move |ends| {
            let id = |end: &u32| {
                let end = *end as usize;
                let id = self.text.get(begin..end).unwrap_or_default().to_owned();
                begin = end;
                id
            };
            ends.iter().map(id).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_out_as_they_went_in() {
        let mut ids = FoundIds::default();
        for id in ["users/1", "ü", "users/3"] {
            ids.add(id).unwrap();
        }
        assert_eq!(ids.len(), 3);
        assert_eq!(ids.chunks(2).collect::<Vec<_>>(), [vec!["users/1", "ü"], vec!["users/3"]]);
    }
}
