//! The model that the document store is compared with: maps, random commands, and a reading of everything.

use std::collections::BTreeMap;

use rookery_documents::*;
use testing::random::Random;

#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub id: String,
    pub collection: &'static str,
    pub body: String,
    pub etag: u64,
    /// The metadata that the server maintains.
    pub server: String,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub documents: BTreeMap<String, Stored>,
    /// Etag to id and collection.
    pub tombstones: BTreeMap<u64, (String, &'static str)>,
    pub last_etag: u64,
    /// By lower-cased name with its `|`.
    pub identities: BTreeMap<String, i64>,
    /// The end of the last range of the tag `Tags`.
    pub hilo_max: u64,
}

pub const COLLECTIONS: [&str; 5] = ["Users", "Dogs", "@empty", "Ünïcode", "@hilo"];

/// Most documents come back in the collection where they were, some in another.
pub fn collection_of(random: &mut Random, key: &str) -> &'static str {
    let usual = key.bytes().map(usize::from).sum::<usize>();
    COLLECTIONS[(usual + usize::from(random.below(4) == 0)) % (COLLECTIONS.len() - 1)]
}

impl Model {
    /// The id that the store makes of one that ends with `/` or `|`: the first that is free.
    fn complete(&mut self, given: &str) -> (String, u64) {
        loop {
            let (id, etag) = if let Some(name) = given.strip_suffix('|') {
                (format!("{name}/{}", self.next_identity(given)), self.last_etag + 1)
            } else {
                self.last_etag += 1;
                (format!("{given}{:019}-A", self.last_etag), self.last_etag)
            };
            if !self.documents.contains_key(&key(&id)) {
                return (id, etag);
            }
        }
    }

    pub fn next_identity(&mut self, name: &str) -> i64 {
        let value = self.identities.entry(key(name)).or_default();
        *value += 1;
        *value
    }

    fn put(&mut self, mut stored: Stored) {
        let key = key(&stored.id);
        // Whatever clients write, this stays.
        if let Some(before) = self.documents.get(&key) {
            stored.server.clone_from(&before.server);
        }
        self.last_etag = stored.etag;
        self.tombstones.retain(|_, (dead, of)| *of != stored.collection || self::key(dead) != key);
        self.documents.insert(key, stored);
    }

    /// What the server does to the metadata that it maintains; false if there is no such document.
    pub fn maintain(&mut self, id: &str, server: &str) -> bool {
        let etag = self.last_etag + 1;
        let Some(stored) = self.documents.get_mut(&key(id)) else { return false };
        (stored.etag, stored.server) = (etag, server.to_owned());
        self.last_etag = etag;
        true
    }

    /// What giving a range does to the document that has its end.
    pub fn next_hilo(&mut self, range: &HiLoRange) {
        if !self.documents.contains_key("raven/hilo/tags") {
            self.hilo_max = 0;
        }
        assert_eq!(range.low, self.hilo_max + 1, "a range begins where the last one ended");
        self.hilo_max = range.high;
        let body = format!("{{\"Max\":{}}}", range.high);
        let etag = self.last_etag + 1;
        self.put(Stored { id: "Raven/Hilo/Tags".to_owned(), collection: "@hilo", body, etag, server: String::new() });
    }
}

pub fn random_id(random: &mut Random) -> String {
    let letters = ["a", "B", "ä", "Users/", "x/"];
    let mut id = letters[random.below(5) as usize].to_owned();
    id.push_str(&random.below(60).to_string());
    if random.below(2) == 0 { id.to_uppercase() } else { id }
}

pub fn key(id: &str) -> String {
    String::from_utf8(id::lower(id)).unwrap()
}

