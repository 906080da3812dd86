//! `debug=entries`: what an index has of each result, in place of it.

use query::index::{FieldNumber, IndexEntry, StoredTerm};

use super::answer::{Answer, elapsed_ms};
use crate::error::{Error, Result};
use crate::handlers::indexes::NULL_TERM;
use crate::messages::answers::WholeOut;

impl Answer<'_> {
    /// A result for each entry: `{field: term, or array of terms, ..., "id()"}`, the fields by name. Numbers are their texts.
    pub(super) fn write_entries(&self, out: &mut impl WholeOut) -> Result<()> {
        let running = self.running;
        let Some(fields) = running.index_fields()? else {
            let message = "A query over a collection asks no index, so that there are no entries".to_owned();
            return Err(Error::InvalidOperation(message));
        };
        let total = running.counts()?.total;
        out.begin(self.head(), running.documents())?;
        let mut before = Vec::new();
        json::Writer::new(&mut before).object(|json| {
            json.name("TotalResults").signed(total).name("SkippedResults").unsigned(0);
            json.name("DurationInMs").unsigned(elapsed_ms(self.start).max(1));
            json.name("IndexName").string(&running.index_name());
        });
        out.buffer().extend_from_slice(before.strip_suffix(b"}").unwrap_or(&before));
        out.buffer().extend_from_slice(b",\"Results\":[");
        let has_documents = running.index().is_none_or(|index| index.definition().gives_documents());
        let mut is_begun = false;
        running.each::<Error>(&mut |hit| {
            let Some(entry) = hit.entry else { return Ok(()) };
            if is_begun {
                out.buffer().push(b',');
            }
            is_begun = true;
            write_entry(&entry, &fields, has_documents, out.buffer())?;
            out.part_done()
        })?;
        out.buffer().extend_from_slice(b"],\"Includes\":{},");
        self.end(out);
        Ok(())
    }
}

/// Writes what an index has of a result.
pub(crate) fn write_entry(
    entry: &IndexEntry<'_>,
    fields: &[(String, FieldNumber)],
    has_id: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut values = Vec::new();
    for (name, number) in fields {
        values.push((name, entry.values(*number)?));
    }
    json::Writer::new(out).object(|json| {
        for (name, values) in &values {
            let texts: Vec<&str> = values.iter().filter_map(text_of).collect();
            match texts.as_slice() {
                [] => {}
                [text] => _ = json.name(name).string(text),
                texts => _ = json.name(name).array(|json| texts.iter().for_each(|text| _ = json.string(text))),
            }
        }
        if has_id {
            json.name("id()").string(entry.document());
        }
    });
    Ok(())
}

/// A number is its text besides.
fn text_of(term: &StoredTerm) -> Option<&str> {
    match term {
        StoredTerm::Null => Some(NULL_TERM),
        StoredTerm::Text(text) | StoredTerm::Cut(text) => Some(text),
        StoredTerm::Number(_) => None,
    }
}
