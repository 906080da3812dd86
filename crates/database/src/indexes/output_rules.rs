//! Rules for index results that become documents of a collection: no cycles, no documents of other writers.

use documents::id;
use query::definition::{IndexSource, MapIndex, Output};

use super::open::Index;
use super::registry::Indexes;
use super::stored::{FormerOutput, StoredOutput};
use crate::{Database, Error, Result};

impl Indexes {
    /// What is kept about the results of a new definition that become documents. `None`: they do not. The lock `changing` is held.
    ///
    /// * `now`: the index that it is to replace.
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutput`]; storage fails.
    pub(super) fn output_of(
        &self,
        database: &Database,
        definition: &MapIndex,
        now: Option<&Index>,
    ) -> Result<Option<StoredOutput>> {
        let Some(output) = definition.output() else { return Ok(None) };
        refuse_own_loop(definition, output)?;
        self.refuse_shared(definition, output)?;
        self.refuse_loop(definition, output)?;
        let documents = database.read();
        let before = now.and_then(|now| Some((now, now.outputs.as_ref()?, now.definition().output()?)));
        let same = before.filter(|(_, _, before)| id::is_same(&before.collection, &output.collection));
        let Output { collection, .. } = output;
        let count = documents.collection(collection)?.map_or(0, |collection| collection.documents().count);
        if same.is_none() && count > 0 {
            let (name, documents) = (definition.name(), if count == 1 { "document" } else { "documents" });
            return refuse(format!(
                "Index '{name}' is defined to output the Reduce results to documents in Collection '{collection}'. This collection currently has {count} {documents}. All documents in Collection '{collection}' must be deleted first."
            ));
        }
        let number = match same {
            Some((_, outputs, _)) => outputs.stored().number,
            None => documents.last_etag()?,
        };
        let mut stored = StoredOutput { number, former: Vec::new() };
        if let Some((now, outputs, before)) = before {
            if now.store()?.read()?.is_sweep_due()? {
                stored.former.clone_from(&outputs.stored().former);
            }
            let references = before.references.as_ref().map(|references| references.collection.clone());
            stored.former.push(FormerOutput { prefix: outputs.stored().prefix(before), references });
        }
        Ok(Some(stored))
    }

    /// Two indexes with one collection would take each other's documents for their own.
    fn refuse_shared(&self, definition: &MapIndex, output: &Output) -> Result<()> {
        let (name, collection) = (definition.name(), &output.collection);
        for other in self.all().iter().filter(|other| !id::is_same(&other.definition().name(), name)) {
            let of_other = other.definition().output().map(|output| &output.collection);
            if of_other.is_some_and(|of_other| id::is_same(of_other, collection)) {
                let other = other.name();
                return refuse(format!(
                    "It is forbidden to create the '{name}' index which would output reduce results to documents in the '{collection}' collection, as there is another index named '{other}' which also output reduce results to documents in the same '{collection}' collection. OutputReduceToCollection must by set to unique value for each index or be null."
                ));
            }
        }
        Ok(())
    }

    /// Goes from collection to collection, as indexes do, and must not come to one that the definition reads.
    fn refuse_loop(&self, definition: &MapIndex, output: &Output) -> Result<()> {
        let (name, sources) = (definition.name(), definition.sources());
        let all = self.all();
        let others: Vec<_> = all.iter().filter(|other| !id::is_same(&other.definition().name(), name)).collect();
        // Collections that come of it, with how: index, its source, its output; several.
        let mut reached: Vec<(&str, Vec<String>)> =
            output.collections().map(|collection| (collection, Vec::new())).collect();
        let mut next = 0;
        while let Some((collection, path)) = reached.get(next).cloned() {
            next += 1;
            if let Some(source) = sources.iter().find(|source| reads(source, collection)) {
                let own = format!("{name}: {} => *{}*", source.name(), output.collection);
                let path = path.into_iter().chain([own]).collect::<Vec<_>>().join("\n--> ");
                let collection = &output.collection;
                return refuse(format!(
                    "It is forbidden to create the '{name}' index which would output reduce results to documents in the '{collection}' collection, as '{collection}' collection is consumed by other index in a way that would lead to an infinite loop.\n{path}"
                ));
            }
            for other in others.iter().filter(|other| other.sources().iter().any(|source| reads(source, collection))) {
                for to in other.definition().output().into_iter().flat_map(Output::collections) {
                    if !reached.iter().any(|(known, _)| id::is_same(known, to)) {
                        let step = format!("{}: {collection} => {to}", other.name());
                        reached.push((to, path.iter().cloned().chain([step]).collect()));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether a source has the documents of a collection.
fn reads(source: &IndexSource, collection: &str) -> bool {
    source.collection.as_ref().is_none_or(|source| id::is_same(source, collection))
}

fn refuse_own_loop(definition: &MapIndex, output: &Output) -> Result<()> {
    let name = definition.name();
    for source in definition.sources() {
        let Some(collection) = output.collections().find(|collection| reads(&source, collection)) else { continue };
        let why = match source.collection {
            None => "this index is mapping all documents".to_owned(),
            Some(_) => format!("this index is mapping or referencing the '{collection}' collection"),
        };
        return refuse(format!(
            "It is forbidden to create the '{name}' index which would output reduce results to documents in the '{collection}' collection, as {why} and this will result in an infinite loop."
        ));
    }
    Ok(())
}

fn refuse<T>(reason: String) -> Result<T> {
    Err(Error::IndexOutput { reason })
}
