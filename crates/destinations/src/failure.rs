//! Why a store refused or did not answer, as a sentence that says what to do.
//!
//! The libraries' errors are not passed on: they may have addresses with signatures, and repeat what a store sent. What is taken out of
//! them is the status, the code and the first line of the message of the store; or the innermost cause where no answer came.

use std::error::Error as StdError;

use database::backups::DestinationKind;
use object_store::Error;

use crate::addresses::REFUSED_ADDRESS;
use crate::limits::MESSAGE_SIZE_MAX;
use crate::secrets::Secrets;

/// What is known of a failure.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The status of the answer.
    pub status: Option<u16>,
    /// The code in the answer: `NoSuchBucket`.
    code: String,
    /// What the answer says about it, or the innermost cause.
    message: String,
    is_missing: bool,
}

impl Failure {
    pub fn of(error: &Error) -> Failure {
        let mut text = error.to_string();
        let mut innermost = text.clone();
        let mut source = error.source();
        while let Some(error) = source {
            innermost = error.to_string();
            text.push('\n');
            text.push_str(&innermost);
            source = error.source();
        }
        let status = after(&text, "status code: ").and_then(|rest| rest.get(..3)?.parse().ok());
        let is_redirect = text.contains("redirect without LOCATION");
        let status = if is_redirect { Some(301) } else { status };
        let json = |name: &str| after(&text, &format!("\"{name}\":")).and_then(|rest| rest.split('"').nth(1));
        let code = element(&text, "Code").or_else(|| json("error"));
        let message = element(&text, "Message").or_else(|| json("error_description"));
        let message = match (message, status) {
            (Some(message), _) => message,
            (None, Some(_)) => "",
            (None, None) => &innermost,
        };
        let code = if is_redirect { "PermanentRedirect" } else { code.unwrap_or_default() };
        Failure {
            status,
            code: code.to_owned(),
            message: shortened(message),
            is_missing: matches!(error, Error::NotFound { .. }),
        }
    }

    /// Whether a file is not there; the bucket is.
    pub fn is_missing_file(&self) -> bool {
        // Stores answer 404 about buckets and users, too. An answer to HEAD has no code.
        self.is_missing && ["", "NoSuchKey", "NoSuchUpload", "BlobNotFound"].contains(&self.code.as_str())
    }

    /// Whether the same request can never succeed.
    pub fn is_final(&self) -> bool {
        let is_refusal = |status: u16| (300..500).contains(&status) && ![408, 429].contains(&status);
        self.is_missing || self.status.is_some_and(|status| is_refusal(status) || [501, 507].contains(&status))
    }

    /// The sentence.
    pub fn reason(&self, kind: DestinationKind, secrets: &Secrets) -> String {
        let advice = self.advice(kind);
        if let (true, Some(status)) = (secrets.hides_answers(), self.status) {
            let status = format!("status {status}");
            return advice.map_or(status.clone(), |advice| format!("{advice} ({status})"));
        }
        let said = match (self.code.as_str(), self.message.as_str()) {
            ("", "") => self.status.map(|status| format!("status {status}")).unwrap_or_default(),
            ("", message) => message.to_owned(),
            (code, "") => code.to_owned(),
            (code, message) => format!("{code}: {message}"),
        };
        secrets.redact(&match (advice, said.as_str()) {
            (None, said) => said.to_owned(),
            (Some(advice), "") => advice.to_owned(),
            (Some(advice), said) => format!("{advice} ({said})"),
        })
    }

