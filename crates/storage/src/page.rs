//! The head that all pages of the data file share: 32 bytes, little-endian, and what each kind adds.
//!
//! ```text
//!  0            16         24            32     33      34      36                    64
//!  +------------+----------+-------------+------+-------+-------+---------------------+
//!  | checksum   | number   | transaction | kind | level | count | of the kind         |
//!  +------------+----------+-------------+------+-------+-------+---------------------+
//! ```
//!
//! * `checksum`: XXH3-128 of all that follows it, seeded with the environment's id; of the whole run, for a run.
//!   Set when the page is flushed; in memory its bytes mean nothing.
//! * `number`: the page's own, so that a page written to the wrong place is found.
//! * `transaction`: the one that wrote this version.
//! * a run of pages (kind `Run`) has its number of pages (u32) at 36 and the length of its value (u64) at 40; only its
//!   first page has a head, and the value follows at 64. Its level is 1 if it was staged: then a tree leads to it.

use crate::ids::{PageNumber, TransactionId};
use crate::limits::PAGE_SIZE;
use crate::pager::Page;
use crate::pager::changes::PageMut;
use crate::planted::{Bug, is_planted};
use xxhash_rust::xxh3::{Xxh3, xxh3_128_with_seed};

/// Bytes of the head of a page, with what its kind adds.
pub(crate) const HEAD_SIZE: usize = 64;
/// The offset at which the journal's diffs begin: checksum, number and transaction are known without them.
pub(crate) const DIFF_START: usize = 32;
/// The offset of a run's value.
pub(crate) const RUN_START: usize = 64;

/// Level of a run that was staged. Something that leads to it is found by going through trees, as is not so for records.
pub(crate) const STAGED: u8 = 1;

const CHECKSUM: usize = 0;
const NUMBER: usize = 16;
const TRANSACTION: usize = 24;
const KIND: usize = 32;
const LEVEL: usize = 33;
const COUNT: usize = 34;
const RUN_PAGES: usize = 36;
const RUN_LENGTH: usize = 40;

/// The kind of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Never written.
    Unused = 0,
    /// Which pages of its span are in use.
    Bitmap = 1,
    /// A leaf or branch of a tree.
    Tree = 2,
    /// A leaf or branch of a fixed tree.
    FixedTree = 3,
    /// A section of records.
    Section = 4,
    /// The first page of a run that holds one value.
    Run = 5,
    /// The state of a structure: its current section and the like.
    State = 6,
    /// In the catalog alone, no page has it: a tree with contents ([`crate::contents`]).
    Contents = 7,
}

impl Kind {
    pub fn of(page: &Page) -> Option<Kind> {
        Some(match page[KIND] {
            0 => Kind::Unused,
            1 => Kind::Bitmap,
            2 => Kind::Tree,
            3 => Kind::FixedTree,
            4 => Kind::Section,
            5 => Kind::Run,
            6 => Kind::State,
            _ => return None,
        })
    }
}

#[inline]
pub(crate) fn u16_at(page: &Page, at: usize) -> u16 {
    u16::from_le_bytes([page[at], page[at + 1]])
}
#[inline]
pub(crate) fn u32_at(page: &Page, at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&page[at..at + 4]);
    u32::from_le_bytes(bytes)
}
#[inline]
pub(crate) fn u64_at(page: &Page, at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&page[at..at + 8]);
    u64::from_le_bytes(bytes)
}
pub(crate) fn set_kind(page: &mut PageMut<'_>, kind: Kind, level: u8) {
    page.write(KIND, &[kind as u8, level]);
}
#[inline]
pub(crate) fn level(page: &Page) -> u8 {
    page[LEVEL]
}
/// Whether it is an inner page of a tree.
pub(crate) fn is_branch(page: &Page) -> bool {
    matches!(Kind::of(page), Some(Kind::Tree | Kind::FixedTree)) && level(page) > 0
}
#[inline]
pub(crate) fn count(page: &Page) -> usize {
    usize::from(u16_at(page, COUNT))
}
#[inline]
pub(crate) fn set_count(page: &mut PageMut<'_>, count: usize) {
    page.set_u16(COUNT, count as u16);
}
pub(crate) fn number(page: &Page) -> PageNumber {
    PageNumber(u64_at(page, NUMBER))
}
pub(crate) fn transaction(page: &Page) -> TransactionId {
    TransactionId(u64_at(page, TRANSACTION))
}
pub(crate) fn set_identity(page: &mut PageMut<'_>, number: PageNumber, transaction: TransactionId) {
    page.set_u64(NUMBER, number.0);
    page.set_u64(TRANSACTION, transaction.0);
}

