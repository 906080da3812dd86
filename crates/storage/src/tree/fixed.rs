//! B+trees from u64 to u64 on packed arrays, for etags and locations.
//!
//! ```text
//!  0      64             128                 4160                8192
//!  +------+--------------+-------------------+-------------------+
//!  | head | dead: 1 bit  | keys: 504 x u64   | values: 504 x u64 |
//!  +------+--------------+-------------------+-------------------+
//!
//!  of the fixed tree:  36 dead u16
//! ```
//!
//! A key that is deleted from a leaf is marked dead, one bit, instead of moving what follows: etags rise, and an update
//! deletes an old one from somewhere in the middle. A leaf drops its dead keys when it needs room, and one with few living
//! keys is joined with its neighbour. In a branch each key is the lower bound of the child beside it (the first is taken for
//! no bound).

use std::hint::black_box;

use super::{beside, catalog};
use crate::error::Result;
use crate::ids::PageNumber;
use crate::limits::{AT_ONCE_MAX, PAGE_SIZE, TREE_DEPTH_MAX};
use crate::page::{self, Kind, count, set_count, u16_at, u64_at};
use crate::pager::Page;
use crate::pager::changes::{Lines, PageMut};
use crate::transaction::{Reader, WriteTransaction};

const DEAD_COUNT: usize = 36;
const DEAD: usize = 64;
const KEYS: usize = 128;
const ENTRIES_MAX: usize = 504;
const VALUES: usize = KEYS + ENTRIES_MAX * 8;
/// A leaf with no more living keys than this is joined with a neighbour, if both together have no more than [`JOINED_MAX`]: what
/// comes out has room for as much as it takes to make it sparse again.
const SPARSE_MAX: usize = ENTRIES_MAX / 4;
const JOINED_MAX: usize = ENTRIES_MAX * 3 / 4;
/// Fewer dead keys than this are not dropped to make room for a key behind all others: nearly the whole page would move for each.
const DEAD_WORTH_DROPPING: usize = 16;
const _: () = assert!(VALUES + ENTRIES_MAX * 8 == PAGE_SIZE && ENTRIES_MAX <= 512);

/// A tree of 64-bit keys and values. A small handle; keep it, it stays valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FixedTree {
    root: PageNumber,
}

#[inline]
fn key_at(page: &Page, index: usize) -> u64 {
    u64_at(page, KEYS + index * 8)
}
#[inline]
fn value_at(page: &Page, index: usize) -> u64 {
    u64_at(page, VALUES + index * 8)
}
fn set_entry(page: &mut PageMut<'_>, index: usize, key: u64, value: u64) {
    page.set_u64(KEYS + index * 8, key);
    page.set_u64(VALUES + index * 8, value);
}
#[inline]
fn is_dead(page: &Page, index: usize) -> bool {
    page[DEAD + index / 8] >> (index % 8) & 1 == 1
}
fn dead_count(page: &Page) -> usize {
    usize::from(u16_at(page, DEAD_COUNT))
}
fn living_count(page: &Page) -> usize {
    count(page).saturating_sub(dead_count(page))
}
fn set_dead(page: &mut PageMut<'_>, index: usize, dead: bool) {
    let mask = 1 << (index % 8);
    let before = page[DEAD + index / 8] & mask != 0;
    if before != dead {
        page.set_u8(DEAD + index / 8, page[DEAD + index / 8] ^ mask);
        let change = if dead { dead_count(page) + 1 } else { dead_count(page) - 1 };
        page.set_u16(DEAD_COUNT, change as u16);
    }
}

fn initialize(page: &mut PageMut<'_>, level: u8) {
    page.clear(page::DIFF_START..PAGE_SIZE);
    page::set_kind(page, Kind::FixedTree, level);
}

