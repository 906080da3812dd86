//! An X.509 certificate as far as access depends on it: thumbprint, validity period, names.
//!
//! A certificate is trusted by its thumbprint, which is a hash of all its bytes. Neither its names nor its issuer prove anything: anyone
//! can make a certificate with the same ones.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use subtle::{Choice, ConstantTimeEq};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::x509::X509Name;

use crate::messages::date;

/// Characters of a subject that a message repeats.
const SUBJECT_LENGTH_SHOWN: usize = 128;

/// What the server reads of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// `CN=admin`, shortened, without control characters.
    subject: String,
    /// The same of who signed it.
    issuer: String,
    thumbprint: Thumbprint,
    public_key_hash: [u8; 32],
    /// Seconds since 1970, both inclusive.
    not_before: i64,
    not_after: i64,
    /// The DNS names and IP addresses of its subject alternative names; a name may begin with `*.`.
    hosts: Vec<String>,
}

impl Certificate {
    /// Reads a certificate in DER; `None` if it is none.
    pub(crate) fn parse(der: &[u8]) -> Option<Certificate> {
        let (rest, certificate) = X509Certificate::from_der(der).ok()?;
        if !rest.is_empty() {
            return None;
        }
        let validity = certificate.validity();
        let alternative_names = certificate.subject_alternative_name().ok().flatten();
        let hosts = alternative_names.iter().flat_map(|extension| &extension.value.general_names);
        let hosts = hosts.filter_map(|name| match name {
            GeneralName::DNSName(name) => Some((*name).to_owned()),
            GeneralName::IPAddress(bytes) => address(bytes).map(|address| address.to_string()),
            _ => None,
        });
        Some(Certificate {
            subject: shown(certificate.subject()),
            issuer: shown(certificate.issuer()),
            thumbprint: Thumbprint::of(der),
            public_key_hash: sha256(certificate.public_key().raw),
            not_before: validity.not_before.timestamp(),
            not_after: validity.not_after.timestamp(),
            hosts: hosts.collect(),
        })
    }

    /// Whose it is, `CN=admin`; shortened, without control characters.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Who signed it, in the same form.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The DNS names and IP addresses that it is for; a name may begin with `*.`.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The first and the last moment at which it is valid, as `2026-01-15T00:41:16.0000000Z`.
    pub fn period(&self) -> (String, String) {
        (at(self.not_before), at(self.not_after))
    }

    /// When it begins to be valid, in seconds since 1970.
    pub(crate) fn not_before(&self) -> i64 {
        self.not_before
    }

    /// SHA-256 of its public key with the algorithm of that (`SubjectPublicKeyInfo`), which a renewed certificate may share.
    pub(crate) fn public_key_hash(&self) -> &[u8; 32] {
        &self.public_key_hash
    }

    /// When it expires, in seconds since 1970.
    pub(crate) fn not_after(&self) -> i64 {
        self.not_after
    }

    /// Its thumbprint.
    pub fn thumbprint(&self) -> &Thumbprint {
        &self.thumbprint
    }

    /// Whether its validity period contains `now`.
    pub(crate) fn validity_at(&self, now: SystemTime) -> Validity {
        // Before 1970 no certificate was valid.
        let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
        if now < self.not_before {
            Validity::NotYet(self.not_before)
        } else if now > self.not_after {
            Validity::Expired(self.not_after)
        } else {
            Validity::Valid
        }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' (thumbprint {})", self.subject, self.thumbprint)
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

fn shown(name: &X509Name<'_>) -> String {
    name.to_string().chars().filter(|letter| !letter.is_control()).take(SUBJECT_LENGTH_SHOWN).collect()
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(|bytes| IpAddr::V4(Ipv4Addr::from(bytes)));
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(|bytes| IpAddr::V6(Ipv6Addr::from(bytes)))).ok()
}

/// Seconds since 1970 as a date.
pub(crate) fn at(seconds: i64) -> String {
    let since = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
    UNIX_EPOCH.checked_add(since).map_or_else(|| "the end of time".to_owned(), date::wire)
}

/// A point in time against a validity period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validity {
    Valid,
    /// It begins at this second since 1970.
    NotYet(i64),
    /// It ended at this second since 1970.
    Expired(i64),
}

/// The thumbprint of a certificate: SHA-1 of its DER, as RavenDB, Windows and browsers show it, and SHA-256 of the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thumbprint {
    sha1: [u8; 20],
    sha256: [u8; 32],
}

impl Thumbprint {
    /// * `der`: the certificate.
    pub fn of(der: &[u8]) -> Thumbprint {
        let mut thumbprint = Thumbprint { sha1: [0; 20], sha256: sha256(der) };
        thumbprint.sha1.copy_from_slice(digest(&SHA1_FOR_LEGACY_USE_ONLY, der).as_ref());
        thumbprint
    }

    pub(crate) fn sha256_bytes(&self) -> &[u8; 32] {
        &self.sha256
    }

    /// SHA-256 in upper-case hexadecimal.
    pub fn sha256(&self) -> String {
        self.sha256.iter().map(|byte| format!("{byte:02X}")).collect()
    }
}

