//! Whether the server and its databases can be used.
//!
//! * `GET /health/live`: 200 `{"Status":"Alive"}` while the server answers.
//! * `GET /health/ready`: 200 `{"Status":"Ready"}`, or 503 while databases refuse writes: `{"Status":"NotReady","RefusingWrites":count,
//!   "Databases":[{"Name","Reason"}]}`. Anyone may ask, as probes of load balancers do; a caller learns the names of the databases that it
//!   may read, and the count of all. A database that was not asked for since the start is not looked at.
//! * `GET /databases/{name}/healthcheck`: 204 while the database takes writes, else the error of those: 503, or 507 while
//!   the disk is full. Clients poll it.

use database::{RefusingDatabase, WriteRefusal};
use hyper::StatusCode;

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::monitoring::system;
use crate::node::Node;
use crate::routing::exchange::Exchange;

/// GET `/health/live`.
pub(crate) fn live(_: &Exchange) -> Result<Reply> {
    Ok(reply::object(StatusCode::OK, |json| _ = json.name("Status").string("Alive")))
}

/// GET `/health/ready`.
pub(crate) async fn ready(exchange: Exchange) -> Result<Reply> {
    let node = exchange.node.clone();
    // Databases may be opened.
    let refusing = exchange.node.bridge.run(Pool::Short, move || Ok(refusing_writes(&node))).await?;
    if refusing.is_empty() {
        return Ok(reply::object(StatusCode::OK, |json| _ = json.name("Status").string("Ready")));
    }
    let visible = refusing.iter().filter(|database| exchange.peer.identity.sees(&database.name));
    Ok(reply::object(StatusCode::SERVICE_UNAVAILABLE, |json| {
        json.name("Status").string("NotReady").name("RefusingWrites").unsigned(refusing.len() as u64);
        json.name("Databases").array(|json| {
            for database in visible {
                let reason = match &database.reason {
                    WriteRefusal::Failed(error) => Error::from(error.clone()).message(),
                    WriteRefusal::DiskFull { needed } => {
                        format!("There is no room on the device for {needed} bytes. Free some, or make it larger")
                    }
                };
                json.object(|json| _ = json.name("Name").string(&database.name).name("Reason").string(&reason));
            }
        });
    }))
}

/// Whether the device of the data has room for `needed` bytes, as far as that is known.
pub(crate) fn has_room(node: &Node, needed: u64) -> bool {
    let volume = node.data_directory.as_deref().and_then(system::volume);
    volume.is_none_or(|volume| volume.free >= needed)
}

/// Databases that refuse writes; those that lacked room only while there is none.
fn refusing_writes(node: &Node) -> Vec<RefusingDatabase> {
    let mut refusing = node.databases.refusing_writes();
    refusing.retain(|database| match database.reason {
        WriteRefusal::DiskFull { needed } => !has_room(node, needed),
        WriteRefusal::Failed(_) => true,
    });
    refusing
}

/// GET `/databases/{name}/healthcheck`.
pub(crate) fn check(exchange: &Exchange) -> Result<Reply> {
    let database = exchange.database();
    if let Some(failure) = database.failure() {
        return Err(failure.clone().into());
    }
    match database.space_lacking() {
        Some(needed_bytes) if !has_room(&exchange.node, needed_bytes) => {
            let path = exchange.node.data_directory.clone().unwrap_or_default();
            Err(storage::Error::DiskFull { path, needed_bytes }.into())
        }
        _ => Ok(reply::empty(StatusCode::NO_CONTENT)),
    }
}
