//! Vectors as they are kept, and how near two of them are.
//!
//! ```text
//!  Single   f32 LE each, so that the sum of their squares is 1, or all 0
//!  Int8     f32 LE, 1 / the root of the sum of squares (0 for none) | i8 each
//!  Binary   bits
//! ```
//!
//! They are compared where they lie, on pages of any alignment, in lanes that compilers make vector instructions of. Sums have one
//! order on every machine, so that graphs are the same everywhere.

use super::Embedding;

/// Sums that are kept side by side.
const LANES: usize = 16;

/// How far a similarity of two numbers of 32 bits may be off, so that equal vectors are found that ask for 1.
const ROUNDING: f32 = 2e-6;

/// How near two kept vectors are, of as many components: the cosine of their angle from -1 to 1, or the share of bits that are the same
/// from 0 to 1. 0 if one has no direction.
pub fn similarity(embedding: Embedding, one: &[u8], other: &[u8]) -> f32 {
    match embedding {
        Embedding::Single => dot_single(one, other).clamp(-1.0, 1.0),
        Embedding::Int8 => match (one.split_first_chunk(), other.split_first_chunk()) {
            (Some((one_head, one)), Some((other_head, other))) => {
                let scale = f32::from_le_bytes(*one_head) * f32::from_le_bytes(*other_head);
                (dot_int8(one, other) as f32 * scale).clamp(-1.0, 1.0)
            }
            _ => 0.0,
        },
        Embedding::Binary => match one.len().min(other.len()) {
            0 => 0.0,
            size => 1.0 - different_bits(one, other) as f32 / (size * 8) as f32,
        },
    }
}

/// Whether a similarity is at least what is asked for, which for cosines is given as `(1 + cosine) / 2`, as in the reference.
pub fn is_near(embedding: Embedding, similarity: f32, similarity_min: f32) -> bool {
    match embedding {
        Embedding::Single | Embedding::Int8 => similarity + ROUNDING >= 2.0 * similarity_min - 1.0,
        Embedding::Binary => similarity >= similarity_min,
    }
}

