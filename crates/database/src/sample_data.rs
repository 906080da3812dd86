//! The Northwind sample: 1,059 documents with the ids that clients' examples and tests expect, such as `orders/1-A`.

use std::io::BufReader;

use crate::{Database, Error, ImportOptions, ImportReport, Result};

/// One document per line with its id in `@metadata.@id`, compressed by zstd. Made by `data-sets/northwind.py`.
const NORTHWIND: &[u8] = include_bytes!("../../../data-sets/northwind.jsonl.zst");

impl Database {
    /// Stores the Northwind sample in a database that has no documents.
    ///
    /// # Errors
    ///
    /// [`Error::NotEmpty`], or storage fails.
    pub fn load_sample_data(&self) -> Result<ImportReport> {
        let count = self.read().statistics()?.document_count;
        if count > 0 {
            return Err(Error::NotEmpty { name: self.name().to_owned(), count });
        }
        let broken = |error| Error::io("decompress", "northwind.jsonl.zst".as_ref(), error);
        let mut lines = BufReader::new(zstd::Decoder::new(NORTHWIND).map_err(broken)?);
        let mut report = self.import_json_lines(&mut lines, &ImportOptions::default(), &mut |_| ())?;
        match report.errors.pop() {
            None => Ok(report),
            Some(bad) => Err(bad.reason),
        }
    }
}
