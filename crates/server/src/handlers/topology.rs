//! `/topology` and `/cluster/topology`: where clients find a database. With one node that is here.

use std::borrow::Cow;

use hyper::StatusCode;
use json::Value;

use super::databases::missing;
use super::node_info::write_build;
use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::node::PROTOCOL_VERSION;
use crate::routing::access::{self, Access};
use crate::routing::exchange::{Exchange, write_origin};

/// GET `/topology`: `name`, `localUrl`. A database that does not exist: 503 with `Database-Missing`. A client that may not read the
/// database is refused in the same words whether it exists or not; clients take 503 for a database that does not exist.
pub(crate) fn database(exchange: &Exchange) -> Result<Reply> {
    let name = exchange.required("name")?;
    access::check(&exchange.peer.identity, Access::Read, Some(&name))?;
    let record = match exchange.node.databases.record(&name) {
        Err(database::Error::Missing { .. }) => return Ok(missing(&name, StatusCode::SERVICE_UNAVAILABLE)),
        record => record?,
    };
    // A client that knows by which address it reaches us says so.
    let url = exchange.query().get_nonempty("localUrl").map_or_else(|| exchange.own_url(), Cow::into_owned);
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Promotables").array(|_| {}).name("Nodes").array(|json| {
            json.object(|json| {
                json.name("Url").string(&url);
                json.name("ClusterTag").string(exchange.node.databases.node_tag());
                json.name("ServerRole").string("Member").name("Database").string(record.name());
                json.name("ServerVersion").string(PROTOCOL_VERSION);
            });
        });
        json.name("Etag").signed(etag(&record));
    }))
}

/// The etag of a database's topology: the index of the change that made it.
pub(crate) fn etag(record: &database::DatabaseRecord) -> i64 {
    let stamp = record.value.get("Topology").and_then(|topology| topology.get("Stamp"));
    stamp.and_then(|stamp| stamp.get("Index")).and_then(Value::as_i64).unwrap_or(1)
}

/// GET `/cluster/topology`.
pub(crate) fn cluster(exchange: &Exchange) -> Result<Reply> {
    let databases = &exchange.node.databases;
    let (tag, url) = (databases.node_tag(), exchange.own_url());
    Ok(reply::object(StatusCode::OK, |json| {
        write_origin(json, exchange);
        json.name("Topology").object(|json| {
            json.name("TopologyId").string(databases.topology_id());
            json.name("AllNodes").object(|json| {
                json.name(tag).string(&url);
            });
            json.name("Members").object(|json| {
                json.name(tag).string(&url);
            });
            json.name("Promotables").object(|_| {}).name("Watchers").object(|_| {});
            json.name("LastNodeId").string(tag).name("Etag").unsigned(1);
        });
        json.name("Etag").unsigned(1).name("Leader").string(tag);
        json.name("LeaderShipDuration").unsigned(exchange.node.uptime_ms());
        json.name("CurrentState").string("Leader").name("NodeTag").string(tag).name("ServerRole").string("Member");
        json.name("CurrentTerm").unsigned(1).name("NodeLicenseDetails").object(|json| {
            json.name(tag).object(|json| {
                write_build(json.name("BuildInfo"));
            });
        });
        json.name("LastStateChangeReason").string("Leader, the only node");
        json.name("Status").object(|_| {});
    }))
}
