//! What an index costs: CPU time and bytes per document of seven short fields, look-ups, ranges and sorting. Prints
//! with `SLOW=1 cargo test --release -p rookery-query --test main -- speed::index --nocapture --test-threads=1`; tiny
//! otherwise.

use rookery_query::index::{
    Absent, Batch, Direction, Entry, EntryId, EntryIds, EntrySet, FieldNumber, Index, IndexSnapshot, Intersection,
    Kind, Number, Order, Progress, Term, TermRange,
};
use std::hint::black_box;
use std::ops::Bound;
use std::time::{Duration, Instant};
use storage::Options;
use testing::effort;
use testing::random::Random;

const FIELDS: [&str; 7] = ["Company", "Employee", "City", "Country", "OrderedAt", "Name", "Freight"];
const COUNTRIES: [&str; 20] = [
    "germany",
    "usa",
    "brazil",
    "france",
    "uk",
    "austria",
    "venezuela",
    "sweden",
    "canada",
    "mexico",
    "italy",
    "spain",
    "finland",
    "belgium",
    "ireland",
    "switzerland",
    "denmark",
    "argentina",
    "portugal",
    "norway",
];

/// CPU time of all threads of the process, so that other programs on the machine do not count. In steps of 10 ms.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    Duration::from_millis(10 * ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>())
}

fn mixed(number: u64) -> u64 {
    Random::new(number).next()
}

/// An order, much as the sample data have them; gives the bytes of its id and terms.
fn fill(entry: &mut Entry, fields: &[FieldNumber], number: u64, id: &mut String) -> usize {
    use std::fmt::Write as _;
    entry.clear();
    let mut random = mixed(number);
    let mut below = |bound: u64| {
        random = mixed(random);
        random % bound
    };
    id.clear();
    write!(id, "orders/{number:07}-A").unwrap();
    let mut size = id.len();
    let mut text = String::new();
    let mut add = |entry: &mut Entry, field: usize, text: &str| {
        size += text.len();
        entry.add(fields[field], Term::Text(text)).unwrap();
    };
    for (field, prefix, bound) in [(0, "companies/", 50_000), (1, "employees/", 100), (2, "city", 2_000)] {
        text.clear();
        write!(text, "{prefix}{}", below(bound)).unwrap();
        add(entry, field, &text);
    }
    add(entry, 3, COUNTRIES[below(20) as usize]);
    text.clear();
    let (month, day, hour, minute, second) = (1 + below(12), 1 + below(28), below(24), below(60), below(60));
    write!(text, "{}-{month:02}-{day:02}t{hour:02}:{minute:02}:{second:02}", 2010 + below(15)).unwrap();
    add(entry, 4, &text);
    text.clear();
    write!(text, "customer {:06x}", below(1 << 24)).unwrap();
    add(entry, 5, &text);
    let cents = below(100_000);
    text.clear();
    write!(text, "{}", cents as f64 / 100.0).unwrap();
    add(entry, 6, &text);
    entry.add(fields[6], Term::Number(Number::Double(cents as f64 / 100.0))).unwrap();
    size + 8
}

struct Timed {
    cpu: Duration,
    wall: Duration,
}

fn timed(work: impl FnOnce()) -> Timed {
    let (before, start) = (cpu(), Instant::now());
    work();
    let wall = start.elapsed();
    let cpu = cpu() - before;
    // Short work is told by the clock alone.
    Timed { cpu: if wall > Duration::from_millis(200) { cpu } else { wall }, wall }
}

fn report(name: &str, count: u64, timed: Timed) {
    let each = |time: Duration| time.as_nanos() as f64 / count as f64 / 1000.0;
    println!("{name:60} {:10.3} us CPU, {:10.3} us wall", each(timed.cpu), each(timed.wall));
}

/// Documents from `numbers` in batches; gives the bytes of their ids and terms.
fn index_documents(
    index: &Index,
    fields: &[FieldNumber],
    numbers: impl Iterator<Item = u64>,
    per_batch: usize,
) -> usize {
    let (mut batch, mut entries, mut id) = (Batch::new(), [Entry::new()], String::new());
    let mut size = 0;
    let mut numbers = numbers.peekable();
    while let Some(&first) = numbers.peek() {
        batch.clear();
        for number in numbers.by_ref().take(per_batch) {
            size += fill(&mut entries[0], fields, number, &mut id);
            batch.put(&id, number, &mut entries).unwrap();
        }
        batch.set_progress("Orders", Progress { items: first, tombstones: 0 }).unwrap();
        index.write(&batch).unwrap();
    }
    size
}

