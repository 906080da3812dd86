//! Lookups that are made together find what lookups one by one do.

use std::collections::BTreeMap;

use storage::{Environment, Error, FixedTree, Location, Options, Records};
use testing::random::mixed;

/// Numbers that look like chance, the same each time.
fn chance(number: u64) -> u64 {
    mixed(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Keys that lie evenly, in heaps far from each other, and at random.
fn keys_of_shape(shape: u64) -> Vec<u64> {
    (0..20_000)
        .map(|number| match shape {
            0 => 1 + number,
            1 => ((number / 100) << 40) + number % 100 * 7,
            2 => chance(number),
            _ => number * number * number,
        })
        .collect()
}

#[test]
fn many_keys_have_the_values_that_each_has() {
    for shape in 0..4 {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let mut model = BTreeMap::new();
        let keys = keys_of_shape(shape);
        let tree = environment
            .write(|tx| {
                let tree = FixedTree::open_or_create(tx, b"tree")?;
                for key in &keys {
                    tree.put(tx, *key, !key)?;
                    model.insert(*key, !key);
                }
                for key in keys.iter().step_by(3) {
                    tree.delete(tx, *key)?;
                    model.remove(key);
                }
                Ok::<_, Error>(tree)
            })
            .unwrap();
        let tx = environment.read();
        let ends = [0, 1, u64::MAX - 1, u64::MAX];
        let beside = keys.iter().flat_map(|key| [key.saturating_sub(1), *key, key.saturating_add(1)]).chain(ends);
        let mut asked: Vec<u64> = beside.collect();
        asked.sort_by_key(|key| chance(*key));
        for count in [0, 1, 2, 31, 32, 33, asked.len()] {
            let asked = &asked[..count];
            let mut values = vec![Some(7)];
            tree.get_many(&tx, asked, &mut values).unwrap();
            let expected = asked.iter().map(|key| model.get(key).copied());
            assert!(values.iter().skip(1).copied().eq(expected), "shape {shape}, {count} keys");
            assert_eq!((values.len(), values[0]), (count + 1, Some(7)));
        }
        assert!(asked.iter().all(|key| tree.get(&tx, *key).unwrap() == model.get(key).copied()), "shape {shape}");
    }
}

#[test]
fn records_are_the_same_after_they_were_touched_and_places_without_one_are_passed_over() {
    let environment = Environment::in_memory(Options::default()).unwrap();
    let content = |number: u64| {
        vec![number as u8; (chance(number) % 700) as usize + if number.is_multiple_of(50) { 9000 } else { 0 }]
    };
    let (records, mut locations) = environment
        .write(|tx| {
            let records = Records::open_or_create(tx, b"records")?;
            let locations =
                (0..500).map(|number| records.insert(tx, &[&content(number)])).collect::<Result<Vec<_>, _>>()?;
            Ok::<_, Error>((records, locations))
        })
        .unwrap();
    let tx = environment.read();
    let there = locations.len();
    locations.extend([Location(0), Location(254), Location(u64::MAX), Location(locations[0].0 | 200)]);
    records.touch(&tx, &locations);
    for (number, location) in locations[..there].iter().enumerate() {
        assert_eq!(records.get(&tx, *location).unwrap(), content(number as u64));
    }
}
