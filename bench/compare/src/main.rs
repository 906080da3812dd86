//! kv limits [--dir D] [--scale S]          what the machine can do
//! kv child --engine E --group G --dir D    one group of workloads in this process
//! kv all --dir D --out F [--engines a,b] [--groups tx,load,seq,val,space,journal,contents] [--parts b,d] [--reps 3] [--scale 1]
//!                                          `--parts` leaves out workloads of tx and load whose letter it does not have
//! kv duel --dir D [--out F] [--engines a,b] [--reps 1] [--scale S]
//!                                          (a) and (b), durable, engines interleaved commit by commit
//! kv report --out F                        medians, spreads and ratios as markdown
#[cfg(feature = "rookery")]
mod contents;
mod duel;
mod engines;
#[cfg(feature = "rookery")]
mod journal;
mod limits;
mod report;
#[cfg(feature = "rookery")]
mod traffic;
mod util;
use engines::*;
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};
use util::*;

const VAL: usize = 128;

fn emit(name: &str, v: f64, unit: &str) {
    println!("{name}\t{v}\t{unit}");
}

struct Ctx {
    dir: PathBuf,
    scale: f64,
    rep: u64,
    noise: Noise,
    /// letters of the workloads that are wanted; all if there is none
    parts: Vec<String>,
}
impl Ctx {
    fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|p| p == part)
    }
    fn n(&self, base: u64) -> u64 {
        ((base as f64 * self.scale) as u64).max(1)
    }
    fn fresh(&self, sub: &str) -> PathBuf {
        let d = self.dir.join(sub);
        let _ = std::fs::remove_dir_all(&d);
        std::fs::create_dir_all(&d).unwrap();
        d
    }
}

fn fill<E: Engine>(e: &E, h: &mut E::Handle<'_>, c: &Ctx, o: Order, from: u64, to: u64, per: u64, vlen: usize, salt: u64) {
    let mut i = from;
    while i < to {
        let end = (i + per).min(to);
        e.write(h, |w| {
            for k in i..end {
                w.put(&key(o, k), c.noise.value(k ^ salt, vlen));
            }
        });
        i = end;
    }
}

