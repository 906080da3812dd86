//! What documents have beside their JSON, and lines of an export have not: counters and attachments.

use json::Value;
use memchr::memmem;

use crate::counted::{counted, is_or_are};
use crate::output::complain;

/// The properties of `@metadata` that list them, with what one of them is called.
const LISTS: [(&str, &str); 2] = [("@counters", "counter"), ("@attachments", "attachment")];

/// How many there are.
#[derive(Default)]
pub(crate) struct LeftOut([u64; 2]);

impl LeftOut {
    /// Counts those of a document.
    ///
    /// # Errors
    ///
    /// The document is not valid JSON.
    pub(crate) fn add(&mut self, document: &[u8]) -> anyhow::Result<()> {
        // Most documents have none, and need not be read.
        if !LISTS.iter().any(|(list, _)| memmem::find(document, list.as_bytes()).is_some()) {
            return Ok(());
        }
        let document = Value::parse(document)?;
        let Some(metadata) = document.get("@metadata") else { return Ok(()) };
        for ((list, _), count) in LISTS.iter().zip(&mut self.0) {
            if let Some(Value::Array(listed)) = metadata.get(list) {
                *count += listed.len() as u64;
            }
        }
        Ok(())
    }

    /// Says what is missing, if something is.
    pub(crate) fn complain(&self) {
        if let Some(text) = self.text() {
            complain(format_args!("{text}"));
        }
    }

    fn text(&self) -> Option<String> {
        let found = LISTS.iter().zip(self.0).filter(|(_, count)| *count > 0);
        let counts: Vec<String> = found.map(|((_, noun), count)| counted(count, noun)).collect();
        let total = self.0.iter().sum();
        let text = || {
            format!(
                "{} of the documents {} not in the export; export to a .ravendbdump to have them",
                counts.join(" and "),
                is_or_are(total)
            )
        };
        (!counts.is_empty()).then(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_attachments_are_counted_and_other_properties_are_not() {
        let mut left_out = LeftOut::default();
        left_out.add(br#"{"@counters":["no list of the server"],"@metadata":{"@id":"a/1"}}"#).unwrap();
        left_out.add(br#"{"Text":"@attachments"}"#).unwrap();
        assert_eq!(left_out.text(), None);
        left_out.add(br#"{"@metadata":{"@counters":["likes"]}}"#).unwrap();
        assert_eq!(
            left_out.text().unwrap(),
            "1 counter of the documents is not in the export; export to a .ravendbdump to have them"
        );
        left_out.add(br#"{"@metadata":{"@attachments":[{"Name":"a"},{"Name":"b"}],"@counters":["x"]}}"#).unwrap();
        assert_eq!(
            left_out.text().unwrap(),
            "2 counters and 2 attachments of the documents are not in the export; export to a .ravendbdump to have them"
        );
    }
}
