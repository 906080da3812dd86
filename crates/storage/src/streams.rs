//! Values of any length, written and read in pieces: gigabytes that never are in memory as a whole.
//!
//! A stream is a number; its pieces are entries of a tree, `(stream u64, piece u64) -> bytes`, both big-endian. It is
//! written piece by piece, each in a transaction of its own, and belongs to nothing until somebody keeps its number. A
//! second tree has the numbers of streams that are being written, so that what a crash left unfinished is found and removed.

use crate::environment::Environment;
use crate::error::Result;
use crate::transaction::{Reader, WriteTransaction};
use crate::tree::Tree;

/// Bytes of one piece: large enough that a piece is one run of pages, small enough to be held in memory by many.
const PIECE_SIZE: usize = 512 << 10;
/// Pieces that one transaction removes.
const REMOVED_AT_ONCE: usize = 64;

/// The streams of an environment under one name. A small handle; keep it, it stays valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streams {
    pieces: Tree,
    unfinished: Tree,
}

/// The number of a stream. Never used again for another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(pub u64);

const NEXT: &[u8] = b"next";

fn piece_key(stream: StreamId, piece: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&stream.0.to_be_bytes());
    key[8..].copy_from_slice(&piece.to_be_bytes());
    key
}

impl Streams {
    /// The streams with a name, made if they are missing.
    ///
    /// # Errors
    ///
    /// Those of changing an environment.
    pub fn open_or_create(tx: &mut WriteTransaction<'_>, name: &[u8]) -> Result<Streams> {
        let pieces = Tree::open_or_create(tx, &[name, b"/pieces"].concat())?;
        let unfinished = Tree::open_or_create(tx, &[name, b"/unfinished"].concat())?;
        Ok(Streams { pieces, unfinished })
    }

