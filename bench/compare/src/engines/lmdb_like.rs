//! What LMDB and libmdbx have in common but for the names of their C API.

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
pub(super) use lmdb_like;
