//! Heap file: values with a stable 64-bit location (record id), fetched without a tree search.
//!
//! Small ones share section pages, large ones have a run of pages of their own. A location is the page number and, in its
//! low 8 bits, the slot (255: a run).
//!
//! ```text
//!  section:  0      64               ->      <-  heap      8192
//!            +------+------------------+------+------------+
//!            | head | slots, 4 each    | free | records    |
//!            +------+------------------+------+------------+
//!
//!  of the section:  36 heap u16 | 38 garbage u16 | 40 living u16        slot:  offset u16 (0: free) | length u16
//!  state page:      64 current section u64 | 72 root of the fixed tree of sections with room u64
//! ```
//!
//! Records are appended to the current section. A section that becomes half empty, by deletions or by records that shrink, is
//! noted in a fixed tree, and becomes current again when there is need; one that becomes empty is freed.

use std::hint::black_box;

use crate::error::{Error, Result};
use crate::ids::PageNumber;
use crate::limits::{AT_ONCE_MAX, PAGE_SIZE, VALUE_SIZE_MAX};
use crate::page::{self, HEAD_SIZE, Kind, RUN_START, count, set_count, u16_at, u64_at};
use crate::pager::Page;
use crate::pager::changes::PageMut;
use crate::transaction::{Reader, WriteTransaction};
use crate::tree::catalog;
use crate::tree::fixed::FixedTree;

const HEAP: usize = 36;
const GARBAGE: usize = 38;
const LIVING: usize = 40;
const SLOT_SIZE: usize = 4;
const SLOTS_MAX: usize = 255;
const RUN_SLOT: u64 = 255;
/// Longer records get a run of pages: at least two of this length fit into a section.
const SECTION_RECORD_MAX: usize = (PAGE_SIZE - HEAD_SIZE) / 2 - SLOT_SIZE;
/// Free bytes from which on a section is noted as one with room.
const ROOM: usize = PAGE_SIZE / 2;
const CURRENT: usize = 64;
/// Bytes of a record that are touched; what follows them, the processor brings itself.
const TOUCHED_MAX: usize = 512;
const CACHE_LINE: usize = 64;
pub(crate) const SPARE_ROOT: usize = 72;

/// Where a record is. Never 0; it stays the same until the record is updated or deleted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Location(pub u64);

impl Location {
    fn page(self) -> PageNumber {
        PageNumber(self.0 >> 8)
    }
    fn slot(self) -> usize {
        (self.0 & 0xff) as usize
    }
    fn of(page: PageNumber, slot: u64) -> Location {
        Location(page.0 << 8 | slot)
    }
}

/// A heap of records. A small handle; keep it, it stays valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Records {
    root: PageNumber,
}

fn slot_at(index: usize) -> usize {
    HEAD_SIZE + index * SLOT_SIZE
}
/// Where a record is in its page, and how long; one with pages of its own begins in the first of them.
fn touched_at(page: &Page, index: usize) -> (usize, usize) {
    if index as u64 == RUN_SLOT { (RUN_START, PAGE_SIZE - RUN_START) } else { record_at(page, index) }
}
fn record_at(page: &Page, index: usize) -> (usize, usize) {
    let slot = slot_at(index);
    (usize::from(u16_at(page, slot)), usize::from(u16_at(page, slot + 2)))
}
fn set_record(page: &mut PageMut<'_>, index: usize, offset: usize, length: usize) {
    let slot = slot_at(index);
    page.set_u16(slot, offset as u16);
    page.set_u16(slot + 2, length as u16);
}
fn heap(page: &Page) -> usize {
    usize::from(u16_at(page, HEAP))
}
fn garbage(page: &Page) -> usize {
    usize::from(u16_at(page, GARBAGE))
}
fn living(page: &Page) -> usize {
    usize::from(u16_at(page, LIVING))
}
fn free_bytes(page: &Page) -> usize {
    heap(page) - slot_at(count(page)) + garbage(page)
}

