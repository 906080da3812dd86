//! What one run knows and wants: shared by the engine's functions and who runs it.

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::Error;
use crate::host::{Document, Key};
use crate::origin::Origin;
use crate::outcome::Effect;

/// A question that ends a run, which begins anew with the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// A document, by its id.
    Document(String),
    /// A compare-exchange value, by its key.
    Value(String),
    /// A whole id for a document that is put under this one.
    Id(String),
}

/// The state of a run.
#[derive(Debug, Default)]
pub(crate) struct RunState {
    /// Whether it may put and delete.
    pub may_write: bool,
    /// Documents that it was given, that were loaded, and that it put: each by the number that the engine knows it by.
    pub documents: Vec<Rc<Document>>,
    /// How ids are compared. `None`: no run began.
    key: Option<Key>,
    /// Documents by the keys of their ids, as this run sees them; `None`: there is none.
    by_id: HashMap<Vec<u8>, Option<usize>>,
    /// New ids that this run was given.
    pub ids_taken: usize,
    /// Why it was given up.
    pub question: Option<Question>,
    /// A mistake in a call of the host, which the script cannot catch.
    pub refused: Option<Error>,
    pub effects: Vec<Effect>,
    pub includes: Vec<String>,
    /// Keys of compare-exchange values to include.
    pub included_values: Vec<String>,
    pub printed: Vec<String>,
    pub loaded: Vec<(String, bool)>,
    /// Texts that have origins in them.
    pub texts: Vec<Rc<[u8]>>,
    pub origins: Vec<Origin>,
    /// What the host answered, for this run and those that begin anew.
    pub answers: Answers,
}

/// The answers of the host.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// By the keys of their ids.
    documents: HashMap<Vec<u8>, Option<Rc<Document>>>,
    /// By their keys, compared as ids are.
    values: HashMap<Vec<u8>, Option<Rc<[u8]>>>,
    pub ids: Vec<String>,
}

impl RunState {
    /// Forgets all but the answers.
    pub fn begin(&mut self, may_write: bool, key: Key) {
        let answers = std::mem::take(&mut self.answers);
        *self = RunState { may_write, key: Some(key), answers, ..RunState::default() };
    }

    fn key_of(&self, id: &str) -> Vec<u8> {
        self.key.map_or_else(|| id.as_bytes().to_vec(), |key| key(id))
    }

    /// The host's answer to the question for a document.
    pub fn answer(&mut self, id: &str, document: Option<Rc<Document>>) {
        self.answers.documents.insert(self.key_of(id), document);
    }

    /// The host's answer to the question for a value.
    pub fn answer_value(&mut self, key: &str, value: Option<Rc<[u8]>>) {
        self.answers.values.insert(self.key_of(key), value);
    }

    /// The value with a key, if there is one; `Err`: it is not known yet.
    pub fn value(&mut self, key: &str) -> Result<Option<Rc<[u8]>>, ()> {
        match self.answers.values.get(&self.key_of(key)) {
            Some(answer) => Ok(answer.clone()),
            None => {
                self.question.get_or_insert(Question::Value(key.to_owned()));
                Err(())
            }
        }
    }

    /// From here on, this is the document under an id; `None`: there is none.
    pub fn set(&mut self, id: &str, document: Option<usize>) {
        self.by_id.insert(self.key_of(id), document);
    }

    /// The number of a document, if there is one; `Err`: it is not known yet.
    pub fn document(&mut self, id: &str) -> Result<Option<usize>, ()> {
        let key = self.key_of(id);
        if let Some(known) = self.by_id.get(&key) {
            return Ok(*known);
        }
        match self.answers.documents.get(&key) {
            None => {
                self.question.get_or_insert(Question::Document(id.to_owned()));
                Err(())
            }
            Some(answer) => {
                let place = answer.clone().map(|document| self.add(document));
                self.by_id.insert(key, place);
                Ok(place)
            }
        }
    }

    /// Gives a document its number.
    pub fn add(&mut self, document: Rc<Document>) -> usize {
        self.documents.push(document);
        self.documents.len() - 1
    }

    /// The next whole id for `given`; `Err`: there is none yet.
    pub fn new_id(&mut self, given: &str) -> Result<String, ()> {
        let Some(id) = self.answers.ids.get(self.ids_taken).cloned() else {
            self.question.get_or_insert(Question::Id(given.to_owned()));
            return Err(());
        };
        self.ids_taken += 1;
        Ok(id)
    }

    /// How many things it wants of the host: effects, includes, lines.
    pub fn count(&self) -> usize {
        self.effects.len() + self.includes.len() + self.included_values.len() + self.printed.len()
    }
}
