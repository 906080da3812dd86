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

#[cfg(test)]
mod tests {
    #[test]
    fn text_is_what_the_standard_says() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(super::encode(bytes.as_bytes()), text);
        }
        assert_eq!(super::encode_unpadded(&[0xff; 16]), "/////////////////////w");
    }
}
