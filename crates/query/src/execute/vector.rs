//! Entries with a vector that is near to one.

use super::CancelCheck;
use crate::definition::Fields;
use crate::index::{EntryId, Error, FieldNumber, IndexSnapshot};
use crate::limits::VECTORS_OF_QUERY_MAX;
use crate::plan::{Condition, FieldUse, Neighbours, VectorQuery, VectorTarget};
use crate::vector::{self, VectorError, VectorOptions};
use json::Raw;
use std::borrow::Cow;

/// Vectors that a search keeps on its way for each that it is to find: the more, the surer it finds the nearest.
const WIDTH_PER_CANDIDATE: usize = 4;

/// The least that it keeps.
const WIDTH_MIN: usize = 128;

/// A condition with what its vectors find, so that scoring need not look for it again.
///
/// # Errors
///
/// As [`super::find`].
pub(super) fn resolved<'c, E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    condition: &'c Condition,
    check_cancel: CancelCheck<'_, E>,
) -> Result<Cow<'c, Condition>, E> {
    if !condition.has_vectors() {
        return Ok(Cow::Borrowed(condition));
    }
    let mut resolved = condition.clone();
    resolved.vectors(&mut |field, query| {
        let found = nearest(index, fields, field, query, check_cancel)?;
        query.found = Some(found);
        Ok::<(), E>(())
    })?;
    Ok(Cow::Owned(resolved))
}

/// The entries that a condition finds, rising, with how near each is.
///
/// # Errors
///
/// As [`super::find`]; [`Error::Vector`] if what is given is no vector, or of another size than the field's.
pub(super) fn nearest<E: From<Error>>(
    index: &IndexSnapshot<'_>,
    fields: &dyn Fields,
    field: &FieldUse,
    query: &VectorQuery,
    check_cancel: CancelCheck<'_, E>,
) -> Result<Neighbours, E> {
    if let Some(found) = &query.found {
        return Ok(found.clone());
    }
    let options = fields.vector(field);
    let number = index.field(&field.name.path)?;
    let dimensions = number.map_or(Ok(None), |number| index.vector_dimensions(number))?.or(options.dimensions);
    let name = field.name.path.as_str();
    let asked = match (&query.asked, number) {
        (VectorTarget::Given(json), _) => given(Raw::new(json), &options, name, dimensions)?,
        (VectorTarget::Document(id), Some(number)) => of_document(index, id, number)?,
        (VectorTarget::Document(_), None) => Vec::new(),
    };
    if asked.len() > VECTORS_OF_QUERY_MAX {
        let message = format!("{} vectors exceed the limit VECTORS_OF_QUERY_MAX = {VECTORS_OF_QUERY_MAX}", asked.len());
        return Err(Error::from(VectorError::Invalid(message)).into());
    }
    let Some(number) = number else { return Ok(Neighbours::default()) };
    let width = (!query.is_exact).then(|| WIDTH_MIN.max(query.count_max.saturating_mul(WIDTH_PER_CANDIDATE)));
    let mut found: Vec<(EntryId, f32)> = Vec::new();
    for asked in &asked {
        check_cancel()?;
        index.nearest(number, asked, query.count_max, width, check_cancel, |entry, similarity| {
            if vector::is_near(options.destination, similarity, query.similarity_min) {
                found.push((entry, similarity));
            }
        })?;
    }
    // Of several vectors of an entry the nearest counts.
    found.sort_unstable_by(|(one, near), (other, far)| one.cmp(other).then(far.total_cmp(near)));
    found.dedup_by_key(|(entry, _)| *entry);
    Ok(found.into())
}

fn given(
    value: Raw<'_>,
    options: &VectorOptions,
    field: &str,
    dimensions: Option<usize>,
) -> Result<Vec<Vec<u8>>, Error> {
    let mut asked = Vec::new();
    vector::read(value, options, &mut |found, stored| match dimensions {
        Some(known) if known != found => {
            Err(Error::from(VectorError::AskedDimensions { field: field.to_owned(), found, known }))
        }
        _ => {
            asked.push(stored.to_vec());
            Ok(())
        }
    })?;
    if asked.is_empty() {
        let message = "vector.search() needs a vector, and null and empty arrays are none".to_owned();
        return Err(VectorError::Invalid(message).into());
    }
    Ok(asked)
}

/// The vectors that a document has in the index; none, if it is not there.
fn of_document(index: &IndexSnapshot<'_>, id: &str, field: FieldNumber) -> Result<Vec<Vec<u8>>, Error> {
    let mut asked = Vec::new();
    for entry in index.entries_of(id)? {
        asked.extend(index.vectors_of(entry, field)?);
    }
    Ok(asked)
}
