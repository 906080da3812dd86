//! B+trees with variable keys and values. Keys compare as bytes.
//!
//! The root of a tree never moves: when it is full, its content goes to a new page and the root becomes a branch above it.
//! So a [`Tree`] is just a page number, valid in every transaction.
//!
//! Separators in branches are the shortest that tell two leaves apart (suffix truncation), and a page cuts the prefix that
//! its place in the tree gives to all its keys (Bayer and Unterauer, "Prefix B-Trees", ACM TODS 2(1), 1977).

mod balance;
pub(crate) mod catalog;
mod cursor;
mod exchange;
pub(crate) mod finger;
pub(crate) mod fixed;
pub(crate) mod node;

pub use cursor::Cursor;

use crate::error::{Error, Result};
use crate::ids::PageNumber;
use crate::limits::{INLINE_SIZE_MAX, KEY_SIZE_MAX, TREE_DEPTH_MAX, VALUE_SIZE_MAX};
use crate::page::{self, Kind, RUN_START};
use crate::pager::Page;
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

/// How the pages of a run (overflow pages) are written to the data file.
#[derive(Clone, Copy)]
enum RunPlacement {
    /// As versions of these pages, by the journal or the commit.
    Versions,
    /// At once: [`crate::transaction::staged`].
    Staged,
}

/// The position of a key in a leaf, or the position where it would be inserted.
struct KeyPosition<'t> {
    leaf: PageNumber,
    page: &'t Page,
    position: usize,
    found: bool,
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
        let at = self.place(reader, key)?;
        match at.found {
            true => value(reader, node::payload(at.page, at.position)).map(Some),
            false => Ok(None),
        }
    }

    /// Finds the leaf of a key, and where in it the key is or would go.
    #[inline]
    fn place<'t>(&self, reader: &'t impl Reader, key: &[u8]) -> Result<KeyPosition<'t>> {
        let fingers = reader.fingers();
        if let Some(fingers) = fingers
            && let Some(leaf) = fingers.leaf(self.root)
        {
            let page = self.node(reader, leaf)?;
            if let Some((position, found)) = fingers.search(self.root, page, key) {
                return Ok(KeyPosition { leaf, page, position, found });
            }
        }
        let mut leaf = self.root;
        let mut page = self.node(reader, leaf)?;
        let mut depth = 0;
        let mut is_last = true;
        while page::level(page) > 0 {
            let position = node::child_position(page, key);
            is_last &= position == page::count(page);
            leaf = node::child(page, position);
            page = self.node(reader, leaf)?;
            depth += 1;
            if depth > TREE_DEPTH_MAX {
                return Err(reader.corrupt(leaf, "the tree is deeper than it can be"));
            }
        }
        let (position, found) = node::search(page, key);
        if let Some(fingers) = fingers {
            fingers.note(self.root, leaf, position, is_last);
        }
        Ok(KeyPosition { leaf, page, position, found })
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
        self.put_if(tx, key, (value, RunPlacement::Versions), true).map(drop)
    }

    /// Sets the value of a key that is not there. False: it was, and keeps its value.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub fn insert(&self, tx: &mut WriteTransaction<'_>, key: &[u8], value: &[u8]) -> Result<bool> {
        self.put_if(tx, key, (value, RunPlacement::Versions), false)
    }

    /// As [`Self::insert`]; a value with pages of its own is in the data file on return, and takes no memory here.
    ///
    /// # Errors
    ///
    /// As [`Self::put`].
    pub(crate) fn insert_staged(&self, tx: &mut WriteTransaction<'_>, key: &[u8], value: &[u8]) -> Result<bool> {
        self.put_if(tx, key, (value, RunPlacement::Staged), false)
    }

    fn put_if(
        &self,
        tx: &mut WriteTransaction<'_>,
        key: &[u8],
        (value, placement): (&[u8], RunPlacement),
        replace: bool,
    ) -> Result<bool> {
        if key.len() > KEY_SIZE_MAX {
            return Err(Error::KeyTooLong { size: key.len(), max: KEY_SIZE_MAX });
        }
        // Before the old value is freed.
        if value.len() > VALUE_SIZE_MAX {
            return Err(Error::ValueTooLong { size: value.len(), max: VALUE_SIZE_MAX });
        }
        let KeyPosition { mut leaf, page, mut position, mut found } = self.place(tx, key)?;
        if found {
            if !replace {
                return Ok(false);
            }
            if let Payload::Run { first, length } = node::payload(page, position) {
                tx.free_run(first, length)?;
            }
        }
        let payload = if 2 + key.len() + value.len() <= INLINE_SIZE_MAX {
            Payload::Inline(value)
        } else {
            let (first, length) = match placement {
                RunPlacement::Versions => tx.new_run(&[value])?,
                RunPlacement::Staged => tx.new_staged_run(value)?,
            };
            Payload::Run { first, length }
        };
        loop {
            let page = &mut tx.page_mut(leaf)?;
            let done = match found {
                true => node::replace(page, position, key, payload),
                false => node::insert(page, position, key, payload),
            };
            if done.is_ok() {
                return Ok(true);
            }
            let path = self.path(tx, key)?;
            tx.fingers.forget(self.root);
            self.split(tx, &path, path.depth - 1, key)?;
            KeyPosition { leaf, position, found, .. } = self.place(tx, key)?;
        }
    }

    /// Removes a key. False: it was not there.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`], [`Error::DiskFull`].
    pub fn delete(&self, tx: &mut WriteTransaction<'_>, key: &[u8]) -> Result<bool> {
        let KeyPosition { leaf, page, position, found: true } = self.place(tx, key)? else { return Ok(false) };
        if let Payload::Run { first, length } = node::payload(page, position) {
            tx.free_run(first, length)?;
        }
        let page = &mut tx.page_mut(leaf)?;
        node::remove(page, position);
        if leaf != self.root && (page::count(page) == 0 || node::used(page) < node::CAPACITY / 4) {
            let path = self.path(tx, key)?;
            tx.fingers.forget(self.root);
            self.shrink(tx, &path)?;
        }
        Ok(true)
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
        tx.fingers.forget(self.root);
        let page = *self.node(tx, number)?;
        let level = page::level(&page);
        if usize::from(level) >= TREE_DEPTH_MAX {
            return tx.poison_on_error(Err(tx.inner.table.corrupt(number, "the tree is deeper than it can be")));
        }
        if level > 0 {
            for position in 0..=page::count(&page) {
                let child = node::child(&page, position);
                // Levels fall by one on the way, so that damage leads neither in a circle nor deeper.
                if page::level(self.node(tx, child)?) != level - 1 {
                    return tx.poison_on_error(Err(tx
                        .inner
                        .table
                        .corrupt(child, "it is at another level than its parent says")));
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

/// The positions beside that of a child, below the same parent, whose last is at `last`. First the one before it: keys are often deleted in
/// rising order, and what is before has less then.
pub(crate) fn beside(position: usize, last: usize) -> impl Iterator<Item = usize> {
    let behind = (position < last).then_some(position + 1);
    position.checked_sub(1).into_iter().chain(behind)
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
