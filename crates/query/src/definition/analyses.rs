//! How the fields of a defined index are analysed, as their options say.

use super::{Analysis, DefinitionError};
use crate::analysis::{Analyzer, CustomAnalyzers};
use json::Value;
use std::collections::BTreeMap;

/// The analyses of fields that have options.
#[derive(Debug, Default)]
pub(super) struct Analyses {
    /// `None`: the values of the field are not indexed.
    pub by_field: BTreeMap<String, Option<Analysis>>,
    /// The custom analyzers among them.
    pub analyzers: CustomAnalyzers,
    /// The first analyzer that does not exist. Its field has the standard one.
    pub lacks: Option<DefinitionError>,
}

/// What the option `TermVector` may be.
const TERM_VECTORS: [&str; 5] = ["No", "Yes", "WithPositions", "WithOffsets", "WithPositionsAndOffsets"];

impl Analyses {
    /// * `fields`: the options of fields by name.
    /// * `known`: the custom analyzers that these may name.
    pub fn of(index: &str, fields: Option<&Value>, known: &CustomAnalyzers) -> Result<Analyses, DefinitionError> {
        let mut all = Analyses::default();
        for (name, options) in fields.map(Value::members).unwrap_or_default() {
            let text = |key| options.get(key).and_then(Value::as_str);
            // What it asks for is there for any field in words: how often each stands in an entry, and where.
            if let Some(value) = text("TermVector").filter(|value| !TERM_VECTORS.contains(value)) {
                return Err(DefinitionError::Invalid(format!(
                    "'TermVector' of the field '{name}' cannot be '{value}'"
                )));
            }
            let by_indexing = by_indexing(name, text("Indexing"))?;
            let analysis = match text("Analyzer").map(str::trim).filter(|given| !given.is_empty()) {
                None => by_indexing,
                Some(given) => {
                    let found = all.named(index, name, given, known);
                    // What is not to be analysed is not, whatever else is said.
                    by_indexing.map(|by_indexing| if by_indexing == Analysis::Exact { by_indexing } else { found })
                }
            };
            all.by_field.insert(name.clone(), analysis);
        }
        Ok(all)
    }

    /// The analysis by an analyzer. One that has a name of ours is that, as in the reference.
    fn named(&mut self, index: &str, field: &str, given: &str, known: &CustomAnalyzers) -> Analysis {
        if let Some(analysis) = built_in(given) {
            return analysis;
        }
        if let Some(analyzer) = known.get(given) {
            self.analyzers.add(analyzer.clone());
            return Analysis::Words(Analyzer::Custom(analyzer.chain().clone()));
        }
        self.lacks.get_or_insert_with(|| DefinitionError::UnknownAnalyzer {
            index: index.to_owned(),
            field: field.to_owned(),
            analyzer: given.to_owned(),
        });
        Analysis::Words(Analyzer::Standard)
    }
}

fn by_indexing(field: &str, indexing: Option<&str>) -> Result<Option<Analysis>, DefinitionError> {
    match indexing {
        None | Some("Default") => Ok(Some(Analysis::LowerCase)),
        Some("Exact") => Ok(Some(Analysis::Exact)),
        Some("No") => Ok(None),
        Some("Search") => Ok(Some(Analysis::Words(Analyzer::Standard))),
        Some("Highlighting") => {
            let form = "the option 'Indexing' of a field being 'Highlighting'";
            Err(DefinitionError::NotSupported(form.to_owned()))
        }
        Some(other) => {
            let values = "Default, Exact, Search or No";
            let message = format!("'Indexing' of the field '{field}' must be {values}, but is '{other}'");
            Err(DefinitionError::Invalid(message))
        }
    }
}

/// The analyzer of a name that may have a namespace before it and an assembly behind it.
fn built_in(name: &str) -> Option<Analysis> {
    let type_name = name.split(',').next().unwrap_or_default().trim();
    match type_name.rsplit('.').next().unwrap_or_default() {
        "LowerCaseKeywordAnalyzer" => Some(Analysis::LowerCase),
        "KeywordAnalyzer" => Some(Analysis::Exact),
        name => Analyzer::of(name).map(Analysis::Words),
    }
}
