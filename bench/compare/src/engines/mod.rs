//! The engines behind one small trait. Everything is statically dispatched.

#[cfg(feature = "fjall")]
pub mod fjall;
pub mod floor;
#[cfg(feature = "lmdb")]
pub mod lmdb;
#[cfg(any(feature = "lmdb", feature = "mdbx"))]
mod lmdb_like;
#[cfg(feature = "mdbx")]
pub mod mdbx;
#[cfg(feature = "redb")]
pub mod redb;
#[cfg(feature = "rocksdb")]
pub mod rocksdb;
#[cfg(feature = "rookery")]
pub mod rookery;
#[cfg(feature = "sqlite")]
pub mod sqlite;

use std::path::Path;

#[derive(Clone, Copy)]
pub struct Opts {
    /// true: a returned commit has reached stable storage.
    pub durable: bool,
}

pub trait Writer {
    fn put(&mut self, k: &[u8], v: &[u8]);
}
pub trait Reader {
    /// Calls f with the value if the key is there.
    fn get(&mut self, k: &[u8], f: impl FnMut(&[u8])) -> bool;
    /// Visits up to `limit` items from `from` on; returns how many.
    fn scan(&mut self, from: &[u8], limit: usize, f: impl FnMut(&[u8], &[u8])) -> usize;
}
pub trait Engine: Sync + Send + Sized {
    const NAME: &'static str;
    /// has a cheaper way of reopening a read transaction (cached handle)
    const RENEW: bool = false;
    /// has reads which need no transaction
    const BARE: bool = false;
    type Handle<'a>
    where
        Self: 'a;
    type W<'a>: Writer
    where
        Self: 'a;
    type R<'a>: Reader
    where
        Self: 'a;
    fn open(dir: &Path, o: Opts) -> Self;
    /// one write transaction; f tells whether to commit
    fn write(&self, h: &mut Self::Handle<'_>, f: impl FnOnce(&mut Self::W<'_>));
    /// per-thread state (connections, cached transaction handles)
    fn handle(&self, renew: bool) -> Self::Handle<'_>;
    /// one read transaction, opened and closed here
    fn read<T>(&self, h: &mut Self::Handle<'_>, f: impl FnOnce(&mut Self::R<'_>) -> T) -> T;
    /// open and close a read transaction, reading nothing
    fn read_nothing(&self, h: &mut Self::Handle<'_>);
    /// a point read without a transaction, where BARE
    fn bare_get(&self, _h: &mut Self::Handle<'_>, _k: &[u8], _f: impl FnMut(&[u8])) -> bool {
        false
    }
    /// wait for background work
    fn settle(&self) {}
    /// shape of the tree, if known
    fn note(&self) -> String {
        String::new()
    }
}
