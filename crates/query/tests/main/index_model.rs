//! A model of an index: plain maps, evaluated entry by entry. And random batches for both.

use rookery_query::index::{
    Batch, Entry, EntryId, EntryIds, FieldNumber, Index, IndexSnapshot, Kind, Number, Progress, StoredTerm, Term,
};
use rookery_query::vector::{self, VectorOptions};
use std::collections::{BTreeMap, BTreeSet};
use testing::random::Random;

pub const FIELDS: [&str; 4] = ["Name", "Age", "Tags", "Note"];
pub const SOURCE: &str = "Users";

/// Terms of an entry by field.
pub type Terms = BTreeSet<(usize, StoredTerm)>;

/// What an index must hold: ids of entries and their terms.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Model {
    pub documents: BTreeMap<String, Vec<u64>>,
    pub entries: BTreeMap<u64, (String, Terms)>,
    pub next_entry: u64,
    /// The etag of the last batch.
    pub etag: u64,
}

impl Model {
    pub fn new() -> Model {
        Model { next_entry: 1, ..Model::default() }
    }

    /// The rule: entries keep their ids one by one, then come new ids, or what is left over goes.
    fn put(&mut self, document: &str, entries: &[Terms]) {
        let key = document.to_lowercase();
        let mut ids = self.documents.remove(&key).unwrap_or_default();
        for id in ids.split_off(entries.len().min(ids.len())) {
            self.entries.remove(&id);
        }
        while ids.len() < entries.len() {
            ids.push(self.next_entry);
            self.next_entry += 1;
        }
        for (id, terms) in ids.iter().zip(entries) {
            self.entries.insert(*id, (document.to_owned(), terms.clone()));
        }
        if !ids.is_empty() {
            self.documents.insert(key, ids);
        }
    }

    pub fn find(&self, holds: impl Fn(&Terms) -> bool) -> Vec<u64> {
        self.entries.iter().filter(|(_, (_, terms))| holds(terms)).map(|(id, _)| *id).collect()
    }
}

pub fn borrowed(term: &StoredTerm) -> Term<'_> {
    match term {
        StoredTerm::Null => Term::Null,
        StoredTerm::Text(text) | StoredTerm::Cut(text) => Term::Text(text),
        StoredTerm::Number(number) => Term::Number(*number),
    }
}

pub fn random_text(random: &mut Random) -> String {
    match random.below(12) {
        0 => String::new(),
        1 => ["\0", "\u{1}", "a\0b", "a", "a\u{1}", "ä", "\u{10ffff}"][random.below(7) as usize].to_owned(),
        2..=4 => format!("t{}", random.below(3)),
        5 => "true".to_owned(),
        _ => format!("name{}", random.below(60)),
    }
}

pub fn random_number(random: &mut Random) -> Number {
    match random.below(8) {
        0 => Number::Double(random.below(40) as f64 / 4.0 - 3.0),
        1 => Number::Long(i64::MAX - random.below(3) as i64),
        2 => Number::Long((1 << 53) + random.below(3) as i64),
        3 => Number::Double((1u64 << 53) as f64),
        _ => Number::Long(random.below(30) as i64 - 10),
    }
}

pub fn random_term(random: &mut Random, field: usize) -> StoredTerm {
    match (random.below(14), field) {
        (0, _) => StoredTerm::Null,
        (_, 1) => StoredTerm::Number(random_number(random)),
        _ => StoredTerm::Text(random_text(random)),
    }
}

fn random_entry(random: &mut Random) -> Terms {
    let mut terms = Terms::new();
    for field in 0..FIELDS.len() {
        let count = match field {
            _ if random.chance(8) => 0,
            2 => random.below(4),
            _ => 1,
        };
        for _ in 0..count {
            let term = random_term(random, field);
            if let StoredTerm::Number(number) = term {
                terms.insert((field, StoredTerm::Text(format!("{number:?}"))));
            }
            terms.insert((field, term));
        }
    }
    terms
}

/// Adds many documents with few terms, so that lists have blocks.
pub fn crowd(random: &mut Random, fields: &[FieldNumber], documents: u64, batch: &mut Batch, model: &mut Model) {
    for document in 0..documents {
        let mut terms = Terms::from([(0, StoredTerm::Text(format!("t{}", random.below(3))))]);
        if random.chance(2) {
            let number = Number::Long(random.below(3) as i64);
            terms.extend([(1, StoredTerm::Number(number)), (2, StoredTerm::Null)]);
        }
        let id = format!("users/{document}");
        batch.put(&id, document, &mut [entry_of(&terms, fields)]).unwrap();
        model.put(&id, &[terms]);
    }
    model.etag += documents;
    batch.set_progress(SOURCE, Progress { items: model.etag, tombstones: model.etag / 2 }).unwrap();
}

