//! Whole numbers in as few bytes as they need: seven bits a byte, the lowest first, the high bit says that more follow.

/// Appends a number.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bytes that a number takes.
pub(crate) fn size(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Takes a number from the front. `None`: the bytes end within it, or it has more than 64 bits, or zeros at its end.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(u64::from(first));
    }
    take_long(bytes)
}

fn take_long(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(10) {
        let part = u64::from(byte & 0x7f);
        value |= part << (7 * index as u32);
        if *byte < 0x80 {
            let is_cut = index == 9 && *byte > 1;
            if is_cut || *byte == 0 {
                return None;
            }
            *bytes = bytes.get(index + 1..)?;
            return Some(value);
        }
    }
    None
}

/// Takes `length` bytes from the front.
pub(crate) fn take_bytes<'b>(bytes: &mut &'b [u8], length: u64) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_comes_back(shift in 0u32..64, bits: u64) {
            let value = bits >> shift;
            let mut out = Vec::new();
            put(&mut out, value);
            prop_assert_eq!(out.len(), size(value));
            let mut rest = &out[..];
            prop_assert_eq!(take(&mut rest), Some(value));
            prop_assert!(rest.is_empty());
            prop_assert_eq!(take(&mut &out[..out.len() - 1]), None);
        }

        #[test]
        fn any_bytes_are_a_number_in_one_way_or_none(bytes: Vec<u8>) {
            let mut rest = &bytes[..];
            if let Some(value) = take(&mut rest) {
                let mut again = Vec::new();
                put(&mut again, value);
                prop_assert_eq!(&bytes[..bytes.len() - rest.len()], &again[..]);
            }
        }
    }
}
