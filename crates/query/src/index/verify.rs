//! Checks every rule of an index over one snapshot: postings and entries agree both ways, so do entries and documents, and
//! all counts are right.
//!
//! Each posting is looked up in the record of its entry. As none comes twice (ids rise, records have each term once), the
//! same number of both means that no term of a record lacks its posting either; likewise for documents and entries.

use super::dictionary::key::{self, ListKind, PostingKey};
use super::dictionary::term::{FieldNumber, Kind, StoredTerm};
use super::entry::{EntryId, Record, RecordTerm};
use super::error::Result;
use super::limits::{BLOCK_SIZE_MAX, PROBLEMS_TOLD_MAX};
use super::postings::list::{self, Content, Head};
use super::postings::runs::Runs;
use super::schema::Counters;
use super::snapshot::IndexSnapshot;
use documents::id;
use std::collections::HashSet;
use storage::Location;

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Entries that were read.
    pub entry_count: u64,
    /// Documents that were read.
    pub document_count: u64,
    /// Lists of terms that were read.
    pub term_count: u64,
    /// Pairs of a term and an entry.
    pub posting_count: u64,
    /// Rules that do not hold.
    pub problem_count: u64,
    /// The first of them.
    pub problems: Vec<String>,
}

/// Pairs of an entry and a term, and of an entry and a kind that it has terms of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Pairs {
    terms: u64,
    presence: u64,
}

struct Check<'s> {
    snapshot: &'s IndexSnapshot<'s>,
    fields: HashSet<FieldNumber>,
    counters: Counters,
    found: Verification,
}

/// The list whose blocks are read.
struct OpenList {
    head: Vec<u8>,
    field: FieldNumber,
    kind: ListKind,
    term: Vec<u8>,
    count: u64,
    /// Ids that were read.
    seen: u64,
    last: u64,
    last_block: Option<u64>,
    block: u64,
}

impl IndexSnapshot<'_> {
    /// Reads everything and checks every rule.
    ///
    /// # Errors
    ///
    /// Something is damaged so that the check cannot go on. Other broken rules are in the answer.
    pub fn verify(&self) -> Result<Verification> {
        let fields = self.fields()?;
        let mut check = Check {
            snapshot: self,
            fields: fields.iter().map(|(_, number)| *number).collect(),
            counters: self.counters(),
            found: Verification::default(),
        };
        check.check(check.fields.len() == fields.len(), || "two fields have one number".to_owned());
        let in_records = check.entries()?;
        let in_lists = check.postings()?;
        check.check(in_records == in_lists, || format!("records have {in_records:?}, lists {in_lists:?}"));
        check.documents()?;
        let mut problems = Vec::new();
        self.verify_vectors(&mut |problem| problems.push(problem))?;
        problems.into_iter().for_each(|problem| check.check(false, || problem));
        for source in self.sources()? {
            self.progress(&source)?;
        }
        let (counted, errors) = (self.error_count()?, self.errors()?.len() as u64);
        check.check(counted == errors, || format!("{errors} errors are kept, their numbers say {counted}"));
        Ok(check.found)
    }
}

