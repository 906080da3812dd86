//! What is not safe about the present set-up: findings, each with what to do about it. [`findings`] decides from [`Facts`] alone; the
//! handler (`handlers/safety.rs`) collects them. `rookery safety` and the studio show the same list.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use database::{ApiKey, Clearance};

use crate::messages::date;

/// How grave a finding is; the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Strangers can get in, or clients are shut out.
    Danger,
    /// Something is missing that a server with real data should have, or will fail soon.
    Warning,
    /// Worth a look.
    Notice,
}

impl Severity {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Severity::Danger => "Danger",
            Severity::Warning => "Warning",
            Severity::Notice => "Notice",
        }
    }
}

/// Something that is not safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Which kind it is: `http-reachable`. A kind may be found of several keys or certificates.
    pub(crate) id: &'static str,
    pub(crate) severity: Severity,
    /// The name of the key or certificate that it is about.
    pub(crate) subject: Option<String>,
    /// A sentence.
    pub(crate) title: String,
    /// Sentences: what to do about it.
    pub(crate) advice: String,
    /// The section of the manual: `security.md#https`.
    pub(crate) page: &'static str,
}

/// What the findings follow from.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) now: SystemTime,
    /// `None`: the server speaks HTTP.
    pub(crate) https: Option<Https>,
    /// An address that it listens on and that other machines may reach.
    pub(crate) reachable: Option<SocketAddr>,
    /// The settings say that clients call it by another URL: there is a proxy.
    pub(crate) has_public_url: bool,
    pub(crate) has_audit_log: bool,
    /// The server runs as the user that may do everything on its machine.
    pub(crate) is_root: bool,
    /// Names of databases on disk that no enabled task backs up.
    pub(crate) without_backup: Vec<String>,
    /// Databases with tasks whose last backup failed: database, task, reason.
    pub(crate) failed_backups: Vec<(String, String, String)>,
}

/// What there is with HTTPS alone.
#[derive(Debug)]
pub(crate) struct Https {
    /// When the server's certificate expires, in seconds since 1970.
    pub(crate) expires: i64,
    /// Every user of the machine may read its private key.
    pub(crate) is_key_open: bool,
    /// Names of registered certificates, and when they expire, in seconds since 1970.
    pub(crate) certificates: Vec<(String, i64)>,
    /// With the moments of their last use.
    pub(crate) keys: Vec<ApiKey>,
}

/// How long before its end a certificate or key is a finding.
const SOON: Duration = Duration::from_secs(30 * DAY);
/// How long a key is not used before it is a finding.
const UNUSED: Duration = Duration::from_secs(30 * DAY);
const DAY: u64 = 24 * 60 * 60;

/// All findings, the gravest first.
pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    match &facts.https {
        None => found.push(of_http(facts)),
        Some(https) => {
            found.extend(of_server_certificate(https, facts.now));
            if !facts.has_audit_log {
                found.push(Finding {
                    id: "no-audit-log",
                    severity: Severity::Warning,
                    subject: None,
                    title: "There is no audit log".to_owned(),
                    advice: "Nothing records who was refused and who changed databases, keys and certificates. Set \
                             Security.AuditLog.FolderPath to a folder, and restart the server."
                        .to_owned(),
                    page: "security.md#audit-log",
                });
            }
            found.extend(https.certificates.iter().filter_map(|(name, end)| of_certificate(name, *end, facts.now)));
            found.extend(https.keys.iter().filter_map(|key| of_key(key, facts.now)));
        }
    }
    found.extend(of_backups(facts));
    if facts.is_root {
        found.push(Finding {
            id: "root",
            severity: Severity::Notice,
            subject: None,
            title: "The server runs as root".to_owned(),
            advice: "Whoever finds a fault in the server gets the whole machine. Run it as a user of its own, which owns nothing but the \
                     data folder."
                .to_owned(),
            page: "deploying.md#debian-and-ubuntu",
        });
    }
    // Stable: those of one severity keep their order.
    found.sort_by_key(|finding| finding.severity);
    found
}

/// Databases that one finding names.
const NAMES_SHOWN: usize = 5;

