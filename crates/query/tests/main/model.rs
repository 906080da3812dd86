//! Random batches on an index and on a model of it; whatever is asked must be answered alike.

use crate::index_model::{
    FIELDS, Model, all, borrowed, compare, crowd, fields_of, kind_of, random_batch, random_number, random_term,
    random_text,
};
use rookery_query::index::{
    Absent, Batch, Difference, Direction, EntryId, EntryIds, EntrySet, FieldNumber, Index, IndexSnapshot, Intersection,
    Kind, Order, StoredTerm, TermRange, Union,
};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use storage::Options;
use storage::io::simulated::SimulatedIo;
use testing::random::Random;
use testing::seeds::{Case, seeds};

/// Documents of a case in which the lists of three terms have many blocks: each third id takes a byte.
const CROWD: u64 = 6_000;

fn options(io: &SimulatedIo) -> Options {
    Options { io: Arc::new(io.clone()), background: false, ..Options::default() }
}

/// A condition, as operators and as the model has it.
enum Condition {
    Term(usize, StoredTerm),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Without(Box<Condition>, Box<Condition>),
    All,
}

impl Condition {
    fn random(random: &mut Random, depth: u64) -> Condition {
        let several = |random: &mut Random| (0..1 + random.below(4)).map(|_| Self::random(random, depth + 1)).collect();
        match random.below(8 + depth * 3) {
            0 => Condition::And(several(random)),
            1 | 2 => Condition::Or(several(random)),
            3 => {
                Condition::Without(Box::new(Self::random(random, depth + 1)), Box::new(Self::random(random, depth + 1)))
            }
            4 => Condition::All,
            _ => {
                let field = random.below(FIELDS.len() as u64) as usize;
                Condition::Term(field, random_term(random, field))
            }
        }
    }

    fn holds(&self, terms: &crate::index_model::Terms) -> bool {
        match self {
            Condition::Term(field, term) => terms.contains(&(*field, term.clone())),
            Condition::And(all) => all.iter().all(|condition| condition.holds(terms)),
            Condition::Or(any) => any.iter().any(|condition| condition.holds(terms)),
            Condition::Without(kept, removed) => kept.holds(terms) && !removed.holds(terms),
            Condition::All => true,
        }
    }

    fn entries<'s>(&self, snapshot: &'s IndexSnapshot<'_>, fields: &[FieldNumber]) -> Box<dyn EntryIds + 's> {
        let several =
            |conditions: &[Condition]| conditions.iter().map(|condition| condition.entries(snapshot, fields)).collect();
        match self {
            Condition::Term(field, term) => Box::new(snapshot.term(fields[*field], borrowed(term)).unwrap()),
            Condition::And(all) => Box::new(Intersection::new(several(all))),
            Condition::Or(any) => Box::new(Union::new(several(any))),
            Condition::Without(kept, removed) => {
                Box::new(Difference::new(kept.entries(snapshot, fields), removed.entries(snapshot, fields)))
            }
            Condition::All => Box::new(snapshot.all()),
        }
    }
}

fn ids(found: Vec<EntryId>) -> Vec<u64> {
    found.into_iter().map(|id| id.0).collect()
}

/// Random conditions: all their entries, then by random steps.
fn ask_conditions(random: &mut Random, snapshot: &IndexSnapshot<'_>, model: &Model, fields: &[FieldNumber]) {
    for _ in 0..12 {
        let condition = Condition::random(random, 0);
        let expected = model.find(|terms| condition.holds(terms));
        let entries = condition.entries(snapshot, fields);
        assert!(entries.count_max() >= expected.len() as u64);
        assert_eq!(all(entries), expected);
        assert_eq!(all(EntrySet::of(condition.entries(snapshot, fields)).unwrap().entries()), expected);
        let mut entries = condition.entries(snapshot, fields);
        let mut given = 0;
        loop {
            let at_least = if random.chance(3) { given + 1 } else { given + random.below(40) };
            let expected = expected.iter().find(|id| **id >= at_least && **id > given);
            let found = match at_least == given + 1 {
                true => entries.next().unwrap(),
                false => entries.seek(EntryId(at_least)).unwrap(),
            };
            assert_eq!(found.map(|id| id.0), expected.copied());
            match found {
                Some(id) => given = id.0,
                None => break,
            }
        }
    }
}

