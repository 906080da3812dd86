//! The principals as requests look them up: certificates by the hash of what the client sent, or of its public key; API keys by the hash
//! of their text.
//!
//! It is what the node has stored, read once at the start and again after each change. The change comes first, then this, and then the
//! connections of the principal are closed, so that no connection goes on with rights that were taken away.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use data_encoding::{BASE64, HEXLOWER};
use database::{ApiKey, Clearance, Databases, RegisteredCertificate, Rights};
use parking_lot::Mutex;

use super::access::Identity;
use crate::certificates::certificate::{Certificate, Validity};

/// What the server knows of clients.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    known: ArcSwap<Known>,
    loading: Mutex<()>,
}

#[derive(Debug, Default)]
struct Known {
    /// By the SHA-256 of the certificate.
    certificates: HashMap<[u8; 32], Arc<Registered>>,
    /// By the SHA-256 of the public key; of several with one key the one that expires last.
    public_keys: HashMap<[u8; 32], Arc<Registered>>,
    /// By the SHA-256 of its text.
    keys: HashMap<[u8; 32], Arc<Key>>,
}

/// A registered certificate.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) certificate: Certificate,
    pub(crate) rights: Rights,
}

/// An API key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    /// SHA-256 of its text.
    pub(crate) hash: [u8; 32],
    pub(crate) identity: Arc<Identity>,
    expires: Option<SystemTime>,
    uses: Arc<Uses>,
}

/// When a key was used last, in seconds since 1970; 0: not since the server started.
#[derive(Debug, Default)]
struct Uses {
    last: AtomicU64,
    /// The one of them that is stored.
    stored: AtomicU64,
}

impl Key {
    /// When it expired, if it has.
    pub(crate) fn expired(&self, now: SystemTime) -> Option<SystemTime> {
        self.expires.filter(|expires| *expires <= now)
    }

    /// A request came with it.
    pub(crate) fn note_use(&self, now: SystemTime) {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        // Written once a second, so that the requests of a key do not wait for each other.
        if self.uses.last.load(Relaxed) != now {
            self.uses.last.store(now, Relaxed);
        }
    }
}

impl Registry {
    /// Reads what the node has stored.
    ///
    /// # Errors
    ///
    /// Storage fails. What was read before stays.
    pub(crate) fn load(&self, databases: &Databases) -> database::Result<()> {
        // Held while the node is read: of two changes at once, the one that read first must not write last.
        let _loading = self.loading.lock();
        let mut certificates = HashMap::new();
        let mut public_keys: HashMap<[u8; 32], Arc<Registered>> = HashMap::new();
        for (_, RegisteredCertificate { certificate, rights, .. }) in databases.principals()? {
            let der = BASE64.decode(certificate.as_bytes()).ok();
            let Some(certificate) = der.and_then(|der| Certificate::parse(&der)) else { continue };
            let registered = Arc::new(Registered { certificate, rights });
            let of_key =
                public_keys.entry(*registered.certificate.public_key_hash()).or_insert_with(|| registered.clone());
            if registered.certificate.not_after() > of_key.certificate.not_after() {
                *of_key = registered.clone();
            }
            certificates.insert(*registered.certificate.thumbprint().sha256_bytes(), registered);
        }
        let before = self.known.load();
        let keys = databases.principals::<ApiKey>()?.into_iter().filter_map(|(_, key)| {
            let hash = hash_of_text(&key.hash)?;
            let uses = before.keys.get(&hash).map(|before| before.uses.clone()).unwrap_or_default();
            let identity = Arc::new(Identity::registered(&key.rights));
            Some((hash, Arc::new(Key { name: key.name, hash, identity, expires: key.expires, uses })))
        });
        self.known.store(Arc::new(Known { certificates, public_keys, keys: keys.collect() }));
        Ok(())
    }

    /// The registered certificate whose rights a client has: the one that it sent, else one with the same public key, which is what a
    /// renewal leaves. `None`: neither is registered.
    pub(crate) fn registered(&self, sent: &Certificate) -> Option<Arc<Registered>> {
        let known = self.known.load();
        let same = known.certificates.get(sent.thumbprint().sha256_bytes());
        same.or_else(|| known.public_keys.get(sent.public_key_hash())).cloned()
    }

    /// The key whose text has this SHA-256, expired or not.
    pub(crate) fn key(&self, hash: &[u8; 32]) -> Option<Arc<Key>> {
        self.known.load().keys.get(hash).cloned()
    }

    /// Whether there is an administrator of the server with a registered certificate or key that has not expired.
    pub(crate) fn has_administrator(&self, now: SystemTime) -> bool {
        let known = self.known.load();
        let administers = |registered: &Registered| {
            let is_over = matches!(registered.certificate.validity_at(now), Validity::Expired(_));
            !is_over && registered.rights.clearance != Clearance::ValidUser
        };
        known.certificates.values().any(|registered| administers(registered))
            || known.keys.values().any(|key| key.identity.is_operator() && key.expired(now).is_none())
    }

    /// Hashes of the keys that expired after one moment, up to another.
    pub(crate) fn expired_between(&self, after: SystemTime, until: SystemTime) -> Vec<[u8; 32]> {
        let known = self.known.load();
        let expired = known.keys.values().filter(|key| key.expires.is_some_and(|at| after < at && at <= until));
        expired.map(|key| key.hash).collect()
    }

    /// When a key was used last since the server started.
    pub(crate) fn last_use(&self, key: &ApiKey) -> Option<SystemTime> {
        let seconds = self.key(&hash_of_text(&key.hash)?)?.uses.last.load(Relaxed);
        (seconds > 0).then(|| UNIX_EPOCH + Duration::from_secs(seconds))
    }

    /// Stores when keys were used last, as far as that has changed.
    ///
    /// # Errors
    ///
    /// Storage fails. Then uses are stored with the next ones of their keys.
    pub(crate) fn store_uses(&self, databases: &Databases) -> database::Result<()> {
        let known = self.known.load();
        let used = known.keys.iter().filter_map(|(hash, key)| {
            let last = key.uses.last.load(Relaxed);
            let is_new = key.uses.stored.swap(last, Relaxed) != last;
            is_new.then(|| (HEXLOWER.encode(hash), UNIX_EPOCH + Duration::from_secs(last)))
        });
        let used: HashMap<String, SystemTime> = used.collect();
        if used.is_empty() { Ok(()) } else { databases.note_api_key_uses(&used) }
    }
}

/// The bytes of a hash in hexadecimal.
pub(crate) fn hash_of_text(text: &str) -> Option<[u8; 32]> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}
