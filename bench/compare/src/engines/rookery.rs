//! Rookery.

use super::*;
use storage::{Durability, Environment, Options, ReadTransaction, Tree, WriteTransaction};

pub struct Rookery {
    environment: Environment,
    tree: Tree,
}
pub struct W<'a>(&'a mut WriteTransaction<'a>, Tree);
impl Writer for W<'_> {
    #[inline]
    fn put(&mut self, k: &[u8], v: &[u8]) {
        self.1.put(self.0, k, v).unwrap();
    }
}
pub struct R<'a>(&'a ReadTransaction<'a>, Tree);
impl Reader for R<'_> {
    #[inline]
    fn get(&mut self, k: &[u8], mut f: impl FnMut(&[u8])) -> bool {
        match self.1.get(self.0, k).unwrap() {
            Some(v) => {
                f(v);
                true
            }
            None => false,
        }
    }
    fn scan(&mut self, from: &[u8], limit: usize, mut f: impl FnMut(&[u8], &[u8])) -> usize {
        let mut cursor = self.1.cursor(self.0);
        let mut n = 0;
        let mut entry = cursor.seek(from).unwrap();
        while let Some((k, v)) = entry {
            f(k, v);
            n += 1;
            if n == limit {
                break;
            }
            entry = cursor.next().unwrap();
        }
        n
    }
}
/// The benchmark's closures only borrow what all threads may read; the engine runs them on one thread at a time.
struct AssertSend<T>(T);
unsafe impl<T> Send for AssertSend<T> {}
impl<T> AssertSend<T> {
    fn into_inner(self) -> T {
        self.0
    }
}
impl Engine for Rookery {
    const NAME: &'static str = "rookery";
    type Handle<'a> = ();
    type W<'a> = W<'a>;
    type R<'a> = R<'a>;
    fn open(dir: &Path, o: Opts) -> Self {
        let durability = if o.durable { Durability::Durable } else { Durability::Lazy };
        let environment = Environment::open(dir, Options { durability, ..Options::default() }).unwrap();
        let tree = environment.write(|tx| Tree::open_or_create(tx, b"kv")).unwrap();
        Rookery { environment, tree }
    }
    fn handle(&self, _: bool) {}
    fn write(&self, _: &mut (), f: impl FnOnce(&mut W<'_>)) {
        let f = AssertSend(f);
        let tree = self.tree;
        let run = move |tx: &mut WriteTransaction<'_>| {
            // The trait's writer has one lifetime for the reference and the transaction.
            let tx: &mut WriteTransaction<'_> = unsafe { std::mem::transmute(tx) };
            f.into_inner()(&mut W(tx, tree));
            Ok::<_, storage::Error>(())
        };
        self.environment.write(run).unwrap();
    }
    #[inline]
    fn read<X>(&self, _: &mut (), f: impl FnOnce(&mut R<'_>) -> X) -> X {
        let tx = self.environment.read();
        f(&mut R(&tx, self.tree))
    }
    #[inline]
    fn read_nothing(&self, _: &mut ()) {
        drop(self.environment.read());
    }
    fn settle(&self) {
        self.environment.flush().unwrap();
    }
}