/// (a) and (b)
fn group_tx<E: Engine>(c: &Ctx) {
    for durable in [true, false] {
        let tag = if durable { "durable" } else { "nosync" };
        let txs = c.n(if durable { 300 } else { 2000 });
        for (on, o) in [("seq", Order::Seq), ("rand", Order::Rand)] {
            if !c.wants("a") {
                continue;
            }
            let d = c.fresh("a");
            let e = E::open(&d, Opts { durable });
            let mut h = e.handle(false);
            // a small warm start: a tree of 20k items, so that random keys have somewhere to go
            fill(&e, &mut h, c, o, 0, 20_000, 5_000, VAL, 0);
            let io = proc_io();
            let dk = disk_written();
            let t = Instant::now();
            let cp = cpu();
            fill(&e, &mut h, c, o, 20_000, 20_000 + txs * 100, 100, VAL, 1);
            let s = secs(t);
            emit(&format!("a {on} 100/tx {tag}"), (txs * 100) as f64 / s, "items/s");
            emit(&format!("a {on} 100/tx {tag} cpu per item"), (cpu() - cp) * 1e9 / (txs * 100) as f64, "ns");
            let io2 = proc_io();
            emit(&format!("a {on} 100/tx {tag} bytes dirtied per user byte"), (io2.0 - io.0) as f64 / (txs * 100 * 144) as f64, "x");
            emit(&format!("a {on} 100/tx {tag} disk bytes per user byte"), (disk_written() - dk) as f64 / (txs * 100 * 144) as f64, "x");
            drop(h);
        }
        if !c.wants("b") {
            continue;
        }
        // (b) one thread
        let d = c.fresh("b");
        let e = E::open(&d, Opts { durable });
        let mut h = e.handle(false);
        fill(&e, &mut h, c, Order::Rand, 0, 20_000, 5_000, VAL, 0);
        let n = c.n(if durable { 400 } else { 20_000 });
        let mut lat = Vec::with_capacity(n as usize);
        let io = proc_io();
        let cp = cpu();
        let t = Instant::now();
        for i in 0..n {
            let t1 = Instant::now();
            fill(&e, &mut h, c, Order::Rand, 20_000 + i, 20_001 + i, 1, VAL, 1);
            lat.push(secs(t1) * 1e6);
        }
        emit(&format!("b 1/tx 1 thread {tag}"), n as f64 / secs(t), "tx/s");
        emit(&format!("b 1/tx 1 thread {tag} cpu per tx"), (cpu() - cp) * 1e6 / n as f64, "us");
        emit(&format!("b 1/tx 1 thread {tag} p50"), percentile(&mut lat, 0.5), "us");
        emit(&format!("b 1/tx 1 thread {tag} p99"), percentile(&mut lat, 0.99), "us");
        emit(&format!("b 1/tx 1 thread {tag} KiB dirtied per tx"), (proc_io().0 - io.0) as f64 / n as f64 / 1024.0, "KiB");
        drop(h);
        // 16 threads straight at the engine
        let per = if durable { c.n(60) } else { c.n(2000) };
        let stop = AtomicBool::new(false);
        let done = AtomicU64::new(0);
        let t = Instant::now();
        std::thread::scope(|s| {
            for th in 0..16u64 {
                let (e, stop, done) = (&e, &stop, &done);
                s.spawn(move || {
                    let mut h = e.handle(false);
                    for i in 0..per {
                        if stop.load(Relaxed) {
                            break;
                        }
                        let at = 1_000_000 + th * 100_000 + i;
                        fill(e, &mut h, c, Order::Rand, at, at + 1, 1, VAL, 1);
                        done.fetch_add(1, Relaxed);
                        if t.elapsed() > Duration::from_secs(15) {
                            stop.store(true, Relaxed);
                        }
                    }
                });
            }
        });
        emit(&format!("b 1/tx 16 threads direct {tag}"), done.load(Relaxed) as f64 / secs(t), "tx/s");
        if !c.wants("merged") {
            continue;
        }
        // 16 threads through a transaction merger of ours: one writer commits whatever is queued
        let per = if durable { c.n(400) } else { c.n(2000) };
        emit(&format!("b 1/tx 16 threads merged {tag}"), merged(&e, c, 16, per), "tx/s");
        if durable {
            emit("b 1/tx 64 threads merged durable", merged(&e, c, 64, per / 2), "tx/s");
        }
    }
}

struct Req {
    at: u64,
    done: *const AtomicBool,
    who: std::thread::Thread,
}
unsafe impl Send for Req {}
fn merged<E: Engine>(e: &E, c: &Ctx, threads: u64, per: u64) -> f64 {
    let q: Mutex<(Vec<Req>, bool)> = Mutex::new((vec![], false));
    let cv = Condvar::new();
    let t = Instant::now();
    std::thread::scope(|s| {
        let w = s.spawn(|| {
            let mut h = e.handle(false);
            let mut batch: Vec<Req> = vec![];
            loop {
                {
                    let mut g = q.lock().unwrap();
                    while g.0.is_empty() {
                        if g.1 {
                            return;
                        }
                        g = cv.wait(g).unwrap();
                    }
                    std::mem::swap(&mut g.0, &mut batch);
                }
                e.write(&mut h, |w| {
                    for r in &batch {
                        w.put(&rand_key(r.at), c.noise.value(r.at, VAL));
                    }
                });
                for r in batch.drain(..) {
                    unsafe { (*r.done).store(true, Release) };
                    r.who.unpark();
                }
            }
        });
        let cl: Vec<_> = (0..threads)
            .map(|th| {
                let (q, cv) = (&q, &cv);
                s.spawn(move || {
                    let done = AtomicBool::new(false);
                    for i in 0..per {
                        done.store(false, Relaxed);
                        {
                            let mut g = q.lock().unwrap();
                            g.0.push(Req { at: 5_000_000 + th * 100_000 + i, done: &done, who: std::thread::current() });
                            if g.0.len() == 1 {
                                cv.notify_one();
                            }
                        }
                        while !done.load(Acquire) {
                            std::thread::park();
                        }
                    }
                })
            })
            .collect();
        for x in cl {
            x.join().unwrap();
        }
        q.lock().unwrap().1 = true;
        cv.notify_one();
        w.join().unwrap();
    });
    (threads * per) as f64 / secs(t)
}

