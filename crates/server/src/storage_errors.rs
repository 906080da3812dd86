//! What a client may read of an error of the storage: files by their names, without the folders of the machine.

/// A file with the folder that it is in, which is that of its database.
pub(crate) fn last_names(path: &std::path::Path) -> String {
    let names: Vec<_> = path.components().rev().take(2).map(|name| name.as_os_str().to_string_lossy()).collect();
    names.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// The message of an error of the storage: files without their folders. A full disk is the operator's to find, so it keeps
/// its path (RELIABILITY.md, P12).
pub(crate) fn storage_message(error: &storage::Error) -> String {
    use storage::Error as E;
    let name =
        |path: &std::path::Path| path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    match error {
        E::Io { operation, path, source } => format!("{operation} '{}': {source}", name(path)),
        E::Failed { cause, .. } => {
            let cause = storage_message(cause);
            format!("the database refuses writes until it is opened again, because a write failed: {cause}")
        }
        E::Corrupt { path, page, rule } => format!("page {page} of '{}' is damaged: {rule}", name(path)),
        E::CorruptFile { path, rule } => format!("'{}' is damaged: {rule}", name(path)),
        E::Locked { .. } => "the database is in use by another process".to_owned(),
        E::NewerFormat { found, known, .. } => {
            format!("the database has format version {found}; this program knows up to {known}")
        }
        E::Nested { .. } => "a write inside of a write would wait for itself".to_owned(),
        E::DiskFull { .. }
        | E::LongReader { .. }
        | E::KeyTooLong { .. }
        | E::ValueTooLong { .. }
        | E::TooLarge { .. }
        | E::JobPanicked
        | E::OverMemory { .. }
        | E::Closed => error.to_string(),
    }
}

/// True if a transaction that failed this way was rolled back, or never begun. What was on its way when a write failed may
/// be on the device or not.
pub(crate) fn is_rolled_back(error: &storage::Error) -> bool {
    use storage::Error as E;
    match error {
        E::Io { .. } | E::DiskFull { .. } | E::LongReader { .. } | E::TooLarge { .. } | E::OverMemory { .. } => true,
        E::KeyTooLong { .. } | E::ValueTooLong { .. } | E::JobPanicked | E::Nested { .. } => true,
        E::Locked { .. } | E::NewerFormat { .. } => true,
        E::Failed { .. } | E::Closed | E::Corrupt { .. } | E::CorruptFile { .. } => false,
    }
}
