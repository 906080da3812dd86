//! Inputs that change real files instead of being files: most of the bytes of a file have to fit for the rest to matter.

/// Changes bytes as an input says: `place u16, unit u8, kind u8` and what the kind takes, until it ends.
///
/// * `place` and `unit`: where, `place` counted in units of `unit % 4`: bytes, pages of 64 of them, fields of heads, words.
/// * `kind`: flips a bit, sets a byte, adds to a word of 16, 32 or 64 bits, or copies what follows.
pub fn apply(bytes: &mut [u8], mut input: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    while let Some((&[low, high, unit, kind], rest)) = input.split_first_chunk::<4>() {
        let place = usize::from(u16::from_le_bytes([low, high]));
        let at = match unit % 4 {
            0 => place,
            // The heads of pages and what stands at their beginnings.
            1 => place / 64 * 8192 + place % 64,
            2 => place * 64,
            _ => place * 8,
        } % bytes.len();
        let operand = rest.first().copied().unwrap_or(1);
        input = rest.get(1..).unwrap_or_default();
        match kind % 8 {
            0 => bytes[at] ^= 1 << (operand % 8),
            1 | 2 => bytes[at] = operand,
            3 => add::<2>(bytes, at, i64::from(operand as i8)),
            4 => add::<4>(bytes, at, i64::from(operand as i8)),
            5 => add::<8>(bytes, at, i64::from(operand as i8)),
            6 => {
                let length = usize::from(operand % 64).min(input.len()).min(bytes.len() - at);
                bytes[at..at + length].copy_from_slice(&input[..length]);
                input = &input[length..];
            }
            _ => {
                let length = usize::from(operand).min(bytes.len() - at);
                bytes[at..at + length].fill(0xff);
            }
        }
    }
}

fn add<const N: usize>(bytes: &mut [u8], at: usize, amount: i64) {
    let Some(field) = bytes[at..].first_chunk_mut::<N>() else { return };
    let mut word = [0; 8];
    word[..N].copy_from_slice(field);
    let sum = u64::from_le_bytes(word).wrapping_add_signed(amount);
    field.copy_from_slice(&sum.to_le_bytes()[..N]);
}
