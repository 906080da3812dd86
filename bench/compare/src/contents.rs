//! (j): a content of 1 GiB, written in pieces and read in chunks, of our own engine; beside what the device gives for positioned
//! writes and reads of the same sizes, in turns. And the memory that it takes.
use crate::util::*;
use crate::{Ctx, emit};
use std::fs::File;
use std::hint::black_box;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};
use storage::contents::LinkOutcome;
use storage::{Contents, Environment, Error, Options};

const SIZE: u64 = 1 << 30;
/// Bytes of one write: of one transaction, and of one `pwrite`.
const PIECE: usize = 8 << 20;
/// Bytes of one read: of one chunk, and of one `pread`.
const CHUNK: usize = 1 << 20;
const MIB: f64 = (1 << 20) as f64;
/// How often all is written, and then how often that is read.
const ROUNDS: u64 = 5;
const READS: u64 = 3;
const UPLOAD: &[u8] = b"upload";

/// What a byte at each place is: pieces of one block of noise, so that nobody compresses it or finds a piece twice in a row.
struct Source(Vec<u8>);
impl Source {
    fn new() -> Self {
        let mut r = Rng(7);
        let mut bytes = Vec::with_capacity(2 * PIECE);
        while bytes.len() < 2 * PIECE {
            bytes.extend_from_slice(&r.next().to_le_bytes());
        }
        Source(bytes)
    }
    fn piece(&self, index: u64) -> &[u8] {
        let at = (index as usize * 8192 + 8) % PIECE;
        &self.0[at..at + PIECE]
    }
}

/// Rates in MiB/s, and what of the processor each took, in ns per MiB.
#[derive(Default)]
struct Runs {
    rates: Vec<f64>,
    cpus: Vec<f64>,
}
impl Runs {
    fn add(&mut self, size: u64, f: impl FnOnce()) {
        let (t, before) = (Instant::now(), cpu());
        f();
        let mib = size as f64 / MIB;
        self.rates.push(mib / secs(t));
        self.cpus.push((cpu() - before) * 1e9 / mib);
    }
    fn rate(&mut self) -> f64 {
        percentile(&mut self.rates, 0.5)
    }
}

pub fn run(c: &Ctx) {
    let pieces = c.n(SIZE / PIECE as u64);
    let size = pieces * PIECE as u64;
    let source = Source::new();
    let [mut write, mut device_write, mut direct_write, mut read, mut device_read] = <[Runs; 5]>::default();
    let mut memory = [vec![], vec![]];
    for _ in 0..ROUNDS {
        let d = c.fresh("contents");
        let (device, direct, folder) = (d.join("device"), d.join("direct"), d.join("environment"));
        direct_write.add(size, || write_direct(&direct, &source, pieces));
        let _ = std::fs::remove_file(direct);
        let environment = Environment::open(&folder, Options::default()).unwrap();
        let contents = environment.write(|tx| Contents::open_or_create(tx, b"contents")).unwrap();
        // Threads and buffers that stay are not of the content.
        write_content(&environment, contents, &source, 2, b"small");
        unsafe { libc::sync() };
        device_write.add(size, || write_device(&device, &source, pieces));
        let mut sampler = Sampler::start();
        write.add(size, || write_content(&environment, contents, &source, pieces, b"large"));
        memory.iter_mut().zip(sampler.stop()).for_each(|(memory, above)| memory.push(above));
        // The first read of a file that was just written is slow on a virtual machine, by whatever program: it gets memory that the
        // host has to give first. So it is left out, of both files.
        for file in [&device, &folder.join("data")] {
            evict(file);
            read_device(file, size);
        }
        for _ in 0..READS {
            evict(&device);
            device_read.add(size, || read_device(&device, size));
            evict(&folder.join("data"));
            sampler = Sampler::start();
            read.add(size, || read_content(&environment, contents, &source, size));
            memory.iter_mut().zip(sampler.stop()).for_each(|(memory, above)| memory.push(above));
        }
        drop(environment);
        let _ = std::fs::remove_dir_all(&d);
    }
    emit("j content of 1 GiB, write, of the device's rate", write.rate() / device_write.rate(), "x");
    emit("j content of 1 GiB, read, of the device's rate", read.rate() / device_read.rate(), "x");
    for (name, mut runs) in [
        ("write", write),
        ("pwrite and one fdatasync", device_write),
        ("pwrite with O_DIRECT and O_DSYNC", direct_write),
        ("read", read),
        ("pread", device_read),
    ] {
        println!("# {name}: {:.0?} MiB/s", runs.rates);
        emit(&format!("j content of 1 GiB, {name}"), runs.rate(), "MiB/s");
        emit(&format!("j content of 1 GiB, {name}, cpu per MiB"), percentile(&mut runs.cpus, 0.5), "ns");
    }
    emit("j content of 1 GiB, resident memory above idle", percentile(&mut memory[0], 1.0), "MiB");
    emit("j content of 1 GiB, anonymous memory above idle", percentile(&mut memory[1], 1.0), "MiB");
}

