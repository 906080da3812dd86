//! Random entries in one node of a tree, against a map of them.

use super::super::exchange::{copy_upper, merge, middle, truncate};
use super::*;
use crate::pager::changes::Lines;
use std::collections::BTreeMap;
use testing::random::Random;

fn zeros() -> PageMut<'static> {
    PageMut::new(Box::leak(Box::new([0; PAGE_SIZE])), Box::leak(Box::new(Lines::NONE)))
}

fn empty() -> PageMut<'static> {
    let mut page = zeros();
    initialize(&mut page, 0);
    page
}

fn put(page: &mut PageMut<'_>, key: &[u8], value: &[u8]) -> Result<(), Full> {
    match search(page, key) {
        (position, true) => replace(page, position, key, Payload::Inline(value)),
        (position, false) => insert(page, position, key, Payload::Inline(value)),
    }
}

fn entries(page: &Page) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut key = Vec::new();
    (0..count(page))
        .map(|index| {
            key_into(page, index, &mut key);
            let Payload::Inline(value) = payload(page, index) else { panic!("no runs here") };
            (key.clone(), value.to_vec())
        })
        .collect()
}

#[test]
fn bytes_compare_as_slices_do() {
    let mut random = Random::new(7);
    let mut next = move || (random.next() >> 1) as usize;
    for _ in 0..20_000 {
        let shared: Vec<u8> = (0..next() % 40).map(|_| [0, 1, 0xff][next() % 3]).collect();
        let tail = |n: usize, f: &mut dyn FnMut() -> usize| (0..n).map(|_| [0, 1, 0xff][f() % 3]).collect::<Vec<_>>();
        let (n, m) = (next() % 12, next() % 12);
        let a = [shared.clone(), tail(n, &mut next)].concat();
        let b = [shared, tail(m, &mut next)].concat();
        assert_eq!(compare(&a, &b), a.cmp(&b), "{a:?} {b:?}");
    }
}

#[test]
fn a_search_near_any_position_finds_what_a_whole_search_finds() {
    let mut page = empty();
    set_prefix(&mut page, b"users/");
    for number in (100..400).step_by(3) {
        put(&mut page, format!("users/{number}").as_bytes(), b"").unwrap();
    }
    let (count, mut certain) = (count(&page), 0);
    let texts = (90..410).map(|number| format!("users/{number}"));
    for key in texts.chain(["orders/1", "users/", "users/1", "users/2-A", "zebras/1"].map(String::from)) {
        let (position, found) = search(&page, key.as_bytes());
        for expected in 0..count + 2 {
            for is_last in [false, true] {
                let near = search_near(&page, key.as_bytes(), expected, is_last);
                let belongs = found || (position > 0 && (position < count || is_last));
                assert_eq!(
                    near,
                    (belongs && key.starts_with("users/")).then_some((position, found)),
                    "{key} {expected}"
                );
                certain += usize::from(near.is_some());
            }
        }
    }
    assert!(certain > 0);
}

#[test]
fn entries_come_back_in_key_order() {
    let mut page = empty();
    for key in [&b"users/2"[..], b"users/1", b"orders/7", b"", b"users/10"] {
        put(&mut page, key, key).unwrap();
    }
    let keys: Vec<_> = entries(&page).into_iter().map(|(k, _)| String::from_utf8(k).unwrap()).collect();
    assert_eq!(keys, ["", "orders/7", "users/1", "users/10", "users/2"]);
    check(&page).unwrap();
}

#[test]
fn a_key_outside_of_the_prefix_shortens_it() {
    let mut page = empty();
    set_prefix(&mut page, b"users/");
    put(&mut page, b"users/1", b"a").unwrap();
    put(&mut page, b"user", b"b").unwrap();
    put(&mut page, b"zebra", b"c").unwrap();
    assert_eq!(prefix(&page), b"");
    assert_eq!(entries(&page).len(), 3);
    check(&page).unwrap();
}

