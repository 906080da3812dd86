//! The fields of an automatic index in which some entry has a value, and the fields of a query in which none has.
//!
//! A query asks this each time, so what was found is kept until the next batch of the index, in a bit for each field.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use query::definition::{AnalysisKind, AutomaticIndex, Field};
use query::index::{FieldContents, IndexSnapshot};

use super::open::Index;
use crate::Result;

/// A bit for each field of an automatic index, in the order of its definition: some entry has a value in it.
pub(super) struct KnownFields(Box<[AtomicU64]>);

impl KnownFields {
    pub fn new(count: usize) -> KnownFields {
        KnownFields((0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    fn is_known(&self, field: usize) -> bool {
        self.0.get(field / 64).is_some_and(|bits| bits.load(Relaxed) & (1 << (field % 64)) != 0)
    }

    /// A batch may end meanwhile that removes the last value: until the batch after it the field stays known.
    fn set(&self, field: usize) {
        if let Some(bits) = self.0.get(field / 64) {
            bits.fetch_or(1 << (field % 64), Relaxed);
        }
    }

    /// Forgets all of them: a batch may have removed the last value of a field.
    pub fn forget(&self) {
        self.0.iter().for_each(|bits| bits.store(0, Relaxed));
    }
}

impl Index {
    /// The fields of a query in which no entry of this automatic index has a value; of groups, no value but null. Fields of places, shapes
    /// and vectors are never among them.
    ///
    /// * `needed`: what the query needs of the index.
    /// * `snapshot`: of this index.
    ///
    /// # Errors
    ///
    /// The index cannot be read.
    pub fn fields_without_values<'f>(
        &self,
        needed: &'f AutomaticIndex,
        snapshot: &IndexSnapshot<'_>,
    ) -> Result<Vec<&'f Field>> {
        let mut without = Vec::new();
        let Some(definition) = self.definition().as_automatic() else { return Ok(without) };
        for field in needed.fields().iter().filter(|field| !field.needs.is_spatial && !field.needs.is_vector) {
            let at = definition.fields().iter().position(|own| own.name.path == field.name.path);
            let Some(at) = at.filter(|at| !self.known_fields().is_known(*at)) else { continue };
            match snapshot.field_contents(&field.name.stored(AnalysisKind::LowerCase))? {
                FieldContents::Values => self.known_fields().set(at),
                // A group has null where its documents lack the field.
                FieldContents::NullsAlone if definition.group_by().is_empty() => self.known_fields().set(at),
                FieldContents::NullsAlone => without.push(field),
                FieldContents::Nothing if definition.group_by().is_empty() => without.push(field),
                FieldContents::Nothing => {}
            }
        }
        Ok(without)
    }
}