fn of_backups(facts: &Facts) -> Vec<Finding> {
    let failed = facts.failed_backups.iter().map(|(database, task, reason)| Finding {
        id: "backup-failed",
        severity: Severity::Warning,
        subject: Some(database.clone()),
        title: format!("The last backup of the database '{database}' by the task '{task}' failed"),
        advice: format!("{reason}. The task tries again by itself; repair what is wrong, or change the task."),
        page: "backup.md#by-the-clock",
    });
    let mut found: Vec<Finding> = failed.collect();
    if !facts.without_backup.is_empty() {
        let count = facts.without_backup.len();
        let mut names = facts.without_backup[..count.min(NAMES_SHOWN)].join(", ");
        if count > NAMES_SHOWN {
            names += &format!(" and {} more", count - NAMES_SHOWN);
        }
        found.push(Finding {
            id: "no-backup",
            severity: Severity::Warning,
            subject: None,
            title: format!("No task backs up: {names}"),
            advice:
                "Make a backup task for each database, or one for all of them, to a place that is not on this machine."
                    .to_owned(),
            page: "backup.md#by-the-clock",
        });
    }
    found
}

fn of_http(facts: &Facts) -> Finding {
    const CERTIFICATES: &str =
        "Make certificates with 'rookery cert create HOST', and start the server with them and https:// in ServerUrl";
    let finding = |id, severity, title: String, advice: String| Finding {
        id,
        severity,
        subject: None,
        title,
        advice,
        page: "security.md#https",
    };
    match facts.reachable {
        Some(address) => finding(
            "http-reachable",
            Severity::Danger,
            format!("Anyone who reaches {address} can read and change everything"),
            format!(
                "The server speaks HTTP on an address that other machines may reach, as Security.UnsecuredAccessAllowed permits. {CERTIFICATES}."
            ),
        ),
        None if facts.has_public_url => finding(
            "http-behind-proxy",
            Severity::Warning,
            "Everyone whom the proxy lets through can read and change everything".to_owned(),
            format!(
                "The server speaks HTTP, and PublicServerUrl names another address: it cannot tell the clients of the proxy apart. Have \
                 the proxy ask for certificates or passwords. Or {}{}.",
                CERTIFICATES[..1].to_lowercase(),
                &CERTIFICATES[1..]
            ),
        ),
        None => finding(
            "http-loopback",
            Severity::Notice,
            "Every user and program of this machine can read and change everything".to_owned(),
            format!(
                "The server speaks HTTP, on addresses of this machine alone. That is fine for development. For more: {}{}.",
                CERTIFICATES[..1].to_lowercase(),
                &CERTIFICATES[1..]
            ),
        ),
    }
}

fn of_server_certificate(https: &Https, now: SystemTime) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(end) = End::of(https.expires, now) {
        found.push(Finding {
            id: "server-certificate-expires",
            severity: if end.is_over { Severity::Danger } else { Severity::Warning },
            subject: None,
            title: format!("The certificate of the server {}", end.text),
            advice: "Clients refuse it from then on. Renew it: 'rookery cert renew', or as your authority does. The server reads changed files \
                     within a minute, without a restart."
                .to_owned(),
            page: "security.md#renewal",
        });
    }
    if https.is_key_open {
        found.push(Finding {
            id: "open-private-key",
            severity: Severity::Warning,
            subject: None,
            title: "Every user of the machine can read the private key of the server".to_owned(),
            advice: "With it others can pass for this server, and have the rights of a cluster admin. Run chmod 600 on the file that the \
                     log of the start names, and renew the certificate if somebody may have read it."
                .to_owned(),
            page: "security.md#https",
        });
    }
    found
}

fn of_certificate(name: &str, end: i64, now: SystemTime) -> Option<Finding> {
    let end = End::of(end, now)?;
    Some(Finding {
        id: "certificate-expires",
        severity: Severity::Notice,
        subject: Some(name.to_owned()),
        title: format!("The certificate '{name}' of a client {}", end.text),
        advice: if end.is_over {
            "It is refused. Remove its registration, and register a new one if it is still needed.".to_owned()
        } else {
            "Its client is refused from then on. Register a new certificate for it.".to_owned()
        },
        page: "security.md#who-gets-in",
    })
}

