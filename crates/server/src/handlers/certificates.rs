//! Registered certificates of clients: making, registering, listing, editing and deleting them, and who the caller is. And replacing the
//! certificate of the server.

use std::io::{Cursor, Write as _};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::BASE64;
use database::{ApiKey, Clearance, RegisteredCertificate, Rights};
use hyper::StatusCode;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use json::{Value, Writer};
use rustls::server::ParsedCertificate;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::databases::request_id;
use super::principals::{Caller, Definition, date, future, refuse_unknown, required, text, write_permissions};
use crate::bridge::Pool;
use crate::certificates::certificate::{Certificate, Thumbprint, TrustedThumbprint};
use crate::certificates::files::{self, Password};
use crate::certificates::issuing::Issued;
use crate::certificates::replacement::{Replacement, ReplacementError};
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::network::tls::Tls;
use crate::node::Node;
use crate::routing::exchange::Exchange;

/// How long a certificate is valid if the request does not say it.
const VALIDITY: Duration = Duration::from_secs(5 * 365 * 24 * 60 * 60);

/// What clients show of the certificate of the server itself.
const OWN_NAME: &str = "Server Certificate";
const OWN_CLEARANCE: &str = "ClusterNode";

/// A certificate as answers have it.
struct Listed {
    name: String,
    clearance: &'static str,
    rights: Option<Rights>,
    /// DER in base64.
    text: String,
    certificate: Certificate,
}

impl Listed {
    /// `None` if it cannot be read.
    fn registered(registered: RegisteredCertificate) -> Option<Listed> {
        let certificate = Certificate::parse(&BASE64.decode(registered.certificate.as_bytes()).ok()?)?;
        let RegisteredCertificate { name, rights, certificate: text } = registered;
        Some(Listed { name, clearance: rights.clearance.wire_name(), rights: Some(rights), text, certificate })
    }

    fn own(tls: &Tls) -> Listed {
        let current = tls.current();
        Listed {
            name: OWN_NAME.to_owned(),
            clearance: OWN_CLEARANCE,
            rights: None,
            text: BASE64.encode(&current.own),
            certificate: current.certificate.clone(),
        }
    }

    fn write(&self, json: &mut Writer<'_>, is_whole: bool) {
        json.name("Name").string(&self.name).name("Thumbprint").string(&self.certificate.thumbprint().to_string());
        json.name("SecurityClearance").string(self.clearance);
        write_permissions(json, self.rights.as_ref());
        json.name("NotAfter").string(&seconds(self.certificate.not_after()));
        json.name("NotBefore").string(&seconds(self.certificate.not_before()));
        json.name("CollectionSecondaryKeys").array(|_| {}).name("CollectionPrimaryKey").string("");
        json.name("PublicKeyPinningHash").string(&BASE64.encode(self.certificate.public_key_hash()));
        if is_whole {
            json.name("Certificate").string(&self.text);
        }
    }
}

/// Seconds since 1970 as clients read dates.
fn seconds(seconds: i64) -> String {
    let since = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
    date(UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH))
}

/// GET `/certificates/whoami`: the caller's certificate or API key, and its rights; 204 if it has none.
pub(crate) fn whoami(exchange: &Exchange) -> Result<Reply> {
    if let Some(key) = &exchange.peer.key {
        let key = exchange.node.databases.principal::<ApiKey>(&ApiKey::id(&key.name))?;
        return Ok(key.map_or_else(|| reply::empty(StatusCode::NO_CONTENT), |key| whoami_with(&key)));
    }
    let none = || Ok(reply::empty(StatusCode::NO_CONTENT));
    let (Some(tls), Some(certificate)) = (&exchange.node.tls, &exchange.peer.certificate) else { return none() };
    let thumbprint = certificate.thumbprint();
    let listed = if tls.current().certificate.thumbprint() == thumbprint {
        Some(Listed::own(tls))
    } else if TrustedThumbprint::contains(tls.admins(), thumbprint) {
        Some(Listed {
            name: certificate.subject().to_owned(),
            clearance: Clearance::ClusterAdmin.wire_name(),
            rights: None,
            text: String::new(),
            certificate: certificate.clone(),
        })
    } else {
        // A renewed certificate has the name and the rights of the registered one with its key.
        let registered = tls.registry.registered(certificate);
        let id = registered.map(|registered| registered.certificate.thumbprint().to_string());
        id.map(|id| exchange.node.databases.principal(&id)).transpose()?.flatten().and_then(Listed::registered)
    };
    let Some(listed) = listed else { return none() };
    Ok(reply::object(StatusCode::OK, |json| {
        listed.write(json, false);
        json.name("HasTwoFactor").bool(false).name("TwoFactorExpirationDate").null();
    }))
}

