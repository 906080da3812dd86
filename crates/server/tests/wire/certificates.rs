//! Certificates of clients: made, registered, listed, edited and deleted, and what that does to connections that are open.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use data_encoding::BASE64;
use rcgen::date_time_ymd;
use rustls::version::TLS13;
use rustls::{ClientConnection, StreamOwned};

use super::secured::{Pair, Secured, params, pem, renewed, self_signed};
use super::support::{Answer, Wire, read_answer};

fn definition(pair: &Pair, name: &str, clearance: &str, permissions: &str) -> String {
    let certificate = BASE64.encode(&pair.der);
    format!(
        r#"{{"Name":"{name}","Certificate":"{certificate}","SecurityClearance":"{clearance}","Permissions":{permissions}}}"#
    )
}

/// A connection that goes on after an answer.
struct Connection(BufReader<StreamOwned<ClientConnection, TcpStream>>);

impl Connection {
    fn open(secured: &Secured, pair: &Pair) -> Connection {
        Connection(BufReader::new(secured.connect(&Arc::new(secured.config(Some(pair), &[&TLS13])))))
    }

    fn get(&mut self, path: &str) -> Option<Answer> {
        self.send(&format!("GET {path}"), "")
    }

    fn send(&mut self, line: &str, body: &str) -> Option<Answer> {
        let request = format!("{line} HTTP/1.1\r\nHost: db.example\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        self.0.get_mut().write_all(request.as_bytes()).ok()?;
        read_answer(&mut self.0, false)
    }

    /// Waits for the end that the server makes.
    fn is_ended(&mut self) -> bool {
        let mut rest = Vec::new();
        // The server ends it without TLS's own end, as it does with every connection that it cuts off.
        let _ = self.0.read_to_end(&mut rest);
        rest.is_empty()
    }
}

impl Secured {
    fn with_databases(names: &[&str]) -> Secured {
        let secured = Secured::start();
        for name in names {
            let line = format!("PUT /admin/databases?name={name}");
            assert_eq!(
                secured.call(Some(&secured.admin), &line, &format!("{{\"DatabaseName\":\"{name}\"}}")).status,
                201
            );
        }
        secured
    }

    fn register(&self, pair: &Pair, clearance: &str, permissions: &str) {
        self.administer("PUT /admin/certificates", &definition(pair, "app", clearance, permissions), 201);
    }

