//! Keeping the tree of constraints while documents are written, making constraints and deleting them.

use json::Raw;
use storage::{Location, Tree};

use super::duplicate::Duplicate;
use super::{CONSTRAINT, CONSTRAINTS, ConstraintChange, Pending, Prepared, UniqueConstraint};
use crate::definitions::DEFINITIONS;
use crate::ids::id;
use crate::items::found::Existing;
use crate::items::kinds::ItemKind;
use crate::items::record::Head;
use crate::limits::{CONSTRAINTS_MAX, DUPLICATES_TOLD_MAX};
use crate::{Error, Flags, Result, Writing};

/// The body of a document that is constrained, and the record that it is replaced or removed from.
pub(crate) struct Changed<'c> {
    pub key: &'c [u8],
    /// The place of its collection.
    pub place: usize,
    pub before: Option<&'c Existing>,
    /// `None`: it is deleted.
    pub after: Option<(Flags, &'c [u8])>,
}

impl Writing<'_, '_> {
    /// Keeps the tree of constraints when a document is stored or deleted, before its record is.
    #[inline]
    pub(crate) fn change_unique(&mut self, kind: ItemKind, changed: &Changed<'_>) -> Result<()> {
        if kind != ItemKind::Document {
            return Ok(());
        }
        if self.unique.prepared.is_none() {
            self.unique.tree = Tree::open(&*self.tx, CONSTRAINTS)?;
            self.unique.prepared =
                Some(if self.unique.tree.is_some() { Prepared::all(&*self.tx)? } else { Vec::new() });
        }
        match (self.unique.tree, self.unique.prepared.take()) {
            (Some(tree), Some(prepared)) => {
                let kept = self.change_entries_of(tree, &prepared, changed);
                self.unique.prepared = Some(prepared);
                kept
            }
            (_, prepared) => {
                self.unique.prepared = prepared;
                Ok(())
            }
        }
    }

    fn change_entries_of(&mut self, tree: Tree, all: &[Prepared], changed: &Changed<'_>) -> Result<()> {
        let collection = id::lower(&self.collection(changed.place).name);
        for prepared in all.iter().filter(|prepared| id::lower(&prepared.constraint.collection) == collection) {
            let before = match changed.before {
                Some(Existing { location, head, .. }) if !head.flags.is_of_index() => {
                    let record = self.store.schema.records.get(&*self.tx, *location)?;
                    prepared.entry(record.get(head.body_at()..).unwrap_or_default())
                }
                _ => None,
            };
            let after = changed.after.filter(|(flags, _)| !flags.is_of_index());
            let entry = after.and_then(|(_, body)| prepared.entry(body));
            if before == entry {
                continue;
            }
            if let Some(before) = before
                && tree.get(&*self.tx, &before)? == Some(changed.key)
            {
                tree.delete(self.tx, &before)?;
            }
            let Some(entry) = entry else { continue };
            match tree.get(&*self.tx, &entry)? {
                Some(other) if other != changed.key => self.unique.pending.push(Pending {
                    entry,
                    document: changed.key.to_vec(),
                    constraint: prepared.constraint.name.clone(),
                    fields: prepared.constraint.fields.clone(),
                }),
                _ => tree.put(self.tx, &entry, changed.key)?,
            }
        }
        Ok(())
    }

    /// Looks again at values that were taken when a document got them. Called when all of a write is done.
    ///
    /// # Errors
    ///
    /// [`Error::NotUnique`], or storage fails. The transaction must then be rolled back.
    pub(crate) fn check_unique(&mut self) -> Result<()> {
        let Some(tree) = self.unique.tree else { return Ok(()) };
        for Pending { entry, document, constraint, fields } in std::mem::take(&mut self.unique.pending) {
            // It may have got other values since, or have been deleted.
            if !self.has_entry(&document, &entry)? {
                continue;
            }
            match tree.get(&*self.tx, &entry)? {
                Some(other) if other != document => {
                    let other = String::from_utf8_lossy(other).into_owned();
                    let id = String::from_utf8_lossy(&document).into_owned();
                    return Err(Error::NotUnique { constraint, fields, id, other });
                }
                _ => tree.put(self.tx, &entry, &document)?,
            }
        }
        Ok(())
    }

