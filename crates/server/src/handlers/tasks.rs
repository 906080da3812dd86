//! Ongoing tasks of a database: what it does by itself. Backups and subscriptions are the ones that there are.
//!
//! GET `/databases/{name}/task`: `key` or `taskName`, `type`; 404 if there is none. GET `/databases/{name}/tasks`: all. POST
//! `/databases/{name}/admin/tasks/state`: `key`, `type`, `disable`. DELETE `/databases/{name}/admin/tasks`: `id`, `type`.

use database::backups::{BackupTask, RunningBackup};
use database::documents::{Date, Feature};
use database::subscriptions::SubscriptionState;
use database::{Database, Databases, time_span};
use hyper::StatusCode;
use json::{Value, Writer};

use super::databases::request_id;
use super::subscriptions;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// The kinds of tasks that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskKind {
    Backup,
    Subscription,
}

/// The types of other tasks that clients know, and the features that they belong to.
const MISSING: [(&str, Feature); 13] = [
    ("Replication", Feature::Replication),
    ("PullReplicationAsHub", Feature::Replication),
    ("PullReplicationAsSink", Feature::Replication),
    ("RavenEtl", Feature::Etl),
    ("SqlEtl", Feature::Etl),
    ("OlapEtl", Feature::Etl),
    ("ElasticSearchEtl", Feature::Etl),
    ("QueueEtl", Feature::Etl),
    ("SnowflakeEtl", Feature::Etl),
    ("QueueSink", Feature::Etl),
    ("CdcSink", Feature::Etl),
    ("EmbeddingsGeneration", Feature::AiAgents),
    ("GenAi", Feature::AiAgents),
];

/// The type in a query: `Err` has the feature of one that is missing.
fn kind_of(exchange: &Exchange) -> Result<std::result::Result<TaskKind, (&'static str, Feature)>> {
    let given = exchange.required("type")?;
    let is = |name: &str| name.eq_ignore_ascii_case(&given);
    match MISSING.iter().find(|(name, _)| is(name)) {
        Some(missing) => Ok(Err(*missing)),
        None if is("Backup") => Ok(Ok(TaskKind::Backup)),
        None if is("Subscription") => Ok(Ok(TaskKind::Subscription)),
        None => Err(Error::parameter("type", &given, "a type of tasks, such as Backup")),
    }
}

/// The same for a request that changes a task.
fn required_kind(exchange: &Exchange) -> Result<TaskKind> {
    kind_of(exchange)?.map_err(|(name, feature)| feature.missing_for(format!("tasks of the type '{name}'")).into())
}

/// One task; 404 if there is none.
pub(crate) fn get(exchange: &Exchange) -> Result<Reply> {
    let Ok(kind) = kind_of(exchange)? else { return Ok(reply::empty(StatusCode::NOT_FOUND)) };
    let (key, name) = (exchange.query().number("key")?, exchange.query().get_nonempty("taskName"));
    if key.is_none() && name.is_none() {
        return Err(Error::Argument("The query string must have 'key' or 'taskName'".to_owned()));
    }
    if kind == TaskKind::Subscription {
        let states = exchange.database().subscriptions()?;
        let is_meant = |state: &&SubscriptionState| match (&name, key) {
            (Some(name), _) => state.subscription.name.eq_ignore_ascii_case(name),
            (None, key) => Some(state.subscription.id) == key,
        };
        return Ok(match states.iter().find(is_meant) {
            Some(state) => reply::object(StatusCode::OK, |json| subscriptions::write_task(json, exchange, state)),
            None => reply::empty(StatusCode::NOT_FOUND),
        });
    }
    let tasks = exchange.node.databases.backup_tasks(exchange.database().name())?;
    let is_meant = |task: &&BackupTask| match (&name, key) {
        (Some(name), _) => task.name.eq_ignore_ascii_case(name),
        (None, key) => Some(task.id) == key,
    };
    match tasks.iter().find(is_meant) {
        Some(task) => {
            let written = Written::of(exchange, task)?;
            Ok(reply::object(StatusCode::OK, |json| written.write(json, exchange, task)))
        }
        None => Ok(reply::empty(StatusCode::NOT_FOUND)),
    }
}

