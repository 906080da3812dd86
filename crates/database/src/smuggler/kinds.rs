//! The types of items that a dump may have: one closed table.

/// A type of items, as options and results name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each variant is the name of a type on the wire")]
pub enum ItemType {
    DatabaseRecord,
    Documents,
    RevisionDocuments,
    Tombstones,
    Conflicts,
    Identities,
    Indexes,
    CompareExchange,
    Subscriptions,
    CounterGroups,
    CompareExchangeTombstones,
    TimeSeries,
    ReplicationHubCertificates,
    TimeSeriesDeletedRanges,
    Attachments,
    LegacyAttachments,
    LegacyDocumentDeletions,
    LegacyAttachmentDeletions,
    Unknown,
}

/// What is known of a type.
struct Row {
    item_type: ItemType,
    /// The name in `OperateOnTypes`.
    name: &'static str,
    /// The property of a dump that has such items; empty: they stand elsewhere.
    section: &'static str,
    /// The property of a result; empty: it has none.
    counted_as: &'static str,
    /// Whether options that name no types mean it.
    is_default: bool,
}

const fn row(
    item_type: ItemType,
    name: &'static str,
    section: &'static str,
    counted_as: &'static str,
    is_default: bool,
) -> Row {
    Row { item_type, name, section, counted_as, is_default }
}

/// In the order of the results.
const ROWS: [Row; 19] = {
    use ItemType as T;
    [
        row(T::DatabaseRecord, "DatabaseRecord", "DatabaseRecord", "DatabaseRecord", true),
        row(T::Documents, "Documents", "Docs", "Documents", true),
        row(T::RevisionDocuments, "RevisionDocuments", "RevisionDocuments", "RevisionDocuments", true),
        row(T::Tombstones, "Tombstones", "Tombstones", "Tombstones", false),
        row(T::Conflicts, "Conflicts", "Conflicts", "Conflicts", true),
        row(T::Identities, "Identities", "Identities", "Identities", true),
        row(T::Indexes, "Indexes", "Indexes", "Indexes", true),
        row(T::CompareExchange, "CompareExchange", "CompareExchange", "CompareExchange", true),
        row(T::Subscriptions, "Subscriptions", "Subscriptions", "Subscriptions", true),
        row(T::CounterGroups, "CounterGroups", "CounterGroups", "Counters", true),
        row(
            T::CompareExchangeTombstones,
            "CompareExchangeTombstones",
            "CompareExchangeTombstones",
            "CompareExchangeTombstones",
            false,
        ),
        row(T::TimeSeries, "TimeSeries", "TimeSeries", "TimeSeries", true),
        row(
            T::ReplicationHubCertificates,
            "ReplicationHubCertificates",
            "ReplicationHubCertificates",
            "ReplicationHubCertificates",
            true,
        ),
        row(
            T::TimeSeriesDeletedRanges,
            "TimeSeriesDeletedRanges",
            "TimeSeriesDeletedRanges",
            "TimeSeriesDeletedRanges",
            true,
        ),
        row(T::Attachments, "Attachments", "Attachments", "", true),
        row(T::LegacyAttachments, "LegacyAttachments", "", "", false),
        row(T::LegacyDocumentDeletions, "LegacyDocumentDeletions", "", "", false),
        row(T::LegacyAttachmentDeletions, "LegacyAttachmentDeletions", "", "", false),
        row(T::Unknown, "Unknown", "", "", false),
    ]
};

impl ItemType {
    /// All of them, in the order of the results.
    pub fn all() -> impl Iterator<Item = ItemType> {
        ROWS.iter().map(|row| row.item_type)
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The name in `OperateOnTypes`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The property of a result that counts its items, if one does.
    pub fn counted_as(self) -> Option<&'static str> {
        Some(self.row().counted_as).filter(|name| !name.is_empty())
    }

    /// The type of the items in a section of a dump.
    pub(crate) fn of_section(section: &str) -> ItemType {
        let row = ROWS.iter().find(|row| !row.section.is_empty() && row.section == section);
        row.map_or(ItemType::Unknown, |row| row.item_type)
    }

    /// Whether its items can be stored here.
    pub(crate) fn is_supported(self) -> bool {
        use ItemType as T;
        matches!(
            self,
            T::DatabaseRecord
                | T::Documents
                | T::RevisionDocuments
                | T::Attachments
                | T::Tombstones
                | T::Indexes
                | T::Identities
                | T::CounterGroups
                | T::CompareExchange
                | T::CompareExchangeTombstones
                | T::Subscriptions
        )
    }
}

/// A set of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemTypes(u32);

impl ItemTypes {
    /// No type.
    pub fn none() -> ItemTypes {
        ItemTypes(0)
    }

    /// The types of options that name none.
    pub fn default_types() -> ItemTypes {
        ROWS.iter().filter(|row| row.is_default).fold(ItemTypes::none(), |types, row| types.with(row.item_type))
    }

    /// The types of a list of names, separated by commas; `None` is no type. Names are compared in any case.
    ///
    /// # Errors
    ///
    /// The name that is none.
    pub fn parse(names: &str) -> Result<ItemTypes, String> {
        let mut types = ItemTypes::none();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match ROWS.iter().find(|row| row.name.eq_ignore_ascii_case(name)) {
                Some(row) => types = types.with(row.item_type),
                None if name.eq_ignore_ascii_case("None") => {}
                None => return Err(name.chars().take(80).collect()),
            }
        }
        Ok(types)
    }

    /// The same with one more.
    #[must_use]
    pub fn with(self, item_type: ItemType) -> ItemTypes {
        ItemTypes(self.0 | 1 << item_type as u32)
    }

    /// The same without one.
    #[must_use]
    pub fn without(self, item_type: ItemType) -> ItemTypes {
        ItemTypes(self.0 & !(1 << item_type as u32))
    }

    /// Whether a type is in it.
    pub fn has(self, item_type: ItemType) -> bool {
        self.0 & 1 << item_type as u32 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_its_row() {
        for (place, item_type) in ItemType::all().enumerate() {
            assert_eq!(item_type as usize, place);
        }
        assert_eq!(ItemType::of_section("Docs"), ItemType::Documents);
        assert_eq!(ItemType::of_section("docs"), ItemType::Unknown);
        assert_eq!(ItemType::of_section(""), ItemType::Unknown);
    }

    #[test]
    fn names_are_read_in_any_case() {
        let types = ItemTypes::parse("documents, Indexes").unwrap();
        assert!(types.has(ItemType::Documents) && types.has(ItemType::Indexes) && !types.has(ItemType::Identities));
        assert!(!ItemTypes::parse("None").unwrap().has(ItemType::Documents));
        assert_eq!(ItemTypes::parse("Documents,Blah"), Err("Blah".to_owned()));
        assert!(!ItemTypes::default_types().has(ItemType::Tombstones));
        assert!(!types.without(ItemType::Documents).has(ItemType::Documents));
    }
}
