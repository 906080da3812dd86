//! `GET /admin/safety`: what is not safe about the present set-up (`monitoring/safety.rs`).

use std::os::unix::fs::MetadataExt;
use std::time::SystemTime;

use data_encoding::BASE64;
use database::backups::BackupTask;
use database::{ApiKey, Databases, RegisteredCertificate};
use hyper::StatusCode;

use crate::bridge::Pool;
use crate::certificates::certificate::Certificate;
use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::monitoring::safety::{Facts, Https, findings};
use crate::network::tls::Tls;
use crate::node::Node;
use crate::routing::exchange::Exchange;

/// GET `/admin/safety`: `{"Results":[{"Id","Severity","Subject","Title","Advice","Page"}]}`, the gravest first.
pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    let node = exchange.node.clone();
    let read = move || {
        let found = findings(&facts(&node, SystemTime::now())?);
        Ok(reply::object(StatusCode::OK, |json| {
            json.name("Results").array(|json| {
                for finding in &found {
                    json.object(|json| {
                        json.name("Id").string(finding.id).name("Severity").string(finding.severity.name());
                        json.name("Subject").optional_string(finding.subject.as_deref());
                        json.name("Title").string(&finding.title).name("Advice").string(&finding.advice);
                        json.name("Page").string(finding.page);
                    });
                }
            });
        }))
    };
    exchange.node.bridge.run(Pool::Short, read).await
}

fn facts(node: &Node, now: SystemTime) -> Result<Facts> {
    let mut facts = Facts {
        now,
        https: node.tls.as_ref().map(|tls| https(node, tls)).transpose()?,
        reachable: node.reachable,
        has_public_url: node.public_url.is_some(),
        has_audit_log: node.audit.is_some(),
        is_root: is_root(),
        without_backup: Vec::new(),
        failed_backups: Vec::new(),
    };
    note_backups(&node.databases, &mut facts)?;
    Ok(facts)
}

/// Notes the databases on disk that no enabled task backs up, and the backups that failed.
fn note_backups(databases: &Databases, facts: &mut Facts) -> Result<()> {
    for name in databases.names() {
        // It may be deleted meanwhile. What is in memory is meant to be lost.
        let Ok(record) = databases.record(&name) else { continue };
        let is_in_memory = record.setting("RunInMemory").is_some_and(|given| given.eq_ignore_ascii_case("true"));
        if databases.is_in_memory() || is_in_memory {
            continue;
        }
        let tasks = BackupTask::of_record(&record.value);
        for task in tasks.iter().filter(|task| !task.is_disabled) {
            if let Some((reason, _)) = databases.backup_status(&name, task.id)?.and_then(|status| status.error) {
                facts.failed_backups.push((name.clone(), task.name.clone(), reason));
            }
        }
        if tasks.iter().all(|task| task.is_disabled) {
            facts.without_backup.push(name);
        }
    }
    Ok(())
}

fn https(node: &Node, tls: &Tls) -> Result<Https> {
    let certificates =
        node.databases.principals::<RegisteredCertificate>()?.into_iter().filter_map(|(_, registered)| {
            let certificate = Certificate::parse(&BASE64.decode(registered.certificate.as_bytes()).ok()?)?;
            Some((registered.name, certificate.not_after()))
        });
    let keys = node.databases.principals::<ApiKey>()?.into_iter().map(|(_, key)| {
        let last_used = tls.registry.last_use(&key).max(key.last_used);
        ApiKey { last_used, ..key }
    });
    Ok(Https {
        expires: tls.expires(),
        is_key_open: tls.has_open_key(),
        certificates: certificates.collect(),
        keys: keys.collect(),
    })
}

/// True if this process may do everything on its machine. False if the system does not say.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
