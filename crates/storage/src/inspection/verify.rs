//! Checks everything that the format promises, on one snapshot, beside running transactions.

use crate::contents;
use crate::environment::Environment;
use crate::error::Result;
use crate::heap::records;
use crate::ids::PageNumber;
use crate::limits::{SPAN_PAGES, VALUE_SIZE_MAX};
use crate::page::{self, Kind, u64_at};
use crate::page_set::PageSet;
use crate::pager::table::PageTable;
use crate::space;
use crate::transaction::ReadTransaction;
use crate::transaction::sealed::Pages;
use crate::tree::fixed;
use crate::tree::node::{self, Payload};
use crate::tree::{Tree, catalog};
use std::collections::BTreeMap;

/// The result of [`Environment::verify`].
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Pages in use, by kind.
    pub pages: BTreeMap<&'static str, u64>,
    /// The contents of each named structure.
    pub structures: BTreeMap<String, Shape>,
    /// Violated rules, each as a sentence. Empty if the environment is intact.
    pub problems: Vec<String>,
}

/// The shape of one structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Keys; of a heap of records, what its sections note.
    pub entries: u64,
    /// Pages of the structure itself, values with pages of their own included.
    pub pages: u64,
    /// Levels from the root to the leaves.
    pub depth: u32,
    /// Bytes that keys and values take in the leaves.
    pub leaf_bytes: u64,
    /// Leaves.
    pub leaves: u64,
}

impl Shape {
    /// How full the leaves are, in percent.
    pub fn fill_percent(&self) -> u64 {
        let room = self.leaves * crate::limits::PAGE_SIZE as u64;
        (self.leaf_bytes * 100).checked_div(room).unwrap_or(0)
    }
}

impl Report {
    /// Pages in use.
    pub fn pages_total(&self) -> u64 {
        self.pages.values().sum()
    }
}

struct Walk<'t, 'p> {
    tx: &'t ReadTransaction<'t>,
    table: &'t PageTable,
    /// Pages that something leads to.
    reached: PageSet,
    reached_count: u64,
    report: Report,
    goes_on: &'p mut dyn FnMut(u64) -> bool,
    /// It does not: nothing more is reached.
    is_stopped: bool,
}

/// What the way to a page of a fixed tree says of it.
#[derive(Clone, Copy)]
struct Expected {
    number: PageNumber,
    depth: u32,
    level: Option<u8>,
    /// No key of it is smaller.
    from: u64,
    /// All keys of it are.
    below: Option<u64>,
}

impl Expected {
    fn root(number: PageNumber) -> Expected {
        Expected { number, depth: 1, level: None, from: 0, below: None }
    }
}

impl Environment {
    /// Reads every page in use from the data file's map or memory, and checks its checksum, its structure, the order of keys,
    /// and that each page is reached exactly once or free.
    ///
    /// # Errors
    ///
    /// Only what keeps it from going on; what it finds is in the report.
    pub fn verify(&self) -> Result<Report> {
        self.verify_with(&mut |_| ())
    }

    /// Does the same as [`Self::verify`], and reports how far it is.
    ///
    /// * `progress`: called with the number of pages that were reached so far. If nothing is damaged, the last number is that of
    ///   the pages in use.
    ///
    /// # Errors
    ///
    /// As of [`Self::verify`].
    pub fn verify_with(&self, progress: &mut dyn FnMut(u64)) -> Result<Report> {
        let report = self.verify_while(&mut |reached| {
            progress(reached);
            true
        });
        Ok(report?.unwrap_or_default())
    }

