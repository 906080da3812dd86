//! Remembers requests that changed the node by their `raft-request-id`, so that one that is sent again is not applied again.
//!
//! Written in the transaction of the change itself: neither is there without the other, whatever happens in between.
//!
//! * `system/requests`: the id to its place in the order (8 bytes big-endian), the raft index of the change (the same), and
//!   what was asked for, as text. An id that comes with something else is another request.
//! * `system/request-order`: the place to the id. Places rise by 1; the oldest go.

use storage::{Reader, Tree, WriteTransaction};

use crate::limits::{REQUEST_ID_SIZE_MAX, REQUEST_IDS_COUNT_MAX, REQUEST_SUBJECT_SIZE_MAX};
use crate::{Error, Result};

/// One request that changes the node.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    id: Option<String>,
    /// The operation and the names of what it is about, lower-cased.
    subject: String,
}

impl Request {
    /// A request without an id, or with an empty one, is always a new one.
    pub fn new(operation: &str, names: &[&str], id: Option<&str>) -> Result<Request> {
        let id = id.filter(|id| !id.is_empty());
        if let Some(id) = id.filter(|id| id.len() > REQUEST_ID_SIZE_MAX) {
            return Err(Error::BadRequestId { size: id.len() });
        }
        let mut subject = operation.to_owned();
        for name in names {
            subject.push(' ');
            subject.push_str(&name.to_ascii_lowercase());
            if subject.len() >= REQUEST_SUBJECT_SIZE_MAX {
                break;
            }
        }
        subject.truncate(subject.floor_char_boundary(REQUEST_SUBJECT_SIZE_MAX));
        Ok(Request { id: id.map(str::to_owned), subject })
    }
}

/// The requests that were applied last.
#[derive(Clone, Copy)]
pub(crate) struct RequestIds {
    requests: Tree,
    order: Tree,
}

const REQUESTS: &[u8] = b"system/requests";
const ORDER: &[u8] = b"system/request-order";
const CORRUPT: Error = Error::Corrupt { rule: "a request has its place, an index and a subject" };

impl RequestIds {
    pub fn open(reader: &impl Reader) -> Result<Option<RequestIds>> {
        match (Tree::open(reader, REQUESTS)?, Tree::open(reader, ORDER)?) {
            (Some(requests), Some(order)) => Ok(Some(RequestIds { requests, order })),
            _ => Ok(None),
        }
    }

    pub fn create(tx: &mut WriteTransaction<'_>) -> Result<RequestIds> {
        Ok(RequestIds { requests: Tree::open_or_create(tx, REQUESTS)?, order: Tree::open_or_create(tx, ORDER)? })
    }

    /// The raft index that a request came to, if it was applied.
    pub fn index_of(&self, reader: &impl Reader, request: &Request) -> Result<Option<u64>> {
        let Some(id) = &request.id else { return Ok(None) };
        let Some(value) = self.requests.get(reader, id.as_bytes())? else { return Ok(None) };
        let (_, index, subject) = decode(value).ok_or(CORRUPT)?;
        Ok((subject == request.subject.as_bytes()).then_some(index))
    }

    /// Remembers a request, and forgets the oldest beyond the bound.
    pub fn insert(&self, tx: &mut WriteTransaction<'_>, request: &Request, index: u64) -> Result<()> {
        let Some(id) = &request.id else { return Ok(()) };
        let last = match self.order.cursor(tx).last()? {
            Some((place, _)) => u64::from_be_bytes(place.try_into().map_err(|_| CORRUPT)?),
            None => 0,
        };
        let place = last + 1;
        let value = [&place.to_be_bytes()[..], &index.to_be_bytes(), request.subject.as_bytes()].concat();
        self.requests.put(tx, id.as_bytes(), &value)?;
        self.order.put(tx, &place.to_be_bytes(), id.as_bytes())?;
        let Some(oldest) = place.checked_sub(REQUEST_IDS_COUNT_MAX) else { return Ok(()) };
        let Some(id) = self.order.get(tx, &oldest.to_be_bytes())?.map(<[u8]>::to_vec) else { return Ok(()) };
        self.order.delete(tx, &oldest.to_be_bytes())?;
        // An id that came again with something else has a later place.
        let is_at_oldest = self.requests.get(tx, &id)?.and_then(decode).is_some_and(|(place, ..)| place == oldest);
        if is_at_oldest {
            self.requests.delete(tx, &id)?;
        }
        Ok(())
    }
}

fn decode(value: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (place, rest) = value.split_first_chunk::<8>()?;
    let (index, subject) = rest.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*place), u64::from_be_bytes(*index), subject))
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::{Environment, Options};

    #[test]
    fn requests_are_remembered_up_to_a_bound() {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let ids = environment.write(RequestIds::create).unwrap();
        let request = |subject: &str, id: u64| Request::new(subject, &["X"], Some(&id.to_string())).unwrap();
        environment
            .write(|tx| {
                for n in 0..=REQUEST_IDS_COUNT_MAX {
                    ids.insert(tx, &request("create", n), n + 100)?;
                }
                // The same id with something else: the oldest place of it goes, the id does not.
                ids.insert(tx, &request("delete", 1), 7)?;
                ids.insert(tx, &Request::new("create", &[], Some(""))?, 1)
            })
            .unwrap();
        let tx = environment.read();
        let index = |subject, id| ids.index_of(&tx, &request(subject, id)).unwrap();
        assert_eq!((index("create", 0), index("create", 2), index("create", 3)), (None, Some(102), Some(103)));
        assert_eq!((index("create", 1), index("delete", 1)), (None, Some(7)));
        assert_eq!(ids.index_of(&tx, &Request::new("create", &[], None).unwrap()).unwrap(), None);
        let count = |tree: &Tree| {
            let mut cursor = tree.cursor(&tx);
            let mut count = u64::from(cursor.first().unwrap().is_some());
            while cursor.next().unwrap().is_some() {
                count += 1;
            }
            count
        };
        assert_eq!((count(&ids.requests), count(&ids.order)), (REQUEST_IDS_COUNT_MAX, REQUEST_IDS_COUNT_MAX));
        let long = "x".repeat(REQUEST_ID_SIZE_MAX + 1);
        assert!(matches!(Request::new("create", &[], Some(&long)), Err(Error::BadRequestId { .. })));
    }
}
