//! Sessions of the studio: who signed in by an API key, known by a cookie from then on.
//!
//! The value of the cookie is 256 random bits of its own. The server keeps SHA-256 of it in memory, with the hash of the API key: the
//! rights are looked up with each request, so that a key that is changed or deleted changes or ends its sessions. They end with the
//! server, too.
//!
//! A browser sends a cookie with whatever any page asks for. `SameSite=Strict` keeps it to pages of the same site, which other ports of the
//! same host belong to; [`Hosts::is_own_page`](crate::network::hosts::Hosts::is_own_page) keeps it to pages of this server.

use std::collections::HashMap;
use std::time::Instant;

use data_encoding::BASE64URL_NOPAD;
use hyper::HeaderMap;
use hyper::header::{COOKIE, HOST};
use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use crate::limits::{SESSION_DURATION, SESSIONS_MAX, SESSIONS_OF_KEY_MAX};

/// How the name of the cookie begins. `__Host-`: a browser takes it over HTTPS only, for this host alone and for all of its paths. The port
/// follows, since cookies are shared by all ports of a host, and several servers may run there.
const COOKIE_NAME: &str = "__Host-rookery-";

/// The port of an address without one.
const HTTPS_PORT: &str = "443";

/// SHA-256 of the value of a cookie.
pub(crate) type SessionId = [u8; 32];

/// The open sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<SessionId, Session>>,
}

#[derive(Debug)]
struct Session {
    /// SHA-256 of the API key.
    key: [u8; 32],
    begun: Instant,
}

impl Session {
    fn has_ended(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.begun) >= SESSION_DURATION
    }
}

impl Sessions {
    /// Begins a session, and returns the value of its cookie. If the key has [`SESSIONS_OF_KEY_MAX`], its oldest one ends; if there are
    /// [`SESSIONS_MAX`], the oldest of all.
    ///
    /// * `key`: SHA-256 of the API key.
    ///
    /// `None`: the system has no random numbers.
    pub(crate) fn begin(&self, key: [u8; 32], now: Instant) -> Option<String> {
        let mut bits = [0; 32];
        SystemRandom::new().fill(&mut bits).ok()?;
        let token = BASE64URL_NOPAD.encode(&bits);
        let mut open = self.open.lock();
        // Nobody who has a key ends the sessions of others by signing in again and again.
        let is_key_full = open.values().filter(|session| session.key == key).count() >= SESSIONS_OF_KEY_MAX;
        if is_key_full || open.len() >= SESSIONS_MAX {
            let of_key = open.iter().filter(|(_, session)| !is_key_full || session.key == key);
            let oldest = of_key.min_by_key(|(_, session)| session.begun).map(|(id, _)| *id);
            oldest.and_then(|id| open.remove(&id));
        }
        open.insert(id_of(token.as_bytes()), Session { key, begun: now });
        Some(token)
    }

    /// SHA-256 of the API key that began a session; `None` if there is no such session, or if it is over.
    pub(crate) fn key(&self, id: &SessionId, now: Instant) -> Option<[u8; 32]> {
        self.open.lock().get(id).filter(|session| !session.has_ended(now)).map(|session| session.key)
    }

    /// Ends a session; false if there is none.
    pub(crate) fn end(&self, id: &SessionId) -> bool {
        self.open.lock().remove(id).is_some()
    }

    /// Removes the sessions that are over, and those whose keys `is_key` does not know. Returns them.
    pub(crate) fn sweep(&self, now: Instant, is_key: impl Fn(&[u8; 32]) -> bool) -> Vec<SessionId> {
        let is_over = |session: &Session| session.has_ended(now) || !is_key(&session.key);
        self.open.lock().extract_if(|_, session| is_over(session)).map(|(id, _)| id).collect()
    }
}

fn id_of(token: &[u8]) -> SessionId {
    let hash = digest(&SHA256, token);
    hash.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// The session whose cookie a request has, whether it is open or not.
pub(crate) fn of(headers: &HeaderMap) -> Option<SessionId> {
    let port = port(headers);
    let mut cookies =
        headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok()).flat_map(|header| header.split(';'));
    cookies.find_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        (name.strip_prefix(COOKIE_NAME)? == port).then(|| id_of(value.as_bytes()))
    })
}

/// `Set-Cookie` of a session that begins. No script can read it.
///
/// * `headers`: of the request.
pub(crate) fn cookie(headers: &HeaderMap, token: &str) -> String {
    let (port, seconds) = (port(headers), SESSION_DURATION.as_secs());
    format!("{COOKIE_NAME}{port}={token}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={seconds}")
}

