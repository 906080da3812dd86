//! `load path as alias` of a query: the documents that another one names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::limits::LOADED_MAX;
use crate::plan::{Load, LoadIds};
use json::{Path, Raw};
use script::{Document, Input};

/// `load` is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LoadRefused {
    /// `load path as alias` found several documents.
    #[error("Attempted to read multiple values in a field that should have only a single value, did you forget '[]' ?")]
    Several,
    /// The documents of a result's `load` are too many.
    #[error("'load' of one result names over LOADED_MAX = {LOADED_MAX} documents")]
    TooMany,
}

/// The `load` clauses of a query, ready to be run.
#[derive(Debug)]
pub struct Loads<'l> {
    loads: Vec<Loading<'l>>,
}

#[derive(Debug)]
struct Loading<'l> {
    load: &'l Load,
    ids: Ids<'l>,
}

/// Where the ids of the documents are.
#[derive(Debug)]
enum Ids<'l> {
    /// In the document that was found, or in what an index stores of it, if that has the field.
    Found {
        path: Path,
        field: &'l str,
    },
    /// In what another load found, by its number.
    Loaded {
        path: Path,
        load: usize,
    },
    Given(&'l [String]),
}

impl<'l> Loads<'l> {
    /// Takes their paths apart.
    pub fn new(loads: &'l [Load]) -> Loads<'l> {
        let ids = |at: usize, load: &'l Load| match &load.ids {
            LoadIds::Path(path) => {
                Ids::Found { path: Path::new(path), field: path.split(['.', '[']).next().unwrap_or_default() }
            }
            LoadIds::Loaded { alias, path } => {
                let before = loads.get(..at).unwrap_or_default();
                let load = before.iter().rposition(|load| load.alias == *alias);
                Ids::Loaded { path: Path::new(path), load: load.unwrap_or(usize::MAX) }
            }
            LoadIds::Given(ids) => Ids::Given(ids),
        };
        Loads { loads: loads.iter().enumerate().map(|(at, load)| Loading { load, ids: ids(at, load) }).collect() }
    }

    /// Loads what a document names: the documents of each clause that are there.
    ///
    /// * `stored`: an object that an index stores of the document; its fields stand for those of the document.
    /// * `find`: gives a document by its id; `None`: there is none. It is asked once for each id.
    ///
    /// # Errors
    ///
    /// [`LoadRefused`]; those of `find`.
    pub fn load<E: From<LoadRefused>>(
        &self,
        document: Raw<'_>,
        stored: Option<Raw<'_>>,
        mut find: impl FnMut(&str) -> Result<Option<Document>, E>,
    ) -> Result<Vec<Vec<Document>>, E> {
        let mut loaded: Vec<Vec<Document>> = Vec::with_capacity(self.loads.len());
        let mut known = HashMap::<String, Option<Document>>::new();
        let mut room = LOADED_MAX;
        for Loading { load, ids } in &self.loads {
            let texts = |path: &Path, value: Raw<'_>| -> Vec<String> {
                path.texts(value).into_iter().map(|id| id.into_owned()).collect()
            };
            let ids: Vec<String> = match ids {
                Ids::Found { path, field } => {
                    texts(path, stored.filter(|stored| stored.get(field).is_some()).unwrap_or(document))
                }
                Ids::Loaded { path, load } => {
                    let documents = loaded.get(*load).into_iter().flatten();
                    documents.flat_map(|document| texts(path, Raw::new(&document.json))).take(room + 1).collect()
                }
                Ids::Given(ids) => ids.to_vec(),
            };
            if ids.len() > 1 && !load.is_array {
                return Err(LoadRefused::Several.into());
            }
            room = room.checked_sub(ids.len()).ok_or(LoadRefused::TooMany)?;
            let mut documents = Vec::with_capacity(ids.len());
            for id in ids {
                let found = match known.entry(id) {
                    Entry::Occupied(known) => known.get().clone(),
                    Entry::Vacant(unknown) => {
                        let found = find(unknown.key())?;
                        unknown.insert(found).clone()
                    }
                };
                // What is not there is not among several either.
                documents.extend(found);
            }
            loaded.push(documents);
        }
        Ok(loaded)
    }

    /// Whether each of them finds several documents.
    pub fn are_arrays(&self) -> impl Iterator<Item = bool> {
        self.loads.iter().map(|Loading { load, .. }| load.is_array)
    }

    /// What a script gets of what was loaded.
    ///
    /// * `loaded`: as [`Loads::load`] gives it.
    pub fn inputs<'d>(&self, loaded: &'d [Vec<Document>]) -> impl Iterator<Item = Input<'d>> {
        self.loads.iter().zip(loaded).map(|(Loading { load, .. }, documents)| match documents.as_slice() {
            documents if load.is_array => Input::Documents(documents),
            [document] => Input::Document(document),
            _ => Input::Null,
        })
    }
}
