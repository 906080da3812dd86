//! Reading vectors from fields of documents into entries.

use super::field_failures::FieldFailures;
use crate::definition::{AutomaticIndex, VectorField};
use crate::index::{Entry, FieldNumber, Index, Result};
use crate::vector::{self, VectorError, VectorOptions};
use json::{Kind, Raw};
use std::collections::HashMap;

/// How many components the vectors of each field have: what the index says, and what the documents since have that were indexed.
#[derive(Default)]
pub(super) struct Dimensions {
    known: HashMap<FieldNumber, Option<usize>>,
    /// Of the document at hand.
    of_document: Vec<(FieldNumber, usize)>,
}

impl Dimensions {
    /// A document begins.
    pub fn begin(&mut self) {
        self.of_document.clear();
    }

    /// A field of the document is not indexed.
    pub fn forget(&mut self, field: FieldNumber) {
        self.of_document.retain(|(other, _)| *other != field);
    }

    /// The document is indexed: what it says holds for those that follow.
    pub fn end(&mut self) {
        for (field, dimensions) in self.of_document.drain(..) {
            self.known.insert(field, Some(dimensions));
        }
    }

    /// Adds the vectors that a value holds.
    ///
    /// # Errors
    ///
    /// [`crate::index::Error::Vector`] if it is no vector, or has another number of components; those of the index.
    pub fn add(
        &mut self,
        index: &Index,
        entry: &mut Entry,
        field: FieldNumber,
        options: &VectorOptions,
        value: Raw<'_>,
    ) -> Result<()> {
        vector::read(value, options, &mut |found, stored| {
            match self.of(index, field)?.or(options.dimensions) {
                Some(known) if known != found => {
                    let names = index.read()?.fields()?;
                    let name = names.into_iter().find(|(_, number)| *number == field);
                    let field = name.map(|(name, _)| name).unwrap_or_default();
                    return Err(VectorError::Dimensions { field, found, known }.into());
                }
                Some(_) => {}
                None => self.of_document.push((field, found)),
            }
            entry.add_vector(field, options, found, stored)
        })
    }

    fn of(&mut self, index: &Index, field: FieldNumber) -> Result<Option<usize>> {
        if let Some((_, found)) = self.of_document.iter().find(|(other, _)| *other == field) {
            return Ok(Some(*found));
        }
        match self.known.get(&field) {
            Some(known) => Ok(*known),
            None => {
                let known = index.read()?.vector_dimensions(field)?;
                self.known.insert(field, known);
                Ok(known)
            }
        }
    }
}

/// The fields of an automatic index that keep vectors.
pub(super) struct VectorFields {
    fields: Vec<(String, FieldNumber, Vec<String>, VectorOptions)>,
    dimensions: Dimensions,
}

impl VectorFields {
    pub fn new(definition: &AutomaticIndex, index: &Index) -> Result<VectorFields> {
        let of_field = |(name, VectorField { path, options }): (&str, VectorField<'_>)| {
            let steps = path.split('.').map(|step| step.trim_end_matches("[]").to_owned());
            let number = index.field(name)?;
            Ok((name.to_owned(), number, steps.filter(|step| !step.is_empty()).collect(), options))
        };
        let fields = definition.vectors().map(of_field).collect::<Result<_>>()?;
        Ok(VectorFields { fields, dimensions: Dimensions::default() })
    }

    /// Adds the vectors of a document. A field with a value that is no vector gets none, and an error is recorded.
    ///
    /// # Errors
    ///
    /// Those of the index.
    pub fn add(
        &mut self,
        index: &Index,
        document: Raw<'_>,
        entry: &mut Entry,
        failures: &mut FieldFailures,
    ) -> Result<()> {
        let VectorFields { fields, dimensions } = self;
        dimensions.begin();
        for (name, field, steps, options) in fields {
            let mut is_added = false;
            failures.attempt(name, entry, |entry| {
                each_value(document, steps, &mut |value| dimensions.add(index, entry, *field, options, value))?;
                is_added = true;
                Ok(())
            })?;
            if !is_added {
                dimensions.forget(*field);
            }
        }
        dimensions.end();
        Ok(())
    }
}

/// Calls `each` with what stands at the end of a path, arrays whole. The recursion goes one step down the path, or into an array of the
/// document, whose depth is bounded.
fn each_value<'d>(value: Raw<'d>, steps: &[String], each: &mut dyn FnMut(Raw<'d>) -> Result<()>) -> Result<()> {
    match steps {
        [] => each(value),
        _ if value.kind() == Kind::Array => value.elements().try_for_each(|element| each_value(element, steps, each)),
        [step, steps @ ..] => value.get(step).map_or(Ok(()), |value| each_value(value, steps, each)),
    }
}
