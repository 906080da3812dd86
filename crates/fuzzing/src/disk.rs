//! Files of an environment: journals and data files, changed, with their hashes fixed up or not.
//!
//! Fixing the hashes up gets behind them, to what only our own writer should have written. It must not end the process
//! either: a hash says that bytes are what somebody wrote, not that he was right.

use crate::edits;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use storage::io::simulated::{Fate, SimulatedIo};
use storage::{Environment, Error, FixedTree, Location, Options, Records, Tree};
use xxhash_rust::xxh3::{Xxh3, xxh3_128, xxh3_128_with_seed};

const FOLDER: &str = "/environment";
const PAGE_SIZE: usize = 8192;
const RECORD_HEADER_SIZE: usize = 128;
const RECORD_ALIGNMENT: usize = 4096;

/// A disk with an environment, and what is needed to make hashes that fit.
pub(crate) struct Template {
    io: SimulatedIo,
    id: u128,
}

pub(crate) fn options(io: &SimulatedIo) -> Options {
    Options { io: Arc::new(io.clone()), background: false, ..Options::default() }
}

impl Template {
    /// * `build`: makes what is flushed, and then what is only in the journal.
    pub(crate) fn new(build: impl FnOnce(&SimulatedIo) -> u128) -> Template {
        let io = SimulatedIo::new();
        let id = build(&io);
        let io = io.crash(|| Fate::Persisted);
        // Without the room behind the pages, which only costs time.
        for (name, bytes) in io.contents(Path::new(FOLDER)) {
            let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            let alignment = if name == "data" { PAGE_SIZE } else { RECORD_ALIGNMENT };
            let length = used.next_multiple_of(alignment).min(bytes.len());
            io.damage(&Path::new(FOLDER).join(name), |bytes| bytes.truncate(length));
        }
        Template { io, id }
    }

    /// A disk of its own, with room for a few MiB more than it has.
    pub(crate) fn disk(&self) -> SimulatedIo {
        let disk = self.io.crash(|| Fate::Persisted);
        disk.set_capacity(Some(4 << 20));
        disk
    }

    pub(crate) fn change(&self, disk: &SimulatedIo, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        disk.damage(&Path::new(FOLDER).join(name), change);
    }

    /// Makes the hashes of a data file's headers and pages fit.
    pub(crate) fn fix_data(&self, bytes: &mut [u8]) {
        for header in bytes.chunks_mut(PAGE_SIZE).take(2) {
            let hash = xxh3_128(&header[..80]);
            header[80..96].copy_from_slice(&hash.to_le_bytes());
        }
        let seed = self.id as u64 ^ (self.id >> 64) as u64;
        let pages = bytes.len() / PAGE_SIZE;
        for number in 2..pages {
            let start = number * PAGE_SIZE;
            let is_run = bytes[start + 32] == 5;
            let count = u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[start + 36 + i])) as usize;
            let end = if is_run { number + count.clamp(1, pages - number) } else { number + 1 } * PAGE_SIZE;
            let hash = xxh3_128_with_seed(&bytes[start + 16..end], seed);
            bytes[start..start + 16].copy_from_slice(&hash.to_le_bytes());
        }
    }

    /// Makes a journal of the template continue it: ids, chain and hashes of as many records as there are.
    fn fix_journal(&self, bytes: &mut [u8], first: u64, mut previous: u128) {
        let mut at = 0;
        let mut transaction = first;
        while at + RECORD_HEADER_SIZE <= bytes.len() && bytes[at..].starts_with(b"ROOKJRN1") {
            let stored = u64::from_le_bytes(std::array::from_fn(|i| bytes[at + 56 + i]));
            let Some(end) = usize::try_from(stored).ok().and_then(|stored| stored.checked_add(at + RECORD_HEADER_SIZE))
            else {
                return;
            };
            if end > bytes.len() {
                return;
            }
            bytes[at + 8..at + 24].copy_from_slice(&self.id.to_le_bytes());
            bytes[at + 24..at + 32].copy_from_slice(&transaction.to_le_bytes());
            bytes[at + 40..at + 56].copy_from_slice(&previous.to_le_bytes());
            let mut hash = Xxh3::new();
            hash.update(&bytes[at..at + 112]);
            hash.update(&bytes[at + RECORD_HEADER_SIZE..end]);
            previous = hash.digest128();
            bytes[at + 112..at + 128].copy_from_slice(&previous.to_le_bytes());
            transaction = transaction.wrapping_add(1);
            at = end.next_multiple_of(RECORD_ALIGNMENT);
        }
    }
}