fn bound<T>(random: &mut Random, value: impl Fn(&mut Random) -> T) -> Bound<T> {
    match random.below(3) {
        0 => Bound::Included(value(random)),
        1 => Bound::Excluded(value(random)),
        _ => Bound::Unbounded,
    }
}

fn is_between<T: Ord>(value: &T, low: &Bound<T>, high: &Bound<T>) -> bool {
    let above = match low {
        Bound::Included(low) => value >= low,
        Bound::Excluded(low) => value > low,
        Bound::Unbounded => true,
    };
    let below = match high {
        Bound::Included(high) => value <= high,
        Bound::Excluded(high) => value < high,
        Bound::Unbounded => true,
    };
    above && below
}

/// Whether a term is in a range.
type Holds = Box<dyn Fn(&StoredTerm) -> bool>;

fn ask_ranges(random: &mut Random, snapshot: &IndexSnapshot<'_>, model: &Model, fields: &[FieldNumber]) {
    for _ in 0..10 {
        let field = random.below(FIELDS.len() as u64) as usize;
        let (range, holds): (TermRange, Holds) = match random.below(3) {
            0 => {
                let (low, high) = (bound(random, random_number), bound(random, random_number));
                let range = TermRange::numbers(fields[field], low, high);
                (
                    range,
                    Box::new(move |term| matches!(term, StoredTerm::Number(number) if is_between(number, &low, &high))),
                )
            }
            1 => {
                let (low, high) = (bound(random, random_text), bound(random, random_text));
                let range =
                    TermRange::text(fields[field], low.as_ref().map(String::as_str), high.as_ref().map(String::as_str));
                (range, Box::new(move |term| matches!(term, StoredTerm::Text(text) if is_between(text, &low, &high))))
            }
            _ => {
                let mut prefix = random_text(random);
                while random.chance(2) && prefix.pop().is_some() {}
                let range = TermRange::prefix(fields[field], &prefix);
                (range, Box::new(move |term| matches!(term, StoredTerm::Text(text) if text.starts_with(&prefix))))
            }
        };
        let expected = model.find(|terms| terms.iter().any(|(of, term)| *of == field && holds(term)));
        assert_eq!(all(snapshot.range(&range).unwrap().entries()), expected);
        let mut counts: BTreeMap<&StoredTerm, u64> = BTreeMap::new();
        for (_, terms) in model.entries.values() {
            terms
                .iter()
                .filter(|(of, term)| *of == field && holds(term))
                .for_each(|(_, term)| *counts.entry(term).or_default() += 1);
        }
        let sum: u64 = counts.values().sum();
        let estimate = snapshot.estimate(&range).unwrap();
        assert!(estimate.at_least <= sum && estimate.at_most >= expected.len() as u64);
        let mut expected: Vec<(StoredTerm, u64)> =
            counts.into_iter().map(|(term, count)| (term.clone(), count)).collect();
        for direction in [Direction::Ascending, Direction::Descending] {
            let mut terms = snapshot.terms(&range, direction);
            let mut found = Vec::new();
            while let Some(term) = terms.next().unwrap() {
                found.push(term);
            }
            assert_eq!(found, expected);
            expected.reverse();
        }
    }
}

