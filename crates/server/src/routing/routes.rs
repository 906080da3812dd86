//! The table of routes, and finding one.
//!
//! A line has method, path, the access it needs and the handler. `*` stands for the name of a database and is the only
//! capture, but for the files of the studio. A path is found in one pass over its bytes, folded to lower case and hashed on the way;
//! nothing is allocated. What a handler may rely on: its method and path matched, access was checked, its database exists.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::OnceLock;

use database::documents::Feature;

use super::access::Access;
use super::exchange::Exchange;
use crate::error::{Result, Write};
use crate::handlers::{
    analyzers, api_keys, attachments, backups, bulk_docs, bulk_insert, certificates, change_feed, changes, checks,
    collections, compactions, compare_exchange, configuration, constraints, counters, databases, diagnostics, docs,
    due, health, hilo, identities, indexes, info_package, live, log_configuration, mcp, members, metrics, monitoring,
    multi_get, node_info, operations, pages, patches, queries, restores, revisions, safety, sample_data, signing_in,
    smuggler, sorters, statistics, streams, studio, subscriptions, tasks, tcp_info, test_connection, test_endpoints,
    topology, traffic_watch,
};
use crate::messages::reply::Reply;

/// One line of the table.
#[derive(Debug)]
pub struct Route {
    /// In upper case; compared without regard to case, since one client sends `Put`.
    pub method: &'static str,
    /// `*` stands for one segment: the name of a database.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// Whether it may stand inside of a `multi_get`: it reads, and its answer is whole.
    pub in_multi_get: bool,
    pub(crate) timing: Timing,
    pub(crate) handler: Handler,
}

/// How the time until the answer begins is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timing {
    /// Counted as the server's; the server logs slow requests.
    Logged,
    /// Counted as the server's; the handler logs slow requests itself, with the text of their query.
    LoggedByHandler,
    /// Not counted: the client determines the duration.
    ClientPaced,
}

impl Route {
    /// The feature that it needs, if that is missing: every request is answered with 501.
    pub fn missing(&self) -> Option<Feature> {
        match self.handler {
            Handler::Missing(feature) => Some(feature),
            Handler::Now(_) | Handler::Maybe(..) | Handler::Later(_) => None,
        }
    }

    pub(crate) fn write(&self) -> Option<Write> {
        match self.access {
            Access::ReadWrite => Some(Write::OneTransaction),
            Access::Admin | Access::Operator | Access::ClusterAdmin if self.method != "GET" => Some(Write::Steps),
            _ => None,
        }
    }
}

/// Whether a request changes what the audit log is to have: everything but documents.
///
/// * `path`: not decoded.
pub(crate) fn is_audited(method: &str, path: &str) -> bool {
    let Some(found) = find(method, path) else { return false };
    let is_of_indexes = found.route.path.starts_with("/databases/*/index");
    !matches!(found.route.method, "GET" | "HEAD") && (found.route.access >= Access::Admin || is_of_indexes)
}

/// What answers.
pub(crate) enum Handler {
    /// Short work without waiting, right on the network thread.
    Now(fn(&Exchange) -> Result<Reply>),
    /// Short work in most cases; `None` hands over to the second, which waits.
    Maybe(fn(&Exchange) -> Result<Option<Reply>>, fn(Exchange) -> Pending),
    /// Work that waits: for its body, for a write, for a pool.
    Later(fn(Exchange) -> Pending),
    /// Known to clients, refused with 501 because this feature is missing.
    Missing(Feature),
}

impl std::fmt::Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Handler::Now(_) => "Now",
            Handler::Maybe(..) => "Maybe",
            Handler::Later(_) => "Later",
            Handler::Missing(_) => "Missing",
        })
    }
}

pub(crate) type Pending = Pin<Box<dyn Future<Output = Result<Reply>> + Send>>;

/// A handler that does not wait.
const fn now(
    method: &'static str,
    path: &'static str,
    access: Access,
    handler: fn(&Exchange) -> Result<Reply>,
) -> Route {
    Route { method, path, access, in_multi_get: false, timing: Timing::Logged, handler: Handler::Now(handler) }
}

/// A handler that waits.
const fn later(method: &'static str, path: &'static str, access: Access, handler: fn(Exchange) -> Pending) -> Route {
    Route { method, path, access, in_multi_get: false, timing: Timing::Logged, handler: Handler::Later(handler) }
}

