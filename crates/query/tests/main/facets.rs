//! Facets against a plain look at every document, while documents come, change and go.

use crate::simulated::{options, store};
use documents::{Batch as Commands, Date, Expected};
use rookery_query::definition::{IndexDefinition, MapIndex};
use rookery_query::execute::{self, FacetResult};
use rookery_query::index::{Batch, Error, Index};
use rookery_query::indexing::Indexer;
use rookery_query::plan::{FacetClause, Find, Parameters, Plan};
use rookery_query::rql;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use storage::io::simulated::SimulatedIo;
use testing::random::Random;
use testing::seeds::{Case, seeds};

const TAGS: [&str; 7] = ["a", "b", "ab", "B", "", "c c", "c-c"];

/// A document: tags, where `None` is null; a number; a number that decides whether a query finds it.
struct Us {
    tags: Vec<Option<&'static str>>,
    number: Option<i64>,
    key: u64,
}

type Model = BTreeMap<String, Us>;

impl Us {
    fn random(random: &mut Random, tags: u64) -> Us {
        let tag = |random: &mut Random| (!random.chance(6)).then(|| *random.of(&TAGS));
        Us {
            tags: (0..random.below(tags)).map(|_| tag(random)).collect(),
            number: (!random.chance(4)).then(|| random.below(40) as i64 - 20),
            key: random.below(200),
        }
    }

