//! Fields of automatic indexes that keep vectors: `vector.search(V)`, `vector.search(embedding.f32_i8(V))`.

use super::{Field, FieldName, FieldNeeds};
use crate::vector::VectorOptions;

/// Which vectors of a document a field keeps, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorField<'f> {
    /// Their path.
    pub path: &'f str,
    /// How they are kept.
    pub options: VectorOptions,
}

const SEARCH: &str = "vector.search(";

/// What the functions begin with that say how vectors are kept.
const EMBEDDING: &str = "embedding.";

impl<'f> VectorField<'f> {
    /// What a field keeps. `None`: no vectors.
    pub fn of(field: &'f Field) -> Option<VectorField<'f>> {
        Self::of_name(&field.name.path).filter(|_| field.needs.is_vector)
    }

    /// The same by the name that such a field has.
    pub(super) fn of_name(name: &'f str) -> Option<VectorField<'f>> {
        let inside = name.strip_prefix(SEARCH)?.strip_suffix(')')?;
        match inside.strip_prefix(EMBEDDING).and_then(|call| call.strip_suffix(')')?.split_once('(')) {
            Some((function, path)) => Some(VectorField { path, options: VectorOptions::of_function(function)? }),
            None => Some(VectorField { path: inside, options: VectorOptions::default() }),
        }
    }

    /// The field that keeps them. `None`: the path cannot be told from what is around it.
    pub fn field(&self) -> Option<Field> {
        if self.path.is_empty() || self.path.contains([',', '(', ')']) {
            return None;
        }
        let path = match self.options.function() {
            Some(function) => format!("{SEARCH}{EMBEDDING}{function}({}))", self.path),
            None => format!("{SEARCH}{})", self.path),
        };
        let needs = FieldNeeds { is_vector: true, ..FieldNeeds::default() };
        Some(Field { name: FieldName { path, is_quoted: false }, needs })
    }

    /// How it stands in the name of an index, as the name of the field does but for its first letter.
    pub(super) fn label(name: &str) -> String {
        format!("V{}", name.get(1..).unwrap_or_default())
    }
}
