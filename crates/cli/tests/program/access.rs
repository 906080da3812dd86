//! `rookery access`, and the commands with the API keys that it makes.

use std::process::Command;

use crate::cert::{Certificates, cert};
use crate::support::{Program, outcome, text};

/// A server with a database, and an operator's certificate.
struct Server {
    made: Certificates,
    program: Program,
}

impl Server {
    fn start() -> Server {
        let made = Certificates::create(&[]);
        let program = made.serve();
        let people = made.file("people.jsonl");
        std::fs::write(&people, "{\"Name\":\"Ada\"}\n").unwrap();
        let server = Server { made, program };
        server.succeeds(&["import", "-d", "People", text(&people)]);
        server
    }

    fn operator(&self, command: &[&str]) -> Command {
        self.made.call(&self.program, command, "admin.pem")
    }

    /// What a command of the operator prints.
    #[track_caller]
    fn succeeds(&self, command: &[&str]) -> String {
        let (has_succeeded, out, err) = outcome(self.operator(command));
        assert!(has_succeeded, "{out}{err}");
        out
    }

    /// A command with a key.
    fn with_key(&self, key: &str, command: &[&str]) -> (bool, String, String) {
        let mut called = self.made.call_as_nobody(&self.program, command);
        called.env("ROOKERY_API_KEY", key);
        outcome(called)
    }
}

/// A certificate of X.509 version 1, which a handshake refuses: `openssl x509 -req` without extensions.
const OF_VERSION_1: &str = "\
-----BEGIN CERTIFICATE-----
MIIBFjCBvQIUFQ5aeWvMZxrvhJrZ2CvBgpPMtdcwCgYIKoZIzj0EAwIwDjEMMAoG
A1UEAwwDb2xkMB4XDTI2MTEyODA5MzIwM1oXDTM2MTEyNTA5MzIwM1owDjEMMAoG
A1UEAwwDb2xkMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqnNqWRZzZ170hl00
JUj2wkDFJhCWnd+VnspMEVeuAmCtSF4lYTZRL+2oHnPbmm8lcaerFItX6GWwQL77
9adqKzAKBggqhkjOPQQDAgNIADBFAiAlaV0AM9J4mQzHTBJApgfH3K0gPrJVoi/Z
QLYPfim+WwIhAODsjdIlv8tNpVjHvS5brIWMV63tfibh1fVRkLelukN4
-----END CERTIFICATE-----
";

#[track_caller]
fn check_refused((has_succeeded, out, err): (bool, String, String), expected: &str) {
    assert!(!has_succeeded && out.is_empty() && err.contains(expected), "{out}{err}");
}

/// The cells of a line of a table.
fn line_of<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let line = table.lines().find(|line| line.split_whitespace().next() == Some(name));
    line.unwrap_or_else(|| panic!("{name} is not in {table}")).split('|').map(str::trim).collect()
}

#[test]
fn a_key_is_granted_listed_and_revoked() {
    let server = Server::start();
    let key = server.succeeds(&["access", "grant", "reader", "--on", "People=read", "--expires", "2110-12-31"]);
    let key = key.trim_end();
    assert!(key.starts_with("rookery_") && !key.contains(char::is_whitespace), "{key}");
    assert_eq!(
        line_of(&server.succeeds(&["access", "list"]), "reader"),
        ["reader", "key", "user", "People=read", "2110-12-31", "never"]
    );

    let query = ["query", "-d", "People", "-f", "csv", "from People select Name"];
    let (has_succeeded, out, err) = server.with_key(key, &query);
    assert!(has_succeeded && out.contains("Ada"), "{out}{err}");
    let people = server.made.file("people.jsonl");
    check_refused(server.with_key(key, &["import", "-d", "People", text(&people)]), "read and write");
    check_refused(server.with_key(key, &["access", "list"]), "'operator'");
    let listed = server.succeeds(&["access", "list"]);
    assert_ne!(line_of(&listed, "reader")[5], "never");
    assert!(!listed.contains(key), "{listed}");

    let said = server.succeeds(&["access", "revoke", "READER"]);
    assert_eq!(said, "'READER' has no access any more.\n");
    check_refused(server.with_key(key, &query), "does not know the API key");
    check_refused(outcome(server.operator(&["access", "revoke", "reader"])), "there is neither an API key nor");
}

