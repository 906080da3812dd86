//! What a document is or has besides its body, as bits that are stored and words on the wire.

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

    /// Whether no flag is set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
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

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_separated() {
        let mut out = Vec::new();
        super::Flags(0b10010).write_to(&mut out);
        assert_eq!(out, b"HasRevisions, Revision");
    }
}
