//! The engines behind one small trait. Everything is statically dispatched.
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

// ---------------------------------------------------------------- Rookery
#[cfg(feature = "rookery")]
pub mod rookery {
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
}

// ---------------------------------------------------------------- LMDB and libmdbx
macro_rules! lmdb_like {
    ($modname:ident, $sys:ident, $Val:ident, $mv_size:ident, $mv_data:ident, $txn:ident, $env:ident, $dbi:ident, $cursor:ident,
     $abort:ident, $reset:ident, $renew:ident, $get:ident, $put:ident, $copen:ident, $cget:ident, $cclose:ident,
     $SET_RANGE:ident, $NEXT:ident, $create:ident, $strname:expr, $put_flags:expr) => {
        #[allow(unused)]
        pub mod $modname {
            use super::super::*;
            use super::*;
            use std::ptr::null_mut;
            use $sys::*;
            pub fn val(b: &[u8]) -> $Val {
                $Val { $mv_size: b.len(), $mv_data: b.as_ptr() as *mut _ }
            }
            pub unsafe fn bytes<'a>(v: &$Val) -> &'a [u8] {
                unsafe { std::slice::from_raw_parts(v.$mv_data as *const u8, v.$mv_size) }
            }
            pub struct W<'a>(pub *mut $txn, pub $dbi, pub std::marker::PhantomData<&'a ()>);
            impl Writer for W<'_> {
                #[inline]
                fn put(&mut self, k: &[u8], v: &[u8]) {
                    let mut kk = val(k);
                    let mut vv = val(v);
                    let r = unsafe { $put(self.0, self.1, &mut kk, &mut vv, $put_flags) };
                    assert_eq!(r, 0, "put");
                }
            }
            pub struct R<'a>(pub *mut $txn, pub $dbi, pub *mut $cursor, pub std::marker::PhantomData<&'a ()>);
            impl Reader for R<'_> {
                #[inline]
                fn get(&mut self, k: &[u8], mut f: impl FnMut(&[u8])) -> bool {
                    let mut kk = val(k);
                    let mut vv = val(&[]);
                    unsafe {
                        if $get(self.0, self.1, &mut kk, &mut vv) == 0 {
                            f(bytes(&vv));
                            true
                        } else {
                            false
                        }
                    }
                }
                fn scan(&mut self, from: &[u8], limit: usize, mut f: impl FnMut(&[u8], &[u8])) -> usize {
                    unsafe {
                        if self.2.is_null() {
                            assert_eq!($copen(self.0, self.1, &mut self.2), 0);
                        }
                        let mut kk = val(from);
                        let mut vv = val(&[]);
                        let mut r = $cget(self.2, &mut kk, &mut vv, $SET_RANGE);
                        let mut n = 0;
                        while r == 0 {
                            f(bytes(&kk), bytes(&vv));
                            n += 1;
                            if n == limit {
                                break;
                            }
                            r = $cget(self.2, &mut kk, &mut vv, $NEXT);
                        }
                        n
                    }
                }
            }
            impl Drop for R<'_> {
                fn drop(&mut self) {
                    if !self.2.is_null() {
                        unsafe { $cclose(self.2) };
                    }
                }
            }
            /// a cached read transaction to renew, if asked for
            pub struct H<'a> {
                pub txn: *mut $txn,
                pub renew: bool,
                pub p: std::marker::PhantomData<&'a ()>,
            }
            impl Drop for H<'_> {
                fn drop(&mut self) {
                    if !self.txn.is_null() {
                        unsafe { $abort(self.txn) };
                    }
                }
            }
        }
    };
}

#[cfg(feature = "lmdb")]
pub mod lmdb {
    lmdb_like!(
        base, lmdb_master_sys, MDB_val, mv_size, mv_data, MDB_txn, MDB_env, MDB_dbi, MDB_cursor, mdb_txn_abort, mdb_txn_reset,
        mdb_txn_renew, mdb_get, mdb_put, mdb_cursor_open, mdb_cursor_get, mdb_cursor_close, MDB_SET_RANGE, MDB_NEXT, MDB_CREATE,
        "lmdb", 0
    );
    use super::*;
    use base::*;
    use lmdb_master_sys::*;
    use std::ffi::CString;
    use std::marker::PhantomData;
    use std::ptr::null_mut;