#[test]
fn a_certificate_is_granted_listed_and_revoked() {
    let server = Server::start();
    let made = &server.made;
    assert!(outcome(cert(&made.path, "client", &["app"])).0);
    let app = made.file("app.pem");
    server.succeeds(&["access", "grant", "app", "--on", "People=admin", "--on", "Log=write", "--for", text(&app)]);
    let listed = server.succeeds(&["access", "list"]);
    let cells = line_of(&listed, "app");
    assert!(cells[1].starts_with("certificate "), "{cells:?}");
    assert_eq!(cells[2..4], ["user", "People=admin, Log=write"]);
    let query = ["query", "-d", "People", "from People"];
    assert!(outcome(made.call(&server.program, &query, "app.pem")).0);
    // A key with the same name: it is not clear which is meant.
    let key = server.succeeds(&["access", "grant", "app", "--clearance", "operator"]);
    let json = server.succeeds(&["access", "list", "--json"]);
    let thumbprint =
        json.split("\"Thumbprint\":\"").nth(2).unwrap_or_else(|| panic!("{json}")).split('"').next().unwrap();
    let expected = format!("several have the name 'app'; give the thumbprint of a certificate ({thumbprint})");
    check_refused(outcome(server.operator(&["access", "revoke", "app"])), &expected);
    server.succeeds(&["access", "revoke", thumbprint]);
    check_refused(outcome(made.call(&server.program, &query, "app.pem")), "is not known to this server");
    assert!(server.with_key(key.trim_end(), &["status"]).0);
    server.succeeds(&["access", "revoke", "app"]);
}

#[test]
fn what_cannot_be_granted_says_why() {
    let server = Server::start();
    let refused = |arguments: &[&str], expected: &str| {
        check_refused(outcome(server.operator(&[&["access", "grant", "x"], arguments].concat())), expected);
    };
    refused(&[], "no rights were given");
    refused(&["--on", "People"], "write it as DATABASE=read");
    refused(&["--on", "People=all"], "'all' is none of read, write and admin");
    refused(&["--on", "a/b=read"], "'a/b' is not permitted");
    refused(&["--on", "People=read", "--expires", "soon"], "neither a number of days");
    refused(&["--on", "People=read", "--expires", "2001-01-01"], "must be a date in the future");
    refused(&["--on", "People=read", "--expires", "0d"], "gives the key no time to be used");
    refused(&["--on", "People=read", "--for", text(&server.made.file("settings.json"))], "settings.json");
    let of_version_1 = server.made.file("old.crt");
    std::fs::write(&of_version_1, OF_VERSION_1).unwrap();
    refused(&["--on", "People=read", "--for", text(&of_version_1)], "no client can connect with it");
    check_refused(server.with_key("a key", &["status"]), "characters that no key has");
    let plain = Program::in_memory();
    let list = ["access", "list", "--url", &plain.url, "--api-key", "rookery_x"];
    check_refused(outcome(crate::support::rookery(&list)), "does not begin with https://");
}

#[test]
fn what_is_not_safe_is_listed_with_advice() {
    let server = Server::start();
    server.succeeds(&["access", "grant", "forever", "--clearance", "operator"]);
    let (has_succeeded, out, err) = outcome(server.operator(&["safety"]));
    assert!(!has_succeeded && err.is_empty(), "{out}{err}");
    assert!(out.contains("warning: The API key 'forever' of an operator never expires\n  Who finds a copy"), "{out}");
    assert!(out.contains("  See docs/security.md#audit-log\n"), "{out}");
    let (_, json, _) = outcome(server.operator(&["safety", "--json"]));
    assert!(json.starts_with("{\"Results\":[{\"Id\":"), "{json}");
}
