//! Entries that go from one page of a tree to another: what to move, whether it fits, and moving it.

use super::node::{
    CAPACITY, CHILD, ENTRIES_MAX, Full, Payload, SLOT_SIZE, child, common_length, insert, key_into, payload, prefix,
    record_size, remove, rest, rewrite, search, slot_at, slot_count, slot_number, used,
};
use crate::page::{self, count};
use crate::pager::Page;
use crate::pager::changes::PageMut;

/// A sixth of a page: what a full leaf must have more than its neighbour, in the measure of [`fill`], to share with it.
pub(crate) const FILL_WORTH_SHARING: usize = CAPACITY / 6;

/// Where to split: the first position of the right half, by bytes.
pub(crate) fn middle(page: &Page) -> usize {
    let count = count(page);
    let half = (used(page)) / 2;
    let mut sum = 0;
    for index in 0..count {
        sum += record_size(page, slot_at(page, index)) + SLOT_SIZE;
        if sum >= half {
            return (index + 1).clamp(1, count - 1);
        }
    }
    count / 2
}

/// How full a page is, of [`CAPACITY`]: by bytes or by entries, whichever is more.
pub(crate) fn fill(page: &Page) -> usize {
    used(page).max(count(page) * CAPACITY / ENTRIES_MAX)
}

/// What an entry at a position adds to [`fill`].
fn fill_of(page: &Page, index: usize) -> usize {
    (record_size(page, slot_at(page, index)) + SLOT_SIZE).max(CAPACITY / ENTRIES_MAX)
}

/// The first position of the last entries that make up `fill` at the most.
pub(crate) fn upper_part(page: &Page, fill: usize) -> usize {
    let (mut left, mut from) = (fill, count(page));
    while from > 0 && fill_of(page, from - 1) <= left {
        from -= 1;
        left -= fill_of(page, from);
    }
    from
}

/// The position after the first entries that make up `fill` at the most.
pub(crate) fn lower_part(page: &Page, fill: usize) -> usize {
    let (mut left, mut to) = (fill, 0);
    while to < count(page) && fill_of(page, to) <= left {
        left -= fill_of(page, to);
        to += 1;
    }
    to
}

/// Whether the two keys before a position are those that came last, in this order: then the next will come behind them.
pub(crate) fn grows_at(page: &Page, position: usize) -> bool {
    let slots = slot_count(page);
    let came_at = |index: usize| slot_number(page, index);
    slots == count(page) && position >= 2 && came_at(position - 1) == slots - 1 && came_at(position - 2) == slots - 2
}

/// The shortest key that is above the entry before a position, and not above the one there.
pub(crate) fn separator(page: &Page, position: usize) -> Vec<u8> {
    let mut key = Vec::new();
    key_into(page, position, &mut key);
    let rests = common_length(rest(page, position - 1), rest(page, position));
    key.truncate(prefix(page).len() + rests + 1);
    key
}

/// Copies the entries from `from` on into an empty page, with a prefix that all keys it will ever get start with.
///
/// A leaf gives `from..`; a branch gives its child at `from` as the leftmost, and the keys after it.
pub(crate) fn copy_upper(page: &Page, right: &mut PageMut<'_>, from: usize, right_prefix: &[u8]) {
    let branch = page::level(page) > 0;
    rewrite(right, page, right_prefix, from + usize::from(branch)..count(page));
    if branch {
        right.set_u64(CHILD, child(page, from + 1).0);
    }
}

/// Removes the entries from `from` on.
pub(crate) fn truncate(page: &mut PageMut<'_>, from: usize) {
    for index in (from..count(page)).rev() {
        remove(page, index);
    }
}

/// Removes the entries before `to`.
pub(crate) fn remove_first(page: &mut PageMut<'_>, to: usize) {
    for index in (0..to).rev() {
        remove(page, index);
    }
}

/// Whether a leaf can take a range of the entries of another, without a change of its prefix.
pub(crate) fn has_room_for(page: &Page, source: &Page, range: std::ops::Range<usize>) -> bool {
    let (source_prefix, prefix) = (prefix(source), prefix(page));
    let starts_alike = |index: usize| {
        let rest = rest(source, index);
        let in_prefix = common_length(source_prefix, prefix);
        in_prefix == prefix.len() || (in_prefix == source_prefix.len() && rest.starts_with(&prefix[in_prefix..]))
    };
    // Keys rise, so those between two that share the prefix share it too.
    if !starts_alike(range.start) || !starts_alike(range.end - 1) {
        return false;
    }
    let longer = source_prefix.len().saturating_sub(prefix.len()) * range.len();
    let entries: usize = range.clone().map(|index| record_size(source, slot_at(source, index)) + SLOT_SIZE).sum();
    used(page) + entries + longer <= CAPACITY && count(page) + range.len() <= ENTRIES_MAX
}

/// Takes in a range of the entries of a neighbour, which [`has_room_for`] allowed.
pub(crate) fn take_in(page: &mut PageMut<'_>, source: &Page, range: std::ops::Range<usize>) {
    let mut key = Vec::new();
    for index in range {
        key_into(source, index, &mut key);
        let (position, _) = search(page, &key);
        let inserted = insert(page, position, &key, payload(source, index));
        assert!(inserted.is_ok(), "a leaf with room takes entries in");
    }
}

/// Appends the entries of the right neighbour to a page. `separator`: the key between them, which a branch takes in.
///
/// # Errors
///
/// [`Full`] if they do not fit; then nothing was changed.
pub(crate) fn merge(page: &mut PageMut<'_>, right: &Page, separator: &[u8]) -> Result<(), Full> {
    let old = **page;
    let mut first = Vec::new();
    let mut last = Vec::new();
    let branch = page::level(page) > 0;
    if count(&old) > 0 {
        key_into(&old, 0, &mut first);
    } else if branch {
        first.extend_from_slice(separator);
    } else if count(right) > 0 {
        key_into(right, 0, &mut first);
    }
    if count(right) > 0 {
        key_into(right, count(right) - 1, &mut last);
    } else {
        last.extend_from_slice(separator);
    }
    let shared = common_length(&first, &last).min(prefix(&old).len()).min(prefix(right).len());
    let longer = (prefix(&old).len() - shared) * count(&old) + (prefix(right).len() - shared) * count(right);
    let extra = if branch { separator.len() + 2 + 8 + SLOT_SIZE } else { 0 };
    let entries = count(&old) + count(right) + usize::from(branch);
    if used(&old) + used(right) + longer + extra > CAPACITY || entries > ENTRIES_MAX {
        return Err(Full);
    }
    rewrite(page, &old, &first[..shared], 0..count(&old));
    let mut key = Vec::new();
    if branch {
        let leftmost = child(right, 0).0.to_le_bytes();
        let position = count(page);
        insert(page, position, separator, Payload::Inline(&leftmost))?;
    }
    for index in 0..count(right) {
        key_into(right, index, &mut key);
        let position = count(page);
        insert(page, position, &key, payload(right, index))?;
    }
    Ok(())
}