/// The gravest finding of a key, if there is one.
fn of_key(key: &ApiKey, now: SystemTime) -> Option<Finding> {
    let name = &key.name;
    let finding = |id, severity, title: String, advice: &str| {
        let (subject, advice) = (Some(name.clone()), advice.to_owned());
        Some(Finding { id, severity, subject, title, advice, page: "security.md#api-keys" })
    };
    let is_powerful = key.rights.clearance != Clearance::ValidUser;
    let age = |moment: SystemTime| now.duration_since(moment).unwrap_or_default();
    match key.expires {
        Some(end) if end <= now => {
            return finding(
                "key-expired",
                Severity::Notice,
                format!("The API key '{name}' has expired at {}", date::wire(end)),
                "Requests with it are refused. Revoke it.",
            );
        }
        None if is_powerful => {
            let what = if key.rights.clearance == Clearance::ClusterAdmin { "a cluster admin" } else { "an operator" };
            return finding(
                "powerful-key-without-expiry",
                Severity::Warning,
                format!("The API key '{name}' of {what} never expires"),
                "Who finds a copy of it years from now may do everything. Give it an expiry, or replace it by a key with rights on single \
                 databases.",
            );
        }
        _ => {}
    }
    match key.last_used {
        None if age(key.created) >= UNUSED => finding(
            "key-never-used",
            Severity::Notice,
            format!("The API key '{name}' was never used"),
            "It is more than 30 days old. Revoke it if nobody needs it.",
        ),
        Some(last) if is_powerful && age(last) >= UNUSED => finding(
            "powerful-key-unused",
            Severity::Notice,
            format!("The API key '{name}' was last used at {}", date::wire(last)),
            "It may do much and nobody has used it for 30 days. Revoke it if nobody needs it.",
        ),
        _ => None,
    }
}

/// The end of a certificate that is near or over.
struct End {
    is_over: bool,
    /// `has expired at ..` or `expires in 3 days, at ..`
    text: String,
}

