//! API keys: their text, and who sends a request with one.
//!
//! A client sends its key as `Authorization: Bearer rookery_...` with each request, over HTTPS. The key takes the place of the client
//! certificate of the connection, if there is one.

use std::sync::Arc;
use std::time::SystemTime;

use data_encoding::BASE64URL_NOPAD;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use super::access::Identity;
use crate::error::{Error, Result};
use crate::messages::date;
use crate::monitoring::audit::AuditEvent;
use crate::network::connection::Connection;
use crate::network::peer::Peer;
use crate::node::Node;

/// How every key begins, so that a program that looks for secrets in files finds it.
const PREFIX: &str = "rookery_";

/// A new key: 256 random bits.
///
/// # Errors
///
/// The system has no random numbers.
pub(crate) fn generate() -> Result<String> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Error::InvalidOperation("The system gives no random numbers for a key".to_owned()))?;
    Ok(format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&bytes)))
}

/// SHA-256 of a key's text, under which the server knows it.
pub(crate) fn hash(key: &[u8]) -> [u8; 32] {
    let hash = digest(&SHA256, key);
    hash.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Who sends a request: the holder of the key in its head, or whom the connection belongs to if there is none.
///
/// # Errors
///
/// [`Error::KeyInClearText`]
pub(crate) fn sender(node: &Node, peer: Arc<Peer>, connection: &Connection, headers: &HeaderMap) -> Result<Arc<Peer>> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let Some(first) = sent.next() else { return Ok(peer) };
    let key = bearer(first.as_bytes());
    let Some(tls) = &node.tls else {
        // What else is in this header is a proxy's.
        let is_ours = key.is_some_and(|key| key.starts_with(PREFIX.as_bytes()));
        return if is_ours { Err(Error::KeyInClearText) } else { Ok(peer) };
    };
    let now = SystemTime::now();
    let refused = |reason: String| {
        let identity = Arc::new(Identity::bad_key(reason));
        Ok(Arc::new(Peer { scheme: peer.scheme, identity, certificate: None, key: None, address: peer.address }))
    };
    let (Some(key), None) = (key, sent.next()) else {
        return refused("The server understands one header 'Authorization: Bearer KEY', with an API key".to_owned());
    };
    let hash = hash(key);
    // First this: a change of rights finds the connection, or the connection finds the changed rights.
    let is_first = connection.has_principal(hash);
    let Some(key) = tls.registry.key(&hash) else {
        return refused(
            "This server does not know the API key: it was deleted, or is not written as it was issued".to_owned(),
        );
    };
    if let Some(expired) = key.expired(now) {
        return refused(format!("The API key '{}' has expired at {}", key.name, date::wire(expired)));
    }
    key.note_use(now);
    let identity = key.identity.clone();
    let sender = Peer { scheme: peer.scheme, identity, certificate: None, key: Some(key), address: peer.address };
    if let (true, Some(audit)) = (is_first, &node.audit) {
        sender.note(audit, AuditEvent::Connected, None);
    }
    Ok(Arc::new(sender))
}

/// What follows `Bearer`.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| rest.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_256_random_bits() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_ne!(one, other);
        let bits = one.strip_prefix(PREFIX).unwrap();
        assert_eq!(BASE64URL_NOPAD.decode(bits.as_bytes()).unwrap().len() * 8, 256);
        assert_ne!(hash(one.as_bytes()), hash(other.as_bytes()));
    }

    #[test]
    fn the_scheme_is_read_in_any_case() {
        for value in ["Bearer k", "bearer  k ", "BEARER k"] {
            assert_eq!(bearer(value.as_bytes()), Some(&b"k"[..]), "{value}");
        }
        for value in ["", "Bearer", "Basic k", "Bearerk x", "k"] {
            assert_eq!(bearer(value.as_bytes()), None, "{value}");
        }
    }
}
