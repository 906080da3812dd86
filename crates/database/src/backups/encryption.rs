//! Encryption of the files of backups with a key.
//!
//! ```text
//! +--------------------+-----------+-------------------------------+-----+----------------------+
//! | magic `ROOKENC1`   | salt      | 64 KiB + tag                  | ... | the rest + tag       |
//! +--------------------+-----------+-------------------------------+-----+----------------------+
//!   8                    16          65,536 + 16                           16 ..= 65,552
//! ```
//!
//! Each file has a key of its own: HKDF-SHA-256 of the given key with the random salt. The pieces are sealed with ChaCha20-Poly1305. A
//! nonce is the number of the piece (11 bytes, big-endian) and a byte that is 1 for the last piece, so that pieces that are missing,
//! repeated or exchanged are found: Hoang, Reyhanitabar, Rogaway and Vizár, "Online Authenticated-Encryption and its Nonce-Reuse
//! Misuse-Resistance" (2015), the construction STREAM.

use std::fmt;
use std::io::{self, Read, Write};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

/// Bytes of a key.
pub(crate) const KEY_SIZE: usize = 32;
const MAGIC: &[u8; 8] = b"ROOKENC1";
const SALT_SIZE: usize = 16;
const FINGERPRINT_SIZE: usize = 8;
/// Bytes that are sealed at once.
const PIECE_SIZE: usize = 64 << 10;
const TAG_SIZE: usize = 16;

/// A key. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct BackupKey([u8; KEY_SIZE]);

impl BackupKey {
    pub fn new(key: [u8; KEY_SIZE]) -> BackupKey {
        BackupKey(key)
    }

    /// Tells it from other keys, and tells nothing of it.
    pub fn fingerprint(&self) -> String {
        let tag = ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &self.0), b"rookery backup key");
        tag.as_ref().iter().take(FINGERPRINT_SIZE).map(|byte| format!("{byte:02x}")).collect()
    }

    fn of_file(&self, salt: &[u8]) -> io::Result<LessSafeKey> {
        let failed = |_| io::Error::other("the key of a backup cannot be derived");
        let derived = Salt::new(HKDF_SHA256, salt).extract(&self.0);
        let key: UnboundKey = derived.expand(&[b"rookery backup"], &CHACHA20_POLY1305).map_err(failed)?.into();
        Ok(LessSafeKey::new(key))
    }
}

impl fmt::Debug for BackupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BackupKey(..)")
    }
}

fn nonce(number: u64, is_last: bool) -> Nonce {
    let mut bytes = [0; 12];
    bytes[3..11].copy_from_slice(&number.to_be_bytes());
    bytes[11] = u8::from(is_last);
    Nonce::assume_unique_for_key(bytes)
}

/// Seals what is written. [`Self::finish`] has to be called, or the file is one that was cut off.
pub(crate) struct Sealing<W: Write> {
    inner: W,
    key: LessSafeKey,
    piece: Vec<u8>,
    number: u64,
}

impl<W: Write> Sealing<W> {
    /// # Errors
    ///
    /// Those of `inner`, or the system has no random bytes.
    pub fn new(mut inner: W, key: &BackupKey) -> io::Result<Sealing<W>> {
        let salt = documents::id::random_bytes();
        inner.write_all(MAGIC)?;
        inner.write_all(&salt)?;
        let piece = Vec::with_capacity(PIECE_SIZE + TAG_SIZE);
        Ok(Sealing { inner, key: key.of_file(&salt)?, piece, number: 0 })
    }

    fn seal(&mut self, is_last: bool) -> io::Result<()> {
        let nonce = nonce(self.number, is_last);
        let sealed = self.key.seal_in_place_append_tag(nonce, Aad::empty(), &mut self.piece);
        sealed.map_err(|_| io::Error::other("a piece of a backup cannot be encrypted"))?;
        self.inner.write_all(&self.piece)?;
        self.piece.clear();
        self.number += 1;
        Ok(())
    }

    /// Seals the last piece, and gives back what was written to.
    ///
    /// # Errors
    ///
    /// Those of the inner writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.seal(true)?;
        Ok(self.inner)
    }
}

