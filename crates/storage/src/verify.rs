//! Checks everything that the format promises, on one snapshot, beside running transactions.

use crate::environment::Environment;
use crate::error::Result;
use crate::fixed_tree;
use crate::ids::PageNumber;
use crate::limits::SPAN_PAGES;
use crate::page::{self, Kind, u64_at};
use crate::records;
use crate::space;
use crate::transaction::sealed::Pages;
use crate::transaction::{ReadTransaction, Reader};
use crate::tree::node::{self, Payload};
use crate::tree::{Tree, catalog};
use std::collections::BTreeMap;

/// What [`Environment::verify`] found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Pages in use, by kind.
    pub pages: BTreeMap<&'static str, u64>,
    /// Keys and records, by the name of their structure.
    pub entries: BTreeMap<String, u64>,
    /// What does not hold, each a sentence. Empty: all is well.
    pub problems: Vec<String>,
}

impl Report {
    /// Pages in use.
    pub fn pages_total(&self) -> u64 {
        self.pages.values().sum()
    }
}

struct Walk<'t> {
    tx: &'t ReadTransaction<'t>,
    /// Pages that something leads to, with what it is.
    reached: BTreeMap<u64, &'static str>,
    report: Report,
}

impl Environment {
    /// Reads every page in use from the data file's map or memory, and checks its checksum, its structure, the order of keys,
    /// and that each page is reached exactly once or free.
    ///
    /// # Errors
    ///
    /// Only what keeps it from going on; what it finds is in the report.
    pub fn verify(&self) -> Result<Report> {
        for number in 0..self.inner.table.pages() {
            self.inner.table.forget_verified(PageNumber(number))?;
        }
        let tx = self.read();
        let mut walk = Walk { tx: &tx, reached: BTreeMap::new(), report: Report::default() };
        walk.fixed_pages(self.inner.spans()?);
        walk.tree("(catalog)", Tree::at(space::CATALOG_ROOT));
        match catalog::all(&tx) {
            Ok(structures) => structures.into_iter().for_each(|(name, kind, root)| walk.structure(&name, kind, root)),
            Err(error) => walk.problem(error.to_string()),
        }
        walk.compare_with_bitmaps(self.inner.spans()?);
        Ok(walk.report)
    }
}

