//! RocksDB: the system library, through its C API.

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
