//! PFX files that .NET writes without a password, which are those that RavenDB's setup makes.
//!
//! In PKCS #12 an empty password and none are two things: keys are derived from the password and a zero character behind it, or from
//! nothing at all (RFC 7292, B.2, step 3). `p12-keystore` opens the first kind; here is the second.

use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use cms::content_info::ContentInfo;
use cms::encrypted_data::EncryptedData;
use der::asn1::{ContextSpecific, ObjectIdentifier, OctetString};
use der::{Any, Decode, Encode};
use pkcs5::EncryptionScheme;
use pkcs12::AuthenticatedSafe;
use pkcs12::MacData;
use pkcs12::kdf::{Pkcs12KeyType, derive_key};
use pkcs12::pbe_params::{EncryptedPrivateKeyInfo, Pkcs12PbeParams};
use pkcs12::pfx::Pfx;
use pkcs12::safe_bag::SafeContents;
use ring::hmac;
use rustls::pki_types::CertificateDer;
use sha1::Sha1;
use sha2::Sha256;

/// Rounds of the derivation of a key, which take time. Files have thousands.
const ITERATIONS_MAX: i32 = 1_000_000;

const DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.1");
const ENCRYPTED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.6");
const TRIPLE_DES: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.1.3");
const KEY_BAG: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.1");
const ENCRYPTED_KEY_BAG: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.2");
const CERTIFICATE_BAG: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.3");
const SHA_1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2.26");
const SHA_256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");

/// What a PFX file has.
pub(super) struct Archive {
    pub certificates: Vec<CertificateDer<'static>>,
    /// In PKCS #8.
    pub keys: Vec<Vec<u8>>,
}

/// The certificates and keys of a file that was written without a password. `None`: it is not such a file, or is damaged.
pub(super) fn open(bytes: &[u8]) -> Option<Archive> {
    let pfx = Pfx::from_der(bytes).ok()?;
    let authenticated = octets(&pfx.auth_safe)?;
    has_mac_of_nothing(&pfx.mac_data?, authenticated.as_bytes()).then_some(())?;
    let mut archive = Archive { certificates: Vec::new(), keys: Vec::new() };
    for safe in AuthenticatedSafe::from_der(authenticated.as_bytes()).ok()? {
        let contents = match safe.content_type {
            DATA => octets(&safe)?.into_bytes().into_vec(),
            ENCRYPTED_DATA => {
                let content = EncryptedData::from_der(&safe.content.to_der().ok()?).ok()?.enc_content_info;
                decrypt(&content.content_enc_alg.to_der().ok()?, content.encrypted_content?.as_bytes())?
            }
            _ => return None,
        };
        for bag in SafeContents::from_der(&contents).ok()? {
            let value = ContextSpecific::<Any>::from_der(&bag.bag_value).ok()?.value.to_der().ok()?;
            match bag.bag_id {
                KEY_BAG => archive.keys.push(value),
                ENCRYPTED_KEY_BAG => {
                    let key = EncryptedPrivateKeyInfo::from_der(&value).ok()?;
                    let algorithm = key.encryption_algorithm.to_der().ok()?;
                    archive.keys.push(decrypt(&algorithm, key.encrypted_data.as_bytes())?);
                }
                CERTIFICATE_BAG => archive.certificates.push(certificate(&value)?),
                _ => {}
            }
        }
    }
    Some(archive)
}

/// The octet string that is the content.
fn octets(content: &ContentInfo) -> Option<OctetString> {
    (content.content_type == DATA).then(|| content.content.decode_as().ok()).flatten()
}

/// The certificate of a bag: `SEQUENCE { certId, [0] EXPLICIT OCTET STRING }` (RFC 7292, 4.2.3).
fn certificate(bag: &[u8]) -> Option<CertificateDer<'static>> {
    let parts = Vec::<Any>::from_der(bag).ok()?;
    let value = parts.get(1)?.to_der().ok()?;
    let value = ContextSpecific::<OctetString>::from_der(&value).ok()?.value;
    Some(CertificateDer::from(value.into_bytes().into_vec()))
}

fn has_mac_of_nothing(mac: &MacData, data: &[u8]) -> bool {
    if !(1..=ITERATIONS_MAX).contains(&mac.iterations) || mac.mac_salt.as_bytes().is_empty() {
        return false;
    }
    let (salt, rounds) = (mac.mac_salt.as_bytes(), mac.iterations);
    let (algorithm, key) = match mac.mac.algorithm.oid {
        SHA_1 => (hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, derive_key::<Sha1>(&[], salt, Pkcs12KeyType::Mac, rounds, 20)),
        SHA_256 => (hmac::HMAC_SHA256, derive_key::<Sha256>(&[], salt, Pkcs12KeyType::Mac, rounds, 32)),
        _ => return false,
    };
    hmac::verify(&hmac::Key::new(algorithm, &key), data, mac.mac.digest.as_bytes()).is_ok()
}

/// * `algorithm`: its identifier in DER.
fn decrypt(algorithm: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let identifier = pkcs5::AlgorithmIdentifierRef::from_der(algorithm).ok()?;
    if identifier.oid != TRIPLE_DES {
        // The newer scheme takes the password as it is.
        return EncryptionScheme::try_from(identifier).ok()?.decrypt([], data).ok();
    }
    let Pkcs12PbeParams { salt, iterations } = identifier.parameters?.decode_as().ok()?;
    if !(1..=ITERATIONS_MAX).contains(&iterations) || salt.as_bytes().is_empty() {
        return None;
    }
    let derive = |kind, size| derive_key::<Sha1>(&[], salt.as_bytes(), kind, iterations, size);
    let (key, vector) = (derive(Pkcs12KeyType::EncryptionKey, 24), derive(Pkcs12KeyType::Iv, 8));
    let cipher = cbc::Decryptor::<des::TdesEde3>::new_from_slices(&key, &vector).ok()?;
    cipher.decrypt_padded_vec::<Pkcs7>(data).ok()
}
