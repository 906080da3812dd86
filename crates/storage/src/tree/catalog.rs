//! The catalog: a tree from the name of each structure to its kind and root. Page 3 is its root.

use super::Tree;
use crate::error::Result;
use crate::ids::PageNumber;
use crate::page::Kind;
use crate::space::CATALOG_ROOT;
use crate::transaction::{Reader, WriteTransaction};

/// The catalog itself.
pub(crate) const CATALOG: Tree = Tree { root: CATALOG_ROOT };

fn decode(entry: &[u8]) -> Option<(u8, PageNumber)> {
    let (kind, root) = entry.split_first()?;
    Some((*kind, PageNumber(u64::from_le_bytes(*root.first_chunk()?))))
}

/// The root of a structure. `None`: it was not made.
pub(crate) fn find(reader: &impl Reader, name: &[u8], kind: Kind) -> Result<Option<PageNumber>> {
    let Some(entry) = CATALOG.get(reader, name)? else { return Ok(None) };
    match decode(entry) {
        Some((found, root)) if found == kind as u8 => Ok(Some(root)),
        _ => Err(reader.corrupt(CATALOG_ROOT, "a name of the catalog stands for another kind of structure")),
    }
}

/// Adds a structure.
pub(crate) fn add(tx: &mut WriteTransaction<'_>, name: &[u8], kind: Kind, root: PageNumber) -> Result<()> {
    let mut entry = [0; 9];
    entry[0] = kind as u8;
    entry[1..].copy_from_slice(&root.0.to_le_bytes());
    CATALOG.put(tx, name, &entry)
}

/// Removes a structure's name; its pages were freed.
pub(crate) fn remove(tx: &mut WriteTransaction<'_>, name: &[u8]) -> Result<()> {
    CATALOG.delete(tx, name).map(drop)
}

/// All structures: name, kind and root.
pub(crate) fn all(reader: &impl Reader) -> Result<Vec<(Vec<u8>, u8, PageNumber)>> {
    let mut cursor = CATALOG.cursor(reader);
    let mut structures = Vec::new();
    while let Some((name, entry)) = cursor.next()? {
        let (kind, root) =
            decode(entry).ok_or_else(|| reader.corrupt(CATALOG_ROOT, "an entry of the catalog is cut"))?;
        structures.push((name.to_vec(), kind, root));
    }
    Ok(structures)
}
