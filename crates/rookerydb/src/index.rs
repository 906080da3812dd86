//! Definitions of indexes.

use serde_json::{Map, Value, json};

/// How the texts of a field become terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Analysis {
    /// The whole text is one term, compared without case. The default.
    Whole,
    /// The whole text is one term, compared with case.
    Exact,
    /// Words, for `search()`: full text.
    Words,
}

/// The definition of an index: maps, perhaps a reduce, and what its fields are for.
///
/// Maps are written in JavaScript or in C# (LINQ):
///
/// ```
/// use rookerydb::{Analysis, IndexDefinition};
///
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// # shop.collection("Books").put("books/1", &serde_json::json!({ "title": "The sea", "words": 90_000 }))?;
/// let by_text = IndexDefinition::new("Books/ByText")
///     .map("map('Books', book => ({ title: book.title, isLong: book.words > 50000 }))")
///     .analysis("title", Analysis::Words);
/// shop.put_index(&by_text)?;
/// shop.wait_for_indexing(std::time::Duration::from_secs(15))?;
///
/// let rows = shop.query("from index 'Books/ByText' where search(title, 'sea') and isLong = true").run()?;
/// assert_eq!(rows.len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// With a reduce the results are groups:
///
/// ```
/// use rookerydb::IndexDefinition;
///
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// # shop.collection("Orders").put("orders/1", &serde_json::json!({ "Company": "a", "Total": 3 }))?;
/// let totals = IndexDefinition::new("Orders/ByCompany")
///     .map("from order in docs.Orders select new { order.Company, Total = order.Total }")
///     .reduce("from r in results group r by r.Company into g select new { Company = g.Key, Total = g.Sum(x => x.Total) }");
/// shop.put_index(&totals)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDefinition {
    name: String,
    maps: Vec<String>,
    reduce: Option<String>,
    fields: Map<String, Value>,
}

impl IndexDefinition {
    /// A definition without maps.
    pub fn new(name: impl Into<String>) -> IndexDefinition {
        IndexDefinition { name: name.into(), maps: Vec::new(), reduce: None, fields: Map::new() }
    }

    /// Adds a map. Several maps of different collections make one index.
    #[must_use]
    pub fn map(mut self, map: impl Into<String>) -> Self {
        self.maps.push(map.into());
        self
    }

    /// Sets the reduce.
    #[must_use]
    pub fn reduce(mut self, reduce: impl Into<String>) -> Self {
        self.reduce = Some(reduce.into());
        self
    }

    /// How the texts of a field become terms.
    #[must_use]
    pub fn analysis(self, field: impl Into<String>, analysis: Analysis) -> Self {
        let indexing = match analysis {
            Analysis::Whole => "Default",
            Analysis::Exact => "Exact",
            Analysis::Words => "Search",
        };
        self.option(field, "Indexing", json!(indexing))
    }

    /// Stores the values of a field in the index, so that queries can select computed values.
    #[must_use]
    pub fn store(self, field: impl Into<String>) -> Self {
        self.option(field, "Storage", json!("Yes"))
    }

    /// Keeps what `suggest()` needs for a field.
    #[must_use]
    pub fn suggestions(self, field: impl Into<String>) -> Self {
        self.option(field, "Suggestions", json!(true))
    }

    /// Sets an option of a field by its name in JSON, such as `Analyzer` or `TermVector`.
    #[must_use]
    pub fn option(mut self, field: impl Into<String>, name: &str, value: Value) -> Self {
        let options = self.fields.entry(field).or_insert_with(|| json!({}));
        if let Value::Object(options) = options {
            options.insert(name.to_owned(), value);
        }
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The definition as clients of RavenDB send it.
    pub fn to_json(&self) -> String {
        let Self { name, maps, reduce, fields } = self;
        json!({ "Name": name, "Maps": maps, "Reduce": reduce, "Fields": fields }).to_string()
    }
}
