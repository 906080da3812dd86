//! A disk in memory with the faults of real ones (RELIABILITY.md, "What proves it").
//!
//! Each file has its durable bytes and a list of writes that were not synced; the folder's names likewise. A crash image is
//! the durable state with any subset of the unsynced operations, each whole, absent or torn; [`SimulatedIo::crash`] makes
//! one by a function that decides. [`SimulatedIo::fail_at`] makes the nth operation fail. A failed sync drops the
//! unsynced writes from what a later sync makes durable, as Linux does.

use super::aio::AsyncWrites;
use super::{File, Io, OpenMode, WriteDone};
use crate::pager::map::{Mapping, WeakMapping};
use crate::sync::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a device writes whole or not at all.
const SECTOR: usize = 512;

/// The kinds of operations that can be made to fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Writing bytes.
    Write,
    /// Making a file's content durable.
    Sync,
    /// Making names durable.
    SyncDir,
    /// Taking room.
    Allocate,
    /// Making or opening a file.
    Open,
    /// Changing a name.
    Rename,
    /// Removing a name.
    Remove,
}

/// What happens to an unsynced operation in a crash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It never reached the disk.
    Lost,
    /// It reached the disk.
    Persisted,
    /// Only these sectors (512 bytes each, from the start of the write) reached the disk: bit n for sector n modulo 64.
    Torn(u64),
}

/// How an operation fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Counted from the creation of the disk, over all operations: the first that fails.
    pub at: u64,
    /// Whether all later ones of the same kind fail too.
    pub for_ever: bool,
    /// The result that the caller gets.
    pub kind: ErrorKind,
}

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Default)]
pub struct SimulatedIo {
    disk: Arc<Mutex<Disk>>,
}

#[derive(Default)]
struct Disk {
    /// What each name stands for now.
    names: BTreeMap<PathBuf, usize>,
    /// What each name stands for after a crash that loses all unsynced changes of names.
    durable_names: BTreeMap<PathBuf, usize>,
    unsynced_names: Vec<NameChange>,
    files: Vec<FileState>,
    locked: BTreeSet<PathBuf>,
    operations: u64,
    fault: Option<Fault>,
    failing_kind: Option<Operation>,
    capacity: Option<u64>,
    log: Vec<(Operation, PathBuf)>,
}

#[derive(Clone)]
enum NameChange {
    Set(PathBuf, usize),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

#[derive(Default)]
struct FileState {
    /// What readers see.
    current: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Write>,
    /// Maps that were handed out, with the position where each begins.
    maps: Vec<(u64, WeakMapping)>,
}

impl FileState {
    /// Without the maps, which belong to a process.
    fn without_maps(&self) -> FileState {
        let (current, durable) = (self.current.clone(), self.durable.clone());
        FileState { current, durable, unsynced: self.unsynced.clone(), maps: Vec::new() }
    }
}

#[derive(Clone)]
enum Write {
    Bytes { position: u64, bytes: Vec<u8> },
    Length(u64),
}

/// Cuts bytes, or adds zeros.
fn set_length(content: &mut Vec<u8>, length: usize) {
    if cfg!(miri) && length > content.len() {
        // One copy takes an interpreter no longer than one step; `resize` is a step for each byte.
        content.extend_from_slice(&vec![0; length - content.len()]);
    }
    content.resize(length, 0);
}

impl Write {
    fn apply(&self, content: &mut Vec<u8>, fate: Fate) {
        match (self, fate) {
            (_, Fate::Lost) => {}
            (Write::Length(length), _) => set_length(content, *length as usize),
            (Write::Bytes { position, bytes }, fate) => {
                for (index, sector) in bytes.chunks(SECTOR).enumerate() {
                    if let Fate::Torn(mask) = fate
                        && mask >> (index % 64) & 1 == 0
                    {
                        continue;
                    }
                    let start = *position as usize + index * SECTOR;
                    if content.len() < start + sector.len() {
                        set_length(content, start + sector.len());
                    }
                    content[start..start + sector.len()].copy_from_slice(sector);
                }
            }
        }
    }
}

impl SimulatedIo {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// Operations that changed something so far; what [`Fault::at`] counts.
    pub fn operations(&self) -> u64 {
        self.disk.lock().operations
    }

    /// Makes an operation fail.
    pub fn fail_at(&self, fault: Option<Fault>) {
        let mut disk = self.disk.lock();
        disk.fault = fault;
        disk.failing_kind = None;
    }