/// Makes what is kept of components.
///
/// * `components`: finite.
pub(super) fn put_single(components: &[f32], out: &mut Vec<u8>) {
    let squares: f64 = components.iter().map(|number| f64::from(*number) * f64::from(*number)).sum();
    let scale = if squares > 0.0 { 1.0 / squares.sqrt() } else { 0.0 };
    for number in components {
        // Zero has one sign, so that equal vectors have equal bytes.
        let number = (f64::from(*number) * scale) as f32 + 0.0;
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// The same of whole numbers.
pub(super) fn put_int8(components: &[i8], out: &mut Vec<u8>) {
    let squares: i64 = components.iter().map(|number| i64::from(*number) * i64::from(*number)).sum();
    let scale = if squares > 0 { 1.0 / (squares as f64).sqrt() } else { 0.0 };
    out.extend_from_slice(&(scale as f32).to_le_bytes());
    out.extend(components.iter().map(|number| number.to_le_bytes()[0]));
}

/// Numbers as whole ones: the greatest becomes 127, all are rounded.
pub(super) fn put_single_as_int8(components: &[f32], out: &mut Vec<u8>) {
    let greatest = components.iter().fold(0.0f32, |greatest, number| greatest.max(number.abs()));
    let scale = if greatest > 0.0 { 127.0 / f64::from(greatest) } else { 0.0 };
    let whole: Vec<i8> = components.iter().map(|number| (f64::from(*number) * scale).round() as i8).collect();
    put_int8(&whole, out);
}

/// Numbers as bits: whether they are not below 0, the first in the highest bit; what is left of the last byte is 0.
pub(super) fn put_single_as_binary(components: &[f32], out: &mut Vec<u8>) {
    for eight in components.chunks(8) {
        let bits = eight.iter().enumerate().filter(|(_, number)| **number >= 0.0);
        out.push(bits.fold(0, |byte, (place, _)| byte | 0x80 >> place));
    }
}

fn dot_single(one: &[u8], other: &[u8]) -> f32 {
    let number = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    let (one, _) = one.as_chunks::<4>();
    let (other, _) = other.as_chunks::<4>();
    let (one_wide, one_rest) = one.as_chunks::<LANES>();
    let (other_wide, other_rest) = other.as_chunks::<LANES>();
    let mut sums = [0.0f32; LANES];
    for (one, other) in one_wide.iter().zip(other_wide) {
        for lane in 0..LANES {
            sums[lane] += number(&one[lane]) * number(&other[lane]);
        }
    }
    let rest: f32 = one_rest.iter().zip(other_rest).map(|(one, other)| number(one) * number(other)).sum();
    sums.iter().sum::<f32>() + rest
}

fn dot_int8(one: &[u8], other: &[u8]) -> i32 {
    let product = |(one, other): (&u8, &u8)| i32::from(one.cast_signed()) * i32::from(other.cast_signed());
    one.iter().zip(other).map(product).sum()
}

fn different_bits(one: &[u8], other: &[u8]) -> u32 {
    let (one_wide, one_rest) = one.as_chunks::<8>();
    let (other_wide, other_rest) = other.as_chunks::<8>();
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let wide: u32 = one_wide.iter().zip(other_wide).map(|(one, other)| (word(one) ^ word(other)).count_ones()).sum();
    let rest: u32 = one_rest.iter().zip(other_rest).map(|(one, other)| (one ^ other).count_ones()).sum();
    wide + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(put: impl Fn(&[f32], &mut Vec<u8>), components: &[f32]) -> Vec<u8> {
        let mut out = Vec::new();
        put(components, &mut out);
        out
    }

    /// Similarities that the reference gave.
    #[test]
    fn similarities_are_those_of_the_reference() {
        let vectors: [[f32; 2]; 4] = [[1.0, 0.0], [0.9, 0.435_889_9], [0.6, 0.8], [-1.0, 0.0]];
        let check = |embedding, put: fn(&[f32], &mut Vec<u8>), expected: [f32; 4]| {
            let asked = kept(put, &vectors[0]);
            for (vector, expected) in vectors.iter().zip(expected) {
                let found = similarity(embedding, &asked, &kept(put, vector));
                assert!((found - expected).abs() < 1e-6, "{embedding:?} {vector:?}: {found}, and not {expected}");
            }
        };
        check(Embedding::Single, put_single, [1.0, 0.9, 0.6, -1.0]);
        check(Embedding::Int8, put_single_as_int8, [1.0, 0.898_632_4, 0.598_990_7, -1.0]);
        check(Embedding::Binary, put_single_as_binary, [1.0, 1.0, 1.0, 0.875]);
    }

    /// Whole lanes and what is left of them, against sums one by one.
    #[test]
    fn sums_in_lanes_are_sums() {
        for count in [1usize, 15, 16, 17, 33, 100] {
            let of = |seed: usize| {
                (0..count).map(|place| ((place * 37 + seed * 11) % 21) as f32 - 10.0).collect::<Vec<f32>>()
            };
            let (one, other) = (of(1), of(2));
            let naive = |one: &[f32], other: &[f32]| {
                let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
                dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
            };
            let found = similarity(Embedding::Single, &kept(put_single, &one), &kept(put_single, &other));
            assert!((f64::from(found) - naive(&one, &other)).abs() < 1e-5);
            let bits = |numbers: &[f32]| numbers.iter().map(|number| *number >= 0.0).collect::<Vec<bool>>();
            let differ = bits(&one).iter().zip(bits(&other)).filter(|(a, b)| **a != *b).count();
            let (one, other) = (kept(put_single_as_binary, &one), kept(put_single_as_binary, &other));
            assert_eq!(different_bits(&one, &other) as usize, differ);
        }
    }

    #[test]
    fn what_has_no_direction_is_like_nothing() {
        let (none, some) = (kept(put_single, &[0.0, -0.0]), kept(put_single, &[1e38, 1e38]));
        assert_eq!(none, [0; 8]);
        assert_eq!(similarity(Embedding::Single, &none, &some), 0.0);
        assert!((similarity(Embedding::Single, &some, &some) - 1.0).abs() < 1e-6);
        assert!(is_near(Embedding::Single, 1.0 - 1e-7, 1.0) && !is_near(Embedding::Single, 0.99, 1.0));
    }
}
