//! Flags of a document: stored as bits, on the wire as words.

/// Flags of a document. The bits are stored: never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub(crate) u32);

/// Name of each bit, in the order of the wire.
const NAMES: [&str; 16] = [
    "HasAttachments",
    "HasRevisions",
    "HasCounters",
    "HasTimeSeries",
    "Revision",
    "DeleteRevision",
    "FromReplication",
    "FromClusterTransaction",
    "Resolved",
    "Reverted",
    "Conflicted",
    "Artificial",
    "ForceCreated",
    "Archived",
    "FromIndex",
    "FromOldDocumentRevision",
];

impl Flags {
    /// None of them.
    pub const NONE: Flags = Flags(0);
    /// Those of a document that an index wrote: `Artificial` and `FromIndex`.
    pub const OF_INDEX: Flags = Flags(1 << 11 | 1 << 14);

    /// A cluster-wide transaction was the last writer of the document.
    pub const FROM_TRANSACTION: Flags = Flags(1 << 7);
    /// The document has attachments.
    pub const HAS_ATTACHMENTS: Flags = Flags(1);
    /// The document has counters.
    pub const HAS_COUNTERS: Flags = Flags(1 << 2);

    /// Of a counter: it was written again after it was made. Not on the wire.
    pub(crate) const RAISED: Flags = Flags(1 << 16);

    /// The document is archived.
    pub const ARCHIVED: Flags = Flags(1 << 13);

    /// Whether no flag is set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if the document is archived.
    pub fn is_archived(self) -> bool {
        self.0 & Flags::ARCHIVED.0 != 0
    }

    /// True if the document has attachments.
    pub fn has_attachments(self) -> bool {
        self.0 & Flags::HAS_ATTACHMENTS.0 != 0
    }

    /// True if the document has counters.
    pub fn has_counters(self) -> bool {
        self.0 & Flags::HAS_COUNTERS.0 != 0
    }

    /// These, and others.
    #[must_use]
    pub fn with(self, others: Flags) -> Flags {
        Flags(self.0 | others.0)
    }

    /// These without others.
    pub(crate) fn without(self, others: Flags) -> Flags {
        Flags(self.0 & !others.0)
    }

    /// True if an index was the last writer of the document.
    pub fn is_of_index(self) -> bool {
        self.0 & Flags::OF_INDEX.0 == Flags::OF_INDEX.0
    }

    /// The flags after a new write: the ones that persist, and those of the writer.
    pub(crate) fn written_by(self, writer: Flags) -> Flags {
        Flags(self.0 & !(Flags::OF_INDEX.0 | Flags::FROM_TRANSACTION.0) | writer.0)
    }

    /// Appends the names, separated by comma and space.
    pub fn write_to(self, out: &mut Vec<u8>) {
        let mut is_first = true;
        for (_, name) in NAMES.iter().enumerate().filter(|(bit, _)| self.0 & 1 << bit != 0) {
            if !is_first {
                out.extend_from_slice(b", ");
            }
            out.extend_from_slice(name.as_bytes());
            is_first = false;
        }
    }
}

impl std::fmt::Display for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut names = Vec::new();
        self.write_to(&mut names);
        f.write_str(&String::from_utf8_lossy(&names))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_separated() {
        let mut out = Vec::new();
        super::Flags(0b10010).write_to(&mut out);
        assert_eq!(out, b"HasRevisions, Revision");
    }

    #[test]
    fn what_an_index_wrote_is_its_own_until_somebody_else_writes_it() {
        use super::Flags;
        let flags = Flags(0b1).written_by(Flags::OF_INDEX);
        assert!(flags.is_of_index());
        let mut out = Vec::new();
        flags.write_to(&mut out);
        assert_eq!(out, b"HasAttachments, Artificial, FromIndex");
        assert_eq!(flags.written_by(Flags::NONE), Flags(0b1));
    }
}
