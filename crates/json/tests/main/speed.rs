//! How long checking, minifying and reading take for one document of 300 bytes and one of 3 KB. Asks: does a document
//! cost less than 0.3 us to take in? Prints with `SLOW=1 cargo test --release -p rookery-json --test main -- speed::
//! --nocapture`; tiny otherwise.

use rookery_json::{ElementScanner, Minifier, Raw};
use std::hint::black_box;
use std::time::Instant;

fn nanos(name: &str, rounds: u32, mut work: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        (0..rounds).for_each(|_| work());
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(rounds));
    }
    println!("{name:40} {best:9.1} ns");
}

#[test]
fn speed() {
    let rounds = testing::effort::choose(10, 200_000);
    let small = r#"{"Name":"Ann Example","Age":30,"Email":"ann.example@example.com","Tags":["a","b","c"],"Address":{"Street":"Long Street 12","City":"Oslo","Zip":"0150","Country":"Norway"},"Balance":12.7500,"Active":true,"Notes":"some text that is a bit longer, with plain words","@metadata":{"@collection":"Users"}}"#;
    let large = format!("{{\"Items\":[{}],\"Name\":\"x\"}}", [small; 10].join(","));
    for (name, text) in [("small", small.to_owned()), ("large", large)] {
        let pretty = serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(&text).unwrap()).unwrap();
        println!("{name}: {} bytes, pretty {}", text.len(), pretty.len());
        let mut minifier = Minifier::new();
        nanos("minify, stored form", rounds, || drop(black_box(minifier.minify(black_box(text.as_bytes())))));
        nanos("minify, pretty", rounds, || drop(black_box(minifier.minify(black_box(pretty.as_bytes())))));
        nanos("serde_json IgnoredAny", rounds, || {
            drop(black_box(serde_json::from_slice::<serde::de::IgnoredAny>(black_box(text.as_bytes()))))
        });
        nanos("members", rounds, || _ = black_box(Raw::new(black_box(text.as_bytes())).members().count()));
        nanos("last member", rounds, || _ = black_box(Raw::new(black_box(text.as_bytes())).get("@metadata")));
        let array = format!("[{text}]");
        nanos("element scanner", rounds, || drop(black_box(ElementScanner::new().next(black_box(array.as_bytes())))));
    }
}