/// A handler that does not wait if the request is simple.
const fn maybe(
    method: &'static str,
    path: &'static str,
    access: Access,
    simple: fn(&Exchange) -> Result<Option<Reply>>,
    handler: fn(Exchange) -> Pending,
) -> Route {
    Route {
        method,
        path,
        access,
        in_multi_get: false,
        timing: Timing::Logged,
        handler: Handler::Maybe(simple, handler),
    }
}

/// A route of clients that is refused by the name of its feature.
const fn missing(method: &'static str, path: &'static str, access: Access, feature: Feature) -> Route {
    Route { method, path, access, in_multi_get: false, timing: Timing::Logged, handler: Handler::Missing(feature) }
}

/// The same route, also inside of a `multi_get`.
const fn in_multi_get(route: Route) -> Route {
    Route { in_multi_get: true, ..route }
}

/// The same route, as long as its client likes.
const fn of_client(route: Route) -> Route {
    Route { timing: Timing::ClientPaced, ..route }
}

/// The same route, which tells of slow queries by itself.
const fn of_queries(route: Route) -> Route {
    Route { timing: Timing::LoggedByHandler, ..route }
}

/// Makes an `async fn` fit into the table.
macro_rules! pending {
    ($handler:path) => {
        |exchange| Box::pin($handler(exchange))
    };
}

use Access::{Admin, Anyone, ClusterAdmin, Operator, Read, ReadWrite, ValidUser};

