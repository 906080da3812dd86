//! The definition of an index as it is kept with the documents.
//!
//! ```text
//! {"Automatic":{"Collection":"Users","Fields":[{"Name":"Age","IsNameQuoted":false,"IsExact":false}]},
//!  "Folder":"5f..","Created":"2026-..","IsReplacement":false,
//!  "Settings":{"LockMode":"Unlock","Priority":"Normal","State":"Normal"}}
//! ```
//!
//! In place of `Automatic`, `Map` has the definition as a client gave it. A replacement is kept under a name of its own. Where results
//! become documents, there is also `Output`: `{"Number":6,"Former":[{"Prefix":"Totals/6/","References":"Totals/References"}]}`; where the
//! index had other definitions before, `History`: `[{"Map":{..},"Created":"2026-.."}]`, the newest first; where fields name custom
//! analyzers, `Analyzers`: `{"Mine":{"Name":"Mine","Code":".."}}`, as they were when the index was defined or last reset.

use std::sync::Arc;

use documents::{Date, DefinitionChange, Snapshot, id};
use json::Value;
use query::analysis::CustomAnalyzers;
use query::definition::{AutomaticIndex, IndexDefinition, IndexSettings, MapIndex, Output};

use super::open::Index;
use crate::Result;

/// The kind of definitions.
const KIND: &str = "index";

/// The stored metadata of an index.
#[derive(Clone, Debug)]
pub(super) struct StoredIndex {
    pub definition: IndexDefinition,
    pub settings: IndexSettings,
    /// It is built to stand in for the one of its name.
    pub is_replacement: bool,
    /// Random, and never that of another index or of one that is built anew: names its folder, so that what is left of a removed one is
    /// not taken for it, and tells whose documents may be written.
    pub generation: u128,
    pub created: Date,
    /// Where its results become documents.
    pub output: Option<StoredOutput>,
    /// The definitions that it had before, the newest first.
    pub history: Arc<[FormerDefinition]>,
}

/// A definition that an index of this name had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerDefinition {
    /// The definition as a client gave it.
    pub given: Value,
    /// When it came.
    pub created: Date,
}

impl FormerDefinition {
    fn to_json(&self) -> Value {
        let mut value = Value::object();
        value.set("Map", self.given.clone());
        value.set("Created", Value::String(self.created.to_string()));
        value
    }

    fn from_json(value: &Value) -> Option<FormerDefinition> {
        let created = value.get("Created").and_then(Value::as_str).and_then(Date::parse)?;
        Some(FormerDefinition { given: value.get("Map")?.clone(), created })
    }
}

/// The stored metadata of results that become documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredOutput {
    /// Part of their ids; stays while the collection does.
    pub number: u64,
    /// What indexes wrote that this one replaced, unless that is known to be gone.
    pub former: Vec<FormerOutput>,
}

/// Documents that are to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormerOutput {
    /// What the ids of results begin with.
    pub prefix: String,
    /// The collection of documents that name them.
    pub references: Option<String>,
}

impl StoredOutput {
    /// What the ids of documents begin with: `Totals/6/`.
    pub fn prefix(&self, output: &Output) -> String {
        format!("{}/{}/", output.collection, self.number)
    }

    fn to_json(&self) -> Value {
        let mut value = Value::object();
        value.set("Number", Value::String(self.number.to_string()));
        let former = self.former.iter().map(|former| {
            let mut value = Value::object();
            value.set("Prefix", Value::String(former.prefix.clone()));
            value.set("References", former.references.clone().map_or(Value::Null, Value::String));
            value
        });
        value.set("Former", Value::Array(former.collect()));
        value
    }

    fn from_json(value: &Value) -> Option<StoredOutput> {
        let number = value.get("Number")?.as_str()?.parse().ok()?;
        let Some(Value::Array(former)) = value.get("Former") else { return None };
        let former = former.iter().map(|value| {
            let references = value.get("References").and_then(Value::as_str).map(str::to_owned);
            Some(FormerOutput { prefix: value.get("Prefix")?.as_str()?.to_owned(), references })
        });
        Some(StoredOutput { number, former: former.collect::<Option<_>>()? })
    }
}

