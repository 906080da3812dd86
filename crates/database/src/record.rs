//! The record of a database: what its creator sent, completed, and what was set since.

use documents::{Date, base64, id};
use json::Value;

/// What the node keeps about one database.
#[derive(Clone)]
pub struct DatabaseRecord {
    /// The record as clients know it, with `DatabaseName`, `Disabled`, `Settings`, `Topology`.
    pub value: Value,
    /// The raft index of the last change.
    pub etag: u64,
}

/// The tasks in a record have keys and tokens of destinations, which stay out of logs.
impl std::fmt::Debug for DatabaseRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseRecord").field("etag", &self.etag).finish_non_exhaustive()
    }
}

/// What a deletion does to a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// It is deleted.
    Unlock,
    /// Nothing, in silence.
    PreventDeletesIgnore,
    /// It fails.
    PreventDeletesError,
}

impl LockMode {
    /// The mode that clients call so.
    pub fn from_wire(name: &str) -> Option<LockMode> {
        [LockMode::Unlock, LockMode::PreventDeletesIgnore, LockMode::PreventDeletesError]
            .into_iter()
            .find(|mode| mode.wire_name().eq_ignore_ascii_case(name))
    }

    /// What clients call it.
    pub fn wire_name(self) -> &'static str {
        match self {
            LockMode::Unlock => "Unlock",
            LockMode::PreventDeletesIgnore => "PreventDeletesIgnore",
            LockMode::PreventDeletesError => "PreventDeletesError",
        }
    }
}

impl DatabaseRecord {
    /// Completes what a client sent for a new database.
    pub(crate) fn new(mut value: Value, name: &str, node_tag: &str, etag: u64, now: Date) -> DatabaseRecord {
        value.set("DatabaseName", name.into());
        if !matches!(value.get("Settings"), Some(Value::Object(_))) {
            value.set("Settings", Value::object());
        }
        let is_disabled = value.get("Disabled").and_then(Value::as_bool) == Some(true);
        value.set("Disabled", is_disabled.into());
        let mut topology = match value.remove("Topology") {
            Some(topology @ Value::Object(_)) => topology,
            _ => Value::object(),
        };
        let random = || Value::String(base64::encode_unpadded(&id::random_bytes()));
        let empty = || Value::Array(Vec::new());
        topology.set("Members", Value::Array(vec![node_tag.into()]));
        topology.set("Promotables", empty());
        topology.set("Rehabs", empty());
        topology.set("PredefinedMentors", Value::object());
        topology.set("DemotionReasons", Value::object());
        topology.set("PromotablesStatus", Value::object());
        let mut stamp = Value::object();
        stamp.set("Index", Value::Number(etag.to_string()));
        stamp.set("Term", 1.into());
        stamp.set("LeadersTicks", (-2).into());
        topology.set("Stamp", stamp);
        topology.set("DynamicNodesDistribution", false.into());
        topology.set("ReplicationFactor", 1.into());
        topology.set("PriorityOrder", empty());
        topology.set("NodesModifiedAt", Value::String(now.to_string()));
        topology.set("DatabaseTopologyIdBase64", random());
        topology.set("ClusterTransactionIdBase64", random());
        value.set("Topology", topology);
        DatabaseRecord { value, etag }
    }

    fn topology_text(&self, name: &str) -> &str {
        self.value.get("Topology").and_then(|topology| topology.get(name)).and_then(Value::as_str).unwrap_or_default()
    }

    /// The name as it was first spelled.
    pub fn name(&self) -> &str {
        self.value.get("DatabaseName").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether requests are refused.
    pub fn is_disabled(&self) -> bool {
        self.value.get("Disabled").and_then(Value::as_bool) == Some(true)
    }

    /// The id that every answer of this database carries as `Database-Cluster-Tx-Id`.
    pub fn cluster_transaction_id(&self) -> &str {
        self.topology_text("ClusterTransactionIdBase64")
    }

    /// The id in change vectors of cluster transactions.
    pub fn database_topology_id(&self) -> &str {
        self.topology_text("DatabaseTopologyIdBase64")
    }

    /// What a deletion does.
    pub fn lock_mode(&self) -> LockMode {
        let mode = self.value.get("LockMode").and_then(Value::as_str);
        mode.and_then(LockMode::from_wire).unwrap_or(LockMode::Unlock)
    }

    /// A setting of this database, such as `RunInMemory`.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let settings = self.value.get("Settings")?;
        settings.members().iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).and_then(|(_, value)| value.as_str())
    }

    /// What the settings say about where it is kept. It counts when the database is created.
    pub(crate) fn run_in_memory(&self) -> Option<bool> {
        let settings = self.value.get("Settings")?;
        match settings.members().iter().find(|(key, _)| key.eq_ignore_ascii_case("RunInMemory")) {
            Some((_, Value::Bool(value))) => Some(*value),
            Some((_, Value::String(value))) => Some(value.eq_ignore_ascii_case("true")),
            _ => None,
        }
    }
}