/// All routes. Order plays no part.
pub static ROUTES: &[Route] = &[
    // Pages and the node itself.
    now("GET", "/", Anyone, studio::home),
    now("GET", "/studio/index.html", Anyone, studio::index),
    now("GET", "/studio/*", Anyone, studio::file),
    // As GET, whose body the library leaves out.
    now("HEAD", "/", Anyone, studio::home),
    now("HEAD", "/studio/index.html", Anyone, studio::index),
    now("HEAD", "/studio/*", Anyone, studio::file),
    now("GET", "/favicon.ico", Anyone, pages::icon),
    now("GET", "/health/live", Anyone, health::live),
    later("GET", "/health/ready", Anyone, pending!(health::ready)),
    later("GET", "/metrics", Operator, pending!(metrics::get)),
    later("GET", "/admin/monitoring/v1/server", Operator, pending!(monitoring::server)),
    later("GET", "/admin/monitoring/v1/databases", Operator, pending!(monitoring::databases)),
    later("GET", "/admin/monitoring/v1/indexes", Operator, pending!(monitoring::indexes)),
    later("GET", "/admin/monitoring/v1/collections", Operator, pending!(monitoring::collections)),
    later("GET", "/admin/live", ValidUser, pending!(live::get)),
    now("GET", "/admin/slow-requests", Operator, diagnostics::slow_requests),
    now("GET", "/admin/running-queries", Operator, queries::running_on_server),
    now("GET", "/admin/logs/recent", Operator, diagnostics::log),
    now("GET", "/admin/logs/configuration", Operator, log_configuration::get),
    later("POST", "/admin/logs/configuration", Operator, pending!(log_configuration::post)),
    of_client(later("GET", "/admin/debug/info-package", Operator, pending!(info_package::of_server))),
    now("GET", "/admin/configuration/settings", Operator, diagnostics::settings),
    later("GET", "/admin/safety", Operator, pending!(safety::get)),
    now("GET", "/build/version", Anyone, node_info::build_version),
    now("GET", "/cluster/topology", ValidUser, topology::cluster),
    now("GET", "/cluster/node-info", ValidUser, node_info::node_info),
    now("GET", "/topology", ValidUser, topology::database),
    now("GET", "/license/status", ValidUser, node_info::license),
    now("GET", "/rachis/waitfor", ValidUser, node_info::wait_for_index),
    now("GET", "/configuration/client", ValidUser, configuration::server_client),
    later("PUT", "/admin/analyzers", Operator, pending!(analyzers::put_server_wide)),
    later("DELETE", "/admin/analyzers", Operator, pending!(analyzers::delete_server_wide)),
    later("PUT", "/databases/*/admin/analyzers", Admin, pending!(analyzers::put)),
    later("DELETE", "/databases/*/admin/analyzers", Admin, pending!(analyzers::delete)),
    later("PUT", "/admin/sorters", Operator, pending!(sorters::put)),
    later("DELETE", "/admin/sorters", Operator, pending!(sorters::delete)),
    later("PUT", "/databases/*/admin/sorters", Admin, pending!(sorters::put)),
    later("DELETE", "/databases/*/admin/sorters", Admin, pending!(sorters::delete)),
    later("PUT", "/admin/configuration/client", Operator, pending!(configuration::put_server_client)),
    now("GET", "/operations/state", ValidUser, operations::server_state),
    now("POST", "/admin/operations/kill", Operator, operations::server_kill),
    now("GET", "/operations/next-operation-id", ValidUser, operations::server_next_id),
    // Each tool is a request of its own, with the access of its route, and counted as such.
    of_client(later("POST", "/mcp", ValidUser, pending!(mcp::serve))),
    of_client(later("GET", "/mcp", ValidUser, pending!(mcp::serve))),
    of_client(later("DELETE", "/mcp", ValidUser, pending!(mcp::serve))),
    // Databases.
    now("GET", "/databases", ValidUser, databases::names),
    later("GET", "/admin/databases", Operator, pending!(databases::record)),
    later("PUT", "/admin/databases", Operator, pending!(databases::put)),
    later("DELETE", "/admin/databases", Operator, pending!(databases::delete)),
    later("POST", "/admin/databases/enable", Operator, pending!(databases::enable)),
    later("POST", "/admin/databases/disable", Operator, pending!(databases::disable)),
    later("POST", "/admin/databases/set-lock", Operator, pending!(databases::set_lock)),
    now("GET", "/databases/*/admin/record", Admin, databases::own_record),
    later("PUT", "/databases/*/admin/configuration/settings", Admin, pending!(databases::put_settings)),
    later("PUT", "/databases/*/admin/configuration/client", Admin, pending!(configuration::put_client)),
    now("GET", "/databases/*/configuration/client", Read, configuration::client),
    now("GET", "/databases/*/due", Read, due::next),
    later("POST", "/databases/*/admin/expiration/config", Admin, pending!(due::put_expiration)),
    later("POST", "/databases/*/admin/refresh/config", Admin, pending!(due::put_refresh)),
    later("POST", "/databases/*/admin/data-archival/config", Admin, pending!(due::put_archival)),
    // Sessions of the studio.
    now("POST", "/studio/sign-in", ValidUser, signing_in::sign_in),
    now("POST", "/studio/sign-out", Anyone, signing_in::sign_out),
    // Backups and tasks.
    later("POST", "/databases/*/admin/periodic-backup", Admin, pending!(backups::put_task)),
    later("POST", "/databases/*/admin/backup/database", Admin, pending!(backups::start)),
    later("POST", "/databases/*/admin/backup", Admin, pending!(backups::once)),
    later("POST", "/databases/*/admin/check", Admin, pending!(checks::check)),
    later("POST", "/admin/backup-task/delay", Operator, pending!(backups::delay)),
    now("GET", "/periodic-backup/status", ValidUser, backups::status),
    later("PUT", "/admin/configuration/server-wide/backup", Operator, pending!(backups::put_server_wide)),
    now("GET", "/admin/configuration/server-wide/tasks", Operator, backups::server_wide_tasks),
    later("DELETE", "/admin/configuration/server-wide/task", Operator, pending!(backups::delete_server_wide)),
    later("POST", "/admin/configuration/server-wide/state", Operator, pending!(backups::set_server_wide_state)),
    later("POST", "/admin/compact", Operator, pending!(compactions::compact)),
    later("POST", "/admin/restore/database", Operator, pending!(restores::restore)),
    later("POST", "/admin/restore/verify", Operator, pending!(restores::verify)),
    later("POST", "/admin/restore/points", Operator, pending!(restores::points)),
    now("GET", "/databases/*/task", Read, tasks::get),
    now("GET", "/databases/*/tasks", Read, tasks::list),
    later("POST", "/databases/*/admin/tasks/state", Admin, pending!(tasks::set_state)),
    later("DELETE", "/databases/*/admin/tasks", Admin, pending!(tasks::delete)),
    // Certificates of clients.
    now("GET", "/certificates/whoami", Anyone, certificates::whoami),
    later("GET", "/admin/certificates", Operator, pending!(certificates::list)),
    later("POST", "/admin/certificates", Operator, pending!(certificates::create)),
    later("PUT", "/admin/certificates", Operator, pending!(certificates::put)),
    later("DELETE", "/admin/certificates", Operator, pending!(certificates::delete)),
    later("POST", "/admin/certificates/edit", Operator, pending!(certificates::edit)),
    later("POST", "/admin/certificates/replace-cluster-cert", ClusterAdmin, pending!(certificates::replace_own)),
    // API keys of clients.
    later("GET", "/admin/api-keys", Operator, pending!(api_keys::list)),
    later("POST", "/admin/api-keys", Operator, pending!(api_keys::create)),
    later("DELETE", "/admin/api-keys", Operator, pending!(api_keys::delete)),
    later("POST", "/admin/api-keys/edit", Operator, pending!(api_keys::edit)),
    // Documents.
    in_multi_get(maybe("GET", "/databases/*/docs", Read, docs::get_one, pending!(docs::get))),
    in_multi_get(later("POST", "/databases/*/docs", Read, pending!(docs::post))),
    now("HEAD", "/databases/*/docs", Read, docs::head),
    later("PUT", "/databases/*/docs", ReadWrite, pending!(docs::put)),
    later("DELETE", "/databases/*/docs", ReadWrite, pending!(docs::delete)),
    later("PATCH", "/databases/*/docs", ReadWrite, pending!(patches::patch)),
    later("PATCH", "/databases/*/json-patch", ReadWrite, pending!(patches::json_patch)),
    now("GET", "/databases/*/docs/size", Read, docs::size),
    later("POST", "/databases/*/bulk_docs", ReadWrite, pending!(bulk_docs::post)),
    of_client(later("POST", "/databases/*/bulk_insert", ReadWrite, pending!(bulk_insert::post))),
    later("POST", "/databases/*/multi_get", Read, pending!(multi_get::post)),
    later("GET", "/databases/*/streams/docs", Read, pending!(streams::docs)),
    later("POST", "/databases/*/streams/queries", Read, pending!(streams::queries)),
    later("GET", "/databases/*/streams/queries", Read, pending!(streams::queries)),
    of_queries(in_multi_get(later("POST", "/databases/*/queries", Read, pending!(queries::post)))),
    of_queries(in_multi_get(later("GET", "/databases/*/queries", Read, pending!(queries::get)))),
    later("DELETE", "/databases/*/queries", ReadWrite, pending!(queries::delete)),
    later("PATCH", "/databases/*/queries", ReadWrite, pending!(queries::patch)),
    later("PATCH", "/databases/*/queries/test", ReadWrite, pending!(queries::test)),
    now("GET", "/databases/*/debug/queries/running", Read, queries::running),
    now("POST", "/databases/*/debug/queries/kill", ReadWrite, queries::kill),
    of_client(later("GET", "/databases/*/changes", Read, pending!(changes::get))),
    // Attachments.
    of_client(later("GET", "/databases/*/attachments", Read, pending!(attachments::get))),
    of_client(later("POST", "/databases/*/attachments", Read, pending!(attachments::get_by_type))),
    now("HEAD", "/databases/*/attachments", Read, attachments::head),
    of_client(later("PUT", "/databases/*/attachments", ReadWrite, pending!(attachments::put))),
    later("DELETE", "/databases/*/attachments", ReadWrite, pending!(attachments::delete)),
    of_client(later("POST", "/databases/*/attachments/bulk", Read, pending!(attachments::get_many))),
    later("DELETE", "/databases/*/attachments/bulk", ReadWrite, pending!(attachments::delete_many)),
    now("GET", "/databases/*/debug/attachments/hash", Read, attachments::count_of_hash),
    now("GET", "/databases/*/debug/attachments/metadata", Read, attachments::metadata),
    // Counters.
    in_multi_get(later("GET", "/databases/*/counters", Read, pending!(counters::get))),
    later("POST", "/databases/*/counters", ReadWrite, pending!(counters::post)),
    // Revisions.
    in_multi_get(later("GET", "/databases/*/revisions", Read, pending!(revisions::get))),
    later("GET", "/databases/*/revisions/count", Read, pending!(revisions::count)),
    later("GET", "/databases/*/revisions/bin", Read, pending!(revisions::bin)),
    now("GET", "/databases/*/revisions/config", Read, revisions::configuration),
    now("GET", "/databases/*/revisions/conflicts/config", Read, revisions::conflicts_configuration),
    now("GET", "/databases/*/revisions/bin-cleaner/config", Read, revisions::bin_configuration),
    later("POST", "/databases/*/admin/revisions/config", Admin, pending!(revisions::put_configuration)),
    later(
        "POST",
        "/databases/*/admin/revisions/conflicts/config",
        Admin,
        pending!(revisions::put_conflicts_configuration),
    ),
    later("POST", "/databases/*/admin/revisions/bin-cleaner/config", Admin, pending!(revisions::put_bin_configuration)),
    later("POST", "/databases/*/admin/revisions/config/enforce", Admin, pending!(revisions::enforce)),
    later("POST", "/databases/*/admin/revisions/orphaned/adopt", Admin, pending!(revisions::adopt)),
    later("DELETE", "/databases/*/admin/revisions", Admin, pending!(revisions::delete)),
    later("POST", "/databases/*/revisions/revert", ReadWrite, pending!(revisions::revert)),
    later("POST", "/databases/*/revisions/revert/docs", ReadWrite, pending!(revisions::revert_documents)),
    // Ids.
    later("GET", "/databases/*/hilo/next", ReadWrite, pending!(hilo::next)),
    later("PUT", "/databases/*/hilo/return", ReadWrite, pending!(hilo::give_back)),
    later("POST", "/databases/*/identity/next", ReadWrite, pending!(identities::next)),
    later("POST", "/databases/*/identity/seed", ReadWrite, pending!(identities::seed)),
    now("GET", "/databases/*/debug/identities", Read, identities::all),
    // Compare exchange.
    in_multi_get(maybe(
        "GET",
        "/databases/*/cmpxchg",
        Read,
        compare_exchange::get_few,
        pending!(compare_exchange::get),
    )),
    later("PUT", "/databases/*/cmpxchg", ReadWrite, pending!(compare_exchange::put)),
    later("DELETE", "/databases/*/cmpxchg", ReadWrite, pending!(compare_exchange::delete)),
    // Unique constraints.
    now("GET", "/databases/*/admin/constraints", Admin, constraints::list),
    later("PUT", "/databases/*/admin/constraints", Admin, pending!(constraints::put)),
    later("DELETE", "/databases/*/admin/constraints", Admin, pending!(constraints::delete)),
    // Subscriptions and the change feed.
    now("GET", "/info/tcp", ValidUser, tcp_info::get),
    now("GET", "/databases/*/info/tcp", Read, tcp_info::get),
    later("GET", "/info/remote-task/tcp", ValidUser, pending!(tcp_info::of_task)),
    later("PUT", "/databases/*/subscriptions", ReadWrite, pending!(subscriptions::put)),
    now("GET", "/databases/*/subscriptions", Read, subscriptions::list),
    later("DELETE", "/databases/*/subscriptions", ReadWrite, pending!(subscriptions::delete)),
    later("POST", "/databases/*/subscriptions/update", ReadWrite, pending!(subscriptions::update)),
    later("POST", "/databases/*/subscriptions/enable", ReadWrite, pending!(subscriptions::enable)),
    later("POST", "/databases/*/subscriptions/disable", ReadWrite, pending!(subscriptions::disable)),
    now("GET", "/databases/*/subscriptions/state", Read, subscriptions::state),
    later("POST", "/databases/*/subscriptions/drop", ReadWrite, pending!(subscriptions::drop_workers)),
    later("GET", "/databases/*/subscriptions/try", Read, pending!(subscriptions::try_query)),
    later("POST", "/databases/*/subscriptions/try", Read, pending!(subscriptions::try_query)),
    // Readers say how long a request waits for changes.
    of_client(later("GET", "/databases/*/feed", Read, pending!(change_feed::get))),
    now("GET", "/databases/*/feed/cursors", Read, change_feed::cursors),
    later("PUT", "/databases/*/feed/cursors", ReadWrite, pending!(change_feed::move_cursor)),
    later("DELETE", "/databases/*/feed/cursors", ReadWrite, pending!(change_feed::delete_cursor)),
    // Statistics and the like.
    in_multi_get(now("GET", "/databases/*/stats", Read, statistics::basic)),
    now("GET", "/databases/*/stats/detailed", Read, statistics::detailed),
    now("GET", "/databases/*/stats/essential", Read, statistics::essential),
    in_multi_get(now("GET", "/databases/*/collections/stats", Read, collections::basic)),
    now("GET", "/databases/*/collections/stats/detailed", Read, collections::detailed),
    now("GET", "/databases/*/healthcheck", Read, health::check),
    later("GET", "/databases/*/debug/storage/report", Admin, pending!(diagnostics::storage_report)),
    of_client(later("GET", "/databases/*/debug/info-package", Admin, pending!(info_package::of_database))),
    later("POST", "/databases/*/studio/sample-data", Admin, pending!(sample_data::create)),
    of_client(later("POST", "/databases/*/smuggler/export", Read, pending!(smuggler::export))),
    of_client(later("POST", "/databases/*/smuggler/import", ReadWrite, pending!(smuggler::import))),
    now("GET", "/databases/*/operations", Read, operations::list),
    now("GET", "/databases/*/operations/next-operation-id", Read, operations::next_id),
    now("GET", "/databases/*/operations/state", Read, operations::state),
    now("POST", "/databases/*/operations/kill", ReadWrite, operations::kill),
    in_multi_get(now("GET", "/databases/*/indexes", Read, indexes::list)),
    now("GET", "/databases/*/indexes/stats", Read, indexes::statistics),
    later("GET", "/databases/*/indexes/errors", Read, pending!(indexes::errors)),
    now("GET", "/databases/*/indexes/status", Read, indexes::status),
    now("GET", "/databases/*/indexes/performance", Read, indexes::performance),
    now("GET", "/databases/*/indexes/staleness", Read, indexes::staleness),
    now("GET", "/databases/*/indexes/history", Read, indexes::history),
    later("GET", "/databases/*/indexes/advice", Read, pending!(indexes::advice)),
    later("GET", "/databases/*/indexes/terms", Read, pending!(indexes::terms)),
    later("GET", "/databases/*/indexes/debug", Read, pending!(indexes::debug)),
    later("GET", "/databases/*/indexes/progress", Read, pending!(indexes::progress)),
    later("POST", "/databases/*/indexes/has-changed", Read, pending!(indexes::has_changed)),
    later("PUT", "/databases/*/admin/indexes", Admin, pending!(indexes::put)),
    later("PUT", "/databases/*/indexes", ReadWrite, pending!(indexes::put)),
    later("DELETE", "/databases/*/indexes", ReadWrite, pending!(indexes::delete)),
    later("RESET", "/databases/*/indexes", ReadWrite, pending!(indexes::reset)),
    later("DELETE", "/databases/*/indexes/errors", ReadWrite, pending!(indexes::clear_errors)),
    later("POST", "/databases/*/indexes/set-lock", ReadWrite, pending!(indexes::set_lock)),
    later("POST", "/databases/*/indexes/set-priority", ReadWrite, pending!(indexes::set_priority)),
    later("POST", "/databases/*/indexes/test", Admin, pending!(indexes::test)),
    later("POST", "/databases/*/indexes/replace", ReadWrite, pending!(indexes::replace)),
    later("POST", "/databases/*/admin/indexes/start", Admin, pending!(indexes::start)),
    later("POST", "/databases/*/admin/indexes/stop", Admin, pending!(indexes::stop)),
    later("POST", "/databases/*/admin/indexes/enable", Admin, pending!(indexes::enable)),
    later("POST", "/databases/*/admin/indexes/disable", Admin, pending!(indexes::disable)),
    now("PUT", "/admin/databases/node", Operator, members::add),
    now("POST", "/admin/databases/promote", Operator, members::promote),
    later("POST", "/admin/databases/reorder", Operator, pending!(members::reorder)),
    now("GET", "/admin/traffic-watch/configuration", Operator, traffic_watch::get),
    later("POST", "/admin/traffic-watch/configuration", Operator, pending!(traffic_watch::post)),
    of_client(later("GET", "/admin/test/delay", Operator, pending!(test_endpoints::delay))),
    later("POST", "/admin/test-connection", Operator, pending!(test_connection::post)),
    // Known to clients, and not there yet.
    missing("PUT", "/admin/cluster/node", Operator, Feature::Cluster),
    missing("DELETE", "/admin/cluster/node", Operator, Feature::Cluster),
    missing("POST", "/admin/databases/dynamic-node-distribution", Operator, Feature::Cluster),
    missing("POST", "/admin/databases/topology/modify", Operator, Feature::Cluster),
    missing("POST", "/admin/databases/unused-ids", Operator, Feature::Cluster),
    missing("PUT", "/admin/databases/orchestrator", Operator, Feature::Sharding),
    missing("DELETE", "/admin/databases/orchestrator", Operator, Feature::Sharding),
    missing("PUT", "/admin/databases/shard", Operator, Feature::Sharding),
    missing("POST", "/admin/console", Operator, Feature::AdminConsole),
    missing("POST", "/databases/*/admin/documents-compression/config", Admin, Feature::DocumentsCompression),
    missing("POST", "/databases/*/admin/transactions/start-recording", Admin, Feature::TransactionRecording),
    missing("POST", "/databases/*/admin/transactions/stop-recording", Admin, Feature::TransactionRecording),
    missing("GET", "/databases/*/streams/timeseries", Read, Feature::TimeSeries),
    missing("GET", "/databases/*/admin/attachments/remote/config", Admin, Feature::RemoteAttachments),
    missing("PUT", "/databases/*/admin/attachments/remote/config", Admin, Feature::RemoteAttachments),
    missing("GET", "/databases/*/timeseries", Read, Feature::TimeSeries),
    missing("POST", "/databases/*/timeseries", ReadWrite, Feature::TimeSeries),
    missing("GET", "/databases/*/timeseries/ranges", Read, Feature::TimeSeries),
    missing("GET", "/databases/*/timeseries/stats", Read, Feature::TimeSeries),
    missing("POST", "/databases/*/admin/timeseries/config", Admin, Feature::TimeSeries),
    missing("PUT", "/databases/*/admin/timeseries/policy", Admin, Feature::TimeSeries),
    missing("DELETE", "/databases/*/admin/timeseries/policy", Admin, Feature::TimeSeries),
    missing("POST", "/databases/*/timeseries/names/config", Admin, Feature::TimeSeries),
    missing("GET", "/databases/*/schema-validation/config", Read, Feature::SchemaValidation),
    missing("POST", "/databases/*/admin/schema-validation/config", Admin, Feature::SchemaValidation),
    missing("POST", "/databases/*/schema-validation/validate", Read, Feature::SchemaValidation),
    missing("PUT", "/databases/*/admin/connection-strings", Admin, Feature::Etl),
    missing("GET", "/databases/*/admin/connection-strings", Admin, Feature::Etl),
    missing("DELETE", "/databases/*/admin/connection-strings", Admin, Feature::Etl),
    missing("PUT", "/databases/*/admin/etl", Admin, Feature::Etl),
    missing("RESET", "/databases/*/admin/etl", Admin, Feature::Etl),
    missing("PUT", "/databases/*/admin/queue-sink", Admin, Feature::Etl),
    missing("PUT", "/databases/*/admin/cdc-sink", Admin, Feature::Etl),
    missing("POST", "/databases/*/admin/cdc-sink/schema", Admin, Feature::Etl),
    missing("POST", "/databases/*/admin/cdc-sink/test", Admin, Feature::Etl),
    missing("POST", "/databases/*/admin/tasks/external-replication", Admin, Feature::Replication),
    missing("PUT", "/databases/*/admin/tasks/pull-replication/hub", Admin, Feature::Replication),
    missing("PUT", "/databases/*/admin/tasks/pull-replication/hub/access", Admin, Feature::Replication),
    missing("GET", "/databases/*/admin/tasks/pull-replication/hub/access", Admin, Feature::Replication),
    missing("DELETE", "/databases/*/admin/tasks/pull-replication/hub/access", Admin, Feature::Replication),
    missing("POST", "/databases/*/admin/tasks/sink-pull-replication", Admin, Feature::Replication),
    missing("GET", "/databases/*/tasks/pull-replication/hub", Read, Feature::Replication),
    missing("GET", "/databases/*/replication/conflicts", Read, Feature::Replication),
    missing("POST", "/admin/replication/conflicts/solver", Operator, Feature::Replication),
    missing("PUT", "/admin/configuration/server-wide/external-replication", Operator, Feature::Replication),
    missing("GET", "/admin/configuration/server-wide/connection-strings", Operator, Feature::Etl),
    missing("PUT", "/admin/configuration/server-wide/connection-strings", Operator, Feature::Etl),
    missing("DELETE", "/admin/configuration/server-wide/connection-strings", Operator, Feature::Etl),
    missing("PUT", "/databases/*/admin/ai/agent", Admin, Feature::AiAgents),
    missing("GET", "/databases/*/admin/ai/agent", Admin, Feature::AiAgents),
    missing("DELETE", "/databases/*/admin/ai/agent", Admin, Feature::AiAgents),
    missing("POST", "/databases/*/ai/agent", ReadWrite, Feature::AiAgents),
    missing("GET", "/databases/*/ai/agent/conversation/messages", Read, Feature::AiAgents),
];