    fn thumbprint(pair: &Pair) -> String {
        rookery_server::Thumbprint::of(&pair.der).to_string()
    }
}

#[test]
fn a_registered_client_may_do_what_it_was_granted() {
    let secured = Secured::with_databases(&["shop", "other"]);
    let app = self_signed(&params("app"));
    secured.call(Some(&app), "GET /databases/shop/stats", "").check_error(403, "InvalidAuth", "");
    secured.register(&app, "ValidUser", r#"{"Shop":"ReadWrite"}"#);
    let status = |line: &str, body: &str| secured.call(Some(&app), line, body).status;
    assert_eq!(status("PUT /databases/shop/docs?id=a", "{}"), 201);
    assert_eq!(status("GET /databases/shop/docs?id=a", ""), 200);
    for (line, body) in [
        ("GET /databases/other/docs?id=a", ""),
        ("PUT /databases/shop/admin/configuration/client", "{}"),
        ("GET /admin/certificates", ""),
        ("PUT /admin/databases?name=third", "{}"),
    ] {
        let answer = secured.call(Some(&app), line, body);
        assert_eq!(answer.status, 403, "{line}");
        assert!(answer.text().contains("AuthorizationException"), "{line}: {}", answer.text());
    }
    let names = secured.call(Some(&app), "GET /databases?namesOnly=true", "").text();
    assert_eq!(names, r#"{"Databases":["shop"]}"#);
}

#[test]
fn rights_that_are_changed_count_at_once_and_close_what_is_open() {
    let secured = Secured::with_databases(&["shop"]);
    let app = self_signed(&params("app"));
    secured.register(&app, "ValidUser", r#"{"shop":"Read"}"#);
    let mut connection = Connection::open(&secured, &app);
    assert_eq!(connection.get("/databases/shop/stats").unwrap().status, 200);
    let mut socket = secured.connect(&Arc::new(secured.config(Some(&app), &[&TLS13])));
    let head = "GET /databases/shop/changes HTTP/1.1\r\nHost: db.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    socket.write_all(head.as_bytes()).unwrap();
    let mut received = String::new();
    while !received.contains("TopologyChange") {
        let mut bytes = [0; 1024];
        let size = socket.read(&mut bytes).unwrap();
        assert!(size > 0, "{received}");
        received.push_str(&String::from_utf8_lossy(&bytes[..size]));
    }

    let edited = format!(
        r#"{{"Thumbprint":"{}","Name":"renamed","SecurityClearance":"ValidUser","Permissions":{{"shop":"ReadWrite"}}}}"#,
        Secured::thumbprint(&app).to_ascii_lowercase()
    );
    secured.administer("POST /admin/certificates/edit", &edited, 204);
    assert!(connection.is_ended());
    let mut rest = Vec::new();
    let _ = socket.read_to_end(&mut rest);
    assert!(String::from_utf8_lossy(&rest).contains("the rights of this connection were changed"), "{rest:?}");

    let mut connection = Connection::open(&secured, &app);
    let whoami = connection.get("/certificates/whoami").unwrap().text();
    assert!(whoami.contains(r#""Name":"renamed""#) && whoami.contains(r#"{"shop":"ReadWrite"}"#), "{whoami}");
    let delete = format!("DELETE /admin/certificates?thumbprint={}", Secured::thumbprint(&app));
    secured.administer(&delete, "", 204);
    assert!(connection.is_ended());
    secured.call(Some(&app), "GET /databases/shop/stats", "").check_error(403, "InvalidAuth", "");
    // There is none any more.
    secured.administer(&delete, "", 204);
}

/// The connection of the change is closed a moment after its answer. Those that were opened since then were closed with it.
#[test]
fn a_client_that_changes_its_own_rights_is_answered_and_its_new_connections_stay_open() {
    let secured = Secured::start();
    let operator = self_signed(&params("app"));
    secured.register(&operator, "Operator", "{}");
    let mut changing = Connection::open(&secured, &operator);
    let body = format!(
        r#"{{"Thumbprint":"{}","Name":"renamed","SecurityClearance":"Operator","Permissions":{{}}}}"#,
        Secured::thumbprint(&operator)
    );
    assert_eq!(changing.send("POST /admin/certificates/edit", &body).unwrap().status, 204);
    let mut later = Connection::open(&secured, &operator);
    assert!(later.get("/certificates/whoami").unwrap().text().contains(r#""Name":"renamed""#));
    assert!(changing.is_ended());
    assert_eq!(later.get("/certificates/whoami").unwrap().status, 200);
}

#[test]
fn a_renewed_certificate_with_the_same_key_has_the_rights_of_the_registered_one() {
    let secured = Secured::with_databases(&["shop"]);
    let app = self_signed(&params("app"));
    secured.register(&app, "ValidUser", r#"{"shop":"ReadWrite"}"#);
    let mut later = params("app");
    later.serial_number = Some(78.into());
    let newer = renewed(&app, &later);
    assert_ne!(newer.der, app.der);
    let mut connection = Connection::open(&secured, &newer);
    assert_eq!(connection.get("/databases/shop/stats").unwrap().status, 200);
    let whoami = connection.get("/certificates/whoami").unwrap().text();
    assert!(whoami.contains(r#""Name":"app""#) && whoami.contains(&Secured::thumbprint(&app)), "{whoami}");

    // Registered itself, it has its own rights, and connections go on with none that they had before.
    secured.register(&newer, "ValidUser", r#"{"shop":"Read"}"#);
    assert!(connection.is_ended());
    assert_eq!(secured.call(Some(&newer), "PUT /databases/shop/docs?id=a", "{}").status, 403);
    assert_eq!(secured.call(Some(&app), "PUT /databases/shop/docs?id=a", "{}").status, 201);

    // What is deleted may do nothing, as soon as no certificate with its key is left.
    let mut connection = Connection::open(&secured, &app);
    assert_eq!(connection.get("/databases/shop/stats").unwrap().status, 200);
    for pair in [&app, &newer] {
        let delete = format!("DELETE /admin/certificates?thumbprint={}", Secured::thumbprint(pair));
        secured.administer(&delete, "", 204);
    }
    assert!(connection.is_ended());
    for pair in [&app, &newer] {
        let answer = secured.call(Some(pair), "GET /databases/shop/stats", "");
        assert!(answer.status == 403 && answer.text().contains("is not known"), "{}", answer.text());
    }
}

#[test]
fn a_key_does_not_outlive_the_certificate_that_was_registered_with_it() {
    let secured = Secured::with_databases(&["shop"]);
    let mut ended = params("app");
    ended.not_after = date_time_ymd(2021, 1, 1);
    let registered = self_signed(&ended);
    secured.register(&registered, "ValidUser", r#"{"shop":"ReadWrite"}"#);
    let prolonged = renewed(&registered, &params("app"));
    let answer = secured.call(Some(&prolonged), "GET /databases/shop/stats", "");
    assert_eq!(answer.status, 403);
    assert!(answer.text().contains("has expired at 2021-01-01"), "{}", answer.text());
    assert!(answer.text().contains("An operator of the server registers the renewed one"), "{}", answer.text());
    secured.register(&prolonged, "ValidUser", r#"{"shop":"Read"}"#);
    assert_eq!(secured.call(Some(&prolonged), "GET /databases/shop/stats", "").status, 200);
}

#[test]
fn a_certificate_that_the_server_makes_is_that_of_a_client() {
    let secured = Secured::with_databases(&["shop"]);
    let body =
        r#"{"Name":"my app/1","SecurityClearance":"ValidUser","Permissions":{"shop":"Read"},"Password":"secret"}"#;
    let answer = secured.administer("POST /admin/certificates", body, 200);
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=my_app_1.zip"));
    let folder = tempfile::tempdir().unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(answer.body)).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert_eq!(names, ["my_app_1.pfx", "my_app_1.crt", "my_app_1.key"]);
    archive.extract(folder.path()).unwrap();
    let path = |name: &str| folder.path().join(name);
    // The only form that the clients for Java and Node.js read.
    let key = std::fs::read_to_string(path(&names[2])).unwrap();
    assert!(key.starts_with("-----BEGIN RSA PRIVATE KEY-----\n"), "{}", &key[..40]);
    let pem = rookery_server::CertificateFiles::Pem { certificate: path(&names[1]), key: path(&names[2]) };
    let pfx = rookery_server::CertificateFiles::Pfx {
        path: path(&names[0]),
        password: rookery_server::Password("secret".to_owned()),
    };
    for files in [pem, pfx] {
        let mut config = secured.config(None, &[&TLS13]);
        let key = files.certified_key().unwrap();
        config.client_auth_cert_resolver = Arc::new(rustls::sign::SingleCertAndKey::from(key));
        let stream = secured.connect(&Arc::new(config));
        assert_eq!(super::secured::call(stream, "GET /databases/shop/stats", "").unwrap().status, 200);
    }
    let list = secured.administer("GET /admin/certificates?metadataOnly=true&name=MY%20APP/1", "", 200).text();
    assert!(list.matches("\"Thumbprint\"").count() == 1 && !list.contains("\"Certificate\""), "{list}");
}

#[test]
fn certificates_come_as_der_pem_and_pfx() {
    let secured = Secured::start();
    let files = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates");
    let pair = self_signed(&params("app"));
    let read = |name: &str| std::fs::read(files.join(name)).unwrap();
    for (bytes, password) in [
        (pair.der.to_vec(), ""),
        (pem(&pair).into_bytes(), ""),
        (read("openssl-aes.pfx"), "secret"),
        (read("dotnet-no-password.pfx"), ""),
    ] {
        let certificate = BASE64.encode(&bytes);
        let body = format!(
            r#"{{"Name":"a","Certificate":"{certificate}","SecurityClearance":"Operator","Password":"{password}"}}"#
        );
        secured.administer("PUT /admin/certificates", &body, 201);
    }
    let wrong = BASE64.encode(&read("openssl-aes.pfx"));
    for (certificate, reason) in [
        ("", "'Certificate' is required"),
        ("%", "is not in base64"),
        ("AAAA", "Unable to load the provided certificate"),
        (wrong.as_str(), "its password ('Password') is wrong or missing"),
    ] {
        let body = format!(r#"{{"Name":"a","Certificate":"{certificate}","SecurityClearance":"Operator"}}"#);
        let answer = secured.administer("PUT /admin/certificates", &body, 400);
        assert!(answer.text().contains(reason), "{}", answer.text());
    }
}

#[test]
fn lists_have_the_server_itself_and_pages() {
    let secured = Secured::start();
    let pairs = [(); 3].map(|()| self_signed(&params("app")));
    for pair in &pairs {
        secured.register(pair, "ValidUser", "{}");
    }
    let list = secured.administer("GET /admin/certificates", "", 200);
    let text = list.text();
    assert_eq!(text.matches("\"Thumbprint\"").count(), 4);
    assert!(text.contains(r#"{"Name":"Server Certificate""#) && text.contains("\"ClusterNode\""), "{text}");
    let own = Secured::thumbprint(&secured.server);
    assert!(text.contains(&format!("\"LoadedServerCert\":\"{own}\"")), "{text}");
    assert!(text.contains(&format!("\"WellKnownAdminCerts\":[\"{}\"", Secured::thumbprint(&secured.admin))), "{text}");
    assert!(text.contains("\"NotAfter\":\"2120-01-01T00:00:00.0000000\""), "{text}");
    let page = secured.administer("GET /admin/certificates?start=1&pageSize=2", "", 200).text();
    assert_eq!(page.matches("\"Thumbprint\"").count(), 2);
    let one = format!("GET /admin/certificates?thumbprint={}", Secured::thumbprint(&pairs[0]));
    let one = secured.administer(&one, "", 200).text();
    assert_eq!(one.matches("\"Thumbprint\"").count(), 1);
    assert!(one.contains(&BASE64.encode(&pairs[0].der)));
    secured.administer("GET /admin/certificates?thumbprint=AB", "", 404);
}

#[test]
fn an_operator_does_not_become_a_cluster_admin() {
    let secured = Secured::start();
    let [operator, admin, other] = [(); 3].map(|()| self_signed(&params("app")));
    secured.register(&operator, "Operator", "{}");
    secured.register(&admin, "ClusterAdmin", "{}");
    let (own, of_admin) = (Secured::thumbprint(&operator), Secured::thumbprint(&admin));
    let rights = |thumbprint: &str, clearance: &str| {
        format!(r#"{{"Thumbprint":"{thumbprint}","Name":"x","SecurityClearance":"{clearance}","Permissions":{{}}}}"#)
    };
    for (line, body) in [
        ("PUT /admin/certificates", definition(&other, "x", "ClusterAdmin", "{}")),
        ("PUT /admin/certificates", definition(&admin, "x", "ValidUser", "{}")),
        ("POST /admin/certificates", r#"{"Name":"x","SecurityClearance":"ClusterAdmin"}"#.to_owned()),
        ("POST /admin/certificates/edit", rights(&own, "ClusterAdmin")),
        ("POST /admin/certificates/edit", rights(&of_admin, "ValidUser")),
        (&format!("DELETE /admin/certificates?thumbprint={of_admin}"), String::new()),
    ] {
        let answer = secured.call(Some(&operator), line, &body);
        answer.check_error(403, "AuthorizationException", "Only a cluster admin may create, change or delete");
    }
    let line = "PUT /admin/certificates";
    assert_eq!(secured.call(Some(&operator), line, &definition(&other, "x", "Operator", "{}")).status, 201);
    assert_eq!(secured.call(Some(&admin), line, &definition(&other, "x", "ClusterAdmin", "{}")).status, 201);
    let delete = format!("DELETE /admin/certificates?thumbprint={own}");
    secured.call(Some(&operator), &delete, "").check_error(
        400,
        "System.InvalidOperationException",
        "Cannot delete the certificate",
    );
}

#[test]
fn what_cannot_be_registered_says_why() {
    let secured = Secured::start();
    let pair = self_signed(&params("app"));
    for (body, reason) in [
        (definition(&pair, "", "Operator", "{}"), "Name is a required field in the certificate definition"),
        (definition(&pair, "a", "Root", "{}"), "'SecurityClearance' must be ValidUser, Operator or ClusterAdmin"),
        (
            definition(&pair, "a", "ValidUser", r#"{"db":"Write"}"#),
            "for the database 'db' must be Read, ReadWrite or Admin",
        ),
        (definition(&pair, "a", "ValidUser", r#"{"a/b":"Read"}"#), "The name 'a/b' is not permitted"),
        (r#"{"Name":7}"#.to_owned(), "'Name' must be a text"),
    ] {
        let answer = secured.administer("PUT /admin/certificates", &body, 400);
        assert!(answer.text().contains(reason), "{}", answer.text());
    }
    let second_factor = r#"{"Name":"a","SecurityClearance":"Operator","TwoFactorAuthenticationKey":"x"}"#;
    secured.administer("POST /admin/certificates", second_factor, 501);
    for date in ["2020-01-01T00:00:00", "soon", "2999-01-01T00:00:00"] {
        let body = format!(r#"{{"Name":"a","SecurityClearance":"Operator","NotAfter":"{date}"}}"#);
        secured.administer("POST /admin/certificates", &body, 400);
    }
    let unknown = r#"{"Thumbprint":"AB","Name":"a","SecurityClearance":"Operator"}"#;
    secured.administer("POST /admin/certificates/edit", unknown, 400).check_error(
        400,
        "System.InvalidOperationException",
        "Cannot edit permissions for certificate with thumbprint 'AB'. It doesn't exist in the cluster.",
    );
}

#[test]
fn a_request_that_is_sent_again_is_not_applied_again() {
    let secured = Secured::start();
    let pair = self_signed(&params("app"));
    let put = "PUT /admin/certificates?raft-request-id=1";
    secured.administer(put, &definition(&pair, "a", "Operator", "{}"), 201);
    secured.administer(&format!("DELETE /admin/certificates?thumbprint={}", Secured::thumbprint(&pair)), "", 204);
    secured.administer(put, &definition(&pair, "a", "Operator", "{}"), 201);
    assert_eq!(secured.call(Some(&pair), "GET /databases", "").status, 403);
}

#[test]
fn who_am_i_is_answered_for_everybody() {
    let secured = Secured::start();
    let (app, stranger) = (self_signed(&params("app")), self_signed(&params("x")));
    secured.register(&app, "ValidUser", "{}");
    for (pair, expected) in [
        (&secured.server, "\"ClusterNode\""),
        (&secured.admin, "\"ClusterAdmin\""),
        (&app, "\"SecurityClearance\":\"ValidUser\",\"Permissions\":{}"),
    ] {
        let answer = secured.call(Some(pair), "GET /certificates/whoami", "");
        assert!(answer.status == 200 && answer.text().contains(expected), "{}", answer.text());
        assert!(answer.text().contains("\"HasTwoFactor\":false"));
    }
    assert_eq!(secured.call(Some(&stranger), "GET /certificates/whoami", "").status, 204);
    assert_eq!(secured.call(None, "GET /certificates/whoami", "").status, 204);
}

#[test]
fn without_https_there_are_no_certificates() {
    let wire = Wire::start();
    assert_eq!(wire.call("GET /certificates/whoami", "").status, 204);
    let list = wire.call("GET /admin/certificates", "");
    assert_eq!(list.text(), r#"{"Results":[],"LoadedServerCert":null,"WellKnownAdminCerts":[],"WellKnownIssuers":[]}"#);
    let body = r#"{"Name":"x","SecurityClearance":"Operator"}"#;
    wire.check_error(
        "POST /admin/certificates",
        body,
        400,
        "System.InvalidOperationException",
        "Certificates and API keys of clients need HTTPS",
    );
}

#[test]
fn registrations_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let secured = Secured::start_with(|options| {
        (options.in_memory, options.data_directory) = (false, folder.path().to_owned());
    });
    let app = self_signed(&params("app"));
    secured.register(&app, "Operator", "{}");
    let secured = secured.restart(folder.path());
    assert_eq!(secured.call(Some(&app), "GET /databases", "").status, 200);
}