impl Check<'_> {
    fn check(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.found.problem_count += 1;
            if self.found.problems.len() < PROBLEMS_TOLD_MAX {
                self.found.problems.push(problem());
            }
        }
    }

    fn entries(&mut self) -> Result<Pairs> {
        let (tx, schema) = (self.snapshot.tx(), *self.snapshot.schema());
        let mut pairs = Pairs::default();
        let mut cursor = schema.entries.cursor(tx);
        while let Some((entry, location)) = cursor.next()? {
            self.found.entry_count += 1;
            let is_known = (1..self.counters.next_entry).contains(&entry);
            self.check(is_known, || format!("entry {entry} has an id that was not given out"));
            let record = Record::of(schema.records.get(tx, Location(location))?)?;
            let (mut group, mut of_group) = (None, 0);
            for term in record.terms() {
                let term = term?;
                if term.kind.is_value() {
                    StoredTerm::decode(term.kind, term.bytes)?;
                }
                let is_known = self.fields.contains(&term.field);
                self.check(is_known, || format!("entry {entry} has a term in {:?}, which has no name", term.field));
                pairs.terms += u64::from(term.kind.is_listed());
                let place = (term.field, term.kind);
                of_group = if group == Some(place) { of_group + 1 } else { 1 };
                group = Some(place);
                // The first of a field and kind makes it present, the second makes it have several.
                pairs.presence += u64::from(of_group <= 2 && term.kind.has_presence());
            }
            let is_of_document = self.snapshot.entries_of(record.document)?.contains(&EntryId(entry));
            self.check(is_of_document, || format!("entry {entry} is not one of '{}'", record.document.escape_debug()));
        }
        let (found, counted) = (self.found.entry_count, self.counters.entry_count);
        self.check(found == counted, || format!("{found} entries, {counted} counted"));
        Ok(pairs)
    }

    fn postings(&mut self) -> Result<Pairs> {
        let mut pairs = Pairs::default();
        let mut open: Option<OpenList> = None;
        let mut cursor = self.snapshot.schema().postings.cursor(self.snapshot.tx());
        while let Some((key, value)) = cursor.next()? {
            let found = PostingKey::of(key)?;
            if let Some(first) = found.block {
                let Some(list) = open.as_mut().filter(|list| list.head == found.head && list.last_block.is_some())
                else {
                    self.check(false, || format!("block {first} has no head of a long list before it"));
                    continue;
                };
                list.block = first;
                self.check(value.len() <= BLOCK_SIZE_MAX, || format!("block {first} is too large"));
                self.ids(list, list::block(first, value)?, &mut pairs)?;
                continue;
            }
            self.end(open.take());
            let mut term = Vec::new();
            key::term_into(&mut term, found.head)?;
            let head = Head::of(value)?;
            let mut list = OpenList {
                head: found.head.to_vec(),
                field: found.field,
                kind: found.kind,
                term,
                count: head.count,
                seen: 0,
                last: 0,
                last_block: None,
                block: 0,
            };
            self.found.term_count += u64::from(found.kind != ListKind::Presence);
            if found.kind == ListKind::Term(Kind::Vector) {
                let has_node = self.snapshot.has_vector(found.field, &list.term)?;
                self.check(has_node, || format!("the vector {:?} of {:?} has no node", list.term, list.field));
            }
            match head.content {
                Content::Short(runs) => self.ids(&mut list, runs, &mut pairs)?,
                Content::Long { last_block } => list.last_block = Some(last_block),
            }
            open = Some(list);
        }
        self.end(open);
        self.found.posting_count = pairs.terms;
        Ok(pairs)
    }

    /// Checks ids of a list against the records.
    fn ids(&mut self, list: &mut OpenList, runs: Runs<'_>, pairs: &mut Pairs) -> Result<()> {
        for run in runs {
            let run = run?;
            self.check(list.last < run.first, || format!("ids of {:?} {:?} do not rise", list.field, list.term));
            list.last = run.last;
            for entry in run.first..=run.last {
                list.seen += 1;
                let record = self.snapshot.entry(EntryId(entry))?;
                let has_it = match record {
                    None if run.last >= self.counters.next_entry => break,
                    None => false,
                    Some(record) => has_term(record.record(), list)?,
                };
                match list.kind {
                    ListKind::Presence => pairs.presence += 1,
                    ListKind::Term(_) => pairs.terms += 1,
                }
                self.check(has_it, || format!("entry {entry} has not the term {:?} of {:?}", list.term, list.field));
            }
            let is_known = run.last < self.counters.next_entry;
            self.check(is_known, || format!("a list of {:?} has {}, which is no entry", list.field, run.last));
        }
        Ok(())
    }

    fn end(&mut self, list: Option<OpenList>) {
        let Some(list) = list else { return };
        let (seen, count) = (list.seen, list.count);
        self.check(seen == count, || format!("{seen} ids of {:?} {:?}, {count} counted", list.field, list.term));
        let is_last = list.last_block.is_none_or(|last| last == list.block);
        self.check(is_last, || format!("the head of {:?} {:?} names another last block", list.field, list.term));
    }

    fn documents(&mut self) -> Result<()> {
        let mut entries = 0;
        let mut cursor = self.snapshot.schema().documents.cursor(self.snapshot.tx());
        while let Some((key, value)) = cursor.next()? {
            self.found.document_count += 1;
            for run in Runs::new(value, 0) {
                let run = run?;
                for entry in run.first..=run.last {
                    entries += 1;
                    let found = self.snapshot.entry(EntryId(entry))?;
                    let agrees = found.is_some_and(|found| id::lower(found.document()) == key);
                    self.check(agrees, || format!("entry {entry} is not of the document that names it"));
                    if !agrees {
                        break;
                    }
                }
            }
        }
        let (found, counted) = (self.found.document_count, self.counters.document_count);
        self.check(found == counted, || format!("{found} documents, {counted} counted"));
        let counted = self.counters.entry_count;
        self.check(entries == counted, || format!("documents have {entries} entries of {counted}"));
        Ok(())
    }
}

