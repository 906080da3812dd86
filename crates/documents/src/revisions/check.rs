//! The rules of revisions, for `verify`.

use std::collections::HashMap;

use json::Minifier;
use storage::{Location, ReadTransaction};

use super::imported::check_vector;
use super::read::{place_of_vector, put_together};
use super::stored::Stored;
use super::{key, read};
use crate::attachments::check::ContentUses;
use crate::document::check_document;
use crate::ids::id;
use crate::items::kinds::ItemKind;
use crate::items::schema::Schema;
use crate::store::Names;
use crate::{Etag, Flags, Item, Result};

/// The revisions that need each base, as they were found.
#[derive(Debug, Default)]
pub(crate) struct FoundBases(HashMap<Etag, u64>);

/// Checks a revision. Outer error: storage. Inner error: a broken rule.
pub(crate) fn check_revision(
    (schema, names, tx): (&Schema, &Names, &ReadTransaction<'_>),
    item: &Item<'_>,
    collection: &str,
    minifier: &mut Minifier,
    (bases, content_uses): (&mut FoundBases, &mut ContentUses),
) -> Result<Result<(), String>> {
    let shown = format!("the revision of '{}' with etag {}", item.document_id(), item.etag());
    let Some(vector) = item.vector.filter(|vector| check_vector(vector).is_ok()) else {
        return Ok(Err(format!("{shown} has no change vector in stored form")));
    };
    let by_vector = match place_of_vector(schema, tx, vector) {
        Err(error @ crate::Error::Storage(_)) => return Err(error),
        Err(error) => return Ok(Err(format!("{shown}: {error}"))),
        Ok(found) => found,
    };
    if by_vector.is_none_or(|at| !is_at(schema, tx, at, item.etag())) {
        return Ok(Err(format!("the change vector of {shown} does not lead to it")));
    }
    if !item.stored_metadata().is_empty() || item.head.server_size > 0 {
        return Ok(Err(format!("{shown} has metadata of its own")));
    }
    match Stored::decode(item.body()) {
        Ok(stored) => stored.base().into_iter().for_each(|base| *bases.0.entry(base).or_default() += 1),
        Err(error) => return Ok(Err(format!("{shown}: {error}"))),
    }
    let whole = match put_together(schema, names, tx, item) {
        Err(crate::Error::Corrupt { rule }) => return Ok(Err(format!("{shown} breaks a rule: {rule}"))),
        whole => whole?,
    };
    if item.flags().has_attachments() {
        super::contents::count(whole.document()?.server_metadata(), content_uses);
    }
    if let Err(problem) = check_document(&whole.document()?.item, collection, minifier) {
        return Ok(Err(format!("{shown}: {problem}")));
    }
    let document_key = id::lower(item.document_id());
    let is_last = match read::revision_below(schema, tx, &document_key, &key::end_of(&document_key))? {
        Some((_, location)) => is_at(schema, tx, location, item.etag()),
        None => false,
    };
    let is_deleted = schema.location_of(tx, ItemKind::Document, &document_key)?.is_none();
    let belongs = item.flags().has(Flags::DELETE_REVISION) && is_last && is_deleted;
    let is_in_bin = schema.revisions.bin.get(tx, item.etag())?.is_some();
    Ok(match is_in_bin == belongs {
        true => Ok(()),
        false => Err(format!("{shown} is in the bin: {is_in_bin}, which is wrong")),
    })
}

fn is_at(schema: &Schema, tx: &ReadTransaction<'_>, location: Location, etag: Etag) -> bool {
    schema.kinds[ItemKind::Revision].by_etag.get(tx, etag).is_ok_and(|found| found == Some(location.0))
}

/// Checks what belongs to no single revision: bases, counts of those who need them, and how many entries the trees have.
///
/// * `count`: revisions.
pub(crate) fn check_trees(
    schema: &Schema,
    tx: &ReadTransaction<'_>,
    found: &FoundBases,
    count: u64,
) -> Result<Vec<String>> {
    let trees = &schema.revisions;
    let mut problems = Vec::new();
    let mut cursor = trees.base_users.cursor(tx);
    let mut users = HashMap::new();
    while let Some((base, count)) = cursor.next()? {
        users.insert(base, count);
    }
    let mut cursor = trees.bases.cursor(tx);
    let mut base_count = 0;
    while let Some((base, location)) = cursor.next()? {
        base_count += 1;
        if let Err(error) = schema.records.get(tx, Location(location)) {
            problems.push(format!("the base {base} of revisions: {error}"));
        }
        if users.get(&base) != found.0.get(&base) {
            let (kept, needed) = (users.get(&base), found.0.get(&base));
            problems.push(format!("the base {base} counts {kept:?} revisions, but {needed:?} need it"));
        }
    }
    if base_count != found.0.len() || base_count != users.len() {
        let needed = found.0.len();
        problems.push(format!("{base_count} bases are there, {needed} are needed, {} are counted", users.len()));
    }
    let mut cursor = trees.by_vector.cursor(tx);
    let mut vector_count = 0;
    while cursor.next()?.is_some() {
        vector_count += 1;
    }
    if vector_count != count {
        problems.push(format!("{vector_count} change vectors lead to {count} revisions"));
    }
    let mut cursor = trees.bin.cursor(tx);
    while let Some((etag, _)) = cursor.next()? {
        if schema.kinds[ItemKind::Revision].by_etag.get(tx, etag)?.is_none() {
            problems.push(format!("the bin has etag {etag}, which is of no revision"));
        }
    }
    Ok(problems)
}