fn queries(n: u64, count: u64, seed: u64) -> Vec<Key> {
    let mut r = Rng(seed.wrapping_mul(0x1234567));
    (0..count).map(|_| rand_key(r.below(n))).collect()
}

/// Runs f on `threads` threads, each with its own handle; ops/s over all, and CPU ns per op, of these threads alone.
fn parallel<E: Engine>(e: &E, threads: u64, renew: bool, total: u64, f: impl Fn(&E, &mut E::Handle<'_>, u64, u64) + Sync) -> (f64, f64) {
    let bar = std::sync::Barrier::new(threads as usize);
    // from the first start to the last end, as the threads saw them
    let spans: Vec<(Instant, Instant, f64)> = std::thread::scope(|s| {
        let hs: Vec<_> = (0..threads)
            .map(|i| {
                let (bar, f) = (&bar, &f);
                s.spawn(move || {
                    let mut h = e.handle(renew);
                    bar.wait();
                    let (t, c0) = (Instant::now(), thread_cpu());
                    f(e, &mut h, i, total / threads);
                    (t, Instant::now(), thread_cpu() - c0)
                })
            })
            .collect();
        hs.into_iter().map(|h| h.join().unwrap()).collect()
    });
    let el = (spans.iter().map(|x| x.1).max().unwrap() - spans.iter().map(|x| x.0).min().unwrap()).as_secs_f64();
    let cp: f64 = spans.iter().map(|x| x.2).sum();
    let n = (total / threads * threads) as f64;
    (n / el, cp * 1e9 / n)
}
fn emit2(name: &str, r: (f64, f64)) {
    emit(name, r.0, "ops/s");
    emit(&format!("{name}, cpu per op"), r.1, "ns");
}

fn reads<E: Engine>(c: &Ctx, e: &E, n: u64) {
    let qs: Vec<Vec<Key>> = (0..8).map(|i| queries(n, c.n(250_000), i + 1)).collect();
    // warm every page once
    {
        let mut h = e.handle(false);
        e.read(&mut h, |r| {
            let mut s = 0u64;
            let m = r.scan(&[0u8], usize::MAX >> 1, |k, v| s += k[0] as u64 + v[0] as u64);
            black_box(s);
            assert_eq!(m as u64, n, "items in the database");
        });
    }
    for _round in 0..3 {
        for threads in [1u64, 2, 8] {
            for renew in [false, true] {
                if renew && !E::RENEW {
                    continue;
                }
                let tag = if renew { " renewed" } else { "" };
                if c.wants("e") {
                    let open_close = || {
                        parallel(e, threads, renew, c.n(4_000_000), |e, h, _, n| {
                            for _ in 0..n {
                                e.read_nothing(h);
                            }
                        })
                    };
                    emit2(&format!("e open+close read tx{tag}, {threads} threads"), open_close());
                    let (ops, commits) = beside_a_writer(c, e, n, open_close);
                    emit2(&format!("e open+close read tx{tag} beside a writer, {threads} threads"), ops);
                    emit(&format!("e commits of the writer{tag}, {threads} threads"), commits, "tx/s");
                }
                if !c.wants("d") {
                    continue;
                }
                let ops = parallel(e, threads, renew, c.n(200_000), |e, h, i, n| {
                    let q = &qs[i as usize];
                    let mut s = 0u64;
                    for j in 0..n {
                        let k = &q[j as usize % q.len()];
                        let ok = e.read(h, |r| r.get(k, |v| s = s.wrapping_add(v[0] as u64 + v[v.len() - 1] as u64)));
                        assert!(ok);
                    }
                    black_box(s);
                });
                emit2(&format!("d get, one per read tx{tag}, {threads} threads"), ops);
            }
            if !c.wants("d") {
                continue;
            }
            if E::BARE {
                let ops = parallel(e, threads, false, c.n(200_000), |e, h, i, n| {
                    let q = &qs[i as usize];
                    let mut s = 0u64;
                    for j in 0..n {
                        let k = &q[j as usize % q.len()];
                        assert!(e.bare_get(h, k, |v| s = s.wrapping_add(v[0] as u64 + v[v.len() - 1] as u64)));
                    }
                    black_box(s);
                });
                emit2(&format!("d get, bare (no explicit tx), {threads} threads"), ops);
            }
            let ops = parallel(e, threads, false, c.n(300_000), |e, h, i, n| {
                let q = &qs[i as usize];
                let mut s = 0u64;
                e.read(h, |r| {
                    for j in 0..n {
                        let k = &q[j as usize % q.len()];
                        assert!(r.get(k, |v| s = s.wrapping_add(v[0] as u64 + v[v.len() - 1] as u64)));
                    }
                });
                black_box(s);
            });
            emit2(&format!("d get, long read tx, {threads} threads"), ops);
        }
        if c.wants("f") {
            scans(c, e, n, "random-loaded");
        }
    }
}

/// The mean of what `f` gives while another thread makes durable commits of one item each, and how many of those a second.
/// `f` is repeated until there were some, however slow the device is at that moment.
fn beside_a_writer<E: Engine>(c: &Ctx, e: &E, n: u64, f: impl Fn() -> (f64, f64)) -> ((f64, f64), f64) {
    let (stop, commits) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|s| {
        s.spawn(|| {
            let mut h = e.handle(false);
            let mut i = 0;
            while !stop.load(Relaxed) {
                e.write(&mut h, |w| w.put(&rand_key(mix(i) % n), c.noise.value(i, VAL)));
                i += 1;
                commits.store(i, Relaxed);
            }
        });
        while commits.load(Relaxed) == 0 {
            std::thread::yield_now();
        }
        let (t, before) = (Instant::now(), commits.load(Relaxed));
        let (mut sum, mut rounds) = ((0.0, 0.0), 0.0);
        while rounds == 0.0 || (commits.load(Relaxed) < before + 50 && t.elapsed() < Duration::from_secs(5)) {
            let one = f();
            (sum.0, sum.1, rounds) = (sum.0 + one.0, sum.1 + one.1, rounds + 1.0);
        }
        let rate = (commits.load(Relaxed) - before) as f64 / secs(t);
        stop.store(true, Relaxed);
        ((sum.0 / rounds, sum.1 / rounds), rate)
    })
}

