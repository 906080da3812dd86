//! Medians, spreads and ratios to LMDB of what `kv all` wrote, as a Markdown table.
use crate::util::percentile;
use std::collections::BTreeMap;
use std::path::Path;

/// Prints the table of a file that `kv all` wrote.
pub fn print(out: &Path) {
    let text = std::fs::read_to_string(out).unwrap();
    let mut order: Vec<(String, String)> = vec![];
    let mut engines: Vec<String> = vec![];
    let mut m: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    let mut loads = vec![];
    for l in text.lines().filter(|l| !l.starts_with('#')) {
        let p: Vec<&str> = l.split('\t').collect();
        if p.len() < 6 {
            continue;
        }
        if !order.iter().any(|x| x.0 == p[2]) {
            order.push((p[2].into(), p[4].into()));
        }
        if !engines.iter().any(|x| x == p[0]) {
            engines.push(p[0].into());
        }
        loads.push(p[5].parse().unwrap_or(f64::NAN));
        m.entry((p[2].into(), p[0].into())).or_default().push(p[3].parse().unwrap());
    }
    let want = ["rookery", "lmdb", "lmdb-writemap", "mdbx", "mdbx-writemap", "redb", "rocksdb", "fjall", "sqlite", "floor"];
    let cols: Vec<&str> = want.iter().copied().filter(|w| engines.iter().any(|e| e == w)).collect();
    println!("load average while measuring: median {:.2}, p90 {:.2}\n", percentile(&mut loads.clone(), 0.5), percentile(&mut loads.clone(), 0.9));
    println!("| workload | unit | {} |", cols.join(" | "));
    println!("|---|---|{}", "---|".repeat(cols.len()));
    order.sort_by(|a, b| a.0[..1].cmp(&b.0[..1]));
    for (w, unit) in &order {
        let base = m.get(&(w.clone(), "lmdb".into())).map(|v| percentile(&mut v.clone(), 0.5));
        let cells: Vec<String> = cols
            .iter()
            .map(|e| match m.get(&(w.clone(), e.to_string())) {
                None => "-".into(),
                Some(v) => {
                    let mut v = v.clone();
                    let med = percentile(&mut v, 0.5);
                    let (lo, hi) = (v[0], v[v.len() - 1]);
                    let spread = if med > 0.0 { (hi - lo) / med * 100.0 } else { 0.0 };
                    let r = match base {
                        Some(b) if b > 0.0 && unit.ends_with("/s") => format!(" ({:.2}x)", med / b),
                        _ => String::new(),
                    };
                    format!("{}{r} ±{spread:.0}%", human(med))
                }
            })
            .collect();
        println!("| {w} | {unit} | {} |", cells.join(" | "));
    }
}
fn human(v: f64) -> String {
    if v >= 1e6 {
        format!("{:.2}M", v / 1e6)
    } else if v >= 1e4 {
        format!("{:.1}k", v / 1e3)
    } else if v >= 100.0 {
        format!("{v:.0}")
    } else {
        format!("{v:.2}")
    }
}
