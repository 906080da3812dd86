//! B+trees with variable keys and values. Keys compare as bytes.
//!
//! The root of a tree never moves: when it is full, its content goes to a new page and the root becomes a branch above it.
//! So a [`Tree`] is just a page number, valid in every transaction.
//!
//! Separators in branches are the shortest that tell two leaves apart (suffix truncation), and a page cuts the prefix that
//! its place in the tree gives to all its keys (Bayer and Unterauer, "Prefix B-Trees", ACM TODS 2(1), 1977).

pub(crate) mod catalog;
mod cursor;
pub(crate) mod node;

pub use cursor::Cursor;

use crate::error::{Error, Result};
use crate::ids::PageNumber;
use crate::limits::{INLINE_SIZE_MAX, KEY_SIZE_MAX, PAGE_SIZE, TREE_DEPTH_MAX, VALUE_SIZE_MAX};
use crate::page::{self, Kind, RUN_START};
use crate::pager::Page;
use crate::pager::changes::{Lines, PageMut};
use crate::transaction::{Reader, WriteTransaction};
use node::Payload;

/// A B+tree of an environment. A small handle; keep it, it stays valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tree {
    root: PageNumber,
}

/// The way from the root to a leaf: each page, and the position of the child taken in it.
struct Path {
    steps: [(PageNumber, usize); TREE_DEPTH_MAX],
    depth: usize,
}

impl Path {
    fn leaf(&self) -> PageNumber {
        self.steps[self.depth - 1].0
    }
}

impl Tree {
    pub(crate) fn root(&self) -> PageNumber {
        self.root
    }

    pub(crate) fn at(root: PageNumber) -> Tree {
        Tree { root }
    }

    /// The tree with a name, if it was made.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the catalog cannot be read, or the name stands for another kind of structure.
    pub fn open(reader: &impl Reader, name: &[u8]) -> Result<Option<Tree>> {
        Ok(catalog::find(reader, name, Kind::Tree)?.map(Tree::at))
    }

    /// The tree with a name, made if it is missing.
    ///
    /// # Errors
    ///
    /// As [`Self::open`], and those of changing an environment.
    pub fn open_or_create(tx: &mut WriteTransaction<'_>, name: &[u8]) -> Result<Tree> {
        if let Some(tree) = Self::open(tx, name)? {
            return Ok(tree);
        }
        let (root, ref mut page) = tx.new_page()?;
        node::initialize(page, 0);
        catalog::add(tx, name, Kind::Tree, root)?;
        Ok(Tree { root })
    }

