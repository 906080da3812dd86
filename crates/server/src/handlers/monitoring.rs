//! `GET /admin/monitoring/v1/server`, `databases`, `indexes`, `collections`: numbers in the JSON that plug-ins of monitoring systems for
//! RavenDB read (Telegraf, Datadog).
//!
//! Names, units and nesting are RavenDB's. A property whose number this server does not have is absent: rates of requests and writes,
//! use of the processors, alerts. `databases`, `indexes` and `collections` take `name`, several times, and have the databases that are
//! open: none is opened for a scrape, and none stays open for it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{SystemTime, UNIX_EPOCH};

use database::documents::{Date, ItemKind};
use database::{Database, StorageArea};
use hyper::StatusCode;
use json::Writer;

use super::indexes::ObservedIndex;
use super::node_info;
use crate::bridge::Pool;
use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::monitoring::system;
use crate::node::Node;
use crate::routing::exchange::Exchange;

const MB: u64 = 1024 * 1024;

/// GET `server`.
pub(crate) async fn server(exchange: Exchange) -> Result<Reply> {
    let node = exchange.node.clone();
    exchange.node.bridge.run(Pool::Short, move || Ok(server_reply(&node))).await
}

fn server_reply(node: &Node) -> Reply {
    let databases = &node.databases;
    reply::object(StatusCode::OK, |json| {
        json.name("ServerVersion").string(node_info::PRODUCT_VERSION);
        json.name("ServerFullVersion").string(node_info::FULL_VERSION);
        json.name("UpTimeInSec").unsigned(node.started.elapsed().as_secs());
        json.name("ServerProcessId").unsigned(std::process::id().into());
        json.name("Config").object(|json| {
            json.name("ServerUrls").array(|json| _ = json.string(&node.url));
            json.name("PublicServerUrl").optional_string(node.public_url.as_deref());
            json.name("TcpServerUrls").null().name("PublicTcpServerUrls").null();
        });
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        json.name("Cpu").object(|json| {
            json.name("ProcessorCount").unsigned(cores).name("AssignedProcessorCount").unsigned(cores);
        });
        json.name("Memory").object(write_memory);
        if let Some(volume) = node.data_directory.as_deref().and_then(system::volume) {
            json.name("Disk").object(|json| {
                json.name("TotalFreeSpaceInMb").unsigned(volume.free / MB);
                let percentage = (volume.free * 100).checked_div(volume.total).unwrap_or_default();
                json.name("RemainingStorageSpacePercentage").unsigned(percentage);
            });
        }
        json.name("License").object(|json| {
            json.name("Type").string("None").name("ExpirationLeftInSec").null();
            json.name("UtilizedCpuCores").unsigned(cores).name("MaxCores").unsigned(i32::MAX as u64);
        });
        json.name("Network").object(|json| {
            json.name("TcpActiveConnections").unsigned(node.connections.open_count.load(Relaxed) as u64);
            json.name("TotalRequests").unsigned(node.request_count.load(Relaxed));
        });
        json.name("Certificate").object(|json| write_certificate(json, node));
        json.name("Cluster").object(|json| {
            json.name("NodeTag").string(databases.node_tag()).name("NodeState").string("Leader");
            json.name("Id").string(databases.topology_id());
            if let Ok(index) = databases.raft_index() {
                json.name("Index").unsigned(index);
            }
        });
        let names = databases.names();
        let loaded = names.iter().filter(|name| matches!(databases.peek(name), Ok(Some(_)))).count();
        json.name("Databases").object(|json| {
            json.name("TotalCount").unsigned(names.len() as u64).name("LoadedCount").unsigned(loaded as u64);
        });
    })
}

