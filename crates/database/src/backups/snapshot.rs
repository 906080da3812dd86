//! Snapshots: images of the storage of a database, in one file.
//!
//! ```text
//! 0          8              12
//! +----------+--------------+---------------------+----------------+-----+---------------------+
//! | ROOKSNP1 | size of head | head: JSON          | image of index | ... | image of documents  |
//! +----------+--------------+---------------------+----------------+-----+---------------------+
//! ```
//!
//! * The size is a little-endian number of 4 bytes. An image comes in pieces: for each its size, of the same form, and its bytes; a size
//!   of 0 ends it. The head is `{"Database","Record","Indexes":["<folder>",..]}`, an image for each index in this order, and one of the
//!   documents. Each image has hashes of its own ([`storage::image`]); all of it is compressed with a checksum.
//! * The documents come last, because no index may have what its documents have not; meanwhile no tombstone is removed that an image of an
//!   index may lack. Indexes whose results become documents are left out, since documents may be ahead of them. They are built again.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use json::Value;
use storage::image::{self, WriteOptions};
use storage::{Environment, Position};

use super::configuration::bad;
use super::file::{CompressedFile, OpenedFile};
use crate::limits::SNAPSHOT_HEAD_SIZE_MAX;
use crate::smuggler::{ItemType, SmugglerResult, restored_record};
use crate::{Database, Error, Operation, Progress, Result, folders};

const MAGIC: &[u8; 8] = b"ROOKSNP1";

/// Bytes of an image that are written as one piece.
const PIECE_SIZE: usize = 1 << 20;

/// Writes an image in pieces.
struct Pieces<'w, W: Write> {
    inner: &'w mut W,
    piece: Vec<u8>,
}

impl<'w, W: Write> Pieces<'w, W> {
    fn new(inner: &'w mut W) -> Pieces<'w, W> {
        Pieces { inner, piece: Vec::with_capacity(PIECE_SIZE) }
    }

    fn hand_on(&mut self) -> io::Result<()> {
        if !self.piece.is_empty() {
            // It is no longer than `PIECE_SIZE`.
            self.inner.write_all(&(self.piece.len() as u32).to_le_bytes())?;
            self.inner.write_all(&self.piece)?;
            self.piece.clear();
        }
        Ok(())
    }

    fn end(mut self) -> io::Result<()> {
        self.hand_on()?;
        self.inner.write_all(&0_u32.to_le_bytes())
    }
}

impl<W: Write> Write for Pieces<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE_SIZE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        if self.piece.len() == PIECE_SIZE {
            self.hand_on()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads what [`Pieces`] wrote, and nothing behind it.
struct PieceReader<'r, R: Read> {
    inner: &'r mut R,
    /// Bytes of the piece that are not read yet.
    left: u32,
    is_ended: bool,
}

impl<R: Read> Read for PieceReader<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.is_ended {
            let mut size = [0; 4];
            self.inner.read_exact(&mut size)?;
            self.left = u32::from_le_bytes(size);
            self.is_ended = self.left == 0;
        }
        let size = out.len().min(self.left as usize);
        let read = self.inner.read(&mut out[..size])?;
        if read == 0 && size > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u32;
        Ok(read)
    }
}

/// Writes the snapshot of a database; gives the state that its documents have.
///
/// # Errors
///
/// [`Error::Image`], [`Error::Canceled`], or storage fails.
///
/// The caller keeps the tombstones meanwhile.
pub(crate) fn write(
    database: &Database,
    record: &Value,
    excludes_indexes: bool,
    operation: &Operation,
    sink: &mut CompressedFile,
) -> Result<(SmugglerResult, Position)> {
    let all = database.indexes().all();
    let indexes: Vec<_> = all
        .iter()
        .filter(|_| !excludes_indexes)
        .filter(|index| index.definition().output().is_none())
        .filter_map(|index| Some((index.folder_name()?, index.environment()?)))
        .collect();
    let mut counts = SmugglerResult::default();
    counts.begin(ItemType::Indexes);
    let mut head = Value::object();
    head.set("Database", database.name().into());
    head.set("Record", restored_record(record));
    head.set("Indexes", Value::Array(indexes.iter().map(|(folder, _)| Value::String(folder.clone())).collect()));
    let head = head.to_vec();
    let size = u32::try_from(head.len()).map_err(|_| bad("the record of the database is too long for a snapshot"))?;
    [&MAGIC[..], &size.to_le_bytes(), &head].iter().try_for_each(|part| sink.write_all(part)).map_err(failed)?;
    let mut done = 0;
    for (_, environment) in &indexes {
        let summary = write_image(environment, sink, &mut |so_far| tell(operation, done, so_far))?;
        done += summary.pages;
        counts.count(ItemType::Indexes, 1, summary.bytes);
    }
    counts.end(ItemType::Indexes);
    counts.begin(ItemType::Documents);
    let environment = database.documents().environment();
    let summary = write_image(environment, sink, &mut |so_far| tell(operation, done, so_far))?;
    counts.count(ItemType::Documents, database.read().statistics()?.documents().count, summary.bytes);
    counts.end(ItemType::Documents);
    counts.finish();
    Ok((counts, summary.position))
}