    /// Removes the tree with a name and all that is in it. False: there was none.
    ///
    /// # Errors
    ///
    /// As [`Self::delete`].
    pub fn remove(tx: &mut WriteTransaction<'_>, name: &[u8]) -> Result<bool> {
        let Some(tree) = Self::open(tx, name)? else { return Ok(false) };
        tree.free_below(tx, tree.root)?;
        tx.free_pages(tree.root, 1)?;
        catalog::remove(tx, name)?;
        Ok(true)
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if a page on the way is damaged.
    #[inline]
    pub fn get<'t>(&self, reader: &'t impl Reader, key: &[u8]) -> Result<Option<&'t [u8]>> {
        let mut page = self.node(reader, self.root)?;
        let mut depth = 0;
        while page::level(page) > 0 {
            let child = node::child(page, node::child_position(page, key));
            page = self.node(reader, child)?;
            depth += 1;
            if depth > TREE_DEPTH_MAX {
                return Err(reader.corrupt(child, "the tree is deeper than it can be"));
            }
        }
        match node::search(page, key) {
            (position, true) => value(reader, node::payload(page, position)).map(Some),
            (_, false) => Ok(None),
        }
    }

    /// Whether a key is there.
    ///
    /// # Errors
    ///
    /// As [`Self::get`].
    pub fn contains(&self, reader: &impl Reader, key: &[u8]) -> Result<bool> {
        Ok(self.get(reader, key)?.is_some())
    }

    fn node<'t>(&self, reader: &'t impl Reader, number: PageNumber) -> Result<&'t Page> {
        let page = reader.page(number)?;
        if Kind::of(page) != Some(Kind::Tree) {
            return Err(reader.corrupt(number, "a tree leads to a page of another kind"));
        }
        Ok(page)
    }

    /// A cursor over the tree, before its first key.
    pub fn cursor<'t, R: Reader>(&self, reader: &'t R) -> Cursor<'t, R> {
        Cursor::new(*self, reader)
    }

    fn path(&self, tx: &WriteTransaction<'_>, key: &[u8]) -> Result<Path> {
        let mut path = Path { steps: [(self.root, 0); TREE_DEPTH_MAX], depth: 1 };
        let mut page = self.node(tx, self.root)?;
        while page::level(page) > 0 {
            let position = node::child_position(page, key);
            path.steps[path.depth - 1].1 = position;
            let child = node::child(page, position);
            if path.depth == TREE_DEPTH_MAX {
                return Err(tx.inner.table.corrupt(child, "the tree is deeper than it can be"));
            }
            path.steps[path.depth] = (child, 0);
            path.depth += 1;
            page = self.node(tx, child)?;
        }
        Ok(path)
    }

    /// Sets the value of a key, whether it was there or not.
    ///
    /// # Errors
    ///
    /// [`Error::KeyTooLong`], [`Error::ValueTooLong`], [`Error::DiskFull`], [`Error::Corrupt`].
    pub fn put(&self, tx: &mut WriteTransaction<'_>, key: &[u8], value: &[u8]) -> Result<()> {
        self.put_if(tx, key, value, true).map(drop)
    }

    /// Sets the value of a key that is not there. False: it was, and keeps its value.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn insert(&self, tx: &mut WriteTransaction<'_>, key: &[u8], value: &[u8]) -> Result<bool> {
        self.put_if(tx, key, value, false)
    }

    fn put_if(&self, tx: &mut WriteTransaction<'_>, key: &[u8], value: &[u8], replace: bool) -> Result<bool> {
        if key.len() > KEY_SIZE_MAX {
            return Err(Error::KeyTooLong { size: key.len(), max: KEY_SIZE_MAX });
        }
        // Before the old value is freed.
        if value.len() > VALUE_SIZE_MAX {
            return Err(Error::ValueTooLong { size: value.len(), max: VALUE_SIZE_MAX });
        }
        let mut path = self.path(tx, key)?;
        let (mut position, mut found) = node::search(tx.page_of(path.leaf())?, key);
        if found {
            if !replace {
                return Ok(false);
            }
            if let Payload::Run { first, length } = node::payload(tx.page_of(path.leaf())?, position) {
                tx.free_run(first, length)?;
            }
        }
        let payload = if 2 + key.len() + value.len() <= INLINE_SIZE_MAX {
            Payload::Inline(value)
        } else {
            let (first, length) = tx.new_run(&[value])?;
            Payload::Run { first, length }
        };
        loop {
            let page = &mut tx.page_mut(path.leaf())?;
            let done = match found {
                true => node::replace(page, position, key, payload),
                false => node::insert(page, position, key, payload),
            };
            if done.is_ok() {
                return Ok(true);
            }
            self.split(tx, &path, path.depth - 1, key)?;
            path = self.path(tx, key)?;
            (position, found) = node::search(tx.page_of(path.leaf())?, key);
        }
    }

    /// Makes room on the way to a key: hands entries of the leaf over to a neighbour, or splits a page of it, or the branch above
    /// it that has no room for one more key.
    fn split(&self, tx: &mut WriteTransaction<'_>, path: &Path, depth: usize, key: &[u8]) -> Result<()> {
        if depth == 0 {
            return self.push_root_down(tx);
        }
        let number = path.steps[depth].0;
        let (lower, upper) = fences(tx, path, depth)?;
        let page = tx.page_of(number)?;
        let branch = page::level(page) > 0;
        let level = page::level(page);
        let count = page::count(page);
        let (place, _) = node::search(page, key);
        let is_last = upper.is_none() && place == count;
        let rises = is_last || (!branch && node::grows_at(page, place));
        if !branch && !rises && self.share_with_neighbour(tx, path, depth)? {
            return Ok(());
        }
        let page = tx.page_of(number)?;
        let mut separator = Vec::new();
        let from;
        if rises && count > 0 {
            // Rising keys: leave the left page full.
            from = if branch { count - 1 } else { place };
            node::key_into(page, from - usize::from(!branch), &mut separator);
            if !branch {
                let longer = node::common_length(&separator, key) + 1;
                separator.clear();
                separator.extend_from_slice(&key[..longer.min(key.len())]);
            }
        } else {
            from = node::middle(page);
            if branch {
                node::key_into(page, from, &mut separator);
            } else {
                separator = node::separator(page, from);
            }
        }
        let (parent, position) = path.steps[depth - 1];
        if !node::has_room_for_child(tx.page_of(parent)?, &separator) {
            return self.split(tx, path, depth - 1, key);
        }
        // All keys that will come to the right page lie between the separator and the upper fence.
        let shared = match &upper {
            Some(upper) => node::common_length(&separator, upper),
            None if is_last && !branch => guessed_prefix(&lower, &separator),
            None => 0,
        };
        // Entries that move must not become longer, or they may not fit: they keep the prefix that they share now, also where
        // nothing says that all that will come shares it.
        let shared = if from < count { shared.max(node::prefix(page).len()) } else { shared };
        let prefix = &separator[..shared];
        let (mut right, mut right_lines) = ([0; PAGE_SIZE], Lines::NONE);
        let right = &mut PageMut::new(&mut right, &mut right_lines);
        node::initialize(right, level);
        if from < count {
            node::copy_upper(page, right, from, prefix);
            node::truncate(&mut tx.page_mut(number)?, from);
        } else {
            node::set_prefix(right, prefix);
        }
        let (right_number, ref mut right_page) = tx.new_page()?;
        right_page.write(page::DIFF_START, &right[page::DIFF_START..]);
        let child = right_number.0.to_le_bytes();
        let inserted = node::insert(&mut tx.page_mut(parent)?, position, &separator, Payload::Inline(&child));
        assert!(inserted.is_ok(), "the parent of a page that is split has room");
        Ok(())
    }

    /// Hands entries of a full leaf over to a neighbour that is much emptier, so that both have as much. False: there is none.
    ///
    /// Leaves of a random load are 80% full with it, not 66% (local overflow: Bayer and McCreight, "Organization and Maintenance
    /// of Large Ordered Indexes", Acta Informatica 1, 1972).
    fn share_with_neighbour(&self, tx: &mut WriteTransaction<'_>, path: &Path, depth: usize) -> Result<bool> {
        let number = path.steps[depth].0;
        let (parent, position) = path.steps[depth - 1];
        let parent_page = tx.page_of(parent)?;
        let sides = [position.checked_sub(1), (position < page::count(parent_page)).then_some(position + 1)];
        let mut emptiest: Option<(usize, PageNumber, usize)> = None;
        for side in sides.into_iter().flatten() {
            let neighbour = node::child(parent_page, side);
            let fill = node::fill(self.node(tx, neighbour)?);
            if emptiest.is_none_or(|(_, _, least)| fill < least) {
                emptiest = Some((side, neighbour, fill));
            }
        }
        let page = tx.page_of(number)?;
        let Some((side, neighbour, fill)) = emptiest else { return Ok(false) };
        let surplus = node::fill(page).saturating_sub(fill);
        if surplus < node::FILL_WORTH_SHARING {
            return Ok(false);
        }
        let right = side > position;
        // The neighbour must not become the fuller one, or it would hand the same entries back when the key goes there.
        let cut = if right { node::upper_part(page, surplus / 2) } else { node::lower_part(page, surplus / 2) };
        let moved = if right { cut..page::count(page) } else { 0..cut };
        if moved.is_empty() || moved.len() == page::count(page) {
            return Ok(false);
        }
        let separator = node::separator(page, cut);
        let source = *page;
        if !node::has_room_for(self.node(tx, neighbour)?, &source, moved.clone())
            || !node::has_room_for_child(parent_page, &separator)
        {
            return Ok(false);
        }
        let target = &mut tx.page_mut(neighbour)?;
        node::take_in(target, &source, moved.clone());
        let page = &mut tx.page_mut(number)?;
        if right {
            node::truncate(page, cut)
        } else {
            node::remove_first(page, cut)
        }
        let page = &mut tx.page_mut(parent)?;
        let between = position.min(side);
        let child = node::child(page, between + 1).0.to_le_bytes();
        node::remove(page, between);
        let inserted = node::insert(page, between, &separator, Payload::Inline(&child));
        assert!(inserted.is_ok(), "a branch that has room for one more key has it for another");
        Ok(true)
    }

    /// Makes the root a branch with one child, which has what the root had.
    fn push_root_down(&self, tx: &mut WriteTransaction<'_>) -> Result<()> {
        let old = *tx.page_of(self.root)?;
        let (child, ref mut page) = tx.new_page()?;
        page.write(page::DIFF_START, &old[page::DIFF_START..]);
        let root = &mut tx.page_mut(self.root)?;
        node::initialize(root, page::level(&old) + 1);
        node::set_child(root, 0, child);
        Ok(())
    }

    /// Removes a key. False: it was not there.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`], [`Error::DiskFull`].
    pub fn delete(&self, tx: &mut WriteTransaction<'_>, key: &[u8]) -> Result<bool> {
        let path = self.path(tx, key)?;
        let leaf = path.leaf();
        let page = tx.page_of(leaf)?;
        let (position, true) = node::search(page, key) else { return Ok(false) };
        if let Payload::Run { first, length } = node::payload(page, position) {
            tx.free_run(first, length)?;
        }
        let page = &mut tx.page_mut(leaf)?;
        node::remove(page, position);
        if path.depth > 1 && node::used(page) < node::CAPACITY / 4 {
            self.shrink(tx, &path)?;
        }
        Ok(true)
    }

    /// After a removal left little in the leaf: frees it if it is empty, else joins it with a neighbour that has room.
    fn shrink(&self, tx: &mut WriteTransaction<'_>, path: &Path) -> Result<()> {
        let mut depth = path.depth - 1;
        if page::count(tx.page_of(path.leaf())?) == 0 {
            loop {
                let (parent, position) = path.steps[depth - 1];
                tx.free_pages(path.steps[depth].0, 1)?;
                let page = &mut tx.page_mut(parent)?;
                if page::count(page) > 0 {
                    remove_child(page, position);
                    break;
                }
                // Its only child is gone.
                depth -= 1;
                if depth == 0 {
                    node::initialize(page, 0);
                    return Ok(());
                }
            }
        } else {
            self.join_neighbour(tx, path, depth)?;
        }
        self.pull_root_up(tx)
    }

    fn join_neighbour(&self, tx: &mut WriteTransaction<'_>, path: &Path, depth: usize) -> Result<()> {
        let (parent, position) = path.steps[depth - 1];
        let parent_page = tx.page_of(parent)?;
        let keys = page::count(parent_page);
        let left_position = match position {
            _ if position < keys => position,
            0 => return Ok(()),
            last => last - 1,
        };
        let left = node::child(parent_page, left_position);
        let right = node::child(parent_page, left_position + 1);
        let mut separator = Vec::new();
        node::key_into(parent_page, left_position, &mut separator);
        let right_page = *self.node(tx, right)?;
        let (mut joined, mut lines) = (*self.node(tx, left)?, Lines::NONE);
        let joined = &mut PageMut::new(&mut joined, &mut lines);
        // Full to three quarters at most, or the next insertion would split it again.
        if node::used(joined) + node::used(&right_page) > node::CAPACITY / 4 * 3 {
            return Ok(());
        }
        if node::merge(joined, &right_page, &separator).is_err() {
            return Ok(());
        }
        let left_page = &mut tx.page_mut(left)?;
        left_page.write(page::DIFF_START, &joined[page::DIFF_START..]);
        tx.free_pages(right, 1)?;
        node::remove(&mut tx.page_mut(parent)?, left_position);
        Ok(())
    }

    /// A root with a single child takes over what that has.
    fn pull_root_up(&self, tx: &mut WriteTransaction<'_>) -> Result<()> {
        loop {
            let root = tx.page_of(self.root)?;
            if page::level(root) == 0 || page::count(root) > 0 {
                return Ok(());
            }
            let child = node::child(root, 0);
            let content = *self.node(tx, child)?;
            tx.page_mut(self.root)?.write(page::DIFF_START, &content[page::DIFF_START..]);
            tx.free_pages(child, 1)?;
        }
    }

    /// Removes all keys; gives back all pages but the root.
    ///
    /// # Errors
    ///
    /// As [`Self::delete`].
    pub fn clear(&self, tx: &mut WriteTransaction<'_>) -> Result<()> {
        self.free_below(tx, self.root)?;
        node::initialize(&mut tx.page_mut(self.root)?, 0);
        Ok(())
    }

    fn free_below(&self, tx: &mut WriteTransaction<'_>, number: PageNumber) -> Result<()> {
        let page = *self.node(tx, number)?;
        let level = page::level(&page);
        if usize::from(level) >= TREE_DEPTH_MAX {
            return tx.noted(Err(tx.inner.table.corrupt(number, "the tree is deeper than it can be")));
        }
        if level > 0 {
            for position in 0..=page::count(&page) {
                let child = node::child(&page, position);
                // Levels fall by one on the way, so that damage leads neither in a circle nor deeper.
                if page::level(self.node(tx, child)?) != level - 1 {
                    return tx.noted(Err(tx.inner.table.corrupt(child, "it is at another level than its parent says")));
                }
                self.free_below(tx, child)?;
                tx.free_pages(child, 1)?;
            }
            return Ok(());
        }
        for position in 0..page::count(&page) {
            if let Payload::Run { first, length } = node::payload(&page, position) {
                tx.free_run(first, length)?;
            }
        }
        Ok(())
    }
}