impl StoredIndex {
    /// One with a generation of its own.
    pub fn new(
        definition: IndexDefinition,
        settings: IndexSettings,
        is_replacement: bool,
        created: Date,
    ) -> StoredIndex {
        let generation = u128::from_ne_bytes(id::random_bytes());
        StoredIndex { definition, settings, is_replacement, generation, created, output: None, history: Arc::default() }
    }

    /// Those that can be read; of the others it is logged that they are there, and why they cannot.
    pub fn all(documents: &Snapshot<'_>) -> Result<Vec<StoredIndex>> {
        let mut all = Vec::new();
        for bytes in documents.definitions(KIND)? {
            match Self::read(&bytes) {
                Ok(stored) => all.push(stored),
                Err(reason) => tracing::error!(
                    definition = %String::from_utf8_lossy(&bytes),
                    reason,
                    "the definition of an index cannot be read; perhaps it is of another version"
                ),
            }
        }
        Ok(all)
    }

    /// # Errors
    ///
    /// Why it cannot be read, or not be compiled any more.
    fn read(bytes: &[u8]) -> Result<StoredIndex, String> {
        let lacks = |name: &str| format!("'{name}' is missing, or not what it has to be");
        let value = Value::parse(bytes).map_err(|error| error.to_string())?;
        let text = |name| value.get(name).and_then(Value::as_str);
        let definition = match (value.get("Automatic"), value.get("Map")) {
            (Some(automatic), _) => {
                let index = AutomaticIndex::from_json(automatic).ok_or_else(|| lacks("Automatic"))?;
                IndexDefinition::Automatic(index)
            }
            (_, Some(given)) => {
                let mut refused = None;
                let analyzers = CustomAnalyzers::from_json(value.get("Analyzers"), |_, reason| refused = Some(reason));
                if let Some(refused) = refused {
                    return Err(refused.to_string());
                }
                let index = MapIndex::without_some_analyzers(given, &analyzers).map_err(|error| error.to_string())?;
                IndexDefinition::Map(Arc::new(index))
            }
            (None, None) => return Err("it is of no kind that is known".to_owned()),
        };
        let output = match definition.output() {
            None => None,
            Some(_) => {
                let output = value.get("Output").and_then(StoredOutput::from_json);
                Some(output.ok_or_else(|| lacks("Output"))?)
            }
        };
        let history = match value.get("History") {
            None => Some(Arc::default()),
            Some(Value::Array(history)) => history.iter().map(FormerDefinition::from_json).collect(),
            Some(_) => None,
        };
        let settings = value.get("Settings").ok_or_else(|| lacks("Settings"))?;
        let is_replacement = value.get("IsReplacement").and_then(Value::as_bool);
        let generation = text("Folder").and_then(|folder| u128::from_str_radix(folder, 16).ok());
        Ok(StoredIndex {
            definition,
            settings: IndexSettings::from_json(settings).map_err(|error| error.to_string())?,
            is_replacement: is_replacement.ok_or_else(|| lacks("IsReplacement"))?,
            generation: generation.ok_or_else(|| lacks("Folder"))?,
            created: text("Created").and_then(Date::parse).ok_or_else(|| lacks("Created"))?,
            output,
            history: history.ok_or_else(|| lacks("History"))?,
        })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut value = Value::object();
        match &self.definition {
            IndexDefinition::Automatic(index) => value.set("Automatic", index.to_json()),
            IndexDefinition::Map(index) => {
                value.set("Map", index.given().clone());
                if !index.analyzers().is_empty() {
                    value.set("Analyzers", index.analyzers().to_json());
                }
            }
        }
        value.set("Settings", self.settings.to_json());
        value.set("IsReplacement", Value::Bool(self.is_replacement));
        value.set("Folder", Value::String(self.folder()));
        value.set("Created", Value::String(self.created.to_string()));
        if let Some(output) = &self.output {
            value.set("Output", output.to_json());
        }
        if !self.history.is_empty() {
            value.set("History", Value::Array(self.history.iter().map(FormerDefinition::to_json).collect()));
        }
        value.to_vec()
    }

    /// Whether it is what is kept about an index that is open.
    pub fn is_of(&self, index: &Index) -> bool {
        self.is_replacement == index.is_replacement()
            && id::is_same(&self.definition.name(), &index.definition().name())
    }