fn write_memory(json: &mut Writer<'_>) {
    let (memory, swap) = (system::memory(), system::swap());
    if let Some(size) = system::resident_size() {
        json.name("AllocatedMemoryInMb").unsigned(size / MB);
    }
    json.name("PhysicalMemoryInMb").unsigned(memory.total / MB).name("InstalledMemoryInMb").unsigned(memory.total / MB);
    json.name("TotalSwapSizeInMb").unsigned(swap.total / MB);
    json.name("TotalSwapUsageInMb").unsigned(swap.used / MB);
    json.name("WorkingSetSwapUsageInMb").unsigned(swap.used_by_process / MB);
}

fn write_certificate(json: &mut Writer<'_>, node: &Node) {
    let Some(tls) = &node.tls else {
        json.name("ServerCertificateExpirationLeftInSec").null().name("WellKnownAdminCertificates").null();
        return;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64);
    json.name("ServerCertificateExpirationLeftInSec").signed(tls.expires() - now);
    json.name("WellKnownAdminCertificates")
        .array(|json| tls.admins().iter().for_each(|admin| _ = json.string(&admin.to_string())));
}

/// GET `databases`.
pub(crate) async fn databases(exchange: Exchange) -> Result<Reply> {
    of_databases(exchange, |json, node, database| {
        let facts = DatabaseFacts::of(database)?;
        json.object(|json| facts.write(json, node, database));
        Ok(())
    })
    .await
}

/// GET `indexes`.
pub(crate) async fn indexes(exchange: Exchange) -> Result<Reply> {
    of_databases(exchange, |json, _, database| {
        let (indexes, now) = (ObservedIndex::all(database)?, Date::now());
        json.object(|json| {
            json.name("DatabaseName").string(database.name());
            json.name("Indexes").array(|json| indexes.iter().for_each(|index| index.write_monitoring(json, now)));
        });
        Ok(())
    })
    .await
}

/// GET `collections`.
pub(crate) async fn collections(exchange: Exchange) -> Result<Reply> {
    of_databases(exchange, |json, _, database| {
        let collections = database.read().collections()?;
        json.object(|json| {
            json.name("DatabaseName").string(database.name());
            json.name("Collections").array(|json| {
                for collection in &collections {
                    let documents = collection.documents();
                    json.object(|json| {
                        json.name("CollectionName").string(&collection.name);
                        json.name("DocumentsCount").unsigned(documents.count);
                        json.name("TotalSizeInBytes").unsigned(documents.size + documents.tombstone_size);
                        json.name("DocumentsSizeInBytes").unsigned(documents.size);
                        json.name("TombstonesSizeInBytes").unsigned(documents.tombstone_size);
                        let revisions = collection.counts[ItemKind::Revision].size;
                        json.name("RevisionsSizeInBytes").unsigned(revisions);
                    });
                }
            });
        });
        Ok(())
    })
    .await
}

/// The answer that has an element for each open database that was named, or for all.
async fn of_databases(
    exchange: Exchange,
    write: impl Fn(&mut Writer<'_>, &Node, &Database) -> Result<()> + Send + 'static,
) -> Result<Reply> {
    let wanted: Vec<String> = exchange.query().all("name").map(std::borrow::Cow::into_owned).collect();
    let node = exchange.node.clone();
    let work = move || {
        let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one.eq_ignore_ascii_case(name));
        let names = node.databases.names().into_iter().filter(|name| is_wanted(name));
        let open: Vec<Arc<Database>> = names.filter_map(|name| node.databases.peek(&name).ok().flatten()).collect();
        let mut failure = None;
        let reply = reply::object(StatusCode::OK, |json| {
            json.name("PublicServerUrl").optional_string(node.public_url.as_deref());
            json.name("NodeTag").string(node.databases.node_tag());
            json.name("Results").array(|json| {
                for database in open {
                    if let Err(error) = write(json, &node, &database) {
                        failure.get_or_insert(error);
                    }
                }
            });
        });
        failure.map_or(Ok(reply), Err)
    };
    exchange.node.bridge.run(Pool::Short, work).await
}

/// The numbers of a database.
struct DatabaseFacts {
    documents: u64,
    revisions: u64,
    attachments: u64,
    contents: u64,
    indexes: Vec<ObservedIndex>,
    areas: Vec<StorageArea>,
}

