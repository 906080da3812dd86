//! What one run knows and wants: shared by the engine's functions and who runs it.

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::Error;
use crate::host::{Counter, Document, Key};
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
    /// A counter, by the id of its document and its name.
    Counter(String, String),
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
    /// Counters that this run changes.
    counters: HashMap<CounterKey, CounterChange>,
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
    /// By the keys of their documents' ids and of their names.
    counters: HashMap<CounterKey, Rc<Counter>>,
}

/// The keys of a document's id and of the name of its counter.
type CounterKey = (Vec<u8>, Vec<u8>);

/// What a run does to a counter.
#[derive(Debug, Default)]
struct CounterChange {
    /// What the host has does not count.
    is_deleted: bool,
    /// The sum of the increments since.
    delta: Option<i64>,
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

    fn counter_key(&self, id: &str, name: &str) -> CounterKey {
        (self.key_of(id), self.key_of(name))
    }

    /// The host's answer to the question for a counter.
    pub fn answer_counter(&mut self, id: &str, name: &str, counter: Counter) {
        self.answers.counters.insert(self.counter_key(id, name), Rc::new(counter));
    }

    /// The values of a counter, as this run sees them; `Ok(None)`: there is none, `Err`: it is not known yet.
    pub fn counter(&mut self, id: &str, name: &str) -> Result<Option<Vec<(String, i64)>>, ()> {
        let key = self.counter_key(id, name);
        let Some(answer) = self.answers.counters.get(&key) else {
            self.question.get_or_insert(Question::Counter(id.to_owned(), name.to_owned()));
            return Err(());
        };
        let change = self.counters.get(&key);
        let stored = answer.values.clone().filter(|_| !change.is_some_and(|change| change.is_deleted));
        let Some(delta) = change.and_then(|change| change.delta) else { return Ok(stored) };
        let mut values = stored.unwrap_or_default();
        match values.iter_mut().find(|(database, _)| *database == answer.own) {
            Some((_, value)) => *value = value.saturating_add(delta),
            None => values.push((answer.own.clone(), delta)),
        }
        Ok(Some(values))
    }

    /// Changes a counter.
    ///
    /// * `delta`: what is added to it; `None`: it is deleted.
    pub fn change_counter(&mut self, id: &str, name: &str, delta: Option<i64>) {
        let key = self.counter_key(id, name);
        match delta {
            Some(delta) => {
                let change = self.counters.entry(key).or_default();
                // What is no 64-bit number is refused when it is written.
                change.delta = Some(change.delta.unwrap_or_default().saturating_add(delta));
            }
            None => _ = self.counters.insert(key, CounterChange { is_deleted: true, delta: None }),
        }
        self.effects.push(Effect::Counter { id: id.to_owned(), name: name.to_owned(), delta });
    }

    /// How many things it wants of the host: effects, includes, lines.
    pub fn count(&self) -> usize {
        self.effects.len() + self.includes.len() + self.included_values.len() + self.printed.len()
    }
}
