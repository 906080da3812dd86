//! One page of a tree: a slotted page whose insertions change few bytes.
//!
//! ```text
//!  0      32            64                 320                     heap                 8192
//!  +------+-------------+------------------+----------------+------+--------------------+
//!  | head | of the node | order: u8 each   | slots, 8 each  | free | records            |
//!  +------+-------------+------------------+----------------+------+--------------------+
//!
//!  of the node:  36 heap u16 | 38 garbage u16 | 40 prefix offset u16 | 42 prefix length u16 | 44 slots u16 | 48 child u64
//!                56 prefix, if it has no more than 8 bytes; else it lies among the records
//!  slot:         head of the key u32 | record offset u16 | key length u16
//!  free slot:    offset and size, u16 each, of the record that it had (0: none) | 0 u16 | 0 u16
//!  record:       value length u16 (0xFFFF: a run, page u64 and length u64 follow) | key | value
//! ```
//!
//! * `order` has the slot numbers in key order, so an insertion shifts single bytes and the journal's diff stays small.
//! * All keys of the page start with the prefix, which is cut from slots and records. A slot holds the first 4 bytes of
//!   the rest as a number: most compares end there, within a few neighbouring lines.
//! * A slot that is freed remembers its record, so that an entry of the same size finds a place without a look at the others.
//! * A branch has one child more than keys: `child` is left of all keys; the value of each key is the child at and
//!   right of it.
//!
//! Invariants: keys rise strictly; records lie between `heap` and the end and do not overlap; `garbage` is what lies
//! there and belongs to nothing; what free slots remember is garbage and does not overlap.

use crate::ids::PageNumber;
use crate::inspection::counters;
use crate::limits::{KEY_SIZE_MAX, PAGE_SIZE};
use crate::page::{self, Kind, count, set_count, u16_at, u32_at, u64_at};
use crate::pager::Page;
use crate::pager::changes::PageMut;
use std::cmp::Ordering;

const HEAP: usize = 36;
const GARBAGE: usize = 38;
const PREFIX_OFFSET: usize = 40;
const PREFIX_LENGTH: usize = 42;
const SLOTS: usize = 44;
pub(super) const CHILD: usize = 48;
const SHORT_PREFIX: usize = 56;
const SHORT_PREFIX_LENGTH_MAX: usize = ORDER - SHORT_PREFIX;

const ORDER: usize = 64;
pub(super) const ENTRIES_MAX: usize = 255;
const SLOT_TABLE: usize = ORDER + 256;
pub(super) const SLOT_SIZE: usize = 8;
const RUN_MARK: u16 = u16::MAX;
/// Bytes that entries and the prefix can take in an empty page.
pub(crate) const CAPACITY: usize = PAGE_SIZE - SLOT_TABLE;

/// A value as a record holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload<'a> {
    Inline(&'a [u8]),
    Run { first: PageNumber, length: u64 },
}

impl Payload<'_> {
    fn size(&self) -> usize {
        match self {
            Payload::Inline(bytes) => bytes.len(),
            Payload::Run { .. } => 16,
        }
    }
}

/// The first 4 bytes of a key after the prefix, as a number that orders like them.
#[inline]
fn head_of(rest: &[u8]) -> u32 {
    match rest.first_chunk::<4>() {
        Some(bytes) => u32::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 4];
            bytes[..rest.len()].copy_from_slice(rest);
            u32::from_be_bytes(bytes)
        }
    }
}

/// Up to this many bytes words in line are quicker than a call of `memcmp`.
const INLINE_COMPARE_MAX: usize = 32;

/// Bytes in order, short keys as big-endian words; an empty slice never reaches `memcmp` (80 ns here).
#[inline]
pub(crate) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    counters::note_full_compare();
    let size = a.len().min(b.len());
    if size > INLINE_COMPARE_MAX {
        return a.cmp(b);
    }
    let word = |bytes: &[u8], at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
    let half = |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap_or_default());
    if size >= 8 {
        let mut at = 0;
        while at + 8 < size {
            let (x, y) = (word(a, at), word(b, at));
            if x != y {
                return x.cmp(&y);
            }
            at += 8;
        }
        // The last bytes, with some before them that are the same.
        return word(a, size - 8).cmp(&word(b, size - 8)).then(a.len().cmp(&b.len()));
    }
    if size >= 4 {
        let both = |bytes: &[u8]| u64::from(half(bytes, 0)) << 32 | u64::from(half(bytes, size - 4));
        return both(a).cmp(&both(b)).then(a.len().cmp(&b.len()));
    }
    let few = |bytes: &[u8]| bytes[..size].iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
    few(a).cmp(&few(b)).then(a.len().cmp(&b.len()))
}

