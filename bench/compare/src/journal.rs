//! What the journal costs, of our own engine: bytes written for commits of random items (a3), and a journal of 128 MiB
//! that a kill leaves for `reopen-journal` (i1).
use crate::traffic::{CountingIo, Traffic};
use crate::util::*;
use crate::{Ctx, VAL, emit};
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use storage::{Environment, Error, Options, Tree};

const ITEM: u64 = (KEY + VAL) as u64;
const JOURNAL: u64 = 128 << 20;

pub fn run(c: &Ctx) {
    if c.wants("a") {
        bytes_written(c);
    }
    if c.wants("i") {
        killed_with_a_long_journal(c);
    }
}

/// Puts random items, `per` to a commit. `salt` tells the values apart from those of another call.
fn fill(c: &Ctx, environment: &Environment, tree: Tree, range: std::ops::Range<u64>, per: u64, salt: u64) {
    let mut from = range.start;
    while from < range.end {
        let to = (from + per).min(range.end);
        let put = |tx: &mut storage::WriteTransaction<'_>| {
            (from..to).try_for_each(|i| tree.put(tx, &rand_key(i), c.noise.value(i ^ salt, VAL)).map(drop))
        };
        environment.write::<_, Error>(put).unwrap();
        from = to;
    }
}

/// (a3): as (a) random, only more commits, so that what is written once for many of them is not charged to a few.
fn bytes_written(c: &Ctx) {
    let traffic = Arc::new(Traffic::default());
    let options = Options { io: Arc::new(CountingIo(traffic.clone())), ..Options::default() };
    let environment = Environment::open(c.fresh("bytes"), options).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"kv")).unwrap();
    fill(c, &environment, tree, 0..20_000, 5_000, 0);
    environment.flush().unwrap();
    let (journal, other, device) = (traffic.journal.load(Relaxed), traffic.other.load(Relaxed), disk_written());
    let items = c.n(3000) * 100;
    fill(c, &environment, tree, 20_000..20_000 + items, 100, 1);
    let user = (items * ITEM) as f64;
    let journal = (traffic.journal.load(Relaxed) - journal) as f64;
    emit("a rand 100/tx durable journal bytes per user byte", journal / user, "x");
    environment.flush().unwrap();
    let other = (traffic.other.load(Relaxed) - other) as f64;
    emit("a rand 100/tx durable all bytes per user byte after checkpoint", (journal + other) / user, "x");
    let device = (disk_written() - device) as f64;
    emit("a rand 100/tx durable device bytes per user byte after checkpoint", device / user, "x");
}

/// (i1): 1M items in the data file, then updates of random ones until the journal has its length, then a kill in a commit.
fn killed_with_a_long_journal(c: &Ctx) {
    let (d, n) = (c.fresh("load"), c.n(1_000_000));
    {
        let environment = Environment::open(&d, Options::default()).unwrap();
        let tree = environment.write(|tx| Tree::open_or_create(tx, b"kv")).unwrap();
        fill(c, &environment, tree, 0..n, 10_000, 0);
        environment.close().unwrap();
    }
    // No checkpoint may come in between, and shorten what has to be replayed.
    let options = Options { background: false, flush_after_bytes: 1 << 40, ..Options::default() };
    let environment = Environment::open(&d, options).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"kv")).unwrap();
    let length = || environment.statistics().unwrap().journal_since_flush;
    let mut round = 0;
    while length() < c.n(JOURNAL) {
        let put = |tx: &mut storage::WriteTransaction<'_>| {
            (0..1000).try_for_each(|i| {
                let at = round * 1000 + i;
                tree.put(tx, &rand_key(mix(at) % n), c.noise.value(at ^ 7, VAL)).map(drop)
            })
        };
        environment.write::<_, Error>(put).unwrap();
        round += 1;
    }
    emit("i journal when killed", length() as f64 / (1 << 20) as f64, "MiB");
    std::io::stdout().flush().unwrap();
    let die = |tx: &mut storage::WriteTransaction<'_>| {
        tree.put(tx, &rand_key(5), c.noise.value(5, VAL))?;
        unsafe { libc::raise(libc::SIGKILL) };
        Ok(())
    };
    environment.write::<_, Error>(die).unwrap();
}