    pub struct Lmdb<const WRITEMAP: bool> {
        env: *mut MDB_env,
        dbi: MDB_dbi,
    }
    unsafe impl<const M: bool> Send for Lmdb<M> {}
    unsafe impl<const M: bool> Sync for Lmdb<M> {}
    impl<const WRITEMAP: bool> Engine for Lmdb<WRITEMAP> {
        const NAME: &'static str = if WRITEMAP { "lmdb-writemap" } else { "lmdb" };
        const RENEW: bool = true;
        type Handle<'a> = H<'a>;
        type W<'a> = W<'a>;
        type R<'a> = R<'a>;
        fn open(dir: &Path, o: Opts) -> Self {
            unsafe {
                std::fs::create_dir_all(dir).unwrap();
                let mut env = null_mut();
                assert_eq!(mdb_env_create(&mut env), 0);
                assert_eq!(mdb_env_set_mapsize(env, 16 << 30), 0);
                assert_eq!(mdb_env_set_maxreaders(env, 256), 0);
                let c = CString::new(dir.to_str().unwrap()).unwrap();
                let mut fl = MDB_NOMEMINIT | MDB_NORDAHEAD;
                if WRITEMAP {
                    fl |= MDB_WRITEMAP;
                }
                if !o.durable {
                    fl |= MDB_NOSYNC | MDB_NOMETASYNC;
                }
                assert_eq!(mdb_env_open(env, c.as_ptr(), fl, 0o644), 0);
                let mut t = null_mut();
                let mut dbi = 0;
                assert_eq!(mdb_txn_begin(env, null_mut(), 0, &mut t), 0);
                assert_eq!(mdb_dbi_open(t, std::ptr::null(), 0, &mut dbi), 0);
                assert_eq!(mdb_txn_commit(t), 0);
                Lmdb { env, dbi }
            }
        }
        fn handle(&self, renew: bool) -> H<'_> {
            let mut txn = null_mut();
            if renew {
                unsafe {
                    assert_eq!(mdb_txn_begin(self.env, null_mut(), MDB_RDONLY, &mut txn), 0);
                    mdb_txn_reset(txn);
                }
            }
            H { txn, renew, p: PhantomData }
        }
        #[inline]
        fn write(&self, _h: &mut H<'_>, f: impl FnOnce(&mut base::W<'_>)) {
            unsafe {
                let mut t = null_mut();
                assert_eq!(mdb_txn_begin(self.env, null_mut(), 0, &mut t), 0);
                f(&mut W(t, self.dbi, PhantomData));
                assert_eq!(mdb_txn_commit(t), 0);
            }
        }
        #[inline]
        fn read<T>(&self, h: &mut H<'_>, f: impl FnOnce(&mut R<'_>) -> T) -> T {
            unsafe {
                if h.renew {
                    assert_eq!(mdb_txn_renew(h.txn), 0);
                    let r = f(&mut R(h.txn, self.dbi, null_mut(), PhantomData));
                    mdb_txn_reset(h.txn);
                    r
                } else {
                    let mut t = null_mut();
                    assert_eq!(mdb_txn_begin(self.env, null_mut(), MDB_RDONLY, &mut t), 0);
                    let r = f(&mut R(t, self.dbi, null_mut(), PhantomData));
                    mdb_txn_abort(t);
                    r
                }
            }
        }
        #[inline]
        fn read_nothing(&self, h: &mut H<'_>) {
            self.read(h, |_| ());
        }
        fn note(&self) -> String {
            unsafe {
                let mut s: MDB_stat = std::mem::zeroed();
                mdb_env_stat(self.env, &mut s);
                format!("depth {} branch {} leaf {} overflow {}", s.ms_depth, s.ms_branch_pages, s.ms_leaf_pages, s.ms_overflow_pages)
            }
        }
    }
    impl<const M: bool> Drop for Lmdb<M> {
        fn drop(&mut self) {
            unsafe { mdb_env_close(self.env) }
        }
    }
}

