//! The bytes of request bodies and of whole answers that the server holds, under one bound.
//!
//! What is small is not counted: [`UNCOUNTED_SIZE`]. What is larger asks for its bytes before it grows, and is refused when
//! all bodies together would exceed `Limits.BodiesInMb`; who comes a little later finds room again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::limits::UNCOUNTED_SIZE;

/// What is held, and what may be.
#[derive(Debug)]
pub(crate) struct Memory {
    held: AtomicUsize,
    held_max: usize,
}

/// A part of the memory, given back when dropped.
#[derive(Debug)]
pub(crate) struct Room {
    memory: Arc<Memory>,
    size: usize,
}

/// Bytes and the room that they take.
struct Held {
    bytes: Vec<u8>,
    _room: Room,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Memory {
    pub(crate) fn new(held_max: usize) -> Arc<Memory> {
        Arc::new(Memory { held: AtomicUsize::new(0), held_max })
    }

    /// Room for nothing yet.
    pub(crate) fn room(self: &Arc<Self>) -> Room {
        Room { memory: self.clone(), size: 0 }
    }

    /// Bytes that are there already, counted as long as anybody has them.
    pub(crate) fn hold(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        if bytes.len() <= UNCOUNTED_SIZE {
            return bytes;
        }
        let mut room = self.room();
        room.size = bytes.len();
        self.held.fetch_add(room.size, Relaxed);
        Bytes::from_owner(Counted { bytes, _room: room })
    }
}

/// As [`Held`], around what is shared.
struct Counted {
    bytes: Bytes,
    _room: Room,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Room {
    /// Grows to `size` bytes in all, unless it has them.
    ///
    /// # Errors
    ///
    /// [`Error::NoRoom`] if all bodies together would exceed the bound.
    pub(crate) fn grow(&mut self, size: usize) -> Result<()> {
        if size <= UNCOUNTED_SIZE || size <= self.size {
            return Ok(());
        }
        let Memory { held, held_max } = &*self.memory;
        let more = size - self.size;
        if held.fetch_add(more, Relaxed).saturating_add(more) > *held_max {
            held.fetch_sub(more, Relaxed);
            return Err(Error::NoRoom { limit: (held_max >> 20) as u64 });
        }
        self.size = size;
        Ok(())
    }

    /// Gives all of it back.
    pub(crate) fn clear(&mut self) {
        self.memory.held.fetch_sub(self.size, Relaxed);
        self.size = 0;
    }

    /// `bytes`, for which this is the room.
    pub(crate) fn fill(self, bytes: Vec<u8>) -> Bytes {
        if self.size == 0 { Bytes::from(bytes) } else { Bytes::from_owner(Held { bytes, _room: self }) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_stay_below_the_bound_and_give_back_what_they_had() {
        let memory = Memory::new(1 << 20);
        let mut first = memory.room();
        first.grow(700 << 10).unwrap();
        first.grow(UNCOUNTED_SIZE).unwrap();
        let mut second = memory.room();
        second.grow(UNCOUNTED_SIZE).unwrap();
        let refused = second.grow(400 << 10).unwrap_err().to_string();
        assert!(refused.contains("Limits.BodiesInMb = 1"), "{refused}");
        let bytes = first.fill(vec![0; 700 << 10]);
        let slice = bytes.slice(..10);
        drop(bytes);
        second.grow(400 << 10).unwrap_err();
        drop(slice);
        second.grow(400 << 10).unwrap();
        // What is there already is counted, and never refused.
        let held = memory.hold(Bytes::from(vec![0; 2 << 20]));
        memory.room().grow(100 << 10).unwrap_err();
        drop((held, second));
        memory.room().grow(1 << 20).unwrap();
        assert_eq!(memory.held.load(Relaxed), 0);
    }
}
