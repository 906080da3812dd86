//! Pseudo-random values that their seed alone decides, so that a test that fails can be repeated.
//!
//! The generator is SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). It
//! is fast, and good enough to choose operations. A seed gives the same values on every machine and in every version:
//! comments and reports name seeds that failed once.

/// The distance of two states that follow each other.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of pseudo-random values.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The stream of seed 0 from its value number `position` on.
    ///
    /// Streams of neighbouring positions share all values but the first. The tests of the storage engine take their
    /// seeds as positions: the seeds in their comments and in RELIABILITY.md mean that. Other tests use
    /// [`Random::new`].
    pub fn at(position: u64) -> Random {
        Random(position.wrapping_mul(STEP))
    }

    /// Another stream, for another thread or purpose.
    pub fn split(&mut self) -> Random {
        Random(self.next())
    }

    /// Any number.
    #[allow(clippy::should_implement_trait, reason = "the stream has no end, so that no caller needs an option")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number from 0 up to, and without, `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// An index into a slice of `length` elements; 0 if it has none.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// True once in `one_in` times.
    pub fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    /// One of the values, of which there must be one.
    pub fn of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.index(values.len())]
    }

    /// Bytes that do not compress.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }

    /// Letters, digits and spaces, which need no escape anywhere.
    pub fn letters(&mut self, length: usize) -> String {
        const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789  ";
        (0..length).map(|_| LETTERS[self.index(LETTERS.len())] as char).collect()
    }
}

/// A number that looks random and follows from another: equal numbers give equal ones, different numbers different
/// ones.
pub fn mixed(number: u64) -> u64 {
    let mut mixed = number;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_values_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        let values: Vec<u64> = std::iter::repeat_with(|| random.next()).take(3).collect();
        assert_eq!(values, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_position_is_that_many_values_further_on() {
        let (mut first, mut third) = (Random::at(0), Random::at(2));
        let values: Vec<u64> = std::iter::repeat_with(|| first.next()).take(4).collect();
        assert_eq!([third.next(), third.next()], values[2..]);
    }

    #[test]
    fn bytes_have_the_length_that_was_asked_for() {
        assert!((0..20).all(|length| Random::new(3).bytes(length).len() == length));
    }
}
