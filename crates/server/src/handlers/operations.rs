//! `/databases/{name}/operations`: what goes on in the background, by number.
//!
//! GET: all that are known; GET `next-operation-id`; GET `state`: `id`, 404 if unknown; POST `kill`: `id`, 204. The same for the server
//! itself at `/operations` and `/admin/operations/kill`.

use database::backups::{BackupResult, DestinationKind};
use database::compaction::CompactionReport;
use database::{Operation, OperationDetail, OperationStatus, Operations};
use hyper::StatusCode;

use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

pub(crate) fn next_id(exchange: &Exchange) -> Result<Reply> {
    Ok(id_reply(exchange, exchange.database().operations()))
}

pub(crate) fn server_next_id(exchange: &Exchange) -> Result<Reply> {
    Ok(id_reply(exchange, exchange.node.databases.operations()))
}

fn id_reply(exchange: &Exchange, operations: &Operations) -> Reply {
    reply::object(StatusCode::OK, |json| {
        json.name("Id").unsigned(operations.next_id()).name("NodeTag").string(exchange.node.databases.node_tag());
    })
}

/// GET `/databases/{name}/operations`: `{Results}`, the newest first. What was done with each document is left out.
pub(crate) fn list(exchange: &Exchange) -> Result<Reply> {
    let operations = exchange.database().operations().all();
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Results").array(|json| {
            for operation in operations.iter().rev() {
                json.object(|json| {
                    json.name("Id").unsigned(operation.id()).name("Description").string(operation.description());
                    json.name("Query").optional_string(operation.query());
                    json.name("StartTime").string(&operation.started_at().to_string());
                    let ended_at = operation.ended_at().map(|date| date.to_string());
                    json.name("EndTime").optional_string(ended_at.as_deref());
                    json.name("State").object(|json| write_with(json, operation, Details::LeftOut));
                });
            }
        });
    }))
}

pub(crate) fn state(exchange: &Exchange) -> Result<Reply> {
    Ok(state_reply(exchange.database().operations(), exchange.required_number("id")?))
}

/// The operations of the server are restores, which operators begin: others do not learn of them, since their results name databases,
/// folders and reasons.
pub(crate) fn server_state(exchange: &Exchange) -> Result<Reply> {
    if !exchange.peer.identity.is_operator() {
        return Ok(reply::empty(StatusCode::NOT_FOUND));
    }
    Ok(state_reply(exchange.node.databases.operations(), exchange.required_number("id")?))
}

fn state_reply(operations: &Operations, id: u64) -> Reply {
    match operations.get(id) {
        Some(operation) => reply::object(StatusCode::OK, |json| write(json, &operation)),
        None => reply::empty(StatusCode::NOT_FOUND),
    }
}

/// Whether a result says what was done with each document, if that was kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Details {
    Written,
    LeftOut,
}

/// Writes a state in the words of clients; the `$type` texts are those that .NET clients send on.
pub(crate) fn write(json: &mut json::Writer<'_>, operation: &Operation) {
    write_with(json, operation, Details::Written);
}

fn write_with(json: &mut json::Writer<'_>, operation: &Operation, details: Details) {
    json.name("$type").string("Raven.Client.Documents.Operations.OperationState, Raven.Client");
    match operation.progress() {
        // Of one that was killed or failed it tells what was done before.
        Some(progress) if !matches!(operation.status(), OperationStatus::Completed(_)) => {
            json.name("Progress").object(|json| {
                if let Some(compaction) = &progress.compaction {
                    return write_compaction(json, compaction, Compacted::Progress);
                }
                if let Some(report) = &progress.revisions {
                    return super::revisions::write_report(json, report);
                }
                if let Some(transfer) = &progress.transfer {
                    json.name("$type")
                        .string("Raven.Client.Documents.Smuggler.SmugglerResult+SmugglerProgress, Raven.Client");
                    json.name("Message").null();
                    transfer.write_counts(json);
                    return;
                }
                json.name("$type").string("Raven.Client.Documents.Operations.BulkInsertProgress, Raven.Client");
                json.name("Processed").unsigned(progress.processed).name("Total").unsigned(progress.total);
                json.name("BatchCount").unsigned(progress.batch_count);
                json.name("LastProcessedId").optional_string(progress.last_processed_id.as_deref());
                json.name("DocumentsProcessed").unsigned(progress.documents_processed);
                json.name("AttachmentsProcessed").unsigned(progress.attachments_processed);
                json.name("CountersProcessed").unsigned(progress.counters_processed);
                json.name("TimeSeriesProcessed").unsigned(0);
            });
        }
        _ => {
            json.name("Progress").null();
        }
    }
    let status = match operation.status() {
        OperationStatus::InProgress => {
            json.name("Result").null();
            "InProgress"
        }
        OperationStatus::Completed(result) => {
            json.name("Result").object(|json| {
                if let Some(compaction) = &result.compaction {
                    return write_compaction(json, compaction, Compacted::Result);
                }
                if let Some(report) = &result.revisions {
                    return super::revisions::write_report(json, report);
                }
                if let Some(report) = &result.check {
                    return super::checks::write_report(json, report);
                }
                if let (Some(transfer), Some(backup)) = (&result.transfer, &result.backup) {
                    json.name("$type").string("Raven.Client.Documents.Operations.Backups.BackupResult, Raven.Client");
                    transfer.write_members(json);
                    return write_backup(json, backup);
                }
                if let Some(transfer) = &result.transfer {
                    json.name("$type").string("Raven.Client.Documents.Smuggler.SmugglerResult, Raven.Client");
                    return transfer.write_members(json);
                }
                json.name("$type").string("Raven.Client.Documents.Operations.BulkOperationResult, Raven.Client");
                json.name("Total").unsigned(result.total).name("Message").string(&result.message);
                json.name("Details").array(|json| {
                    let shown = if details == Details::Written { result.details.as_slice() } else { &[] };
                    for detail in shown {
                        json.object(|json| write_detail(json, detail));
                    }
                });
                json.name("Query").null();
                json.name("DocumentsProcessed").unsigned(result.documents_processed);
                json.name("AttachmentsProcessed").unsigned(result.attachments_processed);
                json.name("CountersProcessed").unsigned(result.counters_processed);
                json.name("TimeSeriesProcessed").unsigned(0);
            });
            "Completed"
        }
        OperationStatus::Faulted(error) => {
            let error = Error::from((*error).clone());
            let message = error.message();
            json.name("Result").object(|json| {
                json.name("$type").string("Raven.Client.Documents.Operations.OperationExceptionResult, Raven.Client");
                json.name("Type").string(error.exception()).name("Message").string(&message);
                json.name("Error").string(&format!("{}: {message}", error.exception()));
                json.name("StatusCode").unsigned(error.status().as_u16().into());
            });
            "Faulted"
        }
        OperationStatus::Canceled => {
            json.name("Result").null();
            "Canceled"
        }
    };
    json.name("Status").string(status);
}

