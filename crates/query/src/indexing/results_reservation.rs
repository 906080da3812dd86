//! The memory of the results that documents give: entries, or values of groups.

use super::limits::DOCUMENT_RESULTS_SIZE_MAX;
use crate::index::{Error, Result};
use storage::memory::MemoryReservation;

/// Reserves memory for results while documents are mapped, and bounds the results of one document.
pub(super) struct ResultsReservation {
    reservation: Option<MemoryReservation>,
    /// Bytes of all results since [`Self::clear`].
    size: usize,
    /// Those of the document that is being mapped.
    document_size: usize,
}

impl ResultsReservation {
    pub fn new() -> ResultsReservation {
        ResultsReservation { reservation: None, size: 0, document_size: 0 }
    }

    /// The results of a further document follow.
    pub fn begin_document(&mut self) {
        self.document_size = 0;
    }

    /// Adds one result.
    ///
    /// * `size`: its bytes; `reservation`: an empty reservation in the memory that bounds indexing.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`]: the document gives too much. [`storage::Error::OverMemory`]: others hold the memory now.
    pub fn add(&mut self, size: usize, reservation: impl FnOnce() -> MemoryReservation) -> Result<()> {
        self.size += size;
        self.document_size += size;
        if self.document_size > DOCUMENT_RESULTS_SIZE_MAX {
            let size = self.document_size;
            return Err(Error::TooLarge { what: RESULTS_OF_A_DOCUMENT, size, max: DOCUMENT_RESULTS_SIZE_MAX });
        }
        // They are copied into the batch.
        Ok(self.reservation.get_or_insert_with(reservation).grow(2 * self.size)?)
    }

    /// All results are dropped.
    pub fn clear(&mut self) {
        *self = ResultsReservation::new();
    }
}

/// The subject of [`Error::TooLarge`]: "... of 70000000 bytes is over the limit of .. bytes".
const RESULTS_OF_A_DOCUMENT: &str = "the results of one document (DOCUMENT_RESULTS_SIZE_MAX)";

#[cfg(test)]
mod tests {
    use super::*;
    use storage::memory::Memory;

    #[test]
    fn one_document_is_bounded_and_all_of_them_are_reserved() {
        let memory = Memory::new("Limits.Test", DOCUMENT_RESULTS_SIZE_MAX);
        let mut results = ResultsReservation::new();
        for _ in 0..2 {
            results.begin_document();
            results.add(DOCUMENT_RESULTS_SIZE_MAX / 8, || memory.reservation()).unwrap();
        }
        assert!(memory.held() >= DOCUMENT_RESULTS_SIZE_MAX / 2);
        let refused = results.add(DOCUMENT_RESULTS_SIZE_MAX / 2, || memory.reservation()).unwrap_err();
        assert!(refused.passes(), "{refused}");
        results.clear();
        assert_eq!(memory.held(), 0);
        let refused = results.add(DOCUMENT_RESULTS_SIZE_MAX + 1, || memory.reservation()).unwrap_err();
        assert!(!refused.passes() && refused.to_string().contains("DOCUMENT_RESULTS_SIZE_MAX"), "{refused}");
    }
}
