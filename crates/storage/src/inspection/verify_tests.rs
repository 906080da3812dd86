//! Tests of `verify`: the damage that it reports, and the states that it accepts.

use super::*;
use crate::environment::Options;
use crate::io::simulated::SimulatedIo;
use crate::tree::fixed::FixedTree;
use std::path::Path;
use std::sync::Arc;

fn environment() -> Environment {
    let options = Options { io: Arc::new(SimulatedIo::new()), background: false, ..Options::default() };
    Environment::open(Path::new("/verified"), options).unwrap()
}

/// Pages of an environment that are branches and kept in memory.
fn kept_branches(environment: &Environment) -> Vec<PageNumber> {
    let table = &environment.inner.table;
    let is_kept = |number: &PageNumber| table.newest(*number).unwrap().is_some_and(|version| version.is_kept());
    (0..table.pages()).map(PageNumber).filter(is_kept).collect()
}

#[test]
fn the_place_of_a_branch_that_was_kept_and_freed_may_be_a_values_by_now() {
    const KEYS: u64 = 400_000;
    let environment = environment();
    let numbers = environment.write(|tx| FixedTree::open_or_create(tx, b"fixed")).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    environment.write(|tx| (0..KEYS).try_for_each(|key| numbers.put(tx, key, key))).unwrap();
    environment.flush().unwrap();
    let kept = kept_branches(&environment);
    assert!(kept.len() > 2, "a root, and branches below it: {kept:?}");
    environment.write(|tx| (0..KEYS).try_for_each(|key| numbers.delete(tx, key).map(drop))).unwrap();
    environment.flush().unwrap();
    let value = vec![9; 200 << 10];
    environment.write(|tx| (0..40u8).try_for_each(|number| tree.put(tx, &[number], &value))).unwrap();
    environment.flush().unwrap();
    let table = &environment.inner.table;
    let is_overwritten = |number: &&PageNumber| {
        let page = table.file_page_unverified(**number).unwrap();
        !page::is_branch(page)
    };
    let still_kept = kept_branches(&environment);
    let overwritten = still_kept.iter().filter(is_overwritten).count();
    assert!(overwritten > 0, "values lie where branches were that are kept");
    assert_eq!(environment.verify().unwrap().problems, [""; 0]);
}

#[test]
fn a_check_reports_its_progress_up_to_the_pages_in_use() {
    let environment = environment();
    let tree = environment.write(|tx| FixedTree::open_or_create(tx, b"fixed")).unwrap();
    environment.write(|tx| (0..5_000).try_for_each(|key| tree.put(tx, key, key))).unwrap();
    let mut steps = Vec::new();
    let report = environment.verify_with(&mut |reached| steps.push(reached)).unwrap();
    assert!(steps.len() > 10 && steps.is_sorted_by(|one, next| one < next), "{steps:?}");
    assert_eq!(steps.last(), Some(&report.pages_total()));
    assert_eq!(report.pages_total(), environment.statistics().unwrap().used_pages);
}

#[test]
fn leaves_of_a_fixed_tree_in_each_others_place_are_told_of() {
    let environment = environment();
    let tree = environment.write(|tx| FixedTree::open_or_create(tx, b"fixed")).unwrap();
    environment.write(|tx| (0..5_000).try_for_each(|key| tree.put(tx, key, key))).unwrap();
    assert_eq!(environment.verify().unwrap().problems, [""; 0]);
    let (_, _, root) = catalog::all(&environment.read()).unwrap().remove(0);
    environment
        .write(|tx| -> crate::Result<()> {
            let mut children = fixed::children(tx.page_of(root)?).map(|(child, ..)| child).skip(2);
            let (first, second) = (children.next().unwrap(), children.next().unwrap());
            drop(children);
            let content = [*tx.page_of(first)?, *tx.page_of(second)?];
            tx.page_mut(first)?.write(page::DIFF_START, &content[1][page::DIFF_START..]);
            tx.page_mut(second)?.write(page::DIFF_START, &content[0][page::DIFF_START..]);
            Ok(())
        })
        .unwrap();
    let problems = environment.verify().unwrap().problems;
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems.iter().all(|problem| problem.contains("outside of what its parent gives it")), "{problems:?}");
}

#[test]
fn two_ways_to_one_page_are_told_of() {
    let environment = environment();
    let tree = environment.write(|tx| FixedTree::open_or_create(tx, b"fixed")).unwrap();
    environment.write(|tx| (0..5_000).try_for_each(|key| tree.put(tx, key, key))).unwrap();
    let (_, _, root) = catalog::all(&environment.read()).unwrap().remove(0);
    environment
        .write(|tx| -> crate::Result<()> {
            let content = *tx.page_of(root)?;
            let (first, ..) = fixed::children(&content).next().unwrap();
            let (second, ..) = fixed::children(&content).nth(1).unwrap();
            let place = content.windows(8).position(|bytes| bytes == second.0.to_le_bytes()).unwrap();
            tx.page_mut(root)?.write(place, &first.0.to_le_bytes());
            Ok(())
        })
        .unwrap();
    let problems = environment.verify().unwrap().problems;
    assert!(problems.iter().any(|problem| problem.contains("as something else")), "{problems:?}");
    assert!(problems.iter().any(|problem| problem.contains("nothing leads to it")), "{problems:?}");
}

