//! Results of maps for some documents, to try a definition.

use std::sync::Arc;

use documents::Snapshot;

use super::limits::BATCH_BYTES;
use super::loaded_ids::LoadedIds;
use super::map_runner::{Loading, MapRunner};
use super::progress::each_after;
use crate::definition::MapIndex;
use crate::index::Result;

/// The results of maps for the first documents of each source, as JSON objects. A document that fails gives none; there are no more
/// than [`BATCH_BYTES`] of them.
///
/// * `count_max`: documents of all sources.
/// * `goes_on`: asked before each document.
///
/// # Errors
///
/// Documents cannot be read.
pub fn map_results(
    definition: &Arc<MapIndex>,
    documents: &Snapshot<'_>,
    count_max: u64,
    goes_on: &dyn Fn() -> bool,
) -> Result<Vec<Vec<u8>>> {
    let runner = MapRunner::new(definition);
    let (mut results, mut loaded, mut size, mut count) = (Vec::new(), LoadedIds::default(), 0, 0);
    for source in definition.sources().iter().filter(|source| !source.is_referenced) {
        let has_all = each_after(documents, source, 0, |document| -> Result<bool> {
            if !definition.archived().takes(document.flags()) {
                return Ok(true);
            }
            if count == count_max || size >= BATCH_BYTES || !goes_on() {
                return Ok(false);
            }
            count += 1;
            loaded.clear();
            let mut made = Vec::new();
            let mapped = runner.run(
                document,
                Loading { documents, loaded: &mut loaded, control: &goes_on },
                &mut |_, output| {
                    let mut result = Vec::new();
                    output.write_json(&mut json::Writer::new(&mut result));
                    made.push(result);
                    Ok(())
                },
            );
            if mapped.is_ok() {
                size += made.iter().map(Vec::len).sum::<usize>();
                results.append(&mut made);
            }
            Ok(true)
        })?;
        if !has_all {
            return Ok(results);
        }
    }
    Ok(results)
}
