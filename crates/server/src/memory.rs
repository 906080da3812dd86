//! Bytes of request bodies and of whole answers, with the room that they take ([`storage::memory`]).
//!
//! A part of such bytes keeps the room of all of them: it is returned when the last part is dropped.

use std::sync::Arc;

use bytes::Bytes;

pub(crate) use storage::memory::{Memory, Room};

/// Bytes and the room that they take.
struct Held<B> {
    bytes: B,
    _room: Room,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Held<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

/// Makes `bytes` shared; `room` is the one that was reserved for them.
pub(crate) fn fill(room: Room, bytes: Vec<u8>) -> Bytes {
    if room.size() == 0 { Bytes::from(bytes) } else { Bytes::from_owner(Held { bytes, _room: room }) }
}

/// Counts bytes that exist already for as long as any part of them is used.
pub(crate) fn hold(memory: &Arc<Memory>, bytes: Bytes) -> Bytes {
    let room = memory.room_of(bytes.len());
    if room.size() == 0 { bytes } else { Bytes::from_owner(Held { bytes, _room: room }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_returns_the_room() {
        let memory = Memory::new("Limits.Test", 1 << 20);
        let mut room = memory.room();
        room.grow(700 << 10).unwrap();
        let bytes = fill(room, vec![0; 700 << 10]);
        let part = bytes.slice(..10);
        drop(bytes);
        memory.room().grow(400 << 10).unwrap_err();
        drop(part);
        // Bytes that exist already are counted, and never refused.
        let held = hold(&memory, Bytes::from(vec![0; 2 << 20]));
        memory.room().grow(100 << 10).unwrap_err();
        drop(held);
        assert_eq!(memory.held(), 0);
    }
}
