//! Where an index goes on that maps again what asked for documents that changed, if a batch is full before all were.
//!
//! Those that asked for a document are in the order of their ids. If it changes again meanwhile all of them are to be mapped once more; not
//! from the first again, or the last would never be, but around: from where the round before had come to, behind the last from
//! the first on, up to there. Documents have their rounds in turn, and others that changed are looked for beside them: none
//! waits for one that changes all the time. What the index says of its progress stays before all of which a round is not over.

use crate::index::Progress;
use documents::Etag;
use std::collections::VecDeque;

/// Rounds of one source that are not over. While they are so many, no others are begun.
const ROUNDS_MAX: usize = 64;

/// What happened to a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Written(Etag),
    Deleted(Etag),
}

/// Through those who asked for one document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Round {
    /// The lower-cased id of the document.
    pub referenced: Vec<u8>,
    /// With what it is mapped, or with something newer.
    change: Change,
    /// The last that was mapped; empty: none.
    pub position: Vec<u8>,
    /// Where it began, if not with the first: it goes on behind the last, and ends here.
    began_behind: Vec<u8>,
    /// Whether it went on behind the last.
    has_turned: bool,
}

impl Round {
    /// Goes on with the first, if it did not begin there. False: it is over.
    pub fn turn(&mut self) -> bool {
        if self.has_turned || self.began_behind.is_empty() {
            return false;
        }
        self.has_turned = true;
        self.position.clear();
        true
    }

    /// Whether a document was mapped in this round already.
    pub fn is_behind_end(&self, id: &[u8]) -> bool {
        self.has_turned && *id > *self.began_behind
    }
}

/// Those that are not over, of one source.
///
/// ```text
///  ahead: documents u64 BE, tombstones u64 BE
///  for each: etag u64 BE | flags u8: 1 it has turned, 2 deleted | three times: length u16 BE, bytes: asked, position, began behind
/// ```
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Rounds {
    /// Up to here, changes were looked for.
    pub ahead: Progress,
    /// The one that waits longest is the first.
    rounds: VecDeque<Round>,
}

const HAS_TURNED: u8 = 1;
const IS_DELETED: u8 = 2;

impl Rounds {
    /// What was kept. None, if it is nothing of the kind: they begin anew behind the progress of the source.
    pub fn decode(bytes: &[u8], progress: Progress) -> Rounds {
        decode_all(bytes).unwrap_or(Rounds { ahead: progress, rounds: VecDeque::new() })
    }

    /// Empty, if none is left: then the progress says all.
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

    /// How far the index is with the source: before each change that some who asked were not mapped with.
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

    /// Whether no other may be begun.
    pub fn are_many(&self) -> bool {
        self.rounds.len() >= ROUNDS_MAX
    }

    /// The one that waits longest, to be gone on with.
    pub fn take_first(&mut self) -> Option<Round> {
        self.rounds.pop_front()
    }

    /// A round for a document that changed. `None`: it has one, which has its turn later, and goes through all once more.
    ///
    /// * `referenced`: its lower-cased id.
    pub fn begin(&mut self, referenced: &[u8], change: Change) -> Option<Round> {
        if let Some(round) = self.rounds.iter_mut().find(|round| *round.referenced == *referenced) {
            (round.change, round.began_behind, round.has_turned) = (change, round.position.clone(), false);
            return None;
        }
        let (position, began_behind) = (Vec::new(), Vec::new());
        Some(Round { referenced: referenced.to_vec(), change, position, began_behind, has_turned: false })
    }

    /// Keeps a round that is not over, behind all others.
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

    /// Maps up to `count` of those who asked, as an indexer does. Gives what is left of the round.
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
    fn a_document_that_changes_all_the_time_is_mapped_for_all_who_asked() {
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
        assert_eq!(mapped.concat(), b"abcdeabcde", "nobody is left out");
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
    fn what_is_nothing_of_the_kind_begins_anew() {
        let none = Rounds { ahead: START, rounds: VecDeque::new() };
        for bytes in [&b""[..], b"1", b"12345678", &[0; 31], &[255; 40], b"1234567812345678\x00\x00"] {
            assert_eq!(Rounds::decode(bytes, START), none);
        }
    }
}