/// How many leading bytes two keys share.
pub(crate) fn common_length(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// Makes an empty node of a page.
pub(crate) fn initialize(page: &mut PageMut<'_>, level: u8) {
    page.clear(DIFFABLE..PAGE_SIZE);
    page::set_kind(page, Kind::Tree, level);
    page.set_u16(HEAP, PAGE_SIZE as u16);
}
const DIFFABLE: usize = page::DIFF_START;

#[inline]
pub(super) fn slot_count(page: &Page) -> usize {
    usize::from(u16_at(page, SLOTS))
}
/// The slot of the entry at a position. Slots are taken in rising order as long as none is free.
#[inline]
pub(super) fn slot_number(page: &Page, index: usize) -> usize {
    usize::from(page[ORDER + index])
}
#[inline]
pub(super) fn slot_at(page: &Page, index: usize) -> usize {
    SLOT_TABLE + slot_number(page, index) * SLOT_SIZE
}
#[inline]
fn record_at(page: &Page, slot: usize) -> (usize, usize) {
    (usize::from(u16_at(page, slot + 4)), usize::from(u16_at(page, slot + 6)))
}
#[inline]
pub(crate) fn prefix(page: &Page) -> &[u8] {
    let length = usize::from(u16_at(page, PREFIX_LENGTH));
    let offset = usize::from(u16_at(page, PREFIX_OFFSET));
    &page[offset..offset + length]
}
/// The key at a position, without the prefix.
#[inline]
pub(crate) fn rest(page: &Page, index: usize) -> &[u8] {
    let (offset, length) = record_at(page, slot_at(page, index));
    &page[offset + 2..offset + 2 + length]
}
/// The whole key at a position, into a buffer.
pub(crate) fn key_into(page: &Page, index: usize, buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.extend_from_slice(prefix(page));
    buffer.extend_from_slice(rest(page, index));
}
/// The value at a position.
#[inline]
pub(crate) fn payload(page: &Page, index: usize) -> Payload<'_> {
    let (offset, key_length) = record_at(page, slot_at(page, index));
    let length = u16_at(page, offset);
    let value = offset + 2 + key_length;
    if length == RUN_MARK {
        return Payload::Run { first: PageNumber(u64_at(page, value)), length: u64_at(page, value + 8) };
    }
    Payload::Inline(&page[value..value + usize::from(length)])
}
pub(super) fn record_size(page: &Page, slot: usize) -> usize {
    let (offset, key_length) = record_at(page, slot);
    let length = u16_at(page, offset);
    2 + key_length + if length == RUN_MARK { 16 } else { usize::from(length) }
}

/// The child at a position of a branch: 0 is left of all keys.
#[inline]
pub(crate) fn child(page: &Page, position: usize) -> PageNumber {
    if position == 0 {
        return PageNumber(u64_at(page, CHILD));
    }
    let (offset, key_length) = record_at(page, slot_at(page, position - 1));
    PageNumber(u64_at(page, offset + 2 + key_length))
}
/// Sets the child at a position of a branch.
pub(crate) fn set_child(page: &mut PageMut<'_>, position: usize, child: PageNumber) {
    if position == 0 {
        return page.set_u64(CHILD, child.0);
    }
    let (offset, key_length) = record_at(page, slot_at(page, position - 1));
    page.set_u64(offset + 2 + key_length, child.0);
}

/// Where a key is, or where it would go: the number of keys below it, and whether it is there.
#[inline]
pub(crate) fn search(page: &Page, key: &[u8]) -> (usize, bool) {
    counters::note_search(key);
    let count = count(page);
    let prefix = prefix(page);
    let rest_of_key = if prefix.is_empty() {
        key
    } else if let Some(rest_of_key) = key.strip_prefix(prefix) {
        rest_of_key
    } else {
        return (if compare(key, prefix) == Ordering::Less { 0 } else { count }, false);
    };
    search_by(page, rest_of_key, |low, high| (low + high) / 2)
}

