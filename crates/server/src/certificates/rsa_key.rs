//! Makes RSA keys for clients: Java's and Node.js's read a key in PEM only in PKCS #1 (`BEGIN RSA PRIVATE KEY`).
//!
//! `ring` signs with RSA and makes no keys. The primes are random, without small factors, and pass Miller-Rabin; the rest is FIPS 186-5,
//! A.1.3 (random primes that are probably prime). `ring` checks the finished key before it is used.

use data_encoding::BASE64;
use num_bigint::BigUint;
use ring::rand::{SecureRandom, SystemRandom};

/// Bits of the modulus.
const MODULUS_BITS: usize = 2048;

/// Bytes of each of the two primes.
const PRIME_BYTES: usize = MODULUS_BITS / 16;

/// The public exponent.
const EXPONENT: u32 = 65_537;

/// Rounds of Miller-Rabin. 5 are enough for an error of 2^-112 (FIPS 186-5, table B.1).
const ROUNDS: usize = 10;

/// Candidates with a prime factor below it are not tested further.
const SMALL_PRIME_MAX: u32 = 2000;

/// The primes differ in their first 100 bits.
const DISTANCE_BITS: u64 = (MODULUS_BITS / 2 - 100) as u64;

/// The system gives no random numbers.
#[derive(Debug, thiserror::Error)]
#[error("the system gives no random numbers")]
pub(crate) struct NoRandomNumbers;

/// A private key.
pub(crate) struct RsaKey {
    /// `RSAPrivateKey` of RFC 8017.
    pkcs1: Vec<u8>,
}

impl RsaKey {
    /// Makes a key, which takes a part of a second.
    ///
    /// # Errors
    ///
    /// [`NoRandomNumbers`]
    pub(crate) fn generate() -> Result<RsaKey, NoRandomNumbers> {
        let small = small_primes();
        let first = prime(&small)?;
        let (p, q) = loop {
            let second = prime(&small)?;
            let (p, q) = if first > second { (&first, second) } else { (&second.clone(), first.clone()) };
            if (p - &q).bits() > DISTANCE_BITS {
                break (p.clone(), q);
            }
        };
        let one = BigUint::from(1_u32);
        let (before_p, before_q) = (&p - &one, &q - &one);
        let order = &before_p * &before_q / greatest_common_divisor(before_p.clone(), before_q.clone());
        let exponent = BigUint::from(EXPONENT);
        let secret = exponent.modinv(&order).expect("no prime minus 1 is a multiple of the exponent");
        let coefficient = q.modinv(&p).expect("two primes have no common divisor");
        let parts = [
            BigUint::default(),
            &p * &q,
            exponent,
            secret.clone(),
            p,
            q,
            &secret % &before_p,
            &secret % &before_q,
            coefficient,
        ];
        Ok(RsaKey { pkcs1: element(0x30, &parts.iter().flat_map(integer).collect::<Vec<u8>>()) })
    }

    /// The key in PKCS #8 (RFC 5208), in DER.
    pub(crate) fn pkcs8(&self) -> Vec<u8> {
        // The object identifier of RSA encryption, 1.2.840.113549.1.1.1, and no parameters.
        let algorithm = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00];
        element(0x30, &[integer(&BigUint::default()), element(0x30, &algorithm), element(0x04, &self.pkcs1)].concat())
    }

    /// The key in PKCS #1, in PEM.
    pub(crate) fn pem(&self) -> String {
        let mut pem = "-----BEGIN RSA PRIVATE KEY-----\n".to_owned();
        let text = BASE64.encode(&self.pkcs1);
        for start in (0..text.len()).step_by(64) {
            pem.push_str(&text[start..text.len().min(start + 64)]);
            pem.push('\n');
        }
        pem + "-----END RSA PRIVATE KEY-----\n"
    }
}

/// The odd primes up to [`SMALL_PRIME_MAX`].
fn small_primes() -> Vec<u32> {
    let is_prime =
        |number: u32| (3..).step_by(2).take_while(|divisor| divisor * divisor <= number).all(|d| number % d != 0);
    (3..SMALL_PRIME_MAX).step_by(2).filter(|number| is_prime(*number)).collect()
}