/// The first position whose key is not below `key`. Rising keys are recognised: the last one is looked at first.
#[inline]
fn lower_bound(page: &Page, key: u64) -> usize {
    let count = count(page);
    let Some(last) = count.checked_sub(1) else { return 0 };
    let (least, greatest) = (key_at(page, 0), key_at(page, last));
    if key <= least || key > greatest {
        return if key <= least { 0 } else { count };
    }
    lower_bound_from(page, key, guess(key, least, greatest, last))
}

/// Where a key is if all lie evenly between two bounds, the upper of which is at `last`.
#[inline]
fn guess(key: u64, least: u64, greatest: u64, last: usize) -> usize {
    let share = key.saturating_sub(least) as f64 / greatest.saturating_sub(least) as f64;
    ((share * last as f64) as usize).min(last)
}

/// The same as [`lower_bound`], looked for from a position on that may be far off, in steps that double.
#[inline]
fn lower_bound_from(page: &Page, key: u64, position: usize) -> usize {
    // All keys before `low` are below the one that is looked for, none from `high` on is.
    let (mut low, mut high) = (0, count(page));
    let mut step = 1;
    if key_at(page, position) < key {
        low = position + 1;
        while low + step <= high {
            let probe = low + step - 1;
            if key_at(page, probe) >= key {
                high = probe;
                break;
            }
            low = probe + 1;
            step *= 2;
        }
    } else {
        high = position;
        while low + step <= high {
            let probe = high - step;
            if key_at(page, probe) < key {
                low = probe + 1;
                break;
            }
            high = probe;
            step *= 2;
        }
    }
    while low < high {
        let middle = (low + high) / 2;
        if key_at(page, middle) < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn child_position(page: &Page, key: u64) -> usize {
    let position = lower_bound(page, key);
    if position < count(page) && key_at(page, position) == key { position } else { position.saturating_sub(1) }
}

fn insert_at(page: &mut PageMut<'_>, position: usize, key: u64, value: u64) {
    let count = count(page);
    for array in [KEYS, VALUES] {
        page.copy_within(array + position * 8..array + count * 8, array + (position + 1) * 8);
    }
    set_entry(page, position, key, value);
    set_count(page, count + 1);
}

fn remove_at(page: &mut PageMut<'_>, position: usize) {
    let count = count(page);
    for array in [KEYS, VALUES] {
        page.copy_within(array + (position + 1) * 8..array + count * 8, array + position * 8);
    }
    set_count(page, count - 1);
    set_entry(page, count - 1, 0, 0);
}

/// Drops the dead keys of a leaf.
fn drop_dead(page: &mut PageMut<'_>) {
    let old = **page;
    let mut to = 0;
    for from in (0..count(&old)).filter(|index| !is_dead(&old, *index)) {
        set_entry(page, to, key_at(&old, from), value_at(&old, from));
        to += 1;
    }
    for index in to..count(&old) {
        set_entry(page, index, 0, 0);
    }
    page.clear(DEAD..KEYS);
    page.set_u16(DEAD_COUNT, 0);
    set_count(page, to);
}

/// Whether the structure of a page holds together.
///
/// # Errors
///
/// The rule that does not hold.
pub(crate) fn check(page: &Page) -> Result<(), &'static str> {
    let count = count(page);
    if count > ENTRIES_MAX {
        return Err("it has more entries than fit");
    }
    if (1..count).any(|index| key_at(page, index - 1) >= key_at(page, index)) {
        return Err("its keys do not rise");
    }
    if (0..512).filter(|index| is_dead(page, *index)).count() != dead_count(page) {
        return Err("its dead keys do not add up");
    }
    Ok(())
}

struct Path {
    steps: [(PageNumber, usize); TREE_DEPTH_MAX],
    depth: usize,
}

/// The leaf that has a key if any has, not looked at yet, and the bounds of its keys as far as the branch above tells them.
#[derive(Clone, Copy)]
struct Leaf<'t> {
    number: PageNumber,
    page: &'t Page,
    least: Option<u64>,
    above: Option<u64>,
}

