//! Resume points for re-indexing documents that reference a changed document, when a batch fills up first.
//!
//! A *round* visits the referencing documents in the order of their ids. If the referenced document changes again meanwhile, all of them
//! must be mapped once more. The new round starts at the position of the old one and wraps around (circular scan); a restart from the
//! first would starve the last ones. Rounds are served round-robin, beside the search for further changes, so that a document that
//! changes all the time delays no other. The progress of the index stays below the changes of all unfinished rounds.

use crate::index::Progress;
use documents::Etag;
use std::collections::VecDeque;

/// The maximum number of unfinished rounds of one source.
const ROUNDS_MAX: usize = 64;

/// A change of a referenced document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Written(Etag),
    Deleted(Etag),
}

/// A scan over the documents that reference one document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Round {
    /// The lower-cased id of the referenced document.
    pub referenced: Vec<u8>,
    /// The change that the documents are mapped for; they may see a newer one.
    change: Change,
    /// The last document mapped; empty: none.
    pub position: Vec<u8>,
    /// The start, if it was not the first document: the scan wraps around and ends here.
    began_behind: Vec<u8>,
    /// True once the scan has wrapped around.
    has_turned: bool,
}

impl Round {
    /// Wraps around to the first document, if the scan did not start there. False: the round is finished.
    pub fn turn(&mut self) -> bool {
        if self.has_turned || self.began_behind.is_empty() {
            return false;
        }
        self.has_turned = true;
        self.position.clear();
        true
    }

    /// True if this round has already mapped the document.
    pub fn is_behind_end(&self, id: &[u8]) -> bool {
        self.has_turned && *id > *self.began_behind
    }
}

/// The unfinished rounds of one source.
///
/// ```text
///  ahead: documents u64 BE, tombstones u64 BE
///  for each: etag u64 BE | flags u8: 1 it has turned, 2 deleted | three times: length u16 BE, bytes: referenced, position, began behind
/// ```
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Rounds {
    /// The etags up to which changes were searched for.
    pub ahead: Progress,
    /// The one that waits longest comes first.
    rounds: VecDeque<Round>,
}

const HAS_TURNED: u8 = 1;
const IS_DELETED: u8 = 2;

impl Rounds {
    /// Decodes the stored form. Invalid bytes give no rounds: the search starts again at the progress of the source.
    pub fn decode(bytes: &[u8], progress: Progress) -> Rounds {
        decode_all(bytes).unwrap_or(Rounds { ahead: progress, rounds: VecDeque::new() })
    }

    /// Encodes the rounds; empty if there are none, because the progress is sufficient then.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.rounds.is_empty() {
            return bytes;
        }
        bytes.extend_from_slice(&self.ahead.items.to_be_bytes());
        bytes.extend_from_slice(&self.ahead.tombstones.to_be_bytes());
        for round in &self.rounds {
            let (etag, deleted) = match round.change {
                Change::Written(etag) => (etag, 0),
                Change::Deleted(etag) => (etag, IS_DELETED),
            };
            bytes.extend_from_slice(&etag.to_be_bytes());
            bytes.push(deleted | if round.has_turned { HAS_TURNED } else { 0 });
            for part in [&round.referenced, &round.position, &round.began_behind] {
                // Ids have at most 512 bytes.
                bytes.extend_from_slice(&(part.len() as u16).to_be_bytes());
                bytes.extend_from_slice(part);
            }
        }
        bytes
    }

    /// The progress of the source: below each change for which referencing documents are still to be mapped.
    pub fn progress(&self) -> Progress {
        let mut progress = self.ahead;
        for round in &self.rounds {
            match round.change {
                Change::Written(etag) => progress.items = progress.items.min(etag - 1),
                Change::Deleted(etag) => progress.tombstones = progress.tombstones.min(etag - 1),
            }
        }
        progress
    }

    pub fn len(&self) -> usize {
        self.rounds.len()
    }

    /// True when the limit of concurrent rounds is reached.
    pub fn are_many(&self) -> bool {
        self.rounds.len() >= ROUNDS_MAX
    }

    /// Removes the round that has waited longest, to continue it.
    pub fn take_first(&mut self) -> Option<Round> {
        self.rounds.pop_front()
    }

    /// Starts a round for a changed document. `None`: it has an unfinished one, which is extended by one more pass.
    ///
    /// * `referenced`: the document's lower-cased id.
    pub fn begin(&mut self, referenced: &[u8], change: Change) -> Option<Round> {
        if let Some(round) = self.rounds.iter_mut().find(|round| *round.referenced == *referenced) {
            (round.change, round.began_behind, round.has_turned) = (change, round.position.clone(), false);
            return None;
        }
        let (position, began_behind) = (Vec::new(), Vec::new());
        Some(Round { referenced: referenced.to_vec(), change, position, began_behind, has_turned: false })
    }

    /// Adds an unfinished round behind all others.
    pub fn keep(&mut self, round: Round) {
        self.rounds.push_back(round);
    }
}