/// How many orders were given by a column.
fn ask_sorted(random: &mut Random, snapshot: &IndexSnapshot<'_>, model: &Model, fields: &[FieldNumber]) -> u32 {
    let mut by_column = 0;
    for _ in 0..8 {
        let condition = Condition::random(random, 0);
        let mut set = EntrySet::of(condition.entries(snapshot, fields)).unwrap();
        let field = random.below(FIELDS.len() as u64) as usize;
        let mut order = Order {
            field: fields[field],
            kind: *random.of(&[Kind::Text, Kind::Number, Kind::Null]),
            direction: *random.of(&[Direction::Ascending, Direction::Descending]),
            absent: *random.of(&[Absent::First, Absent::Last]),
        };
        let within = random.chance(3).then(|| {
            order.kind = Kind::Text;
            let low = random_text(random);
            TermRange::text(fields[field], Bound::Included(&low), Bound::Unbounded)
        });
        if let Some(within) = &within {
            set.intersect(&snapshot.range(within).unwrap());
        }
        let count_max = *random.of(&[0, 1, 10, 100_000]);
        let is_ascending = order.direction == Direction::Ascending;
        let mut expected: Vec<((bool, Option<StoredTerm>), u64)> = Vec::new();
        let found = model.find(|terms| condition.holds(terms));
        for id in found.into_iter().filter(|id| set.contains(EntryId(*id))) {
            let mut values =
                model.entries[&id].1.iter().filter(|(of, term)| *of == field && kind_of(term) == order.kind);
            let value = if is_ascending { values.next() } else { values.next_back() };
            let has_null = model.entries[&id].1.contains(&(field, StoredTerm::Null));
            expected.push(((has_null, value.map(|(_, term)| term.clone())), id));
        }
        expected.sort_by(|((a_null, a), x), ((b_null, b), y)| {
            let by_value = match (a, b) {
                (Some(a), Some(b)) if is_ascending => a.cmp(b),
                (Some(a), Some(b)) => b.cmp(a),
                // What lacks the field comes before null, or behind it.
                (None, None) if is_ascending => a_null.cmp(b_null),
                (None, None) => b_null.cmp(a_null),
                _ if order.absent == Absent::First => a.is_some().cmp(&b.is_some()),
                _ => b.is_some().cmp(&a.is_some()),
            };
            by_value.then(x.cmp(y))
        });
        let expected: Vec<u64> = expected.into_iter().map(|(_, id)| id).take(count_max).collect();
        assert_eq!(ids(snapshot.sorted(&set, order, within, count_max).unwrap()), expected, "{order:?}");
        assert_eq!(ids(snapshot.sorted_by_walking(&set, order, count_max).unwrap()), expected, "{order:?}");
        assert_eq!(ids(snapshot.sorted_by_values(&set, order, count_max).unwrap()), expected, "{order:?}");
        if let Some(found) = snapshot.sorted_by_a_column(&set, order, count_max).unwrap() {
            assert_eq!(ids(found), expected, "by a column, {order:?}");
            by_column += 1;
        }
    }
    by_column
}

fn ask(random: &mut Random, snapshot: &IndexSnapshot<'_>, model: &Model, fields: &[FieldNumber]) {
    compare(snapshot, model, fields);
    ask_conditions(random, snapshot, model, fields);
    ask_ranges(random, snapshot, model, fields);
    ask_sorted(random, snapshot, model, fields);
}

#[test]
fn an_index_answers_as_its_model_does() {
    let (mut crowds, mut by_old_columns) = (0, 0);
    for seed in seeds(12, 1_000) {
        let _case = Case::of(seed);
        let mut random = Random::new(seed);
        let io = SimulatedIo::new();
        let in_memory = random.chance(4);
        let open = || Index::open(Path::new("/index"), options(&io)).unwrap();
        let mut index = if in_memory { Index::in_memory(options(&io)).unwrap() } else { open() };
        let mut fields = fields_of(&index);
        let mut model = Model::new();
        let documents = *random.of(&[20, 300, 3_000, CROWD]);
        if documents == CROWD {
            let mut batch = Batch::new();
            crowd(&mut random, &fields, documents, &mut batch, &mut model);
            index.write(&batch).unwrap();
            crowds += 1;
        }
        for _ in 0..6 + random.below(20) {
            let (snapshot, before) = (index.read().unwrap(), model.clone());
            // Makes columns, which the batches bring along, and of which this snapshot then wants its own state.
            ask_sorted(&mut random, &snapshot, &before, &fields);
            for _ in 0..random.below(4) {
                let mut batch = Batch::new();
                random_batch(&mut random, &fields, documents, &mut batch, &mut model);
                index.write(&batch).unwrap();
                if random.chance(6) {
                    index.environment().flush().unwrap();
                }
            }
            ask(&mut random, &snapshot, &before, &fields);
            by_old_columns += ask_sorted(&mut random, &snapshot, &before, &fields);
            ask_sorted(&mut random, &index.read().unwrap(), &model, &fields);
            drop(snapshot);
            if random.chance(5) && !in_memory {
                match random.chance(2) {
                    true => index.close().unwrap(),
                    false => {
                        index.environment().flush().unwrap();
                        drop(index);
                    }
                }
                index = open();
                fields = fields_of(&index);
            }
        }
        ask(&mut random, &index.read().unwrap(), &model, &fields);
        assert_eq!(index.environment().verify().unwrap().problems, Vec::<String>::new());
    }
    assert!(by_old_columns > 0, "no column was of an older state");
    assert!(crowds > 0 || testing::effort::number("SEED").is_some(), "no list was long");
}