impl Leaf<'_> {
    /// Where a key may be. The bounds of the branch spare looking at the first and last key, which mostly are in no cache.
    #[inline]
    fn guess(&self, key: u64) -> usize {
        let Some(last) = count(self.page).min(ENTRIES_MAX).checked_sub(1) else { return 0 };
        let least = self.least.unwrap_or_else(|| key_at(self.page, 0));
        let above = self.above.unwrap_or_else(|| key_at(self.page, last).saturating_add(1));
        guess(key, least, above, last + 1).min(last)
    }

    #[inline]
    fn value(&self, reader: &impl Reader, key: u64) -> Result<Option<u64>> {
        let page = self.page;
        if Kind::of(page) != Some(Kind::FixedTree) || page::level(page) != 0 {
            return Err(reader.corrupt(self.number, "a fixed tree leads to a page of another kind"));
        }
        if count(page) == 0 {
            return Ok(None);
        }
        let position = lower_bound_from(page, key, self.guess(key));
        let there = position < count(page) && key_at(page, position) == key && !is_dead(page, position);
        Ok(there.then(|| value_at(page, position)))
    }
}

impl FixedTree {
    pub(crate) fn root(&self) -> PageNumber {
        self.root
    }

    pub(crate) fn at(root: PageNumber) -> FixedTree {
        FixedTree { root }
    }

    /// The tree with a name, if it was made.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`].
    pub fn open(reader: &impl Reader, name: &[u8]) -> Result<Option<FixedTree>> {
        Ok(catalog::find(reader, name, Kind::FixedTree)?.map(FixedTree::at))
    }

    /// The tree with a name, made if it is missing.
    ///
    /// # Errors
    ///
    /// Those of changing an environment.
    pub fn open_or_create(tx: &mut WriteTransaction<'_>, name: &[u8]) -> Result<FixedTree> {
        if let Some(tree) = Self::open(tx, name)? {
            return Ok(tree);
        }
        let tree = Self::create(tx)?;
        catalog::add(tx, name, Kind::FixedTree, tree.root)?;
        Ok(tree)
    }

    /// A tree without a name, owned by another structure.
    pub(crate) fn create(tx: &mut WriteTransaction<'_>) -> Result<FixedTree> {
        let (root, ref mut page) = tx.new_page()?;
        initialize(page, 0);
        Ok(FixedTree { root })
    }

    fn node(reader: &impl Reader, number: PageNumber) -> Result<&Page> {
        let page = reader.page(number)?;
        if Kind::of(page) != Some(Kind::FixedTree) {
            return Err(reader.corrupt(number, "a fixed tree leads to a page of another kind"));
        }
        Ok(page)
    }