/// `{OngoingTasks, SubscriptionsCount, PullReplications}`
pub(crate) fn list(exchange: &Exchange) -> Result<Reply> {
    let tasks = exchange.node.databases.backup_tasks(exchange.database().name())?;
    let written = tasks.iter().map(|task| Written::of(exchange, task)).collect::<Result<Vec<_>>>()?;
    let states = exchange.database().subscriptions()?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("OngoingTasks").array(|json| {
            for (task, written) in tasks.iter().zip(&written) {
                json.object(|json| written.write(json, exchange, task));
            }
            for state in &states {
                json.object(|json| subscriptions::write_task(json, exchange, state));
            }
        });
        json.name("SubscriptionsCount").unsigned(states.len() as u64).name("PullReplications").array(|_| {});
    }))
}

/// What is read before a task is written.
struct Written {
    last_full: Option<Date>,
    last_incremental: Option<Date>,
    node_tag: Option<String>,
    error: Option<String>,
    original_time: Option<Date>,
    running: Option<RunningBackup>,
    next: Option<(Date, bool)>,
    now: Date,
}

impl Written {
    fn of(exchange: &Exchange, task: &BackupTask) -> Result<Written> {
        let (databases, name): (&Databases, _) = (&exchange.node.databases, exchange.database().name());
        let status = databases.backup_status(name, task.id)?.unwrap_or_default();
        Ok(Written {
            last_full: status.last_full,
            last_incremental: status.last_incremental,
            node_tag: Some(status.node_tag).filter(|tag| !tag.is_empty()),
            error: status.error.map(|(reason, _)| reason),
            original_time: status.original_time,
            running: databases.running_backup(name, task.id),
            next: databases.next_backup(name, task.id),
            now: databases.clock().now(),
        })
    }

    fn write(&self, json: &mut Writer<'_>, exchange: &Exchange, task: &BackupTask) {
        let date = |date: Option<Date>| date.map(|date| date.to_string());
        let own_tag = exchange.node.databases.node_tag();
        json.name("TaskId").unsigned(task.id).name("TaskType").string("Backup");
        json.name("ResponsibleNode").object(|json| {
            json.name("NodeTag").string(own_tag).name("NodeUrl").string(&exchange.own_url());
            json.name("ResponsibleNode").null();
        });
        json.name("TaskState").string(if task.is_disabled { "Disabled" } else { "Enabled" });
        json.name("TaskConnectionStatus").string(if task.is_disabled { "NotActive" } else { "Active" });
        json.name("TaskName").string(&task.name).name("MentorNode").null().name("PinToMentorNode").bool(false);
        json.name("Error").optional_string(self.error.as_deref());
        json.name("BackupType").string(task.configuration.kind.wire_name());
        json.name("BackupDestinations").array(|json| {
            task.configuration.destinations.iter().for_each(|place| _ = json.string(place.kind.wire_name()));
        });
        json.name("LastFullBackup").optional_string(date(self.last_full).as_deref());
        json.name("LastIncrementalBackup").optional_string(date(self.last_incremental).as_deref());
        match &self.running {
            None => _ = json.name("OnGoingBackup").null(),
            Some(RunningBackup { operation, is_full, is_waiting }) => {
                json.name("OnGoingBackup").object(|json| {
                    json.name("StartTime").string(&operation.started_at().to_string()).name("IsFull").bool(*is_full);
                    // RavenDB does not say that a backup waits.
                    json.name("RunningBackupTaskId").unsigned(operation.id()).name("IsWaiting").bool(*is_waiting);
                });
            }
        }
        match self.next {
            None => _ = json.name("NextBackup").null(),
            Some((at, is_full)) => {
                json.name("NextBackup").object(|json| {
                    json.name("TimeSpan").string(&time_span::text(at.since(self.now)));
                    json.name("DateTime").string(&at.to_string()).name("IsFull").bool(is_full);
                    json.name("OriginalBackupTime").optional_string(date(self.original_time).as_deref());
                });
            }
        }
        let property = |name: &str| task.value.get(name).cloned().unwrap_or(Value::Null);
        property("RetentionPolicy").write(json.name("RetentionPolicy"));
        json.name("IsEncrypted").bool(task.configuration.is_encrypted());
        json.name("LastExecutingNodeTag").optional_string(self.node_tag.as_deref());
        for name in ["FullBackupFrequency", "IncrementalBackupFrequency", "BackupUploadMode"] {
            property(name).write(json.name(name));
        }
        json.name("HasCloudBackup").bool(task.configuration.has_cloud());
    }
}

