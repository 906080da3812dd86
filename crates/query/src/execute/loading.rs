//! `load path as alias` of a query: the documents that another one names.

use crate::plan::{Load, LoadIds};
use json::{Path, Raw};
use script::{Document, Input};

/// `load path as alias` found several documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Attempted to read multiple values in a field that should have only a single value, did you forget '[]' ?")]
pub struct SeveralLoaded;

/// A `load` that is ready to be run.
#[derive(Debug)]
pub struct Loading<'l> {
    load: &'l Load,
    path: Option<Path>,
}

impl<'l> Loading<'l> {
    /// Takes its path apart.
    pub fn new(load: &'l Load) -> Loading<'l> {
        let path = match &load.ids {
            LoadIds::Path(path) => Some(Path::new(path)),
            LoadIds::Given(_) => None,
        };
        Loading { load, path }
    }

    /// The ids of the documents that a document names.
    ///
    /// # Errors
    ///
    /// [`SeveralLoaded`] if there are several and there has to be one.
    pub fn ids(&self, document: Raw<'_>) -> Result<Vec<String>, SeveralLoaded> {
        let ids: Vec<String> = match (&self.path, &self.load.ids) {
            (Some(path), _) => path.texts(document).into_iter().map(|id| id.into_owned()).collect(),
            (None, LoadIds::Given(ids)) => ids.clone(),
            (None, LoadIds::Path(_)) => Vec::new(),
        };
        if ids.len() > 1 && !self.load.is_array { Err(SeveralLoaded) } else { Ok(ids) }
    }

    /// What a script gets of them.
    pub fn input<'d>(&self, documents: &'d [Document]) -> Input<'d> {
        match documents {
            documents if self.load.is_array => Input::Documents(documents),
            [document] => Input::Document(document),
            _ => Input::Null,
        }
    }
}