    #[inline]
    fn leaf<'t>(&self, reader: &'t impl Reader, key: u64) -> Result<Leaf<'t>> {
        let page = Self::node(reader, self.root)?;
        let mut leaf = Leaf { number: self.root, page, least: None, above: None };
        for level in (1..=page::level(page)).rev() {
            let branch = leaf.page;
            if Kind::of(branch) != Some(Kind::FixedTree) || page::level(branch) != level {
                return Err(reader.corrupt(leaf.number, "a fixed tree leads to a page of another kind or level"));
            }
            let position = child_position(branch, key);
            let bound = |position: usize| (position < count(branch)).then(|| key_at(branch, position));
            leaf.number = PageNumber(value_at(branch, position));
            leaf.page = reader.page(leaf.number)?;
            leaf.least = if position > 0 { bound(position) } else { None };
            leaf.above = bound(position + 1);
        }
        Ok(leaf)
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if a page on the way is damaged.
    pub fn get(&self, reader: &impl Reader, key: u64) -> Result<Option<u64>> {
        self.leaf(reader, key)?.value(reader, key)
    }

    /// The values of several keys, in their order, appended to `values`. Leaves that are in no cache are waited for together and not one
    /// after the other: group prefetching, by loads that nothing waits for (Chen et al., "Improving Hash Join Performance through
    /// Prefetching", 2004).
    ///
    /// # Errors
    ///
    /// As [`Self::get`].
    pub fn get_many(&self, reader: &impl Reader, keys: &[u64], values: &mut Vec<Option<u64>>) -> Result<()> {
        for keys in keys.chunks(AT_ONCE_MAX) {
            let &[first, ref others @ ..] = keys else { continue };
            let mut leaves = [self.leaf(reader, first)?; AT_ONCE_MAX];
            for (leaf, key) in leaves.iter_mut().skip(1).zip(others) {
                *leaf = self.leaf(reader, *key)?;
            }
            let sought = || leaves.iter().zip(keys.iter().copied());
            black_box(sought().fold(0, |sum, (leaf, _)| sum ^ count(leaf.page)));
            black_box(sought().fold(0, |sum, (leaf, key)| {
                let position = leaf.guess(key);
                sum ^ key_at(leaf.page, position) ^ value_at(leaf.page, position)
            }));
            for (leaf, key) in sought() {
                values.push(leaf.value(reader, key)?);
            }
        }
        Ok(())
    }

    /// The last key and its value.
    ///
    /// # Errors
    ///
    /// As [`Self::get`].
    pub fn last(&self, reader: &impl Reader) -> Result<Option<(u64, u64)>> {
        self.cursor(reader).last()
    }

    /// A cursor, before the first key.
    pub fn cursor<'t, R: Reader>(&self, reader: &'t R) -> FixedCursor<'t, R> {
        FixedCursor { tree: *self, reader, steps: [None; TREE_DEPTH_MAX], depth: 0 }
    }

    fn path(&self, tx: &WriteTransaction<'_>, key: u64) -> Result<Path> {
        let mut path = Path { steps: [(self.root, 0); TREE_DEPTH_MAX], depth: 1 };
        let mut page = Self::node(tx, self.root)?;
        while page::level(page) > 0 {
            let position = child_position(page, key);
            path.steps[path.depth - 1].1 = position;
            let child = PageNumber(value_at(page, position));
            if path.depth == TREE_DEPTH_MAX {
                return Err(tx.inner.table.corrupt(child, "the tree is deeper than it can be"));
            }
            path.steps[path.depth] = (child, 0);
            path.depth += 1;
            page = Self::node(tx, child)?;
        }
        Ok(path)
    }

    /// Sets the value of a key, whether it was there or not.
    ///
    /// # Errors
    ///
    /// [`crate::Error::DiskFull`], [`crate::Error::Corrupt`].
    pub fn put(&self, tx: &mut WriteTransaction<'_>, key: u64, value: u64) -> Result<()> {
        self.put_if(tx, key, value, true).map(drop)
    }

    /// Sets the value of a key that is not there. False: it was, and keeps its value.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn insert(&self, tx: &mut WriteTransaction<'_>, key: u64, value: u64) -> Result<bool> {
        self.put_if(tx, key, value, false)
    }

    fn put_if(&self, tx: &mut WriteTransaction<'_>, key: u64, value: u64, replace: bool) -> Result<bool> {
        loop {
            let path = self.path(tx, key)?;
            let page = &mut tx.page_mut(path.steps[path.depth - 1].0)?;
            let position = lower_bound(page, key);
            let entries = count(page);
            if position < entries && key_at(page, position) == key {
                if !replace && !is_dead(page, position) {
                    return Ok(false);
                }
                set_dead(page, position, false);
                page.set_u64(VALUES + position * 8, value);
                return Ok(true);
            }
            let worth = if position < entries { 1 } else { DEAD_WORTH_DROPPING };
            if dead_count(page) >= worth && (entries == ENTRIES_MAX || position < entries) {
                drop_dead(page);
                continue;
            }
            if entries < ENTRIES_MAX {
                insert_at(page, position, key, value);
                return Ok(true);
            }
            self.split(tx, &path, path.depth - 1, key)?;
        }
    }

    fn split(&self, tx: &mut WriteTransaction<'_>, path: &Path, depth: usize, key: u64) -> Result<()> {
        if depth == 0 {
            let old = *tx.page_of(self.root)?;
            let (child, ref mut page) = tx.new_page()?;
            page.write(page::DIFF_START, &old[page::DIFF_START..]);
            let root = &mut tx.page_mut(self.root)?;
            initialize(root, page::level(&old) + 1);
            insert_at(root, 0, key_at(&old, 0), child.0);
            return Ok(());
        }
        let (parent, position) = path.steps[depth - 1];
        if count(tx.page_of(parent)?) == ENTRIES_MAX {
            return self.split(tx, path, depth - 1, key);
        }
        let number = path.steps[depth].0;
        let mut left = *tx.page_of(number)?;
        let mut lines = Lines::NONE;
        let left = &mut PageMut::new(&mut left, &mut lines);
        let entries = count(left);
        let appended = key > key_at(left, entries - 1);
        let leaf = page::level(left) == 0;
        let from = match (appended, leaf) {
            (true, true) => entries,
            (true, false) => entries - 1,
            (false, _) => entries / 2,
        };
        // All that can come behind a full leaf goes to the new one, also what is smaller than this key.
        let separator = if from == entries { key_at(left, entries - 1) + 1 } else { key_at(left, from) };
        let (right_number, ref mut right) = tx.new_page()?;
        initialize(right, page::level(left));
        for index in from..entries {
            insert_at(right, index - from, key_at(left, index), value_at(left, index));
        }
        if from < entries {
            for index in (from..entries).rev() {
                remove_at(left, index);
            }
            tx.page_mut(number)?.write(page::DIFF_START, &left[page::DIFF_START..]);
        }
        let least = key_at(left, 0);
        let parent = &mut tx.page_mut(parent)?;
        if position == 0 && least < key_at(parent, 0) {
            // The first child has smaller keys than the one that it came with; the separator may be among them.
            parent.set_u64(KEYS, least);
        }
        insert_at(parent, position + 1, separator, right_number.0);
        Ok(())
    }

    /// Removes a key. False: it was not there.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn delete(&self, tx: &mut WriteTransaction<'_>, key: u64) -> Result<bool> {
        let path = self.path(tx, key)?;
        let leaf = path.steps[path.depth - 1].0;
        let page = tx.page_of(leaf)?;
        let position = lower_bound(page, key);
        if position == count(page) || key_at(page, position) != key || is_dead(page, position) {
            return Ok(false);
        }
        let page = &mut tx.page_mut(leaf)?;
        set_dead(page, position, true);
        let living = living_count(page);
        if path.depth == 1 {
            if living == 0 {
                initialize(page, 0);
            }
            return Ok(true);
        }
        if living > 0 {
            if living <= SPARSE_MAX {
                self.join_with_neighbour(tx, &path)?;
            }
            return Ok(true);
        }
        let mut depth = path.depth - 1;
        loop {
            tx.free_pages(path.steps[depth].0, 1)?;
            let (parent, position) = path.steps[depth - 1];
            let page = &mut tx.page_mut(parent)?;
            remove_at(page, position);
            if count(page) > 0 {
                break;
            }
            depth -= 1;
            if depth == 0 {
                initialize(page, 0);
                return Ok(true);
            }
        }
        self.pull_root_up(tx)?;
        Ok(true)
    }

    /// Puts the living keys of a leaf and of one beside it, below the same parent, into the left one, if there is room.
    fn join_with_neighbour(&self, tx: &mut WriteTransaction<'_>, path: &Path) -> Result<()> {
        let (parent, position) = path.steps[path.depth - 2];
        let branch = tx.page_of(parent)?;
        let child = |position: usize| PageNumber(value_at(branch, position));
        let living = living_count(tx.page_of(path.steps[path.depth - 1].0)?);
        let fits = |side: &usize| {
            let page = tx.optional_page(child(*side), Kind::FixedTree, 0);
            page.is_some_and(|page| living_count(page) + living <= JOINED_MAX)
        };
        let Some(side) = beside(position, count(branch).saturating_sub(1)).find(fits) else { return Ok(()) };
        let left = position.min(side);
        let (left_number, right_number) = (child(left), child(left + 1));
        let right = *tx.page_of(right_number)?;
        let page = &mut tx.page_mut(left_number)?;
        drop_dead(page);
        for index in (0..count(&right)).filter(|index| !is_dead(&right, *index)) {
            insert_at(page, count(page), key_at(&right, index), value_at(&right, index));
        }
        tx.free_pages(right_number, 1)?;
        remove_at(&mut tx.page_mut(parent)?, left + 1);
        self.pull_root_up(tx)
    }

    fn pull_root_up(&self, tx: &mut WriteTransaction<'_>) -> Result<()> {
        loop {
            let root = tx.page_of(self.root)?;
            if page::level(root) == 0 || count(root) > 1 {
                return Ok(());
            }
            let child = PageNumber(value_at(root, 0));
            let content = *Self::node(tx, child)?;
            tx.page_mut(self.root)?.write(page::DIFF_START, &content[page::DIFF_START..]);
            tx.free_pages(child, 1)?;
        }
    }
}