    fn advice(&self, kind: DestinationKind) -> Option<&'static str> {
        use DestinationKind::{Azure, GoogleCloud, Local, S3};
        let by_code = match self.code.as_str() {
            "InvalidAccessKeyId" | "UnrecognizedClientException" | "XAdminUserNotFound" => {
                Some("the access key is not known there. Correct 'AwsAccessKey' in 'S3Settings'")
            }
            "SignatureDoesNotMatch" => {
                Some("the secret key does not belong to the access key. Correct 'AwsSecretKey' in 'S3Settings'")
            }
            "InvalidToken" | "ExpiredToken" | "ExpiredTokenException" => Some(
                "the session token is not valid, or not any more. Renew the keys and 'AwsSessionToken' in 'S3Settings'",
            ),
            "RequestTimeTooSkewed" | "RequestExpired" | "RequestNotYetValid" => {
                Some("the clock of this machine differs from the store's. Set it, for example by NTP")
            }
            "NoSuchBucket" => Some("there is no such bucket. Create it, or correct 'BucketName'"),
            "ContainerNotFound" => Some("there is no such container. Create it, or correct 'StorageContainer'"),
            "InvalidBucketName" => Some("a bucket cannot have this name. Correct 'BucketName'"),
            "PermanentRedirect"
            | "TemporaryRedirect"
            | "AuthorizationHeaderMalformed"
            | "IllegalLocationConstraintException" => Some(
                "the bucket is in another region, or has another address. Correct 'AwsRegionName' or 'CustomServerUrl'",
            ),
            "QuotaExceeded" | "XMinioStorageFull" | "XMinioAdminBucketQuotaExceeded" | "InsufficientCapacity" => {
                Some(FULL)
            }
            "EntityTooLarge" => Some("the store does not take files of this size"),
            "InvalidPart" | "InvalidDigest" | "BadDigest" | "XAmzContentSHA256Mismatch" => {
                Some("what arrived is not what was sent. It is sent again with the next backup")
            }
            "invalid_grant" => Some(
                "Google does not accept the key. Correct 'GoogleCredentialsJson', or the clock of this machine if it is wrong",
            ),
            "AuthenticationFailed" | "AccessDenied" | "AuthorizationFailure" | "AuthorizationPermissionMismatch" => {
                match kind {
                    Azure if self.code == "AuthenticationFailed" => Some(
                        "Azure does not accept the credentials. Correct 'AccountKey' or 'SasToken', or the clock of this machine if it is wrong",
                    ),
                    // A wrong key in some stores, a machine that the account does not let in at Azure itself.
                    Azure if self.code == "AuthorizationFailure" => Some(
                        "Azure lets neither these credentials nor this machine in. Correct 'AccountKey' or 'SasToken', or the firewall of the account",
                    ),
                    _ => Some(DENIED),
                }
            }
            _ => None,
        };
        let is_about = |word: &str| self.message.contains(word);
        by_code.or(match self.status {
            Some(301 | 302 | 307 | 308) => Some("the bucket has another address. Correct 'AwsRegionName' or 'CustomServerUrl'"),
            Some(401) => Some(match kind {
                S3 => "the store does not accept the keys. Correct 'AwsAccessKey' and 'AwsSecretKey' in 'S3Settings'",
                Azure => "Azure does not accept the credentials. Correct 'AccountKey' or 'SasToken'",
                GoogleCloud | Local => "Google does not accept the key. Correct 'GoogleCredentialsJson'",
            }),
            Some(403) => Some(DENIED),
            Some(404) => Some("there is no such file, or no such bucket"),
            Some(412) => Some("the file was changed while it was read. Try again"),
            Some(413) => Some("the store does not take requests of this size"),
            Some(507) => Some(FULL),
            Some(429 | 503) => Some("the store is too busy. Try again later"),
            Some(500..) => Some("the store has a fault of its own. Try again later"),
            Some(_) => None,
            None if is_about("UnknownIssuer") || is_about("certificate") => {
                Some("its certificate is not trusted. Add its authority to those of this machine, or name its file in SSL_CERT_FILE")
            }
            None if is_about(REFUSED_ADDRESS) => Some("only operators may have backups go there. Give another address"),
            None if is_about("no answer within") => Some("the store stood still for too long. Look at the network, then try again"),
            None if is_about("dns error") || is_about("lookup address") => {
                Some("the host of the store is not known. Correct the address or the region, or look at the name server")
            }
            None => Some("the store cannot be reached. Look at the network and at the address in the settings"),
        })
    }
}

const FULL: &str =
    "the store has no room. Make room there, raise its quota, or let a 'RetentionPolicy' remove old backups";