#[cfg(feature = "mdbx")]
pub mod mdbx {
    lmdb_like!(
        base, mdbx_sys, MDBX_val, iov_len, iov_base, MDBX_txn, MDBX_env, MDBX_dbi, MDBX_cursor, mdbx_abort, mdbx_txn_reset,
        mdbx_txn_renew, mdbx_get, mdbx_put, mdbx_cursor_open, mdbx_cursor_get, mdbx_cursor_close, MDBX_SET_RANGE, MDBX_NEXT,
        MDBX_CREATE, "mdbx", MDBX_UPSERT
    );
    /// the C header has this one inline
    pub unsafe fn mdbx_abort(t: *mut mdbx_sys::MDBX_txn) -> i32 {
        unsafe { mdbx_sys::mdbx_txn_abort_ex(t, std::ptr::null_mut()) }
    }
    use super::*;
    use base::*;
    use mdbx_sys::*;
    use std::ffi::CString;
    use std::marker::PhantomData;
    use std::ptr::null_mut;

    pub struct Mdbx<const WRITEMAP: bool> {
        env: *mut MDBX_env,
        dbi: MDBX_dbi,
    }
    unsafe impl<const M: bool> Send for Mdbx<M> {}
    unsafe impl<const M: bool> Sync for Mdbx<M> {}
    impl<const WRITEMAP: bool> Engine for Mdbx<WRITEMAP> {
        const NAME: &'static str = if WRITEMAP { "mdbx-writemap" } else { "mdbx" };
        const RENEW: bool = true;
        type Handle<'a> = H<'a>;
        type W<'a> = W<'a>;
        type R<'a> = R<'a>;
        fn open(dir: &Path, o: Opts) -> Self {
            unsafe {
                std::fs::create_dir_all(dir).unwrap();
                let mut env = null_mut();
                assert_eq!(mdbx_env_create(&mut env), 0);
                assert_eq!(mdbx_env_set_option(env, MDBX_opt_max_readers as _, 256), 0);
                assert_eq!(mdbx_env_set_geometry(env, 0, -1, 16 << 30, 64 << 20, 0, 4096), 0);
                let c = CString::new(dir.to_str().unwrap()).unwrap();
                let mut fl = MDBX_NOMEMINIT | MDBX_NORDAHEAD | MDBX_LIFORECLAIM | MDBX_SYNC_DURABLE;
                if WRITEMAP {
                    fl |= MDBX_WRITEMAP;
                }
                if !o.durable {
                    fl |= MDBX_UTTERLY_NOSYNC;
                }
                assert_eq!(mdbx_env_open(env, c.as_ptr(), fl as _, 0o644), 0);
                let mut t = null_mut();
                let mut dbi = 0;
                assert_eq!(mdbx_txn_begin_ex(env, null_mut(), 0 as _, &mut t, null_mut()), 0);
                assert_eq!(mdbx_dbi_open(t, std::ptr::null(), 0 as _, &mut dbi), 0);
                assert_eq!(mdbx_txn_commit_ex(t, null_mut()), 0);
                Mdbx { env, dbi }
            }
        }
        fn handle(&self, renew: bool) -> H<'_> {
            let mut txn = null_mut();
            if renew {
                unsafe {
                    assert_eq!(mdbx_txn_begin_ex(self.env, null_mut(), MDBX_TXN_RDONLY as _, &mut txn, null_mut()), 0);
                    mdbx_txn_reset(txn);
                }
            }
            H { txn, renew, p: PhantomData }
        }
        #[inline]
        fn write(&self, _h: &mut H<'_>, f: impl FnOnce(&mut base::W<'_>)) {
            unsafe {
                let mut t = null_mut();
                assert_eq!(mdbx_txn_begin_ex(self.env, null_mut(), 0 as _, &mut t, null_mut()), 0);
                f(&mut W(t, self.dbi, PhantomData));
                assert_eq!(mdbx_txn_commit_ex(t, null_mut()), 0);
            }
        }
        #[inline]
        fn read<T>(&self, h: &mut H<'_>, f: impl FnOnce(&mut R<'_>) -> T) -> T {
            unsafe {
                if h.renew {
                    assert_eq!(mdbx_txn_renew(h.txn), 0);
                    let r = f(&mut R(h.txn, self.dbi, null_mut(), PhantomData));
                    mdbx_txn_reset(h.txn);
                    r
                } else {
                    let mut t = null_mut();
                    assert_eq!(mdbx_txn_begin_ex(self.env, null_mut(), MDBX_TXN_RDONLY as _, &mut t, null_mut()), 0);
                    let r = f(&mut R(t, self.dbi, null_mut(), PhantomData));
                    mdbx_abort(t);
                    r
                }
            }
        }
        #[inline]
        fn read_nothing(&self, h: &mut H<'_>) {
            self.read(h, |_| ());
        }
    }
    impl<const M: bool> Drop for Mdbx<M> {
        fn drop(&mut self) {
            unsafe {
                mdbx_env_close_ex(self.env, false);
            }
        }
    }
}

