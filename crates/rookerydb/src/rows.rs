//! The results of a query.

use std::collections::BTreeMap;

use json::Raw;
use serde::de::DeserializeOwned;

use crate::document::text_of;
use crate::{Document, Result};

/// One result: a JSON object, with `@metadata`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'r> {
    json: &'r str,
}

impl<'r> Row<'r> {
    pub(crate) fn new(json: &'r str) -> Row<'r> {
        Row { json }
    }

    /// The text.
    pub fn json(&self) -> &'r str {
        self.json
    }

    /// The result as a value. Its `@metadata` is ignored unless the type has such a field.
    ///
    /// # Errors
    ///
    /// [`Error::Json`](crate::Error::Json).
    pub fn to<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(serde_json::from_str(self.json)?)
    }

    /// The id of the document that it is, or is made of. `None`: it is a group.
    pub fn id(&self) -> Option<String> {
        self.metadata("@id")
    }

    /// The change vector of that document.
    pub fn change_vector(&self) -> Option<String> {
        self.metadata("@change-vector")
    }

    fn metadata(&self, name: &str) -> Option<String> {
        let value = Raw::new(self.json.as_bytes()).get("@metadata")?.get(name)?;
        value.as_str().map(|text| text.into_owned())
    }
}

/// The results of a query, in memory.
///
/// ```
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// # shop.collection("Users").put("users/1", &serde_json::json!({ "Name": "Ann" }))?;
/// let rows = shop.query("from Users where Name = 'Ann'").run()?;
/// assert_eq!((rows.len(), rows.total()), (1, Some(1)));
/// for row in &rows {
///     assert_eq!(row.id().as_deref(), Some("users/1"));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub(crate) text: String,
    /// Where each ends.
    pub(crate) ends: Vec<usize>,
    pub(crate) total: Option<u64>,
    pub(crate) is_stale: bool,
    pub(crate) index: Option<String>,
    pub(crate) included: Vec<Document>,
    pub(crate) highlights: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    pub(crate) explanations: BTreeMap<String, Vec<String>>,
}

impl Rows {
    /// The number of results on this page.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A result by its place on the page.
    pub fn get(&self, place: usize) -> Option<Row<'_>> {
        let end = *self.ends.get(place)?;
        let begin = place.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.text.get(begin..end).map(Row::new)
    }

    /// The results in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.len()).map(|place| self.get(place).unwrap_or(Row::new("{}")))
    }

    /// The results as values.
    ///
    /// # Errors
    ///
    /// [`Error::Json`](crate::Error::Json): one does not fit the type.
    pub fn values<T: DeserializeOwned>(&self) -> Result<Vec<T>> {
        self.iter().map(|row| row.to()).collect()
    }

    /// The number of results on all pages. `None`: it is not known without reading all of them.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// True if the index lacked something that was written before.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// The name of the index that answered. `None`: none was needed.
    pub fn index(&self) -> Option<&str> {
        self.index.as_deref()
    }

    /// The documents that the query includes, each once.
    pub fn included(&self) -> &[Document] {
        &self.included
    }

    /// The fragments of `include highlight(..)`: by field, then by the id of the document or the key of the group.
    pub fn highlights(&self) -> &BTreeMap<String, BTreeMap<String, Vec<String>>> {
        &self.highlights
    }

    /// The texts of `include explanations()`, by the id of the document or the key of the group.
    pub fn explanations(&self) -> &BTreeMap<String, Vec<String>> {
        &self.explanations
    }
}

impl<'r> IntoIterator for &'r Rows {
    type Item = Row<'r>;
    type IntoIter = Box<dyn Iterator<Item = Row<'r>> + 'r>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

/// Collects rows in one text.
#[derive(Default)]
pub(crate) struct Collected {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Collected {
    pub fn into_rows(self) -> Rows {
        Rows { text: text_of(self.text), ends: self.ends, ..Rows::default() }
    }
}

impl database::queries::RowSink for Collected {
    type Error = database::Error;

    fn begin_row(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    fn end_row(&mut self) -> database::Result<()> {
        self.ends.push(self.text.len());
        Ok(())
    }

    fn held_size(&self) -> usize {
        self.text.capacity()
    }
}