    /// Does the same as [`Self::verify`], as long as it may. `None`: it was stopped.
    ///
    /// * `goes_on`: called as the `progress` of [`Self::verify_with`]; false stops the check.
    ///
    /// # Errors
    ///
    /// As of [`Self::verify`].
    pub fn verify_while(&self, goes_on: &mut dyn FnMut(u64) -> bool) -> Result<Option<Report>> {
        let tx = self.read();
        let table = &self.inner.table;
        let (reached, report) = (PageSet::default(), Report::default());
        let mut walk = Walk { tx: &tx, table, reached, reached_count: 0, report, goes_on, is_stopped: false };
        for number in (0..table.pages()).map(PageNumber) {
            table.verify_at_next_touch(number)?;
        }
        walk.fixed_pages(self.inner.spans(tx.id())?);
        walk.tree("(catalog)", Tree::at(space::CATALOG_ROOT));
        match catalog::all(&tx) {
            Ok(structures) => structures.into_iter().for_each(|(name, kind, root)| walk.structure(&name, kind, root)),
            Err(error) => walk.problem(error.to_string()),
        }
        if walk.is_stopped {
            return Ok(None);
        }
        walk.compare_with_bitmaps(self.inner.spans(tx.id())?);
        Ok(Some(walk.report))
    }
}

