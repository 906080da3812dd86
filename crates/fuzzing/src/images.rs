//! Images of an environment, and records of its archive, changed, with their hashes fixed up or not.

use crate::{disk, edits};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use storage::image::{Progress, Restore, WriteOptions, verify};
use storage::io::simulated::SimulatedIo;
use storage::{Environment, Error, FixedTree, Options, Records, Tree};
use xxhash_rust::xxh3::{Xxh3, xxh3_128, xxh3_128_with_seed};

const TARGET: &str = "/restored";
const PAGE_SIZE: usize = 8192;
const HEADER_SIZE: usize = 80;
const FRAME_SIZE: usize = 64;
const RECORD_HEADER_SIZE: usize = 128;

/// Bytes that a restore may take on the disk.
const CAPACITY: u64 = 2 << 20;

/// An image with frames of all kinds, and records behind it.
struct Template {
    image: Vec<u8>,
    records: Vec<u8>,
}

fn put_some(environment: &Environment, from: u64, to: u64) {
    let put = environment.write(|tx| {
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
    });
    put.expect("the template is made on a disk without faults");
}

fn template() -> &'static Template {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let io = SimulatedIo::new();
        let environment = Environment::open("/environment", disk::options(&io)).expect("an empty disk");
        put_some(&environment, 0, 60);
        let (mut image, mut records) = (Vec::new(), Vec::new());
        let mut parts = 0;
        let summary = environment.write_image(&mut image, &WriteOptions::default(), &mut |_| {
            if parts == 0 {
                // A record, and a value that it leaves in the data file.
                put_some(&environment, 60, 64);
            }
            parts += 1;
            true
        });
        let after = summary.expect("a disk without faults").position;
        environment.set_archive(Some(1 << 20)).expect("its commits are durable");
        let mut reader = environment.archive(after).expect("nothing is behind the image");
        put_some(&environment, 10, 12);
        put_some(&environment, 64, 66);
        while let Some(record) = reader.next_record().expect("a disk without faults") {
            records.extend_from_slice(record.bytes);
        }
        Template { image, records }
    })
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

fn set(bytes: &mut [u8], at: usize, value: u128) {
    bytes[at..at + 16].copy_from_slice(&value.to_le_bytes());
}

fn chained(before: u128, bytes: &[u8]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&before.to_le_bytes());
    hash.update(bytes);
    hash.digest128()
}

/// Makes a record follow another one.
fn fix_record(record: &mut [u8], id: [u8; 16], transaction: &mut u64, previous: &mut u128) {
    *transaction = transaction.wrapping_add(1);
    record[8..24].copy_from_slice(&id);
    record[24..32].copy_from_slice(&transaction.to_le_bytes());
    set(record, 40, *previous);
    let mut hash = Xxh3::new();
    hash.update(&record[..112]);
    hash.update(&record[RECORD_HEADER_SIZE..]);
    *previous = hash.digest128();
    set(record, 112, *previous);
}

/// Makes the checksums of neighbouring pages fit.
fn fix_pages(mut bytes: &mut [u8], id: u128) {
    let seed = id as u64 ^ (id >> 64) as u64;
    while bytes.len() >= PAGE_SIZE {
        let pages = if bytes[32] == 5 { u32::from_le_bytes(array(bytes, 36)) as usize } else { 1 };
        let end = pages.clamp(1, bytes.len() / PAGE_SIZE) * PAGE_SIZE;
        let checksum = xxh3_128_with_seed(&bytes[16..end], seed);
        set(bytes, 0, checksum);
        bytes = &mut bytes[end..];
    }
}

/// Makes all hashes of an image fit, as far as it has frames.
fn fix_image(image: &mut [u8]) {
    if image.len() < HEADER_SIZE {
        return;
    }
    let id: [u8; 16] = array(image, 16);
    let mut transaction = u64::from_le_bytes(array(image, 32));
    let mut previous = u128::from_le_bytes(array(image, 40));
    let hash = xxh3_128(&image[..64]);
    set(image, 64, hash);
    let (mut at, mut chain) = (HEADER_SIZE, hash);
    while at + FRAME_SIZE <= image.len() {
        let length = u64::from_le_bytes(array(image, at + 24));
        let end = usize::try_from(length).ok().and_then(|length| length.checked_add(at + FRAME_SIZE));
        let Some(end) = end.filter(|end| *end <= image.len()) else { return };
        let kind = image[at];
        let payload = &mut image[at + FRAME_SIZE..end];
        match kind {
            1 if payload.len() >= 16 => {
                let count = u64::from_le_bytes(array(payload, 8)) as usize;
                let head = count.saturating_mul(16).saturating_add(16).min(payload.len());
                fix_pages(&mut payload[head..], u128::from_le_bytes(id));
            }
            2 if payload.len() >= RECORD_HEADER_SIZE => fix_record(payload, id, &mut transaction, &mut previous),
            3 if payload.len() >= 8 => fix_pages(&mut payload[8..], u128::from_le_bytes(id)),
            4 if payload.len() >= 16 => set(payload, 0, previous),
            _ => {}
        }
        let header_hash = chained(chain, &image[at..at + 32]);
        set(image, at + 32, header_hash);
        chain = chained(header_hash, &image[at + FRAME_SIZE..end]);
        set(image, at + 48, chain);
        at = end;
    }
}