/// Adds random changes to a batch and a model.
pub fn random_batch(random: &mut Random, fields: &[FieldNumber], documents: u64, batch: &mut Batch, model: &mut Model) {
    let many = random.chance(6);
    let changes = if many { 100 + random.below(500) } else { random.below(12) };
    // Now and then most of what there is goes, so that lists shrink and blocks are joined.
    let removals = *random.of(&[2, 2, 10]);
    let mut puts: Vec<(String, Vec<Terms>)> = Vec::new();
    for _ in 0..changes {
        let id = *random.of(&["users/", "Users/", "USERS/"]);
        let id = format!("{id}{}", random.below(documents));
        let entries: Vec<Terms> = match random.below(10) {
            _ if removals > random.below(12) => Vec::new(),
            0 => (0..random.below(5)).map(|_| random_entry(random)).collect(),
            // Mostly as it was, but for one term.
            1..=4 if model.documents.contains_key(&id.to_lowercase()) => {
                let ids = &model.documents[&id.to_lowercase()];
                let mut entries: Vec<Terms> = ids.iter().map(|id| model.entries[id].1.clone()).collect();
                let entry = &mut entries[0];
                entry.pop_last();
                entry.insert((3, random_term(random, 3)));
                entries
            }
            _ => vec![random_entry(random)],
        };
        let mut given: Vec<Entry> = entries.iter().map(|terms| entry_of(terms, fields)).collect();
        batch.put(&id, random.below(9), &mut given).unwrap();
        puts.push((id, entries));
    }
    // Of several changes of one document the last counts.
    for (index, (id, entries)) in puts.iter().enumerate() {
        let is_last = puts[index + 1..].iter().all(|(later, _)| later.to_lowercase() != id.to_lowercase());
        if is_last {
            model.put(id, entries);
        }
    }
    model.etag += 1 + random.below(10);
    batch.set_progress(SOURCE, Progress { items: model.etag, tombstones: model.etag / 2 }).unwrap();
}

pub fn entry_of(terms: &Terms, fields: &[FieldNumber]) -> Entry {
    let mut entry = Entry::new();
    // Backwards, and some twice: the order does not matter.
    for (field, term) in terms.iter().rev().chain(terms.iter().take(1)) {
        entry.add(fields[*field], borrowed(term)).unwrap();
    }
    // Behind the fields of the model there may be one for a vector, which follows from the terms; some entries have the same
    // one, some none.
    if let (Some(field), Some((_, first))) = (fields.get(FIELDS.len()), terms.first()) {
        let components = format!("{first:?}")
            .bytes()
            .rev()
            .chain(std::iter::repeat(1))
            .take(6)
            .map(|byte| byte.to_string())
            .collect::<Vec<_>>();
        let text = format!("[{}]", components.join(","));
        let options = VectorOptions::default();
        vector::read(json::Raw::new(text.as_bytes()), &options, &mut |dimensions, stored| {
            entry.add_vector(*field, &options, dimensions, stored)
        })
        .unwrap();
    }
    entry
}

/// The name of the field for a vector.
pub const VECTOR: &str = "Vector";

pub fn fields_of(index: &Index) -> Vec<FieldNumber> {
    FIELDS.iter().map(|name| index.field(name).unwrap()).collect()
}

pub fn all(mut entries: impl EntryIds) -> Vec<u64> {
    let mut ids = Vec::new();
    while let Some(EntryId(id)) = entries.next().unwrap() {
        ids.push(id);
    }
    assert_eq!(entries.next().unwrap(), None, "it goes on after its end");
    ids
}

/// Everything that a snapshot shows: all entries and documents, and the rules of the format.
pub fn compare(snapshot: &IndexSnapshot<'_>, model: &Model, fields: &[FieldNumber]) {
    let found = snapshot.verify().unwrap();
    assert_eq!(found.problems, Vec::<String>::new());
    let progress = snapshot.progress(SOURCE).unwrap().unwrap_or_default();
    assert_eq!(progress, Progress { items: model.etag, tombstones: model.etag / 2 });
    let counts = (snapshot.entry_count(), snapshot.document_count());
    assert_eq!(counts, (model.entries.len() as u64, model.documents.len() as u64));
    assert_eq!(all(snapshot.all()), model.find(|_| true));
    for (document, ids) in &model.documents {
        let found: Vec<u64> = snapshot.entries_of(document).unwrap().iter().map(|id| id.0).collect();
        assert_eq!(found, *ids, "{document}");
    }
    for (id, (document, terms)) in &model.entries {
        let entry = snapshot.entry(EntryId(*id)).unwrap().expect("an entry of the model");
        assert_eq!(entry.document(), document);
        for (field, number) in fields.iter().enumerate() {
            let expected: Vec<StoredTerm> =
                terms.iter().filter(|(of, _)| *of == field).map(|(_, term)| term.clone()).collect();
            assert_eq!(entry.values(*number).unwrap(), expected);
        }
    }
}

pub fn kind_of(term: &StoredTerm) -> Kind {
    borrowed(term).kind()
}