impl<'t> Walk<'t, '_> {
    fn problem(&mut self, text: String) {
        const PROBLEMS_MAX: usize = 1000;
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(text);
        }
    }

    /// Notes that a page is used. False: something else uses it too, or the check is stopped.
    fn reach(&mut self, number: PageNumber, pages: u32, what: &'static str) -> bool {
        if self.is_stopped {
            return false;
        }
        let end = number.0.saturating_add(u64::from(pages));
        if end > self.table.pages() {
            self.problem(format!("page {number}, used as {what}, lies outside of the file"));
            return false;
        }
        for page in number.0..end {
            if !self.reached.insert(page) {
                self.problem(format!("page {page} is used as {what} and as something else"));
                return false;
            }
        }
        *self.report.pages.entry(what).or_default() += u64::from(pages);
        self.reached_count += u64::from(pages);
        self.is_stopped = !(self.goes_on)(self.reached_count);
        !self.is_stopped
    }

    fn page(&mut self, number: PageNumber, kind: Kind) -> Option<&'t [u8; crate::limits::PAGE_SIZE]> {
        if let Err(error) = self.table.verify_kept(number) {
            // The copy in memory is whole, and leads on.
            self.problem(error.to_string());
        }
        let page = match self.tx.page(number) {
            Ok(page) => page,
            Err(error) => {
                self.problem(error.to_string());
                return None;
            }
        };
        if Kind::of(page) != Some(kind) {
            self.problem(format!("page {number} is no {kind:?} page"));
            return None;
        }
        // Pages in memory were never read from the file; their structure is checked here.
        let checked = match kind {
            Kind::Tree => node::check(page),
            Kind::FixedTree => fixed::check(page),
            Kind::Section => records::check(page),
            _ => Ok(()),
        };
        if let Err(rule) = checked {
            self.problem(format!("page {number}: {rule}"));
            return None;
        }
        if page::number(page) != number {
            self.problem(format!("page {number} says that it is page {}", page::number(page)));
        }
        if page::transaction(page) > self.tx.id() {
            self.problem(format!(
                "page {number} is of transaction {}, which the snapshot does not have",
                page::transaction(page)
            ));
        }
        Some(page)
    }

    fn fixed_pages(&mut self, spans: u64) {
        self.reach(PageNumber(0), 2, "header");
        for span in 0..spans {
            let number = space::bitmap_page(span);
            self.reach(number, 1, "bitmap");
            self.page(number, Kind::Bitmap);
        }
    }

    fn structure(&mut self, name: &[u8], kind: u8, root: PageNumber) {
        let name = String::from_utf8_lossy(name).into_owned();
        match kind {
            k if k == Kind::Tree as u8 => self.tree(&name, Tree::at(root)),
            k if k == Kind::FixedTree as u8 => {
                let mut shape = Shape::default();
                self.fixed(Expected::root(root), &mut None, &mut shape);
                self.report.structures.insert(name, shape);
            }
            k if k == Kind::State as u8 => self.records(&name, root),
            k if k == Kind::Contents as u8 => self.contents(&name, Tree::at(root)),
            _ => self.problem(format!("'{name}' in the catalog has the unknown kind {kind}")),
        }
    }

    fn tree(&mut self, name: &str, tree: Tree) {
        let mut shape = Shape::default();
        self.tree_below(tree.root(), None, None, None, &mut shape);
        self.report.structures.insert(name.to_string(), shape);
    }

    fn tree_below(
        &mut self,
        number: PageNumber,
        level: Option<u8>,
        lower: Option<&[u8]>,
        upper: Option<&[u8]>,
        shape: &mut Shape,
    ) {
        let branch_name = if level == Some(0) { "tree leaf" } else { "tree branch" };
        if !self.reach(number, 1, branch_name) {
            return;
        }
        let Some(page) = self.page(number, Kind::Tree) else { return };
        if level.is_some_and(|level| level != page::level(page)) {
            return self.problem(format!("page {number} is at level {}, its parent says otherwise", page::level(page)));
        }
        shape.pages += 1;
        shape.depth = shape.depth.max(u32::from(page::level(page)) + 1);
        let count = page::count(page);
        let mut keys = Vec::with_capacity(count);
        for index in 0..count {
            let mut key = Vec::new();
            node::key_into(page, index, &mut key);
            if lower.is_some_and(|lower| *key < *lower) || upper.is_some_and(|upper| *key >= *upper) {
                self.problem(format!("page {number} has a key outside of what its parent gives it"));
            }
            keys.push(key);
        }
        if page::level(page) == 0 {
            shape.entries += count as u64;
            shape.leaves += 1;
            shape.leaf_bytes += node::used(page) as u64;
            for index in 0..count {
                if let Payload::Run { first, length } = node::payload(page, index) {
                    shape.pages += self.run(first, length);
                }
            }
            return;
        }
        for position in 0..=count {
            let lower = if position == 0 { lower } else { keys.get(position - 1).map(Vec::as_slice) };
            let upper = keys.get(position).map(Vec::as_slice).or(upper);
            self.tree_below(node::child(page, position), Some(page::level(page) - 1), lower, upper, shape);
        }
    }

    fn contents(&mut self, name: &str, tree: Tree) {
        let before = self.report.problems.len();
        self.tree(name, tree);
        if self.report.problems.len() > before {
            // A tree that is not whole would only have the same said of its entries.
            return;
        }
        let tx = self.tx;
        if let Err(error) = contents::check(tx, tree, |problem| self.problem(format!("'{name}': {problem}"))) {
            self.problem(error.to_string());
        }
    }

    /// Checks the run of a value and returns its pages.
    fn run(&mut self, first: PageNumber, length: u64) -> u64 {
        let length_in_bounds = usize::try_from(length).ok().filter(|length| *length <= VALUE_SIZE_MAX);
        let Some(length_in_bounds) = length_in_bounds else {
            self.problem(format!("the value at page {first} has {length} bytes, more than one can have"));
            return 0;
        };
        let pages = page::pages_for_run(length_in_bounds);
        if !self.reach(first, pages, "value") {
            return 0;
        }
        match self.tx.run(first, pages) {
            Err(error) => self.problem(error.to_string()),
            Ok(bytes) => {
                let right = bytes
                    .first_chunk()
                    .is_some_and(|page| Kind::of(page) == Some(Kind::Run) && page::run_length(page) == length);
                if !right {
                    self.problem(format!("page {first} does not begin a value of {length} bytes"));
                }
            }
        }
        u64::from(pages)
    }

    /// * `entries`: where the living entries go.
    fn fixed(&mut self, expected: Expected, entries: &mut Option<Vec<(u64, u64)>>, shape: &mut Shape) {
        let Expected { number, depth, level, from, below } = expected;
        if depth as usize > crate::limits::TREE_DEPTH_MAX {
            return self.problem(format!("page {number} lies deeper in its tree than a tree can be"));
        }
        if !self.reach(number, 1, "fixed tree") {
            return;
        }
        let Some(page) = self.page(number, Kind::FixedTree) else { return };
        if level.is_some_and(|level| level != page::level(page)) {
            return self.problem(format!("page {number} is at level {}, its parent says otherwise", page::level(page)));
        }
        if fixed::telling_keys(page).any(|key| key < from || below.is_some_and(|below| key >= below)) {
            self.problem(format!("page {number} has a key outside of what its parent gives it"));
        }
        shape.pages += 1;
        shape.depth = shape.depth.max(depth);
        if page::level(page) == 0 {
            let living = fixed::living(page);
            shape.entries += living.len() as u64;
            shape.leaves += 1;
            shape.leaf_bytes += living.len() as u64 * 16;
            return entries.iter_mut().for_each(|entries| entries.extend(&living));
        }
        for (child, child_from, child_below) in fixed::children(page) {
            let child = Expected {
                number: child,
                depth: depth + 1,
                level: Some(page::level(page) - 1),
                from: child_from.unwrap_or(from),
                below: child_below.or(below),
            };
            self.fixed(child, entries, shape);
        }
    }

    /// The sections of a heap are known only to who has the locations; those noted as having room are checked here, and
    /// all others by [`Walk::compare_with_bitmaps`]: a section that is in use says so itself.
    fn records(&mut self, name: &str, root: PageNumber) {
        self.reach(root, 1, "state");
        let Some(page) = self.page(root, Kind::State) else { return };
        let mut noted = Some(Vec::new());
        let mut shape = Shape::default();
        self.fixed(Expected::root(PageNumber(u64_at(page, records::SPARE_ROOT))), &mut noted, &mut shape);
        for (section, _) in noted.into_iter().flatten() {
            self.page(PageNumber(section), Kind::Section);
        }
        self.report.structures.insert(name.to_string(), Shape { pages: shape.pages + 1, ..Shape::default() });
    }

    fn compare_with_bitmaps(&mut self, spans: u64) {
        for span in 0..spans {
            let Some(bitmap) = self.page(space::bitmap_page(span), Kind::Bitmap) else { continue };
            let mut skip_until = 0;
            for group in (0..SPAN_PAGES).step_by(64) {
                // Most of the span of a small file lies behind its end: free, and not reached.
                let first = span * SPAN_PAGES + group;
                let used = space::word(bitmap, group as usize / 64);
                let mut differing = used ^ self.reached.group(first);
                while differing != 0 {
                    let bit = differing.trailing_zeros();
                    differing &= differing - 1;
                    let number = first + u64::from(bit);
                    if number < skip_until {
                        continue;
                    }
                    if used >> bit & 1 == 0 {
                        self.problem(format!("page {number} is in use, but marked as free"));
                        continue;
                    }
                    skip_until = number + self.unreached(PageNumber(number));
                }
            }
        }
    }

    /// A page that is in use and that no tree leads to: it must be a section, or the run of a record. Returns its pages.
    fn unreached(&mut self, number: PageNumber) -> u64 {
        let (kind, is_staged) = match self.tx.page(number) {
            Ok(page) => (Kind::of(page), page::level(page) == page::STAGED),
            Err(error) => {
                self.problem(error.to_string());
                return 1;
            }
        };
        match kind {
            Some(Kind::Run) if is_staged => {
                self.problem(format!("page {number} begins a chunk, but no content leads to it"));
                let length = self.tx.page(number).map(page::run_length);
                length.map_or(1, |length| self.run(number, length).max(1))
            }
            Some(Kind::Section) => {
                if self.page(number, Kind::Section).is_some() {
                    self.reach(number, 1, "section");
                }
                1
            }
            Some(Kind::Run) => match self.tx.page(number).map(page::run_length) {
                Ok(length) => self.run(number, length).max(1),
                Err(_) => 1,
            },
            kind => {
                self.problem(format!("page {number} ({kind:?}) is marked as used, but nothing leads to it"));
                1
            }
        }
    }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