fn initialize(page: &mut PageMut<'_>) {
    page.clear(page::DIFF_START..PAGE_SIZE);
    page::set_kind(page, Kind::Section, 0);
    page.set_u16(HEAP, PAGE_SIZE as u16);
}

/// Whether the structure of a section holds together.
///
/// # Errors
///
/// The rule that does not hold.
pub(crate) fn check(page: &Page) -> Result<(), &'static str> {
    let slots = count(page);
    if slots > SLOTS_MAX || slot_at(slots) > heap(page) || heap(page) > PAGE_SIZE {
        return Err("its records overlap its slots");
    }
    let mut bytes = 0;
    let mut records = 0;
    for index in 0..slots {
        let (offset, length) = record_at(page, index);
        if offset == 0 {
            continue;
        }
        if offset < heap(page) || offset + length > PAGE_SIZE {
            return Err("a record reaches past its end");
        }
        bytes += length;
        records += 1;
    }
    if records != living(page) || bytes + garbage(page) != PAGE_SIZE - heap(page) {
        return Err("its records and its garbage do not add up");
    }
    Ok(())
}

/// Removes the garbage; slots keep their numbers.
fn rearrange(page: &mut PageMut<'_>) {
    let old = **page;
    let mut at = PAGE_SIZE;
    for index in 0..count(&old) {
        let (offset, length) = record_at(&old, index);
        if offset == 0 {
            continue;
        }
        at -= length;
        page.write(at, &old[offset..offset + length]);
        set_record(page, index, at, length);
    }
    page.set_u16(HEAP, at as u16);
    page.set_u16(GARBAGE, 0);
}

/// Writes parts into a slot of a page that has room for them.
fn write_into(page: &mut PageMut<'_>, index: usize, parts: &[&[u8]], length: usize) {
    let slots_end = slot_at(count(page).max(index + 1));
    if heap(page) < slots_end + length {
        rearrange(page);
    }
    let offset = heap(page) - length;
    let mut at = offset;
    for part in parts {
        page.write(at, part);
        at += part.len();
    }
    page.set_u16(HEAP, offset as u16);
    set_record(page, index, offset, length);
}

fn free_slot(page: &Page) -> usize {
    let slots = count(page);
    if slots == living(page) {
        return slots;
    }
    (0..slots).find(|index| record_at(page, *index).0 == 0).unwrap_or(slots)
}

/// Whether the section is worth going back to: half empty, and with a slot for one more record.
fn is_spare(page: &Page) -> bool {
    free_bytes(page) >= ROOM && living(page) < SLOTS_MAX
}

fn has_room(page: &Page, length: usize) -> bool {
    let index = free_slot(page);
    let slot = if index == count(page) { SLOT_SIZE } else { 0 };
    index < SLOTS_MAX && free_bytes(page) >= slot + length
}

impl Records {
    /// The heap with a name, if it was made.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`].
    pub fn open(reader: &impl Reader, name: &[u8]) -> Result<Option<Records>> {
        Ok(catalog::find(reader, name, Kind::State)?.map(|root| Records { root }))
    }

    /// The heap with a name, made if it is missing.
    ///
    /// # Errors
    ///
    /// Those of changing an environment.
    pub fn open_or_create(tx: &mut WriteTransaction<'_>, name: &[u8]) -> Result<Records> {
        if let Some(records) = Self::open(tx, name)? {
            return Ok(records);
        }
        let spare = FixedTree::create(tx)?;
        let (root, ref mut page) = tx.new_page()?;
        page::set_kind(page, Kind::State, 0);
        page.set_u64(SPARE_ROOT, spare.root().0);
        catalog::add(tx, name, Kind::State, root)?;
        Ok(Records { root })
    }

    fn section(reader: &impl Reader, number: PageNumber) -> Result<&Page> {
        let page = reader.page(number)?;
        if Kind::of(page) != Some(Kind::Section) {
            return Err(reader.corrupt(number, "a location leads to a page of another kind"));
        }
        Ok(page)
    }

