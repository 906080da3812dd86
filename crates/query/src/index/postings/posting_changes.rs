//! All changes of posting lists that a batch makes, gathered and sorted by key, so that the tree is walked through once.
//!
//! Sorting is most of what a batch costs beside the tree itself, so a change carries the start of its key as one number: field,
//! kind, the first twelve bytes of the term, and its length up to 13. Only terms longer than that are ever looked at.

use super::list_writer::ListWriter;
use super::runs::Change;
use crate::index::dictionary::key::{self, ListKind};
use crate::index::dictionary::term::{FieldNumber, Kind};
use crate::index::entry::RecordTerm;
use crate::index::error::Result;
use std::cmp::Ordering;
use storage::WriteTransaction;

/// Bytes of a term that the number has.
const HEAD_TERM_SIZE: usize = 12;

/// A change of a term's list.
#[derive(Clone, Copy)]
struct TermChange<'b> {
    head: u128,
    entry: u64,
    term: &'b [u8],
    is_removal: bool,
}

/// Changes of the lists of terms and of those that tell which entries have any term of a field and kind, and which several.
#[derive(Default)]
pub(crate) struct PostingChanges<'b> {
    terms: Vec<TermChange<'b>>,
    /// With the "term" of the list.
    presence: Vec<(FieldNumber, u8, u64, bool)>,
}

fn head_of(term: RecordTerm<'_>) -> u128 {
    let mut bytes = [0; 16];
    let size = term.bytes.len().min(HEAD_TERM_SIZE);
    let [high, low] = term.field.0.to_be_bytes();
    [bytes[0], bytes[1], bytes[2]] = [high, low, term.kind as u8];
    bytes[3..3 + size].copy_from_slice(&term.bytes[..size]);
    bytes[15] = term.bytes.len().min(HEAD_TERM_SIZE + 1) as u8;
    u128::from_be_bytes(bytes)
}

impl<'b> TermChange<'b> {
    /// The order of the keys. Terms that fit into the head are equal if their heads are.
    fn compare_terms(&self, other: &TermChange<'b>) -> Ordering {
        self.head.cmp(&other.head).then_with(|| match self.term.len() > HEAD_TERM_SIZE {
            true => self.term.cmp(other.term),
            false => Ordering::Equal,
        })
    }

    fn change(&self) -> Change {
        Change { entry: self.entry, is_removal: self.is_removal }
    }

    fn list(&self) -> Result<(FieldNumber, ListKind, &'b [u8])> {
        let [high, low, kind, ..] = self.head.to_be_bytes();
        Ok((FieldNumber(u16::from_be_bytes([high, low])), ListKind::Term(Kind::of(kind)?), self.term))
    }
}

impl<'b> PostingChanges<'b> {
    fn change(&mut self, term: RecordTerm<'b>, entry: u64, is_removal: bool) {
        self.terms.push(TermChange { head: head_of(term), entry, term: term.bytes, is_removal });
    }

    /// An entry has the terms of `new` from now on, and had those of `old`.
    pub fn replace(
        &mut self,
        entry: u64,
        old: impl Iterator<Item = Result<RecordTerm<'b>>>,
        new: impl Iterator<Item = Result<RecordTerm<'b>>>,
    ) -> Result<()> {
        let (mut old, mut new) = (old.peekable(), new.peekable());
        // The last field and kind that either had, and how many terms of it.
        let mut group: Option<(FieldNumber, Kind)> = None;
        let (mut had, mut has) = (0, 0);
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(Ok(a)), Some(Ok(b))) => a.cmp(b),
                (Some(_), None) | (Some(Err(_)), _) => Ordering::Less,
                (None, Some(_)) | (_, Some(Err(_))) => Ordering::Greater,
            };
            let gone = if order.is_le() { old.next().transpose()? } else { None };
            let come = if order.is_ge() { new.next().transpose()? } else { None };
            let Some(term) = gone.or(come) else { break };
            if group != Some((term.field, term.kind)) {
                self.end_group(group, entry, had, has);
                group = Some((term.field, term.kind));
                (had, has) = (0, 0);
            }
            had += usize::from(gone.is_some());
            has += usize::from(come.is_some());
            if order.is_ne() && term.kind.is_listed() {
                self.change(term, entry, gone.is_some());
            }
        }
        self.end_group(group, entry, had, has);
        Ok(())
    }

    /// A null is present where its one term is.
    fn end_group(&mut self, group: Option<(FieldNumber, Kind)>, entry: u64, had: usize, has: usize) {
        let Some((field, kind)) = group.filter(|(_, kind)| kind.has_presence()) else { return };
        for (term, had, has) in [(kind as u8, had > 0, has > 0), (key::several(kind), had > 1, has > 1)] {
            if had != has {
                self.presence.push((field, term, entry, had));
            }
        }
    }

    /// Makes all changes, in the order of the keys.
    pub fn apply(mut self, tx: &mut WriteTransaction<'_>, lists: &mut ListWriter) -> Result<()> {
        let mut changes = Vec::new();
        self.presence.sort_unstable();
        for group in self.presence.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let Some((field, term, ..)) = group.first() else { continue };
            changes.clear();
            changes
                .extend(group.iter().map(|(.., entry, is_removal)| Change { entry: *entry, is_removal: *is_removal }));
            lists.change(tx, (*field, ListKind::Presence, &[*term]), &changes)?;
        }
        self.terms.sort_unstable_by(|a, b| a.compare_terms(b).then(a.entry.cmp(&b.entry)));
        for group in self.terms.chunk_by(|a, b| a.compare_terms(b).is_eq()) {
            let Some(first) = group.first() else { continue };
            changes.clear();
            changes.extend(group.iter().map(TermChange::change));
            lists.change(tx, first.list()?, &changes)?;
        }
        Ok(())
    }
}