/// `Set-Cookie` that has the browser forget it.
pub(crate) fn no_cookie(headers: &HeaderMap) -> String {
    format!("{COOKIE_NAME}{}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0", port(headers))
}

/// The port by which the browser knows the server.
fn port(headers: &HeaderMap) -> &str {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map(|(_, port)| port);
    // Not the end of an IPv6 address in brackets.
    port.filter(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or(HTTPS_PORT)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hyper::header::HeaderValue;

    use super::*;

    fn headers(host: &'static str, cookies: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
        for cookie in cookies {
            headers.append(COOKIE, HeaderValue::from_str(cookie).unwrap());
        }
        headers
    }

    #[test]
    fn a_session_lasts_for_its_time_and_until_it_is_ended() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let tokens: Vec<String> = (0..2).map(|_| sessions.begin([7; 32], start).unwrap()).collect();
        assert_ne!(tokens[0], tokens[1]);
        assert_eq!(BASE64URL_NOPAD.decode(tokens[0].as_bytes()).unwrap().len() * 8, 256);
        let [one, other] = [0, 1].map(|at: usize| id_of(tokens[at].as_bytes()));
        let last = start + SESSION_DURATION - Duration::from_secs(1);
        assert_eq!(sessions.key(&one, last), Some([7; 32]));
        assert_eq!(sessions.key(&one, start + SESSION_DURATION), None);
        assert_eq!(sessions.key(&id_of(b"x"), start), None);
        assert!(sessions.end(&one) && !sessions.end(&one));
        assert_eq!([sessions.key(&one, start), sessions.key(&other, start)], [None, Some([7; 32])]);
    }

    #[test]
    fn sessions_that_are_over_are_removed() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let first = id_of(sessions.begin([1; 32], start).unwrap().as_bytes());
        let second = id_of(sessions.begin([2; 32], start + Duration::from_secs(1)).unwrap().as_bytes());
        assert!(sessions.sweep(start, |_| true).is_empty());
        assert_eq!(sessions.sweep(start + SESSION_DURATION, |_| true), [first]);
        assert_eq!(sessions.sweep(start, |key| *key != [2; 32]), [second]);
        assert!(sessions.open.lock().is_empty());
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let first = id_of(sessions.begin([1; 32], start).unwrap().as_bytes());
        for at in 1..=SESSIONS_MAX {
            let mut key = [2; 32];
            key[..8].copy_from_slice(&(at / SESSIONS_OF_KEY_MAX).to_le_bytes());
            sessions.begin(key, start + Duration::from_millis(at as u64)).unwrap();
        }
        assert_eq!(sessions.open.lock().len(), SESSIONS_MAX);
        assert_eq!(sessions.key(&first, start), None);
    }

    #[test]
    fn one_key_ends_its_own_sessions_alone() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let other = id_of(sessions.begin([1; 32], start).unwrap().as_bytes());
        let begin = |at: usize| sessions.begin([2; 32], start + Duration::from_millis(at as u64)).unwrap();
        let first = id_of(begin(1).as_bytes());
        let later: Vec<SessionId> = (2..=SESSIONS_OF_KEY_MAX + 1).map(|at| id_of(begin(at).as_bytes())).collect();
        assert_eq!(sessions.open.lock().len(), SESSIONS_OF_KEY_MAX + 1);
        let keys = [other, first, later[0]].map(|id| sessions.key(&id, start));
        assert_eq!(keys, [Some([1; 32]), None, Some([2; 32])]);
    }

    #[test]
    fn the_cookie_is_that_of_the_port() {
        let set = cookie(&headers("db.example:8443", &[]), "token");
        assert_eq!(set, "__Host-rookery-8443=token; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200");
        let id = Some(id_of(b"token"));
        assert_eq!(of(&headers("db.example:8443", &["a=b; __Host-rookery-8443=token"])), id);
        assert_eq!(of(&headers("[::1]:8443", &["a=b", "__Host-rookery-8443=token; c=d"])), id);
        for host in ["db.example", "[::1]", "db.example:443"] {
            assert_eq!(of(&headers(host, &["__Host-rookery-8443=other; __Host-rookery-443=token"])), id, "{host}");
        }
        for cookies in [&["rookery-8443=token"][..], &["__Host-rookery-8444=token"], &["__Host-rookery-8443"], &[]] {
            assert_eq!(of(&headers("db.example:8443", cookies)), None, "{cookies:?}");
        }
    }
}