fn decode_all(mut bytes: &[u8]) -> Option<Rounds> {
    let bytes = &mut bytes;
    let ahead = Progress { items: decode_etag(bytes)?, tombstones: decode_etag(bytes)? };
    let mut rounds = VecDeque::new();
    while !bytes.is_empty() {
        rounds.push_back(decode_one(bytes)?);
    }
    Some(Rounds { ahead, rounds })
}

fn decode_etag(bytes: &mut &[u8]) -> Option<Etag> {
    bytes.split_off(..8)?.first_chunk().map(|etag| Etag::from_be_bytes(*etag))
}

fn decode_one(bytes: &mut &[u8]) -> Option<Round> {
    let etag = decode_etag(bytes).filter(|etag| *etag > 0)?;
    let flags = *bytes.split_off_first()?;
    let mut part = || {
        let length = u16::from_be_bytes(*bytes.split_off(..2)?.first_chunk()?);
        bytes.split_off(..usize::from(length)).map(<[u8]>::to_vec)
    };
    let change = if flags & IS_DELETED != 0 { Change::Deleted(etag) } else { Change::Written(etag) };
    let has_turned = flags & HAS_TURNED != 0;
    Some(Round { change, has_turned, referenced: part()?, position: part()?, began_behind: part()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Progress = Progress { items: 3, tombstones: 2 };

    /// Maps up to `count` referencing documents, as an indexer does. Returns the unfinished round.
    fn walk(mut round: Round, asking: &[&[u8]], count: usize, mapped: &mut Vec<Vec<u8>>) -> Option<Round> {
        let end = mapped.len() + count;
        loop {
            let next = asking.iter().find(|id| ***id > *round.position);
            match next {
                None if !round.turn() => return None,
                None => continue,
                Some(id) if round.is_behind_end(id) => return None,
                Some(id) => {
                    mapped.push(id.to_vec());
                    round.position = id.to_vec();
                }
            }
            if mapped.len() == end {
                return Some(round);
            }
        }
    }

    #[test]
    fn all_referencing_documents_see_a_document_that_changes_all_the_time() {
        let asking: [&[u8]; 5] = [b"a", b"b", b"c", b"d", b"e"];
        let (mut rounds, mut mapped) = (Rounds::decode(&[], START), Vec::new());
        let round = rounds.begin(b"x", Change::Written(10)).unwrap();
        rounds.keep(walk(round, &asking, 2, &mut mapped).unwrap());
        for etag in 11..15 {
            rounds.ahead.items = etag;
            assert_eq!(rounds.begin(b"x", Change::Written(etag)), None);
            assert_eq!(rounds.progress(), Progress { items: etag - 1, tombstones: 2 });
            let round = rounds.take_first().unwrap();
            rounds.keep(walk(round, &asking, 2, &mut mapped).unwrap());
            rounds = Rounds::decode(&rounds.encode(), Progress::default());
        }
        assert_eq!(mapped.concat(), b"abcdeabcde", "all are visited");
        mapped.clear();
        let round = rounds.take_first().unwrap();
        assert_eq!(walk(round, &asking, 9, &mut mapped), None);
        assert_eq!(mapped.concat(), b"abc", "those that were not mapped with its last change");
        assert_eq!((rounds.progress(), rounds.encode()), (Progress { items: 14, tombstones: 2 }, vec![]));
    }

    #[test]
    fn rounds_have_their_turn_and_the_progress_stays_before_all_of_them() {
        let asking: [&[u8]; 3] = [b"a", b"b", b"c"];
        let (mut rounds, mut mapped) = (Rounds::decode(&[], START), Vec::new());
        for (referenced, change) in [(b"x", Change::Written(4)), (b"y", Change::Deleted(6))] {
            let round = rounds.begin(referenced, change).unwrap();
            rounds.keep(walk(round, &asking, 1, &mut mapped).unwrap());
        }
        rounds.ahead = Progress { items: 9, tombstones: 8 };
        assert_eq!(rounds.progress(), Progress { items: 3, tombstones: 5 });
        let round = rounds.take_first().unwrap();
        assert_eq!(round.referenced, b"x");
        assert_eq!(walk(round, &asking, 9, &mut mapped), None);
        assert_eq!(rounds.progress(), Progress { items: 9, tombstones: 5 });
        let round = rounds.take_first().unwrap();
        assert_eq!(walk(round, &asking, 9, &mut mapped), None);
        assert_eq!((mapped.concat().as_slice(), rounds.progress()), (&b"aabcbc"[..], rounds.ahead));
    }

    #[test]
    fn invalid_bytes_give_no_rounds() {
        let none = Rounds { ahead: START, rounds: VecDeque::new() };
        for bytes in [&b""[..], b"1", b"12345678", &[0; 31], &[255; 40], b"1234567812345678\x00\x00"] {
            assert_eq!(Rounds::decode(bytes, START), none);
        }
    }
}
