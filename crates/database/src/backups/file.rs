//! The file of a backup: a dump, compressed, and encrypted if there is a key.
//!
//! Compressed as zstd with its checksum, so that each damage of a file is found when it is read.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::configuration::BackupConfiguration;
use super::encryption::{BackupKey, Opening, Sealing};
use crate::limits::{BACKUP_PIECE_SIZE, BACKUP_WINDOW_LOG_MAX};
use crate::smuggler::DumpSink;
use crate::{Error, Operation, Result};

/// What is below the compression.
enum Layer {
    Plain(BufWriter<File>),
    Sealed(Box<Sealing<BufWriter<File>>>),
}

impl Write for Layer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Layer::Plain(inner) => inner.write(bytes),
            Layer::Sealed(inner) => inner.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Layer::Plain(inner) => inner.flush(),
            Layer::Sealed(inner) => inner.flush(),
        }
    }
}

/// A file that is compressed, and encrypted if there is a key.
pub(crate) struct CompressedFile {
    encoder: zstd::stream::write::Encoder<'static, Layer>,
    path: PathBuf,
}

impl CompressedFile {
    /// * `file`: empty.
    /// * `path`: its path, for errors.
    pub fn new(file: File, path: &Path, configuration: &BackupConfiguration) -> Result<CompressedFile> {
        let failed = |error| Error::io("write", path, error);
        let file = BufWriter::with_capacity(BACKUP_PIECE_SIZE, file);
        let layer = match &configuration.key {
            None => Layer::Plain(file),
            Some(key) => Layer::Sealed(Box::new(Sealing::new(file, key).map_err(failed)?)),
        };
        let mut encoder = zstd::stream::write::Encoder::new(layer, configuration.compression_level).map_err(failed)?;
        encoder.include_checksum(true).map_err(failed)?;
        Ok(CompressedFile { encoder, path: path.to_owned() })
    }

    /// Ends the file, durably, and gives it back.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]
    pub fn close(self) -> Result<File> {
        let CompressedFile { encoder, path } = self;
        let close = || -> io::Result<File> {
            let inner = match encoder.finish()? {
                Layer::Plain(inner) => inner,
                Layer::Sealed(sealing) => sealing.finish()?,
            };
            let file = inner.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
            Ok(file)
        };
        close().map_err(|error| Error::io("write", &path, error))
    }
}

impl Write for CompressedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}

/// A file that a dump is written into.
pub(crate) struct BackupFile<'o> {
    plain: Vec<u8>,
    inner: CompressedFile,
    operation: &'o Operation,
}

impl<'o> BackupFile<'o> {
    /// * `operation`: ends it, if it is killed.
    pub fn new(inner: CompressedFile, operation: &'o Operation) -> BackupFile<'o> {
        BackupFile { plain: Vec::new(), inner, operation }
    }

    /// The file with the dump, once that is written.
    pub fn into_inner(self) -> CompressedFile {
        self.inner
    }

    fn hand_on(&mut self) -> Result<()> {
        self.operation.check_kill()?;
        let CompressedFile { encoder, path } = &mut self.inner;
        encoder.write_all(&self.plain).map_err(|error| Error::io("write", path, error))?;
        self.plain.clear();
        self.plain.shrink_to(2 * BACKUP_PIECE_SIZE);
        Ok(())
    }
}

impl DumpSink for BackupFile<'_> {
    type Error = Error;

    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.plain
    }

    fn part_done(&mut self) -> Result<()> {
        if self.plain.len() < BACKUP_PIECE_SIZE { Ok(()) } else { self.hand_on() }
    }

    fn finish(&mut self) -> Result<()> {
        self.hand_on()
    }

    fn cause(error: &Error) -> Error {
        error.clone()
    }
}

/// The dump in the file of a backup: decrypted and decompressed.
pub(crate) struct OpenedFile {
    dump: Box<dyn Read + Send>,
    has_checksum: bool,
}

impl OpenedFile {
    /// Whether the end of the file says what its contents were.
    pub fn has_checksum(&self) -> bool {
        self.has_checksum
    }
}

impl Read for OpenedFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.dump.read(out).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the file is empty or cut off"),
            _ => error,
        })
    }
}

/// Opens the file of a backup, of RavenDB too.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidData`]: the file is damaged, or the key is not its own; those of `file`.
pub(crate) fn open(file: impl Read + Send + 'static, key: Option<&BackupKey>) -> io::Result<OpenedFile> {
    let mut opened: Box<dyn Read + Send> = match key {
        Some(key) => Box::new(Opening::new(BufReader::with_capacity(BACKUP_PIECE_SIZE, file), key)?),
        None => Box::new(file),
    };
    let mut start = Vec::with_capacity(FRAME_START_SIZE);
    Read::by_ref(&mut opened).take(FRAME_START_SIZE as u64).read_to_end(&mut start)?;
    // Older versions of RavenDB always write gzip, which ends with a checksum.
    let is_gzip = start.starts_with(&[0x1f, 0x8b]);
    let has_checksum = is_gzip || start.get(FRAME_START_SIZE - 1).is_some_and(|flags| flags & CHECKSUM_FLAG != 0);
    let whole = io::Cursor::new(start).chain(opened);
    let dump: Box<dyn Read + Send> = match is_gzip {
        true => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        false => {
            let mut decoder = zstd::stream::read::Decoder::new(whole)?;
            decoder.window_log_max(BACKUP_WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
    };
    Ok(OpenedFile { dump, has_checksum })
}

/// Bytes at the start of a frame of zstd: four of its magic number, and one of flags.
const FRAME_START_SIZE: usize = 5;
/// The flag of a frame that ends with a checksum of its contents (RFC 8878, 3.1.1.1.1).
const CHECKSUM_FLAG: u8 = 4;