/// A route that matched.
#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) route: &'static Route,
    /// Where the path names a database, still escaped.
    pub(crate) database: Option<Range<usize>>,
}

/// Finds the route for a request, or says that there is none.
pub(crate) fn find(method: &str, path: &str) -> Option<Match> {
    let (database, rest) = split(path);
    find_in_table(method, database, rest).or_else(|| {
        let folder = FILES.trim_end_matches('*').as_bytes();
        let is_file = path.as_bytes().get(..folder.len()).is_some_and(|start| start.eq_ignore_ascii_case(folder));
        is_file.then(|| find_in_table(method, None, FILES)).flatten()
    })
}

fn find_in_table(method: &str, database: Option<Range<usize>>, rest: &str) -> Option<Match> {
    let mut slot = hash(method, database.is_some(), rest);
    let table = table();
    loop {
        let found = table[slot % TABLE_SIZE].as_ref()?;
        if found.has_database == database.is_some()
            && is_same(found.rest.as_bytes(), rest.as_bytes())
            && is_same(found.route.method.as_bytes(), method.as_bytes())
        {
            return Some(Match { route: found.route, database });
        }
        slot += 1;
    }
}

/// The files of the studio: the one route whose `*` is any number of segments. Their handler looks them up.
const FILES: &str = "/studio/*";

