//! Bytes of request bodies and of whole answers, with their memory reservations ([`storage::memory`]).
//!
//! A part of such bytes holds the reservation of all of them, which is returned when the last part is dropped.

use std::sync::Arc;

use bytes::Bytes;

pub(crate) use storage::memory::{Memory, MemoryReservation};

/// Bytes and their reservation.
struct ReservedBytes<B> {
    bytes: B,
    _reservation: MemoryReservation,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for ReservedBytes<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

/// Makes `bytes` shared; `reservation` is the one that was reserved for them.
pub(crate) fn fill(reservation: MemoryReservation, bytes: Vec<u8>) -> Bytes {
    if reservation.size() == 0 {
        Bytes::from(bytes)
    } else {
        Bytes::from_owner(ReservedBytes { bytes, _reservation: reservation })
    }
}

/// Counts bytes that exist already for as long as any part of them is used.
pub(crate) fn hold(memory: &Arc<Memory>, bytes: Bytes) -> Bytes {
    let reservation = memory.reservation_of(bytes.len());
    if reservation.size() == 0 { bytes } else { Bytes::from_owner(ReservedBytes { bytes, _reservation: reservation }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_the_last_part_returns_the_reservation() {
        let memory = Memory::new("Limits.Test", 1 << 20);
        let mut reservation = memory.reservation();
        reservation.grow(700 << 10).unwrap();
        let bytes = fill(reservation, vec![0; 700 << 10]);
        let part = bytes.slice(..10);
        drop(bytes);
        memory.reservation().grow(400 << 10).unwrap_err();
        drop(part);
        // Bytes that exist already are counted, and never refused.
        let held = hold(&memory, Bytes::from(vec![0; 2 << 20]));
        memory.reservation().grow(100 << 10).unwrap_err();
        drop(held);
        assert_eq!(memory.held(), 0);
    }
}
