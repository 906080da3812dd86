//! How a tree keeps its shape: leaves that are full share with a neighbour or are split, those that are nearly empty are joined.
//!
//! Every step leaves a whole tree. Separators in branches are the shortest that tell two pages apart.

use super::exchange;
use super::node::{self, Payload};
use super::{Path, Tree, beside};
use crate::error::Result;
use crate::ids::PageNumber;
use crate::limits::PAGE_SIZE;
use crate::page::{self, Kind};
use crate::pager::changes::{Lines, PageMut};
use crate::transaction::WriteTransaction;

impl Tree {
    /// Makes room on the way to a key: hands entries of the leaf over to a neighbour, or splits a page of it, or the branch above
    /// it that has no room for one more key.
    pub(super) fn split(&self, tx: &mut WriteTransaction<'_>, path: &Path, depth: usize, key: &[u8]) -> Result<()> {
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
        let rises = is_last || (!branch && exchange::grows_at(page, place));
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
            from = exchange::middle(page);
            if branch {
                node::key_into(page, from, &mut separator);
            } else {
                separator = exchange::separator(page, from);
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
            exchange::copy_upper(page, right, from, prefix);
            exchange::truncate(&mut tx.page_mut(number)?, from);
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
        let mut emptiest: Option<(usize, PageNumber, usize)> = None;
        for side in beside(position, page::count(parent_page)) {
            let neighbour = node::child(parent_page, side);
            let Some(page) = tx.optional_page(neighbour, Kind::Tree, 0) else { continue };
            let fill = exchange::fill(page);
            if emptiest.is_none_or(|(_, _, least)| fill < least) {
                emptiest = Some((side, neighbour, fill));
            }
        }
        let page = tx.page_of(number)?;
        let Some((side, neighbour, fill)) = emptiest else { return Ok(false) };
        let surplus = exchange::fill(page).saturating_sub(fill);
        if surplus < exchange::FILL_WORTH_SHARING {
            return Ok(false);
        }
        let right = side > position;
        // The neighbour must not become the fuller one, or it would hand the same entries back when the key goes there.
        let cut = if right { exchange::upper_part(page, surplus / 2) } else { exchange::lower_part(page, surplus / 2) };
        let moved = if right { cut..page::count(page) } else { 0..cut };
        if moved.is_empty() || moved.len() == page::count(page) {
            return Ok(false);
        }
        let separator = exchange::separator(page, cut);
        let source = *page;
        if !exchange::has_room_for(self.node(tx, neighbour)?, &source, moved.clone())
            || !node::has_room_for_child(parent_page, &separator)
        {
            return Ok(false);
        }
        let target = &mut tx.page_mut(neighbour)?;
        exchange::take_in(target, &source, moved.clone());
        let page = &mut tx.page_mut(number)?;
        if right {
            exchange::truncate(page, cut)
        } else {
            exchange::remove_first(page, cut)
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

    /// After a removal left little in the leaf: frees it if it is empty, else joins it with a neighbour that has room.
    pub(super) fn shrink(&self, tx: &mut WriteTransaction<'_>, path: &Path) -> Result<()> {
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
        let used = node::used(tx.page_of(path.leaf())?);
        // Full to three quarters at most, or the next insertion would split it again.
        let fits = |side: &usize| {
            let page = tx.optional_page(node::child(parent_page, *side), Kind::Tree, 0);
            page.is_some_and(|page| node::used(page) + used <= node::CAPACITY / 4 * 3)
        };
        let Some(side) = beside(position, page::count(parent_page)).find(fits) else { return Ok(()) };
        let left_position = position.min(side);
        let left = node::child(parent_page, left_position);
        let right = node::child(parent_page, left_position + 1);
        let mut separator = Vec::new();
        node::key_into(parent_page, left_position, &mut separator);
        let right_page = *self.node(tx, right)?;
        let (mut joined, mut lines) = (*self.node(tx, left)?, Lines::NONE);
        let joined = &mut PageMut::new(&mut joined, &mut lines);
        if exchange::merge(joined, &right_page, &separator).is_err() {
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
