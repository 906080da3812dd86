//! (a) and (b), durable, with the engines interleaved commit by commit in one process, so that a busy machine hurts all
//! alike. p10 is close to what an idle machine gives.
use crate::engines::*;
use crate::util::*;
use crate::{Ctx, VAL, fill};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

type Step = Box<dyn FnMut(Order, u64, u64)>;
fn stepper<E: Engine + 'static>(c: &'static Ctx) -> Step {
    let d = c.fresh(E::NAME);
    let e: &'static E = Box::leak(Box::new(E::open(&d, Opts { durable: true })));
    let mut h = e.handle(false);
    fill(e, &mut h, c, Order::Rand, 0, 20_000, 5_000, VAL, 0);
    Box::new(move |o, from, to| fill(e, &mut h, c, o, from, to, to - from, VAL, 1))
}

/// The engines of this build that are wanted (all, if none is named).
fn contestants(c: &'static Ctx, wanted: &[String]) -> Vec<(&'static str, Step)> {
    let mut v: Vec<(&str, Step)> = vec![];
    let mut add = |name: &'static str, make: fn(&'static Ctx) -> Step| {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            v.push((name, make(c)));
        }
    };
    add("floor", stepper::<floor::Floor>);
    #[cfg(feature = "rookery")]
    add("rookery", stepper::<rookery::Rookery>);
    #[cfg(feature = "lmdb")]
    add("lmdb", stepper::<lmdb::Lmdb<false>>);
    #[cfg(feature = "lmdb")]
    add("lmdb-writemap", stepper::<lmdb::Lmdb<true>>);
    #[cfg(feature = "mdbx")]
    add("mdbx", stepper::<mdbx::Mdbx<false>>);
    #[cfg(feature = "redb")]
    add("redb", stepper::<redb::Redb>);
    #[cfg(feature = "rocksdb")]
    add("rocksdb", stepper::<rocksdb::Rocks>);
    #[cfg(feature = "fjall")]
    add("fjall", stepper::<fjall::Fjall>);
    #[cfg(feature = "sqlite")]
    add("sqlite", stepper::<sqlite::Sqlite>);
    v
}

/// Prints the latencies of `n` commits each, and appends them to `out` in the form of `kv all`.
pub fn run(c: &'static Ctx, n: u64, wanted: &[String], out: Option<&Path>) {
    let load = loadavg();
    let mut file = out.map(|out| std::fs::OpenOptions::new().create(true).append(true).open(out).unwrap());
    let mut v = contestants(c, wanted);
    for (what, o, per) in [("a seq 100/tx", Order::Seq, 100u64), ("a rand 100/tx", Order::Rand, 100), ("b rand 1/tx", Order::Rand, 1)] {
        let mut lat: Vec<Vec<f64>> = vec![vec![]; v.len()];
        let mut cp: Vec<Vec<f64>> = vec![vec![]; v.len()];
        let base = 1_000_000 * (1 + per) + if o == Order::Seq { 0 } else { 500_000 };
        for i in 0..n {
            for j in 0..v.len() {
                let j = (j + i as usize) % v.len();
                let c0 = cpu();
                let t = Instant::now();
                (v[j].1)(o, base + i * per, base + (i + 1) * per);
                lat[j].push(secs(t) * 1e6);
                cp[j].push((cpu() - c0) * 1e6);
            }
        }
        for j in 0..v.len() {
            let (name, l) = (v[j].0, &mut lat[j]);
            let mean = l.iter().sum::<f64>() / n as f64;
            let figures = [
                ("p10", percentile(l, 0.1)),
                ("p50", percentile(l, 0.5)),
                ("p90", percentile(l, 0.9)),
                ("mean", mean),
                ("cpu p50", percentile(&mut cp[j], 0.5)),
            ];
            print!("{what}\t{name}");
            for (figure, us) in figures {
                print!("\t{figure} {us:.0}");
                if let Some(file) = &mut file {
                    writeln!(file, "{name}\t{}\tduel {what} {figure}\t{us}\tus\t{load:.2}", c.rep).unwrap();
                }
            }
            println!(" us");
        }
    }
}