fn best(name: &str, rounds: u32, mut work: impl FnMut()) {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        (0..rounds).for_each(|_| work());
        best = best.min(start.elapsed() / rounds);
    }
    println!("{name:60} {:10.3} us", best.as_nanos() as f64 / 1000.0);
}

fn count(mut entries: impl EntryIds) -> u64 {
    let mut count = 0;
    while entries.next().unwrap().is_some() {
        count += 1;
    }
    count
}

#[test]
fn speed() {
    let documents = effort::number("DOCUMENTS").unwrap_or(effort::choose(2_000, 1_000_000));
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path().join("index"), Options::default()).unwrap();
    let fields: Vec<FieldNumber> = FIELDS.iter().map(|name| index.field(name).unwrap()).collect();

    let mut id = String::new();
    let mut entry = Entry::new();
    let making = timed(|| (0..documents).for_each(|number| _ = black_box(fill(&mut entry, &fields, number, &mut id))));
    report("making an entry (in all that follows)", documents, making);
    let in_memory = Index::in_memory(Options::default()).unwrap();
    for name in FIELDS {
        in_memory.field(name).unwrap();
    }
    let per_batch = documents as usize / 10;
    let bulk = timed(|| _ = index_documents(&in_memory, &fields, 0..documents, per_batch));
    report("bulk, new, in memory, ten batches: per document", documents, bulk);
    drop(in_memory);
    let mut size = 0;
    let bulk = timed(|| size = index_documents(&index, &fields, 0..documents, 10_000));
    report("bulk, new, batches of 10,000: per document", documents, bulk);
    index.environment().flush().unwrap();
    let used = index.environment().statistics().unwrap().used_pages * storage::limits::PAGE_SIZE as u64;
    let (bytes, terms) = (used as f64 / documents as f64, size as f64 / documents as f64);
    println!("bytes per document: {bytes:.1} in pages, {terms:.1} of id and terms: {:.2} times", bytes / terms);
    for (name, shape) in index.environment().verify().unwrap().structures {
        let bytes = shape.pages as f64 * storage::limits::PAGE_SIZE as f64 / documents as f64;
        println!("  {name:20} {bytes:7.1} bytes per document, {}% full", shape.fill_percent());
    }

    let more = effort::choose(50, 5_000);
    let single = timed(|| _ = index_documents(&index, &fields, documents..documents + more, 1));
    report("one new document per batch", more, single);
    let changed = timed(|| _ = index_documents(&index, &fields, (0..more).map(|number| mixed(number) % documents), 1));
    report("one document per batch, as it was", more, changed);
    let bulk = documents / 10;
    let again = (0..bulk).map(|number| mixed(number) % documents);
    report(
        "bulk, as they were, batches of 10,000",
        bulk,
        timed(|| _ = index_documents(&index, &fields, again, 10_000)),
    );
    let removing = timed(|| {
        let mut batch = Batch::new();
        for number in 0..bulk {
            batch.remove(&format!("orders/{:07}-a", number * 9)).unwrap();
        }
        index.write(&batch).unwrap();
    });
    report("bulk, removed", bulk, removing);
    let putting = timed(|| _ = index_documents(&index, &fields, (0..bulk).map(|number| number * 9), 10_000));
    report("bulk, put back", bulk, putting);
    read(&index.read().unwrap(), &fields, documents);
}

/// What a document costs by how many come at once: indexes follow writes closely, so most batches are small.
#[test]
fn batches() {
    let documents: u64 = effort::choose(500, 50_000);
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path().join("index"), Options::default()).unwrap();
    let fields: Vec<FieldNumber> = FIELDS.iter().map(|name| index.field(name).unwrap()).collect();
    let mut first = 0;
    for per_batch in [10_000, 1, 10, 100, 1_000] {
        let numbers = first..first + documents;
        first = numbers.end;
        let timed = timed(|| _ = index_documents(&index, &fields, numbers, per_batch));
        report(&format!("after {} documents, {per_batch} at once", first - documents), documents, timed);
    }
}