fn full_scan<E: Engine>(e: &E, h: &mut E::Handle<'_>, what: &str) {
    let t = Instant::now();
    let cp = cpu();
    let m = e.read(h, |r| {
        let mut s = 0u64;
        let m = r.scan(&[0u8], usize::MAX >> 1, |k, v| s += k[15] as u64 + v[0] as u64);
        black_box(s);
        m
    });
    emit(&format!("f full scan, {what}"), m as f64 / secs(t), "items/s");
    emit(&format!("f full scan, {what}, cpu per item"), (cpu() - cp) * 1e9 / m as f64, "ns");
}

fn scans<E: Engine>(c: &Ctx, e: &E, n: u64, what: &str) {
    let mut h = e.handle(false);
    full_scan(e, &mut h, what);
    let q = queries(n, c.n(10_000), 77);
    let t = Instant::now();
    let mut m = 0;
    let cp = cpu();
    e.read(&mut h, |r| {
        let mut s = 0u64;
        for k in &q {
            m += r.scan(k, 100, |k, v| s += k[15] as u64 + v[0] as u64);
        }
        black_box(s);
    });
    emit(&format!("f 100-item ranges, {what}"), m as f64 / secs(t), "items/s");
    emit(&format!("f 100-item ranges, {what}, cpu per item"), (cpu() - cp) * 1e9 / m as f64, "ns");
}

