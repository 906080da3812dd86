//! Moments of 2001 to 2033 with seven digits of the second: to text and back, beside `jiff`.
use crate::Effort;
use micro::random::Random;
use micro::round::{OURS, compare, side};
use rookery_documents::Date;
use std::hint::black_box;

const COUNT: usize = 4096;
const TICKS_TO_1970: u64 = 621_355_968_000_000_000;

pub fn run(effort: Effort) {
    let mut random = Random(7);
    let unix: Vec<u64> = (0..COUNT).map(|_| 1_000_000_000_0000000 + random.below(1_000_000_000_0000000)).collect();
    let dates: Vec<Date> = unix.iter().map(|ticks| Date::from_ticks(TICKS_TO_1970 + ticks)).collect();
    let stamps: Vec<jiff::Timestamp> = unix
        .iter()
        .map(|ticks| jiff::Timestamp::new((ticks / 10_000_000) as i64, (ticks % 10_000_000) as i32 * 100).unwrap())
        .collect();
    let texts: Vec<String> = dates.iter().map(Date::to_string).collect();
    let printer = jiff::fmt::temporal::DateTimePrinter::new().precision(Some(7));
    for (at, stamp) in stamps.iter().enumerate() {
        let mut text = String::new();
        printer.print_timestamp(stamp, &mut text).unwrap();
        assert_eq!(text, texts[at]);
        assert_eq!((Date::parse(&text), text.parse().ok()), (Some(dates[at]), Some(*stamp)));
    }

    let mut text = String::with_capacity(64);
    let ours = |count| (0..count).for_each(|n| _ = black_box(black_box(dates[n % COUNT]).text()));
    let theirs = |count| {
        for n in 0..count {
            text.clear();
            printer.print_timestamp(&stamps[n % COUNT], &mut text).unwrap();
            black_box(&text);
        }
    };
    compare("date format", effort.rounds, effort.operations, vec![side(OURS, ours), side("jiff", theirs)]);

    let ours = |count| (0..count).for_each(|n| _ = black_box(Date::parse(black_box(&texts[n % COUNT]))));
    let parser = jiff::fmt::temporal::DateTimeParser::new();
    let theirs = |count| (0..count).for_each(|n| _ = black_box(parser.parse_timestamp(black_box(&texts[n % COUNT]))));
    compare("date parse", effort.rounds, effort.operations, vec![side(OURS, ours), side("jiff", theirs)]);
}