fn put_some(environment: &Environment, from: u64, to: u64) {
    environment
        .write(|tx| {
            let tree = Tree::open_or_create(tx, b"tree")?;
            let fixed = FixedTree::open_or_create(tx, b"fixed")?;
            let records = Records::open_or_create(tx, b"records")?;
            for number in from..to {
                tree.put(tx, format!("key/{number}").as_bytes(), &[number as u8; 90])?;
                let location = records.insert(tx, &[&[number as u8; 120]])?;
                fixed.put(tx, number, location.0)?;
            }
            tree.put(tx, format!("large/{from}").as_bytes(), &[7; 9_000])?;
            Ok::<_, Error>(())
        })
        .expect("the template is made on a disk without faults");
}

fn template() -> &'static Template {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        Template::new(|io| {
            let environment = Environment::open(FOLDER, options(io)).expect("an empty disk");
            put_some(&environment, 0, 150);
            environment.flush().expect("a disk without faults");
            put_some(&environment, 40, 45);
            put_some(&environment, 150, 155);
            environment.id()
        })
    })
}

/// What the header in force of the template says: the transaction, and the hash of its record.
fn state_of(disk: &SimulatedIo) -> (u64, u128) {
    let data = &disk.contents(Path::new(FOLDER))["data"];
    let headers = [&data[..PAGE_SIZE], &data[PAGE_SIZE..2 * PAGE_SIZE]];
    let sequence = |header: &&&[u8]| u64::from_le_bytes(std::array::from_fn(|i| header[32 + i]));
    let header = headers.iter().max_by_key(sequence).expect("there are two");
    let transaction = u64::from_le_bytes(std::array::from_fn(|i| header[40 + i]));
    (transaction, u128::from_le_bytes(std::array::from_fn(|i| header[64 + i])))
}

/// Opens what is on a disk, reads all of it, verifies it, changes it, and does that again. Any error is an answer.
fn use_all(disk: &SimulatedIo) {
    for round in 0..2 {
        let Ok(environment) = Environment::open(FOLDER, options(disk)) else { return };
        read_all(&environment).ok();
        environment.verify().ok();
        if round == 0 {
            for number in 2..20 {
                environment.describe_page(storage::PageNumber(number)).ok();
            }
            environment.write(change_all).ok();
            environment.flush().ok();
        }
    }
}

fn read_all(environment: &Environment) -> Result<(), Error> {
    // A damaged structure may lead in a circle; what a reader gets out of one is bounded here, not there.
    const ENTRIES_MAX: usize = 5_000;
    let tx = environment.read();
    if let Some(tree) = Tree::open(&tx, b"tree")? {
        let mut cursor = tree.cursor(&tx);
        for _ in 0..ENTRIES_MAX {
            if cursor.next()?.is_none() {
                break;
            }
        }
        let mut cursor = tree.cursor(&tx);
        for _ in 0..ENTRIES_MAX {
            if cursor.previous()?.is_none() {
                break;
            }
        }
        tree.get(&tx, b"key/44")?;
    }
    let (fixed, records) = (FixedTree::open(&tx, b"fixed")?, Records::open(&tx, b"records")?);
    if let (Some(fixed), Some(records)) = (fixed, records) {
        let mut cursor = fixed.cursor(&tx);
        for _ in 0..ENTRIES_MAX {
            let Some((_, location)) = cursor.next()? else { break };
            records.get(&tx, Location(location)).ok();
        }
        let (keys, mut values) = (Vec::from_iter(0..100), Vec::new());
        if fixed.get_many(&tx, &keys, &mut values).is_ok() {
            let one_by_one = keys.iter().map(|key| fixed.get(&tx, *key)).collect::<Result<Vec<_>, Error>>();
            assert_eq!(one_by_one.ok(), Some(values.clone()), "together they find what they do one by one");
        }
        let locations: Vec<Location> = values.into_iter().flatten().map(Location).collect();
        records.touch(&tx, &locations);
        records.get_many(&tx, fixed, &keys).ok();
    }
    Ok(())
}

fn change_all(tx: &mut storage::WriteTransaction<'_>) -> Result<(), Error> {
    let (tree, fixed) = (Tree::open_or_create(tx, b"tree")?, FixedTree::open_or_create(tx, b"fixed")?);
    let records = Records::open_or_create(tx, b"records")?;
    // Each alone: one error does not keep the others from being tried.
    for number in (0..160).step_by(7) {
        tree.delete(tx, format!("key/{number}").as_bytes()).ok();
        tree.put(tx, format!("key/{number}/more").as_bytes(), &[3; 300]).ok();
        if let Ok(Some(location)) = fixed.get(tx, number) {
            match records.update(tx, Location(location), &[&[9; 200]]) {
                Ok(location) => drop(fixed.put(tx, number, location.0)),
                Err(_) => drop(records.delete(tx, Location(location))),
            }
            fixed.delete(tx, number + 1).ok();
        }
    }
    tree.delete(tx, b"large/0").ok();
    tree.put(tx, b"large/0", &[1; 20_000]).ok();
    Ok(())
}