// ---------------------------------------------------------------- redb
#[cfg(feature = "redb")]
pub mod redb {
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
}

// ---------------------------------------------------------------- RocksDB (system library, through its C API)
#[cfg(feature = "rocksdb")]
pub mod rocksdb {
    use super::*;
    use std::ffi::{CString, c_char, c_int, c_uchar, c_void};
    use std::ptr::null_mut;
    type P = *mut c_void;
    #[link(name = "rocksdb")]
    unsafe extern "C" {
        fn rocksdb_options_create() -> P;
        fn rocksdb_options_set_create_if_missing(o: P, v: c_uchar);
        fn rocksdb_options_increase_parallelism(o: P, n: c_int);
        fn rocksdb_options_set_max_background_jobs(o: P, n: c_int);
        fn rocksdb_options_set_write_buffer_size(o: P, n: usize);
        fn rocksdb_options_set_compression(o: P, n: c_int);
        fn rocksdb_options_set_block_based_table_factory(o: P, b: P);
        fn rocksdb_block_based_options_create() -> P;
        fn rocksdb_block_based_options_set_block_cache(b: P, c: P);
        fn rocksdb_block_based_options_set_filter_policy(b: P, f: P);
        fn rocksdb_filterpolicy_create_bloom_full(bits: f64) -> P;
        fn rocksdb_cache_create_lru(n: usize) -> P;
        fn rocksdb_open(o: P, name: *const c_char, e: *mut *mut c_char) -> P;
        fn rocksdb_close(db: P);
        fn rocksdb_writeoptions_create() -> P;
        fn rocksdb_writeoptions_set_sync(o: P, v: c_uchar);
        fn rocksdb_readoptions_create() -> P;
        fn rocksdb_readoptions_destroy(o: P);
        fn rocksdb_readoptions_set_snapshot(o: P, s: P);
        fn rocksdb_writebatch_create() -> P;
        fn rocksdb_writebatch_destroy(b: P);
        fn rocksdb_writebatch_put(b: P, k: *const u8, kn: usize, v: *const u8, vn: usize);
        fn rocksdb_write(db: P, o: P, b: P, e: *mut *mut c_char);
        fn rocksdb_create_snapshot(db: P) -> P;
        fn rocksdb_release_snapshot(db: P, s: P);
        fn rocksdb_get_pinned(db: P, o: P, k: *const u8, kn: usize, e: *mut *mut c_char) -> P;
        fn rocksdb_pinnableslice_value(p: P, n: *mut usize) -> *const u8;
        fn rocksdb_pinnableslice_destroy(p: P);
        fn rocksdb_create_iterator(db: P, o: P) -> P;
        fn rocksdb_iter_destroy(i: P);
        fn rocksdb_iter_seek(i: P, k: *const u8, n: usize);
        fn rocksdb_iter_valid(i: P) -> c_uchar;
        fn rocksdb_iter_next(i: P);
        fn rocksdb_iter_key(i: P, n: *mut usize) -> *const u8;
        fn rocksdb_iter_value(i: P, n: *mut usize) -> *const u8;
        fn rocksdb_flushoptions_create() -> P;
        fn rocksdb_flush(db: P, o: P, e: *mut *mut c_char);
        fn rocksdb_compact_range(db: P, a: *const u8, an: usize, b: *const u8, bn: usize);
    }
    fn ok(e: *mut c_char) {
        if !e.is_null() {
            panic!("{:?}", unsafe { std::ffi::CStr::from_ptr(e) });
        }
    }
    pub struct Rocks {
        db: P,
        wo: P,
        ro: P,
    }
    unsafe impl Send for Rocks {}
    unsafe impl Sync for Rocks {}
    pub struct W<'a>(P, std::marker::PhantomData<&'a ()>);
    impl Writer for W<'_> {
        fn put(&mut self, k: &[u8], v: &[u8]) {
            unsafe { rocksdb_writebatch_put(self.0, k.as_ptr(), k.len(), v.as_ptr(), v.len()) }
        }
    }
    pub struct R<'a>(&'a Rocks, P, P);
    fn get(db: P, ro: P, k: &[u8], mut f: impl FnMut(&[u8])) -> bool {
        unsafe {
            let mut e = null_mut();
            let p = rocksdb_get_pinned(db, ro, k.as_ptr(), k.len(), &mut e);
            ok(e);
            if p.is_null() {
                return false;
            }
            let mut n = 0;
            let d = rocksdb_pinnableslice_value(p, &mut n);
            f(std::slice::from_raw_parts(d, n));
            rocksdb_pinnableslice_destroy(p);
            true
        }
    }
    impl Reader for R<'_> {
        fn get(&mut self, k: &[u8], f: impl FnMut(&[u8])) -> bool {
            get(self.0.db, self.2, k, f)
        }
        fn scan(&mut self, from: &[u8], limit: usize, mut f: impl FnMut(&[u8], &[u8])) -> usize {
            unsafe {
                let it = rocksdb_create_iterator(self.0.db, self.2);
                rocksdb_iter_seek(it, from.as_ptr(), from.len());
                let mut n = 0;
                while n < limit && rocksdb_iter_valid(it) != 0 {
                    let (mut kn, mut vn) = (0, 0);
                    let k = rocksdb_iter_key(it, &mut kn);
                    let v = rocksdb_iter_value(it, &mut vn);
                    f(std::slice::from_raw_parts(k, kn), std::slice::from_raw_parts(v, vn));
                    n += 1;
                    if n < limit {
                        rocksdb_iter_next(it);
                    }
                }
                rocksdb_iter_destroy(it);
                n
            }
        }
    }
    impl Drop for R<'_> {
        fn drop(&mut self) {
            unsafe {
                rocksdb_readoptions_destroy(self.2);
                rocksdb_release_snapshot(self.0.db, self.1);
            }
        }
    }
    impl Engine for Rocks {
        const NAME: &'static str = "rocksdb";
        const BARE: bool = true;
        type Handle<'a> = ();
        type W<'a> = W<'a>;
        type R<'a> = R<'a>;
        fn open(dir: &Path, o: Opts) -> Self {
            std::fs::create_dir_all(dir).unwrap();
            unsafe {
                let op = rocksdb_options_create();
                rocksdb_options_set_create_if_missing(op, 1);
                rocksdb_options_increase_parallelism(op, 2);
                rocksdb_options_set_max_background_jobs(op, 2);
                rocksdb_options_set_write_buffer_size(op, 64 << 20);
                rocksdb_options_set_compression(op, 0);
                let b = rocksdb_block_based_options_create();
                rocksdb_block_based_options_set_block_cache(b, rocksdb_cache_create_lru(2 << 30));
                rocksdb_block_based_options_set_filter_policy(b, rocksdb_filterpolicy_create_bloom_full(10.0));
                rocksdb_options_set_block_based_table_factory(op, b);
                let mut e = null_mut();
                let c = CString::new(dir.to_str().unwrap()).unwrap();
                let db = rocksdb_open(op, c.as_ptr(), &mut e);
                ok(e);
                let wo = rocksdb_writeoptions_create();
                rocksdb_writeoptions_set_sync(wo, o.durable as u8);
                Rocks { db, wo, ro: rocksdb_readoptions_create() }
            }
        }
        fn handle(&self, _: bool) {}
        fn write(&self, _: &mut (), f: impl FnOnce(&mut W<'_>)) {
            unsafe {
                let b = rocksdb_writebatch_create();
                f(&mut W(b, std::marker::PhantomData));
                let mut e = null_mut();
                rocksdb_write(self.db, self.wo, b, &mut e);
                ok(e);
                rocksdb_writebatch_destroy(b);
            }
        }
        fn read<X>(&self, _: &mut (), f: impl FnOnce(&mut R<'_>) -> X) -> X {
            unsafe {
                let s = rocksdb_create_snapshot(self.db);
                let ro = rocksdb_readoptions_create();
                rocksdb_readoptions_set_snapshot(ro, s);
                f(&mut R(self, s, ro))
            }
        }
        fn read_nothing(&self, _: &mut ()) {
            unsafe {
                let s = rocksdb_create_snapshot(self.db);
                rocksdb_release_snapshot(self.db, s);
            }
        }
        fn bare_get(&self, _: &mut (), k: &[u8], f: impl FnMut(&[u8])) -> bool {
            get(self.db, self.ro, k, f)
        }
        fn settle(&self) {
            unsafe {
                let mut e = null_mut();
                rocksdb_flush(self.db, rocksdb_flushoptions_create(), &mut e);
                ok(e);
                rocksdb_compact_range(self.db, std::ptr::null(), 0, std::ptr::null(), 0);
            }
        }
    }
    impl Drop for Rocks {
        fn drop(&mut self) {
            unsafe { rocksdb_close(self.db) }
        }
    }
}

// ---------------------------------------------------------------- fjall
#[cfg(feature = "fjall")]
pub mod fjall {
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
            let mut w = W(self.db.batch().durability(if self.durable { Some(PersistMode::SyncData) } else { None }), &self.ks);
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
}

// ---------------------------------------------------------------- SQLite
#[cfg(feature = "sqlite")]
pub mod sqlite {
    use super::*;
    use rusqlite::*;
    use std::path::PathBuf;
    pub struct Sqlite {
        path: PathBuf,
        durable: bool,
    }
    fn connect(p: &Path, durable: bool) -> &'static Connection {
        let c = Connection::open(p).unwrap();
        c.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
        c.set_prepared_statement_cache_capacity(16);
        c.execute_batch(&format!(
            "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous={}; PRAGMA cache_size=-524288; PRAGMA mmap_size=8589934592;
             PRAGMA wal_autocheckpoint=16384; PRAGMA locking_mode=NORMAL;
             CREATE TABLE IF NOT EXISTS kv(k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID;",
            if durable { "FULL" } else { "OFF" }
        ))
        .unwrap();
        // statements borrow the connection: it is freed by H
        Box::leak(Box::new(c))
    }
    pub struct H<'a> {
        put: Option<Statement<'a>>,
        get: Option<Statement<'a>>,
        scan: Option<Statement<'a>>,
        probe: Option<Statement<'a>>,
        begin: Option<Statement<'a>>,
        begin_w: Option<Statement<'a>>,
        commit: Option<Statement<'a>>,
        c: *mut Connection,
    }
    impl Drop for H<'_> {
        fn drop(&mut self) {
            self.put = None;
            self.get = None;
            self.scan = None;
            self.probe = None;
            self.begin = None;
            self.begin_w = None;
            self.commit = None;
            drop(unsafe { Box::from_raw(self.c) });
        }
    }
    pub struct W<'a>(&'a mut Statement<'a>);
    impl Writer for W<'_> {
        fn put(&mut self, k: &[u8], v: &[u8]) {
            self.0.execute((k, v)).unwrap();
        }
    }
    pub struct R<'a>(*mut H<'a>);
    impl Reader for R<'_> {
        fn get(&mut self, k: &[u8], mut f: impl FnMut(&[u8])) -> bool {
            let st = unsafe { (*self.0).get.as_mut().unwrap() };
            let mut rows = st.query((k,)).unwrap();
            match rows.next().unwrap() {
                Some(r) => {
                    f(r.get_ref_unwrap(0).as_blob().unwrap());
                    true
                }
                None => false,
            }
        }
        fn scan(&mut self, from: &[u8], limit: usize, mut f: impl FnMut(&[u8], &[u8])) -> usize {
            let st = unsafe { (*self.0).scan.as_mut().unwrap() };
            let mut rows = st.query((from, limit as i64)).unwrap();
            let mut n = 0;
            while let Some(r) = rows.next().unwrap() {
                f(r.get_ref_unwrap(0).as_blob().unwrap(), r.get_ref_unwrap(1).as_blob().unwrap());
                n += 1;
            }
            n
        }
    }
    impl Engine for Sqlite {
        const NAME: &'static str = "sqlite";
        const BARE: bool = true;
        type Handle<'a> = H<'a>;
        type W<'a> = W<'a>;
        type R<'a> = R<'a>;
        fn open(dir: &Path, o: Opts) -> Self {
            std::fs::create_dir_all(dir).unwrap();
            let path = dir.join("sqlite.db");
            let me = Sqlite { path, durable: o.durable };
            drop(me.handle(false));
            me
        }
        fn handle(&self, _: bool) -> H<'_> {
            let c = connect(&self.path, self.durable);
            H {
                put: Some(c.prepare("INSERT OR REPLACE INTO kv(k,v) VALUES(?1,?2)").unwrap()),
                get: Some(c.prepare("SELECT v FROM kv WHERE k=?1").unwrap()),
                scan: Some(c.prepare("SELECT k,v FROM kv WHERE k>=?1 ORDER BY k LIMIT ?2").unwrap()),
                probe: Some(c.prepare("SELECT 1 FROM kv LIMIT 1").unwrap()),
                begin: Some(c.prepare("BEGIN").unwrap()),
                begin_w: Some(c.prepare("BEGIN IMMEDIATE").unwrap()),
                commit: Some(c.prepare("COMMIT").unwrap()),
                c: c as *const _ as *mut _,
            }
        }
        fn write(&self, h: &mut H<'_>, f: impl FnOnce(&mut W<'_>)) {
            h.begin_w.as_mut().unwrap().execute(()).unwrap();
            {
                let p: *mut Statement = h.put.as_mut().unwrap();
                f(&mut W(unsafe { &mut *(p as *mut _) }));
            }
            h.commit.as_mut().unwrap().execute(()).unwrap();
        }
        fn read<X>(&self, h: &mut H<'_>, f: impl FnOnce(&mut R<'_>) -> X) -> X {
            h.begin.as_mut().unwrap().execute(()).unwrap();
            let r = {
                let p: *mut H = h;
                f(&mut R(p as *mut _))
            };
            h.commit.as_mut().unwrap().execute(()).unwrap();
            r
        }
        // BEGIN alone takes no snapshot in SQLite, so a one-row probe is included
        fn read_nothing(&self, h: &mut H<'_>) {
            h.begin.as_mut().unwrap().execute(()).unwrap();
            h.probe.as_mut().unwrap().query(()).unwrap().next().unwrap();
            h.commit.as_mut().unwrap().execute(()).unwrap();
        }
        fn bare_get(&self, h: &mut H<'_>, k: &[u8], f: impl FnMut(&[u8])) -> bool {
            R(h as *mut _ as *mut _).get(k, f)
        }
    }
}