/// The living entries of a leaf: for `verify`.
pub(crate) fn living(page: &Page) -> Vec<(u64, u64)> {
    let living = (0..count(page)).filter(|index| !is_dead(page, *index));
    living.map(|index| (key_at(page, index), value_at(page, index))).collect()
}

/// The keys of a page that tell where it is, dead ones too; the first of a branch tells nothing: for `verify`.
pub(crate) fn telling_keys(page: &Page) -> impl Iterator<Item = u64> + '_ {
    (usize::from(page::level(page) > 0)..count(page)).map(|index| key_at(page, index))
}

/// The children of a branch, none of a leaf, each with the keys that a search looks for in it: from the first on, below the
/// second. `None`: whatever its parent has. For `verify` and `inspect`.
pub(crate) fn children(page: &Page) -> impl Iterator<Item = (PageNumber, Option<u64>, Option<u64>)> + '_ {
    let children = if page::level(page) == 0 { 0 } else { count(page) };
    (0..children).map(move |index| {
        let from = (index > 0).then(|| key_at(page, index));
        let below = (index + 1 < children).then(|| key_at(page, index + 1));
        (PageNumber(value_at(page, index)), from, below)
    })
}

/// A position in a fixed tree that moves in key order, both ways.
pub struct FixedCursor<'t, R: Reader> {
    tree: FixedTree,
    reader: &'t R,
    steps: [Option<(&'t Page, usize)>; TREE_DEPTH_MAX],
    depth: usize,
}

impl<'t, R: Reader> FixedCursor<'t, R> {
    /// Goes to the first key at or above `key`.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if a page on the way is damaged; as for all moves.
    pub fn seek(&mut self, key: u64) -> Result<Option<(u64, u64)>> {
        self.descend(self.tree.root, true, |page| {
            if page::level(page) > 0 { child_position(page, key) } else { lower_bound(page, key) }
        })?;
        self.forward()
    }

    /// Goes to the last key at or below `key`.
    ///
    /// # Errors
    ///
    /// As [`Self::seek`].
    pub fn seek_last(&mut self, key: u64) -> Result<Option<(u64, u64)>> {
        match self.seek(key)? {
            Some(found) if found.0 == key => Ok(Some(found)),
            Some(_) => self.previous(),
            None => self.last(),
        }
    }

    /// Goes to the last key.
    ///
    /// # Errors
    ///
    /// As [`Self::seek`].
    pub fn last(&mut self) -> Result<Option<(u64, u64)>> {
        self.descend(self.tree.root, true, |page| count(page).saturating_sub(1))?;
        self.backward()
    }

    /// Goes to the next key; to the first, if the cursor has not moved yet.
    ///
    /// # Errors
    ///
    /// As [`Self::seek`].
    #[expect(clippy::should_implement_trait, reason = "it can fail, and it can go back")]
    pub fn next(&mut self) -> Result<Option<(u64, u64)>> {
        if self.depth == 0 {
            self.descend(self.tree.root, true, |_| 0)?;
            return self.forward();
        }
        if let Some((_, position)) = self.steps[self.depth - 1].as_mut() {
            *position += 1;
        }
        self.forward()
    }

    /// Goes to the previous key; to the last, if the cursor has not moved yet.
    ///
    /// # Errors
    ///
    /// As [`Self::seek`].
    pub fn previous(&mut self) -> Result<Option<(u64, u64)>> {
        if self.depth == 0 {
            return self.last();
        }
        match self.steps[self.depth - 1].as_mut() {
            Some((_, position)) if *position > 0 => *position -= 1,
            _ => return self.previous_leaf(),
        }
        self.backward()
    }

    fn descend(&mut self, from: PageNumber, anew: bool, choose: impl Fn(&Page) -> usize) -> Result<()> {
        if anew {
            self.depth = 0;
        }
        let mut number = from;
        loop {
            let page = FixedTree::node(self.reader, number)?;
            if self.depth == TREE_DEPTH_MAX {
                return Err(self.reader.corrupt(number, "the tree is deeper than it can be"));
            }
            let position = choose(page);
            self.steps[self.depth] = Some((page, position));
            self.depth += 1;
            if page::level(page) == 0 {
                return Ok(());
            }
            number = PageNumber(value_at(page, position));
        }
    }

    /// The entry at the position, or the next living one.
    fn forward(&mut self) -> Result<Option<(u64, u64)>> {
        loop {
            let Some((page, position)) = self.depth.checked_sub(1).and_then(|last| self.steps[last]) else {
                return Ok(None);
            };
            if let Some(living) = (position..count(page)).find(|index| !is_dead(page, *index)) {
                self.steps[self.depth - 1] = Some((page, living));
                return Ok(Some((key_at(page, living), value_at(page, living))));
            }
            self.steps[self.depth - 1] = Some((page, count(page)));
            let Some(branch) = (0..self.depth - 1)
                .rev()
                .find(|step| self.steps[*step].is_some_and(|(page, position)| position + 1 < count(page)))
            else {
                return Ok(None);
            };
            if let Some((page, position)) = self.steps[branch] {
                self.steps[branch] = Some((page, position + 1));
                self.depth = branch + 1;
                self.descend(PageNumber(value_at(page, position + 1)), false, |_| 0)?;
            }
        }
    }

    /// The entry at the position, or the living one before it.
    fn backward(&mut self) -> Result<Option<(u64, u64)>> {
        let Some((page, position)) = self.depth.checked_sub(1).and_then(|last| self.steps[last]) else {
            return Ok(None);
        };
        let end = (position + 1).min(count(page));
        if let Some(living) = (0..end).rev().find(|index| !is_dead(page, *index)) {
            self.steps[self.depth - 1] = Some((page, living));
            return Ok(Some((key_at(page, living), value_at(page, living))));
        }
        self.previous_leaf()
    }

    fn previous_leaf(&mut self) -> Result<Option<(u64, u64)>> {
        let Some(branch) =
            (0..self.depth - 1).rev().find(|step| self.steps[*step].is_some_and(|(_, position)| position > 0))
        else {
            self.depth = 0;
            return Ok(None);
        };
        if let Some((page, position)) = self.steps[branch] {
            self.steps[branch] = Some((page, position - 1));
            self.depth = branch + 1;
            let child = PageNumber(value_at(page, position - 1));
            self.descend(child, false, |page| count(page).saturating_sub(1))?;
        }
        self.backward()
    }
}