/// A journal. The first byte says how the rest is taken: as the file, as the pages of one record, as changes of a real one;
/// and whether ids and hashes are made to fit.
pub(crate) fn journal(input: &[u8]) {
    let Some((how, rest)) = input.split_first() else { return };
    let template = template();
    let disk = template.disk();
    let (transaction, hash) = state_of(&disk);
    let fix = how & 1 == 1;
    let names = disk.contents(Path::new(FOLDER)).into_keys();
    let name = names.filter(|name| name.starts_with("journal")).max().expect("the template has a journal");
    // Where the header says that the journal goes on.
    let offset = header_offset(&disk);
    template.change(&disk, &name, |bytes| {
        let mut tail = match how >> 1 & 3 {
            0 => rest.to_vec(),
            1 => record_of(rest, how >> 3),
            _ => {
                let mut tail = bytes[offset.min(bytes.len())..].to_vec();
                edits::apply(&mut tail, rest);
                tail
            }
        };
        if fix {
            template.fix_journal(&mut tail, transaction + 1, hash);
        }
        bytes.truncate(offset);
        bytes.extend_from_slice(&tail);
    });
    use_all(&disk);
}

fn header_offset(disk: &SimulatedIo) -> usize {
    let data = &disk.contents(Path::new(FOLDER))["data"];
    let at =
        |header: usize, place: usize| u64::from_le_bytes(std::array::from_fn(|i| data[header * PAGE_SIZE + place + i]));
    let newer = if at(0, 32) > at(1, 32) { 0 } else { 1 };
    at(newer, 56) as usize
}

/// One record around the bytes of its pages. `how`: whether they are said to be compressed, and how many pages there are.
fn record_of(pages: &[u8], how: u8) -> Vec<u8> {
    let (head, pages) = pages.split_at(pages.len().min(8));
    let mut raw = [0; 8];
    raw[..head.len()].copy_from_slice(head);
    let mut record = vec![0; RECORD_HEADER_SIZE];
    record[..8].copy_from_slice(b"ROOKJRN1");
    record[56..64].copy_from_slice(&(pages.len() as u64).to_le_bytes());
    record[64..72].copy_from_slice(&raw);
    record[72] = how >> 1 & 15;
    record[76] = how & 1;
    record.extend_from_slice(pages);
    record.resize(record.len().next_multiple_of(RECORD_ALIGNMENT), 0);
    record
}

pub(crate) fn journal_seeds() -> Vec<Vec<u8>> {
    let diff = |number: u8| vec![number, 0, 4, 30, 2, 7, 7];
    let record = [&[0; 8][..], &diff(4), &diff(5)].concat();
    let run = [&[0; 8][..], &[60, 2, 2, 5, 1, 2, 3, 4, 5]].concat();
    let fresh = [&[0; 8][..], &[61, 1, 3, 0, 1, 4]].concat();
    vec![
        [&[1 | 1 << 1 | 2 << 4][..], &record].concat(),
        [&[1 | 1 << 1 | 1 << 4][..], &run].concat(),
        [&[1 | 1 << 1 | 1 << 4][..], &fresh].concat(),
        vec![1 | 2 << 1, 130, 0, 0, 0, 3],
        vec![2 << 1, 56, 0, 0, 1, 0],
        [&[0][..], b"ROOKJRN1", &[0; 120]].concat(),
    ]
}

/// A data file. The first byte says whether its hashes are made to fit, and whether there is a journal; the rest changes it.
pub(crate) fn pages(input: &[u8]) {
    let Some((how, rest)) = input.split_first() else { return };
    let template = template();
    let disk = template.disk();
    template.change(&disk, "data", |bytes| {
        edits::apply(bytes, rest);
        if how & 1 == 1 {
            template.fix_data(bytes);
        }
    });
    use_all(&disk);
}

pub(crate) fn page_seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![0, 0, 0, 0, 0, 0]];
    // Each of the first pages: its kind, level, count, and some of what follows.
    for page in 2..12u16 {
        for field in [32, 33, 34, 36, 40, 48] {
            let [low, high] = (page * 64 + field).to_le_bytes();
            seeds.push(vec![1, low, high, 1, 3, 1]);
        }
    }
    seeds.push(vec![1, 40, 0, 0, 5, 1, 56, 0, 0, 5, 255]);
    seeds
}