fn read(snapshot: &IndexSnapshot<'_>, fields: &[FieldNumber], documents: u64) {
    let rounds = |slow: u32| if documents > 100_000 { slow } else { 1 };
    let mut number = 0;
    best("term lookup, first entry (20 entries each)", rounds(100_000), || {
        number += 1;
        let text = format!("companies/{}", mixed(number) % 50_000);
        black_box(snapshot.term(fields[0], Term::Text(&text)).unwrap().next().unwrap());
    });
    best("entry to document id", rounds(100_000), || {
        number += 1;
        let id = EntryId(1 + mixed(number) % documents);
        black_box(snapshot.entry(id).unwrap().map(|entry| entry.document().len()));
    });
    let usa = || snapshot.term(fields[3], Term::Text("usa")).unwrap();
    best("all entries of a term (1/20), one by one", rounds(20), || _ = black_box(count(usa())));
    best("all entries of a term (1/20), as a set", rounds(20), || _ = black_box(EntrySet::of(usa()).unwrap().len()));
    best("and: 1/20 with 1/100", rounds(20), || {
        let employee = snapshot.term(fields[1], Term::Text("employees/7")).unwrap();
        black_box(count(Intersection::new(vec![Box::new(usa()), Box::new(employee)])));
    });
    best("and: 1/20 with one of 20 entries", rounds(2_000), || {
        let company = snapshot.term(fields[0], Term::Text("companies/77")).unwrap();
        black_box(count(Intersection::new(vec![Box::new(usa()), Box::new(company)])));
    });
    best("all with a field", rounds(20), || {
        black_box(EntrySet::of(snapshot.present(fields[0], Kind::Text).unwrap()).unwrap().len());
    });
    let numbers = |low: f64, high: f64| {
        let (low, high) = (Bound::Included(Number::Double(low)), Bound::Excluded(Number::Double(high)));
        TermRange::numbers(fields[6], low, high)
    };
    for (name, range) in [
        ("numbers, 1% of entries", numbers(100.0, 110.0)),
        ("numbers, half of entries", numbers(100.0, 600.0)),
        ("a day (15 years, nearly each its own term)", TermRange::prefix(fields[4], "2015-03-07")),
        ("a year", TermRange::prefix(fields[4], "2015")),
        ("names, all (each its own term)", TermRange::all(fields[5], Kind::Text)),
    ] {
        let rounds = rounds(if name.ends_with("entries") { 10 } else { 3 });
        best(&format!("range as a set: {name}"), rounds, || _ = black_box(snapshot.range(&range).unwrap().len()));
        best(&format!("range estimated: {name}"), rounds, || _ = black_box(snapshot.estimate(&range).unwrap()));
    }
    ranges_by_hand(snapshot, &TermRange::prefix(fields[4], "2015"), rounds(3));
    let all = EntrySet::of(snapshot.all()).unwrap();
    let country = EntrySet::of(usa()).unwrap();
    let few = EntrySet::of(snapshot.term(fields[0], Term::Text("companies/77")).unwrap()).unwrap();
    let order = |field: usize, kind| Order {
        field: fields[field],
        kind,
        direction: Direction::Descending,
        absent: Absent::Last,
    };
    for (name, set) in [("all", &all), ("1/20", &country), ("20", &few)] {
        for (by, order) in [("number", order(6, Kind::Number)), ("name", order(5, Kind::Text))] {
            for page in [25, usize::MAX] {
                let page_name = if page == 25 { "25" } else { "all" };
                let rounds = if page == 25 { rounds(5) } else { 1 };
                let name = format!("sort {name} by {by}, first {page_name}");
                best(&name, rounds, || _ = black_box(snapshot.sorted(set, order, None, page).unwrap().len()));
                best("    by walking", rounds, || {
                    _ = black_box(snapshot.sorted_by_walking(set, order, page).unwrap().len())
                });
                best("    by values", rounds, || {
                    _ = black_box(snapshot.sorted_by_values(set, order, page).unwrap().len())
                });
            }
        }
    }
}

/// The same range, gathered in other ways than in a compressed bitmap one entry at a time.
fn ranges_by_hand(snapshot: &IndexSnapshot<'_>, range: &TermRange, rounds: u32) {
    let ids: Vec<u64> = {
        let mut terms = snapshot.range(range).unwrap();
        let mut ids = Vec::new();
        let set = std::mem::take(&mut terms);
        let mut entries = set.entries();
        while let Some(id) = entries.next().unwrap() {
            ids.push(id.0);
        }
        // In the order of terms they come mixed.
        ids.sort_by_key(|id| mixed(*id));
        ids
    };
    best("  its ids into a set, one by one", rounds, || {
        black_box(ids.iter().map(|id| EntryId(*id)).collect::<EntrySet>().len());
    });
    best("  its ids sorted as numbers", rounds, || {
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        black_box(sorted.len());
    });
    best("  its ids sorted, then into a set", rounds, || {
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        black_box(sorted.into_iter().map(EntryId).collect::<EntrySet>().len());
    });
    best("  its ids into plain bits", rounds, || {
        let mut bits = vec![0u64; ids.iter().max().map_or(0, |id| *id as usize / 64 + 1)];
        ids.iter().for_each(|id| bits[*id as usize / 64] |= 1 << (id % 64));
        black_box(bits.len());
    });
}
