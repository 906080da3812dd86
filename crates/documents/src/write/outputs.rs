//! Documents that an index makes of its results.

use crate::{Batch, Error, Expected, Result, Writing};

/// Documents of several results. One result may fail while others are written.
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
    /// Puts and deletions, applied in their order. They are not atomic: if one is refused, those before it stay.
    pub batch: Batch,
    /// Afterwards `name/number`, `name/number + 1` and so on are deleted, up to the first that is not there.
    pub surplus: Option<(String, u64)>,
}

/// The outcome for the documents of one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputFate {
    /// All documents are written.
    Written,
    /// Another write changed a document meanwhile, or the definition is not stored any more. The documents before that one are written, and
    /// the caller writes all of them again.
    Again,
    /// A document cannot be written; why. The documents before it are written, those after it are not.
    Refused(String),
}

impl Writing<'_, '_> {
    /// Applies the batches one after the other. There is no savepoint to roll one back to: a command that is refused changes nothing
    /// itself, and leaves the commands before it in its batch applied.
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
            // Each is found before the document concerned is written.
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
