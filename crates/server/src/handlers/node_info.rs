//! Information about the node: version, role, licence.

use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use json::Writer;

use crate::error::Result;
use crate::messages::date;
use crate::messages::reply::{self, Reply};
use crate::node::{PROTOCOL_BUILD, PROTOCOL_VERSION};
use crate::routing::exchange::Exchange;

/// The version of the protocol, as far as clients look at it, and in full.
pub(crate) const PRODUCT_VERSION: &str = "7.1";
pub(crate) const FULL_VERSION: &str = "7.1.5";

const SERVER_STARTUP_TIME: HeaderName = HeaderName::from_static("server-startup-time");

/// GET `/build/version`: the protocol's version in the words that clients know.
pub(crate) fn build_version(exchange: &Exchange) -> Result<Reply> {
    let mut reply = reply::object(StatusCode::OK, write_version);
    let headers: &mut HeaderMap = reply.headers_mut();
    if let Ok(started) = HeaderValue::from_str(&date::wire(exchange.node.started_at)) {
        headers.insert(SERVER_STARTUP_TIME, started);
    }
    Ok(reply)
}

fn write_version(json: &mut Writer<'_>) {
    json.name("BuildVersion").signed(PROTOCOL_BUILD).name("ProductVersion").string(PRODUCT_VERSION);
    json.name("CommitHash").string("rookery").name("FullVersion").string(FULL_VERSION);
}

pub(crate) fn write_build(json: &mut Writer<'_>) {
    json.object(|json| {
        write_version(json);
        json.name("AssemblyVersion").string(PROTOCOL_VERSION);
    });
}

/// GET `/cluster/node-info`.
pub(crate) fn node_info(exchange: &Exchange) -> Result<Reply> {
    let databases = &exchange.node.databases;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("NodeTag").string(databases.node_tag()).name("TopologyId").string(databases.topology_id());
        json.name("Certificate").null().name("ClusterStatus").null();
        json.name("NumberOfCores").unsigned(std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64));
        json.name("InstalledMemoryInGb").double(memory_gb()).name("UsableMemoryInGb").double(memory_gb());
        write_build(json.name("BuildInfo"));
        json.name("ServerId").string(databases.server_id()).name("CurrentState").string("Leader");
        json.name("ServerRole").string("Member").name("HasFixedPort").bool(true);
        json.name("ServerSchemaVersion").unsigned(71_000);
    }))
}

/// What the machine has, as the kernel says; 0 where it does not.
fn memory_gb() -> f64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = total.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / (1024.0 * 1024.0)
}

/// GET `/license/status`: there are no licences and no limits from them.
pub(crate) fn license(exchange: &Exchange) -> Result<Reply> {
    const FEATURES: [&str; 8] = [
        "HasEncryption",
        "HasSnmpMonitoring",
        "HasSnapshotBackups",
        "HasCloudBackups",
        "HasDocumentsCompression",
        "HasMonitoringEndpoints",
        "HasClientConfiguration",
        "HasStudioConfiguration",
    ];
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Id").null().name("LicensedTo").null();
        json.name("Status").string("MIT OR Apache-2.0: no licence key, no limits").name("Expired").bool(false);
        json.name("UpgradeRequired").null();
        json.name("FirstServerStartDate").string(&date::wire(exchange.node.started_at));
        json.name("ErrorMessage").null().name("Type").string("None").name("Version").null();
        json.name("Expiration").null().name("SubscriptionExpiration").null();
        json.name("MaxMemory").unsigned(i32::MAX as u64).name("MaxCores").unsigned(i32::MAX as u64);
        json.name("MaxClusterSize").unsigned(1).name("DistributedCluster").bool(false);
        for feature in FEATURES {
            json.name(feature).bool(true);
        }
    }))
}

/// GET `/rachis/waitfor`: `index`. With one node every change is applied when it is answered, so there is nothing to wait for.
pub(crate) fn wait_for_index(exchange: &Exchange) -> Result<Reply> {
    exchange.query().number("index")?;
    Ok(reply::empty(StatusCode::OK))
}
