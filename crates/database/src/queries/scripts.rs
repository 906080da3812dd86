//! The results that the script of a query makes of a document.

use query::execute::{ScriptRows, Scripted};

use super::hits::Hit;
use super::run::QueryRun;
use super::timings::{Stage, timed};
use crate::Result;

/// One result of a script.
pub struct ScriptedRow {
    /// Its properties, without braces and metadata.
    pub values: Vec<u8>,
    /// The whole object.
    pub json: Vec<u8>,
}

impl QueryRun<'_> {
    /// The results that the script makes of a hit; `None`: the query has no script.
    ///
    /// # Errors
    ///
    /// [`QueryError::Script`](super::QueryError::Script).
    pub fn script_rows(&self, hit: &Hit<'_, '_>, is_metadata_only: bool) -> Result<Option<Vec<ScriptedRow>>> {
        let Some(script) = self.script.as_ref().filter(|_| !is_metadata_only) else { return Ok(None) };
        let stored = hit.row().stored().unwrap_or(json::Raw::new(b"{}"));
        let behavior = self.plan.script.as_ref().map(|clause| clause.behavior).unwrap_or_default();
        let found = match (&hit.document, hit.entry) {
            (Some(document), Some(_)) if !behavior.asks_documents() => Scripted::Stored(document, stored),
            (Some(document), Some(_)) if behavior.asks_index() => Scripted::Overlaid(document, stored),
            (Some(document), _) => Scripted::Document(document),
            (None, _) => Scripted::Group(stored),
        };
        let run = || script.rows(found, self.documents);
        let ScriptRows { rows, includes, included_values } = timed(self.timings, Stage::Script, run)?;
        self.script_includes.borrow_mut().extend(includes);
        self.script_values.borrow_mut().extend(included_values);
        let score = Some(hit.score.unwrap_or(0.0));
        let whole = rows.into_iter().map(|row| {
            let mut json = Vec::with_capacity(row.values.len() + row.metadata.len() + 200);
            json.push(b'{');
            json.extend_from_slice(&row.values);
            json.extend_from_slice(if row.values.is_empty() { b"" } else { b"," });
            json.extend_from_slice(b"\"@metadata\":{");
            if !row.is_document {
                json.extend_from_slice(b"\"@projection\":true,");
            }
            if !row.metadata.is_empty() {
                json.extend_from_slice(&row.metadata);
                json.push(b',');
            }
            match &hit.document {
                Some(document) => document.write_computed_metadata(&mut json, score),
                None => json.extend_from_slice(b"\"@change-vector\":null"),
            }
            json.extend_from_slice(b"}}");
            ScriptedRow { values: row.values, json }
        });
        Ok(Some(whole.collect()))
    }
}
