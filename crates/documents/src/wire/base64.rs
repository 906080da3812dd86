//! Base64, standard alphabet: database ids and hashes.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of `bytes`, without padding.
pub fn encode_unpadded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for sextet in 0..=chunk.len() {
            text.push(char::from(ALPHABET[(word >> (18 - 6 * sextet)) as usize & 63]));
        }
    }
    text
}

/// The text of `bytes`, padded with `=` to whole groups of four.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = encode_unpadded(bytes);
    text.extend(std::iter::repeat_n('=', (4 - text.len() % 4) % 4));
    text
}

/// The bytes of a text, padded to whole groups of four. `None`: it is not base64 of the standard alphabet.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let (groups, rest) = text.as_bytes().as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    for (at, group) in groups.iter().enumerate() {
        let padding = group.iter().rev().take_while(|byte| **byte == b'=').count();
        if padding > 2 || (padding > 0 && at + 1 < groups.len()) {
            return None;
        }
        let mut word = 0u32;
        for byte in &group[..4 - padding] {
            word = word << 6 | u32::from(sextet(*byte)?);
        }
        let [_, kept @ ..] = (word << (6 * padding)).to_be_bytes();
        bytes.extend_from_slice(&kept[..3 - padding]);
    }
    Some(bytes)
}

fn sextet(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_is_what_the_standard_says() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(super::encode(bytes.as_bytes()), text);
            assert_eq!(super::decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(super::encode_unpadded(&[0xff; 16]), "/////////////////////w");
        for wrong in ["Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm9-", "=Zg="] {
            assert_eq!(super::decode(wrong), None, "{wrong}");
        }
    }
}
