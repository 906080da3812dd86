//! `GET /admin/live`: the counters that the studio's live charts are drawn from, of the server and of all its databases at once.
//!
//! Counters only rise, so that two requests give the rates. A database that is not in use is not opened for it. A caller below
//! operator gets the counters of the databases that it may read, and none of the server.

use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use database::{Database, OperationStatus};
use hyper::StatusCode;
use json::Writer;

use super::indexes::ObservedIndex;
use crate::bridge::Pool;
use crate::error::Result;
use crate::messages::date;
use crate::messages::reply::{self, Reply};
use crate::monitoring::system;
use crate::node::Node;
use crate::routing::access::Identity;
use crate::routing::exchange::Exchange;

/// GET `/admin/live`: `name`, or all databases.
pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    let node = exchange.node.clone();
    let name = exchange.query().get_nonempty("name").map(std::borrow::Cow::into_owned);
    let identity = exchange.peer.identity.clone();
    // The sizes of files are asked of the system.
    exchange.node.bridge.run(Pool::Short, move || live(&node, &identity, name.as_deref())).await
}

fn live(node: &Node, identity: &Identity, name: Option<&str>) -> Result<Reply> {
    let mut names = node.databases.names();
    names.retain(|known| identity.sees(known) && name.is_none_or(|name| known.eq_ignore_ascii_case(name)));
    let mut failure = None;
    let reply = reply::object(StatusCode::OK, |json| {
        json.name("Now").string(&date::wire(SystemTime::now())).name("UptimeInMs").unsigned(node.uptime_ms());
        if identity.is_operator() {
            write_server(json, node);
        }
        json.name("Databases").array(|json| {
            for name in &names {
                json.object(|json| {
                    if let Err(error) = write(json, node, name) {
                        failure.get_or_insert(error);
                    }
                });
            }
        });
    });
    failure.map_or(Ok(reply), Err)
}

fn write_server(json: &mut Writer<'_>, node: &Node) {
    json.name("Requests").unsigned(node.request_count.load(Relaxed));
    json.name("ServerErrors").unsigned(node.metrics.server_error_count());
    json.name("Connections").unsigned(node.connections.open_count.load(Relaxed) as u64);
    json.name("ResidentInBytes").unsigned(system::resident_size().unwrap_or_default());
    let memory = system::memory();
    json.name("MemoryInBytes").unsigned(memory.total).name("FreeMemoryInBytes").unsigned(memory.available);
    let disk = system::disk_traffic();
    json.name("DiskReadInBytes").unsigned(disk.read).name("DiskWrittenInBytes").unsigned(disk.written);
    match node.data_directory.as_deref().and_then(system::volume) {
        Some(volume) => {
            json.name("DiskInBytes").unsigned(volume.total).name("FreeDiskInBytes").unsigned(volume.free);
        }
        None => _ = json.name("DiskInBytes").null().name("FreeDiskInBytes").null(),
    }
    json.name("Latency").object(|json| {
        node.latencies.reads.counted().write(json.name("Reads"));
        node.latencies.writes.counted().write(json.name("Writes"));
    });
}

fn write(json: &mut Writer<'_>, node: &Node, name: &str) -> Result<()> {
    json.name("Name").string(name);
    match node.databases.peek(name) {
        Ok(Some(database)) => {
            json.name("State").string("Open");
            write_open(json, &database)?;
        }
        Ok(None) => _ = json.name("State").string("Closed"),
        Err(database::Error::Disabled { .. }) => _ = json.name("State").string("Disabled"),
        // It was deleted since it was listed.
        Err(_) => _ = json.name("State").string("Deleted"),
    }
    Ok(())
}

fn write_open(json: &mut Writer<'_>, database: &Database) -> Result<()> {
    let statistics = database.read().statistics()?;
    let indexes = ObservedIndex::all(database)?;
    json.name("Requests").unsigned(database.request_count());
    json.name("IsInMemory").bool(database.is_in_memory());
    json.name("Documents").unsigned(statistics.documents().count);
    json.name("LastEtag").unsigned(statistics.last_etag);
    json.name("SizeInBytes").unsigned(database.size_on_disk());
    json.name("QueuedBatches").unsigned(database.queued_count() as u64);
    json.name("Indexes").unsigned(indexes.len() as u64);
    let count = |is: fn(&ObservedIndex) -> bool| indexes.iter().filter(|index| is(index)).count() as u64;
    json.name("StaleIndexes").unsigned(count(|index| index.is_stale() && !index.has_failed()));
    json.name("FailedIndexes").unsigned(count(ObservedIndex::has_failed));
    json.name("IndexErrors").unsigned(indexes.iter().map(|index| index.error_count()).sum());
    let operations = database.operations().all();
    let is_running = |status| matches!(status, OperationStatus::InProgress);
    json.name("RunningOperations")
        .unsigned(operations.iter().filter(|running| is_running(running.status())).count() as u64);
    Ok(())
}
