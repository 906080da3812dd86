//! How much queries look at, as far as that is told.

use rookery_query::definition::AutomaticIndex;
use rookery_query::execute::{self, FoundEntries, Operator};
use rookery_query::index::{Batch, Entry, Error, Index, Number, Term};
use rookery_query::plan::{Find, IndexChoice, IndexQuery, Page, Parameters, Plan};
use rookery_query::rql;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use storage::Options;

const COUNT: u64 = 1000;

/// `COUNT` entries with an age, of which there are three, and a name of their own.
fn index() -> Index {
    let index = Index::in_memory(Options::default()).unwrap();
    let [age, name] = ["Age", "Name"].map(|name| index.field(name).unwrap());
    let (mut batch, mut entries) = (Batch::new(), [Entry::new()]);
    for number in 0..COUNT {
        entries[0].clear();
        entries[0].add(age, Term::Number(Number::Long((number % 3) as i64))).unwrap();
        entries[0].add(name, Term::Text(&format!("n{number}"))).unwrap();
        batch.put(&format!("users/{number}"), number + 1, &mut entries).unwrap();
    }
    index.write(&batch).unwrap();
    index
}

fn plan(text: &str) -> (IndexQuery, Page) {
    let plan = Plan::new(&rql::parse(text).unwrap(), Parameters::default()).unwrap();
    let Find::Index(query) = plan.find else { panic!("{text} needs an index") };
    (query, plan.page)
}

/// The fields of the index.
fn fields() -> AutomaticIndex {
    let IndexChoice::Covering(needed) = plan("from Users where Age = 1 or Name = 'x'").0.index else { panic!() };
    needed
}

fn explain(index: &Index, text: &str) -> (FoundEntries, Operator) {
    let ((query, page), snapshot) = (plan(text), index.read().unwrap());
    let look = || Ok::<_, Error>(());
    let ticks = Cell::new(0);
    let clock: execute::Clock = Rc::new(move || Duration::from_micros(ticks.replace(ticks.get() + 1)));
    let explained = execute::explain(&snapshot, &fields(), &query, page, &clock, &look).unwrap();
    assert_eq!(execute::find(&snapshot, &fields(), &query, page, &look).unwrap(), explained.0, "{text}");
    explained
}

#[test]
fn a_page_of_all_entries_looks_at_no_more_than_those_up_to_its_end() {
    let index = index();
    for (text, first, last, rows) in [
        ("from index 'X'", Some(1), Some(COUNT), COUNT),
        ("from index 'X' limit 25", Some(1), Some(25), 25),
        ("from index 'X' limit 100, 25", Some(101), Some(125), 125),
        ("from index 'X' limit 990, 25", Some(991), Some(COUNT), COUNT),
        ("from index 'X' limit 0", None, None, 0),
        ("from index 'X' limit 2000, 25", None, None, COUNT),
    ] {
        let (found, operator) = explain(&index, text);
        let ends = [found.entries.first(), found.entries.last()].map(|id| id.map(|id| id.0));
        assert_eq!((found.total, ends), (COUNT, [first, last]), "{text}");
        assert_eq!((operator.name, operator.rows), ("all", Some(rows)), "{text}");
    }
}

/// Ranges are looked for in the records of what the others find; what those take is not theirs.
#[test]
fn a_range_that_is_looked_for_in_records_takes_its_own_time() {
    let (found, operator) =
        explain(&index(), "from Users where (Name = 'n1' or id() = 'users/2') and Name >= 'n' and Name >= 'n1'");
    assert_eq!((found.total, operator.name, operator.children.len()), (2, "and", 3));
    let of_children: Duration = operator.children.iter().map(|child| child.time).sum();
    assert!(operator.children.iter().all(|child| child.rows.is_some() && !child.time.is_zero()), "{operator:?}");
    assert!(operator.time >= of_children, "{operator:?}");
}

/// What `or` and `boost` are made of is walked through before anything is known of what stands beside them.
#[test]
fn ranges_within_other_conditions_count_for_all_of_their_entries() {
    let (index, fields) = (index(), fields());
    let snapshot = index.read().unwrap();
    let look = || Ok::<_, Error>(());
    for (condition, least, most) in [
        ("id() = 'users/1' and (Age >= 1 or Name = 'y')", COUNT * 2 / 3, COUNT),
        ("id() = 'users/1' and boost(Age >= 0, 2)", COUNT, COUNT + 1),
        ("id() = 'users/1' and (Name = 'y' or (Age >= 0 and Age < 3))", COUNT, u64::MAX),
        ("id() = 'users/1' and (Name = 'n1' or Name = 'n2')", 1, 3),
        ("id() = 'users/1' and Age >= 0", 1, 17),
        ("id() = 'users/1' and Age >= 0 and Age < 3", 1, 33),
    ] {
        let (query, page) = plan(&format!("from Users where {condition}"));
        let count_max = execute::entry_count_max(&snapshot, &fields, &query).unwrap();
        assert!(count_max >= least && count_max <= most, "{condition}: {count_max}");
        let found = execute::find(&snapshot, &fields, &query, page, &look).unwrap();
        assert_eq!(found.total, 1, "{condition}");
    }
}
