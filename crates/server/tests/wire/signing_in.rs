//! Sessions of the studio: signing in by an API key, what the cookie is good for and from whose pages, and their end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use json::Value;
use rustls::version::TLS13;
use rustls::{ClientConnection, StreamOwned};

use super::secured::{Secured, call_with, params, self_signed};
use super::support::{Answer, Wire};

const AUTHORIZATION: &str = "Raven.Client.Exceptions.Security.AuthorizationException";
const OWN_PAGE: &str = "Origin: https://db.example\r\n";

fn with_database() -> Secured {
    let secured = Secured::start();
    for name in ["shop", "other"] {
        secured.administer(&format!("PUT /admin/databases?name={name}"), "{}", 201);
    }
    secured
}

fn writer(secured: &Secured) -> String {
    secured.key("writer", r#""SecurityClearance":"ValidUser","Permissions":{"shop":"ReadWrite"}"#)
}

fn connect(secured: &Secured) -> StreamOwned<ClientConnection, TcpStream> {
    secured.connect(&Arc::new(secured.config(None, &[&TLS13])))
}

fn call(secured: &Secured, line: &str, headers: &str) -> Answer {
    call_with(connect(secured), line, headers, "").unwrap()
}

#[test]
fn who_signs_in_has_the_rights_of_the_key_and_a_cookie_that_is_not_the_key() {
    let secured = with_database();
    let key = writer(&secured);
    let answer = call(&secured, "POST /studio/sign-in", &format!("Authorization: Bearer {key}\r\n{OWN_PAGE}"));
    assert_eq!(answer.status, 204, "{}", answer.text());
    let set = answer.header("set-cookie").unwrap();
    let (cookie, attributes) = set.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200");
    let token = cookie.strip_prefix("__Host-rookery-443=").unwrap();
    assert!(token.len() == 43 && !key.contains(token), "{token}");

    let status = |line: &str, body: &str| secured.call_with_cookie(cookie, line, body).status;
    assert_eq!(status("PUT /databases/shop/docs?id=a", "{}"), 201);
    assert_eq!(status("GET /databases/shop/docs?id=a", ""), 200);
    assert_eq!(status("GET /databases/other/docs?id=a", ""), 403);
    assert_eq!(status("GET /admin/api-keys", ""), 403);
    let whoami = secured.call_with_cookie(cookie, "GET /certificates/whoami", "").json();
    assert_eq!(whoami.get("Name").and_then(Value::as_str), Some("writer"));
    let used = secured.administer("GET /admin/api-keys?name=writer", "", 200).text();
    assert!(!used.contains("\"LastUsed\":null"), "{used}");
}

#[test]
fn a_cookie_counts_in_requests_of_pages_of_this_server_only() {
    let secured = with_database();
    let cookie = secured.sign_in(&writer(&secured));
    let ask = |line: &str, headers: &str| call(&secured, line, &format!("Cookie: {cookie}\r\n{headers}"));
    for headers in [OWN_PAGE, "Sec-Fetch-Site: same-origin\r\n", "Origin: https://DB.example:443\r\n"] {
        assert_eq!(ask("GET /databases/shop/stats", headers).status, 200, "{headers}");
        assert_eq!(ask("POST /databases/shop/identity/next?name=a", headers).status, 200, "{headers}");
    }
    // An address that the user types in.
    let typed = "Sec-Fetch-Site: none\r\n";
    assert_eq!(ask("GET /databases/shop/stats", typed).status, 200);
    for headers in ["", typed] {
        let refused = ask("POST /databases/shop/identity/next?name=a", headers);
        refused.check_error(403, "InvalidAuth", "The request has the cookie of the studio, and does not come from");
    }
    for origin in ["https://db.example:9000", "https://localhost:5173", "https://127.0.0.1"] {
        for line in ["POST /databases/shop/identity/next?name=a", "GET /databases/shop/stats"] {
            let refused = ask(line, &format!("Origin: {origin}\r\n"));
            refused.check_error(403, AUTHORIZATION, "The request comes from a page of 'https://");
        }
    }
    ask("GET /databases/shop/stats", "").check_error(403, "InvalidAuth", "The request has the cookie");
    ask("GET /databases/shop/stats", "Sec-Fetch-Site: same-site\r\n").check_error(
        403,
        AUTHORIZATION,
        "The request comes",
    );
    // What anyone may ask is answered.
    assert_eq!(ask("GET /build/version", "").status, 200);
    // A page of another port does not open a socket by it either.
    let mut socket = connect(&secured);
    socket.write_all(upgrade(&cookie, "https://db.example:9000").as_bytes()).unwrap();
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 403");
}

fn upgrade(cookie: &str, origin: &str) -> String {
    format!(
        "GET /databases/shop/changes HTTP/1.1\r\nHost: db.example\r\nCookie: {cookie}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
}

/// A socket of changes that a page of the studio has opened.
fn socket(secured: &Secured, cookie: &str) -> StreamOwned<ClientConnection, TcpStream> {
    let mut socket = connect(secured);
    socket.write_all(upgrade(cookie, "https://db.example").as_bytes()).unwrap();
    let mut received = String::new();
    while !received.contains("TopologyChange") {
        let mut bytes = [0; 1024];
        let size = socket.read(&mut bytes).unwrap();
        assert!(size > 0, "{received}");
        received.push_str(&String::from_utf8_lossy(&bytes[..size]));
    }
    socket
}

#[track_caller]
fn check_closed(mut socket: StreamOwned<ClientConnection, TcpStream>) {
    let mut rest = Vec::new();
    let _ = socket.read_to_end(&mut rest);
    assert!(String::from_utf8_lossy(&rest).contains("the rights of this connection were changed"), "{rest:?}");
}

#[test]
fn a_session_ends_when_its_user_signs_out() {
    let secured = with_database();
    let key = writer(&secured);
    let (cookie, other) = (secured.sign_in(&key), secured.sign_in(&key));
    let socket = socket(&secured, &cookie);
    let out = secured.call_with_cookie(&cookie, "POST /studio/sign-out", "");
    assert_eq!(out.status, 204);
    assert_eq!(
        out.header("set-cookie"),
        Some("__Host-rookery-443=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0")
    );
    check_closed(socket);
    let over = secured.call_with_cookie(&cookie, "GET /databases/shop/stats", "");
    over.check_error(403, "InvalidAuth", "The session in the studio is over: it lasts for 12 hours");
    // Another browser is still signed in, and so is who has the key.
    assert_eq!(secured.call_with_cookie(&other, "GET /databases/shop/stats", "").status, 200);
    assert_eq!(secured.call_with_key(&key, "GET /databases/shop/stats", "").status, 200);
    // A certificate is as good as without a session.
    let config = Arc::new(secured.config(Some(&secured.admin), &[&TLS13]));
    let headers = format!("Cookie: {cookie}\r\n");
    assert_eq!(call_with(secured.connect(&config), "GET /databases", &headers, "").unwrap().status, 200);
}

#[test]
fn a_session_ends_with_its_key_and_has_the_rights_that_the_key_has_now() {
    let secured = with_database();
    let cookie = secured.sign_in(&writer(&secured));
    let status = || secured.call_with_cookie(&cookie, "GET /databases/shop/stats", "").status;
    let first = socket(&secured, &cookie);
    let edited = r#"{"Name":"writer","SecurityClearance":"ValidUser","Permissions":{"other":"Read"}}"#;
    secured.administer("POST /admin/api-keys/edit", edited, 204);
    check_closed(first);
    assert_eq!(status(), 403);
    let edited = r#"{"Name":"writer","SecurityClearance":"ValidUser","Permissions":{"shop":"Read"}}"#;
    secured.administer("POST /admin/api-keys/edit", edited, 204);
    assert_eq!(status(), 200);
    let second = socket(&secured, &cookie);
    secured.administer("DELETE /admin/api-keys?name=writer", "", 204);
    check_closed(second);
    secured.call_with_cookie(&cookie, "GET /databases/shop/stats", "").check_error(403, "InvalidAuth", "The session");
}

#[test]
fn signing_in_needs_a_key_that_is_accepted_and_a_page_of_this_server() {
    let secured = Secured::start_with(|options| options.limits.failed_attempt_count = 2);
    let key = secured.key("app", r#""SecurityClearance":"Operator""#);
    let sign_in = |headers: &str| call(&secured, "POST /studio/sign-in", headers);
    let by_key = format!("Authorization: Bearer {key}\r\n");
    for (headers, message) in [
        ("", "Only the studio of this server signs in and out"),
        ("Sec-Fetch-Site: none\r\n", "Only the studio of this server signs in and out"),
        ("Origin: https://db.example:9000\r\n", "The request comes from a page of 'https://db.example:9000'"),
    ] {
        let refused = sign_in(&format!("{by_key}{headers}"));
        refused.check_error(403, AUTHORIZATION, message);
        assert_eq!(refused.header("set-cookie"), None);
    }
    sign_in(OWN_PAGE).check_error(403, "InvalidAuth", "This server requires a client certificate or an API key");
    // Neither a certificate nor a session makes another one.
    let config = Arc::new(secured.config(Some(&secured.admin), &[&TLS13]));
    let by_certificate = call_with(secured.connect(&config), "POST /studio/sign-in", OWN_PAGE, "").unwrap();
    by_certificate.check_error(400, "System.ArgumentException", "Signing in needs an API key");
    let cookie = secured.sign_in(&key);
    let again = secured.call_with_cookie(&cookie, "POST /studio/sign-in", "");
    again.check_error(400, "System.ArgumentException", "Signing in needs an API key");
    // One session for each browser.
    let next = sign_in(&format!("{by_key}{OWN_PAGE}Cookie: {cookie}\r\n"));
    assert!(next.status == 204 && !next.header("set-cookie").unwrap().contains(&cookie));
    assert_eq!(secured.call_with_cookie(&cookie, "GET /databases", "").status, 403);

    let unknown = format!("Authorization: Bearer rookery_x\r\n{OWN_PAGE}");
    for _ in 0..2 {
        sign_in(&unknown).check_error(401, "InvalidAuth", "This server does not know the API key");
    }
    sign_in(&unknown).check_error(429, "InvalidAuth", "Too many requests from this address");
    assert_eq!(secured.metric("rookery_identifications_failed_total "), 3);
    assert_eq!(sign_in(&format!("{by_key}{OWN_PAGE}")).status, 204);
}

#[test]
fn a_page_of_another_port_does_not_act_with_the_certificate_of_the_browser() {
    let secured = with_database();
    let config = Arc::new(secured.config(Some(&secured.admin), &[&TLS13]));
    let body = r#"{"Name":"x","SecurityClearance":"ClusterAdmin"}"#;
    for origin in
        ["http://localhost:3000", "https://127.0.0.1:9999", "https://db.example:9000", "http://db.example", "null"]
    {
        let headers = format!("Origin: {origin}\r\nSec-Fetch-Site: cross-site\r\nContent-Type: text/plain\r\n");
        let refused = call_with(secured.connect(&config), "POST /admin/api-keys", &headers, body).unwrap();
        refused.check_error(403, AUTHORIZATION, "The request comes from a page of '");
        let mut socket = secured.connect(&config);
        socket.write_all(upgrade("a=b", origin).as_bytes()).unwrap();
        let mut answer = [0; 12];
        socket.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 403", "{origin}");
    }
    // The studio does, and so does a program, which sends no origin.
    for headers in [OWN_PAGE, "Origin: https://DB.example:443\r\n", "Sec-Fetch-Site: same-origin\r\n", ""] {
        let answer = call_with(secured.connect(&config), "GET /databases", headers, "").unwrap();
        assert_eq!(answer.status, 200, "{headers}");
    }
    let mut socket = secured.connect(&config);
    socket.write_all(upgrade("a=b", "https://db.example").as_bytes()).unwrap();
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 101");
}

#[test]
fn over_http_there_is_nothing_to_sign_in_to() {
    let wire = Wire::start();
    let own = "Sec-Fetch-Site: same-origin";
    let says = "This server speaks HTTP, where anyone may do everything: there is nothing to sign in to";
    for line in ["POST /studio/sign-in", "POST /studio/sign-out"] {
        wire.call_with(line, &[own], b"").check_error(400, "System.InvalidOperationException", says);
    }
    let key = "Authorization: Bearer rookery_AAAA";
    let in_clear_text = wire.call_with("POST /studio/sign-in", &[own, key], b"");
    in_clear_text.check_error(400, "System.ArgumentException", "An API key was sent without HTTPS");
    // A cookie that the browser has from a server with HTTPS says nothing.
    assert_eq!(wire.call_with("GET /databases", &["Cookie: __Host-rookery-443=x"], b"").status, 200);
}

#[test]
fn live_counters_are_those_of_the_databases_that_the_caller_may_read() {
    let secured = with_database();
    let cookie = secured.sign_in(&writer(&secured));
    let live = secured.call_with_cookie(&cookie, "GET /admin/live", "").text();
    assert!(live.contains("\"Name\":\"shop\"") && !live.contains("other") && !live.contains("Connections"), "{live}");
    let other = secured.call_with_cookie(&cookie, "GET /admin/live?name=other", "").text();
    assert!(other.contains("\"Databases\":[]"), "{other}");
    let unknown = self_signed(&params("unknown"));
    assert_eq!(secured.call(Some(&unknown), "GET /admin/live", "").status, 403);
    let of_admin = secured.administer("GET /admin/live", "", 200).text();
    assert!(of_admin.contains("\"Name\":\"other\"") && of_admin.contains("\"Connections\":"), "{of_admin}");
}