/// The same in a leaf where the key is expected near a position: `None` if it may belong to another leaf.
///
/// * `is_last`: no leaf comes after it.
pub(crate) fn search_near(page: &Page, key: &[u8], expected: usize, is_last: bool) -> Option<(usize, bool)> {
    let rest_of_key = key.strip_prefix(prefix(page))?;
    let count = count(page);
    let mut reach = 0;
    let (position, found) = search_by(page, rest_of_key, |low, high| {
        let at = ((low + high) / 2).clamp(expected.saturating_sub(reach), expected + reach).clamp(low, high - 1);
        reach = 2 * reach + 1;
        at
    });
    counters::note_search(key);
    let is_within = found || (position > 0 && (position < count || is_last));
    is_within.then_some((position, found))
}

/// Finds a key, given without the prefix, by looking at the entry that `look` chooses among those from `low` up to, not
/// with, `high`.
#[inline(always)]
fn search_by(page: &Page, rest_of_key: &[u8], mut look: impl FnMut(usize, usize) -> usize) -> (usize, bool) {
    let head = head_of(rest_of_key);
    let (mut low, mut high) = (0, count(page));
    while low < high {
        counters::note_compare();
        let middle = look(low, high);
        let slot = slot_at(page, middle);
        let there = u32_at(page, slot);
        let order = if there != head {
            there.cmp(&head)
        } else {
            let (offset, length) = record_at(page, slot);
            compare(&page[offset + 2..offset + 2 + length], rest_of_key)
        };
        match order {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return (middle, true),
        }
    }
    (low, false)
}

/// The position of the child that covers a key.
#[inline]
pub(crate) fn child_position(page: &Page, key: &[u8]) -> usize {
    let (position, found) = search(page, key);
    position + usize::from(found)
}

/// Bytes that entries and the prefix use.
pub(crate) fn used(page: &Page) -> usize {
    let heap = PAGE_SIZE - usize::from(u16_at(page, HEAP)) - usize::from(u16_at(page, GARBAGE));
    heap + count(page) * SLOT_SIZE
}

/// Whether a branch can take one more child, at and right of a key.
pub(crate) fn has_room_for_child(page: &Page, key: &[u8]) -> bool {
    let shared = common_length(prefix(page), key);
    let shortened = (prefix(page).len() - shared) * count(page);
    let entry = key.len() - shared + 2 + size_of::<u64>() + SLOT_SIZE;
    count(page) < ENTRIES_MAX && used(page) + shortened + entry <= CAPACITY
}

/// Why an entry could not be inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Full;

/// Inserts an entry at the position that [`search`] gave.
///
/// # Errors
///
/// [`Full`] if the page must be split; then it is unchanged, but possibly rearranged.
pub(crate) fn insert(page: &mut PageMut<'_>, position: usize, key: &[u8], value: Payload<'_>) -> Result<(), Full> {
    counters::note_insert();
    if count(page) >= ENTRIES_MAX {
        return Err(Full);
    }
    let shared = common_length(prefix(page), key);
    if shared < prefix(page).len() {
        shorten_prefix(page, shared)?;
    }
    let rest_of_key = &key[prefix(page).len()..];
    let size = 2 + rest_of_key.len() + value.size();
    let (slot_index, offset) = place(page, size)?;
    if slot_index == slot_count(page) {
        page.set_u16(SLOTS, (slot_index + 1) as u16);
    }
    let slot = SLOT_TABLE + slot_index * SLOT_SIZE;
    page.set_u32(slot, head_of(rest_of_key));
    page.set_u16(slot + 4, offset as u16);
    page.set_u16(slot + 6, rest_of_key.len() as u16);
    write_record(page, offset, rest_of_key, value);
    let count = count(page);
    page.copy_within(ORDER + position..ORDER + count, ORDER + position + 1);
    page.set_u8(ORDER + position, slot_index as u8);
    set_count(page, count + 1);
    Ok(())
}

fn write_record(page: &mut PageMut<'_>, offset: usize, rest_of_key: &[u8], value: Payload<'_>) {
    let at = offset + 2;
    page.write(at, rest_of_key);
    write_value(page, offset, at + rest_of_key.len(), value);
}

