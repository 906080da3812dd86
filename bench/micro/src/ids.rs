//! Ids of 12 to 40 bytes to keys, beside the standard library's ASCII function, which has to look for Unicode as well; and
//! ids of other scripts, beside `str::to_lowercase`.
use crate::Effort;
use micro::random::Random;
use micro::round::{OURS, compare, side};
use rookery_documents::id;
use std::hint::black_box;

const COUNT: usize = 20_000;

/// What the standard library offers for the same: a check, then its ASCII function, in a buffer that is used again.
fn lower_by_std(key: &mut Vec<u8>, id: &str) {
    key.clear();
    if id.is_ascii() {
        key.extend_from_slice(id.as_bytes());
        key.make_ascii_lowercase();
    } else {
        key.extend_from_slice(id.to_lowercase().as_bytes());
    }
}

fn measure(figure: &str, effort: Effort, ids: &[String]) {
    let (mut ours, mut theirs) = (Vec::with_capacity(512), Vec::with_capacity(512));
    for id in ids {
        id::lower_into(&mut ours, id);
        lower_by_std(&mut theirs, id);
        assert_eq!(ours, theirs, "{id}");
    }
    let ours = |count| {
        for n in 0..count {
            id::lower_into(&mut ours, black_box(&ids[n % COUNT]));
            black_box(&ours);
        }
    };
    let theirs = |count| {
        for n in 0..count {
            lower_by_std(&mut theirs, black_box(&ids[n % COUNT]));
            black_box(&theirs);
        }
    };
    compare(figure, effort.rounds, effort.operations, vec![side(OURS, ours), side("std", theirs)]);
}

pub fn run(effort: Effort) {
    let mut random = Random(9);
    let collections = ["Users", "Orders", "ProductCategories", "employees"];
    let ids: Vec<String> = (0..COUNT)
        .map(|n| {
            let mut id = format!("{}/{}-A", collections[n % 4], random.below(1 << 40));
            let size = 12 + random.below(29) as usize;
            id.extend((id.len()..size).map(|_| char::from(b'A' + random.below(26) as u8)));
            id.truncate(size);
            id
        })
        .collect();
    measure("id lower", effort, &ids);
    let ids: Vec<String> = (0..COUNT).map(|n| format!("Städte/Łódź-ÄÖÜ-{}", n * 977)).collect();
    measure("id lower unicode", effort, &ids);
}
