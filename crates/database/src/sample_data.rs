//! Loads sample data into an empty database.

use std::sync::Arc;

use crate::smuggler::{Imported, ItemTypes, SmugglerOptions};
use crate::{Database, Error, Result};

/// Bytes of a dump that an import is given at once.
const PIECE_SIZE: usize = 64 << 10;

impl Database {
    /// Imports a dump, which is not compressed, into a database that has no documents.
    ///
    /// * `types`: what of the dump is stored.
    ///
    /// # Errors
    ///
    /// [`Error::NotEmpty`], a bad dump, or storage fails.
    pub fn load_sample_data(self: &Arc<Self>, dump: &[u8], types: ItemTypes) -> Result<Imported> {
        let count = self.read().statistics()?.documents().count;
        if count > 0 {
            return Err(Error::NotEmpty { name: self.name().to_owned(), count });
        }
        let mut import = self.import(None, SmugglerOptions { types, ..SmugglerOptions::default() }, &[])?;
        let mut feed = || {
            for piece in dump.chunks(PIECE_SIZE) {
                import.feed(piece)?;
            }
            import.finish()
        };
        match feed() {
            Ok(imported) => {
                import.end(imported.result.clone());
                Ok(imported)
            }
            Err(error) => {
                import.fail(error.clone());
                Err(error)
            }
        }
    }
}