    /// Writes all that `source` gives, durably. Returns the stream and its length in bytes. It stays unfinished until
    /// [`Self::keep`] is called, in the transaction that notes its number.
    ///
    /// # Errors
    ///
    /// Those of `source` as `E`; those of changing an environment. What was written by then is removed.
    pub fn write<E: From<crate::Error> + Send>(
        &self,
        environment: &Environment,
        mut source: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(StreamId, u64), E> {
        let stream = environment.write(|tx| self.begin(tx))?;
        let written = self.write_pieces(environment, stream, &mut source);
        if written.is_err() {
            self.remove(environment, stream)?;
        }
        Ok((stream, written?))
    }

    fn begin(&self, tx: &mut WriteTransaction<'_>) -> Result<StreamId> {
        let next = self.unfinished.get(tx, NEXT)?.and_then(|bytes| bytes.try_into().ok()).map_or(1, u64::from_be_bytes);
        self.unfinished.put(tx, NEXT, &(next + 1).to_be_bytes())?;
        self.unfinished.put(tx, &next.to_be_bytes(), b"")?;
        Ok(StreamId(next))
    }

    fn write_pieces<E: From<crate::Error> + Send>(
        &self,
        environment: &Environment,
        stream: StreamId,
        source: &mut impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<u64, E> {
        let mut buffer = vec![0; PIECE_SIZE];
        let mut length = 0u64;
        for piece in 0.. {
            let mut filled = 0;
            while filled < PIECE_SIZE {
                match source(&mut buffer[filled..])? {
                    0 => break,
                    more => filled += more,
                }
            }
            if filled == 0 {
                break;
            }
            let bytes = &buffer[..filled];
            environment.write(|tx| self.pieces.put(tx, &piece_key(stream, piece), bytes))?;
            length += filled as u64;
            if filled < PIECE_SIZE {
                break;
            }
        }
        Ok(length)
    }

    /// The stream is finished: something in the same transaction notes its number.
    ///
    /// # Errors
    ///
    /// Those of changing an environment.
    pub fn keep(&self, tx: &mut WriteTransaction<'_>, stream: StreamId) -> Result<()> {
        self.unfinished.delete(tx, &stream.0.to_be_bytes()).map(drop)
    }

    /// Hands the bytes of a stream to `sink`, piece by piece, all of one snapshot. Returns their number.
    ///
    /// # Errors
    ///
    /// Those of `sink`; [`crate::Error::Corrupt`].
    pub fn read<E: From<crate::Error>>(
        &self,
        reader: &impl Reader,
        stream: StreamId,
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut cursor = self.pieces.cursor(reader);
        let mut entry = cursor.seek(&piece_key(stream, 0))?;
        let mut length = 0;
        while let Some((key, bytes)) = entry {
            if key[..8] != stream.0.to_be_bytes() {
                break;
            }
            sink(bytes)?;
            length += bytes.len() as u64;
            entry = cursor.next()?;
        }
        Ok(length)
    }

    /// Removes a stream, in transactions of bounded size. Nothing may note its number any more.
    ///
    /// # Errors
    ///
    /// Those of changing an environment.
    pub fn remove(&self, environment: &Environment, stream: StreamId) -> Result<()> {
        loop {
            let mut keys = Vec::new();
            {
                let tx = environment.read();
                let mut cursor = self.pieces.cursor(&tx);
                let mut entry = cursor.seek(&piece_key(stream, 0))?;
                while let Some((key, _)) = entry.filter(|(key, _)| key[..8] == stream.0.to_be_bytes()) {
                    keys.push(key.to_vec());
                    if keys.len() == REMOVED_AT_ONCE {
                        break;
                    }
                    entry = cursor.next()?;
                }
            }
            let last = keys.len() < REMOVED_AT_ONCE;
            environment.write(|tx| {
                for key in &keys {
                    self.pieces.delete(tx, key)?;
                }
                if last { self.keep(tx, stream) } else { Ok(()) }
            })?;
            if last {
                return Ok(());
            }
        }
    }

    /// Removes what was being written when the process ended. To be called once, after opening.
    ///
    /// # Errors
    ///
    /// Those of changing an environment.
    pub fn remove_unfinished(&self, environment: &Environment) -> Result<()> {
        let mut streams = Vec::new();
        {
            let tx = environment.read();
            let mut cursor = self.unfinished.cursor(&tx);
            while let Some((key, _)) = cursor.next()? {
                streams.extend(<[u8; 8]>::try_from(key).ok().map(|bytes| StreamId(u64::from_be_bytes(bytes))));
            }
        }
        streams.into_iter().try_for_each(|stream| self.remove(environment, stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Options};

    #[test]
    fn a_stream_comes_back_and_an_unfinished_one_is_removed() {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let streams = environment.write(|tx| Streams::open_or_create(tx, b"attachments")).unwrap();
        let content: Vec<u8> = (0..3 * PIECE_SIZE + 77).map(|i| ((i * 31) >> 3) as u8).collect();
        let mut rest = &content[..];
        let source = |buffer: &mut [u8]| {
            let count = buffer.len().min(rest.len()).min(100_000);
            buffer[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            Ok::<_, Error>(count)
        };
        let (kept, length) = streams.write(&environment, source).unwrap();
        assert_eq!(length, content.len() as u64);
        environment.write(|tx| streams.keep(tx, kept)).unwrap();
        let mut once = Some(());
        let (unfinished, _) = streams
            .write(&environment, |buffer| {
                buffer[0] = 1;
                Ok::<_, Error>(usize::from(once.take().is_some()))
            })
            .unwrap();
        let read = |stream| {
            let mut seen = Vec::new();
            streams
                .read(&environment.read(), stream, |piece| {
                    seen.extend_from_slice(piece);
                    Ok::<_, Error>(())
                })
                .unwrap();
            seen
        };
        assert_eq!(read(unfinished), [1]);
        streams.remove_unfinished(&environment).unwrap();
        assert_eq!(read(unfinished), []);
        assert!(read(kept) == content);
        streams.remove(&environment, kept).unwrap();
        assert_eq!(read(kept), []);
        assert_eq!(environment.verify().unwrap().problems, Vec::<String>::new());
    }

    #[test]
    fn a_source_that_fails_leaves_nothing() {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let streams = environment.write(|tx| Streams::open_or_create(tx, b"attachments")).unwrap();
        let mut calls = 0;
        let failed = streams.write(&environment, |buffer| {
            calls += 1;
            if calls > 2 { Err(Error::Closed) } else { Ok(buffer.len()) }
        });
        assert!(failed.is_err());
        assert_eq!(streams.read(&environment.read(), StreamId(1), |_| Ok::<_, Error>(())).unwrap(), 0);
    }
}