/// A random prime whose highest two bits are set, so that the product of two has all its bits, and that the exponent suits.
fn prime(small: &[u32]) -> Result<BigUint, NoRandomNumbers> {
    loop {
        let mut bytes = random()?;
        bytes[0] |= 0xC0;
        bytes[PRIME_BYTES - 1] |= 1;
        let candidate = BigUint::from_bytes_be(&bytes);
        let has_factor = small.iter().any(|prime| remainder(&candidate, *prime) == 0);
        if !has_factor && remainder(&candidate, EXPONENT) != 1 && is_probably_prime(&candidate)? {
            return Ok(candidate);
        }
    }
}

fn random() -> Result<[u8; PRIME_BYTES], NoRandomNumbers> {
    let mut bytes = [0; PRIME_BYTES];
    SystemRandom::new().fill(&mut bytes).map_err(|_| NoRandomNumbers)?;
    Ok(bytes)
}

fn remainder(number: &BigUint, divisor: u32) -> u32 {
    (number % divisor).iter_u32_digits().next().unwrap_or_default()
}

/// The test of Miller and Rabin (FIPS 186-5, B.3.1).
///
/// * `candidate`: odd, of [`PRIME_BYTES`] bytes.
fn is_probably_prime(candidate: &BigUint) -> Result<bool, NoRandomNumbers> {
    let one = BigUint::from(1_u32);
    let before = candidate - &one;
    let halvings = before.trailing_zeros().unwrap_or_default();
    let odd = &before >> halvings;
    'round: for _ in 0..ROUNDS {
        let base = BigUint::from_bytes_be(&random()?) % candidate;
        if base <= one || base == before {
            continue;
        }
        let mut power = base.modpow(&odd, candidate);
        if power == one || power == before {
            continue;
        }
        for _ in 1..halvings {
            power = &power * &power % candidate;
            if power == before {
                continue 'round;
            }
        }
        return Ok(false);
    }
    Ok(true)
}

/// Euclid's algorithm.
fn greatest_common_divisor(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b.bits() > 0 {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// An element of DER: its tag, its length, its content.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut element = vec![tag];
    match u8::try_from(content.len()) {
        Ok(length) if length < 0x80 => element.push(length),
        _ => {
            let length = content.len().to_be_bytes();
            let length = &length[length.iter().take_while(|byte| **byte == 0).count()..];
            element.push(0x80 | u8::try_from(length.len()).expect("a length has at most 8 bytes"));
            element.extend_from_slice(length);
        }
    }
    element.extend_from_slice(content);
    element
}

/// An INTEGER of DER, which has a zero before a first bit that is set.
fn integer(number: &BigUint) -> Vec<u8> {
    let mut bytes = number.to_bytes_be();
    if bytes.first().is_some_and(|first| first & 0x80 != 0) {
        bytes.insert(0, 0);
    }
    element(0x02, &bytes)
}

#[cfg(test)]
mod tests {
    use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey};

    use super::*;

    #[test]
    fn ring_signs_with_a_key_in_either_form() {
        let key = RsaKey::generate().unwrap();
        for pair in [RsaKeyPair::from_pkcs8(&key.pkcs8()).unwrap(), RsaKeyPair::from_der(&key.pkcs1).unwrap()] {
            let mut signature = vec![0; pair.public().modulus_len()];
            assert_eq!(signature.len() * 8, MODULUS_BITS);
            pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), b"text", &mut signature).unwrap();
            let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public());
            public.verify(b"text", &signature).unwrap();
            public.verify(b"other", &signature).unwrap_err();
        }
        let pem = key.pem();
        let lines: Vec<&str> = pem.lines().collect();
        assert_eq!(
            (lines[0], *lines.last().unwrap()),
            ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----")
        );
        let text = lines[1..lines.len() - 1].concat();
        assert_eq!(BASE64.decode(text.as_bytes()).unwrap(), key.pkcs1);
        assert!(lines[1..lines.len() - 2].iter().all(|line| line.len() == 64), "{pem}");
    }

    #[test]
    fn primes_are_told_from_products_of_primes() {
        // 2^521 - 1 and 2^607 - 1 are primes (Mersenne), 2^523 - 1 is none.
        let mersenne = |bits: u32| (BigUint::from(1_u32) << bits) - BigUint::from(1_u32);
        assert!(is_probably_prime(&mersenne(521)).unwrap());
        assert!(is_probably_prime(&mersenne(607)).unwrap());
        assert!(!is_probably_prime(&mersenne(523)).unwrap());
        assert!(!is_probably_prime(&(mersenne(521) * mersenne(607))).unwrap());
        assert_eq!(small_primes()[..6], [3, 5, 7, 11, 13, 17]);
        assert_eq!(small_primes().len(), 302);
    }
}
