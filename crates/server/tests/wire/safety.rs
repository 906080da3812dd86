//! `GET /admin/safety`: what is not safe about the set-up, found of a running server.

use std::os::unix::fs::PermissionsExt;

use json::Value;
use rookery_server::{AUDIT_RETENTION, AuditOptions};

use super::secured::Secured;
use super::support::{Answer, Wire};

/// Kind, severity and subject of each finding.
fn found(answer: &Answer) -> Vec<(String, String, String)> {
    let answer = answer.json();
    let Some(Value::Array(found)) = answer.get("Results") else { panic!("{answer:?}") };
    let text = |finding: &Value, name: &str| finding.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    for finding in found {
        for name in ["Title", "Advice", "Page"] {
            assert!(!text(finding, name).is_empty(), "{finding:?}");
        }
    }
    // Whether the tests run as root is not theirs to decide.
    let found = found.iter().filter(|finding| text(finding, "Id") != "root");
    found.map(|finding| (text(finding, "Id"), text(finding, "Severity"), text(finding, "Subject"))).collect()
}

fn as_texts(found: &[(String, String, String)]) -> Vec<(&str, &str, &str)> {
    found.iter().map(|(id, severity, subject)| (id.as_str(), severity.as_str(), subject.as_str())).collect()
}

#[test]
fn http_is_found() {
    let wire = Wire::start();
    assert_eq!(as_texts(&found(&wire.call("GET /admin/safety", ""))), [("http-loopback", "Notice", "")]);
    let proxied = Wire::start_with(|options| options.public_url = Some("https://db.example".to_owned()));
    assert_eq!(as_texts(&found(&proxied.call("GET /admin/safety", ""))), [("http-behind-proxy", "Warning", "")]);
    let open = Wire::start_with(|options| {
        options.addresses = vec!["0.0.0.0:0".parse().unwrap()];
        options.unsecured_access = true;
    });
    assert_eq!(as_texts(&found(&open.call("GET /admin/safety", ""))), [("http-reachable", "Danger", "")]);
}

#[test]
fn what_is_missing_with_https_is_found_until_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut key_file = None;
    let secured = Secured::start_with(|options| {
        key_file.clone_from(&options.certificate.pem);
        options.audit = Some(AuditOptions { folder: folder.path().to_owned(), retention: AUDIT_RETENTION });
    });
    let key_file = key_file.unwrap();
    let open = |mode| std::fs::set_permissions(&key_file, std::fs::Permissions::from_mode(mode)).unwrap();
    let look = || found(&secured.administer("GET /admin/safety", "", 200));
    open(0o600);
    assert_eq!(as_texts(&look()), []);

    open(0o644);
    secured.key("forever", r#""SecurityClearance":"ClusterAdmin""#);
    secured.key("user", r#""SecurityClearance":"ValidUser""#);
    let powerful = ("powerful-key-without-expiry", "Warning", "forever");
    assert_eq!(as_texts(&look()), [("open-private-key", "Warning", ""), powerful]);
    open(0o600);
    let edited = r#"{"Name":"forever","SecurityClearance":"ClusterAdmin","Expires":"2110-01-01T00:00:00.0000000Z"}"#;
    secured.administer("POST /admin/api-keys/edit", edited, 204);
    assert_eq!(as_texts(&look()), []);

    let without = Secured::start();
    let found = found(&without.administer("GET /admin/safety", "", 200));
    assert!(as_texts(&found).contains(&("no-audit-log", "Warning", "")), "{found:?}");
    let user = without.key("user", r#""SecurityClearance":"ValidUser""#);
    assert_eq!(without.call_with_key(&user, "GET /admin/safety", "").status, 403);
}