/// every item once, in another random order than it came in: stride by a number coprime to n
fn update_all<E: Engine>(c: &Ctx, e: &E, h: &mut E::Handle<'_>, n: u64, count: u64) {
    let stride = {
        let mut s = (n as f64 * 0.618) as u64 | 1;
        while gcd(s, n) != 1 {
            s += 2;
        }
        s
    };
    let mut at = c.rep;
    let mut i = 0u64;
    while i < count {
        let end = (i + 10_000).min(count);
        e.write(h, |w| {
            for k in i..end {
                at = (at + stride) % n;
                w.put(&rand_key(at), c.noise.value(at ^ k, VAL));
            }
        });
        i = end;
    }
}

/// (c random, nosync), (d), (e), (f), a quarter updated, (i)
fn group_load<E: Engine>(c: &Ctx) {
    let n = c.n(2_000_000);
    let d = c.fresh("load");
    {
        let e = E::open(&d, Opts { durable: false });
        let mut h = e.handle(false);
        let t = Instant::now();
        let cp = cpu();
        fill(&e, &mut h, c, Order::Rand, 0, n, 10_000, VAL, 0);
        emit("c load random 10k/tx nosync", n as f64 / secs(t), "items/s");
        emit("c load random 10k/tx nosync cpu per item", (cpu() - cp) * 1e9 / n as f64, "ns");
        let t = Instant::now();
        e.settle();
        emit("c settle after random load", secs(t), "s");
    }
    let e = E::open(&d, Opts { durable: true });
    let mut h = e.handle(false);
    let note = e.note();
    if !note.is_empty() {
        println!("# {} after random load: {note}", E::NAME);
    }
    reads(c, &e, n);
    if !c.wants("i") {
        drop(h);
        drop(e);
        let _ = std::fs::remove_dir_all(&d);
        return;
    }
    let t = Instant::now();
    update_all(c, &e, &mut h, n, n / 8);
    emit("h update of 1/8 random 10k/tx durable", (n / 8) as f64 / secs(t), "items/s");
    // (i): more durable work, then die inside a transaction
    for k in 0..c.n(20) {
        e.write(&mut h, |w| {
            for j in 0..1000 {
                w.put(&rand_key(mix(k * 1000 + j) % n), c.noise.value(k + j, VAL));
            }
        });
    }
    std::io::stdout().flush().unwrap();
    e.write(&mut h, |w| {
        for j in 0..500 {
            w.put(&rand_key(j), c.noise.value(j, VAL));
        }
        unsafe { libc::raise(libc::SIGKILL) };
    });
}

/// (c random, durable) and (h)
fn group_space<E: Engine>(c: &Ctx) {
    let n = c.n(1_000_000);
    let user = (n * 144) as f64;
    let d = c.fresh("space");
    let e = E::open(&d, Opts { durable: true });
    let mut h = e.handle(false);
    for (what, load) in [("random load", true), ("update of all", false)] {
        let dk = disk_written();
        let t = Instant::now();
        let cp = cpu();
        if load {
            fill(&e, &mut h, c, Order::Rand, 0, n, 10_000, VAL, 0);
        } else {
            update_all(c, &e, &mut h, n, n);
        }
        emit(&format!("h {what} 10k/tx durable"), n as f64 / secs(t), "items/s");
        emit(&format!("h {what} 10k/tx durable cpu per item"), (cpu() - cp) * 1e9 / n as f64, "ns");
        emit(&format!("h size after {what}"), dir_size(&d) as f64 / user, "x");
        e.settle();
        emit(&format!("h size after {what}, settled"), dir_size(&d) as f64 / user, "x");
        emit(&format!("h {what} disk bytes per user byte"), (disk_written() - dk) as f64 / user, "x");
    }
    drop(h);
    drop(e);
    let _ = std::fs::remove_dir_all(&d);
}
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// (i), of what `load` or `journal` left when it was killed; `after` says which.
fn group_reopen<E: Engine>(c: &Ctx, after: &str) {
    let d = c.dir.join("load");
    if !d.exists() {
        return;
    }
    for what in ["killed", "clean"] {
        let t = Instant::now();
        let e = E::open(&d, Opts { durable: true });
        let mut h = e.handle(false);
        let ok = e.read(&mut h, |r| r.get(&rand_key(5), |v| assert_eq!(v.len(), VAL)));
        assert!(ok);
        emit(&format!("i open and first read{after}, {what}"), secs(t) * 1e3, "ms");
        let t = Instant::now();
        e.write(&mut h, |w| w.put(&rand_key(5), c.noise.value(1, VAL)));
        emit(&format!("i first durable write after open{after}, {what}"), secs(t) * 1e3, "ms");
        drop(h);
        drop(e);
    }
    let _ = std::fs::remove_dir_all(&d);
}

