//! Hashes of contents: BLAKE2b with 256 bits (RFC 7693), which the wire protocol has as 44 characters of base64.

use crate::wire::base64;

/// Bytes of a hash.
pub(crate) const HASH_SIZE: usize = 32;

/// The hash of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub(crate) [u8; HASH_SIZE]);

impl ContentHash {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> ContentHash {
        let mut hasher = ContentHasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// Reads the 44 characters of base64. `None`: they are no hash.
    pub fn parse(text: &str) -> Option<ContentHash> {
        base64::decode(text)?.try_into().ok().map(ContentHash)
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&base64::encode(&self.0))
    }
}

/// Makes the hash of a content from its pieces.
#[derive(Clone, Debug)]
pub struct ContentHasher(blake2b_simd::State);

impl Default for ContentHasher {
    fn default() -> ContentHasher {
        ContentHasher(blake2b_simd::Params::new().hash_length(HASH_SIZE).to_state())
    }
}

impl ContentHasher {
    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all pieces.
    pub fn finish(&self) -> ContentHash {
        let mut hash = [0; HASH_SIZE];
        hash.copy_from_slice(&self.0.finalize().as_bytes()[..HASH_SIZE]);
        ContentHash(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_reference() {
        let hello = "Mk3PAn3UowqTLEQfNlol6GsXPe+kuOWJSCU0cbgbcs8=";
        assert_eq!(ContentHash::of(b"hello").to_string(), hello);
        assert_eq!(ContentHash::of(b"").to_string(), "DldRwCblQ7Loqy6wYJnaodHl30d3j3eH+qtFzfEv46g=");
        assert_eq!(ContentHash::parse(hello), Some(ContentHash::of(b"hello")));
        let mut hasher = ContentHasher::default();
        [&b"he"[..], b"", b"llo"].iter().for_each(|piece| hasher.update(piece));
        assert_eq!(hasher.finish(), ContentHash::of(b"hello"));
        for text in ["", "abc", "Mk3PAn3UowqTLEQfNlol6GsXPe+kuOWJSCU0cbgbcs8", "Mk3PAn3UowqTLEQfNlol"] {
            assert_eq!(ContentHash::parse(text), None, "{text}");
        }
    }
}
