//! Full text against a plain look at the words of every document: what is found, and how it scores, while documents come, change and go.

use crate::simulated::{options, store};
use documents::{Batch as Commands, Date, DocumentStore, Expected};
use rookery_query::definition::{IndexDefinition, MapIndex};
use rookery_query::execute;
use rookery_query::index::{Error, Index};
use rookery_query::indexing::{BatchResult, Indexer, Moment};
use rookery_query::plan::{Find, IndexQuery, Parameters, Plan};
use rookery_query::rql;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use storage::io::simulated::SimulatedIo;
use testing::random::Random;
use testing::seeds::{Case, seeds};

const WORDS: [&str; 12] = ["fox", "foxy", "ox", "dog", "dogs", "cat", "fix", "box", "The", "Quick", "a", "boxer"];
const STOP_WORDS: [&str; 2] = ["the", "a"];

/// The words of each document, in their order.
type Model = BTreeMap<String, Vec<String>>;

/// A part of a text that is searched for.
enum Part {
    Word(&'static str),
    /// A wildcard before it, behind it.
    Wild(bool, &'static str, bool),
    Phrase(Vec<&'static str>),
}

enum Asked {
    Search(Vec<Part>, bool),
    Fuzzy(&'static str, f32),
    Near(Vec<&'static str>, u32),
    And(Vec<Asked>),
    Or(Vec<Asked>),
    Without(Box<Asked>, Box<Asked>),
    Boosted(Box<Asked>, f32),
}

fn words(random: &mut Random, count: u64) -> Vec<&'static str> {
    (0..count).map(|_| *random.of(&WORDS)).collect()
}

impl Asked {
    fn random(random: &mut Random, depth: u64) -> Asked {
        let several = |random: &mut Random| (0..2 + random.below(2)).map(|_| Self::random(random, depth + 1)).collect();
        let one = |random: &mut Random| Box::new(Self::random(random, depth + 1));
        match random.below(if depth > 2 { 7 } else { 12 }) {
            0 => Asked::Fuzzy(random.of::<&str>(&WORDS), *random.of(&[0.0, 0.35, 0.45, 0.7])),
            1 => {
                // One word that is not too common is refused.
                let sought = loop {
                    let count = 2 + random.below(2);
                    let sought = words(random, count);
                    if kept(&sought).len() != 1 {
                        break sought;
                    }
                };
                Asked::Near(sought, random.below(5) as u32)
            }
            7 => Asked::And(several(random)),
            8 | 9 => Asked::Or(several(random)),
            10 => Asked::Without(one(random), one(random)),
            11 => Asked::Boosted(one(random), *random.of(&[2.0, 0.5, 10.0])),
            _ => {
                let part = |random: &mut Random| match random.below(6) {
                    0 => {
                        Part::Wild(random.chance(2), random.of::<&str>(&["fo", "ox", "do", "x", "b"]), random.chance(2))
                    }
                    1 => {
                        let count = 1 + random.below(3);
                        Part::Phrase(words(random, count))
                    }
                    _ => Part::Word(random.of::<&str>(&WORDS)),
                };
                Asked::Search((0..1 + random.below(3)).map(|_| part(random)).collect(), random.chance(2))
            }
        }
    }

    /// Whether its score follows from how near words are, which the plain look does not say.
    fn has_near(&self) -> bool {
        match self {
            Asked::Near(..) => true,
            Asked::Search(..) | Asked::Fuzzy(..) => false,
            Asked::And(all) | Asked::Or(all) => all.iter().any(Asked::has_near),
            Asked::Without(one, other) => one.has_near() || other.has_near(),
            Asked::Boosted(one, _) => one.has_near(),
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |all: &[Asked], word: &str| {
            format!("({})", all.iter().map(Asked::to_string).collect::<Vec<_>>().join(word))
        };
        match self {
            Asked::Search(parts, is_all) => {
                let part = |part: &Part| match part {
                    Part::Word(word) => (*word).to_owned(),
                    Part::Wild(before, word, behind) => {
                        format!("{}{word}{}", if *before { "*" } else { "" }, if *behind { "*" } else { "" })
                    }
                    Part::Phrase(words) => format!("\"{}\"", words.join(" ")),
                };
                let text = parts.iter().map(part).collect::<Vec<_>>().join(" ");
                write!(f, "search(N, '{text}', {})", if *is_all { "and" } else { "or" })
            }
            Asked::Fuzzy(word, similarity) => write!(f, "fuzzy(N = '{word}', {similarity:?})"),
            Asked::Near(words, distance) => write!(f, "proximity(search(N, '{}'), {distance})", words.join(" ")),
            Asked::And(operands) => f.write_str(&all(operands, " and ")),
            Asked::Or(operands) => f.write_str(&all(operands, " or ")),
            Asked::Without(one, other) => write!(f, "({one} and not {other})"),
            Asked::Boosted(one, boost) => write!(f, "boost({one}, {boost:?})"),
        }
    }
}

/// What a query comes to: a sum of parts, as plainly as can be.
enum Sum {
    Constant(BTreeSet<String>, f64),
    /// How often, by document; the idf, the boost.
    Counted(BTreeMap<String, f64>, f64, f64),
    Parts {
        must: Vec<Sum>,
        may: Vec<Sum>,
        counts: bool,
    },
}

struct Plain<'m> {
    model: &'m Model,
}

impl Plain<'_> {
    fn all(&self) -> BTreeSet<String> {
        self.model.keys().cloned().collect()
    }

    fn having(&self, fits: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let has = |(_, words): &(&String, &Vec<String>)| words.iter().any(|word| fits(word));
        self.model.iter().filter(has).map(|(id, _)| id.clone()).collect()
    }

    fn idf(&self, count: usize) -> f64 {
        1.0 + (self.model.len() as f64 / (count + 1) as f64).ln()
    }

    fn word(&self, word: &str, boost: f64) -> Sum {
        let count = |words: &Vec<String>| words.iter().filter(|other| *other == word).count() as f64;
        let counts: BTreeMap<String, f64> =
            self.model.iter().map(|(id, words)| (id.clone(), count(words))).filter(|(_, count)| *count > 0.0).collect();
        let idf = self.idf(counts.len());
        Sum::Counted(counts, idf, boost)
    }

    fn phrase(&self, sought: &[String], boost: f64) -> Option<Sum> {
        match sought {
            [] => None,
            [word] => Some(self.word(word, boost)),
            sought => {
                let count =
                    |words: &Vec<String>| words.windows(sought.len()).filter(|some| *some == sought).count() as f64;
                let counts =
                    self.model.iter().map(|(id, words)| (id.clone(), count(words))).filter(|(_, count)| *count > 0.0);
                let idf = sought.iter().map(|word| self.idf(self.having(|other| other == word).len())).sum();
                Some(Sum::Counted(counts.collect(), idf, boost))
            }
        }
    }

    fn of(&self, asked: &Asked, boost: f64) -> Sum {
        match asked {
            Asked::Boosted(one, more) => self.of(one, boost * f64::from(*more)),
            Asked::And(all) => {
                Sum::Parts { must: all.iter().map(|one| self.of(one, boost)).collect(), may: Vec::new(), counts: true }
            }
            Asked::Or(all) => {
                Sum::Parts { must: Vec::new(), may: all.iter().map(|one| self.of(one, boost)).collect(), counts: true }
            }
            Asked::Without(one, other) => {
                let unwanted = self.of(other, 1.0);
                let rest = self.all().into_iter().filter(|id| !unwanted.holds(id)).collect();
                Sum::Parts {
                    must: vec![self.of(one, boost), Sum::Constant(rest, boost)],
                    may: Vec::new(),
                    counts: true,
                }
            }
            Asked::Search(parts, is_all) => {
                let part = |part: &Part| match part {
                    Part::Word(word) => self.phrase(&kept(&[word]), boost),
                    Part::Phrase(words) => self.phrase(&kept(words), boost),
                    Part::Wild(false, word, false) => self.phrase(&kept(&[word]), boost),
                    Part::Wild(before, word, behind) => {
                        let fits = |other: &str| match (before, behind) {
                            (true, true) => other.contains(word),
                            (true, false) => other.ends_with(word),
                            _ => other.starts_with(word),
                        };
                        Some(Sum::Constant(self.having(fits), boost))
                    }
                };
                let mut parts: Vec<Sum> = parts.iter().filter_map(part).collect();
                match (parts.len(), is_all) {
                    (0, _) => Sum::Constant(BTreeSet::new(), boost),
                    (1, _) => parts.remove(0),
                    (_, true) => Sum::Parts { must: parts, may: Vec::new(), counts: true },
                    (_, false) => Sum::Parts { must: Vec::new(), may: parts, counts: true },
                }
            }
            Asked::Fuzzy(word, least) => {
                let word = word.to_lowercase();
                let least = f64::from(*least);
                if word.len() as f64 <= 1.0 / (1.0 - least) {
                    return self.word(&word, boost);
                }
                let known: BTreeSet<&String> = self.model.values().flatten().collect();
                let likeness = |other: &str| 1.0 - distance(&word, other) as f64 / word.len().min(other.len()) as f64;
                let like = known.into_iter().filter(|other| likeness(other) > least + 1e-9);
                let mut may: Vec<Sum> =
                    like.map(|other| self.word(other, boost * (likeness(other) - least) / (1.0 - least))).collect();
                match may.len() {
                    0 => Sum::Constant(BTreeSet::new(), boost),
                    1 => may.remove(0),
                    _ => Sum::Parts { must: Vec::new(), may, counts: false },
                }
            }
            Asked::Near(sought, distance) => {
                let sought = kept(sought);
                if sought.is_empty() {
                    return Sum::Constant(BTreeSet::new(), boost);
                }
                let near = self.model.iter().filter(|(_, words)| is_near(words, &sought, i64::from(*distance)));
                Sum::Constant(near.map(|(id, _)| id.clone()).collect(), boost)
            }
        }
    }
}

/// Words as they are indexed.
fn kept(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_lowercase()).filter(|word| !STOP_WORDS.contains(&word.as_str())).collect()
}

/// All ways to give each word a place of its own.
fn is_near(words: &[String], sought: &[String], distance: i64) -> bool {
    fn place(words: &[String], sought: &[String], distance: i64, taken: &mut Vec<usize>) -> bool {
        let Some(word) = sought.get(taken.len()) else {
            let starts = || taken.iter().enumerate().map(|(at, place)| *place as i64 - at as i64);
            return starts().max().unwrap() - starts().min().unwrap() <= distance;
        };
        (0..words.len()).any(|at| {
            if words[at] != *word || taken.contains(&at) {
                return false;
            }
            taken.push(at);
            let found = place(words, sought, distance, taken);
            taken.pop();
            found
        })
    }
    place(words, sought, distance, &mut Vec::new())
}

fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut rows = vec![vec![0; other.len() + 1]; one.len() + 1];
    for at in 0..=one.len() {
        for to in 0..=other.len() {
            rows[at][to] = match (at, to) {
                (0, to) => to,
                (at, 0) => at,
                (at, to) => (rows[at - 1][to] + 1)
                    .min(rows[at][to - 1] + 1)
                    .min(rows[at - 1][to - 1] + usize::from(one[at - 1] != other[to - 1])),
            };
        }
    }
    rows[one.len()][other.len()]
}

impl Sum {
    fn holds(&self, id: &str) -> bool {
        self.score(id, 1.0).is_some()
    }