fn group_seq<E: Engine>(c: &Ctx) {
    let n = c.n(2_000_000);
    let user = (n * 144) as f64;
    for durable in [true, false] {
        let tag = if durable { "durable" } else { "nosync" };
        let d = c.fresh("seq");
        let e = E::open(&d, Opts { durable });
        let mut h = e.handle(false);
        let io = proc_io();
        let t = Instant::now();
        let cp = cpu();
        fill(&e, &mut h, c, Order::Seq, 0, n, 10_000, VAL, 0);
        emit(&format!("c load sorted 10k/tx {tag}"), n as f64 / secs(t), "items/s");
        emit(&format!("c load sorted 10k/tx {tag} cpu per item"), (cpu() - cp) * 1e9 / n as f64, "ns");
        if durable {
            emit("h size after sorted load", dir_size(&d) as f64 / user, "x");
            emit("h sorted load bytes dirtied per user byte", (proc_io().0 - io.0) as f64 / user, "x");
            e.settle();
            emit("h size after sorted load, settled", dir_size(&d) as f64 / user, "x");
            full_scan(&e, &mut h, "sorted-loaded");
        }
    }
}

fn group_val<E: Engine>(c: &Ctx) {
    for (name, vlen, n) in [("1 KiB", 1024usize, c.n(100_000)), ("16 KiB", 16384, c.n(10_000))] {
        let d = c.fresh("val");
        let e = E::open(&d, Opts { durable: true });
        let mut h = e.handle(E::RENEW);
        let user = (n * (vlen as u64 + 16)) as f64;
        let io = proc_io();
        let t = Instant::now();
        let cp = cpu();
        fill(&e, &mut h, c, Order::Rand, 0, n, 100, vlen, 0);
        emit(&format!("g {name} write random 100/tx durable"), n as f64 / secs(t), "items/s");
        emit(&format!("g {name} write random 100/tx durable cpu per item"), (cpu() - cp) * 1e6 / n as f64, "us");
        emit(&format!("g {name} bytes dirtied per user byte"), (proc_io().0 - io.0) as f64 / user, "x");
        emit(&format!("g {name} size"), dir_size(&d) as f64 / user, "x");
        e.settle();
        let q = queries(n, c.n(100_000), 5);
        for round in 0..2 {
            let t = Instant::now();
            let cp = cpu();
            let mut s = 0u64;
            for k in &q {
                let ok = e.read(&mut h, |r| {
                    r.get(k, |v| {
                        assert_eq!(v.len(), vlen);
                        // touch every cache line, as a consumer would
                        let mut i = 0;
                        while i < v.len() {
                            s = s.wrapping_add(v[i] as u64);
                            i += 64;
                        }
                    })
                });
                assert!(ok);
            }
            black_box(s);
            if round == 1 {
                emit(&format!("g {name} read random, one per tx"), q.len() as f64 / secs(t), "ops/s");
                emit(&format!("g {name} read random, one per tx, cpu per op"), (cpu() - cp) * 1e9 / q.len() as f64, "ns");
            }
        }
        let t = Instant::now();
        let m = n / 2;
        let mut i = 0;
        while i < m {
            let end = (i + 100).min(m);
            e.write(&mut h, |w| {
                for k in i..end {
                    w.put(&rand_key(mix(k + c.rep) % n), c.noise.value(k, vlen));
                }
            });
            i = end;
        }
        emit(&format!("g {name} overwrite random 100/tx durable"), m as f64 / secs(t), "items/s");
        drop(h);
        drop(e);
        let _ = std::fs::remove_dir_all(&d);
    }
}

