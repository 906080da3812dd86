//! API keys: made, listed, edited and deleted, what requests with one may do, and how refused ones are held back.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use database::documents::Date;
use json::Value;
use rcgen::date_time_ymd;
use rustls::version::TLS13;

use super::secured::{Pair, Secured, call, call_with, params, self_signed};
use super::support::{Answer, Wire};

fn with_database() -> Secured {
    let secured = Secured::start();
    for name in ["shop", "other"] {
        secured.administer(&format!("PUT /admin/databases?name={name}"), "{}", 201);
    }
    secured
}

/// The list of all keys.
fn list(secured: &Secured) -> Vec<Value> {
    let answer = secured.administer("GET /admin/api-keys", "", 200).json();
    let Some(Value::Array(keys)) = answer.get("Results") else { panic!("{answer:?}") };
    keys.clone()
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

#[test]
fn a_request_with_a_key_may_do_what_the_key_was_granted() {
    let secured = with_database();
    let key = secured.key("app", r#""SecurityClearance":"ValidUser","Permissions":{"Shop":"ReadWrite"}"#);
    let status = |line: &str, body: &str| secured.call_with_key(&key, line, body).status;
    assert_eq!(status("PUT /databases/shop/docs?id=a", "{}"), 201);
    assert_eq!(status("GET /databases/other/docs?id=a", ""), 403);
    assert_eq!(status("GET /admin/api-keys", ""), 403);
    let inner = r#"{"Requests":[{"Url":"/databases/shop/docs","Query":"?id=a"},{"Url":"/databases/other/docs","Query":"?id=a"}]}"#;
    let answer = secured.call_with_key(&key, "POST /databases/shop/multi_get", inner).text();
    assert!(answer.contains("\"StatusCode\":200") && answer.contains("\"StatusCode\":403"), "{answer}");
    let whoami = secured.call_with_key(&key, "GET /certificates/whoami", "").json();
    assert_eq!(text(&whoami, "Name"), Some("app"));
    assert_eq!(text(&whoami, "SecurityClearance"), Some("ValidUser"));
    // The next request of the same connection has none again.
    let config = Arc::new(secured.config(None, &[&TLS13]));
    call(secured.connect(&config), "GET /databases/shop/docs?id=a", "").unwrap().check_error(403, "InvalidAuth", "");
}

#[test]
fn a_key_is_told_once_and_never_listed() {
    let secured = with_database();
    let body = r#"{"Name":"App","SecurityClearance":"Operator","Expires":"2110-01-01T00:00:00.0000000Z"}"#;
    let created = secured.administer("POST /admin/api-keys", body, 201).json();
    let key = text(&created, "Key").unwrap().to_owned();
    assert!(key.starts_with("rookery_") && key.len() > 50, "{key}");
    let listed = list(&secured);
    assert_eq!(listed.len(), 1);
    assert_eq!(text(&listed[0], "Name"), Some("App"));
    assert_eq!(text(&listed[0], "Expires"), Some("2110-01-01T00:00:00.0000000"));
    assert_eq!(listed[0].get("LastUsed"), Some(&Value::Null));
    assert!(listed[0].get("Key").is_none());

    assert_eq!(secured.call_with_key(&key, "GET /databases", "").status, 200);
    assert!(text(&list(&secured)[0], "LastUsed").unwrap() >= text(&created, "Created").unwrap());
    let all = secured.administer("GET /admin/api-keys", "", 200).text();
    assert!(!all.contains(&key) && !all.contains("Hash"), "{all}");
    let one = |name: &str| secured.administer(&format!("GET /admin/api-keys?name={name}"), "", 200).text();
    assert!(one("APP").contains("\"App\"") && !one("x").contains("\"App\""));
}

#[test]
fn keys_and_their_uses_are_stored() {
    let data = tempfile::tempdir().unwrap();
    let secured = Secured::start_with(|options| {
        (options.in_memory, options.data_directory) = (false, data.path().to_owned());
    });
    let key = secured.key("app", r#""SecurityClearance":"Operator""#);
    assert_eq!(secured.call_with_key(&key, "GET /databases", "").status, 200);
    let used = text(&list(&secured)[0], "LastUsed").unwrap().to_owned();
    let secured = secured.restart(data.path());
    assert_eq!(text(&list(&secured)[0], "LastUsed"), Some(&*used));
    assert_eq!(secured.call_with_key(&key, "GET /databases", "").status, 200);
    let bytes = std::fs::read_dir(data.path()).unwrap().flat_map(|entry| {
        let path = entry.unwrap().path();
        let inner = if path.is_dir() {
            std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect()
        } else {
            vec![path]
        };
        inner.into_iter().filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).unwrap())
    });
    let bytes: Vec<u8> = bytes.collect();
    assert!(memchr::memmem::find(&bytes, b"\"Hash\"").is_some(), "the key is stored elsewhere");
    assert!(memchr::memmem::find(&bytes, &key.as_bytes()[8..]).is_none(), "the key itself is stored");
}

#[test]
fn a_key_that_is_changed_or_deleted_has_other_rights_at_once() {
    let secured = with_database();
    let key = secured.key("app", r#""SecurityClearance":"ValidUser","Permissions":{"shop":"Read"}"#);
    let mut socket = secured.connect(&Arc::new(secured.config(None, &[&TLS13])));
    let head = format!(
        "GET /databases/shop/changes HTTP/1.1\r\nHost: db.example\r\nAuthorization: Bearer {key}\r\nUpgrade: websocket\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).unwrap();
    let mut received = String::new();
    while !received.contains("TopologyChange") {
        let mut bytes = [0; 1024];
        let size = socket.read(&mut bytes).unwrap();
        assert!(size > 0, "{received}");
        received.push_str(&String::from_utf8_lossy(&bytes[..size]));
    }
    let put = |status| {
        assert_eq!(secured.call_with_key(&key, "PUT /databases/shop/docs?id=a", "{}").status, status);
    };
    put(403);
    let edited = r#"{"Name":"APP","SecurityClearance":"ValidUser","Permissions":{"shop":"ReadWrite"}}"#;
    secured.administer("POST /admin/api-keys/edit", edited, 204);
    let mut rest = Vec::new();
    let _ = socket.read_to_end(&mut rest);
    assert!(String::from_utf8_lossy(&rest).contains("the rights of this connection were changed"), "{rest:?}");
    put(201);
    secured.administer("DELETE /admin/api-keys?name=app", "", 204);
    put(401);
    // There is none any more.
    secured.administer("DELETE /admin/api-keys?name=app", "", 204);
    secured.call(Some(&secured.admin), "POST /admin/api-keys/edit", edited).check_error(
        400,
        "System.InvalidOperationException",
        "There is no API key 'APP'",
    );
}

#[test]
fn what_a_key_or_a_certificate_has_opened_ends_when_it_expires() {
    // Some 30 times what opening takes: all is opened before.
    let soon = SystemTime::now() + Duration::from_secs(15);
    let mut dated = params("dated");
    dated.not_after = date_time_ymd(1970, 1, 1) + soon.duration_since(UNIX_EPOCH).unwrap();
    let dated = self_signed(&dated);
    let secured = Secured::start_with(|options| {
        options.maintain_every = Duration::from_millis(50);
        options.admins.push(dated.trusted());
    });
    secured.administer("PUT /admin/databases?name=shop", "{}", 201);
    let expires = Date::from(soon).to_string();
    let key = secured.key("app", &format!(r#""SecurityClearance":"Operator","Expires":"{expires}""#));
    let cookie = secured.sign_in(&key);
    let open = |pair: Option<&Pair>, header: &str| {
        let mut socket = secured.connect(&Arc::new(secured.config(pair, &[&TLS13])));
        let head = format!(
            "GET /databases/shop/changes HTTP/1.1\r\nHost: db.example\r\n{header}Upgrade: websocket\r\n\
             Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        socket.write_all(head.as_bytes()).unwrap();
        let mut status = [0; 12];
        socket.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 101");
        socket
    };
    let by_key = format!("Authorization: Bearer {key}\r\n");
    let by_cookie = format!("Cookie: {cookie}\r\nOrigin: https://db.example\r\n");
    let mut sockets = [open(None, &by_key), open(None, &by_cookie), open(Some(&dated), "")];
    for socket in &mut sockets {
        let mut rest = Vec::new();
        let _ = socket.read_to_end(&mut rest);
        assert!(String::from_utf8_lossy(&rest).contains("the rights of this connection were changed"), "{rest:?}");
    }
    assert!(SystemTime::now() >= soon);
    assert_eq!(secured.call_with_cookie(&cookie, "GET /databases", "").status, 403);
    // Others go on.
    secured.administer("PUT /databases/shop/docs?id=a", "{}", 201);
}

#[test]
fn an_operator_grants_no_more_than_it_has() {
    let secured = with_database();
    let operator = secured.key("operator", r#""SecurityClearance":"Operator""#);
    secured.key("admin", r#""SecurityClearance":"ClusterAdmin""#);
    let refused = |line: &str, body: &str| {
        let answer = secured.call_with_key(&operator, line, body);
        answer.check_error(403, "Raven.Client.Exceptions.Security.AuthorizationException", "Only a cluster admin");
    };
    refused("POST /admin/api-keys", r#"{"Name":"x","SecurityClearance":"ClusterAdmin"}"#);
    refused("POST /admin/api-keys/edit", r#"{"Name":"operator","SecurityClearance":"ClusterAdmin"}"#);
    refused("POST /admin/api-keys/edit", r#"{"Name":"admin","SecurityClearance":"ValidUser"}"#);
    refused("DELETE /admin/api-keys?name=admin", "");
    let create = r#"{"Name":"x","SecurityClearance":"Operator"}"#;
    assert_eq!(secured.call_with_key(&operator, "POST /admin/api-keys", create).status, 201);
    let own = secured.call_with_key(&operator, "DELETE /admin/api-keys?name=operator", "");
    own.check_error(
        400,
        "System.InvalidOperationException",
        "Cannot delete the API key 'operator': it is that of this request",
    );
    assert_eq!(list(&secured).len(), 3);
}

#[test]
fn a_key_that_cannot_be_made_says_why() {
    let secured = with_database();
    secured.key("App", r#""SecurityClearance":"Operator""#);
    let refused = |body: &str, message: &str| {
        secured.call(Some(&secured.admin), "POST /admin/api-keys", body).check_error(
            400,
            "System.ArgumentException",
            message,
        );
    };
    refused(r#"{"SecurityClearance":"Operator"}"#, "Name is a required field in the API key definition");
    refused(r#"{"Name":"x"}"#, "'SecurityClearance' must be ValidUser, Operator or ClusterAdmin");
    refused(r#"{"Name":"aPP","SecurityClearance":"Operator"}"#, "There is an API key 'App' already");
    for date in ["2001-01-01T00:00:00.0000000Z", "tomorrow"] {
        let body = format!(r#"{{"Name":"x","SecurityClearance":"Operator","Expires":"{date}"}}"#);
        refused(&body, "'Expires' must be a date in the future");
    }
    refused(r#"{"Name":"x","SecurityClearance":"Operator","Expires":1}"#, "'Expires' must be a text");
    let http = Wire::start();
    let body = r#"{"Name":"x","SecurityClearance":"Operator"}"#;
    http.check_error(
        "POST /admin/api-keys",
        body,
        400,
        "System.InvalidOperationException",
        "Certificates and API keys",
    );
}

#[test]
fn what_is_no_key_says_so() {
    let secured = with_database();
    let ask = |headers: &str| -> Answer {
        // Also with a certificate that may do everything: who sends a key wants the rights of the key.
        let config = Arc::new(secured.config(Some(&secured.admin), &[&TLS13]));
        call_with(secured.connect(&config), "GET /databases", headers, "").unwrap()
    };
    let unknown = ask("Authorization: Bearer rookery_x\r\n");
    unknown.check_error(401, "InvalidAuth", "This server does not know the API key");
    assert_eq!(unknown.header("www-authenticate"), Some("Bearer error=\"invalid_token\""));
    for headers in ["Authorization: Basic YTpi\r\n", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"] {
        ask(headers).check_error(401, "InvalidAuth", "The server understands one header 'Authorization: Bearer KEY'");
    }
    assert_eq!(ask("").status, 200);
}

#[test]
fn a_key_in_clear_text_is_refused_with_a_warning() {
    let wire = Wire::start();
    let key = "authorization: bearer rookery_AAAA";
    wire.call_with("GET /databases", &[key], b"").check_error(
        400,
        "System.ArgumentException",
        "An API key was sent without HTTPS",
    );
    // What a proxy leaves in the header is none of our business.
    assert_eq!(wire.call_with("GET /databases", &["Authorization: Basic YTpi"], b"").status, 200);
}

#[test]
fn requests_that_are_refused_again_and_again_are_held_back() {
    let secured = Secured::start_with(|options| options.limits.failed_attempt_count = 2);
    let key = secured.key("app", r#""SecurityClearance":"Operator""#);
    let unknown = self_signed(&params("unknown"));
    secured.call_with_key("rookery_x", "GET /databases", "").check_error(401, "InvalidAuth", "");
    secured.call(Some(&unknown), "GET /databases", "").check_error(403, "InvalidAuth", "");
    // Neither of these is an attempt.
    assert_eq!(secured.call(None, "GET /databases", "").status, 403);
    assert_eq!(secured.call_with_key("rookery_x", "GET /build/version", "").status, 200);
    let held_back = secured.call_with_key("rookery_x", "GET /databases", "");
    held_back.check_error(429, "InvalidAuth", "Too many requests from this address");
    assert_eq!((held_back.header("retry-after"), held_back.header("connection")), (Some("60"), Some("close")));
    // Whoever is known is served, behind the same address.
    assert_eq!(secured.call_with_key(&key, "GET /databases", "").status, 200);
    assert_eq!(secured.metric("rookery_identifications_failed_total "), 3);
}