    /// Bytes that all files may take together. `None`: no bound.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.disk.lock().capacity = bytes;
    }

    /// The operations so far, for messages.
    pub fn log(&self) -> Vec<(Operation, PathBuf)> {
        self.disk.lock().log.clone()
    }

    /// Unsynced operations: what [`Self::crash`] asks about.
    pub fn unsynced_count(&self) -> usize {
        let disk = self.disk.lock();
        disk.unsynced_names.len() + disk.files.iter().map(|file| file.unsynced.len()).sum::<usize>()
    }

    /// The disk as a crash leaves it now: `decide` tells the fate of each unsynced operation, changes of names first.
    /// This disk is not changed.
    pub fn crash(&self, mut decide: impl FnMut() -> Fate) -> SimulatedIo {
        let disk = self.disk.lock();
        let mut names = disk.durable_names.clone();
        for change in &disk.unsynced_names {
            if decide() == Fate::Lost {
                continue;
            }
            match change {
                NameChange::Set(path, file) => drop(names.insert(path.clone(), *file)),
                NameChange::Remove(path) => drop(names.remove(path)),
                NameChange::Rename(from, to) => drop(rename(&mut names, from, to)),
            }
        }
        let files = disk.files.iter().map(|file| {
            let mut content = file.durable.clone();
            for write in &file.unsynced {
                write.apply(&mut content, decide());
            }
            FileState { current: content.clone(), durable: content, ..FileState::default() }
        });
        let files = files.collect();
        let durable_names = names.clone();
        SimulatedIo { disk: Arc::new(Mutex::new(Disk { names, durable_names, files, ..Disk::default() })) }
    }

    /// The disk as a process that ends now leaves it, without a crash of the machine: the next one sees all that was written,
    /// also what a failed sync took from the device for good. This disk is not changed.
    pub fn kill(&self) -> SimulatedIo {
        let disk = self.disk.lock();
        let left = Disk {
            names: disk.names.clone(),
            durable_names: disk.durable_names.clone(),
            unsynced_names: disk.unsynced_names.clone(),
            files: disk.files.iter().map(FileState::without_maps).collect(),
            ..Disk::default()
        };
        SimulatedIo { disk: Arc::new(Mutex::new(left)) }
    }

    /// Changes bytes of a file behind the engine's back. `change` gets the whole content.
    pub fn damage(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut disk = self.disk.lock();
        if let Some(file) = disk.names.get(path).copied() {
            let state = &mut disk.files[file];
            let mut bytes = state.current.clone();
            change(&mut bytes);
            state.current.truncate(bytes.len());
            SimulatedFile::apply(state, &Write::Bytes { position: 0, bytes });
            state.durable = state.current.clone();
            state.unsynced.clear();
        }
    }

    /// The names of a folder with their content.
    pub fn contents(&self, folder: &Path) -> BTreeMap<String, Vec<u8>> {
        let disk = self.disk.lock();
        let inside = disk.names.iter().filter(|(path, _)| path.parent() == Some(folder));
        inside.map(|(path, file)| (name_of(path), disk.files[*file].current.clone())).collect()
    }
}