fn whoami_with(key: &ApiKey) -> Reply {
    reply::object(StatusCode::OK, |json| {
        json.name("Name").string(&key.name).name("Thumbprint").null();
        json.name("SecurityClearance").string(key.rights.clearance.wire_name());
        write_permissions(json, Some(&key.rights));
        json.name("NotAfter").optional_string(key.expires.map(date).as_deref());
        json.name("HasTwoFactor").bool(false).name("TwoFactorExpirationDate").null();
    })
}

/// GET `/admin/certificates`: `start`, `pageSize`; or one by `thumbprint`, 404 if there is none; or by `name`. With `metadataOnly=true`
/// without the certificates themselves.
pub(crate) async fn list(exchange: Exchange) -> Result<Reply> {
    let query = exchange.query();
    let (start, count) = (query.page_start()?, query.page_size()?);
    let is_whole = !query.is_true("metadataOnly")?;
    let thumbprint = query.get_nonempty("thumbprint").map(|thumbprint| thumbprint.to_ascii_uppercase());
    let name = query.get_nonempty("name").map(std::borrow::Cow::into_owned);
    let node = exchange.node.clone();
    let read = move || {
        let own = node.tls.as_ref().map(Listed::own);
        let stored = node.databases.principals::<RegisteredCertificate>()?;
        let registered = stored.into_iter().filter_map(|(_, registered)| Listed::registered(registered));
        let is_asked = |listed: &Listed| {
            let of_listed = || listed.certificate.thumbprint().to_string();
            thumbprint.as_ref().is_none_or(|asked| *asked == of_listed())
                && name.as_ref().is_none_or(|asked| asked.eq_ignore_ascii_case(&listed.name))
        };
        let asked: Vec<Listed> = own.into_iter().chain(registered).filter(is_asked).collect();
        if asked.is_empty() && thumbprint.is_some() {
            return Ok(reply::empty(StatusCode::NOT_FOUND));
        }
        let skipped = usize::try_from(start).unwrap_or(usize::MAX);
        let page = asked.iter().skip(skipped).take(usize::try_from(count).unwrap_or(usize::MAX));
        Ok(reply::object(StatusCode::OK, |json| {
            json.name("Results").array(|json| {
                for listed in page {
                    json.object(|json| listed.write(json, is_whole));
                }
            });
            let own = node.tls.as_ref().map(|tls| tls.current().certificate.thumbprint().to_string());
            match own {
                Some(thumbprint) => json.name("LoadedServerCert").string(&thumbprint),
                None => json.name("LoadedServerCert").null(),
            };
            json.name("WellKnownAdminCerts").array(|json| {
                for thumbprint in node.tls.iter().flat_map(Tls::admins) {
                    json.string(&format!("{thumbprint:?}"));
                }
            });
            json.name("WellKnownIssuers").array(|_| {});
        }))
    };
    exchange.node.bridge.run(Pool::Short, read).await
}

/// What a body says of a certificate that is to be registered.
fn parse(body: &Value) -> Result<(Definition, Password)> {
    let definition = Definition::parse::<RegisteredCertificate>(body)?;
    if text(body, "TwoFactorAuthenticationKey")?.is_some() {
        return Err(Error::NotSupported {
            form: "two-factor authentication ('TwoFactorAuthenticationKey')".to_owned(),
        });
    }
    Ok((definition, Password(text(body, "Password")?.unwrap_or_default().to_owned())))
}

