//! API keys: their text, and who sends a request with one.
//!
//! A client sends its key as `Authorization: Bearer rookery_...` with each request, over HTTPS. A browser has signed in by one and sends
//! the cookie of its session ([`super::sessions`]). The key takes the place of the client certificate of the connection, if there is one.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use data_encoding::BASE64URL_NOPAD;
use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use super::access::Identity;
use super::registry::Key;
use super::sessions;
use crate::error::{Error, Result};
use crate::limits::SESSION_DURATION;
use crate::messages::date;
use crate::monitoring::audit::AuditEvent;
use crate::network::connection::Connection;
use crate::network::peer::Peer;
use crate::network::tls::Tls;
use crate::node::Node;
use crate::routing::urls::KEY_PREFIX;

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
    Ok(format!("{KEY_PREFIX}{}", BASE64URL_NOPAD.encode(&bytes)))
}

/// SHA-256 of a key's text, under which the server knows it.
pub(crate) fn hash(key: &[u8]) -> [u8; 32] {
    let hash = digest(&SHA256, key);
    hash.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Who sends a request: the holder of the key in its head, or who signed in to the studio, or whom the connection belongs to.
///
/// # Errors
///
/// [`Error::KeyInClearText`]
pub(crate) fn sender(node: &Node, peer: Arc<Peer>, connection: &Connection, head: &Parts) -> Result<Arc<Peer>> {
    let mut sent = head.headers.get_all(AUTHORIZATION).iter();
    let Some(first) = sent.next() else {
        return Ok(match (&node.tls, sessions::of(&head.headers)) {
            (Some(tls), Some(id)) => sender_of_session(node, tls, peer, connection, head, &id),
            _ => peer,
        });
    };
    let key = bearer(first.as_bytes());
    let Some(tls) = &node.tls else {
        // What else is in this header is a proxy's.
        let is_ours = key.is_some_and(|key| key.starts_with(KEY_PREFIX.as_bytes()));
        return if is_ours { Err(Error::KeyInClearText) } else { Ok(peer) };
    };
    let now = SystemTime::now();
    let refused = |reason: String| Ok(Arc::new(peer.with_identity(Identity::bad_key(reason))));
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
    connection.is_identified();
    Ok(holder(node, &peer, key, now, is_first))
}

/// Who holds a valid key.
///
/// * `is_first`: the connection has sent neither another one nor a certificate before.
fn holder(node: &Node, peer: &Peer, key: Arc<Key>, now: SystemTime, is_first: bool) -> Arc<Peer> {
    key.note_use(now);
    let identity = key.identity.clone();
    let Peer { scheme, address, connection, .. } = *peer;
    let holder = Peer { scheme, identity, certificate: None, key: Some(key), address, connection };
    if let (true, Some(audit)) = (is_first, &node.audit) {
        holder.note(audit, AuditEvent::Connected, None);
    }
    Arc::new(holder)
}

/// Who sends a request with the cookie of a session: the holder of the key that began it. Only pages of this server may send it. A session
/// that is over says nothing: then the connection does.
fn sender_of_session(
    node: &Node,
    tls: &Tls,
    peer: Arc<Peer>,
    connection: &Connection,
    head: &Parts,
    id: &sessions::SessionId,
) -> Arc<Peer> {
    let now = SystemTime::now();
    let open = tls.sessions.key(id, Instant::now()).and_then(|hash| {
        // First this: a change of rights, or the end of the session, finds the connection, or the connection finds them.
        let is_first = connection.has_principal(hash);
        connection.has_session(*id);
        tls.sessions.key(id, Instant::now())?;
        let key = tls.registry.key(&hash).filter(|key| key.expired(now).is_none())?;
        Some((key, is_first))
    });
    match open {
        Some((key, is_first)) if node.hosts.is_own_page(&head.method, &head.headers) => {
            connection.is_identified();
            holder(node, &peer, key, now, is_first)
        }
        Some(_) => Arc::new(peer.with_identity(Identity::nobody(
            "The request has the cookie of the studio, and does not come from a page of this server: neither its Origin header is the \
             address of this server, nor is its Sec-Fetch-Site header 'same-origin'. Programs send an API key as 'Authorization: Bearer KEY'",
        ))),
        None if peer.certificate.is_none() => Arc::new(peer.with_identity(Identity::nobody(&format!(
            "The session in the studio is over: it lasts for {} hours, and ends with the server and with its API key. Sign in again",
            SESSION_DURATION.as_secs() / 3600
        )))),
        None => peer,
    }
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
        let bits = one.strip_prefix(KEY_PREFIX).unwrap();
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