impl End {
    /// * `seconds`: since 1970.
    fn of(seconds: i64, now: SystemTime) -> Option<End> {
        let end = UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).unwrap_or_default()))?;
        match end.duration_since(now) {
            Err(_) => Some(End { is_over: true, text: format!("has expired at {}", date::wire(end)) }),
            Ok(left) if left < SOON => {
                let days = left.as_secs() / DAY;
                let noun = if days == 1 { "day" } else { "days" };
                Some(End { is_over: false, text: format!("expires in {days} {noun}, at {}", date::wire(end)) })
            }
            Ok(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use database::Rights;

    use super::*;

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(20_000 * DAY)
    }

    /// Seconds since 1970, a number of days after `now`.
    fn days(days: i64) -> i64 {
        (20_000 + days) * 24 * 60 * 60
    }

    fn secured(keys: Vec<ApiKey>) -> Facts {
        let https = Https { expires: days(300), is_key_open: false, certificates: Vec::new(), keys };
        Facts {
            now: now(),
            https: Some(https),
            reachable: Some("10.0.0.1:443".parse().unwrap()),
            has_public_url: false,
            has_audit_log: true,
            is_root: false,
            without_backup: Vec::new(),
            failed_backups: Vec::new(),
        }
    }

    fn key(clearance: Clearance, expires: Option<i64>, created: i64, last_used: Option<i64>) -> ApiKey {
        let moment = |count: i64| UNIX_EPOCH + Duration::from_secs(days(count).unsigned_abs());
        ApiKey {
            name: "app".to_owned(),
            rights: Rights { clearance, permissions: Vec::new() },
            hash: String::new(),
            created: moment(created),
            expires: expires.map(moment),
            last_used: last_used.map(moment),
        }
    }

    /// True if the manual has the section that a finding leads to.
    fn has_section(page: &str) -> bool {
        let (file, section) = page.split_once('#').unwrap();
        let text = match file {
            "security.md" => include_str!("../../../../docs/security.md"),
            "backup.md" => include_str!("../../../../docs/backup.md"),
            "deploying.md" => include_str!("../../../../docs/deploying.md"),
            "operate.md" => include_str!("../../../../docs/operate.md"),
            _ => return false,
        };
        let headings = text.lines().filter(|line| line.starts_with('#'));
        headings.into_iter().any(|line| line.trim_start_matches(['#', ' ']).to_lowercase().replace(' ', "-") == section)
    }

    #[track_caller]
    fn check(facts: &Facts, expected: &[(&str, Severity)]) {
        let found = findings(facts);
        assert!(found.iter().all(|finding| has_section(finding.page)), "{found:?}");
        let found: Vec<_> = found.iter().map(|finding| (finding.id, finding.severity)).collect();
        assert_eq!(found, expected, "{facts:?}");
    }

    #[test]
    fn a_server_with_everything_in_order_has_no_finding() {
        check(&secured(Vec::new()), &[]);
        check(&secured(vec![key(Clearance::Operator, Some(90), -5, None)]), &[]);
        check(&secured(vec![key(Clearance::ValidUser, None, -100, Some(-99))]), &[]);
    }

    #[test]
    fn databases_without_backups_are_named_up_to_a_number() {
        let names = |count: usize| (0..count).map(|number| format!("db{number}")).collect();
        let without = |count| Facts { without_backup: names(count), ..secured(Vec::new()) };
        check(&without(1), &[("no-backup", Severity::Warning)]);
        assert!(findings(&without(7))[0].title.ends_with("db4 and 2 more"));
        let failed = vec![("db".to_owned(), "nightly".to_owned(), "No room".to_owned())];
        check(&Facts { failed_backups: failed, ..secured(Vec::new()) }, &[("backup-failed", Severity::Warning)]);
    }

    #[test]
    fn http_is_as_grave_as_it_can_be_reached() {
        let http = |reachable: Option<&str>, has_public_url| Facts {
            https: None,
            reachable: reachable.map(|address| address.parse().unwrap()),
            has_public_url,
            // Without HTTPS all clients look alike: there is nothing to record.
            has_audit_log: false,
            ..secured(Vec::new())
        };
        check(&http(Some("10.0.0.1:80"), true), &[("http-reachable", Severity::Danger)]);
        check(&http(None, true), &[("http-behind-proxy", Severity::Warning)]);
        check(&http(None, false), &[("http-loopback", Severity::Notice)]);
        let found = findings(&http(Some("10.0.0.1:80"), false));
        assert_eq!(found[0].title, "Anyone who reaches 10.0.0.1:80 can read and change everything");
        assert!(findings(&http(None, false))[0].advice.contains("For more: make certificates with"));
    }

    #[test]
    fn certificates_are_told_of_before_they_end() {
        let with = |server: i64, client: i64| {
            let mut facts = secured(Vec::new());
            let https = facts.https.as_mut().unwrap();
            (https.expires, https.certificates) = (days(server), vec![("ann".to_owned(), days(client))]);
            facts
        };
        check(&with(31, 31), &[]);
        check(&with(29, 31), &[("server-certificate-expires", Severity::Warning)]);
        check(&with(-1, 31), &[("server-certificate-expires", Severity::Danger)]);
        check(&with(31, 29), &[("certificate-expires", Severity::Notice)]);
        check(&with(31, -1), &[("certificate-expires", Severity::Notice)]);
        assert!(
            findings(&with(1, 31))[0]
                .title
                .starts_with("The certificate of the server expires in 1 day, at 2024-10-05")
        );
        let of_client = &findings(&with(31, 2))[0];
        assert_eq!(of_client.subject.as_deref(), Some("ann"));
        assert!(of_client.title.starts_with("The certificate 'ann' of a client expires in 2 days"));
    }

    #[test]
    fn a_key_has_its_gravest_finding() {
        use Clearance::{ClusterAdmin, Operator, ValidUser};
        for (key, expected) in [
            (key(ClusterAdmin, None, -100, None), ("powerful-key-without-expiry", Severity::Warning)),
            (key(Operator, None, -1, Some(0)), ("powerful-key-without-expiry", Severity::Warning)),
            (key(Operator, Some(-1), -100, None), ("key-expired", Severity::Notice)),
            (key(ValidUser, None, -31, None), ("key-never-used", Severity::Notice)),
            (key(Operator, Some(50), -100, Some(-31)), ("powerful-key-unused", Severity::Notice)),
        ] {
            check(&secured(vec![key]), &[expected]);
        }
    }

    #[test]
    fn the_gravest_come_first() {
        let mut facts = secured(vec![key(Clearance::ValidUser, None, -31, None)]);
        (facts.has_audit_log, facts.is_root) = (false, true);
        let https = facts.https.as_mut().unwrap();
        (https.is_key_open, https.expires) = (true, days(-1));
        check(
            &facts,
            &[
                ("server-certificate-expires", Severity::Danger),
                ("open-private-key", Severity::Warning),
                ("no-audit-log", Severity::Warning),
                ("key-never-used", Severity::Notice),
                ("root", Severity::Notice),
            ],
        );
    }
}
