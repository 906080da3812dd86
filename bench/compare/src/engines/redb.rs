//! redb.

use super::*;
use ::redb::*;
const T: TableDefinition<&[u8], &[u8]> = TableDefinition::new("kv");
pub struct Redb {
    db: Database,
    durable: bool,
    n: std::sync::atomic::AtomicU32,
}
pub struct W<'a>(Table<'a, &'static [u8], &'static [u8]>);
impl Writer for W<'_> {
    fn put(&mut self, k: &[u8], v: &[u8]) {
        self.0.insert(k, v).unwrap();
    }
}
pub struct R<'a>(ReadOnlyTable<&'static [u8], &'static [u8]>, std::marker::PhantomData<&'a ()>);
impl Reader for R<'_> {
    fn get(&mut self, k: &[u8], mut f: impl FnMut(&[u8])) -> bool {
        match self.0.get(k).unwrap() {
            Some(v) => {
                f(v.value());
                true
            }
            None => false,
        }
    }
    fn scan(&mut self, from: &[u8], limit: usize, mut f: impl FnMut(&[u8], &[u8])) -> usize {
        let mut n = 0;
        for e in self.0.range(from..).unwrap().take(limit) {
            let (k, v) = e.unwrap();
            f(k.value(), v.value());
            n += 1;
        }
        n
    }
}
impl Engine for Redb {
    const NAME: &'static str = "redb";
    type Handle<'a> = ();
    type W<'a> = W<'a>;
    type R<'a> = R<'a>;
    fn open(dir: &Path, o: Opts) -> Self {
        std::fs::create_dir_all(dir).unwrap();
        let db = Database::builder().set_cache_size(2 << 30).create(dir.join("redb.db")).unwrap();
        let me = Redb { db, durable: o.durable, n: Default::default() };
        me.write(&mut (), |_| ());
        me
    }
    fn handle(&self, _: bool) {}
    fn write(&self, _: &mut (), f: impl FnOnce(&mut W<'_>)) {
        let mut t = self.db.begin_write().unwrap();
        // pages freed by non-durable commits are reusable only after a durable one: one in 64 here
        let durable = self.durable || self.n.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 64 == 63;
        t.set_durability(if durable { Durability::Immediate } else { Durability::None }).unwrap();
        f(&mut W(t.open_table(T).unwrap()));
        t.commit().unwrap();
    }
    fn read<X>(&self, _: &mut (), f: impl FnOnce(&mut R<'_>) -> X) -> X {
        let t = self.db.begin_read().unwrap();
        let r = f(&mut R(t.open_table(T).unwrap(), std::marker::PhantomData));
        drop(t);
        r
    }
    fn read_nothing(&self, _: &mut ()) {
        drop(self.db.begin_read().unwrap());
    }
    fn note(&self) -> String {
        let t = self.db.begin_read().unwrap().open_table(T).unwrap();
        let s = t.stats().unwrap();
        format!("depth {} leaf {} branch {}", s.tree_height(), s.leaf_pages(), s.branch_pages())
    }
}
