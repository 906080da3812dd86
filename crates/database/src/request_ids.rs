//! Remembers requests that change the node by their `raft-request-id`, so that one that is sent again is not applied again.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;

use crate::limits::REQUEST_IDS_COUNT_MAX;

/// The last requests with what they came to.
#[derive(Default)]
pub(crate) struct RequestIds {
    inner: Mutex<(HashMap<String, u64>, VecDeque<String>)>,
}

impl RequestIds {
    /// The raft index that a request came to. Empty ids are nobody's.
    pub fn get(&self, id: Option<&str>) -> Option<u64> {
        self.inner.lock().0.get(id.filter(|id| !id.is_empty())?).copied()
    }

    /// Remembers a request, and forgets the oldest beyond the bound.
    pub fn insert(&self, id: Option<&str>, index: u64) {
        let Some(id) = id.filter(|id| !id.is_empty() && id.len() <= 128) else { return };
        let (known, order) = &mut *self.inner.lock();
        if known.insert(id.to_owned(), index).is_none() {
            order.push_back(id.to_owned());
        }
        while order.len() > REQUEST_IDS_COUNT_MAX {
            if let Some(oldest) = order.pop_front() {
                known.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_remembered_up_to_a_bound() {
        let ids = RequestIds::default();
        (0..=REQUEST_IDS_COUNT_MAX as u64).for_each(|n| ids.insert(Some(&n.to_string()), n));
        assert_eq!(
            (ids.get(Some("0")), ids.get(Some("1")), ids.get(Some("")), ids.get(None)),
            (None, Some(1), None, None)
        );
    }
}
