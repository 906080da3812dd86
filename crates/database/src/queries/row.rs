//! A result as JSON: the document, or what a projection makes of it, with the metadata.

use query::execute::Distance;
use query::plan::Projection;

use super::hits::Hit;
use super::run::QueryRun;
use super::timings::{Stage, timed};
use crate::Result;

/// The end of each result.
const METADATA_END: &[u8] = b"}}";

impl QueryRun<'_> {
    /// Appends a result as a JSON object, `@metadata` last.
    ///
    /// # Errors
    ///
    /// [`QueryError::MissingValue`](super::QueryError::MissingValue) if the projection requires a value that is not there.
    pub fn write_row(&self, hit: &Hit<'_, '_>, is_metadata_only: bool, out: &mut Vec<u8>) -> Result<()> {
        let stage = if self.plan.projection.is_some() { Stage::Project } else { Stage::Write };
        timed(self.timings, stage, || self.write_whole(hit, is_metadata_only, out))
    }

    fn write_whole(&self, hit: &Hit<'_, '_>, is_metadata_only: bool, out: &mut Vec<u8>) -> Result<()> {
        self.write_result(hit, is_metadata_only, out)?;
        if let Some(distance) = hit.distance {
            // Into the metadata, which is the last property.
            let end = out.len().saturating_sub(METADATA_END.len());
            out.truncate(end);
            write_distance(distance, out);
            out.extend_from_slice(METADATA_END);
        }
        Ok(())
    }

    /// Appends a result, the metadata last.
    fn write_result(&self, hit: &Hit<'_, '_>, is_metadata_only: bool, out: &mut Vec<u8>) -> Result<()> {
        let score = hit.score;
        let projection = self.plan.projection.as_ref().filter(|_| !is_metadata_only);
        let (projection, document) = match (projection, &hit.document) {
            (None, Some(document)) => {
                document.write(out, is_metadata_only, score);
                return Ok(());
            }
            (projection, document) => (projection, document),
        };
        out.push(b'{');
        if !is_metadata_only {
            self.write_values(projection, hit, out)?;
        }
        out.extend_from_slice(if out.ends_with(b"{") { b"" } else { b"," });
        out.extend_from_slice(b"\"@metadata\":{");
        if projection.is_some() {
            out.extend_from_slice(b"\"@projection\":true,");
        }
        match (document, hit.entry) {
            (Some(document), _) => document.write_computed_metadata(out, Some(score.unwrap_or(0.0))),
            (None, entry) => {
                out.extend_from_slice(b"\"@change-vector\":null");
                // What is grouped is untracked by clients, because it has no id.
                if let Some(entry) = entry.filter(|_| !hit.is_grouped) {
                    out.extend_from_slice(b",\"@id\":\"");
                    json::escape_into(out, entry.document());
                    out.push(b'"');
                }
            }
        }
        out.extend_from_slice(b"}}");
        Ok(())
    }

    /// Appends the properties of a result, without braces and without metadata.
    ///
    /// # Errors
    ///
    /// As [`Self::write_row`].
    pub(super) fn write_values(
        &self,
        projection: Option<&Projection>,
        hit: &Hit<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match projection {
            Some(projection) => {
                projection.write(&hit.row(), self.omits_missing, out)?;
                Ok(())
            }
            None => {
                let stored = hit.row().stored().map_or(&b"{}"[..], |stored| stored.bytes());
                out.extend_from_slice(stored.strip_prefix(b"{").unwrap_or(stored).strip_suffix(b"}").unwrap_or(stored));
                Ok(())
            }
        }
    }
}

/// Appends how far a result is to its metadata: `{"Distance","Latitude","Longitude"}`, texts where there is no place, as the reference
/// does.
fn write_distance(distance: Option<Distance>, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"@spatial\":");
    json::Writer::new(out).object(|json| {
        let numbers = distance.map(|found| [found.distance, found.latitude, found.longitude]);
        for (at, name) in ["Distance", "Latitude", "Longitude"].into_iter().enumerate() {
            match numbers.and_then(|numbers| numbers.get(at).copied()) {
                Some(number) => json.name(name).double(number),
                None => json.name(name).string("NaN"),
            };
        }
    });
}