fn child<E: Engine>(group: &str, c: &Ctx) {
    match group {
        "tx" => group_tx::<E>(c),
        "load" => group_load::<E>(c),
        "reopen" => group_reopen::<E>(c, ""),
        "reopen-journal" => group_reopen::<E>(c, " after 128 MiB of journal"),
        "seq" => group_seq::<E>(c),
        "space" => group_space::<E>(c),
        "val" => group_val::<E>(c),
        g => panic!("no group {g}"),
    }
}

fn dispatch(name: &str, group: &str, c: &Ctx) {
    match name {
        // Our own engine alone: the journal of others has another shape, and no statistics to see it by.
        #[cfg(feature = "rookery")]
        "rookery" if group == "journal" => journal::run(c),
        #[cfg(feature = "rookery")]
        "rookery" if group == "contents" => contents::run(c),
        _ if group == "journal" || group == "contents" => {}
        #[cfg(feature = "rookery")]
        "rookery" => child::<rookery::Rookery>(group, c),
        #[cfg(feature = "lmdb")]
        "lmdb" => child::<lmdb::Lmdb<false>>(group, c),
        #[cfg(feature = "lmdb")]
        "lmdb-writemap" => child::<lmdb::Lmdb<true>>(group, c),
        #[cfg(feature = "mdbx")]
        "mdbx" => child::<mdbx::Mdbx<false>>(group, c),
        #[cfg(feature = "mdbx")]
        "mdbx-writemap" => child::<mdbx::Mdbx<true>>(group, c),
        #[cfg(feature = "redb")]
        "redb" => child::<redb::Redb>(group, c),
        #[cfg(feature = "rocksdb")]
        "rocksdb" => child::<rocksdb::Rocks>(group, c),
        #[cfg(feature = "fjall")]
        "fjall" => child::<fjall::Fjall>(group, c),
        #[cfg(feature = "sqlite")]
        "sqlite" => child::<sqlite::Sqlite>(group, c),
        "floor" => child::<floor::Floor>(group, c),
        n => panic!("no engine {n} in this build"),
    }
}

