//! The floor. Not an engine: an in-memory BTreeMap behind a lock plus a preallocated journal with leader/follower group commit
//! (O_DIRECT|O_DSYNC, padded to 4 KiB, checksummed). What is left when only the journal costs: the bound for (a) and (b).

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
        let st = St {
            buf: Buf::new(),
            spare: Some(Buf::new()),
            seq: 0,
            done: 0,
            flushing: false,
            at: 0,
            map: BTreeMap::new(),
        };
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
