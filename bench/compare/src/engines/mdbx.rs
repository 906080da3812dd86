//! libmdbx, through its C API.

use super::lmdb_like::lmdb_like;

lmdb_like!(
    base,
    mdbx_sys,
    MDBX_val,
    iov_len,
    iov_base,
    MDBX_txn,
    MDBX_env,
    MDBX_dbi,
    MDBX_cursor,
    mdbx_abort,
    mdbx_txn_reset,
    mdbx_txn_renew,
    mdbx_get,
    mdbx_put,
    mdbx_cursor_open,
    mdbx_cursor_get,
    mdbx_cursor_close,
    MDBX_SET_RANGE,
    MDBX_NEXT,
    MDBX_CREATE,
    "mdbx",
    MDBX_UPSERT
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