    /// Whether a stored document has this entry in one of the constraints.
    fn has_entry(&mut self, key: &[u8], entry: &[u8]) -> Result<bool> {
        let Some(existing) = self.find_item(ItemKind::Document, key)? else { return Ok(false) };
        if existing.head.flags.is_of_index() {
            return Ok(false);
        }
        let place = self.collection_by_number(existing.head.collection)?;
        let collection = id::lower(&self.collection(place).name);
        let record = self.store.schema.records.get(&*self.tx, existing.location)?;
        let body = record.get(existing.head.body_at()..).unwrap_or_default();
        let all = self.unique.prepared.as_deref().unwrap_or_default();
        let mut of_collection = all.iter().filter(|prepared| id::lower(&prepared.constraint.collection) == collection);
        Ok(of_collection.any(|prepared| prepared.entry(body).as_deref() == Some(entry)))
    }

    /// Makes a constraint, or deletes one; how many there were of its name.
    pub(crate) fn change_constraint(&mut self, change: &ConstraintChange) -> Result<u64> {
        let all = Prepared::all(&*self.tx)?;
        let name = match change {
            ConstraintChange::Put(constraint) => &constraint.name,
            ConstraintChange::Delete(name) => name,
        };
        let known = all.iter().find(|known| id::is_same(&known.constraint.name, name));
        if let Some(known) = known {
            self.remove_entries(known.number)?;
            self.delete_definition(CONSTRAINT, name)?;
        }
        if let ConstraintChange::Put(constraint) = change {
            constraint.check()?;
            if known.is_none() && all.len() >= CONSTRAINTS_MAX {
                let rule = format!(
                    "the database has as many constraints as the limit CONSTRAINTS_MAX of {CONSTRAINTS_MAX} allows"
                );
                return Err(Error::BadConstraint { rule });
            }
            let number = all.iter().map(|known| known.number).max().unwrap_or_default() + 1;
            self.build(constraint, number)?;
            self.put_definition(CONSTRAINT, name, 0, &constraint.encode(number))?;
        }
        // What is written later in this job reads them anew.
        self.unique.prepared = None;
        Ok(u64::from(known.is_some()))
    }

    fn remove_entries(&mut self, number: u32) -> Result<()> {
        let Some(tree) = Tree::open(&*self.tx, CONSTRAINTS)? else { return Ok(()) };
        let prefix = number.to_be_bytes();
        loop {
            let mut entries = Vec::new();
            let mut cursor = tree.cursor(&*self.tx);
            let mut found = cursor.seek(&prefix)?;
            while let Some((key, _)) =
                found.filter(|(key, _)| key.starts_with(&prefix) && entries.len() < REMOVED_AT_ONCE)
            {
                entries.push(key.to_vec());
                found = cursor.next()?;
            }
            if entries.is_empty() {
                return Ok(());
            }
            entries.iter().try_for_each(|entry| tree.delete(self.tx, entry).map(drop))?;
        }
    }

    /// Adds the documents that there are.
    fn build(&mut self, constraint: &UniqueConstraint, number: u32) -> Result<()> {
        let tree = Tree::open_or_create(self.tx, CONSTRAINTS)?;
        // The tree of definitions is made with it, so that readers find both.
        Tree::open_or_create(self.tx, DEFINITIONS)?;
        let prepared = Prepared::new(constraint.clone(), number);
        let Some(place) = self.find_collection(&constraint.collection)? else { return Ok(()) };
        let items = self.items_of(place, ItemKind::Document)?;
        let mut locations = Vec::new();
        let mut cursor = items.cursor(&*self.tx);
        while let Some((_, location)) = cursor.next()? {
            locations.push(location);
        }
        let (mut duplicates, mut duplicate_count) = (Vec::new(), 0_u64);
        for location in locations {
            let record = self.store.schema.records.get(&*self.tx, Location(location))?;
            let head = Head::decode(record)?;
            if head.flags.is_of_index() {
                continue;
            }
            let body = record.get(head.body_at()..).unwrap_or_default();
            let Some(entry) = prepared.entry(body) else { continue };
            let key = ItemKind::Document.key(crate::items::record::id(&head, record)?);
            let Some(other) = tree.get(&*self.tx, &entry)? else {
                tree.put(self.tx, &entry, &key)?;
                continue;
            };
            duplicate_count += 1;
            if duplicates.len() < DUPLICATES_TOLD_MAX {
                let ids = [other, &key].map(|key| String::from_utf8_lossy(key).into_owned());
                duplicates.push(Duplicate { values: prepared.values(Raw::new(body).bytes()), ids });
            }
        }
        match duplicate_count {
            0 => Ok(()),
            _ => Err(Error::Duplicates { constraint: constraint.name.clone(), duplicate_count, duplicates }),
        }
    }
}

/// Entries of a deleted constraint that are removed between two looks.
const REMOVED_AT_ONCE: usize = 4096;
