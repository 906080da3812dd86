//! LMDB, through its C API.

use super::lmdb_like::lmdb_like;

lmdb_like!(
    base,
    lmdb_master_sys,
    MDB_val,
    mv_size,
    mv_data,
    MDB_txn,
    MDB_env,
    MDB_dbi,
    MDB_cursor,
    mdb_txn_abort,
    mdb_txn_reset,
    mdb_txn_renew,
    mdb_get,
    mdb_put,
    mdb_cursor_open,
    mdb_cursor_get,
    mdb_cursor_close,
    MDB_SET_RANGE,
    MDB_NEXT,
    MDB_CREATE,
    "lmdb",
    0
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
            format!(
                "depth {} branch {} leaf {} overflow {}",
                s.ms_depth, s.ms_branch_pages, s.ms_leaf_pages, s.ms_overflow_pages
            )
        }
    }
}
impl<const M: bool> Drop for Lmdb<M> {
    fn drop(&mut self) {
        unsafe { mdb_env_close(self.env) }
    }
}