/// A route in the table, its path taken apart.
struct Slot {
    route: &'static Route,
    has_database: bool,
    rest: &'static str,
}

/// Slots of the table, at least twice as many as routes so that it always has free ones.
const TABLE_SIZE: usize = 1024;
const _: () = assert!(ROUTE_COUNT_MAX * 2 <= TABLE_SIZE);
const ROUTE_COUNT_MAX: usize = 512;

fn table() -> &'static [Option<Slot>; TABLE_SIZE] {
    static TABLE: OnceLock<Box<[Option<Slot>; TABLE_SIZE]>> = OnceLock::new();
    TABLE.get_or_init(|| {
        assert!(ROUTES.len() <= ROUTE_COUNT_MAX, "the table of routes needs more slots");
        let mut table = Box::new([const { None }; TABLE_SIZE]);
        for route in ROUTES {
            let (database, rest) = split(route.path);
            let mut slot = hash(route.method, database.is_some(), rest) % TABLE_SIZE;
            while table[slot].is_some() {
                slot = (slot + 1) % TABLE_SIZE;
            }
            table[slot] = Some(Slot { route, has_database: database.is_some(), rest });
        }
        table
    })
}

/// Cuts `/databases/{name}/rest` into the place of the name and `/rest`.
fn split(path: &str) -> (Option<Range<usize>>, &str) {
    const PREFIX: &str = "/databases/";
    let has_prefix =
        path.as_bytes().get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX.as_bytes()));
    if !has_prefix {
        return (None, path);
    }
    let name = &path.as_bytes()[PREFIX.len()..];
    match memchr::memchr(b'/', name) {
        Some(size) if size > 0 => (Some(PREFIX.len()..PREFIX.len() + size), &path[PREFIX.len() + size..]),
        _ => (None, path),
    }
}