// ---------------------------------------------------------------- floor: no engine, a bound
/// Not an engine: an in-memory BTreeMap behind a lock plus a preallocated journal with leader/follower group commit
/// (O_DIRECT|O_DSYNC, padded to 4 KiB, checksummed). What is left when only the journal costs: the bound for (a) and (b).
pub mod floor {
    use super::*;
    use std::collections::BTreeMap;
    use std::ffi::CString;
    use std::sync::{Condvar, Mutex};
    const RING: usize = 64 << 20;
    const BUF: usize = 4 << 20;
    struct Buf(*mut u8, usize);
    unsafe impl Send for Buf {}
    impl Buf {
        fn new() -> Self {
            let mut p = std::ptr::null_mut();
            assert_eq!(unsafe { libc::posix_memalign(&mut p, 4096, BUF) }, 0);
            unsafe { std::ptr::write_bytes(p as *mut u8, 0, BUF) };
            Buf(p as *mut u8, 0)
        }
        fn push(&mut self, b: &[u8]) {
            assert!(self.1 + b.len() <= BUF);
            unsafe { std::ptr::copy_nonoverlapping(b.as_ptr(), self.0.add(self.1), b.len()) };
            self.1 += b.len();
        }
    }
    struct St {
        buf: Buf,
        spare: Option<Buf>,
        seq: u64,
        done: u64,
        flushing: bool,
        at: usize,
        map: BTreeMap<[u8; 16], Box<[u8]>>,
    }
    pub struct Floor {
        fd: i32,
        durable: bool,
        st: Mutex<St>,
        cv: Condvar,
    }
    pub struct W<'a>(Vec<([u8; 16], Box<[u8]>)>, std::marker::PhantomData<&'a ()>);
    impl Writer for W<'_> {
        fn put(&mut self, k: &[u8], v: &[u8]) {
            self.0.push((k.try_into().unwrap(), v.into()));
        }
    }
    pub struct R<'a>(&'a Floor);
    impl Reader for R<'_> {
        fn get(&mut self, k: &[u8], mut f: impl FnMut(&[u8])) -> bool {
            match self.0.st.lock().unwrap().map.get(k) {
                Some(v) => {
                    f(v);
                    true
                }
                None => false,
            }
        }
        fn scan(&mut self, from: &[u8], limit: usize, mut f: impl FnMut(&[u8], &[u8])) -> usize {
            let mut k0 = [0u8; 16];
            k0[..from.len().min(16)].copy_from_slice(&from[..from.len().min(16)]);
            self.0.st.lock().unwrap().map.range(k0..).take(limit).map(|(k, v)| f(k, v)).count()
        }
    }
    fn sum(p: *const u8, n: usize) -> u64 {
        let w = unsafe { std::slice::from_raw_parts(p as *const u64, n / 8) };
        let mut l = [1u64; 8];
        for c in w.chunks_exact(8) {
            for j in 0..8 {
                let x = c[j] ^ l[j];
                l[j] = l[j].wrapping_add((x & 0xffff_ffff).wrapping_mul(x >> 32));
            }
        }
        l.iter().fold(0, |a, b| a ^ b)
    }
    impl Engine for Floor {
        const NAME: &'static str = "floor";
        type Handle<'a> = ();
        type W<'a> = W<'a>;
        type R<'a> = R<'a>;
        fn open(dir: &Path, o: Opts) -> Self {
            std::fs::create_dir_all(dir).unwrap();
            let p = dir.join("journal");
            std::fs::write(&p, vec![0x11u8; RING]).unwrap();
            let c = CString::new(p.to_str().unwrap()).unwrap();
            let fl = if o.durable { libc::O_DIRECT | libc::O_DSYNC } else { 0 };
            let fd = unsafe { libc::open(c.as_ptr(), libc::O_RDWR | fl) };
            assert!(fd >= 0);
            unsafe { libc::fsync(fd) };
            let st = St { buf: Buf::new(), spare: Some(Buf::new()), seq: 0, done: 0, flushing: false, at: 0, map: BTreeMap::new() };
            Floor { fd, durable: o.durable, st: Mutex::new(st), cv: Condvar::new() }
        }
        fn handle(&self, _: bool) {}
        fn write(&self, _: &mut (), f: impl FnOnce(&mut W<'_>)) {
            let mut w = W(Vec::new(), std::marker::PhantomData);
            f(&mut w);
            let mut g = self.st.lock().unwrap();
            for (k, v) in w.0 {
                g.buf.push(&(v.len() as u32).to_le_bytes());
                g.buf.push(&k);
                g.buf.push(&v);
                g.map.insert(k, v);
            }
            g.seq += 1;
            let my = g.seq;
            while g.done < my {
                if g.flushing {
                    g = self.cv.wait(g).unwrap();
                    continue;
                }
                g.flushing = true;
                let next = g.spare.take().unwrap();
                let mut b = std::mem::replace(&mut g.buf, next);
                let upto = g.seq;
                let n = if self.durable { (b.1 + 64).div_ceil(4096) * 4096 } else { b.1 + 64 };
                if g.at + n > RING {
                    g.at = 0;
                }
                let at = g.at;
                g.at += n;
                drop(g);
                let s = sum(b.0, b.1);
                b.push(&s.to_le_bytes());
                let r = unsafe { libc::pwrite(self.fd, b.0 as *const _, n, at as i64) };
                assert_eq!(r, n as isize);
                b.1 = 0;
                g = self.st.lock().unwrap();
                g.spare = Some(b);
                g.done = upto;
                g.flushing = false;
                self.cv.notify_all();
            }
        }
        fn read<X>(&self, _: &mut (), f: impl FnOnce(&mut R<'_>) -> X) -> X {
            f(&mut R(self))
        }
        fn read_nothing(&self, _: &mut ()) {}
    }
    impl Drop for Floor {
        fn drop(&mut self) {
            unsafe { libc::close(self.fd) };
            let mut g = self.st.lock().unwrap();
            unsafe { libc::free(g.buf.0 as *mut _) };
            if let Some(b) = g.spare.take() {
                unsafe { libc::free(b.0 as *mut _) };
            }
        }
    }
}
