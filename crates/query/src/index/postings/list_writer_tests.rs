//! Lists that grow to many blocks and shrink again, against a set; after each change the whole list is read and its shape
//! looked at.

use super::*;
use crate::index::dictionary::term::Kind;
use crate::index::dictionary::term_entries::TermEntries;
use crate::index::entry::EntryId;
use crate::index::postings::entry_ids::EntryIds;
use std::collections::BTreeSet;
use storage::{Environment, Options};
use testing::effort;
use testing::random::Random;

const LIST: (FieldNumber, ListKind, &[u8]) = (FieldNumber(3), ListKind::Term(Kind::Text), b"a\x00b");

fn lists() -> (Environment, Tree) {
    let environment = Environment::in_memory(Options::default()).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"postings")).unwrap();
    // Neighbours that must stay as they are.
    let around = |term: &'static [u8]| (FieldNumber(3), ListKind::Term(Kind::Text), term);
    change(&environment, tree, around(b"a"), &[Change { entry: 7, is_removal: false }]).unwrap();
    change(&environment, tree, around(b"a\x00b\x00"), &[Change { entry: 7, is_removal: false }]).unwrap();
    (environment, tree)
}

fn change(
    environment: &Environment,
    tree: Tree,
    list: (FieldNumber, ListKind, &[u8]),
    changes: &[Change],
) -> Result<()> {
    environment.write(|tx| ListWriter::new(tree).change(tx, list, changes))
}

/// The sizes of the blocks, after a look at all that must hold. A short list is one of that size.
fn check(environment: &Environment, tree: Tree, expected: &BTreeSet<u64>, random: &mut Random) -> Vec<usize> {
    let tx = environment.read();
    let (mut sizes, mut ids) = (Vec::new(), BTreeSet::new());
    let mut head_key = Vec::new();
    key::put_head(&mut head_key, LIST.0, LIST.1, LIST.2);
    let mut cursor = tree.cursor(&tx);
    let mut others = 0;
    let (mut named, mut count) = (None, 0);
    let mut add = |runs: Runs<'_>| runs.map(Result::unwrap).for_each(|run| ids.extend(run.first..=run.last));
    while let Some((found, value)) = cursor.next().unwrap() {
        let found = PostingKey::of(found).unwrap();
        match found.block {
            _ if found.head != head_key => others += 1,
            None => {
                let head = Head::of(value).unwrap();
                count = head.count;
                match head.content {
                    Content::Short(runs) => {
                        sizes.push(value.len());
                        add(runs);
                    }
                    Content::Long { last_block } => named = Some(last_block),
                }
            }
            Some(first) => {
                sizes.push(value.len());
                assert!(value.len() <= BLOCK_SIZE_MAX);
                add(list::block(first, value).unwrap());
                if cursor_is_last(&tx, tree, &head_key, first) {
                    assert_eq!(named, Some(first));
                }
            }
        }
    }
    assert_eq!(others, 2);
    assert_eq!((&ids, count), (expected, expected.len() as u64));
    // Through the reader, all and by steps.
    let Some(value) = tree.get(&tx, &head_key).unwrap() else { return sizes };
    let mut entries = TermEntries::of(&tx, tree, u64::MAX, &head_key, Head::of(value).unwrap());
    let mut at = 0;
    while let Some(EntryId(id)) = entries.seek(EntryId(at)).unwrap() {
        assert_eq!(Some(&id), expected.range(at..).next());
        at = id + 1 + if random.below(3) == 0 { random.below(3000) } else { 0 };
    }
    assert_eq!(expected.range(at..).next(), None);
    sizes
}

fn cursor_is_last(tx: &storage::ReadTransaction<'_>, tree: Tree, head: &[u8], first: u64) -> bool {
    let mut after = head.to_vec();
    key::put_block(&mut after, first + 1);
    !tree.cursor(tx).seek(&after).unwrap().is_some_and(|(key, _)| key.starts_with(head))
}

/// Random changes. Gives the most blocks that there were, and how often there were fewer than before.
fn grow_and_shrink(seed: u64) -> (usize, usize) {
    let (mut longest, mut joined) = (0, 0);
    let mut random = Random::new(seed);
    let (environment, tree) = lists();
    let mut set = BTreeSet::new();
    let mut before = 0;
    for step in 0..80 {
        let (width, count_max) = (1 + random.below(30_000), 1 + random.below(900));
        let count = 1 + random.below(count_max);
        let from = if random.below(2) == 0 { set.last().map_or(1, |last| last + 1) } else { 1 + random.below(20_000) };
        let grows = step % 40 < 25;
        let mut changes = BTreeSet::new();
        for _ in 0..count {
            let id = from + random.below(width);
            if grows != set.contains(&id) {
                changes.insert(id);
            } else if let Some(id) = set.range(id..).next().filter(|_| random.below(3) == 0 || !grows) {
                changes.insert(*id);
            }
        }
        if !grows && random.below(2) == 0 {
            // Most of a stretch, so that blocks get small and not only few.
            changes.extend(set.range(from..from + width).filter(|_| random.below(8) > 0));
        }
        if step == 38 {
            changes = set.clone();
        }
        if changes.is_empty() {
            continue;
        }
        let list: Vec<Change> = changes.iter().map(|id| Change { entry: *id, is_removal: set.contains(id) }).collect();
        change(&environment, tree, LIST, &list).unwrap();
        set = set.symmetric_difference(&changes).copied().collect();
        let sizes = check(&environment, tree, &set, &mut random);
        longest = longest.max(sizes.len());
        joined += usize::from(sizes.len() < before && !set.is_empty());
        before = sizes.len();
    }
    assert!(environment.verify().unwrap().problems.is_empty());
    (longest, joined)
}

#[test]
fn a_list_is_a_set_however_it_grows_and_shrinks() {
    let (mut longest, mut joined) = (0, 0);
    for seed in 0..effort::choose(8, 300) {
        let Ok(case) = std::panic::catch_unwind(|| grow_and_shrink(seed)) else { panic!("seed {seed} fails") };
        longest = longest.max(case.0);
        joined += case.1;
    }
    assert!(longest > 15 && joined > 10, "{longest} blocks, {joined} times fewer: the test is too weak");
}

#[test]
fn appending_fills_blocks_and_touches_the_last_one() {
    let (environment, tree) = lists();
    let mut set = BTreeSet::new();
    for id in (1..12_000u64).step_by(3) {
        set.insert(id);
        change(&environment, tree, LIST, &[Change { entry: id, is_removal: false }]).unwrap();
    }
    let sizes = check(&environment, tree, &set, &mut Random::new(1));
    assert_eq!(sizes.len(), set.len().div_ceil(BLOCK_SIZE_MAX), "{sizes:?}");
}

#[test]
fn a_change_that_does_not_fit_is_damage_and_changes_nothing() {
    let (environment, tree) = lists();
    let set: BTreeSet<u64> = (1..4000).step_by(2).collect();
    let added: Vec<Change> = set.iter().map(|id| Change { entry: *id, is_removal: false }).collect();
    change(&environment, tree, LIST, &added).unwrap();
    for wrong in [
        Change { entry: 5, is_removal: false },
        Change { entry: 6, is_removal: true },
        Change { entry: 5000, is_removal: true },
    ] {
        let found = change(&environment, tree, LIST, &[wrong]);
        assert!(matches!(found, Err(crate::index::Error::Corrupt { .. })), "{wrong:?}");
        check(&environment, tree, &set, &mut Random::new(1));
    }
}
