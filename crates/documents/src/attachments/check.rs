//! The rules of attachments, for `verify`: a document lists its attachments, an attachment has its document and its content, and a content
//! counts the references to it.

use std::collections::HashMap;

use storage::{ReadTransaction, Reader};

use super::contents::{open, reference_count};
use super::hash::ContentHash;
use super::list;
use crate::ids::id;
use crate::items::kinds::ItemKind;
use crate::items::record::{self, Head};
use crate::items::schema::Schema;
use crate::store::Names;
use crate::wire::server_metadata::property;
use crate::{Item, Result};

/// How often each content is referred to, as far as items were read.
pub(crate) type ContentUses = HashMap<ContentHash, u64>;

/// Whether a document lists its attachments. Outer error: storage. Inner error: a broken rule.
pub(crate) fn check_document(
    schema: &Schema,
    names: &Names,
    tx: &ReadTransaction<'_>,
    item: &Item<'_>,
    key: &[u8],
) -> Result<Result<(), String>> {
    let listed = property(record::server_metadata(&item.head, item.record), list::PROPERTY);
    if listed.is_some() != item.head.flags.has_attachments() {
        let rule = format!("'{}' has the flag of attachments and no list, or a list and no flag", item.id());
        return Ok(Err(rule));
    }
    if listed.is_none() || listed == list::value(schema, names, tx, key)? {
        return Ok(Ok(()));
    }
    Ok(Err(format!("the attachments of '{}' are not those that it lists", item.id())))
}

/// Whether an attachment has its document and its content. Outer error: storage. Inner error: a broken rule.
pub(crate) fn check_attachment(
    schema: &Schema,
    tx: &ReadTransaction<'_>,
    item: &Item<'_>,
    uses: &mut ContentUses,
) -> Result<Result<(), String>> {
    let Ok(Some(attachment)) = item.attachment() else {
        return Ok(Err("an attachment has no hash, size and type".to_owned()));
    };
    *uses.entry(attachment.hash()).or_default() += 1;
    let described = || format!("the attachment '{}' of '{}'", attachment.name(), attachment.document_id());
    let document = match schema.location_of(tx, ItemKind::Document, &id::lower(attachment.document_id()))? {
        Some(at) => Head::decode(schema.records.get(tx, at)?).ok(),
        None => None,
    };
    let is_listed = |head: Head| head.flags.has_attachments() && head.collection == item.head.collection;
    if !document.is_some_and(is_listed) {
        return Ok(Err(format!("{} has no document that lists it", described())));
    }
    let content = match open(tx)? {
        Some(contents) => contents.find(tx, &attachment.hash().0)?,
        None => None,
    };
    Ok(match content {
        Some(content) if content.length == attachment.size() => Ok(()),
        Some(content) => {
            Err(format!("{} has {} bytes, its content {}", described(), attachment.size(), content.length))
        }
        None => Err(format!("{} has no content", described())),
    })
}

/// Gives the problems of contents, once all that refers to them was read.
pub(crate) fn check_contents(schema: &Schema, reader: &impl Reader, uses: &ContentUses) -> Result<Vec<String>> {
    let (mut problems, mut count, mut references) = (Vec::new(), 0, 0);
    let mut missing: ContentUses = uses.clone();
    if let Some(contents) = open(reader)? {
        contents.for_each(reader, |hash, content| {
            count += 1;
            references += content.references;
            let hash = hash.try_into().ok().map(ContentHash);
            hash.map(|hash| missing.remove(&hash));
            let found = hash.and_then(|hash| uses.get(&hash)).copied().unwrap_or_default();
            if found != content.references {
                let hash = hash.map_or_else(|| "of another length".to_owned(), |hash| hash.to_string());
                problems.push(format!("the content {hash} counts {} references, but has {found}", content.references));
            }
            Ok::<_, crate::Error>(())
        })?;
    }
    let lost = missing.iter().filter(|(_, references)| **references > 0);
    problems.extend(lost.map(|(hash, count)| format!("the content {hash} has {count} references, but is not there")));
    match schema.content_count(reader) {
        Ok(counted) if counted == count => {}
        counted => problems.push(format!("contents are counted as {counted:?}, but there are {count}")),
    }
    match reference_count(schema, reader) {
        Ok(counted) if counted == references => {}
        counted => {
            problems.push(format!("references to contents are counted as {counted:?}, but there are {references}"))
        }
    }
    Ok(problems)
}
