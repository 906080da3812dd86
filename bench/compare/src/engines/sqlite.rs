//! SQLite, as a table of keys and values.

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
