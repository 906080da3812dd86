//! Ids of documents: what is allowed, how they are found without regard to case, which are completed by the server.
//!
//! The key of a document is its lower-cased id. ASCII is lower-cased eight bytes at a time; other characters one by one,
//! where Unicode lower-cases them to exactly one character, and stay as they are otherwise (so `İ` is itself). Keys are stored,
//! so the table is that of one release of one library, not that of whatever compiler is at hand. A key can be longer than its
//! id, by half at most, and is still one that the storage takes.

use crate::limits::ID_SIZE_MAX;
use crate::{Error, Result};

const HIGH: u64 = 0x8080_8080_8080_8080;
const ONES: u64 = 0x0101_0101_0101_0101;

/// The kinds of ids that clients give, by how the server completes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The id is used as it is.
    None,
    /// `users/`: the etag of the write and the node's tag are appended.
    Etag,
    /// `users|`: the next number of the identity is appended, after the separator.
    Identity,
}

/// What has to be appended to `id`. `separator` is that of the client configuration, `/` by default.
pub fn completion(id: &str, separator: char) -> Completion {
    match id.chars().next_back() {
        Some('|') => Completion::Identity,
        Some('/') => Completion::Etag,
        Some(last) if last == separator => Completion::Etag,
        _ => Completion::None,
    }
}

/// Checks an id that is complete or will be completed. Control characters are allowed, as in RavenDB, whose clients' test suites store
/// documents under them. [`check_new`] refuses NUL.
pub fn check(id: &str) -> Result<()> {
    let rule = if id.is_empty() {
        "it is empty"
    } else if id.len() > ID_SIZE_MAX {
        "it is longer than 512 bytes"
    } else {
        return Ok(());
    };
    Err(bad(id, rule))
}

/// Checks the id of a document that does not exist yet: [`check`] holds for it, and it has no NUL, at which programs in C would cut it.
pub fn check_new(id: &str) -> Result<()> {
    check(id)?;
    if memchr::memchr(0, id.as_bytes()).is_some() {
        return Err(bad(id, "it has a NUL character"));
    }
    Ok(())
}

#[cold]
fn bad(id: &str, rule: &'static str) -> Error {
    Error::BadId { id: id.chars().take(80).collect(), rule }
}

/// Puts the key of `id` into `key`, in place of what was there.
#[inline]
pub fn lower_into(key: &mut Vec<u8>, id: &str) {
    let bytes = id.as_bytes();
    // Only what is longer than the last key has to be cleared; all is written below.
    key.resize(bytes.len(), 0);
    let Some(last) = bytes.last_chunk::<8>() else {
        key.copy_from_slice(bytes);
        return if id.is_ascii() { key.make_ascii_lowercase() } else { lower_unicode(key, id) };
    };
    let mut all = 0;
    let mut step = |to: &mut [u8; 8], from: &[u8; 8]| {
        let word = u64::from_le_bytes(*from);
        all |= word;
        *to = lower_word(word).to_le_bytes();
    };
    // The last word may have bytes of the one before: quicker than to go through what is left over.
    if let Some(to) = key.last_chunk_mut() {
        step(to, last);
    }
    for (to, from) in key.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
        step(to, from);
    }
    if all & HIGH != 0 {
        lower_unicode(key, id);
    }
}

/// The key of `id`.
pub fn lower(id: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(id.len() + 8);
    lower_into(&mut key, id);
    key
}

/// The same as a text.
pub fn lower_text(id: &str) -> String {
    // Characters stand in the place of characters.
    String::from_utf8(lower(id)).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Whether two ids, or names of collections, are the same: case does not count.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || lower(one) == lower(other)
}

/// Lower-cases eight ASCII bytes: bit 5 is set where a byte is in `A..=Z`. Of others it makes nothing that may be used.
#[inline]
fn lower_word(word: u64) -> u64 {
    let low = word & !HIGH;
    let from_a = low + ONES * (0x80 - b'A' as u64);
    let past_z = low + ONES * (0x80 - b'Z' as u64 - 1);
    word | ((from_a & !past_z & HIGH) >> 2)
}