fn has_term(record: Record<'_>, list: &OpenList) -> Result<bool> {
    let mut of_kind = 0;
    for term in record.terms() {
        let term = term?;
        let found = match list.kind {
            ListKind::Term(kind) => term == RecordTerm { field: list.field, kind, bytes: &list.term },
            ListKind::Presence if term.field != list.field => false,
            ListKind::Presence => {
                of_kind += usize::from(list.term == [key::several(term.kind)]);
                list.term == [term.kind as u8] || of_kind > 1
            }
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::schema::Schema;
    use crate::index::{Batch, Entry, Index, Kind, Term};
    use storage::{Options, WriteTransaction};

    /// Two documents of two fields, and then a change behind the index's back.
    fn problems(damage: impl Fn(&Schema, &mut WriteTransaction<'_>) -> storage::Result<()> + Sync) -> Vec<String> {
        let index = Index::in_memory(Options::default()).unwrap();
        let fields = ["Name", "Age"].map(|name| index.field(name).unwrap());
        let mut batch = Batch::new();
        for id in ["users/1", "users/2"] {
            let mut entry = Entry::new();
            entry.add(fields[0], Term::Text("rook")).unwrap();
            entry.add(fields[1], Term::Text(id)).unwrap();
            batch.put(id, 1, &mut [entry]).unwrap();
        }
        index.write(&batch).unwrap();
        assert_eq!(index.read().unwrap().verify().unwrap().problems, Vec::<String>::new());
        let schema = *index.read().unwrap().schema();
        index.environment().write(|tx| damage(&schema, tx)).unwrap();
        let found = index.read().unwrap().verify().unwrap();
        assert_eq!(found.problem_count, found.problems.len() as u64);
        found.problems
    }

    fn head(field: u16, kind: ListKind, term: &[u8]) -> Vec<u8> {
        let mut key = Vec::new();
        key::put_head(&mut key, FieldNumber(field), kind, term);
        key
    }

    fn short(count: u64, tokens: &[u8]) -> Vec<u8> {
        let mut value = Vec::new();
        Head::put_short(&mut value, count);
        value.extend_from_slice(tokens);
        value
    }

    #[test]
    fn what_disagrees_is_found_from_either_side() {
        let text = ListKind::Term(Kind::Text);
        let rook = head(0, text, b"rook");
        // A list that is gone, one too short, one too long, one miscounted, one of a term that nobody has.
        assert!(!problems(|schema, tx| schema.postings.delete(tx, &rook).map(drop)).is_empty());
        assert!(!problems(|schema, tx| schema.postings.put(tx, &rook, &short(1, &[0]))).is_empty());
        assert!(!problems(|schema, tx| schema.postings.put(tx, &rook, &short(3, &[1, 2]))).is_empty());
        assert!(!problems(|schema, tx| schema.postings.put(tx, &rook, &short(1, &[1, 1]))).is_empty());
        let other = head(1, text, b"jackdaw");
        assert!(!problems(|schema, tx| schema.postings.put(tx, &other, &short(1, &[0]))).is_empty());
        // Which entries have any text.
        let present = head(1, ListKind::Presence, &[Kind::Text as u8]);
        assert!(!problems(|schema, tx| schema.postings.put(tx, &present, &short(1, &[0]))).is_empty());
        // Which have several: none, and who is said to has to be missed.
        let several = head(1, ListKind::Presence, &[key::several(Kind::Text)]);
        assert!(!problems(|schema, tx| schema.postings.put(tx, &several, &short(1, &[0]))).is_empty());
        // Documents and entries.
        assert!(!problems(|schema, tx| schema.documents.delete(tx, b"users/2").map(drop)).is_empty());
        assert!(!problems(|schema, tx| schema.documents.put(tx, b"users/2", &[0])).is_empty());
        assert!(!problems(|schema, tx| schema.entries.delete(tx, 2).map(drop)).is_empty());
        assert!(!problems(|schema, tx| schema.fields.delete(tx, b"Age").map(drop)).is_empty());
    }
}