impl<'t> Walk<'t> {
    fn problem(&mut self, text: String) {
        const PROBLEMS_MAX: usize = 1000;
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(text);
        }
    }

    /// Notes that a page is used. False: something else uses it too.
    fn reach(&mut self, number: PageNumber, pages: u32, what: &'static str) -> bool {
        for page in number.0..number.0 + u64::from(pages) {
            if let Some(other) = self.reached.insert(page, what) {
                self.problem(format!("page {page} is used as {what} and as {other}"));
                return false;
            }
        }
        *self.report.pages.entry(what).or_default() += u64::from(pages);
        true
    }

    fn page(&mut self, number: PageNumber, kind: Kind) -> Option<&'t [u8; crate::limits::PAGE_SIZE]> {
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
            Kind::FixedTree => fixed_tree::check(page),
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
                let mut locations = Vec::new();
                let entries = self.fixed(root, 0, None, &mut locations);
                self.report.entries.insert(name, entries);
            }
            k if k == Kind::State as u8 => self.records(&name, root),
            _ => self.problem(format!("'{name}' in the catalog has the unknown kind {kind}")),
        }
    }

    fn tree(&mut self, name: &str, tree: Tree) {
        let entries = self.tree_below(tree.root(), None, None, None);
        self.report.entries.insert(name.to_string(), entries);
    }

    fn tree_below(&mut self, number: PageNumber, level: Option<u8>, lower: Option<&[u8]>, upper: Option<&[u8]>) -> u64 {
        let branch_name = if level == Some(0) { "tree leaf" } else { "tree branch" };
        if !self.reach(number, 1, branch_name) {
            return 0;
        }
        let Some(page) = self.page(number, Kind::Tree) else { return 0 };
        if level.is_some_and(|level| level != page::level(page)) {
            self.problem(format!("page {number} is at level {}, its parent says otherwise", page::level(page)));
            return 0;
        }
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
            for index in 0..count {
                if let Payload::Run { first, length } = node::payload(page, index) {
                    self.run(first, length);
                }
            }
            return count as u64;
        }
        let mut entries = 0;
        for position in 0..=count {
            let lower = if position == 0 { lower } else { keys.get(position - 1).map(Vec::as_slice) };
            let upper = keys.get(position).map(Vec::as_slice).or(upper);
            let child = node::child(page, position);
            entries += self.tree_below(child, Some(page::level(page) - 1), lower, upper);
        }
        entries
    }

    fn run(&mut self, first: PageNumber, length: u64) {
        let pages = page::pages_for_run(usize::try_from(length).unwrap_or(usize::MAX / 2));
        if !self.reach(first, pages, "value") {
            return;
        }
        match self.tx.run(first, pages) {
            Err(error) => self.problem(error.to_string()),
            Ok(bytes) => {
                let Some(page) = bytes.first_chunk() else { return };
                if Kind::of(page) != Some(Kind::Run) || page::run_length(page) != length {
                    self.problem(format!("page {first} does not begin a value of {length} bytes"));
                }
            }
        }
    }

    fn fixed(&mut self, number: PageNumber, depth: usize, level: Option<u8>, entries: &mut Vec<(u64, u64)>) -> u64 {
        if depth > crate::limits::TREE_DEPTH_MAX || !self.reach(number, 1, "fixed tree") {
            return 0;
        }
        let Some(page) = self.page(number, Kind::FixedTree) else { return 0 };
        if level.is_some_and(|level| level != page::level(page)) {
            self.problem(format!("page {number} is at level {}, its parent says otherwise", page::level(page)));
            return 0;
        }
        if page::level(page) == 0 {
            let living = fixed_tree::living(page);
            entries.extend(&living);
            return living.len() as u64;
        }
        let children = fixed_tree::children(page);
        children.into_iter().map(|child| self.fixed(child, depth + 1, Some(page::level(page) - 1), entries)).sum()
    }

    /// The sections of a heap are known only to who has the locations; those noted as having room are checked here, and
    /// all others by [`Walk::compare_with_bitmaps`]: a section that is in use says so itself.
    fn records(&mut self, name: &str, root: PageNumber) {
        self.reach(root, 1, "state");
        let Some(page) = self.page(root, Kind::State) else { return };
        let mut noted = Vec::new();
        self.fixed(PageNumber(u64_at(page, records::SPARE_ROOT)), 0, None, &mut noted);
        for (section, _) in noted {
            self.page(PageNumber(section), Kind::Section);
        }
        self.report.entries.insert(name.to_string(), 0);
    }

    fn compare_with_bitmaps(&mut self, spans: u64) {
        for span in 0..spans {
            let Some(bitmap) = self.page(space::bitmap_page(span), Kind::Bitmap) else { continue };
            let mut skip_until = 0;
            for bit in 0..SPAN_PAGES {
                let number = span * SPAN_PAGES + bit;
                let (used, reached) = (space::is_used(bitmap, bit as usize), self.reached.contains_key(&number));
                if number < skip_until || used == reached {
                    continue;
                }
                if !used {
                    self.problem(format!("page {number} is in use, but marked as free"));
                    continue;
                }
                skip_until = number + self.unreached(PageNumber(number));
            }
        }
    }

    /// A page that is in use and that no tree leads to: it must be a section, or the run of a record. Returns its pages.
    fn unreached(&mut self, number: PageNumber) -> u64 {
        let kind = match self.tx.page(number) {
            Ok(page) => Kind::of(page),
            Err(error) => {
                self.problem(error.to_string());
                return 1;
            }
        };
        match kind {
            Some(Kind::Section) => {
                if self.page(number, Kind::Section).is_some() {
                    self.reach(number, 1, "section");
                }
                1
            }
            Some(Kind::Run) => match self.tx.page(number).map(page::run_length) {
                Ok(length) => {
                    self.run(number, length);
                    u64::from(page::pages_for_run(length as usize))
                }
                Err(_) => 1,
            },
            kind => {
                self.problem(format!("page {number} ({kind:?}) is marked as used, but nothing leads to it"));
                1
            }
        }
    }
}