#[test]
fn random_changes_agree_with_a_map() {
    let mut random = Random::new(42);
    let mut next = move || (random.next() >> 1) as usize;
    for _ in 0..60 {
        let mut page = empty();
        let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for _ in 0..400 {
            let key = format!("{:0width$}", next() % 300, width = 1 + next() % 9).into_bytes();
            if next() % 4 == 0 {
                let (position, found) = search(&page, &key);
                assert_eq!(found, model.remove(&key).is_some());
                if found {
                    remove(&mut page, position);
                }
            } else {
                let value = vec![next() as u8; next() % 120];
                let there = model.contains_key(&key);
                if put(&mut page, &key, &value).is_ok() {
                    model.insert(key, value);
                } else if there {
                    model.remove(&key);
                }
            }
            check(&page).unwrap();
        }
        assert_eq!(entries(&page), model.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn the_halves_of_a_split_have_all_entries() {
    let mut page = empty();
    let mut number = 0;
    while put(&mut page, format!("key/{number:05}").as_bytes(), &[1; 100]).is_ok() {
        number += 1;
    }
    let before = entries(&page);
    let mut right = zeros();
    let at = middle(&page);
    copy_upper(&page, &mut right, at, b"key/");
    truncate(&mut page, at);
    check(&page).unwrap();
    check(&right).unwrap();
    assert_eq!([entries(&page), entries(&right)].concat(), before);
    merge(&mut page, &right, b"key/").unwrap();
    check(&page).unwrap();
    assert_eq!(entries(&page), before);
}

#[test]
fn keys_with_a_long_beginning_in_common_come_in_any_order() {
    use crate::{Environment, Options, Tree};
    for (step, long) in [(1, 480), (1999, 480), (7, 480), (1, 2000), (613, 1500)] {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let key = |number: usize| format!("{}/0/{number}", "x".repeat(long)).into_bytes();
        let tree = environment.write(|tx| {
            let tree = Tree::open_or_create(tx, b"tree")?;
            (0..2000).try_for_each(|index| tree.put(tx, &key(index * step % 2000), &[7; 8]))?;
            tree.put(tx, b"a", b"first")?;
            tree.put(tx, b"z", b"last")?;
            Ok::<_, crate::Error>(tree)
        });
        let (tree, tx) = (tree.unwrap(), environment.read());
        assert!((0..2000).all(|number| tree.contains(&tx, &key(number)).unwrap()), "{step}, {long}");
        assert_eq!(environment.verify().unwrap().problems, Vec::<String>::new());
    }
}

#[test]
fn leaves_of_a_random_load_are_well_filled_and_those_of_rising_keys_full() {
    use crate::{Environment, Options, Tree};
    // Rising keys below others, so that none of them comes to the last leaf.
    for (rises, at_least) in [(false, 72), (true, 90)] {
        let environment = Environment::in_memory(Options::default()).unwrap();
        environment
            .write(|tx| {
                let tree = Tree::open_or_create(tx, b"tree")?;
                tree.put(tx, &[0xFF; 16], b"the last")?;
                (0..20_000u64).try_for_each(|number| {
                    let spread = if rises { number } else { number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 1 };
                    tree.put(tx, &spread.to_be_bytes(), &[number as u8; 120])
                })
            })
            .unwrap();
        let report = environment.verify().unwrap();
        assert_eq!(report.problems, [""; 0]);
        let shape = report.structures.iter().find(|(name, _)| *name == "tree").unwrap();
        assert!(shape.1.fill_percent() >= at_least, "rising {rises}: {}%", shape.1.fill_percent());
    }
}

#[test]
fn entries_of_very_different_sizes_do_not_go_back_and_forth_between_neighbours() {
    use crate::{Environment, Options, Tree};
    let environment = Environment::in_memory(Options::default()).unwrap();
    let mut random = Random::new(1);
    environment
        .write(|tx| {
            let tree = Tree::open_or_create(tx, b"tree")?;
            (0..20_000).try_for_each(|_| {
                let state = random.next();
                let size = if state >> 60 < 4 { 2000 } else { (state >> 58) as usize };
                tree.put(tx, &(state >> 16).to_be_bytes(), &vec![7; size])
            })
        })
        .unwrap();
    assert_eq!(environment.verify().unwrap().problems, [""; 0]);
}