const DENIED: &str = "the credentials do not allow it. Grant them to list, read, write and delete files of the bucket";

fn after<'t>(text: &'t str, what: &str) -> Option<&'t str> {
    text.find(what).map(|at| &text[at + what.len()..])
}

/// The text of the first XML element of this name.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = after(text, &format!("<{name}>"))?;
    rest.find("</").map(|end| &rest[..end])
}

/// The first line, shortened.
fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let end = (0..=line.len().min(MESSAGE_SIZE_MAX)).rev().find(|end| line.is_char_boundary(*end)).unwrap_or_default();
    line[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str) -> Failure {
        Failure::of(&Error::Generic { store: "S3", source: text.to_owned().into() })
    }

    #[track_caller]
    fn check(text: &str, kind: DestinationKind, expected: &str) {
        let reason = failure(text).reason(kind, &Secrets::default());
        assert!(reason.contains(expected), "{reason}");
    }

    #[test]
    fn a_reason_says_what_to_do() {
        use DestinationKind::{Azure, GoogleCloud, S3};
        let answer = |status: &str, code: &str| {
            format!(
                "Error performing PUT http://x/y?sig=zork in 1ms - Server returned non-2xx status code: {status}: <?xml?><Error><Code>{code}</Code><Message>Hm.</Message><StringToSign>zork</StringToSign></Error>"
            )
        };
        check(
            &answer("403 Forbidden", "InvalidAccessKeyId"),
            S3,
            "Correct 'AwsAccessKey' in 'S3Settings' (InvalidAccessKeyId: Hm.)",
        );
        check(&answer("403 Forbidden", "SignatureDoesNotMatch"), S3, "'AwsSecretKey'");
        check(&answer("403 Forbidden", "RequestTimeTooSkewed"), S3, "clock");
        check(&answer("404 Not Found", "NoSuchBucket"), S3, "Create it");
        check(&answer("403 Forbidden", "Zork"), S3, "do not allow it");
        check(&answer("403 Forbidden", "AuthenticationFailed"), Azure, "'SasToken'");
        check(&answer("403 Forbidden", "AuthorizationFailure"), Azure, "the firewall");
        check(&answer("403 Forbidden", "AuthorizationPermissionMismatch"), Azure, "do not allow it");
        check(&answer("507 Insufficient Storage", "Hm"), S3, "no room");
        check(
            r#"status code: 400 Bad Request: {"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#,
            GoogleCloud,
            "Invalid JWT",
        );
        check("invalid peer certificate: UnknownIssuer", S3, "SSL_CERT_FILE");
        check("Connection refused (os error 111)", S3, "cannot be reached");
    }

    #[test]
    fn what_a_store_repeats_stays_where_it_is() {
        let text = "Error performing PUT http://x/y?sig=zork - Server returned non-2xx status code: 403 Forbidden: <Error><Code>A</Code><StringToSign>zork</StringToSign></Error>";
        let failure = failure(text);
        assert!(!failure.reason(DestinationKind::S3, &Secrets::default()).contains("zork"));
        assert!(!format!("{failure:?}").contains("zork"));
    }

    #[test]
    fn who_may_not_choose_any_address_does_not_read_what_it_answers() {
        let text = "status code: 403 Forbidden: <Error><Code>inner code</Code><Message>inner words</Message></Error>";
        let secrets = Secrets::default().hiding_answers(true);
        let reason = failure(text).reason(DestinationKind::S3, &secrets);
        assert!(reason.contains("status 403") && !reason.contains("inner"), "{reason}");
        let reason = failure(REFUSED_ADDRESS).reason(DestinationKind::S3, &secrets);
        assert!(reason.contains("only operators"), "{reason}");
    }

    #[test]
    fn only_some_failures_pass() {
        assert!(failure("status code: 403 Forbidden").is_final());
        assert!(failure("status code: 507 Insufficient Storage").is_final());
        assert!(!failure("status code: 429 Too Many Requests").is_final());
        assert!(!failure("status code: 503 Slow Down").is_final());
        assert!(!failure("connection reset").is_final());
    }
}