/// Writes the value of the record at `offset`, whose key ends at `at`.
fn write_value(page: &mut PageMut<'_>, offset: usize, at: usize, value: Payload<'_>) {
    match value {
        Payload::Inline(bytes) => {
            page.set_u16(offset, bytes.len() as u16);
            page.write(at, bytes);
        }
        Payload::Run { first, length } => {
            page.set_u16(offset, RUN_MARK);
            page.set_u64(at, first.0);
            page.set_u64(at + 8, length);
        }
    }
}

/// Replaces the value at a position; in place where the length stays.
///
/// # Errors
///
/// [`Full`] if the page must be split; then the entry is gone and has to be inserted again.
pub(crate) fn replace(page: &mut PageMut<'_>, position: usize, key: &[u8], value: Payload<'_>) -> Result<(), Full> {
    let slot = slot_at(page, position);
    let (offset, key_length) = record_at(page, slot);
    if record_size(page, slot) == 2 + key_length + value.size() {
        write_value(page, offset, offset + 2 + key_length, value);
        return Ok(());
    }
    remove(page, position);
    insert(page, position, key, value)
}

/// Removes the entry at a position. Its record becomes garbage, which its slot, now free, remembers.
pub(crate) fn remove(page: &mut PageMut<'_>, position: usize) {
    let slot = slot_at(page, position);
    let size = record_size(page, slot);
    let (offset, _) = record_at(page, slot);
    page.set_u16(GARBAGE, u16_at(page, GARBAGE) + size as u16);
    page.set_u64(slot, offset as u64 | (size as u64) << 16);
    let count = count(page);
    page.copy_within(ORDER + position + 1..ORDER + count, ORDER + position);
    page.set_u8(ORDER + count - 1, 0);
    set_count(page, count - 1);
}

/// The record that a free slot remembers: its offset and size. `None`: the slot is in use.
#[inline]
fn remembered(page: &Page, slot: usize) -> Option<(usize, usize)> {
    let (offset, _) = record_at(page, slot);
    (offset == 0).then(|| (usize::from(u16_at(page, slot)), usize::from(u16_at(page, slot + 2))))
}

/// Finds a slot and room for a record of `size` bytes, by rearranging the page if need be.
fn place(page: &mut PageMut<'_>, size: usize) -> Result<(usize, usize), Full> {
    let (slots, count) = (slot_count(page), count(page));
    let garbage = usize::from(u16_at(page, GARBAGE));
    let mut free_slot = slots;
    if slots > count {
        for index in 0..slots {
            let slot = SLOT_TABLE + index * SLOT_SIZE;
            let Some((offset, there)) = remembered(page, slot) else { continue };
            free_slot = index;
            if there == size {
                page.set_u16(GARBAGE, (garbage - size) as u16);
                return Ok((index, offset));
            }
        }
    }
    let slots_end = SLOT_TABLE + slots.max(free_slot + 1) * SLOT_SIZE;
    let heap = usize::from(u16_at(page, HEAP));
    if heap >= slots_end + size {
        page.set_u16(HEAP, (heap - size) as u16);
        return Ok((free_slot, heap - size));
    }
    if heap >= slots_end
        && garbage >= size
        && let Some(offset) = hole(page, size)
    {
        page.set_u16(GARBAGE, (garbage - size) as u16);
        forget(page, offset..offset + size);
        return Ok((free_slot, offset));
    }
    if SLOT_TABLE + (count + 1) * SLOT_SIZE + size + (PAGE_SIZE - heap - garbage) > PAGE_SIZE {
        return Err(Full);
    }
    rearrange(page);
    let heap = usize::from(u16_at(page, HEAP));
    page.set_u16(HEAP, (heap - size) as u16);
    Ok((slot_count(page), heap - size))
}

/// Free slots no longer remember what a record takes now.
fn forget(page: &mut PageMut<'_>, taken: std::ops::Range<usize>) {
    for index in 0..slot_count(page) {
        let slot = SLOT_TABLE + index * SLOT_SIZE;
        if let Some((offset, size)) = remembered(page, slot)
            && offset < taken.end
            && taken.start < offset + size
        {
            page.clear(slot..slot + SLOT_SIZE);
        }
    }
}

