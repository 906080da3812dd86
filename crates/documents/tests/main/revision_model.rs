//! Revisions as lists: what each write keeps and removes, beside the store that does it. For histories without crashes and with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rookery_documents::*;
use testing::random::Random;

pub const ON: CollectionRevisions = CollectionRevisions {
    is_disabled: false,
    count_min: None,
    age_min: None,
    purges_on_delete: false,
    delete_count_max: None,
};

pub fn configure(store: &DocumentStore, collections: &[(&str, CollectionRevisions)]) {
    let collections = collections.iter().map(|(name, limits)| ((*name).to_owned(), *limits)).collect();
    let revisions = Arc::new(RevisionsConfiguration { default: None, collections });
    store.configure(StoreSettings { revisions, ..StoreSettings::default() });
}

/// A state of a document. The vector of a write that was not answered is not known.
#[derive(Clone, PartialEq, Eq)]
struct State {
    vector: Option<String>,
    /// `None`: deleted.
    body: Option<String>,
}

#[derive(Clone)]
struct Stored {
    vector: Option<String>,
    body: String,
    /// It has the flag of revisions.
    is_flagged: bool,
}

#[derive(Clone)]
pub struct Model {
    documents: BTreeMap<String, Stored>,
    /// The oldest first.
    histories: BTreeMap<String, Vec<State>>,
    /// How many revisions the configuration keeps; `None`: it is disabled.
    kept: Option<u64>,
}

impl Default for Model {
    fn default() -> Self {
        Model { documents: BTreeMap::new(), histories: BTreeMap::new(), kept: Some(5) }
    }
}

/// A write of a model.
enum Change {
    Put { id: String, body: String },
    Delete { id: String },
    Remove { id: String, vector: String },
}

impl Model {
    /// Configures a store that was opened.
    pub fn configure(&self, store: &DocumentStore) {
        let limits = CollectionRevisions { count_min: self.kept, is_disabled: self.kept.is_none(), ..ON };
        configure(store, &[("Users", limits)]);
    }

    /// Whether the state that a document has is its newest revision.
    fn is_kept(&self, id: &str) -> bool {
        let (Some(stored), Some(history)) = (self.documents.get(id), self.histories.get(id)) else { return false };
        let is_same = |state: &State| state.body.as_ref() == Some(&stored.body);
        history.iter().any(|state| state.vector == stored.vector) || history.last().is_some_and(is_same)
    }

    fn apply(&mut self, change: &Change, vector: Option<String>) {
        match change {
            Change::Put { id, body } => self.put(id, body, vector),
            Change::Delete { id } => self.delete(id, vector),
            Change::Remove { id, vector } => {
                let history = self.histories.get_mut(id).unwrap();
                history.retain(|state| state.vector.as_ref() != Some(vector));
            }
        }
    }

    fn put(&mut self, id: &str, body: &str, vector: Option<String>) {
        let is_kept = self.is_kept(id);
        let before = self.documents.get(id).cloned();
        let history = self.histories.entry(id.to_owned()).or_default();
        let is_same = before.as_ref().is_some_and(|before| before.body == body);
        let mut is_flagged = before.as_ref().map_or(!history.is_empty(), |before| before.is_flagged);
        if let Some(kept) = self.kept {
            if let Some(before) = before.filter(|_| !(is_flagged && (is_kept || is_same))) {
                history.push(State { vector: before.vector, body: Some(before.body) });
            }
            if !(is_flagged && is_kept && is_same) {
                history.push(State { vector: vector.clone(), body: Some(body.to_owned()) });
            }
            is_flagged = true;
            history.drain(..history.len().saturating_sub(kept as usize));
        }
        self.documents.insert(id.to_owned(), Stored { vector, body: body.to_owned(), is_flagged });
    }

    fn delete(&mut self, id: &str, vector: Option<String>) {
        let is_kept = self.is_kept(id);
        let Some(before) = self.documents.remove(id) else { return };
        let history = self.histories.entry(id.to_owned()).or_default();
        if self.kept.is_some() && !(before.is_flagged && is_kept) {
            history.push(State { vector: before.vector, body: Some(before.body) });
        }
        if self.kept.is_some() || before.is_flagged && !history.is_empty() {
            history.push(State { vector, body: None });
        }
        if let Some(kept) = self.kept {
            // The last state stays with its deletion.
            history.drain(..history.len().saturating_sub(kept.max(2) as usize));
        }
    }
}

