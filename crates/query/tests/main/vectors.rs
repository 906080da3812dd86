//! Vectors and their graphs: random documents that come, change and go, against a list that is gone through one by one.

use rookery_query::definition::{Analysis, AutomaticIndex, FieldName, VectorField};
use rookery_query::execute::{EntryId, find};
use rookery_query::index::{Batch, Entry, Error, Index};
use rookery_query::plan::{
    Condition, FieldUse, IndexChoice, IndexQuery, Page, SortBy, SortKey, VectorQuery, VectorTarget,
};
use rookery_query::vector::{self, VectorOptions};
use std::collections::BTreeMap;
use storage::Options;
use testing::random::Random;

/// Random vectors.
struct Numbers(Random);

impl Numbers {
    fn new(seed: u64) -> Numbers {
        Numbers(Random::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next()
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    /// A component from -1 to 1.
    fn component(&mut self) -> f64 {
        self.next() as f64 / u64::MAX as f64 * 2.0 - 1.0
    }

    /// The text of a vector as a document has it.
    fn vector(&mut self, options: &VectorOptions, dimensions: usize) -> String {
        let mut component = || match options.function() {
            Some("i8") => (self.below(255) as i64 - 127).to_string(),
            Some("i1") => self.below(256).to_string(),
            _ => self.component().to_string(),
        };
        let mut components: Vec<String> = (0..dimensions).map(|_| component()).collect();
        if options.function() == Some("i8") {
            components.extend(["0", "0", "-128", "63"].map(str::to_owned));
        }
        format!("[{}]", components.join(","))
    }
}

fn kept(options: &VectorOptions, text: &str) -> Vec<(usize, Vec<u8>)> {
    let mut kept = Vec::new();
    vector::read(json::Raw::new(text.as_bytes()), options, &mut |dimensions, stored| {
        kept.push((dimensions, stored.to_vec()));
        Ok::<(), vector::VectorError>(())
    })
    .unwrap();
    kept
}

/// An index over one field of vectors, and what it should have.
struct Tested {
    index: Index,
    definition: AutomaticIndex,
    field: FieldUse,
    options: VectorOptions,
    /// Texts of the vectors of each document.
    model: BTreeMap<String, Vec<String>>,
}

impl Tested {
    fn new(function: &str) -> Tested {
        let options = VectorOptions::of_function(function).unwrap();
        let field = VectorField { path: "V", options }.field().unwrap();
        let name = FieldName { path: field.name.path.clone(), is_quoted: false };
        let definition = AutomaticIndex::new(None, [field]);
        let index = Index::in_memory(Options::default()).unwrap().with_vectors().unwrap();
        let field = FieldUse { name, analysis: Analysis::LowerCase };
        Tested { index, definition, field, options, model: BTreeMap::new() }
    }

    /// Gives documents these vectors, in one batch; none: they go.
    fn write(&mut self, changes: Vec<(String, Vec<String>)>) {
        let field = self.index.field(&self.field.name.path).unwrap();
        let mut batch = Batch::new();
        for (id, vectors) in changes {
            let mut entry = Entry::new();
            for text in &vectors {
                for (dimensions, stored) in kept(&self.options, text) {
                    entry.add_vector(field, &self.options, dimensions, &stored).unwrap();
                }
            }
            if vectors.is_empty() {
                batch.remove(&id).unwrap();
                self.model.remove(&id);
            } else {
                batch.put(&id, 1, &mut [entry]).unwrap();
                self.model.insert(id, vectors);
            }
        }
        self.index.write(&batch).unwrap();
    }

    fn verify(&self) {
        assert_eq!(self.index.read().unwrap().verify().unwrap().problems, Vec::<String>::new());
    }

    /// The documents that are found, the nearest first, with how near each is.
    fn ask(&self, asked: VectorTarget, count_max: usize, similarity_min: f32, is_exact: bool) -> Vec<(String, f32)> {
        let query = VectorQuery { asked, similarity_min, count_max, is_exact, found: None };
        let query = IndexQuery {
            index: IndexChoice::Covering(self.definition.clone()),
            condition: Condition::Vector(self.field.clone(), Box::new(query)),
            order: vec![SortKey { by: SortBy::Score, is_descending: false, absent_last: None }],
            suggestions: Vec::new(),
            facets: Vec::new(),
            highlights: Vec::new(),
            explains: false,
        };
        let snapshot = self.index.read().unwrap();
        let found = find(&snapshot, &self.definition, &query, Page::default(), &|| Ok::<(), Error>(())).unwrap();
        let document = |id: EntryId| snapshot.entry(id).unwrap().unwrap().document().to_owned();
        found.entries.iter().map(|id| document(*id)).zip(found.scores.unwrap_or_default()).collect()
    }

    /// What should be found: the nearest different vectors, of all documents that have one of them.
    fn expected(&self, asked: &str, count_max: usize, similarity_min: f32) -> Vec<(String, f32)> {
        let (_, asked) = &kept(&self.options, asked)[0];
        let mut all: BTreeMap<Vec<u8>, Vec<&String>> = BTreeMap::new();
        for (id, texts) in &self.model {
            for (_, stored) in texts.iter().flat_map(|text| kept(&self.options, text)) {
                all.entry(stored).or_default().push(id);
            }
        }
        let near = |stored: &[u8]| vector::similarity(self.options.destination, asked, stored);
        let mut nearest: Vec<(f32, Vec<&String>)> =
            all.iter().map(|(stored, ids)| (near(stored), ids.clone())).collect();
        nearest.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        // What is as near as the last one may be left out in its place.
        let last = nearest.get(count_max.saturating_sub(1)).map_or(f32::MIN, |(near, _)| *near);
        let mut found: BTreeMap<String, f32> = BTreeMap::new();
        for (near, ids) in nearest.iter().filter(|(near, _)| *near >= last) {
            if vector::is_near(self.options.destination, *near, similarity_min) {
                ids.iter().for_each(|id| _ = found.entry((*id).clone()).or_insert(*near));
            }
        }
        let mut found: Vec<(String, f32)> = found.into_iter().collect();
        found.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        found
    }
}

/// Documents with one to three vectors come, change and go; some vectors are had by several.
fn churn(tested: &mut Tested, numbers: &mut Numbers, dimensions: usize, batches: usize, of_batch: usize, ids: u64) {
    let mut common: Vec<String> = (0..20).map(|_| numbers.vector(&tested.options, dimensions)).collect();
    for _ in 0..batches {
        let mut changes = Vec::new();
        for _ in 0..of_batch {
            let id = format!("d/{}", numbers.below(ids));
            let count = if numbers.below(4) == 0 { 0 } else { 1 + numbers.below(3) };
            let mut vector = || match numbers.below(5) {
                0 => common[numbers.below(20) as usize].clone(),
                _ => numbers.vector(&tested.options, dimensions),
            };
            changes.push((id, (0..count).map(|_| vector()).collect()));
        }
        common.rotate_left(1);
        common[0] = numbers.vector(&tested.options, dimensions);
        tested.write(changes);
        tested.verify();
    }
}

#[test]
fn exact_searches_find_what_a_list_finds_of_every_kind() {
    for (seed, function) in ["f32", "f32_i8", "f32_i1", "i8", "i1"].into_iter().enumerate() {
        let (mut tested, mut numbers) = (Tested::new(function), Numbers::new(seed as u64 + 1));
        churn(&mut tested, &mut numbers, 9, 25, 12, 60);
        for _ in 0..20 {
            let asked = numbers.vector(&tested.options, 9);
            for (count_max, similarity_min) in [(1000, 0.0), (1000, 0.6), (7, 0.0), (1, 0.5)] {
                let found =
                    tested.ask(VectorTarget::Given(asked.clone().into_bytes()), count_max, similarity_min, true);
                let expected = tested.expected(&asked, count_max, similarity_min);
                let near = |all: &[(String, f32)]| all.iter().map(|(_, near)| *near).collect::<Vec<f32>>();
                let size = found.len();
                // Of those that are as near as the last one any may be missing, and no others.
                let far = expected.last().map_or(0.0, |(_, near)| *near);
                let sure = expected.iter().filter(|(_, near)| *near > far).count();
                assert!(size >= sure.max(usize::from(!expected.is_empty())), "{function} {found:?} {expected:?}");
                assert_eq!(near(&found), near(&expected)[..size], "{function} {count_max} {similarity_min}");
                assert!(found.iter().all(|one| expected.contains(one)), "{function} {found:?} {expected:?}");
                if count_max == 1000 {
                    assert_eq!(size, expected.len());
                }
            }
        }
    }
}

/// Of the ten nearest at least nine are found, also after three quarters of the documents changed or went.
#[test]
fn approximate_searches_find_nearly_all() {
    for function in ["f32", "f32_i8"] {
        let (mut tested, mut numbers) = (Tested::new(function), Numbers::new(42));
        let document = |numbers: &mut Numbers, options: &VectorOptions, id: u64| {
            (format!("d/{id}"), vec![numbers.vector(options, 32)])
        };
        let options = tested.options;
        for start in (0..3000).step_by(500) {
            tested.write((start..start + 500).map(|id| document(&mut numbers, &options, id)).collect());
        }
        tested.verify();
        check_recall(&tested, &mut numbers);
        for start in (0..3000).step_by(300) {
            let mut changes: Vec<(String, Vec<String>)> =
                (start..start + 150).map(|id| document(&mut numbers, &options, id)).collect();
            changes.extend((start + 150..start + 225).map(|id| (format!("d/{id}"), Vec::new())));
            tested.write(changes);
        }
        tested.verify();
        assert_eq!(tested.model.len(), 2250);
        check_recall(&tested, &mut numbers);
    }
}

fn check_recall(tested: &Tested, numbers: &mut Numbers) {
    let (mut found, mut all) = (0, 0);
    for _ in 0..100 {
        let asked = numbers.vector(&tested.options, 32).into_bytes();
        let exact = tested.ask(VectorTarget::Given(asked.clone()), 10, 0.0, true);
        let nearest = tested.ask(VectorTarget::Given(asked), 10, 0.0, false);
        all += exact.len();
        found += exact.iter().filter(|one| nearest.contains(one)).count();
    }
    println!("{found} of {all}");
    assert!(all == 1000 && found >= 900, "{found} of {all}");
}

/// Clusters of vectors that are nearly the same, one cluster after the other.
struct Clusters {
    count: u64,
    /// Vectors of each.
    size: u64,
    dimensions: usize,
    /// How far components are from those of the middle at most.
    noise: f64,
}

impl Clusters {
    /// Puts them in, in batches of 500, and gives their middles.
    fn write(&self, tested: &mut Tested, numbers: &mut Numbers) -> Vec<Vec<f64>> {
        let (mut middles, mut changes) = (Vec::new(), Vec::new());
        for cluster in 0..self.count {
            let middle: Vec<f64> = (0..self.dimensions).map(|_| numbers.component()).collect();
            for one in 0..self.size {
                let near = middle.iter().map(|component| component + numbers.component() * self.noise);
                changes.push((format!("{cluster}/{one}"), vec![text_of(&near.collect::<Vec<f64>>())]));
                if changes.len() == 500 {
                    tested.write(std::mem::take(&mut changes));
                }
            }
            middles.push(middle);
        }
        tested.write(changes);
        tested.verify();
        middles
    }

    /// Asks for what is next to each middle.
    fn check(&self, tested: &Tested, middles: &[Vec<f64>]) {
        let mut missed = Vec::new();
        for (cluster, middle) in middles.iter().enumerate() {
            let found = tested.ask(VectorTarget::Given(text_of(middle).into_bytes()), 16, 0.0, false);
            let of_cluster = found.iter().filter(|(id, _)| id.starts_with(&format!("{cluster}/"))).count();
            if of_cluster != 16 {
                missed.push((cluster, of_cluster));
            }
        }
        assert_eq!(missed, [], "{} clusters of {}, {} numbers", self.count, self.size, self.dimensions);
    }
}

fn text_of(vector: &[f64]) -> String {
    format!("[{}]", vector.iter().map(f64::to_string).collect::<Vec<String>>().join(","))
}

/// Of clusters that come one after the other each is found, also after most of each went.
#[test]
fn clusters_that_come_in_order_are_found() {
    let of = |count, size, dimensions, noise| Clusters { count, size, dimensions, noise };
    let small = || of(10, 100, 16, 0.001);
    for (seed, clusters) in [(1, small()), (2, small()), (3, small()), (8, of(10, 400, 16, 0.001))] {
        let (mut tested, mut numbers) = (Tested::new("f32"), Numbers::new(seed));
        let middles = clusters.write(&mut tested, &mut numbers);
        clusters.check(&tested, &middles);
        let gone = |one: &u64| !one.is_multiple_of(4);
        for cluster in 0..clusters.count {
            let ids = (0..clusters.size).filter(gone).map(|one| format!("{cluster}/{one}"));
            tested.write(ids.map(|id| (id, Vec::new())).collect());
        }
        tested.verify();
        clusters.check(&tested, &middles);
    }
}

/// Whatever is taken out, the rest is found from the entry on.
#[test]
fn all_are_reached_until_the_last_one_goes() {
    let (mut tested, mut numbers) = (Tested::new("f32"), Numbers::new(7));
    let options = tested.options;
    tested.write((0..400).map(|id| (format!("d/{id}"), vec![numbers.vector(&options, 4)])).collect());
    while !tested.model.is_empty() {
        let ids: Vec<String> = tested.model.keys().cloned().collect();
        let gone = (0..20).map(|_| ids[numbers.below(ids.len() as u64) as usize].clone());
        tested.write(gone.map(|id| (id, Vec::new())).collect());
        tested.verify();
        let asked = numbers.vector(&options, 4).into_bytes();
        assert_eq!(tested.ask(VectorTarget::Given(asked), 1000, 0.0, false).len(), tested.model.len());
    }
    tested.write(vec![("d/new".to_owned(), vec!["[1,2,3,4]".to_owned()])]);
    tested.verify();
    assert_eq!(tested.ask(VectorTarget::Document("D/NEW".to_owned()), 1, 1.0, false), [("d/new".to_owned(), 1.0)]);
}

#[test]
fn wrong_sizes_and_too_many_vectors_are_told() {
    let (mut tested, mut numbers) = (Tested::new("f32"), Numbers::new(1));
    tested.write(vec![("d/1".to_owned(), vec!["[1,2]".to_owned()])]);
    let ask = |asked: &str| {
        let query = VectorQuery {
            asked: VectorTarget::Given(asked.as_bytes().to_vec()),
            similarity_min: 0.0,
            count_max: 1,
            is_exact: false,
            found: None,
        };
        let query = IndexQuery {
            index: IndexChoice::Covering(tested.definition.clone()),
            condition: Condition::Vector(tested.field.clone(), Box::new(query)),
            order: Vec::new(),
            suggestions: Vec::new(),
            facets: Vec::new(),
            highlights: Vec::new(),
            explains: false,
        };
        let snapshot = tested.index.read().unwrap();
        let found = find(&snapshot, &tested.definition, &query, Page::default(), &|| Ok::<(), Error>(()));
        found.map(|found| found.total).map_err(|error| error.to_string())
    };
    assert_eq!(ask("[1,1]"), Ok(1));
    let wrong =
        "Vector field `vector.search(V)` has 2 dimensions, but the vector passed to vector.search() has 3 dimensions.";
    assert_eq!(ask("[1,2,3]"), Err(wrong.to_owned()));
    assert!(ask("null").is_err() && ask("[]").is_err() && ask("5").is_err());
    let many: Vec<String> = (0..65).map(|_| numbers.vector(&tested.options, 2)).collect();
    assert!(ask(&format!("[{}]", many.join(","))).unwrap_err().contains("VECTORS_OF_QUERY_MAX"));
}