impl DatabaseFacts {
    fn of(database: &Database) -> Result<DatabaseFacts> {
        let statistics = database.read().statistics()?;
        let (documents, contents) = (statistics.documents().count, statistics.content_count);
        let attachments = statistics.content_reference_count;
        let revisions = statistics.counts[ItemKind::Revision].count;
        Ok(DatabaseFacts {
            documents,
            revisions,
            attachments,
            contents,
            indexes: ObservedIndex::all(database)?,
            areas: database.storage_areas()?,
        })
    }

    fn write(&self, json: &mut Writer<'_>, node: &Node, database: &Database) {
        json.name("DatabaseName").string(database.name());
        json.name("DatabaseId").string(database.documents().database_id());
        json.name("Counts").object(|json| {
            json.name("Documents").unsigned(self.documents);
            // There is one node.
            json.name("Revisions").unsigned(self.revisions).name("Attachments").unsigned(self.attachments);
            json.name("UniqueAttachments").unsigned(self.contents);
            json.name("Rehabs").unsigned(0).name("ReplicationFactor").unsigned(1);
        });
        json.name("Statistics").object(|json| {
            let speed = |is_reduced: bool| -> f64 {
                self.indexes.iter().filter(|index| index.is_reduced() == is_reduced).map(ObservedIndex::speed).sum()
            };
            json.name("MapIndexIndexesPerSec").double(speed(false));
            json.name("MapReduceIndexMappedPerSec").double(speed(true));
            json.name("RequestsCount").unsigned(database.request_count());
        });
        json.name("Indexes").object(|json| self.write_indexes(json));
        json.name("Storage").object(|json| self.write_storage(json, node));
    }

    fn write_indexes(&self, json: &mut Writer<'_>) {
        let count = |is: &dyn Fn(&ObservedIndex) -> bool| self.indexes.iter().filter(|index| is(index)).count() as u64;
        let in_state = |state: &'static str| count(&|index| index.state() == state);
        json.name("Count").unsigned(self.indexes.len() as u64);
        json.name("StaleCount").unsigned(count(&ObservedIndex::is_stale));
        json.name("ErrorsCount").unsigned(self.indexes.iter().map(ObservedIndex::error_count).sum());
        json.name("StaticCount").unsigned(count(&|index| !index.is_automatic()));
        json.name("AutoCount").unsigned(count(&ObservedIndex::is_automatic));
        json.name("IdleCount").unsigned(in_state("Idle")).name("DisabledCount").unsigned(in_state("Disabled"));
        json.name("ErroredCount").unsigned(in_state("Error"));
    }

    fn write_storage(&self, json: &mut Writer<'_>, node: &Node) {
        let sum = |of_indexes: bool, size: fn(&StorageArea) -> u64| -> u64 {
            self.areas.iter().filter(|area| area.index.is_some() == of_indexes).map(size).sum()
        };
        let allocated = |area: &StorageArea| area.statistics.data_file_size;
        let used = |area: &StorageArea| area.statistics.used_size();
        let journals = |area: &StorageArea| area.journals.iter().map(|journal| journal.size).sum::<u64>();
        json.name("DocumentsAllocatedDataFileInMb").unsigned(sum(false, allocated) / MB);
        json.name("DocumentsUsedDataFileInMb").unsigned(sum(false, used) / MB);
        json.name("IndexesAllocatedDataFileInMb").unsigned(sum(true, allocated) / MB);
        json.name("IndexesUsedDataFileInMb").unsigned(sum(true, used) / MB);
        let total: u64 = self.areas.iter().map(|area| allocated(area) + journals(area)).sum();
        json.name("TotalAllocatedStorageFileInMb").unsigned(total / MB);
        if let Some(volume) = node.data_directory.as_deref().and_then(system::volume) {
            json.name("TotalFreeSpaceInMb").unsigned(volume.free / MB);
        }
    }
}
