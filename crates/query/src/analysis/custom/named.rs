//! The custom analyzers that definitions of indexes may name.

use super::csharp::{AnalyzerRefused, CustomAnalyzer};
use json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Custom analyzers by name, which counts without regard to case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomAnalyzers(BTreeMap<Vec<u8>, Arc<CustomAnalyzer>>);

impl CustomAnalyzers {
    /// Reads them from an object, as records of databases have it: `{"Mine":{"Name":"Mine","Code":".."}}`.
    ///
    /// * `refused`: called with the name and the reason of each one that cannot be used; it is left out.
    pub fn from_json(value: Option<&Value>, mut refused: impl FnMut(&str, AnalyzerRefused)) -> CustomAnalyzers {
        let mut all = CustomAnalyzers::default();
        for (name, definition) in value.map(Value::members).unwrap_or_default() {
            let code = definition.get("Code").and_then(Value::as_str).unwrap_or_default();
            match CustomAnalyzer::compile(name, code) {
                Ok(analyzer) => all.add(Arc::new(analyzer)),
                Err(reason) => refused(name, reason),
            }
        }
        all
    }

    /// As an object, the way [`CustomAnalyzers::from_json`] reads it.
    pub fn to_json(&self) -> Value {
        let mut all = Value::object();
        self.0.values().for_each(|analyzer| all.set(analyzer.name(), analyzer.to_json()));
        all
    }

    /// Adds one, in place of the one of its name.
    pub fn add(&mut self, analyzer: Arc<CustomAnalyzer>) {
        self.0.insert(documents::id::lower(analyzer.name()), analyzer);
    }

    /// The analyzer of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<CustomAnalyzer>> {
        self.0.get(&documents::id::lower(name))
    }

    /// These, and those of `others` whose names are not among them.
    pub fn over(&self, others: &CustomAnalyzers) -> CustomAnalyzers {
        let mut all = others.clone();
        all.0.extend(self.0.iter().map(|(name, analyzer)| (name.clone(), analyzer.clone())));
        all
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