/// One step of a history: a write, or a change of the configuration. `Err`: the store failed, and what there would be otherwise.
pub fn step(random: &mut Random, store: &DocumentStore, model: &mut Model) -> Result<(), Box<Model>> {
    let id = format!("users/{}", random.below(3));
    let history = model.histories.get(&id).map_or(&[][..], Vec::as_slice);
    let change = match random.below(12) {
        0 => {
            model.kept = (random.below(3) > 0).then(|| 1 + random.below(9));
            model.configure(store);
            return Ok(());
        }
        1 | 2 if model.documents.contains_key(&id) => Change::Delete { id },
        3 if !history.is_empty() => {
            let vector = random.of(history).vector.clone().unwrap();
            Change::Remove { id, vector }
        }
        _ => {
            let body = random_body(random, model.documents.get(&id).map(|stored| &stored.body));
            Change::Put { id, body }
        }
    };
    match write(store, &change) {
        Ok(vector) => {
            model.apply(&change, vector);
            Ok(())
        }
        Err(Error::Storage(_)) => {
            let mut next = model.clone();
            next.apply(&change, None);
            Err(Box::new(next))
        }
        Err(error) => panic!("{error}"),
    }
}

/// Writes, and gives the change vector of what was written.
fn write(store: &DocumentStore, change: &Change) -> Result<Option<String>, Error> {
    let mut batch = Batch::new();
    match change {
        Change::Put { id, body } => {
            let document = format!(r#"{{"N":{body},"@metadata":{{"@collection":"Users"}}}}"#);
            batch.put(id, document.as_bytes(), Expected::Any)?;
        }
        Change::Delete { id } => batch.delete(id, Expected::Any)?,
        Change::Remove { id, vector } => {
            let (document_ids, vectors) = (vec![id.clone()], vec![vector.clone()]);
            let write = RevisionsWrite::Delete { document_ids, vectors, from: None, to: None, with_forced: true };
            assert_eq!(store.apply(&Write::Revisions(write), store.stamp())?.answer.count()?, 1);
            return Ok(None);
        }
    }
    let outcome = store.apply(&Write::batch(batch), store.stamp())?.answer.outcome()?;
    match (outcome.results.as_slice(), change) {
        ([CommandResult::Put { change_vector, .. }], _) => Ok(Some(change_vector.clone())),
        (_, Change::Delete { id }) => {
            // That of the deletion, if it is kept.
            let snapshot = store.read();
            let place = snapshot.revisions(id, 0, 1)?.first().copied();
            let newest = place.map(|place| snapshot.revision_at(place)).transpose()?;
            newest.map(|newest| Ok(newest.document()?.change_vector())).transpose()
        }
        (results, _) => panic!("{results:?}"),
    }
}

fn random_body(random: &mut Random, before: Option<&String>) -> String {
    match before {
        Some(before) if random.below(3) > 0 => {
            let mut body = before.clone();
            let at = 1 + random.below(body.len() as u64 - 1) as usize;
            body.replace_range(at..at, &"xyz"[..random.below(3) as usize]);
            body
        }
        _ => {
            let size = [3, 300, 5_000][random.below(3) as usize];
            let text: String = (0..size).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
            format!("\"{text}\"")
        }
    }
}

/// Compares documents, revisions and the bin, and verifies the store.
#[track_caller]
pub fn compare(store: &DocumentStore, model: &Model) {
    let snapshot = store.read();
    for number in 0..3 {
        let id = format!("users/{number}");
        let stored = snapshot.get(&id).unwrap();
        let body = stored.map(|document| String::from_utf8_lossy(document.body().bytes()).into_owned());
        let expected = model.documents.get(&id).map(|stored| format!(r#"{{"N":{}}}"#, stored.body));
        assert_eq!(body, expected, "{id}");
        let history = model.histories.get(&id).map_or(&[][..], Vec::as_slice);
        let places = snapshot.revisions(&id, 0, u64::MAX).unwrap();
        assert_eq!(places.len(), history.len(), "{id}");
        for (place, state) in places.into_iter().rev().zip(history) {
            let revision = snapshot.revision_at(place).unwrap();
            let document = revision.document().unwrap();
            assert!(state.vector.as_ref().is_none_or(|vector| document.change_vector() == *vector), "{id}");
            assert_eq!(revision.is_deletion(), state.body.is_none(), "{id}");
            let expected = state.body.as_ref().map_or("{}".to_owned(), |body| format!(r#"{{"N":{body}}}"#));
            assert_eq!(String::from_utf8_lossy(document.body().bytes()), expected, "{id}");
        }
        let is_binned = snapshot
            .revisions_bin(0, 9)
            .unwrap()
            .into_iter()
            .any(|place| snapshot.revision_at(place).unwrap().document().unwrap().id() == id);
        let is_deleted = !model.documents.contains_key(&id) && history.last().is_some_and(|state| state.body.is_none());
        assert_eq!(is_binned, is_deleted, "{id}");
    }
    assert_eq!(snapshot.verify().unwrap().problems, Vec::<String>::new());
}