impl fmt::Display for Thumbprint {
    /// SHA-1 in upper-case hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sha1.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

/// The thumbprint of a certificate that an operator trusts, as a setting has it.
#[derive(Clone, PartialEq, Eq)]
pub enum TrustedThumbprint {
    /// As RavenDB has it.
    Sha1([u8; 20]),
    /// For those who do not want to depend on SHA-1.
    Sha256([u8; 32]),
}

impl TrustedThumbprint {
    /// Reads hexadecimal digits in either case, with or without colons and spaces between the bytes; `None` if they are neither 20 nor 32
    /// bytes.
    pub fn parse(text: &str) -> Option<TrustedThumbprint> {
        let digits: Vec<u8> = text.bytes().filter(|byte| !b": ".contains(byte)).collect();
        let value = |digit: &u8| char::from(*digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
        let bytes = digits.chunks(2).map(|pair| match pair {
            [high, low] => Some(value(high)? << 4 | value(low)?),
            _ => None,
        });
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        let sha1 = bytes.as_slice().try_into().ok().map(TrustedThumbprint::Sha1);
        sha1.or_else(|| bytes.as_slice().try_into().ok().map(TrustedThumbprint::Sha256))
    }

    /// Compares in a time that does not depend on where they differ.
    fn is_of(&self, thumbprint: &Thumbprint) -> Choice {
        match self {
            TrustedThumbprint::Sha1(bytes) => bytes.ct_eq(&thumbprint.sha1),
            TrustedThumbprint::Sha256(bytes) => bytes.ct_eq(&thumbprint.sha256),
        }
    }

    /// Whether one of `trusted` is that of the certificate. All are compared.
    pub(crate) fn contains(trusted: &[TrustedThumbprint], thumbprint: &Thumbprint) -> bool {
        trusted.iter().fold(Choice::from(0), |found, trusted| found | trusted.is_of(thumbprint)).into()
    }
}

impl fmt::Display for TrustedThumbprint {
    /// In upper-case hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: &[u8] = match self {
            TrustedThumbprint::Sha1(bytes) => bytes,
            TrustedThumbprint::Sha256(bytes) => bytes,
        };
        bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl fmt::Debug for TrustedThumbprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};

    fn der(change: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
        let mut params = CertificateParams::new(vec!["db.example".to_owned(), "10.1.2.3".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "admin");
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2030, 1, 1));
        change(&mut params);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn a_certificate_is_valid_within_its_period_and_on_both_ends_of_it() {
        let certificate = Certificate::parse(&der(|_| ())).unwrap();
        let (begin, end) = (1_577_836_800, 1_893_456_000);
        let check = |seconds: u64, expected| {
            assert_eq!(certificate.validity_at(UNIX_EPOCH + Duration::from_secs(seconds)), expected, "{seconds}");
        };
        check(begin - 1, Validity::NotYet(begin as i64));
        check(begin, Validity::Valid);
        check(end, Validity::Valid);
        check(end + 1, Validity::Expired(end as i64));
        check(0, Validity::NotYet(begin as i64));
    }

    #[test]
    fn its_hosts_are_names_of_dns_and_addresses() {
        assert_eq!(Certificate::parse(&der(|_| ())).unwrap().hosts(), ["db.example", "10.1.2.3"]);
    }

    #[test]
    fn a_message_repeats_no_control_characters_and_no_long_subject() {
        let long = der(|params| params.distinguished_name.push(DnType::CommonName, "a\r\nb".repeat(100)));
        let shown = Certificate::parse(&long).unwrap().to_string();
        assert!(shown.starts_with("'CN=abab") && shown.len() < 250, "{shown}");
    }

    #[test]
    fn what_is_no_certificate_is_none() {
        let mut longer = der(|_| ());
        longer.push(0);
        for bytes in [&b""[..], b"x", &longer, &longer[..100]] {
            assert_eq!(Certificate::parse(bytes), None);
        }
    }

    #[test]
    fn a_thumbprint_is_written_in_several_ways() {
        // The hashes of nothing, from FIPS 180.
        let thumbprint = Thumbprint::of(b"");
        assert_eq!(thumbprint.to_string(), "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709");
        let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let colons = "DA:39:A3:EE:5E:6B:4B:0D:32:55:BF:EF:95:60:18:90:AF:D8:07:09";
        for text in ["da39a3ee5e6b4b0d3255bfef95601890afd80709", colons, sha256] {
            let trusted = TrustedThumbprint::parse(text).unwrap();
            assert!(TrustedThumbprint::contains(std::slice::from_ref(&trusted), &thumbprint), "{text}");
            assert!(!TrustedThumbprint::contains(std::slice::from_ref(&trusted), &Thumbprint::of(b"x")), "{text}");
            let other = TrustedThumbprint::Sha1([7; 20]);
            assert!(TrustedThumbprint::contains(&[other.clone(), trusted, other], &thumbprint), "{text}");
        }
        assert!(!TrustedThumbprint::contains(&[], &thumbprint));
        for text in
            ["", "x", "da39", "da39a3ee5e6b4b0d3255bfef95601890afd8070", "zz39a3ee5e6b4b0d3255bfef95601890afd80709"]
        {
            assert_eq!(TrustedThumbprint::parse(text), None, "{text}");
        }
    }
}
