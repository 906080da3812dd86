//! Numbers that mean something: pages, transactions, locations.

/// The number of a page: its place in the data file, in pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PageNumber(pub u64);

impl std::fmt::Display for PageNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of a write transaction. Rises by exactly 1; 0 is the state of a new environment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TransactionId(pub u64);

impl std::fmt::Display for TransactionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A state of an environment: a transaction, and the hash of its record in the journal. Two environments that have the same id and the
/// same position have the same content, also where their histories part later.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Position {
    /// The last transaction of the state.
    pub transaction: TransactionId,
    /// Of its record, which covers those of all records before; 0 where there was none.
    pub hash: u128,
}

/// What a reader announces: a transaction id and, below it, a count of flushes that published nothing new.
///
/// The count lets memory be reclaimed that readers of the *same* transaction may still look at: a reader that
/// announced an older word may hold a pointer into it, one that announced a newer word cannot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SnapshotWord(pub u64);

impl SnapshotWord {
    const EPOCH_BITS: u32 = 16;

    pub fn of(transaction: TransactionId) -> Self {
        SnapshotWord(transaction.0 << Self::EPOCH_BITS)
    }
    pub fn transaction(self) -> TransactionId {
        TransactionId(self.0 >> Self::EPOCH_BITS)
    }
    /// The next word of the same transaction, or `None` after 65,535 flushes without a commit.
    pub fn next_epoch(self) -> Option<Self> {
        let next = SnapshotWord(self.0 + 1);
        (next.transaction() == self.transaction()).then_some(next)
    }
}