#[allow(clippy::too_many_arguments)]
fn all(dir: &Path, out: &Path, engines: &[String], groups: &[String], parts: &str, reps: u64, scale: f64, limit: u64) {
    let mut f = std::fs::OpenOptions::new().create(true).append(true).open(out).unwrap();
    let me = std::env::current_exe().unwrap();
    for rep in 0..reps {
        for g in groups {
            // rotate the order, so that no engine always follows the same one
            for i in 0..engines.len() {
                let e = &engines[(i + rep as usize) % engines.len()];
                let steps: &[&str] = match g.as_str() {
                    "load" => &["load", "reopen"],
                    "journal" => &["journal", "reopen-journal"],
                    _ => &[g.as_str()],
                };
                for step in steps {
                    unsafe { libc::sync() };
                    let load = loadavg();
                    let t = Instant::now();
                    let log = dir.join(format!("{e}-{step}.err"));
                    std::fs::create_dir_all(dir).unwrap();
                    let mut ch = std::process::Command::new(&me)
                        .args(["child", "--engine", e, "--group", step, "--rep", &rep.to_string(), "--scale", &scale.to_string()])
                        .args(["--parts", parts])
                        .arg("--dir")
                        .arg(dir.join(e))
                        .stdout(std::process::Stdio::piped())
                        .stderr(std::fs::File::create(&log).unwrap())
                        .spawn()
                        .unwrap();
                    let so = ch.stdout.take().unwrap();
                    let rd = std::thread::spawn(move || std::io::read_to_string(so).unwrap_or_default());
                    let st = loop {
                        if let Some(s) = ch.try_wait().unwrap() {
                            break Some(s);
                        }
                        if t.elapsed() > Duration::from_secs(limit) {
                            ch.kill().unwrap();
                            ch.wait().unwrap();
                            break None;
                        }
                        std::thread::sleep(Duration::from_millis(20));
                    };
                    let text = rd.join().unwrap();
                    for l in text.lines() {
                        let p: Vec<&str> = l.split('\t').collect();
                        if p.len() == 3 {
                            writeln!(f, "{e}\t{rep}\t{}\t{}\t{}\t{load:.2}", p[0], p[1], p[2]).unwrap();
                        } else {
                            writeln!(f, "#{e}\t{rep}\t{l}").unwrap();
                        }
                    }
                    f.flush().unwrap();
                    eprintln!("{e:14} {step:7} rep {rep} {:6.1} s load {load:.2} -> {:.2} {st:?}", secs(t), loadavg());
                }
                let _ = std::fs::remove_dir_all(dir.join(e));
            }
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if !args.iter().any(|a| a == "--plain-slice") && !short_slice() {
        eprintln!("no short scheduling slice: timings of durable commits suffer from neighbours");
    }
    let opt = |n: &str, d: &str| -> String {
        args.iter().position(|a| a == n).and_then(|i| args.get(i + 1)).cloned().unwrap_or(d.into())
    };
    let scale: f64 = opt("--scale", "1").parse().unwrap();
    let dir = PathBuf::from(opt("--dir", "kv-data"));
    let list = |s: String| s.split(',').map(|x| x.to_string()).collect::<Vec<_>>();
    let parts = list(opt("--parts", "")).into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>();
    match args.get(1).map(|s| s.as_str()) {
        Some("limits") => {
            println!("# load average {:.2}", loadavg());
            if opt("--what", "disk,cpu").contains("disk") {
                limits::disk(&dir, scale);
            }
            if opt("--what", "disk,cpu").contains("cpu") {
                limits::cpu(scale);
            }
            println!("# load average {:.2}", loadavg());
        }
        Some("child") => {
            let c = Ctx { dir, scale, rep: opt("--rep", "0").parse().unwrap(), noise: Noise::new(), parts };
            dispatch(&opt("--engine", ""), &opt("--group", ""), &c);
        }
        Some("all") => all(
            &dir,
            Path::new(&opt("--out", "results.tsv")),
            &list(opt("--engines", "lmdb,mdbx,redb,rocksdb,fjall,sqlite")),
            &list(opt("--groups", "tx,load,seq,val")),
            &opt("--parts", ""),
            opt("--reps", "3").parse().unwrap(),
            scale,
            opt("--limit", "240").parse().unwrap(),
        ),
        Some("duel") => {
            println!("# load average {:.2}", loadavg());
            let engines = opt("--engines", "");
            let engines = if engines.is_empty() { vec![] } else { list(engines) };
            let out = args.iter().any(|a| a == "--out").then(|| PathBuf::from(opt("--out", "")));
            for rep in 0..opt("--reps", "1").parse().unwrap() {
                let c: &'static Ctx = Box::leak(Box::new(Ctx { dir: dir.join(rep.to_string()), scale, rep, noise: Noise::new(), parts: vec![] }));
                duel::run(c, c.n(300), &engines, out.as_deref());
                let _ = std::fs::remove_dir_all(&c.dir);
            }
            println!("# load average {:.2}", loadavg());
        }
        Some("report") => report::print(Path::new(&opt("--out", "results.tsv"))),
        _ => eprintln!("usage: kv limits | all | duel | report | child (see the head of main.rs)"),
    }
}
