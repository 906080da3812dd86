//! fjall.

use super::*;
use ::fjall::*;
pub struct Fjall {
    db: Database,
    ks: Keyspace,
    durable: bool,
}
pub struct W<'a>(OwnedWriteBatch, &'a Keyspace);
impl Writer for W<'_> {
    fn put(&mut self, k: &[u8], v: &[u8]) {
        self.0.insert(self.1, k, v);
    }
}
pub struct R<'a>(Snapshot, &'a Keyspace);
impl Reader for R<'_> {
    fn get(&mut self, k: &[u8], mut f: impl FnMut(&[u8])) -> bool {
        match self.0.get(self.1, k).unwrap() {
            Some(v) => {
                f(&v);
                true
            }
            None => false,
        }
    }
    fn scan(&mut self, from: &[u8], limit: usize, mut f: impl FnMut(&[u8], &[u8])) -> usize {
        let mut n = 0;
        for g in self.0.range(self.1, from..).take(limit) {
            let (k, v) = g.into_inner().unwrap();
            f(&k, &v);
            n += 1;
        }
        n
    }
}
impl Engine for Fjall {
    const NAME: &'static str = "fjall";
    const BARE: bool = true;
    type Handle<'a> = ();
    type W<'a> = W<'a>;
    type R<'a> = R<'a>;
    fn open(dir: &Path, o: Opts) -> Self {
        let db = Database::builder(dir).cache_size(2 << 30).journal_compression(CompressionType::None).open().unwrap();
        let ks = db
            .keyspace("kv", || {
                KeyspaceCreateOptions::default().data_block_compression_policy(config::CompressionPolicy::disabled())
            })
            .unwrap();
        Fjall { db, ks, durable: o.durable }
    }
    fn handle(&self, _: bool) {}
    fn write(&self, _: &mut (), f: impl FnOnce(&mut W<'_>)) {
        let mut w =
            W(self.db.batch().durability(if self.durable { Some(PersistMode::SyncData) } else { None }), &self.ks);
        f(&mut w);
        w.0.commit().unwrap();
    }
    fn read<X>(&self, _: &mut (), f: impl FnOnce(&mut R<'_>) -> X) -> X {
        f(&mut R(self.db.snapshot(), &self.ks))
    }
    fn read_nothing(&self, _: &mut ()) {
        drop(self.db.snapshot());
    }
    fn bare_get(&self, _: &mut (), k: &[u8], mut f: impl FnMut(&[u8])) -> bool {
        match self.ks.get(k).unwrap() {
            Some(v) => {
                f(&v);
                true
            }
            None => false,
        }
    }
    fn settle(&self) {
        self.ks.rotate_memtable_and_wait().unwrap();
        self.ks.major_compact().unwrap();
        while self.db.outstanding_flushes() > 0 || self.db.active_compactions() > 0 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}