    fn spare(&self, tx: &WriteTransaction<'_>) -> Result<FixedTree> {
        Ok(FixedTree::at(PageNumber(u64_at(tx.page_of(self.root)?, SPARE_ROOT))))
    }

    /// The bytes at a location that [`Self::insert`] or [`Self::update`] gave.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if there is no record, or its page is damaged.
    #[inline]
    pub fn get<'t>(&self, reader: &'t impl Reader, location: Location) -> Result<&'t [u8]> {
        let number = location.page();
        if location.slot() as u64 == RUN_SLOT {
            let page = reader.page(number)?;
            let pages = page::run_pages(page);
            let length = page::run_length(page) as usize;
            if pages == 0 || pages != page::pages_for_run(length) {
                return Err(reader.corrupt(number, "a location leads to a page that begins no run"));
            }
            return Ok(&reader.run(number, pages)?[RUN_START..RUN_START + length]);
        }
        let page = Self::section(reader, number)?;
        if location.slot() < count(page) {
            let (offset, length) = record_at(page, location.slot());
            if offset > 0 {
                return Ok(&page[offset..offset + length]);
            }
        }
        Err(reader.corrupt(number, "a location leads to a record that is not there"))
    }

    /// Has what [`Self::get`] of these locations reads be brought into the caches together, as [`FixedTree::get_many`] does. Says nothing
    /// of whether there are records.
    pub fn touch(&self, reader: &impl Reader, locations: &[Location]) {
        let sections = |location: &Location| Some((reader.page(location.page()).ok()?, location.slot()));
        for locations in locations.chunks(AT_ONCE_MAX) {
            let mut found = [None; AT_ONCE_MAX];
            found.iter_mut().zip(locations).for_each(|(found, location)| *found = sections(location));
            let found = || found.iter().flatten();
            let first = |slot: usize| if slot as u64 == RUN_SLOT { RUN_START } else { slot_at(slot) };
            black_box(found().fold(0, |sum, (page, slot)| sum ^ page[first(*slot)] ^ page[HEAP]));
            black_box(found().fold(0, |sum, (page, slot)| {
                let (offset, length) = touched_at(page, *slot);
                let lines = page.get(offset..offset + length.min(TOUCHED_MAX)).unwrap_or_default();
                lines.iter().step_by(CACHE_LINE).fold(sum, |sum, byte| sum ^ byte)
            }));
        }
    }

    /// The records of several keys of a fixed tree that has their locations, in the order of the keys. They are looked up together:
    /// [`FixedTree::get_many`] and [`Self::touch`].
    ///
    /// # Errors
    ///
    /// As [`Self::get`].
    pub fn get_many<'t>(
        &self,
        reader: &'t impl Reader,
        tree: FixedTree,
        keys: &[u64],
    ) -> Result<Vec<Option<&'t [u8]>>> {
        let mut locations = Vec::with_capacity(keys.len());
        tree.get_many(reader, keys, &mut locations)?;
        let known: Vec<Location> = locations.iter().flatten().copied().map(Location).collect();
        self.touch(reader, &known);
        let record = |location: Option<u64>| location.map(|location| self.get(reader, Location(location))).transpose();
        locations.into_iter().map(record).collect()
    }

    /// Stores a record: `parts` one after the other.
    ///
    /// # Errors
    ///
    /// [`crate::Error::ValueTooLong`], [`crate::Error::DiskFull`], [`crate::Error::Corrupt`].
    pub fn insert(&self, tx: &mut WriteTransaction<'_>, parts: &[&[u8]]) -> Result<Location> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > SECTION_RECORD_MAX {
            let (first, _) = tx.new_run(parts)?;
            return Ok(Location::of(first, RUN_SLOT));
        }
        let number = self.section_with_room(tx, length)?;
        let page = &mut tx.page_mut(number)?;
        let index = free_slot(page);
        write_into(page, index, parts, length);
        let slots = count(page).max(index + 1);
        set_count(page, slots);
        let records = living(page) + 1;
        page.set_u16(LIVING, records as u16);
        Ok(Location::of(number, index as u64))
    }

    fn section_with_room(&self, tx: &mut WriteTransaction<'_>, length: usize) -> Result<PageNumber> {
        let current = PageNumber(u64_at(tx.page_of(self.root)?, CURRENT));
        if current.0 != 0 && has_room(Self::section(tx, current)?, length) {
            return Ok(current);
        }
        let spare = self.spare(tx)?;
        let number = loop {
            let noted = spare.cursor(tx).next()?;
            let Some((number, _)) = noted else {
                let (number, ref mut page) = tx.new_page()?;
                initialize(page);
                break number;
            };
            spare.delete(tx, number)?;
            // Records that grew since may have taken its room.
            if has_room(Self::section(tx, PageNumber(number))?, length) {
                break PageNumber(number);
            }
        };
        tx.page_mut(self.root)?.set_u64(CURRENT, number.0);
        Ok(number)
    }

    /// Replaces a record. It keeps its location where its page has room.
    ///
    /// # Errors
    ///
    /// As [`Self::insert`].
    pub fn update(&self, tx: &mut WriteTransaction<'_>, location: Location, parts: &[&[u8]]) -> Result<Location> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        // Before the old record is freed.
        if length > VALUE_SIZE_MAX {
            return Err(Error::ValueTooLong { size: length, max: VALUE_SIZE_MAX });
        }
        let old_length = self.get(tx, location)?.len();
        let run = location.slot() as u64 == RUN_SLOT;
        if run || length > SECTION_RECORD_MAX {
            self.delete(tx, location)?;
            return self.insert(tx, parts);
        }
        let number = location.page();
        let page = tx.page_of(number)?;
        if free_bytes(page) + old_length < length {
            self.delete(tx, location)?;
            return self.insert(tx, parts);
        }
        let page = &mut tx.page_mut(number)?;
        let (offset, _) = record_at(page, location.slot());
        if length == old_length {
            let mut at = offset;
            for part in parts {
                page.write(at, part);
                at += part.len();
            }
            return Ok(location);
        }
        let was_spare = is_spare(page);
        let more = garbage(page) + old_length;
        page.set_u16(GARBAGE, more as u16);
        set_record(page, location.slot(), 0, 0);
        write_into(page, location.slot(), parts, length);
        self.note_if_spare(tx, number, was_spare)?;
        Ok(location)
    }

    /// Removes a record.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if there is none.
    pub fn delete(&self, tx: &mut WriteTransaction<'_>, location: Location) -> Result<()> {
        let length = self.get(tx, location)?.len();
        let number = location.page();
        if location.slot() as u64 == RUN_SLOT {
            return tx.free_run(number, length as u64);
        }
        let page = &mut tx.page_mut(number)?;
        let was_spare = is_spare(page);
        set_record(page, location.slot(), 0, 0);
        let more = garbage(page) + length;
        page.set_u16(GARBAGE, more as u16);
        let records = living(page) - 1;
        page.set_u16(LIVING, records as u16);
        if records == 0 && u64_at(tx.page_of(self.root)?, CURRENT) != number.0 {
            self.spare(tx)?.delete(tx, number.0)?;
            return tx.free_pages(number, 1);
        }
        self.note_if_spare(tx, number, was_spare)
    }

    /// Notes a section that just became spare. The current one is not: what is free in it is used next.
    fn note_if_spare(&self, tx: &mut WriteTransaction<'_>, number: PageNumber, was_spare: bool) -> Result<()> {
        let page = tx.page_of(number)?;
        if was_spare || !is_spare(page) || u64_at(tx.page_of(self.root)?, CURRENT) == number.0 {
            return Ok(());
        }
        let free = free_bytes(page) as u64;
        self.spare(tx)?.put(tx, number.0, free)
    }
}
