//! Loads sample data into an empty database.

use crate::{Database, Error, ImportOptions, ImportReport, Result};

impl Database {
    /// Stores documents, one per line with `@metadata.@id`, in a database that has none.
    ///
    /// # Errors
    ///
    /// [`Error::NotEmpty`], a bad line, or storage fails.
    pub fn load_sample_data(&self, mut lines: &[u8]) -> Result<ImportReport> {
        let count = self.read().statistics()?.documents().count;
        if count > 0 {
            return Err(Error::NotEmpty { name: self.name().to_owned(), count });
        }
        let mut report = self.import_json_lines(&mut lines, &ImportOptions::default(), &mut |_| ())?;
        match report.errors.pop() {
            None => Ok(report),
            Some(bad) => Err(bad.reason),
        }
    }
}