    /// The name that it is kept under.
    fn key(name: &str, is_replacement: bool) -> String {
        if is_replacement { format!("replacement/{name}") } else { format!("index/{name}") }
    }

    /// The change that stores the definition, in place of one of the same name.
    pub fn put(&self) -> DefinitionChange {
        DefinitionChange::Put {
            kind: KIND.to_owned(),
            name: Self::key(&self.definition.name(), self.is_replacement),
            generation: self.generation,
            definition: self.bytes(),
        }
    }

    /// The change that deletes the definition of this name.
    pub fn delete(name: &str, is_replacement: bool) -> DefinitionChange {
        DefinitionChange::Delete { kind: KIND.to_owned(), name: Self::key(name, is_replacement) }
    }

    /// The name of its folder.
    pub fn folder(&self) -> String {
        format!("{:032x}", self.generation)
    }

    /// The definition that has to be stored for outputs of this index to be written.
    pub fn condition_of_outputs(&self) -> (String, String, u128) {
        (KIND.to_owned(), Self::key(&self.definition.name(), self.is_replacement), self.generation)
    }
}

#[cfg(test)]
mod tests {
    use query::definition::{Field, FieldName, FieldNeeds};

    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let name = FieldName { path: "Name".to_owned(), is_quoted: false };
        let automatic = AutomaticIndex::new(
            Some("Users".to_owned()),
            [Field { name, needs: FieldNeeds { is_exact: true, ..FieldNeeds::default() } }],
        );
        let given = br#"{"Name":"X","Maps":["from u in docs.Us select new { u.A }"],"Priority":null}"#;
        let map = MapIndex::from_json(&Value::parse(given).unwrap()).unwrap();
        for definition in [IndexDefinition::Automatic(automatic), IndexDefinition::Map(Arc::new(map))] {
            let settings = IndexSettings { is_disabled: true, ..IndexSettings::default() };
            let given = Value::parse(br#"{"Name":"X","Maps":["from u in docs.Us select new { u.B }"]}"#).unwrap();
            let history = Arc::from([FormerDefinition { given, created: Date::now() }]);
            let stored = StoredIndex { history, ..StoredIndex::new(definition, settings, true, Date::now()) };
            let read = StoredIndex::read(&stored.bytes()).unwrap();
            assert_eq!((read.bytes(), read.definition.name()), (stored.bytes(), stored.definition.name()));
            assert_eq!(read.history, stored.history);
            let elsewhere = String::from_utf8(stored.bytes()).unwrap().replace(&stored.folder(), "../x");
            assert_eq!(
                StoredIndex::read(elsewhere.as_bytes()).unwrap_err(),
                "'Folder' is missing, or not what it has to be"
            );
        }
    }

    #[test]
    fn what_is_kept_of_outputs_comes_back() {
        let former = |prefix: &str, references: Option<&str>| FormerOutput {
            prefix: prefix.to_owned(),
            references: references.map(str::to_owned),
        };
        for former in [Vec::new(), vec![former("A/1/", None), former("B/2/", Some("C"))]] {
            let output = StoredOutput { number: u64::MAX, former };
            assert_eq!(StoredOutput::from_json(&output.to_json()), Some(output));
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let check = |bytes: &str, expected: &str| {
            let reason = StoredIndex::read(bytes.as_bytes()).unwrap_err();
            assert!(reason.contains(expected), "{bytes}: {reason}");
        };
        check("{", "end");
        check(r#"{"Vector":{}}"#, "of no kind that is known");
        check(r#"{"Automatic":{}}"#, "'Automatic' is missing");
        check(
            r#"{"Map":{"Name":"X","Maps":["from u in docs.Us select new { A = u.Foo() }"]}}"#,
            "Failed to compile index X\n\n1:38 ",
        );
        check(r#"{"Map":{"Name":"X","Maps":["from u in docs.Us select new { u.A }"]}}"#, "'Settings' is missing");
        let grouped = r#"{"Map":{"Name":"X","Maps":["from u in docs.Us select new { u.A }"],"OutputReduceToCollection":"O","Reduce":"from r in results group r by r.A into g select new { A = g.Key }"}}"#;
        check(grouped, "'Output' is missing");
    }
}
