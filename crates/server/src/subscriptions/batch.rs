//! A batch as the frames that are sent, and what a trial of a query answers.

use database::documents::{CounterIncludes, Document};
use database::subscriptions::BatchSink;
use json::Writer;

use crate::limits::SUBSCRIPTION_INCLUDES_SIZE_MAX;

/// Included documents: members of an object, by their ids.
#[derive(Default)]
struct Includes(Vec<u8>);

impl Includes {
    fn add(&mut self, document: &Document<'_>) {
        // Its client loads it when it asks for it.
        if self.0.len() + document.size() > SUBSCRIPTION_INCLUDES_SIZE_MAX {
            return;
        }
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        self.0.push(b'"');
        json::escape_into(&mut self.0, document.id());
        self.0.extend_from_slice(b"\":");
        document.write_to(&mut self.0);
    }

    /// Appends the property `Includes`, if there are some.
    fn write(&self, json: &mut Writer<'_>) {
        if !self.0.is_empty() {
            json.name("Includes").raw(&[b"{", &self.0[..], b"}"].concat());
        }
    }
}

/// Appends the properties for included counters.
fn write_counters(json: &mut Writer<'_>, counters: &CounterIncludes) {
    counters.write(json.name("CounterIncludes"));
    counters.write_names(json.name("IncludedCounterNames"));
}

/// The frames of one batch: its documents, what they include, and the end.
#[derive(Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    includes: Includes,
    /// The frame of included counters; empty: none are asked for.
    counters: Vec<u8>,
}

impl BatchSink for Frames {
    fn begin(&mut self) -> &mut Vec<u8> {
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
        self.includes.add(document);
    }

    fn include_counters(&mut self, counters: &CounterIncludes) {
        Writer::new(&mut self.counters)
            .object(|json| write_counters(json.name("Type").string("CounterIncludes"), counters));
    }

    fn size(&self) -> usize {
        self.bytes.len()
    }
}

impl Frames {
    /// The bytes of all frames.
    pub fn finish(mut self) -> Vec<u8> {
        if !self.includes.0.is_empty() {
            Writer::new(&mut self.bytes).object(|json| self.includes.write(json.name("Type").string("Includes")));
        }
        self.bytes.extend_from_slice(&self.counters);
        Writer::new(&mut self.bytes).object(|json| _ = json.name("Type").string("EndOfBatch"));
        self.bytes
    }
}

/// What a trial of a query answers: `{"Results":[document],"Includes":{..}}`. A document for which a script failed has its metadata and
/// `Exception`.
#[derive(Default)]
pub(crate) struct Trial {
    results: Vec<u8>,
    includes: Includes,
    /// Properties behind those of documents.
    counters: Vec<u8>,
}

impl BatchSink for Trial {
    fn begin(&mut self) -> &mut Vec<u8> {
        if !self.results.is_empty() {
            self.results.push(b',');
        }
        &mut self.results
    }

    fn end(&mut self, failure: Option<&str>) {
        if let Some(failure) = failure {
            // Behind the metadata.
            self.results.pop();
            self.results.extend_from_slice(br#","Exception":""#);
            json::escape_into(&mut self.results, failure);
            self.results.extend_from_slice(b"\"}");
        }
    }

    fn include(&mut self, document: &Document<'_>) {
        self.includes.add(document);
    }

    fn include_counters(&mut self, counters: &CounterIncludes) {
        Writer::new(&mut self.counters).object(|json| write_counters(json, counters));
    }

    fn size(&self) -> usize {
        self.results.len()
    }
}

impl Trial {
    /// The answer.
    pub fn finish(self) -> Vec<u8> {
        let mut answer = Vec::with_capacity(self.results.len() + self.includes.0.len() + self.counters.len() + 64);
        Writer::new(&mut answer).object(|json| {
            json.name("Results").raw(&[b"[", &self.results[..], b"]"].concat());
            self.includes.write(json);
            if let [b'{', members @ .., b'}'] = &self.counters[..] {
                json.separate().buffer().extend_from_slice(members);
            }
        });
        answer
    }
}
