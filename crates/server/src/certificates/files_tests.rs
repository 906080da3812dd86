//! Tests of the files of certificates: those of other programs are read, and what is wrong with a file is said.

use super::*;
use std::os::unix::fs::PermissionsExt;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::certificates::certificate::Certificate;

fn pfx(name: &str, password: &str) -> CertificateFiles {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(format!("{name}.pfx"));
    CertificateFiles::Pfx { path, password: Password(password.to_owned()) }
}

fn error(files: &CertificateFiles) -> String {
    files.read(&provider()).unwrap_err().to_string()
}

#[test]
fn pfx_files_of_openssl_net_and_java_are_read() {
    for name in ["openssl-aes", "openssl-rc2", "openssl-3des", "dotnet", "java"] {
        let certified = pfx(name, "secret").read(&provider()).unwrap();
        let certificate = Certificate::parse(&certified.cert[0]).unwrap();
        assert_eq!(certificate.hosts(), ["db.example", "*.db.example", "127.0.0.1"], "{name}");
        assert_eq!(certified.cert.len(), 1, "{name}: the root is left out");
    }
    for name in ["openssl-no-password", "dotnet-no-password"] {
        pfx(name, "").read(&provider()).unwrap();
    }
}

#[test]
fn a_wrong_password_is_told_from_a_damaged_file_and_never_repeated() {
    for name in ["openssl-aes", "openssl-rc2", "openssl-3des", "dotnet", "java"] {
        for password in ["", "wrong-password"] {
            let error = error(&pfx(name, password));
            assert!(error.contains("wrong or missing") && !error.contains("wrong-password"), "{error}");
        }
    }
    let files = pfx("openssl-aes", "wrong-password");
    assert!(!format!("{files:?}").contains("wrong-password"));
    let whole = std::fs::read(files.paths()[0]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pfx");
    let check = |bytes: &[u8], expected: &str| {
        std::fs::write(&path, bytes).unwrap();
        let files = CertificateFiles::Pfx { path: path.clone(), password: Password("secret".to_owned()) };
        let error = error(&files);
        assert!(error.contains(expected), "{error}");
    };
    check(b"", "is not a PFX file");
    check(b"-----BEGIN CERTIFICATE-----", "is not a PFX file");
    check(&whole[..whole.len() / 2], "is not a PFX file");
    check(&vec![0; (1 << 20) + 1], "more than 1024 KiB");
}

#[test]
fn a_pfx_file_without_a_key_says_so() {
    assert!(error(&pfx("no-key", "secret")).ends_with("no-key.pfx has no private key"));
    assert!(error(&pfx("none", "secret")).starts_with("cannot read "));
}

/// A leaf with two issuers above it, and its key.
struct Chain {
    root: String,
    middle: String,
    leaf: String,
    key: KeyPair,
}

impl Chain {
    fn new() -> Chain {
        let params = |name: &str, is_ca: bool| {
            let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            params.is_ca = if is_ca { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::NoCa };
            params
        };
        let (root, middle) = (params("root", true), params("middle", true));
        let (root_key, middle_key, key) =
            (KeyPair::generate().unwrap(), KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let of_middle = middle.signed_by(&middle_key, &Issuer::from_params(&root, &root_key)).unwrap();
        let leaf = params("leaf", false).signed_by(&key, &Issuer::from_params(&middle, &middle_key)).unwrap();
        Chain { root: root.self_signed(&root_key).unwrap().pem(), middle: of_middle.pem(), leaf: leaf.pem(), key }
    }
}

/// Writes both files and names them.
fn pem_files(folder: &Path, certificate: &str, key: &str) -> CertificateFiles {
    let (of_certificate, of_key) = (folder.join("x.crt"), folder.join("x.key"));
    std::fs::write(&of_certificate, certificate).unwrap();
    std::fs::write(&of_key, key).unwrap();
    CertificateFiles::Pem { certificate: of_certificate, key: of_key }
}

#[test]
fn pem_certificates_may_come_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let Chain { root, middle, leaf, key } = Chain::new();
    let other = Chain::new().leaf;
    for (text, count) in [
        (leaf.clone(), 1),
        (format!("{leaf}{middle}"), 2),
        (format!("{root}{other}{middle}{leaf}"), 2),
        (format!("{middle}{leaf}{root}{leaf}"), 2),
    ] {
        let certified = pem_files(folder.path(), &text, &key.serialize_pem()).read(&provider()).unwrap();
        let names: Vec<_> = certified.cert.iter().map(|der| Certificate::parse(der).unwrap().to_string()).collect();
        assert_eq!(names.len(), count, "{names:?}");
        assert!(names[0].starts_with("'CN=leaf'"), "{names:?}");
    }
}

#[test]
fn what_is_wrong_with_pem_files_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let Chain { leaf, key, middle, .. } = Chain::new();
    let key = key.serialize_pem();
    let check = |certificate: &str, key: &str, expected: &str| {
        let error = error(&pem_files(folder.path(), certificate, key));
        assert!(error.contains(expected), "{error}");
    };
    check("", &key, "x.crt has no certificate");
    check(&key, &key, "x.crt has no certificate");
    check(&leaf, &leaf, "x.key has no private key");
    check(&leaf, "", "x.key has no private key");
    check(&middle, &key, "belongs to none of the certificates in");
    check(&leaf, &KeyPair::generate().unwrap().serialize_pem(), "belongs to none of the certificates in");
    check(&leaf[..leaf.len() / 2], &key, "x.crt is not a PEM file");
    check(&leaf, &key.replace("PRIVATE", "ENCRYPTED PRIVATE"), "is encrypted; decrypt it");
    check(&leaf, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "cannot be used for TLS");
}

#[test]
fn a_key_that_everyone_may_read_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let Chain { leaf, key, .. } = Chain::new();
    let files = pem_files(folder.path(), &leaf, &key.serialize_pem());
    let set_mode = |name: &str, mode| {
        std::fs::set_permissions(folder.path().join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode("x.crt", 0o644);
    set_mode("x.key", 0o640);
    assert_eq!(files.mode_warning(), None);
    set_mode("x.key", 0o644);
    assert!(files.mode_warning().unwrap().ends_with("x.key"));
}
