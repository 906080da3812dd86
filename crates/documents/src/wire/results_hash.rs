//! The `ETag` of an answer with several documents: 256 bits over ids and change vectors, as `Hash-<base64>`.
//!
//! Two XXH3 of 128 bits with different seeds. It tells states of one database apart; it is no defence against forgery.

use xxhash_rust::xxh3::Xxh3;

use super::base64;
use crate::{CompareExchangeValue, Document, Etag};

/// Collects what an answer holds.
pub struct ResultsHash {
    halves: [Xxh3; 2],
    text: Vec<u8>,
}

impl Default for ResultsHash {
    fn default() -> Self {
        ResultsHash { halves: [Xxh3::with_seed(1), Xxh3::with_seed(2)], text: Vec::new() }
    }
}

impl ResultsHash {
    /// Over nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one document.
    pub fn add(&mut self, document: &Document<'_>) {
        self.text.clear();
        document.write_change_vector(&mut self.text);
        self.text.push(0);
        self.text.extend_from_slice(document.id().as_bytes());
        self.text.push(1);
        self.halves.iter_mut().for_each(|half| half.update(&self.text));
    }

    /// Adds a compare-exchange value, or that there is none with its key.
    pub fn add_value(&mut self, key: &str, value: Option<&CompareExchangeValue<'_>>) {
        self.text.clear();
        self.text.extend_from_slice(&value.map_or(0, CompareExchangeValue::index).to_be_bytes());
        self.text.extend_from_slice(key.as_bytes());
        self.text.push(3);
        self.halves.iter_mut().for_each(|half| half.update(&self.text));
    }

    /// Adds that a document is missing.
    pub fn add_missing(&mut self) {
        self.halves.iter_mut().for_each(|half| half.update(&[2]));
    }

    /// Adds a counter of a document; `None`: there is none of this name.
    pub fn add_counter(&mut self, document_id: &str, name: &str, etag: Option<Etag>) {
        self.text.clear();
        self.text.push(3);
        self.text.extend_from_slice(document_id.as_bytes());
        self.text.push(0);
        self.text.extend_from_slice(name.as_bytes());
        self.text.push(0);
        self.text.extend_from_slice(&etag.unwrap_or_default().to_be_bytes());
        self.halves.iter_mut().for_each(|half| half.update(&self.text));
    }

    /// The text, without quotes.
    pub fn finish(&self) -> String {
        let bytes: Vec<u8> = self.halves.iter().flat_map(|half| half.digest128().to_be_bytes()).collect();
        format!("Hash-{}", base64::encode(&bytes))
    }
}
