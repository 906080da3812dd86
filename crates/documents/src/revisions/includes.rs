//! Revisions that are sent along with documents: `revisions=` and `revisionsBefore=` of a load, `include revisions(..)` of a query.
//!
//! Change vectors and times are gathered while documents are read; the revisions themselves are read one by one when the answer is written.

use std::collections::HashSet;

use json::{Path, PathMatch, Raw, Writer};

use super::RevisionPlace;
use crate::ids::id;
use crate::{Date, Error, Result, ResultsHash, Snapshot};

/// Which revisions come with documents.
#[derive(Clone, Debug, Default)]
pub struct RevisionClause {
    paths: Vec<(String, Path)>,
    times: Vec<Date>,
}

/// The revisions that documents asked for, each once.
#[derive(Debug, Default)]
pub struct RevisionIncludes {
    /// Change vectors, in the order in which documents named them.
    vectors: Vec<String>,
    seen: HashSet<String>,
    /// Documents whose state at a time is wanted.
    times: Vec<(Date, String)>,
    seen_times: HashSet<(Date, Vec<u8>)>,
    size: usize,
}

/// A revision that comes with an answer.
#[derive(Clone, Copy, Debug)]
pub struct IncludedRevision {
    /// The time that it was asked for by; `None`: by its change vector.
    before: Option<Date>,
    place: RevisionPlace,
}

impl RevisionClause {
    /// Adds a path to change vectors of revisions: the value there is one, or an array of them.
    pub fn add_path(&mut self, path: &str) {
        self.paths.push((path.to_owned(), Path::new(path)));
    }

    /// Adds a time: the state of each document at it.
    pub fn add_time(&mut self, time: Date) {
        self.times.push(time);
    }

    /// True if it asks for no revisions.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.times.is_empty()
    }

    /// True if it asks for revisions whose change vectors documents have.
    pub fn has_paths(&self) -> bool {
        !self.paths.is_empty()
    }
}

impl RevisionIncludes {
    /// Adds the revisions whose change vectors a document, or what is made of it, has at the paths.
    ///
    /// # Errors
    ///
    /// [`Error::BadRevision`] if it has nothing at a path; null is something.
    pub fn add_vectors(&mut self, clause: &RevisionClause, json: Raw<'_>) -> Result<()> {
        for (name, path) in &clause.paths {
            let mut is_there = false;
            if name.is_empty() {
                return Err(missing_field(name));
            }
            path.visit(json, &mut |found| {
                is_there = true;
                let PathMatch::Value(value) = found else { return };
                match value.kind() {
                    json::Kind::Array => value.elements().for_each(|element| self.add_vector(element)),
                    _ => self.add_vector(value),
                }
            });
            if !is_there {
                return Err(missing_field(name));
            }
        }
        Ok(())
    }

    fn add_vector(&mut self, value: Raw<'_>) {
        let Some(vector) = value.as_str() else { return };
        if self.seen.insert(vector.clone().into_owned()) {
            self.size += 2 * (vector.len() + size_of::<String>());
            self.vectors.push(vector.into_owned());
        }
    }

    /// Adds the states that a document had at the times.
    pub fn add_times(&mut self, clause: &RevisionClause, document_id: &str) {
        for time in &clause.times {
            if self.seen_times.insert((*time, id::lower(document_id))) {
                self.size += 2 * (document_id.len() + size_of::<(Date, String)>());
                self.times.push((*time, document_id.to_owned()));
            }
        }
    }

    /// Bytes that it holds in memory, about.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Looks for each revision: those by time, then those by change vector. `None`: there is none.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn find<'r>(
        &'r self,
        snapshot: &'r Snapshot<'_>,
    ) -> impl Iterator<Item = Result<Option<IncludedRevision>>> + use<'r> {
        let by_time = self.times.iter().map(|(time, document_id)| {
            let place = snapshot.revision_place_before(document_id, *time)?;
            Ok(place.map(|place| IncludedRevision { before: Some(*time), place }))
        });
        let by_vector = self.vectors.iter().map(|vector| {
            let place = snapshot.revision_place_by_vector(vector)?;
            Ok(place.map(|place| IncludedRevision { before: None, place }))
        });
        by_time.chain(by_vector)
    }
}

impl IncludedRevision {
    /// Adds it to the ETag of an answer.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn add_to(&self, snapshot: &Snapshot<'_>, hash: &mut ResultsHash) -> Result<()> {
        hash.add(&snapshot.revision_at(self.place)?.document()?);
        Ok(())
    }

    /// Appends it as an element of `RevisionIncludes`.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn write(&self, snapshot: &Snapshot<'_>, out: &mut Vec<u8>) -> Result<()> {
        let revision = snapshot.revision_at(self.place)?;
        let document = revision.document()?;
        let mut body = Vec::with_capacity(revision.size());
        document.write_to(&mut body);
        Writer::new(out).object(|json| {
            json.name("Id").string(document.id()).name("ChangeVector").string(&document.change_vector());
            if let Some(time) = self.before {
                json.name("Before").string(&time.to_string());
            }
            json.name("Revision").raw(&body);
        });
        Ok(())
    }
}

fn missing_field(name: &str) -> Error {
    let rule = format!("Field `{name}` (which is mentioned inside `include revisions(..)`) is missing in document.");
    Error::BadRevision { rule }
}
