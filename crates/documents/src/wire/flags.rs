//! Flags of a document: stored as bits, on the wire as words.

/// Flags of a document. The bits are stored: never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub(crate) u32);

/// Name of each bit.
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

/// The bits in the order of the wire, which is that of RavenDB.
const ORDER: [usize; 16] = [11, 1, 5, 15, 6, 4, 0, 8, 10, 2, 7, 9, 3, 12, 14, 13];

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

    /// The document has, or had, revisions.
    pub const HAS_REVISIONS: Flags = Flags(1 << 1);
    /// Of a revision.
    pub const REVISION: Flags = Flags(1 << 4);
    /// Of a revision that says that its document was deleted.
    pub const DELETE_REVISION: Flags = Flags(1 << 5);
    /// The document was brought back to a former state.
    pub const REVERTED: Flags = Flags(1 << 9);
    /// No client wrote the document.
    pub const ARTIFICIAL: Flags = Flags(1 << 11);
    /// Of a revision that was asked for.
    pub const FORCE_CREATED: Flags = Flags(1 << 12);
    /// Of a revision of the state that a document had when its collection got revisions.
    pub const FROM_OLD_DOCUMENT: Flags = Flags(1 << 15);

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

    /// True if all of some are set.
    pub fn has(self, some: Flags) -> bool {
        self.0 & some.0 == some.0
    }

    /// Those with these names, separated by commas. Other names are passed over.
    pub fn from_names(names: &str) -> Flags {
        let bit = |name: &str| NAMES.iter().position(|known| known.eq_ignore_ascii_case(name.trim()));
        Flags(names.split(',').filter_map(bit).fold(0, |bits, bit| bits | 1 << bit))
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
        Flags(self.0 & !(Flags::OF_INDEX.0 | Flags::FROM_TRANSACTION.0 | Flags::REVERTED.0) | writer.0)
    }

    /// Appends the names, separated by comma and space.
    pub fn write_to(self, out: &mut Vec<u8>) {
        let mut is_first = true;
        for name in ORDER.iter().filter(|bit| self.0 & 1 << **bit != 0).map(|bit| NAMES[*bit]) {
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
    fn names_are_read_back() {
        let flags = super::Flags(0b1001_0000_0001_0110);
        assert_eq!(flags.to_string(), "HasRevisions, FromOldDocumentRevision, Revision, HasCounters, ForceCreated");
        assert_eq!(super::Flags::from_names(&flags.to_string()), flags);
        assert_eq!(super::Flags::from_names("Zork, hasrevisions"), super::Flags::HAS_REVISIONS);
    }

    #[test]
    fn what_an_index_wrote_is_its_own_until_somebody_else_writes_it() {
        use super::Flags;
        let flags = Flags(0b1).written_by(Flags::OF_INDEX);
        assert!(flags.is_of_index());
        let mut out = Vec::new();
        flags.write_to(&mut out);
        assert_eq!(out, b"Artificial, HasAttachments, FromIndex");
        assert_eq!(flags.written_by(Flags::NONE), Flags(0b1));
    }
}