fn write_image(
    environment: &Environment,
    sink: &mut CompressedFile,
    progress: &mut dyn FnMut(image::Progress) -> bool,
) -> Result<image::Summary> {
    let mut pieces = Pieces::new(sink);
    let summary = environment.write_image(&mut pieces, &WriteOptions::default(), progress)?;
    pieces.end().map_err(failed)?;
    Ok(summary)
}

fn failed(error: io::Error) -> Error {
    Error::Image(image::Error::Destination(Arc::new(error)))
}

/// Says how far it is, in pages; false: it was killed.
fn tell(operation: &Operation, done: u64, so_far: image::Progress) -> bool {
    let (processed, total) = (done + so_far.pages, done + so_far.pages_total);
    operation.set_progress(Progress { processed, total, ..Progress::default() });
    !operation.is_killed()
}

/// Makes the folder of a database out of a snapshot; gives the record.
///
/// * `folder`: must not be there.
/// * `indexes`: a folder beside it, for as long as the documents are not there yet.
/// * `replay`: given the documents before they are made durable, to take them to a later state.
///
/// # Errors
///
/// [`Error::BadBackup`], [`Error::Image`], [`Error::Canceled`]. What was made is left for the caller to remove.
pub(crate) fn read(
    file: &mut OpenedFile,
    folder: &Path,
    indexes: &Path,
    operation: &Operation,
    replay: impl FnOnce(&mut image::Restore) -> Result<()>,
) -> Result<Value> {
    let head = read_head(file)?;
    let io: Arc<dyn storage::io::Io> = Arc::new(storage::io::real::RealIo);
    let mut done = 0;
    let mut begin = |target: &Path, file: &mut OpenedFile| -> Result<image::Restore> {
        let mut last = 0;
        let mut progress = |so_far: image::Progress| {
            last = so_far.pages;
            tell(operation, done, so_far)
        };
        let mut image = PieceReader { inner: file, left: 0, is_ended: false };
        let begun = image::Restore::begin(io.clone(), target, &mut image, &mut progress)?;
        done += last;
        Ok(begun)
    };
    folders::make(indexes)?;
    if let Some(Value::Array(names)) = head.get("Indexes") {
        for name in names {
            let name =
                name.as_str().filter(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let name = name.ok_or_else(|| bad("the head of the snapshot names a folder that no index has"))?;
            begin(&indexes.join(name), file)?.finish()?;
        }
    }
    let mut documents = begin(folder, file)?;
    // The rest is the end of the compression, with its checksum.
    io::copy(file, &mut io::sink()).map_err(|error| bad(format!("the snapshot is damaged: {error}")))?;
    replay(&mut documents)?;
    documents.finish()?;
    let target = folder.join(crate::database::INDEXES);
    std::fs::rename(indexes, &target).map_err(|error| Error::io("rename", indexes, error))?;
    super::destination::sync_folder(folder).map_err(|error| Error::io("sync the folder", folder, error))?;
    Ok(head.get("Record").cloned().unwrap_or_else(Value::object))
}

fn read_head(file: &mut OpenedFile) -> Result<Value> {
    let damaged = |error: io::Error| bad(format!("the snapshot is damaged: {error}"));
    let mut start = [0; MAGIC.len() + 4];
    file.read_exact(&mut start).map_err(damaged)?;
    let (magic, size) = start.split_at(MAGIC.len());
    let size = size.try_into().map_or(0, u32::from_le_bytes) as usize;
    if magic != MAGIC || size > SNAPSHOT_HEAD_SIZE_MAX {
        return Err(bad("the file is no snapshot of Rookery, or of a newer version"));
    }
    let mut head = Vec::new();
    file.take(size as u64).read_to_end(&mut head).map_err(damaged)?;
    match Value::parse(&head) {
        Ok(head @ Value::Object(_)) => Ok(head),
        _ => Err(bad("the head of the snapshot is damaged")),
    }
}