/// POST `/admin/certificates`: body `{"Name","SecurityClearance","Permissions","Password","NotAfter"}`.
///
/// The server makes a key pair, registers its certificate, and answers with both in a ZIP file: `NAME.pfx` with the password, `NAME.crt`
/// and `NAME.key` in PEM. It does not keep the key. A request that is sent again makes another pair: the key of the first one is gone.
pub(crate) async fn create(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let (Definition { name, rights }, password) = parse(&body)?;
    let now = SystemTime::now();
    let not_after = future(&body, "NotAfter", now)?.unwrap_or(now + VALIDITY);
    let caller = Caller::of(&exchange)?;
    let node = exchange.node.clone();
    let make = move || {
        let refused = |error: crate::IssueError| Error::Argument(error.to_string());
        let issued = Issued::client(&name, not_after).map_err(refused)?;
        let (file_name, pfx) = (file_name(&name), issued.pfx(&password.0).map_err(refused)?);
        let key = issued.key_pem();
        let archive = zip(&[
            (format!("{file_name}.pfx"), &pfx),
            (format!("{file_name}.crt"), issued.certificate_pem().as_bytes()),
            (format!("{file_name}.key"), key.as_bytes()),
        ])?;
        let registered = RegisteredCertificate { name, rights, certificate: BASE64.encode(issued.der()) };
        change(caller, &node, "put certificate", &issued.thumbprint().to_string(), None, |_| Ok(Some(registered)))?;
        Ok((file_name, archive))
    };
    let (file_name, archive) = exchange.node.bridge.run(Pool::Short, make).await?;
    let mut reply = reply::ok(archive);
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    if let Ok(disposition) = HeaderValue::try_from(format!("attachment; filename={file_name}.zip")) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    Ok(reply)
}

/// The name of a certificate as that of a file: letters, digits, `-`, `_` and `.` of ASCII.
fn file_name(name: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let plain: String = name.chars().map(|letter| if is_plain(&letter) { letter } else { '_' }).collect();
    let plain = plain.trim_start_matches('.');
    if plain.is_empty() { "certificate".to_owned() } else { plain.to_owned() }
}

/// Files in a ZIP file, not compressed: keys and certificates are random.
fn zip(files: &[(String, &[u8])]) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options =
        SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).unix_permissions(0o600);
    let write = || {
        for (name, bytes) in files {
            archive.start_file(name.as_str(), options)?;
            archive.write_all(bytes)?;
        }
        archive.finish_into_readable()
    };
    let archive = write().map_err(|error: zip::result::ZipError| Error::Argument(error.to_string()))?;
    Ok(archive.into_inner().into_inner())
}

/// PUT `/admin/certificates`: body `{"Name","Certificate","SecurityClearance","Permissions","Password"}`, the certificate as DER, PEM or
/// PFX in base64. 201.
pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let (Definition { name, rights }, password) = parse(&body)?;
    let certificate = required(&body, "Certificate")?.to_owned();
    let caller = Caller::of(&exchange)?;
    let (node, request_id) = (exchange.node.clone(), request_id(&exchange));
    let register = move || {
        let der = read_certificate(&certificate, &password)?;
        let registered = RegisteredCertificate { name, rights, certificate: BASE64.encode(&der) };
        let thumbprint = Thumbprint::of(&der).to_string();
        change(caller, &node, "put certificate", &thumbprint, request_id.as_deref(), |_| Ok(Some(registered)))
    };
    exchange.node.bridge.run(Pool::Short, register).await?;
    Ok(reply::empty(StatusCode::CREATED))
}

fn read_base64(text: &str) -> Result<Vec<u8>> {
    let text: String = text.split_ascii_whitespace().collect();
    let refused = "Unable to load the provided certificate: 'Certificate' is not in base64";
    BASE64.decode(text.as_bytes()).map_err(|_| Error::Argument(refused.to_owned()))
}

fn read_certificate(text: &str, password: &Password) -> Result<Vec<u8>> {
    let refused = |reason: &str| Error::Argument(format!("Unable to load the provided certificate: {reason}"));
    let bytes = read_base64(text)?;
    let der = files::certificate_in(&bytes, password).map_err(|error| refused(&error))?;
    if Certificate::parse(&der).is_none() {
        return Err(refused("it is not a certificate in DER, PEM or PFX"));
    }
    // What the handshake does with it, where the client would learn no reason: of X.509 version 1, for example.
    if let Err(error) = ParsedCertificate::try_from(&der) {
        return Err(refused(&format!(
            "no client can connect with it ({error}). Make one of X.509 version 3, with 'rookery cert client' for example"
        )));
    }
    Ok(der.to_vec())
}