    fn json(&self) -> String {
        let tag = |tag: &Option<&str>| tag.map_or("null".to_owned(), |tag| format!("\"{tag}\""));
        let tags = self.tags.iter().map(tag).collect::<Vec<_>>().join(",");
        let number = self.number.map_or(String::new(), |number| format!("\"A\":{number},"));
        format!(r#"{{"T":[{tags}],{number}"K":{},"@metadata":{{"@collection":"Us"}}}}"#, self.key)
    }
}

/// What a term is called.
fn label(tag: &Option<&str>) -> String {
    match tag {
        None => "NULL_VALUE".to_owned(),
        Some("") => "EMPTY_STRING".to_owned(),
        Some(tag) => tag.to_lowercase(),
    }
}

/// The count and numbers of documents, as [`line`] shows those of a facet.
fn expected_line(range: &str, found: &[&Us], is_aggregated: bool) -> String {
    let mut line = format!("{range}={}", found.len());
    if is_aggregated && !found.is_empty() {
        let numbers = || found.iter().map(|us| us.number.unwrap_or(0) as f64);
        let (min, max) = (numbers().fold(f64::MAX, f64::min), numbers().fold(f64::MIN, f64::max));
        write!(line, " {} {min} {max}", numbers().sum::<f64>()).unwrap();
    }
    line
}

fn lines(result: &FacetResult) -> Vec<String> {
    let line = |value: &execute::FacetValue| {
        let aggregates = value.aggregates.iter();
        let start = format!("{}={}", value.range, value.count);
        aggregates.fold(start, |line, of| format!("{line} {} {} {}", of.sum, of.min, of.max))
    };
    result.values.iter().map(line).collect()
}

fn check(random: &mut Random, definition: &MapIndex, index: &Index, model: &Model) -> usize {
    let below = *random.of(&[2u64, 20, 100, 200]);
    let is_all = random.chance(3);
    let found: Vec<&Us> = model.values().filter(|us| is_all || us.key < below).collect();
    let is_aggregated = random.chance(2);
    let (start, page_size) = (random.below(3) as usize, random.below(6) as usize);
    let sort = *random.of(&["ValueAsc", "ValueDesc", "CountAsc", "CountDesc"]);
    let bounds = (random.below(20) as i64 - 10, random.below(20) as i64);

    let aggregation = if is_aggregated { ", sum(A)" } else { "" };
    let condition = if is_all { String::new() } else { format!("where K < {below} ") };
    let options =
        format!(r#"{{"TermSortMode":"{sort}","Start":{start},"PageSize":{page_size},"IncludeRemainingTerms":true}}"#);
    let (low, high) = bounds;
    let text = format!(
        "from index 'T' {condition}select facet(T{aggregation}) as all, facet(T{aggregation}, '{options}') as page, \
         facet(A < {low}, A >= {low} and A < {high}, A between {high} and 19{aggregation})"
    );
    let tree = rql::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let plan = Plan::new(&tree, Parameters::default()).unwrap_or_else(|refused| panic!("{text}: {refused}"));
    let Find::Index(query) = plan.find else { panic!("{text} needs an index") };
    let facets = query.facets.iter().map(|clause| match clause {
        FacetClause::Facet(facet) => facet,
        FacetClause::Setup(setup) => panic!("{setup:?}"),
    });
    let snapshot = index.read().unwrap();
    let (results, _) =
        execute::facets(&snapshot, definition, &query.condition, facets, &|| Ok::<_, Error>(())).unwrap();
    let [all, page, ranges] = results.as_slice() else { panic!("{results:?}") };

    let mut terms: BTreeMap<String, Vec<&Us>> = BTreeMap::new();
    for us in &found {
        let mut labels: Vec<String> = us.tags.iter().map(label).collect();
        labels.sort();
        labels.dedup();
        labels.into_iter().for_each(|label| terms.entry(label).or_default().push(us));
    }
    let mut sorted = lines(all);
    sorted.sort();
    let mut expected: Vec<String> =
        terms.iter().map(|(label, found)| expected_line(label, found, is_aggregated)).collect();
    expected.sort();
    assert_eq!(sorted, expected, "{text}");
    assert_eq!((all.remaining_hits, all.remaining_term_count), (0, 0), "{text}");

    // The order: that of the whole facet, which is by value; then by counts, equal ones by name. A page is a part of it.
    let counted = |names: &[&str]| names.iter().map(|name| terms[*name].len() as u64).sum::<u64>();
    let mut names: Vec<&str> = all.values.iter().map(|value| value.range.as_str()).collect();
    let by_name = |names: &mut Vec<&str>| {
        // All names of the model in the order of the reference.
        let order = ["a", "ab", "b", "c c", "c-c", "EMPTY_STRING", "NULL_VALUE"];
        names.sort_by_key(|name| order.iter().position(|other| other == name));
    };
    match sort {
        "ValueDesc" if is_all && !is_aggregated => {
            let nulls = usize::from(names.first() == Some(&"NULL_VALUE"));
            names[nulls..].reverse();
        }
        "ValueDesc" => names.reverse(),
        "CountAsc" => {
            by_name(&mut names);
            names.sort_by_key(|name| terms[*name].len());
        }
        "CountDesc" => {
            by_name(&mut names);
            names.sort_by_key(|name| std::cmp::Reverse(terms[*name].len()));
        }
        _ if is_all && !is_aggregated => {}
        _ => by_name(&mut names),
    }
    let start = start.min(names.len());
    let end = (start + page_size).min(names.len());
    assert_eq!(page.values.iter().map(|value| value.range.as_str()).collect::<Vec<_>>(), names[start..end], "{text}");
    assert_eq!(page.remaining_terms, names[end..], "{text}");
    assert_eq!(page.remaining_term_count, names[end..].len() as u64, "{text}");
    assert_eq!(page.remaining_hits, counted(&names[end..]), "{text}");

    let within = |holds: &dyn Fn(i64) -> bool| -> Vec<&Us> {
        found.iter().copied().filter(|us| us.number.is_some_and(holds)).collect()
    };
    let expected = [
        expected_line(&format!("A < {low}"), &within(&|number| number < low), is_aggregated),
        expected_line(
            &format!("A >= {low} and A < {high}"),
            &within(&|number| number >= low && number < high),
            is_aggregated,
        ),
        expected_line(
            &format!("A between {high} and 19"),
            &within(&|number| number >= high && number <= 19),
            is_aggregated,
        ),
    ];
    assert_eq!(lines(ranges), expected, "{text}");
    names.len()
}

#[test]
fn facets_are_what_a_plain_look_counts() {
    let mut counted = 0;
    let definition = r#"{"Name":"T","Maps":["from u in docs.Us select new { u.T, u.A, u.K }"]}"#;
    let definition = Arc::new(MapIndex::from_json(&json::Value::parse(definition.as_bytes()).unwrap()).unwrap());
    for seed in seeds(40, 3000) {
        let _case = Case::of(seed);
        let mut random = Random::new(seed);
        let io = SimulatedIo::new();
        let store = store(&io);
        let index = Index::in_memory(options(&io)).unwrap();
        let mut indexer = Indexer::new(&IndexDefinition::Map(definition.clone()), &index).unwrap();
        let mut model = Model::new();
        // Now few terms for many documents, now the other way round.
        let tags = 2 + random.below(4);
        for _ in 0..6 {
            let mut commands = Commands::new();
            for _ in 0..1 + random.below(40) {
                let id = format!("us/{}", random.below(80));
                if random.chance(6) {
                    commands.delete(&id, Expected::Any).unwrap();
                    model.remove(&id);
                } else {
                    let us = Us::random(&mut random, tags);
                    commands.put(&id, us.json().as_bytes(), Expected::Any).unwrap();
                    model.insert(id, us);
                }
            }
            store.write(Date::now(), |writing| writing.run(&commands)).unwrap();
            let mut batch = Batch::new();
            while !indexer.step(&index, &store.read(), &mut batch).unwrap().is_done {}
            for _ in 0..12 {
                counted += check(&mut random, &definition, &index, &model);
            }
        }
    }
    assert!(counted > 1000, "{counted} terms were counted");
}