#[cold]
fn lower_unicode(key: &mut Vec<u8>, id: &str) {
    key.clear();
    for character in id.chars() {
        // Zeros stand for "no other", and for "no second".
        let single = match unicode_case_mapping::to_lowercase(character) {
            [0, _] => character,
            [single, 0] => char::from_u32(single).unwrap_or(character),
            _ => character,
        };
        key.extend_from_slice(single.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// A new random id in the form of a GUID: 36 characters, lower-case.
pub fn random_guid() -> String {
    let mut bytes = random_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    guid_text(&bytes).iter().copied().map(char::from).collect()
}

/// The text of a GUID, as bytes that are ASCII: `8-4-4-4-12` lower-case digits.
#[inline]
pub fn guid_text(bytes: &[u8; 16]) -> [u8; 36] {
    const DIGITS: [[u8; 2]; 256] = {
        let (digits, mut pairs, mut byte) = (b"0123456789abcdef", [[0; 2]; 256], 0);
        while byte < 256 {
            pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
            byte += 1;
        }
        pairs
    };
    const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    let mut text = [b'-'; 36];
    for (byte, at) in bytes.iter().zip(PLACES) {
        text[at..at + 2].copy_from_slice(&DIGITS[usize::from(*byte)]);
    }
    text
}

/// 16 bytes from the system's source of chance.
pub fn random_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    // The system call fails only where the kernel has no random source at all, and then no id may be made up.
    assert!(getrandom::fill(&mut bytes).is_ok(), "the system has no source of random numbers");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_lower(id: &str, key: &str) {
        assert_eq!(String::from_utf8(lower(id)).unwrap(), key);
    }

    #[test]
    fn keys_are_lower_case_in_every_script_one_to_one() {
        check_lower("Users/1-A", "users/1-a");
        check_lower("ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`@0", "abcdefghijklmnopqrstuvwxyz[\\]^_`@0");
        check_lower("usERS/ÄÖÜ-ΣΩ-ДЖ", "users/äöü-σω-дж");
        check_lower("İ", "İ");
        check_lower("12345678é", "12345678é");
        check_lower("A", "a");
        check_lower("É", "é");
    }

    #[test]
    fn keys_are_what_they_were_in_the_first_release() {
        let every: String = (char::MIN..=char::MAX).collect();
        let hash = xxhash_rust::xxh3::xxh3_64(&lower(&every));
        assert_eq!(hash, 8_195_715_620_535_128_593, "stored keys would not be found any more");
    }

    #[test]
    fn a_key_is_at_most_half_longer_than_its_id() {
        for character in char::MIN..=char::MAX {
            let id = character.to_string();
            assert!(lower(&id).len() * 2 <= id.len() * 3, "{character:?}");
        }
    }

    #[test]
    fn ids_are_checked() {
        assert!(check("users/1").is_ok() && check(&"x".repeat(512)).is_ok() && check("a\u{1}b").is_ok());
        for id in ["", &"x".repeat(513)] {
            assert!(check(id).is_err() && check_new(id).is_err(), "{id:?}");
        }
        for id in ["users/1", "ä\u{a0}é", " ~", "東京", "a\r\nb", "\u{1}", "\u{7f}", "a\u{85}"] {
            assert!(check_new(id).is_ok(), "{id:?}");
        }
        for id in ["\0", "a\0b"] {
            assert!(check_new(id).is_err(), "{id:?}");
        }
    }

    #[test]
    fn ends_ask_for_completion() {
        for (id, expected) in [
            ("users/", Completion::Etag),
            ("users|", Completion::Identity),
            ("users/1", Completion::None),
            ("", Completion::None),
            ("users-", Completion::None),
        ] {
            assert_eq!(completion(id, '/'), expected, "{id}");
        }
        assert_eq!(completion("users-", '-'), Completion::Etag);
    }

    #[test]
    fn guids_have_their_form() {
        let guid = random_guid();
        assert_eq!((guid.len(), guid.matches('-').count(), guid.as_bytes()[14]), (36, 4, b'4'));
        assert_ne!(guid, random_guid());
        let bytes = std::array::from_fn(|at| at as u8 * 17);
        assert_eq!(&guid_text(&bytes), b"00112233-4455-6677-8899-aabbccddeeff");
    }

    proptest! {
        #[test]
        fn words_are_lower_cased_as_bytes_are(id in "[ -~]{0,40}") {
            prop_assert_eq!(lower(&id), id.to_ascii_lowercase().into_bytes());
            let mut key = b"what was there before, longer than that".to_vec();
            lower_into(&mut key, &id);
            prop_assert_eq!(key, lower(&id));
        }
    }
}