impl<W: Write> Write for Sealing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full piece is sealed when more comes: the last one is marked.
        if self.piece.len() == PIECE_SIZE {
            self.seal(false)?;
        }
        let taken = bytes.len().min(PIECE_SIZE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens what [`Sealing`] wrote.
pub(crate) struct Opening<R: Read> {
    inner: R,
    key: LessSafeKey,
    number: u64,
    /// The piece that is given out, from `given` on.
    open: Vec<u8>,
    given: usize,
    /// The sealed piece that follows; empty at the end.
    next: Vec<u8>,
}

impl<R: Read> Opening<R> {
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidData`]: the file is not encrypted, or its first piece cannot be opened with this key.
    pub fn new(mut inner: R, key: &BackupKey) -> io::Result<Opening<R>> {
        let mut head = [0; MAGIC.len() + SALT_SIZE];
        inner.read_exact(&mut head).map_err(|_| bad("the file is too short to be an encrypted backup"))?;
        let (magic, salt) = head.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(bad("the file is not an encrypted backup of Rookery"));
        }
        let next = read_piece(&mut inner)?;
        let mut opening = Opening { inner, key: key.of_file(salt)?, number: 0, open: Vec::new(), given: 0, next };
        opening.open_next()?;
        Ok(opening)
    }

    fn open_next(&mut self) -> io::Result<()> {
        let following =
            if self.next.len() == PIECE_SIZE + TAG_SIZE { read_piece(&mut self.inner)? } else { Vec::new() };
        self.open = std::mem::replace(&mut self.next, following);
        self.given = 0;
        let nonce = nonce(self.number, self.next.is_empty());
        let rule = match self.number {
            0 => "the key is not that of this backup, or the file is damaged",
            _ => "the file is damaged or was cut off",
        };
        let opened = self.key.open_in_place(nonce, Aad::empty(), &mut self.open).map_err(|_| bad(rule))?;
        let size = opened.len();
        self.open.truncate(size);
        self.number += 1;
        Ok(())
    }
}

impl<R: Read> Read for Opening<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.given == self.open.len() && !self.next.is_empty() {
            self.open_next()?;
        }
        let left = &self.open[self.given..];
        let size = left.len().min(out.len());
        out[..size].copy_from_slice(&left[..size]);
        self.given += size;
        Ok(size)
    }
}

fn read_piece(inner: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut piece = Vec::with_capacity(PIECE_SIZE + TAG_SIZE);
    inner.take((PIECE_SIZE + TAG_SIZE) as u64).read_to_end(&mut piece)?;
    Ok(piece)
}

fn bad(rule: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(plain: &[u8], key: &BackupKey) -> Vec<u8> {
        let mut sealing = Sealing::new(Vec::new(), key).unwrap();
        sealing.write_all(plain).unwrap();
        sealing.finish().unwrap()
    }

    fn opened(sealed: &[u8], key: &BackupKey) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        Opening::new(sealed, key)?.read_to_end(&mut plain)?;
        Ok(plain)
    }

    #[test]
    fn what_was_sealed_is_opened_with_the_same_key_alone() {
        let (key, other) = (BackupKey::new([7; KEY_SIZE]), BackupKey::new([8; KEY_SIZE]));
        for size in [0, 1, PIECE_SIZE - 1, PIECE_SIZE, PIECE_SIZE + 1, 3 * PIECE_SIZE + 5] {
            let plain: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let file = sealed(&plain, &key);
            assert_eq!(opened(&file, &key).unwrap(), plain, "{size}");
            assert_eq!(opened(&file, &other).unwrap_err().kind(), io::ErrorKind::InvalidData, "{size}");
            assert_ne!(file, sealed(&plain, &key), "each file has a salt of its own");
        }
    }

    #[test]
    fn what_is_damaged_cut_off_or_exchanged_is_not_opened() {
        let key = BackupKey::new([7; KEY_SIZE]);
        let plain = vec![5; 2 * PIECE_SIZE + 100];
        let file = sealed(&plain, &key);
        let head = MAGIC.len() + SALT_SIZE;
        let sealed_piece = PIECE_SIZE + TAG_SIZE;
        for at in [0, 8, head, head + 5, head + sealed_piece, file.len() - 1] {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert!(opened(&damaged, &key).is_err(), "byte {at}");
        }
        for size in [0, head - 1, head, head + 10, head + sealed_piece, head + 2 * sealed_piece, file.len() - 1] {
            assert!(opened(&file[..size], &key).is_err(), "{size} bytes");
        }
        let mut exchanged = file.clone();
        let (first, second) = exchanged[head..].split_at_mut(sealed_piece);
        first.swap_with_slice(&mut second[..sealed_piece]);
        assert!(opened(&exchanged, &key).is_err());
        let longer = [&file[..], b"x"].concat();
        assert!(opened(&longer, &key).is_err());
    }
}
