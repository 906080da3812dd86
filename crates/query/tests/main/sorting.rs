//! Sorting where those that are wanted do not lie evenly among the others, and values that a column cannot tell apart.

use rookery_query::index::{
    Absent, Batch, Direction, Entry, EntryId, EntrySet, FieldNumber, Index, Kind, Number, Order, Progress, Term,
    TermRange,
};
use std::ops::Bound;
use storage::Options;

const COUNT: u64 = 20_000;

/// An index of `COUNT` documents: a number that rises, an address that all but the first have much of in common, one that all have,
/// and numbers of which one document has two.
fn index() -> (Index, [FieldNumber; 4]) {
    let index = Index::in_memory(Options::default()).unwrap();
    let fields = ["Number", "Mixed", "Alike", "Several"].map(|name| index.field(name).unwrap());
    let [number, mixed, alike, several] = fields;
    let (mut batch, mut entry) = (Batch::new(), [Entry::new()]);
    for n in 0..COUNT {
        let address = format!("https://www.example.com/item/{:08}", n * 7919 % COUNT);
        entry[0].clear();
        entry[0].add(number, Term::Number(Number::Long(n as i64))).unwrap();
        entry[0].add(mixed, Term::Text(if n == 0 { "a" } else { &address })).unwrap();
        entry[0].add(alike, Term::Text(&address)).unwrap();
        entry[0].add(several, Term::Number(Number::Long(n as i64))).unwrap();
        if n == COUNT - 1 {
            entry[0].add(several, Term::Number(Number::Long(-1))).unwrap();
        }
        batch.put(&format!("docs/{n}"), n, &mut entry).unwrap();
    }
    batch.set_progress("Docs", Progress { items: 1, tombstones: 0 }).unwrap();
    index.write(&batch).unwrap();
    (index, fields)
}

fn by(field: FieldNumber, kind: Kind, direction: Direction) -> Order {
    Order { field, kind, direction, absent: Absent::First }
}

#[test]
fn the_end_of_a_field_comes_in_order() {
    let (index, [number, _, _, several]) = index();
    let snapshot = index.read().unwrap();
    for field in [number, several] {
        let range = TermRange::numbers(field, Bound::Included(Number::Long(COUNT as i64 - 500)), Bound::Unbounded);
        let set = snapshot.range(&range).unwrap();
        for direction in [Direction::Ascending, Direction::Descending] {
            let order = by(field, Kind::Number, direction);
            let expected = snapshot.sorted_by_values(&set, order, 10).unwrap();
            let first = match (direction, field == several) {
                (Direction::Ascending, false) => COUNT - 499,
                // It stands where its least number does, which is not within the range.
                (Direction::Ascending, true) | (Direction::Descending, _) => COUNT,
            };
            assert_eq!(expected[0], EntryId(first));
            for within in [None, Some(range.clone())] {
                assert_eq!(snapshot.sorted(&set, order, within, 10).unwrap(), expected, "{direction:?}");
            }
        }
    }
}

#[test]
fn a_column_that_tells_little_apart_is_not_kept() {
    let (index, [_, mixed, alike, _]) = index();
    let snapshot = index.read().unwrap();
    let set = EntrySet::of(snapshot.all()).unwrap();
    for (field, is_kept) in [(mixed, false), (alike, true)] {
        let order = by(field, Kind::Text, Direction::Ascending);
        let expected = snapshot.sorted_by_values(&set, order, 100).unwrap();
        let by_column = snapshot.sorted_by_a_column(&set, order, 100).unwrap();
        assert_eq!(by_column.is_some(), is_kept);
        assert!(by_column.is_none_or(|found| found == expected));
        assert_eq!(snapshot.sorted(&set, order, None, 100).unwrap(), expected);
        assert_eq!(snapshot.sorted_by_a_column(&set, order, 100).unwrap().is_some(), is_kept, "nor tried again");
    }
}