/// The bit by which the cases of ASCII letters differ, in each of eight bytes.
const CASE: u64 = 0x2020_2020_2020_2020;

/// A hash that is the same in any case, eight bytes a step: what differs in one bit of case alone has the same, which is no
/// harm, since routes do not.
fn hash(method: &str, has_database: bool, rest: &str) -> usize {
    let mut state = u64::from(has_database);
    for bytes in [method.as_bytes(), rest.as_bytes()] {
        let (words, tail) = bytes.as_chunks::<8>();
        let mut mix = |word: u64| {
            state = (state ^ (word | CASE)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            state ^= state >> 32;
        };
        words.iter().for_each(|word| mix(u64::from_le_bytes(*word)));
        mix(tail.iter().fold(tail.len() as u64, |word, byte| word << 8 | u64::from(*byte)));
    }
    state as usize % TABLE_SIZE
}

/// Whether two texts are the same but for the case of ASCII letters.
#[inline]
fn is_same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && (left == right || left.eq_ignore_ascii_case(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &str, path: &str, expected: Option<(&str, Option<&str>)>) {
        let found = find(method, path);
        let found = found.map(|found| (found.route.path, found.database.map(|range| &path[range])));
        assert_eq!(found, expected, "{method} {path}");
    }

    #[test]
    fn every_route_is_found_in_any_case() {
        for route in ROUTES {
            let path = route.path.replace('*', "northwind").to_ascii_uppercase();
            let found = find(&route.method.to_ascii_lowercase(), &path).unwrap();
            assert!(std::ptr::eq(found.route, route), "{} {} is there twice", route.method, route.path);
        }
    }

    #[test]
    fn the_database_is_captured_and_other_paths_are_none() {
        check("Get", "/Databases/My%20Db/DOCS", Some(("/databases/*/docs", Some("My%20Db"))));
        check("GET", "/databases", Some(("/databases", None)));
        check("GET", "/databases/", None);
        check("GET", "/databases//docs", None);
        check("GET", "/databases/x", None);
        check("POST", "/build/version", None);
        check("GET", "/databases/x/docs/", None);
        check("GET", "", None);
        check("GET", "/studio/assets/app.js", Some(("/studio/*", None)));
        check("GET", "/studio/index.html", Some(("/studio/index.html", None)));
        check("PUT", "/studio/assets/app.js", None);
        check("GET", "/studio", None);
    }
}