fn write_device(path: &Path, source: &Source, pieces: u64) {
    let file = File::create(path).unwrap();
    for i in 0..pieces {
        file.write_all_at(source.piece(i), i * PIECE as u64).unwrap();
    }
    file.sync_data().unwrap();
}

/// For reference: past the page cache, each write durable.
fn write_direct(path: &Path, source: &Source, pieces: u64) {
    let flags = libc::O_DIRECT | libc::O_DSYNC;
    let file = File::options().create(true).truncate(true).write(true).custom_flags(flags).open(path).unwrap();
    let mut memory = vec![0; PIECE + 4096];
    let start = memory.as_ptr().align_offset(4096);
    for i in 0..pieces {
        memory[start..start + PIECE].copy_from_slice(source.piece(i));
        file.write_all_at(&memory[start..start + PIECE], i * PIECE as u64).unwrap();
    }
}

fn read_device(path: &Path, size: u64) {
    let file = File::open(path).unwrap();
    let mut buffer = vec![0; CHUNK];
    for at in (0..size).step_by(CHUNK) {
        file.read_exact_at(&mut buffer, at).unwrap();
        black_box(&buffer);
    }
}

/// Drops what the page cache has of a file.
fn evict(path: &Path) {
    let file = File::open(path).unwrap();
    file.sync_all().unwrap();
    assert_eq!(unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) }, 0);
}

/// Two threads in turns, as a server has the next piece of a body when one is on its way: a piece is appended when the one before it
/// was, and does not wait until that is durable.
fn write_content(environment: &Environment, contents: Contents, source: &Source, pieces: u64, hash: &[u8]) {
    environment.write(|tx| contents.begin(tx, UPLOAD, 0)).unwrap();
    let (next, changed) = (Mutex::new(0), Condvar::new());
    std::thread::scope(|s| {
        for thread in 0..2 {
            let (next, changed) = (&next, &changed);
            s.spawn(move || {
                for i in (thread..pieces).step_by(2) {
                    drop(changed.wait_while(next.lock().unwrap(), |next| *next != i).unwrap());
                    let append = |tx: &mut storage::WriteTransaction<'_>| {
                        contents.append(tx, UPLOAD, i * PIECE as u64, source.piece(i), 0)?;
                        *next.lock().unwrap() += 1;
                        changed.notify_all();
                        Ok(())
                    };
                    environment.write::<_, Error>(append).unwrap();
                }
            });
        }
    });
    let linked = environment.write(|tx| contents.link(tx, UPLOAD, hash)).unwrap();
    assert!(matches!(linked, LinkOutcome::Linked(content) if content.length == pieces * PIECE as u64));
}

fn read_content(environment: &Environment, contents: Contents, source: &Source, size: u64) {
    let tx = environment.read();
    let mut reading = contents.read(&tx, b"large", 0..u64::MAX).unwrap().unwrap();
    let mut at = 0;
    while let Some(bytes) = reading.next().unwrap() {
        let in_piece = (at % PIECE as u64) as usize;
        // One byte: the engine has compared the checksum of all of them.
        assert_eq!(bytes[0], source.piece(at / PIECE as u64)[in_piece]);
        at += bytes.len() as u64;
        black_box(bytes);
    }
    assert_eq!(at, size);
}

/// The most memory of this process while it runs: resident, and its anonymous part.
struct Sampler {
    idle: [f64; 2],
    most: &'static [AtomicU64; 2],
    ends: &'static AtomicBool,
    thread: std::thread::JoinHandle<()>,
}
impl Sampler {
    fn start() -> Self {
        let idle = resident();
        let most: &'static [AtomicU64; 2] = Box::leak(Box::default());
        let ends: &'static AtomicBool = Box::leak(Box::default());
        let thread = std::thread::spawn(|| {
            while !ends.load(Relaxed) {
                most.iter().zip(resident()).for_each(|(most, now)| _ = most.fetch_max((now * 1024.0) as u64, Relaxed));
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        Sampler { idle, most, ends, thread }
    }
    /// MiB above what it was at the start.
    fn stop(self) -> [f64; 2] {
        self.ends.store(true, Relaxed);
        self.thread.join().unwrap();
        std::array::from_fn(|i| self.most[i].load(Relaxed) as f64 / 1024.0 - self.idle[i])
    }
}

/// MiB resident, and those of them that are anonymous.
fn resident() -> [f64; 2] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(f64::NAN)
    };
    [field("VmRSS:") / 1024.0, field("RssAnon:") / 1024.0]
}
