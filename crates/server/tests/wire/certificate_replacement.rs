//! Replacing the certificate of the server by a request.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use data_encoding::BASE64;
use rcgen::KeyPair;
use rookery_server::{Authority, CertificateOptions, Issued, Password};
use rustls::version::TLS13;

use super::secured::{Pair, Secured, params, pem, self_signed};

const REPLACE: &str = "POST /admin/certificates/replace-cluster-cert?replaceImmediately=true";
const HOSTS: [&str; 2] = ["db.example", "127.0.0.1"];

/// A server whose certificate is in a PFX file with a password, and the authority that signed it.
struct Server {
    secured: Secured,
    authority: Authority,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.pfx");
        let (authority, root) = Authority::create("Test").unwrap();
        std::fs::write(&path, of_hosts(&authority, &HOSTS).pfx("of the file").unwrap()).unwrap();
        let mut secured = Secured::start_with(|options| {
            let password = Some(Password("of the file".to_owned()));
            options.certificate = CertificateOptions { pfx: Some(path.clone()), password, ..Default::default() };
        });
        let key = KeyPair::from_pem(&root.key_pem()).unwrap();
        secured.authority = Pair { der: root.der().to_vec().into(), key };
        Server { secured, authority, path, _folder: folder }
    }

    /// The certificate that a new connection sees.
    fn seen(&self) -> Vec<u8> {
        let config = Arc::new(self.secured.config(Some(&self.secured.admin), &[&TLS13]));
        let mut stream = self.secured.connect(&config);
        stream.flush().unwrap();
        stream.conn.peer_certificates().unwrap()[0].to_vec()
    }

    #[track_caller]
    fn check_refused(&self, body: &str, kind: &str, text: &str) {
        let before = (self.seen(), std::fs::read(&self.path).unwrap());
        self.secured.call(Some(&self.secured.admin), REPLACE, body).check_error(400, kind, text);
        assert_eq!((self.seen(), std::fs::read(&self.path).unwrap()), before);
    }
}

fn of_hosts(authority: &Authority, hosts: &[&str]) -> Issued {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    authority.server(&hosts, 30).unwrap()
}

fn body(pfx: &[u8], password: Option<&str>) -> String {
    let password = password.map_or_else(|| "null".to_owned(), |password| format!("\"{password}\""));
    format!(r#"{{"Certificate":"{}","Password":{password}}}"#, BASE64.encode(pfx))
}

#[test]
fn a_replaced_certificate_is_used_at_once_and_kept() {
    let server = Server::start();
    let first = server.seen();
    for (sent_with, password) in [("", None), ("another", Some("another"))] {
        let new = of_hosts(&server.authority, &["db.example", "127.0.0.1", "more.example"]);
        let body = body(&new.pfx(sent_with).unwrap(), password);
        server.secured.administer(REPLACE, &body, 204);
        assert_eq!(server.seen(), new.der());
        assert_ne!(server.seen(), first);
        // The settings still open the file, and only its owner reads it as before.
        let files = rookery_server::CertificateFiles::of(&server.path, Password("of the file".to_owned())).unwrap();
        assert_eq!(files.certified_key().unwrap().cert[0].as_ref(), new.der());
        let names: Vec<_> = server.path.parent().unwrap().read_dir().unwrap().collect();
        assert_eq!(names.len(), 1, "nothing else is left: {names:?}");
    }
}

#[test]
fn a_certificate_that_clients_would_refuse_replaces_nothing() {
    let server = Server::start();
    let unusable = "Unable to load the provided certificate";
    server.check_refused(r#"{"Certificate":"AQIDBA=="}"#, "ArgumentException", unusable);
    server.check_refused(r#"{"Certificate":"?"}"#, "ArgumentException", unusable);
    server.check_refused("{}", "ArgumentException", "'Certificate' is required");
    server.check_refused(
        r#"{"Certificate":"AQIDBA==","Name":"x"}"#,
        "ArgumentException",
        "a certificate of the server has no option 'Name'",
    );
    let fit = of_hosts(&server.authority, &HOSTS);
    server.check_refused(&body(&fit.pfx("secret").unwrap(), None), "ArgumentException", unusable);
    server.check_refused(&body(fit.certificate_pem().as_bytes(), None), "ArgumentException", unusable);
    let other = of_hosts(&server.authority, &["other.example", "127.0.0.1"]);
    server.check_refused(
        &body(&other.pfx("").unwrap(), None),
        "InvalidOperationException",
        "The provided certificate CN=other.example",
    );
}

#[test]
fn a_certificate_in_pem_files_is_replaced_there() {
    let secured = Secured::start();
    let (authority, _) = Authority::create("Test").unwrap();
    let body = body(&of_hosts(&authority, &HOSTS).pfx("").unwrap(), None);
    secured.call(Some(&secured.admin), REPLACE, &body).check_error(
        400,
        "InvalidOperationException",
        "The certificate of this server is in the PEM",
    );
}

#[test]
fn only_cluster_admins_replace_it() {
    let server = Server::start();
    let operator = self_signed(&params("operator"));
    let registered = format!(
        r#"{{"Name":"operator","Certificate":"{}","SecurityClearance":"Operator","Permissions":{{}}}}"#,
        BASE64.encode(pem(&operator).as_bytes())
    );
    server.secured.administer("PUT /admin/certificates", &registered, 201);
    let new = body(&of_hosts(&server.authority, &HOSTS).pfx("").unwrap(), None);
    let before = server.seen();
    server.secured.call(Some(&operator), REPLACE, &new).check_error(403, "AuthorizationException", "");
    assert_eq!(server.seen(), before);
}
