//! Signing in to the studio by an API key, and signing out.
//!
//! The key comes as it does with any other request (`routing/keys.rs`), which counts and holds back those that are not accepted. The answer
//! has the cookie of a session (`routing/sessions.rs`), by which later requests of the browser have the rights of the key.

use std::time::Instant;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderValue, SET_COOKIE};

use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::monitoring::audit::AuditEvent;
use crate::network::tls::Tls;
use crate::routing::exchange::Exchange;
use crate::routing::sessions;

/// POST `/studio/sign-in`, with `Authorization: Bearer KEY`: 204 with the cookie of a session.
pub(crate) fn sign_in(exchange: &Exchange) -> Result<Reply> {
    let tls = for_own_page(exchange)?;
    // Not by the cookie of another session: no session lasts longer than it was granted.
    let is_sent = exchange.headers.contains_key(AUTHORIZATION);
    let Some(key) = exchange.peer.key.as_ref().filter(|_| is_sent) else {
        return Err(Error::Argument(
            "Signing in needs an API key, in the header 'Authorization: Bearer KEY'".to_owned(),
        ));
    };
    // One session for each browser.
    end_session(exchange, tls);
    let token = tls.sessions.begin(key.hash, Instant::now());
    let token =
        token.ok_or_else(|| Error::InvalidOperation("The system gives no random numbers for a session".to_owned()))?;
    note(exchange, AuditEvent::SignedIn);
    with_cookie(&sessions::cookie(&exchange.headers, &token))
}

/// POST `/studio/sign-out`: ends the session of the cookie, if there is one. 204.
pub(crate) fn sign_out(exchange: &Exchange) -> Result<Reply> {
    let tls = for_own_page(exchange)?;
    if end_session(exchange, tls) {
        note(exchange, AuditEvent::SignedOut);
    }
    with_cookie(&sessions::no_cookie(&exchange.headers))
}

/// Ends the session of the request's cookie; false if there is none.
fn end_session(exchange: &Exchange, tls: &Tls) -> bool {
    let Some(id) = sessions::of(&exchange.headers).filter(|id| tls.sessions.end(id)) else { return false };
    exchange.node.connections.close_sockets_of(&id);
    true
}

/// # Errors
///
/// [`Error::InvalidOperation`]: the server has no HTTPS. [`Error::Forbidden`]: another site would sign its visitor in or out.
fn for_own_page(exchange: &Exchange) -> Result<&Tls> {
    let Some(tls) = &exchange.node.tls else {
        return Err(Error::InvalidOperation(
            "This server speaks HTTP, where anyone may do everything: there is nothing to sign in to".to_owned(),
        ));
    };
    if !exchange.node.hosts.is_own_page(&exchange.method, &exchange.headers) {
        return Err(Error::Forbidden(
            "Only the studio of this server signs in and out: the request needs an Origin header with the address of this server".to_owned(),
        ));
    }
    Ok(tls)
}

fn note(exchange: &Exchange, event: AuditEvent) {
    if let Some(audit) = &exchange.node.audit {
        exchange.peer.note(audit, event, None);
    }
}

fn with_cookie(cookie: &str) -> Result<Reply> {
    let mut reply = reply::empty(StatusCode::NO_CONTENT);
    // A port of digits and a token in base64.
    let value =
        HeaderValue::try_from(cookie).map_err(|_| Error::Malformed("The port in the Host header is not a number"))?;
    reply.headers_mut().insert(SET_COOKIE, value);
    Ok(reply)
}