/// Enables or disables a task. 200 `{RaftCommandIndex, TaskId}`.
pub(crate) async fn set_state(exchange: Exchange) -> Result<Reply> {
    let kind = required_kind(&exchange)?;
    let id = exchange.required_number("key")?;
    exchange.required("disable")?;
    let is_disabled = exchange.query().is_true("disable")?;
    if kind == TaskKind::Subscription {
        let set =
            move |database: &Database, name: &str| database.set_subscription_disabled(name, is_disabled).map(drop);
        return change_subscription(exchange, id, set).await;
    }
    change(exchange, id, move |databases, name, request_id| {
        Ok(databases.set_backup_task_disabled(name, id, is_disabled, request_id)?)
    })
    .await
}

/// Removes a task. 200 `{RaftCommandIndex, TaskId}`.
pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let kind = required_kind(&exchange)?;
    let id = exchange.required_number("id")?;
    if kind == TaskKind::Subscription {
        let delete = |database: &Database, name: &str| database.delete_subscription(name).map(drop);
        return change_subscription(exchange, id, delete).await;
    }
    change(exchange, id, move |databases, name, request_id| Ok(databases.delete_backup_task(name, id, request_id)?))
        .await
}

/// Changes the subscription that `taskName` names, or the one with an id: clients that give a name send 0 beside it. 404 if there is none.
async fn change_subscription(
    exchange: Exchange,
    id: u64,
    change: impl FnOnce(&Database, &str) -> database::Result<()> + Send + 'static,
) -> Result<Reply> {
    let database = exchange.database().clone();
    let name = exchange.query().get_nonempty("taskName").map(|name| name.into_owned());
    let run = move || {
        let found = match name {
            Some(name) => database.subscription(&name)?,
            None => database.subscriptions()?.into_iter().find(|state| state.subscription.id == id),
        };
        let Some(SubscriptionState { subscription, .. }) = found else { return Ok(None) };
        change(&database, &subscription.name)?;
        Ok(Some(subscription.id))
    };
    match exchange.node.bridge.run(Pool::Short, run).await? {
        Some(id) => Ok(changed(&exchange, id, id)),
        None => Ok(reply::empty(StatusCode::NOT_FOUND)),
    }
}

fn changed(exchange: &Exchange, index: u64, id: u64) -> Reply {
    reply::object(StatusCode::OK, |json| {
        json.name("RaftCommandIndex").unsigned(index).name("TaskId").unsigned(id);
        json.name("ResponsibleNode").string(exchange.node.databases.node_tag());
    })
}

async fn change(
    exchange: Exchange,
    id: u64,
    change: impl FnOnce(&Databases, &str, Option<&str>) -> Result<u64> + Send + 'static,
) -> Result<Reply> {
    let name = exchange.database().name().to_owned();
    let request_id = request_id(&exchange);
    let databases = exchange.node.databases.clone();
    let run = move || change(&databases, &name, request_id.as_deref());
    let index = exchange.node.bridge.run(Pool::Short, run).await?;
    Ok(changed(&exchange, index, id))
}