/// A hole between records, the first that is large enough. Found over a map of the page's words, of which one that a record
/// or the prefix touches counts as used.
fn hole(page: &Page, size: usize) -> Option<usize> {
    const WORD: usize = 8;
    const MAP: usize = PAGE_SIZE / WORD / 64;
    let mut used = [0u64; MAP];
    let mut mark = |start: usize, end: usize| {
        let (first, last) = (start / WORD, (end - 1) / WORD);
        let (from, to) = (u64::MAX << (first % 64), u64::MAX >> (63 - last % 64));
        if first / 64 == last / 64 {
            used[first / 64] |= from & to;
            return;
        }
        used[first / 64] |= from;
        used[first / 64 + 1..last / 64].fill(u64::MAX);
        used[last / 64] |= to;
    };
    mark(0, usize::from(u16_at(page, HEAP)).max(1));
    for index in 0..count(page) {
        let slot = slot_at(page, index);
        let (offset, _) = record_at(page, slot);
        mark(offset, offset + record_size(page, slot));
    }
    if prefix(page).len() > SHORT_PREFIX_LENGTH_MAX {
        let offset = usize::from(u16_at(page, PREFIX_OFFSET));
        mark(offset, offset + prefix(page).len());
    }
    let needed = size.div_ceil(WORD);
    let mut at = 0;
    while at + needed <= PAGE_SIZE / WORD {
        let free_from = next_with(&used, at, false)?;
        let free_to = next_with(&used, free_from, true).unwrap_or(PAGE_SIZE / WORD);
        if free_to - free_from >= needed {
            return Some(free_from * WORD);
        }
        at = free_to;
    }
    None
}

/// The first place from `at` on whose bit is `wanted`.
fn next_with(bits: &[u64], at: usize, wanted: bool) -> Option<usize> {
    let mut index = at / 64;
    let mut hidden = (1u64 << (at % 64)) - 1;
    while index < bits.len() {
        let found = (if wanted { bits[index] } else { !bits[index] }) & !hidden;
        if found != 0 {
            return Some(index * 64 + found.trailing_zeros() as usize);
        }
        hidden = 0;
        index += 1;
    }
    None
}

/// Writes the entries anew, without garbage.
fn rearrange(page: &mut PageMut<'_>) {
    let old = **page;
    let prefix = prefix(&old).to_vec();
    rewrite(page, &old, &prefix, 0..count(&old));
}

/// Makes the page hold a range of the entries of `old`, with another prefix that all of them start with. Their records stand one
/// below the other, their slots in their order.
pub(super) fn rewrite(page: &mut PageMut<'_>, old: &Page, new_prefix: &[u8], range: std::ops::Range<usize>) {
    initialize(page, page::level(old));
    page.set_u64(CHILD, u64_at(old, CHILD));
    set_prefix(page, new_prefix);
    let old_prefix = prefix(old);
    let count = range.len();
    // What a rest has to begin with now, and what it begins with no more.
    let added = old_prefix.get(new_prefix.len()..).unwrap_or_default();
    let cut = new_prefix.len().saturating_sub(old_prefix.len());
    let mut heap = usize::from(u16_at(page, HEAP));
    let bytes = page.whole();
    for (slot_index, index) in range.enumerate() {
        let old_slot = slot_at(old, index);
        let (old_offset, old_length) = record_at(old, old_slot);
        let kept = &old[old_offset + 2 + cut..old_offset + record_size(old, old_slot)];
        let length = old_length - cut + added.len();
        heap -= 2 + added.len() + kept.len();
        bytes[heap..heap + 2].copy_from_slice(&old[old_offset..old_offset + 2]);
        let at = heap + 2;
        bytes[at..at + added.len()].copy_from_slice(added);
        bytes[at + added.len()..at + added.len() + kept.len()].copy_from_slice(kept);
        let head = head_of(&bytes[at..at + length]);
        let slot = SLOT_TABLE + slot_index * SLOT_SIZE;
        bytes[slot..slot + 4].copy_from_slice(&head.to_le_bytes());
        bytes[slot + 4..slot + 6].copy_from_slice(&(heap as u16).to_le_bytes());
        bytes[slot + 6..slot + 8].copy_from_slice(&(length as u16).to_le_bytes());
        bytes[ORDER + slot_index] = slot_index as u8;
    }
    assert!(heap >= SLOT_TABLE + count * SLOT_SIZE, "entries of one page fit into an empty one");
    page.set_u16(HEAP, heap as u16);
    page.set_u16(SLOTS, count as u16);
    set_count(page, count);
}