/// One command on both sides. `Err` if the model says that it must be refused.
pub fn command(
    random: &mut Random,
    batch: &mut Batch,
    skip_unchanged: bool,
    model: &mut Model,
    database_id: &str,
) -> Result<(), ()> {
    if random.below(8) == 0 {
        let given = ["Users/", "x/", "Users|", "b|"][random.below(4) as usize];
        // Somebody has stored documents under the numbers that are next.
        let copied = match given.strip_suffix('|') {
            Some(name) => format!("{name}/{}", model.identities.get(&key(given)).unwrap_or(&0) + 1),
            None => format!("{given}{:019}-A", model.last_etag + 2),
        };
        if random.below(2) == 0 && !model.documents.contains_key(&key(&copied)) {
            batch.put(&copied, b"{}", Expected::Any).unwrap();
            let etag = model.last_etag + 1;
            model.put(Stored { id: copied, collection: "@empty", body: "{}".to_owned(), etag, server: String::new() });
        }
        batch.put(given, b"{}", Expected::Any).unwrap();
        let (id, etag) = model.complete(given);
        model.put(Stored { id, collection: "@empty", body: "{}".to_owned(), etag, server: String::new() });
        return Ok(());
    }
    let id = random_id(random);
    let key = key(&id);
    let current = model.documents.get(&key).map(|stored| format!("A:{}-{database_id}", stored.etag));
    let (expected, holds) = match random.below(8) {
        0 => (Expected::Missing, current.is_none()),
        1 => (Expected::Vector("A:999999-x".to_owned()), false),
        2 | 3 if current.is_some() => (Expected::Vector(current.clone().unwrap()), true),
        _ => (Expected::Any, true),
    };
    match random.below(10) {
        0..=6 => {
            let collection = match model.documents.get(&key) {
                Some(stored) => stored.collection,
                None => collection_of(random, &key),
            };
            let size = [10, 300, 3000, 30_000][random.below(4) as usize] as usize;
            let same = model.documents.get(&key).filter(|_| random.below(4) == 0);
            let body = same.map(|stored| stored.body.clone()).unwrap_or_else(|| {
                format!("{{\"N\":{},\"S\":\"{}\"}}", random.next(), "s".repeat(random.below(size as u64) as usize))
            });
            let metadata = match collection {
                "@empty" => String::new(),
                name => format!(",\"@metadata\":{{\"@collection\":\"{name}\"}}"),
            };
            let text = match &body[..body.len() - 1] {
                "{" if metadata.is_empty() => "{}".to_owned(),
                "{" => format!("{{{}}}", &metadata[1..]),
                members => format!("{members}{metadata}}}"),
            };
            batch.put(&id, text.as_bytes(), expected).unwrap();
            if !holds {
                return Err(());
            }
            if !skip_unchanged || model.documents.get(&key).is_none_or(|stored| stored.body != body) {
                let etag = model.last_etag + 1;
                model.put(Stored { id, collection, body, etag, server: String::new() });
            }
        }
        7 | 8 => {
            batch.delete(&id, expected).unwrap();
            if !holds {
                return Err(());
            }
            if let Some(stored) = model.documents.remove(&key) {
                model.last_etag += 1;
                model.tombstones.insert(model.last_etag, (stored.id, stored.collection));
            }
        }
        _ => {
            let prefix = &id[..id.len() - 1];
            batch.delete_prefixed(prefix).unwrap();
            let prefix = self::key(prefix);
            let keys: Vec<String> = model.documents.keys().filter(|key| key.starts_with(&prefix)).cloned().collect();
            for key in keys {
                let stored = model.documents.remove(&key).unwrap();
                model.last_etag += 1;
                model.tombstones.insert(model.last_etag, (stored.id, stored.collection));
            }
        }
    }
    Ok(())
}

pub fn compare(store: &DocumentStore, model: &Model) {
    let snapshot = store.read();
    let stored = |document: &Document<'_>| Stored {
        id: document.id().to_owned(),
        collection: COLLECTIONS
            .into_iter()
            .find(|name| *name == document.collection().as_deref().unwrap_or("@empty"))
            .unwrap(),
        body: String::from_utf8(document.body().bytes().to_vec()).unwrap(),
        etag: document.etag(),
        server: String::from_utf8(document.server_metadata().to_vec()).unwrap(),
    };
    let everything = PrefixQuery { count_max: u64::MAX, ..PrefixQuery::default() };
    let by_id: Vec<Stored> = snapshot.by_prefix(everything).unwrap().map(|d| stored(&d.unwrap())).collect();
    assert_eq!(by_id, model.documents.values().cloned().collect::<Vec<_>>());

    let mut by_etag: Vec<Stored> = model.documents.values().cloned().collect();
    by_etag.sort_by_key(|stored| stored.etag);
    assert_eq!(snapshot.after(0).map(|d| stored(&d.unwrap())).collect::<Vec<_>>(), by_etag);
    let middle = model.last_etag / 2;
    let late: Vec<u64> = by_etag.iter().map(|stored| stored.etag).filter(|etag| *etag > middle).collect();
    assert_eq!(snapshot.after(middle).map(|d| d.unwrap().etag()).collect::<Vec<_>>(), late);
    by_etag.reverse();
    assert_eq!(snapshot.latest().map(|d| stored(&d.unwrap())).collect::<Vec<_>>(), by_etag);
    by_etag.reverse();

    let tombstones: Vec<_> = snapshot
        .deletions(&[ItemKind::Document], None, 0)
        .unwrap()
        .map(|t| t.map(|t| (t.etag(), t.id().to_owned())).unwrap())
        .collect();
    assert_eq!(tombstones, model.tombstones.iter().map(|(etag, (id, _))| (*etag, id.clone())).collect::<Vec<_>>());
    for name in COLLECTIONS {
        let expected: Vec<Stored> = by_etag.iter().filter(|stored| stored.collection == name).cloned().collect();
        let found: Vec<_> = snapshot.collection_after(name, 0).unwrap().map(|d| d.unwrap()).collect();
        assert_eq!(found.iter().map(&stored).collect::<Vec<_>>(), expected);
        let dead = model.tombstones.values().filter(|(_, collection)| *collection == name).count();
        assert_eq!(snapshot.deletions(&[ItemKind::Document], Some(name), 0).unwrap().count(), dead);
        if let Some(collection) = snapshot.collection(name).unwrap() {
            assert_eq!(
                (collection.documents().count, collection.documents().tombstone_count),
                (expected.len() as u64, dead as u64)
            );
            assert_eq!(collection.documents().size, found.iter().map(|d| d.size() as u64).sum::<u64>());
        }
    }
    assert_eq!(snapshot.last_etag().unwrap(), model.last_etag);
    assert_eq!(snapshot.identities().unwrap().into_iter().collect::<BTreeMap<_, _>>(), model.identities);
    assert_eq!(snapshot.statistics().unwrap().identity_count, model.identities.len() as u64);
}
