//! Loads sample data into an empty database.

use std::sync::Arc;

use crate::smuggler::{Imported, SmugglerOptions};
use crate::{Database, Error, Result};

impl Database {
    /// Stores documents, one per line with `@metadata.@id`, in a database that has none: they are imported as a dump.
    ///
    /// # Errors
    ///
    /// [`Error::NotEmpty`], a bad line, or storage fails.
    pub fn load_sample_data(self: &Arc<Self>, lines: &[u8]) -> Result<Imported> {
        let count = self.read().statistics()?.documents().count;
        if count > 0 {
            return Err(Error::NotEmpty { name: self.name().to_owned(), count });
        }
        let mut import = self.import(None, SmugglerOptions::default(), &[])?;
        let mut feed = || {
            import.feed(b"{\"Docs\":[")?;
            let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            for (number, line) in lines.enumerate() {
                if number > 0 {
                    import.feed(b",")?;
                }
                import.feed(line)?;
            }
            import.feed(b"]}")?;
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