/// The bytes of a value, wherever they are.
pub(crate) fn value<'t>(reader: &'t impl Reader, payload: Payload<'t>) -> Result<&'t [u8]> {
    match payload {
        Payload::Inline(bytes) => Ok(bytes),
        Payload::Run { first, length } => {
            let length = usize::try_from(length).map_err(|_| reader.corrupt(first, "its value is too long"))?;
            let run = reader.run(first, page::pages_for_run(length))?;
            run.get(RUN_START..RUN_START + length).ok_or_else(|| reader.corrupt(first, "its value is cut"))
        }
    }
}

/// A lower and an upper bound of keys.
type Fences = (Option<Vec<u8>>, Option<Vec<u8>>);

/// The keys between which all keys of a page lie: at or above the first, below the second. `None`: no bound.
fn fences(tx: &WriteTransaction<'_>, path: &Path, depth: usize) -> Result<Fences> {
    let (mut lower, mut upper) = (None, None);
    for (number, position) in &path.steps[..depth] {
        let page = tx.page_of(*number)?;
        if *position > 0 {
            node::key_into(page, position - 1, lower.get_or_insert_with(Vec::new));
        }
        if *position < page::count(page) {
            node::key_into(page, *position, upper.get_or_insert_with(Vec::new));
        }
    }
    Ok((lower, upper))
}

/// For a new last page of rising keys: what its keys will share, if they go on as those before did. A key that breaks
/// the guess costs a rewrite of the page.
fn guessed_prefix(lower: &Option<Vec<u8>>, separator: &[u8]) -> usize {
    let shared = lower.as_ref().map_or(0, |lower| node::common_length(lower, separator));
    shared.min(separator.len().saturating_sub(2))
}

fn remove_child(page: &mut PageMut<'_>, position: usize) {
    if position == 0 {
        let next = node::child(page, 1);
        node::remove(page, 0);
        node::set_child(page, 0, next);
    } else {
        node::remove(page, position - 1);
    }
}