/// Which of the two forms of a compaction is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compacted {
    Progress,
    Result,
}

/// How far a compaction is, or what it came to, for the documents with all indexes or for one of these.
fn write_compaction(json: &mut json::Writer<'_>, report: &CompactionReport, form: Compacted) {
    let (parts, part_count) = report.parts();
    json.name("$type").string(match form {
        Compacted::Progress => "Raven.Client.ServerWide.Operations.CompactionProgress, Raven.Client",
        Compacted::Result => "Raven.Client.ServerWide.Operations.CompactionResult, Raven.Client",
    });
    json.name("Message").optional_string(report.message()).name("TreeName").optional_string(report.copied);
    json.name("TreeProgress").unsigned(report.done).name("TreeTotal").unsigned(report.total);
    json.name("GlobalProgress").unsigned(parts).name("GlobalTotal").unsigned(part_count);
    json.name("Skipped").bool(report.is_skipped).name("Processed").bool(report.is_processed);
    if !report.indexes.is_empty() {
        json.name("IndexesResults").object(|json| {
            for index in &report.indexes {
                json.name(&index.name).object(|json| write_compaction(json, index, form));
            }
        });
    }
    if form == Compacted::Progress {
        return;
    }
    let mebibytes = |size: u64| size.div_ceil(1 << 20);
    json.name("Name").string(&report.name);
    json.name("SizeBeforeCompactionInMb").unsigned(mebibytes(report.size_before));
    json.name("SizeAfterCompactionInMb").unsigned(mebibytes(report.size_after));
    json.name("SizeBeforeCompactionInBytes").unsigned(report.size_before);
    json.name("SizeAfterCompactionInBytes").unsigned(report.size_after);
    json.name("Messages").array(|json| report.messages.iter().for_each(|message| _ = json.string(message)));
}

/// What a backup came to, for each kind of place.
fn write_backup(json: &mut json::Writer<'_>, backup: &BackupResult) {
    for (name, kind) in [
        ("S3Backup", DestinationKind::S3),
        ("AzureBackup", DestinationKind::Azure),
        ("GoogleCloudBackup", DestinationKind::GoogleCloud),
    ] {
        let upload = backup.uploads.iter().find(|upload| upload.kind == kind);
        json.name(name).object(|json| {
            json.name("Skipped").bool(upload.is_none()).name("Exception").null();
            if let Some(upload) = upload {
                json.name("UploadProgress").object(|json| {
                    json.name("UploadType").string("Chunked").name("UploadState").string("Done");
                    json.name("UploadedInBytes").unsigned(upload.size).name("TotalInBytes").unsigned(upload.size);
                    json.name("UploadTimeInMs").unsigned(upload.duration.as_millis() as u64);
                });
            }
        });
    }
    json.name("LocalBackup").object(|json| {
        json.name("BackupDirectory").optional_string(backup.local_folder.as_deref());
        json.name("FileName").optional_string(backup.file.as_deref()).name("Exception").null();
        json.name("TempFolderUsed").bool(backup.local_folder.is_none());
    });
    json.name("FolderName").string(&backup.folder).name("IsFull").bool(backup.is_full);
}

pub(crate) fn kill(exchange: &Exchange) -> Result<Reply> {
    kill_of(exchange, exchange.database().operations())
}

pub(crate) fn server_kill(exchange: &Exchange) -> Result<Reply> {
    kill_of(exchange, exchange.node.databases.operations())
}

fn kill_of(exchange: &Exchange, operations: &Operations) -> Result<Reply> {
    let id = exchange.required_number("id")?;
    match operations.get(id) {
        Some(operation) => operation.kill(),
        None => return Err(Error::Argument(format!("Operation {id} was not registered"))),
    }
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
fn write_detail(json: &mut json::Writer<'_>, detail: &OperationDetail) {
    const RESULT: &str = "Raven.Client.Documents.Operations.BulkOperationResult";
    match detail {
        OperationDetail::Patched { id, change_vector, status } => {
            json.name("$type").string(&format!("{RESULT}+PatchDetails, Raven.Client"));
            json.name("Id").string(id).name("ChangeVector").optional_string(change_vector.as_deref());
            json.name("Status").string(status);
        }
        OperationDetail::Deleted { id } => {
            json.name("$type").string(&format!("{RESULT}+DeleteDetails, Raven.Client"));
            json.name("Id").string(id).name("Etag").null();
        }
    }
}