/// The first key of a branch was never lowered: when its first child was split below it, separators did not rise, and keys were lost.
#[test]
fn a_fixed_tree_that_gets_smaller_and_smaller_keys_keeps_its_order() {
    const KEYS: u64 = 10_000;
    let environment = environment();
    let tree = environment.write(|tx| FixedTree::open_or_create(tx, b"fixed")).unwrap();
    let put_falling = |keys: std::ops::Range<u64>| {
        environment.write(|tx| keys.rev().try_for_each(|key| tree.put(tx, key, key + 1))).unwrap();
    };
    let check = || {
        let snapshot = environment.read();
        for key in 0..KEYS {
            assert_eq!(tree.get(&snapshot, key).unwrap(), Some(key + 1));
        }
        let report = environment.verify().unwrap();
        assert_eq!(report.problems, [""; 0]);
        assert_eq!(report.structures["fixed"].entries, KEYS);
    };
    put_falling(0..KEYS);
    check();
    environment.write(|tx| (0..2_000).try_for_each(|key| tree.delete(tx, key).map(drop))).unwrap();
    put_falling(0..2_000);
    check();
}

/// Each key that fell into the gap behind a full leaf got a page of its own.
#[test]
fn keys_that_fall_into_a_gap_share_leaves() {
    let environment = environment();
    let tree = environment.write(|tx| FixedTree::open_or_create(tx, b"fixed")).unwrap();
    let keys = || (0..504).chain((10_000..20_000).rev());
    environment.write(|tx| keys().try_for_each(|key| tree.put(tx, key, key))).unwrap();
    let report = environment.verify().unwrap();
    assert_eq!(report.problems, [""; 0]);
    let shape = report.structures["fixed"];
    assert_eq!(shape.entries, keys().count() as u64);
    assert!(shape.leaves < 100, "{} leaves", shape.leaves);
}

/// Of each 500 keys one stays for good. Each of those kept the leaf that it came with: 198 leaves for 1,198 keys.
#[test]
fn trees_of_which_little_is_left_give_their_pages_back() {
    let environment = environment();
    let fixed = environment.write(|tx| FixedTree::open_or_create(tx, b"fixed")).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    let stays = |key: u64| key.is_multiple_of(500);
    for batch in 0..100 {
        environment
            .write(|tx| {
                (batch * 1_000..(batch + 1) * 1_000).try_for_each(|key| {
                    fixed.put(tx, key, key)?;
                    tree.put(tx, &key.to_be_bytes(), &[7; 8])?;
                    if let Some(old) = key.checked_sub(1_000).filter(|old| !stays(*old)) {
                        fixed.delete(tx, old)?;
                        tree.delete(tx, &old.to_be_bytes())?;
                    }
                    Ok::<_, crate::Error>(())
                })
            })
            .unwrap();
    }
    let report = environment.verify().unwrap();
    assert_eq!(report.problems, [""; 0]);
    for name in ["fixed", "tree"] {
        let shape = report.structures[name];
        assert_eq!(shape.entries, 1_198);
        assert!(shape.leaves <= 20, "{name}: {} leaves", shape.leaves);
    }
    let snapshot = environment.read();
    let mut cursor = fixed.cursor(&snapshot);
    let found: Vec<u64> = std::iter::from_fn(|| cursor.next().unwrap()).map(|(key, _)| key).collect();
    let left: Vec<u64> = (0..100_000).filter(|key| *key >= 99_000 || stays(*key)).collect();
    assert_eq!(found, left);
}

/// A leaf whose prefix alone is a quarter of a page was never empty enough to be freed.
#[test]
fn leaves_of_keys_with_a_long_common_start_are_freed() {
    let environment = environment();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    let keys: Vec<Vec<u8>> = (0..2_000).map(|n| format!("{}{n:04}", "x".repeat(2_000)).into_bytes()).collect();
    environment.write(|tx| keys.iter().try_for_each(|key| tree.put(tx, key, b"v"))).unwrap();
    let leaves = || environment.verify().unwrap().structures["tree"].leaves;
    assert!(leaves() > 1);
    environment.write(|tx| keys.iter().try_for_each(|key| tree.delete(tx, key).map(drop))).unwrap();
    assert_eq!(leaves(), 1);
}
