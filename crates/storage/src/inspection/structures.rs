//! The structures of an environment by their names, for those who copy all of them.

use crate::contents::Contents;
use crate::error::Result;
use crate::heap::records::Records;
use crate::ids::PageNumber;
use crate::page::Kind;
use crate::space::CATALOG_ROOT;
use crate::transaction::Reader;
use crate::tree::Tree;
use crate::tree::catalog;
use crate::tree::fixed::FixedTree;

/// A structure of an environment.
#[derive(Clone, Copy, Debug)]
pub enum Structure {
    /// A tree.
    Tree(Tree),
    /// A fixed tree.
    FixedTree(FixedTree),
    /// Records, which have places in place of keys.
    Records(Records),
    /// Contents.
    Contents(Contents),
}

impl Structure {
    /// All structures with their names, in the order of these.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the catalog cannot be read.
    pub fn all(reader: &impl Reader) -> Result<Vec<(Vec<u8>, Structure)>> {
        let named = |(name, kind, _): (Vec<u8>, u8, PageNumber)| {
            let is = |wanted: Kind| kind == wanted as u8;
            let structure = if is(Kind::Tree) {
                Tree::open(reader, &name)?.map(Structure::Tree)
            } else if is(Kind::FixedTree) {
                FixedTree::open(reader, &name)?.map(Structure::FixedTree)
            } else if is(Kind::State) {
                Records::open(reader, &name)?.map(Structure::Records)
            } else {
                Contents::open(reader, &name)?.map(Structure::Contents)
            };
            let unknown = "a name of the catalog stands for an unknown kind of structure";
            Ok((name, structure.ok_or_else(|| reader.corrupt(CATALOG_ROOT, unknown))?))
        };
        catalog::all(reader)?.into_iter().map(named).collect()
    }
}
