//! A batch as the frames that are sent.

use database::documents::Document;
use database::subscriptions::BatchSink;
use json::Writer;

use crate::limits::SUBSCRIPTION_INCLUDES_SIZE_MAX;

/// The frames of one batch: its documents, what they include, and the end.
#[derive(Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    /// The documents are elements of an array, and nothing follows them.
    is_array: bool,
    /// Members of an object: included documents by their ids.
    includes: Vec<u8>,
}

impl BatchSink for Frames {
    fn begin(&mut self) -> &mut Vec<u8> {
        if self.is_array && !self.bytes.is_empty() {
            self.bytes.push(b',');
        }
        self.bytes.extend_from_slice(br#"{"Type":"Data","Data":"#);
        &mut self.bytes
    }

    fn end(&mut self, failure: Option<&str>) {
        if let Some(failure) = failure {
            self.bytes.extend_from_slice(br#","Exception":""#);
            json::escape_into(&mut self.bytes, failure);
            self.bytes.push(b'"');
        }
        self.bytes.push(b'}');
    }

    fn include(&mut self, document: &Document<'_>) {
        // Its client loads it when it asks for it.
        if self.includes.len() + document.size() > SUBSCRIPTION_INCLUDES_SIZE_MAX {
            return;
        }
        if !self.includes.is_empty() {
            self.includes.push(b',');
        }
        self.includes.push(b'"');
        json::escape_into(&mut self.includes, document.id());
        self.includes.extend_from_slice(b"\":");
        document.write_to(&mut self.includes);
    }

    fn size(&self) -> usize {
        self.bytes.len()
    }
}

impl Frames {
    /// Those of an array.
    pub fn of_array() -> Frames {
        Frames { is_array: true, ..Frames::default() }
    }

    /// The bytes of all frames.
    pub fn finish(mut self) -> Vec<u8> {
        if !self.includes.is_empty() {
            self.bytes.extend_from_slice(br#"{"Type":"Includes","Includes":{"#);
            self.bytes.extend_from_slice(&self.includes);
            self.bytes.extend_from_slice(b"}}");
        }
        Writer::new(&mut self.bytes).object(|json| _ = json.name("Type").string("EndOfBatch"));
        self.bytes
    }

    /// The documents alone: the elements of an array.
    pub fn into_documents(self) -> Vec<u8> {
        self.bytes
    }
}