/// Sets the prefix of an empty page.
pub(crate) fn set_prefix(page: &mut PageMut<'_>, prefix: &[u8]) {
    let is_short = prefix.len() <= SHORT_PREFIX_LENGTH_MAX;
    let heap = if is_short { PAGE_SIZE } else { PAGE_SIZE - prefix.len() };
    let offset = if is_short { SHORT_PREFIX } else { heap };
    page.write(offset, prefix);
    page.set_u16(HEAP, heap as u16);
    page.set_u16(PREFIX_OFFSET, offset as u16);
    page.set_u16(PREFIX_LENGTH, prefix.len() as u16);
}

fn shorten_prefix(page: &mut PageMut<'_>, length: usize) -> Result<(), Full> {
    let longer = prefix(page).len() - length;
    if used(page) + longer * count(page) + SLOT_SIZE > CAPACITY {
        return Err(Full);
    }
    let old = **page;
    rewrite(page, &old, &prefix(&old)[..length], 0..count(&old));
    Ok(())
}

/// Whether the structure of a page holds together, so that nothing here can leave its bounds.
///
/// # Errors
///
/// The rule that does not hold.
pub(crate) fn check(page: &Page) -> Result<(), &'static str> {
    let (count, slots) = (count(page), slot_count(page));
    let heap = usize::from(u16_at(page, HEAP));
    if count > ENTRIES_MAX || slots > ENTRIES_MAX || count > slots {
        return Err("it has more entries than slots");
    }
    if heap < SLOT_TABLE + slots * SLOT_SIZE || heap > PAGE_SIZE {
        return Err("its records overlap its slots");
    }
    let prefix_offset = usize::from(u16_at(page, PREFIX_OFFSET));
    let prefix_length = usize::from(u16_at(page, PREFIX_LENGTH));
    if prefix_offset + prefix_length > PAGE_SIZE {
        return Err("its prefix reaches past its end");
    }
    let is_short = prefix_length <= SHORT_PREFIX_LENGTH_MAX;
    if prefix_length > 0 && is_short != (prefix_offset == SHORT_PREFIX) {
        return Err("its prefix does not lie where it should");
    }
    let prefix = prefix(page);
    let branch = page::level(page) > 0;
    let mut extents = Vec::with_capacity(slots + 1);
    if !is_short {
        extents.push((prefix_offset, prefix_length));
    }
    let mut records = if is_short { 0 } else { prefix_length };
    let mut before: Option<&[u8]> = None;
    for index in 0..count {
        if usize::from(page[ORDER + index]) >= slots {
            return Err("its order names a slot that is not there");
        }
        let slot = slot_at(page, index);
        let (offset, length) = record_at(page, slot);
        if offset < heap || offset + 2 + length > PAGE_SIZE || length + prefix.len() > KEY_SIZE_MAX {
            return Err("a key reaches past its end");
        }
        if offset + record_size(page, slot) > PAGE_SIZE {
            return Err("a value reaches past its end");
        }
        if branch && u16_at(page, offset) != 8 {
            return Err("an entry of a branch is not a page number");
        }
        let key = rest(page, index);
        if u32_at(page, slot) != head_of(key) {
            return Err("the head of a key differs from the key");
        }
        if before.is_some_and(|b| compare(b, key) != Ordering::Less) {
            return Err("its keys do not rise");
        }
        before = Some(key);
        records += record_size(page, slot);
        extents.push((offset, record_size(page, slot)));
    }
    if records + usize::from(u16_at(page, GARBAGE)) != PAGE_SIZE - heap {
        return Err("its records and its garbage do not add up");
    }
    let remembered = (0..slots).filter_map(|index| remembered(page, SLOT_TABLE + index * SLOT_SIZE));
    for (offset, size) in remembered.filter(|(offset, size)| (*offset, *size) != (0, 0)) {
        if offset < heap || size == 0 || offset + size > PAGE_SIZE {
            return Err("a free slot remembers what is no record");
        }
        extents.push((offset, size));
    }
    extents.sort_unstable();
    if extents.windows(2).any(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
        return Err("its records overlap");
    }
    Ok(())
}

#[cfg(test)]
#[path = "node_tests.rs"]
mod tests;