/// Renames a file, or all names in a folder. False: there is none.
fn rename(names: &mut BTreeMap<PathBuf, usize>, from: &Path, to: &Path) -> bool {
    let inside: Vec<PathBuf> = names.keys().filter(|name| name.starts_with(from)).cloned().collect();
    for name in &inside {
        let rest = name.strip_prefix(from).unwrap_or(name);
        // Joining nothing would leave a separator behind the name.
        let renamed = if rest.as_os_str().is_empty() { to.to_path_buf() } else { to.join(rest) };
        if let Some(file) = names.remove(name) {
            names.insert(renamed, file);
        }
    }
    !inside.is_empty()
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Maps that were used, to be used again: a tenth of the time of tests that open many small images went into the page
/// faults of new ones, and another into taking them apart.
static USED_MAPS: parking_lot::Mutex<Vec<Mapping>> = parking_lot::Mutex::new(Vec::new());

/// A map of `length` bytes that begins with `bytes`.
fn map_of(bytes: &[u8], length: usize) -> Result<Mapping> {
    const USED_MAPS_MAX: usize = 16;
    let mut used = USED_MAPS.lock();
    let again = used.iter_mut().find_map(|map| {
        let fits = map.length() == length && map.fill_if_alone(bytes);
        fits.then(|| map.clone())
    });
    if let Some(map) = again {
        return Ok(map);
    }
    let map = Mapping::anonymous(length)?;
    map.write(0, bytes);
    if used.len() < USED_MAPS_MAX {
        used.push(map.clone());
    }
    Ok(map)
}

impl Disk {
    /// Counts an operation, or fails it.
    fn operation(&mut self, operation: Operation, path: &Path) -> Result<()> {
        let at = self.operations;
        self.operations += 1;
        self.log.push((operation, path.to_path_buf()));
        let Some(fault) = self.fault else { return Ok(()) };
        if at == fault.at {
            self.failing_kind = Some(operation);
            return Err(Error::from(fault.kind));
        }
        if at > fault.at && fault.for_ever && self.failing_kind == Some(operation) {
            return Err(Error::from(fault.kind));
        }
        Ok(())
    }

    fn room_for(&self, file: usize, length: u64) -> Result<()> {
        let others: u64 =
            self.files.iter().enumerate().filter(|(i, _)| *i != file).map(|(_, f)| f.current.len() as u64).sum();
        match self.capacity {
            Some(capacity) if others + length > capacity => Err(Error::from(ErrorKind::StorageFull)),
            _ => Ok(()),
        }
    }

    /// A file to which no name leads takes no room any more.
    fn forget_unnamed(&mut self) {
        let named: BTreeSet<usize> = self.names.values().chain(self.durable_names.values()).copied().collect();
        for (index, file) in self.files.iter_mut().enumerate() {
            if !named.contains(&index) && file.maps.is_empty() {
                file.current = Vec::new();
            }
        }
    }
}

impl Io for SimulatedIo {
    fn create_dir(&self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> Result<Vec<String>> {
        let disk = self.disk.lock();
        Ok(disk.names.keys().filter(|name| name.parent() == Some(path)).map(|name| name_of(name)).collect())
    }

    fn open(&self, path: &Path, mode: OpenMode) -> Result<Arc<dyn File>> {
        let mut disk = self.disk.lock();
        let file = match (disk.names.get(path).copied(), mode) {
            (Some(file), OpenMode::Existing | OpenMode::Journal | OpenMode::Synced) => file,
            (None, OpenMode::Existing | OpenMode::Journal | OpenMode::Synced) => {
                return Err(Error::from(ErrorKind::NotFound));
            }
            (Some(file), OpenMode::Create) => {
                disk.operation(Operation::Open, path)?;
                let state = &mut disk.files[file];
                state.current.clear();
                state.unsynced.push(Write::Length(0));
                file
            }
            (None, OpenMode::Create) => {
                disk.operation(Operation::Open, path)?;
                disk.files.push(FileState::default());
                let file = disk.files.len() - 1;
                disk.names.insert(path.to_path_buf(), file);
                disk.unsynced_names.push(NameChange::Set(path.to_path_buf(), file));
                file
            }
        };
        let durable_writes = matches!(mode, OpenMode::Journal | OpenMode::Synced);
        Ok(Arc::new(SimulatedFile { disk: self.disk.clone(), path: path.to_path_buf(), file, durable_writes }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let mut disk = self.disk.lock();
        disk.operation(Operation::Rename, from)?;
        if !rename(&mut disk.names, from, to) {
            return Err(Error::from(ErrorKind::NotFound));
        }
        disk.unsynced_names.push(NameChange::Rename(from.to_path_buf(), to.to_path_buf()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<()> {
        let mut disk = self.disk.lock();
        disk.operation(Operation::Remove, path)?;
        disk.names.remove(path).ok_or_else(|| Error::from(ErrorKind::NotFound))?;
        disk.unsynced_names.push(NameChange::Remove(path.to_path_buf()));
        disk.forget_unnamed();
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        let mut disk = self.disk.lock();
        disk.operation(Operation::SyncDir, path)?;
        disk.durable_names = disk.names.clone();
        disk.unsynced_names.clear();
        disk.forget_unnamed();
        Ok(())
    }

    fn lock(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>> {
        if !self.disk.lock().locked.insert(path.to_path_buf()) {
            return Ok(None);
        }
        Ok(Some(Box::new(Unlock { disk: self.disk.clone(), path: path.to_path_buf() })))
    }
}

struct Unlock {
    disk: Arc<Mutex<Disk>>,
    path: PathBuf,
}

impl Drop for Unlock {
    fn drop(&mut self) {
        self.disk.lock().locked.remove(&self.path);
    }
}

#[derive(Clone)]
struct SimulatedFile {
    disk: Arc<Mutex<Disk>>,
    path: PathBuf,
    file: usize,
    durable_writes: bool,
}

impl SimulatedFile {
    /// Changes what readers see, and its maps.
    fn apply(state: &mut FileState, write: &Write) {
        write.apply(&mut state.current, Fate::Persisted);
        state.maps.retain(|(start, map)| {
            let Some(map) = map.upgrade() else { return false };
            if let Write::Bytes { position, bytes } = write {
                let end = start + map.length() as u64;
                let (from, to) = ((*position).max(*start), (*position + bytes.len() as u64).min(end));
                if from < to {
                    let part = &bytes[(from - position) as usize..(to - position) as usize];
                    map.write((from - start) as usize, part);
                }
            }
            true
        });
    }
}

impl File for SimulatedFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<()> {
        let disk = self.disk.lock();
        let content = &disk.files[self.file].current;
        let start = position as usize;
        let part = content.get(start..start + buffer.len()).ok_or_else(|| Error::from(ErrorKind::UnexpectedEof))?;
        buffer.copy_from_slice(part);
        Ok(())
    }

    fn write_at(&self, buffer: &[u8], position: u64) -> Result<()> {
        let mut disk = self.disk.lock();
        let end = position + buffer.len() as u64;
        if end > disk.files[self.file].current.len() as u64 {
            disk.room_for(self.file, end)?;
        }
        let failed = disk.operation(Operation::Write, &self.path);
        let state = &mut disk.files[self.file];
        let write = Write::Bytes { position, bytes: buffer.to_vec() };
        if failed.is_err() {
            // What a failed write left on the disk is unknown: it stays among the unsynced.
            state.unsynced.push(write);
            return failed;
        }
        Self::apply(state, &write);
        if self.durable_writes {
            // The length that the file had for it becomes durable with it.
            let (lengths, others) =
                std::mem::take(&mut state.unsynced).into_iter().partition(|write| matches!(write, Write::Length(_)));
            state.unsynced = others;
            let lengths: Vec<Write> = lengths;
            lengths.iter().for_each(|length| length.apply(&mut state.durable, Fate::Persisted));
            write.apply(&mut state.durable, Fate::Persisted);
        } else {
            state.unsynced.push(write);
        }
        Ok(())
    }

    fn begin_write(
        &self,
        buffer: &[u8],
        position: u64,
        writes: &AsyncWrites,
        done: WriteDone,
    ) -> std::result::Result<(), WriteDone> {
        let (file, bytes) = (self.clone(), buffer.to_vec());
        writes.defer(move || done(file.write_at(&bytes, position)));
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        let mut disk = self.disk.lock();
        let failed = disk.operation(Operation::Sync, &self.path);
        let state = &mut disk.files[self.file];
        let unsynced = std::mem::take(&mut state.unsynced);
        // If it failed, the dirty pages are marked clean; a later sync says that all is well, and it is not.
        failed?;
        for write in unsynced {
            write.apply(&mut state.durable, Fate::Persisted);
        }
        Ok(())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.disk.lock().files[self.file].current.len() as u64)
    }

    fn allocate(&self, position: u64, length: u64) -> Result<()> {
        let mut disk = self.disk.lock();
        let end = (position + length).max(disk.files[self.file].current.len() as u64);
        disk.room_for(self.file, end)?;
        disk.operation(Operation::Allocate, &self.path)?;
        let state = &mut disk.files[self.file];
        let write = Write::Length(end);
        Self::apply(state, &write);
        state.unsynced.push(write);
        Ok(())
    }

    fn set_len(&self, length: u64) -> Result<()> {
        let mut disk = self.disk.lock();
        disk.operation(Operation::Allocate, &self.path)?;
        let state = &mut disk.files[self.file];
        Self::apply(state, &Write::Length(length));
        state.unsynced.push(Write::Length(length));
        Ok(())
    }

    fn punch_hole(&self, position: u64, length: u64) -> Result<bool> {
        self.write_at(&vec![0; length as usize], position).map(|()| true)
    }

    fn bring(&self, _: &[u8], _: u64) -> Result<()> {
        Ok(())
    }

    fn map(&self, position: u64, length: usize) -> Result<Mapping> {
        let mut disk = self.disk.lock();
        let state = &mut disk.files[self.file];
        let start = (position as usize).min(state.current.len());
        let end = (start + length).min(state.current.len());
        let mapping = map_of(&state.current[start..end], length)?;
        state.maps.push((position, mapping.downgrade()));
        Ok(mapping)
    }
}
