//! The body of an attachment's record.
//!
//! ```text
//!  0      32     40
//!  +------+------+--------------+
//!  | hash | size | content type |
//!  +------+------+--------------+
//! ```
//!
//! * `hash`: of the content, BLAKE2b with 256 bits. `size`: bytes of the content, little-endian. `content type`: text, perhaps empty.

use super::hash::{ContentHash, HASH_SIZE};
use crate::limits::ATTACHMENT_TYPE_SIZE_MAX;

const HEAD_SIZE: usize = HASH_SIZE + size_of::<u64>();

/// What a record has of an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value<'v> {
    pub hash: ContentHash,
    /// Bytes.
    pub size: u64,
    pub content_type: &'v str,
}

impl<'v> Value<'v> {
    pub fn encode(&self) -> Vec<u8> {
        [&self.hash.0[..], &self.size.to_le_bytes(), self.content_type.as_bytes()].concat()
    }

    /// `None`: the body is damaged.
    pub fn decode(body: &'v [u8]) -> Option<Value<'v>> {
        let (head, content_type) = body.split_at_checked(HEAD_SIZE)?;
        let (hash, size) = head.split_at(HASH_SIZE);
        let content_type =
            std::str::from_utf8(content_type).ok().filter(|text| text.len() <= ATTACHMENT_TYPE_SIZE_MAX)?;
        Some(Value {
            hash: ContentHash(hash.try_into().ok()?),
            size: u64::from_le_bytes(size.try_into().ok()?),
            content_type,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_goes_there_and_back() {
        let value = Value { hash: ContentHash::of(b"x"), size: u64::MAX - 1, content_type: "text/plain" };
        let mut body = value.encode();
        assert_eq!(Value::decode(&body), Some(value));
        assert_eq!(Value::decode(&body[..HEAD_SIZE - 1]), None);
        body.push(0xff);
        assert_eq!(Value::decode(&body), None);
        body.truncate(HEAD_SIZE);
        assert_eq!(Value::decode(&body).map(|value| value.content_type), Some(""));
    }
}