/// Pages of a run, from its first page; 0 for other kinds.
pub(crate) fn run_pages(page: &Page) -> u32 {
    if page[KIND] == Kind::Run as u8 { u32_at(page, RUN_PAGES) } else { 0 }
}
/// Bytes of the value in a run.
pub(crate) fn run_length(page: &Page) -> u64 {
    u64_at(page, RUN_LENGTH)
}
pub(crate) fn set_run(page: &mut PageMut<'_>, pages: u32, length: u64) {
    set_kind(page, Kind::Run, 0);
    page.set_u32(RUN_PAGES, pages);
    page.set_u64(RUN_LENGTH, length);
}
/// Pages that a run for a value of `length` bytes takes.
pub(crate) fn pages_for_run(length: usize) -> u32 {
    u32::try_from(length.saturating_add(RUN_START).div_ceil(PAGE_SIZE)).unwrap_or(u32::MAX)
}

/// What the first page of a run has before its value, with the checksum of all its pages.
///
/// * `padding`: the bytes behind the value, which fill its last page.
pub(crate) fn run_head(
    (first, transaction): (PageNumber, TransactionId),
    value: &[u8],
    padding: &[u8],
    environment_id: u128,
) -> [u8; RUN_START] {
    let (mut page, mut lines) = ([0; PAGE_SIZE], crate::pager::changes::Lines::NONE);
    let mut changes = PageMut::new(&mut page, &mut lines);
    set_identity(&mut changes, first, transaction);
    set_run(&mut changes, pages_for_run(value.len()), value.len() as u64);
    set_kind(&mut changes, Kind::Run, STAGED);
    let mut hash = Xxh3::with_seed(checksum_seed(environment_id));
    hash.update(&page[NUMBER..RUN_START]);
    hash.update(value);
    hash.update(padding);
    store_checksum(&mut page, hash.digest128());
    std::array::from_fn(|at| page[at])
}

fn checksum_seed(environment_id: u128) -> u64 {
    environment_id as u64 ^ (environment_id >> 64) as u64
}

/// The checksum over a page, or over all pages of a run.
pub(crate) fn checksum(bytes: &[u8], environment_id: u128) -> u128 {
    xxh3_128_with_seed(&bytes[NUMBER..], checksum_seed(environment_id))
}
pub(crate) fn stored_checksum(page: &Page) -> u128 {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&page[CHECKSUM..CHECKSUM + 16]);
    u128::from_le_bytes(bytes)
}
pub(crate) fn store_checksum(bytes: &mut [u8], checksum: u128) {
    bytes[CHECKSUM..CHECKSUM + 16].copy_from_slice(&checksum.to_le_bytes());
}

/// Whether a page read from the file is what was written there.
///
/// * `page`: its first page; `bytes`: all of it, where it is a run.
///
/// # Errors
///
/// The rule that does not hold.
pub(crate) fn verify(page: &Page, bytes: &[u8], at: PageNumber, environment_id: u128) -> Result<(), &'static str> {
    if stored_checksum(page) != checksum(bytes, environment_id) && !is_planted(Bug::PageHashUnchecked) {
        return Err("its checksum does not fit its content");
    }
    if number(page) != at && !is_planted(Bug::PlaceUnchecked) {
        return Err("it belongs to another place");
    }
    check(page, bytes)
}

/// Whether a page is one of its kind: what can be told from its own bytes.
///
/// # Errors
///
/// The rule that does not hold.
pub(crate) fn check(page: &Page, bytes: &[u8]) -> Result<(), &'static str> {
    match Kind::of(page) {
        None | Some(Kind::Unused | Kind::Contents) => Err("it has no known kind"),
        Some(Kind::Tree) => crate::tree::node::check(page),
        Some(Kind::FixedTree) => crate::tree::fixed::check(page),
        Some(Kind::Section) => crate::heap::records::check(page),
        Some(Kind::Run) if run_length(page) > (bytes.len() - RUN_START) as u64 => {
            Err("its value is longer than its run")
        }
        Some(Kind::Run | Kind::Bitmap | Kind::State) => Ok(()),
    }
}
