//! Documents that an index makes of its results.

use crate::{Batch, Error, Expected, Result, Writing};

/// Documents of several results, each with a fate of its own.
#[derive(Clone, Debug)]
pub struct OutputWrites {
    /// Kind, name and generation of the definition of the index. Nothing is written unless this definition is stored: whoever deletes or
    /// replaces an index never meets its documents afterwards.
    pub only_if: (String, String, u128),
    /// The documents.
    pub writes: Vec<OutputWrite>,
}

/// The documents of one result.
#[derive(Clone, Debug)]
pub struct OutputWrite {
    /// Puts and deletions, applied atomically.
    pub batch: Batch,
    /// Afterwards `name/number`, `name/number + 1` and so on are deleted, up to the first that is not there.
    pub surplus: Option<(String, u64)>,
}

/// The outcome for the documents of one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputFate {
    /// They are written.
    Written,
    /// They are not: somebody changed a document meanwhile, or the definition is not stored any more.
    Again,
    /// They cannot be written; why.
    Refused(String),
}

impl Writing<'_, '_> {
    /// Writes what may be written. A batch of these is not rolled back by itself: its conditions are checked before it writes.
    pub(super) fn write_outputs(&mut self, outputs: &OutputWrites) -> Result<Vec<OutputFate>> {
        let (kind, name, generation) = &outputs.only_if;
        if self.definition_generation(kind, name)? != Some(*generation) {
            return Ok(vec![OutputFate::Again; outputs.writes.len()]);
        }
        outputs.writes.iter().map(|write| self.write_output(write)).collect()
    }

    fn write_output(&mut self, write: &OutputWrite) -> Result<OutputFate> {
        match self.run_silently(&write.batch) {
            Ok(_) => {}
            Err(Error::Conflict { .. }) => return Ok(OutputFate::Again),
            // Each is found before anything of the document is written.
            Err(
                error @ (Error::CollectionMismatch { .. } | Error::TooLarge { .. } | Error::TooManyCollections { .. }),
            ) => return Ok(OutputFate::Refused(error.to_string())),
            Err(error) => return Err(error),
        }
        if let Some((name, first)) = &write.surplus {
            let mut number = *first;
            while self.delete(&format!("{name}/{number}"), &Expected::Any)? {
                number = number.saturating_add(1);
            }
        }
        Ok(OutputFate::Written)
    }
}

impl OutputWrites {
    pub(super) fn size(&self) -> usize {
        let (kind, name, _) = &self.only_if;
        let writes = self.writes.iter().map(|write| {
            size_of::<OutputWrite>() + write.batch.size() + write.surplus.as_ref().map_or(0, |(name, _)| name.len())
        });
        kind.len() + name.len() + writes.sum::<usize>()
    }
}