    fn squares(&self) -> f64 {
        match self {
            Sum::Constant(_, boost) => boost * boost,
            Sum::Counted(_, idf, boost) => (idf * boost).powi(2),
            Sum::Parts { must, may, .. } => must.iter().chain(may).map(Sum::squares).sum(),
        }
    }

    fn score(&self, id: &str, norm: f64) -> Option<f64> {
        match self {
            Sum::Constant(ids, boost) => ids.contains(id).then_some(boost * norm),
            Sum::Counted(counts, idf, boost) => Some(counts.get(id)?.sqrt() * idf * idf * boost * norm),
            Sum::Parts { must, may, counts } => {
                let musts: Option<Vec<f64>> = must.iter().map(|part| part.score(id, norm)).collect();
                let mut held = musts?;
                held.extend(may.iter().filter_map(|part| part.score(id, norm)));
                let share = held.len() as f64 / (must.len() + may.len()) as f64;
                (!held.is_empty()).then(|| held.iter().sum::<f64>() * if *counts { share } else { 1.0 })
            }
        }
    }
}

fn random_writes(random: &mut Random, store: &DocumentStore, model: &mut Model) {
    let mut commands = Commands::new();
    for _ in 0..1 + random.below(8) {
        let id = format!("us/{}", random.below(30));
        if random.chance(5) {
            commands.delete(&id, Expected::Any).unwrap();
            model.remove(&id);
            continue;
        }
        let texts: Vec<String> = (0..1 + random.below(2))
            .map(|_| {
                let count = random.below(8);
                words(random, count).join(*random.of(&[" ", ", ", " / "]))
            })
            .collect();
        let value = match texts.as_slice() {
            [text] => format!("\"{text}\""),
            texts => format!("[\"{}\"]", texts.join("\",\"")),
        };
        let document = format!(r#"{{"N":{value},"@metadata":{{"@collection":"Us"}}}}"#);
        commands.put(&id, document.as_bytes(), Expected::Any).unwrap();
        let words = texts.iter().flat_map(|text| text.split([' ', ',', '/']).filter(|word| !word.is_empty()));
        model.insert(id, kept(&words.collect::<Vec<_>>()));
    }
    store.write(Date::now(), |writing| writing.run(&commands)).unwrap();
}

fn check(random: &mut Random, definition: &MapIndex, index: &Index, model: &Model) -> u64 {
    let asked = Asked::random(random, 0);
    let by_score = random.chance(2);
    let text = format!("from index 'T' where {asked}{}", if by_score { " order by score()" } else { "" });
    let tree = rql::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let plan = match Plan::new(&tree, Parameters::default()) {
        Ok(plan) => plan,
        Err(refused) => panic!("{text}: {refused}"),
    };
    let Find::Index(query) = plan.find else { panic!("{text} needs an index") };
    let snapshot = index.read().unwrap();
    let found = execute::find(&snapshot, definition, &query, plan.page, &|| Ok::<_, Error>(())).unwrap();
    let ids: Vec<String> =
        found.entries.iter().map(|id| snapshot.entry(*id).unwrap().unwrap().document().to_owned()).collect();
    let sum = Plain { model }.of(&asked, 1.0);
    let norm = Some(1.0 / sum.squares().sqrt()).filter(|norm| norm.is_finite()).unwrap_or(1.0);
    let expected: BTreeMap<String, f64> =
        model.keys().filter_map(|id| Some((id.clone(), sum.score(id, norm)?))).collect();
    let mut sorted = ids.clone();
    sorted.sort();
    assert_eq!(sorted, expected.keys().cloned().collect::<Vec<_>>(), "{text}");
    assert_eq!(found.total, expected.len() as u64);
    if asked.has_near() {
        return u64::from(!ids.is_empty());
    }
    let scores = found.scores.unwrap_or_else(|| vec![1.0; ids.len()]);
    for (id, score) in ids.iter().zip(&scores) {
        let wanted = expected[id];
        assert!((f64::from(*score) - wanted).abs() <= 1e-4 * wanted.max(0.01), "{text}: {id} {score}, not {wanted}");
    }
    let explaining = IndexQuery { explains: true, ..query };
    let explained = execute::find(&snapshot, definition, &explaining, plan.page, &|| Ok::<_, Error>(())).unwrap();
    let (scores_told, texts) = (explained.scores.unwrap_or_default(), explained.explanations.unwrap_or_default());
    assert_eq!((scores_told.len(), texts.len()), (ids.len(), ids.len()), "{text}");
    for (explanation, score) in texts.iter().zip(scores_told) {
        let told: f32 = explanation.split(' ').next().unwrap().parse().unwrap();
        assert!((told - score).abs() <= 1e-5 * score.abs().max(0.01), "{text}: {score}\n{explanation}");
    }
    if by_score {
        assert!(scores.is_sorted_by(|one, next| one >= next), "{text}: {scores:?}");
        // Most of them need not be scored for these.
        let size = 1 + random.below(5);
        let page = rookery_query::plan::Page { take: Some(size), ..plan.page };
        let first = execute::find(&snapshot, definition, &explaining, page, &|| Ok::<_, Error>(())).unwrap();
        assert_eq!(first.entries, found.entries[..found.entries.len().min(size as usize)], "{text}: the first {size}");
    }
    u64::from(!ids.is_empty())
}

/// Indexes all that there is in small batches, some of which are filled while the one before is written: so many.
fn catch_up(random: &mut Random, index: &Index, indexer: &mut Indexer, store: &DocumentStore) -> u64 {
    indexer.set_batches_of(1 + random.below(4));
    let (mut batches, mut ahead, mut is_done) = (Default::default(), 0, false);
    while !is_done {
        let left = Cell::new(random.below(6));
        let goes_on = || left.replace(left.get().saturating_sub(1)) > 0;
        let moment = || Moment { now: Date::now(), last_query: None, last_use: None };
        let mut steps = 0;
        let done = |step: BatchResult| {
            (steps, is_done) = (steps + 1, step.is_done);
            Ok::<_, Error>(())
        };
        indexer.run(index, &store.read(), &mut batches, &moment, &goes_on, done).unwrap();
        ahead += steps - 1;
    }
    ahead
}

#[test]
fn texts_are_found_and_scored_as_by_a_plain_look() {
    let (mut asked, mut found, mut ahead) = (0, 0, 0);
    let definition =
        r#"{"Name":"T","Maps":["from u in docs.Us select new { u.N }"],"Fields":{"N":{"Indexing":"Search"}}}"#;
    let definition = MapIndex::from_json(&json::Value::parse(definition.as_bytes()).unwrap()).unwrap();
    let definition = Arc::new(definition);
    for seed in seeds(40, 3000) {
        let _case = Case::of(seed);
        let mut random = Random::new(seed);
        let io = SimulatedIo::new();
        let store = store(&io);
        let index = Index::in_memory(options(&io)).unwrap();
        let mut indexer = Indexer::new(&IndexDefinition::Map(definition.clone()), &index).unwrap();
        let mut model = Model::new();
        for _ in 0..8 {
            random_writes(&mut random, &store, &mut model);
            ahead += catch_up(&mut random, &index, &mut indexer, &store);
            for _ in 0..12 {
                asked += 1;
                found += check(&mut random, &definition, &index, &model);
            }
        }
        let verification = index.read().unwrap().verify().unwrap();
        assert!(verification.problems.is_empty(), "{:?}", verification.problems);
    }
    println!("{asked} queries, {found} of them found something; {ahead} batches were filled while another was written");
    assert!(found * 2 > asked, "{found} of {asked} queries find something");
    assert!(ahead > 100, "{ahead} batches");
}