/// DELETE `/admin/certificates`: `thumbprint`. 204, also if there is none.
pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let thumbprint = exchange.required("thumbprint")?.to_ascii_uppercase();
    let caller = Caller::of(&exchange)?;
    let own = exchange.peer.certificate.as_ref().map(|certificate| certificate.thumbprint().to_string());
    if own.as_ref() == Some(&thumbprint) {
        return Err(Error::InvalidOperation(format!(
            "Cannot delete the certificate '{thumbprint}': it is the client certificate of this connection"
        )));
    }
    let (node, request_id) = (exchange.node.clone(), request_id(&exchange));
    let delete = move || change(caller, &node, "delete certificate", &thumbprint, request_id.as_deref(), |_| Ok(None));
    exchange.node.bridge.run(Pool::Short, delete).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// POST `/admin/certificates/edit`: body `{"Thumbprint","Name","SecurityClearance","Permissions"}`. 204. Connections with the certificate
/// are closed; the next ones have the new rights.
pub(crate) async fn edit(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let thumbprint = required(&body, "Thumbprint")?.to_ascii_uppercase();
    let (Definition { name, rights }, _) = parse(&body)?;
    let caller = Caller::of(&exchange)?;
    let (node, request_id) = (exchange.node.clone(), request_id(&exchange));
    let edit = move || {
        change(caller, &node, "edit certificate", &thumbprint, request_id.as_deref(), |before| {
            let before = before.ok_or_else(|| {
                let shown: String = thumbprint.chars().take(THUMBPRINT_LENGTH_SHOWN).collect();
                Error::InvalidOperation(format!(
                    "Cannot edit permissions for certificate with thumbprint '{shown}'. It doesn't exist in the cluster."
                ))
            })?;
            Ok(Some(RegisteredCertificate { name, rights, ..before }))
        })
    };
    exchange.node.bridge.run(Pool::Short, edit).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// POST `/admin/certificates/replace-cluster-cert`: body `{"Certificate","Password"}`, a PFX file in base64. 204. The server uses the
/// certificate for new connections and keeps it in its file. `replaceImmediately` means nothing: there is
/// no other node to wait for.
pub(crate) async fn replace_own(mut exchange: Exchange) -> Result<Reply> {
    exchange.query().is_true("replaceImmediately")?;
    let body = exchange.read_object().await?;
    refuse_unknown(&body, &["Certificate", "Password"], "certificate of the server")?;
    let pfx = read_base64(required(&body, "Certificate")?)?;
    let password = Password(text(&body, "Password")?.unwrap_or_default().to_owned());
    Caller::of(&exchange)?;
    let node = exchange.node.clone();
    let replace = move || {
        let Some(tls) = &node.tls else { return Ok(()) };
        let replaced = Replacement::read(&pfx, &password)
            .and_then(|replacement| tls.replace(&replacement, SystemTime::now()).map(|()| replacement));
        match replaced {
            Ok(replacement) => {
                tracing::info!(certificate = %replacement.certificate(), "a cluster admin replaced the server's certificate");
                Ok(())
            }
            Err(error @ ReplacementError::Unusable(_)) => Err(Error::Argument(error.to_string())),
            Err(error) => Err(Error::InvalidOperation(error.to_string())),
        }
    };
    exchange.node.bridge.run(Pool::Short, replace).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// Characters of a thumbprint that a refusal repeats: those of SHA-256 in hexadecimal.
const THUMBPRINT_LENGTH_SHOWN: usize = 64;

fn change(
    caller: Caller,
    node: &Arc<Node>,
    operation: &str,
    thumbprint: &str,
    request_id: Option<&str>,
    change: impl FnOnce(Option<RegisteredCertificate>) -> Result<Option<RegisteredCertificate>>,
) -> Result<()> {
    caller.change(node, operation, thumbprint, request_id, change, |registered: &RegisteredCertificate| {
        let der = BASE64.decode(registered.certificate.as_bytes()).ok()?;
        Some(*Certificate::parse(&der)?.public_key_hash())
    })
}