fn go_on(_: Progress) -> bool {
    true
}

fn begin(io: &SimulatedIo, mut image: &[u8]) -> storage::image::Result<Restore> {
    Restore::begin(Arc::new(io.clone()), Path::new(TARGET), &mut image, &mut go_on)
}

/// What is restored can be opened and used; it need not make sense.
fn use_restored(io: &SimulatedIo) {
    let options = Options { io: Arc::new(io.clone()), background: false, ..Options::default() };
    let environment = Environment::open(TARGET, options).expect("what a restore ends with can be opened");
    environment.verify().ok();
    environment.write(|tx| Tree::open_or_create(tx, b"tree")?.put(tx, b"key/3", &[3; 300])).ok();
    environment.flush().ok();
}

/// An image. The first byte says whether hashes are made to fit; the rest changes a real one, or is one.
pub(crate) fn images(input: &[u8]) {
    let Some((how, rest)) = input.split_first() else { return };
    let mut image = if how & 2 == 0 { template().image.clone() } else { rest.to_vec() };
    if how & 2 == 0 {
        edits::apply(&mut image, rest);
    }
    if how & 1 == 1 {
        fix_image(&mut image);
    }
    let verified = verify(&mut &image[..], &mut go_on);
    let io = SimulatedIo::new();
    io.set_capacity(Some(CAPACITY));
    let Ok(restore) = begin(&io, &image) else { return };
    assert_eq!(
        verified.ok().map(|summary| summary.position),
        Some(restore.position()),
        "it restores, but is not verified"
    );
    if restore.finish().is_ok() {
        use_restored(&io);
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![0], vec![1], vec![3], [&[2][..], &template().image[..HEADER_SIZE + FRAME_SIZE]].concat()];
    for at in [0u16, 8, 80, 84, 96, 104, 112, 144, 152, 160, 400] {
        let [low, high] = at.to_le_bytes();
        seeds.push(vec![1, low, high, 1, 3, 1]);
    }
    seeds
}

/// Records behind an image. The first byte says whether hashes are made to fit; the rest changes real ones.
pub(crate) fn records(input: &[u8]) {
    let Some((how, rest)) = input.split_first() else { return };
    let template = template();
    let mut records = template.records.clone();
    edits::apply(&mut records, rest);
    let io = SimulatedIo::new();
    io.set_capacity(Some(CAPACITY));
    let mut restore = begin(&io, &template.image).expect("the template is whole");
    let base = restore.position();
    if how & 1 == 1 {
        let id = restore.environment_id().to_le_bytes();
        let (mut at, mut transaction, mut previous) = (0, base.transaction.0, base.hash);
        while at + RECORD_HEADER_SIZE <= records.len() {
            let stored = u64::from_le_bytes(array(&records, at + 56));
            let end = usize::try_from(stored).ok().and_then(|stored| stored.checked_add(at + RECORD_HEADER_SIZE));
            let Some(end) = end.filter(|end| *end <= records.len()) else { break };
            fix_record(&mut records[at..end], id, &mut transaction, &mut previous);
            at = end;
        }
    }
    let replayed = restore.replay(&mut &records[..], None, &mut go_on);
    if let Ok(position) = replayed {
        assert!(position.transaction >= base.transaction);
        assert_eq!(position, restore.position());
    }
    if restore.finish().is_ok() {
        use_restored(&io);
    }
}

pub(crate) fn record_seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![0], vec![1]];
    for at in [0u16, 24, 56, 64, 72, 76, 128, 129, 130, 132, 200] {
        let [low, high] = at.to_le_bytes();
        seeds.push(vec![1, low, high, 1, 3, 1]);
    }
    seeds
}
