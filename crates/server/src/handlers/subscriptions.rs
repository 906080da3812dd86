//! Subscriptions over HTTP: making, changing, listing and deleting them, and sending their workers away. Documents go over TCP
//! ([`crate::subscriptions`]).

use database::subscriptions::{ArchivedDocuments, Strategy, SubscriptionRequest, SubscriptionState};
use hyper::StatusCode;
use json::{Value, Writer};

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::limits::{SUBSCRIPTION_TRY_MAX, SUBSCRIPTION_TRY_PAGE};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;
use crate::subscriptions::Trial;

/// What a body says of a subscription.
fn request_of(body: &Value) -> Result<SubscriptionRequest> {
    let text = |name: &'static str| match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Error::Argument(format!("'{name}' must be a text"))),
    };
    let flag = |name: &'static str| match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(Error::Argument(format!("'{name}' must be true or false"))),
    };
    let archived = match text("ArchivedDataProcessingBehavior")? {
        None => None,
        Some(given) => Some(ArchivedDocuments::from_wire(&given).ok_or_else(|| {
            Error::Argument(
                "'ArchivedDataProcessingBehavior' must be ExcludeArchived, IncludeArchived or ArchivedOnly".to_owned(),
            )
        })?),
    };
    Ok(SubscriptionRequest {
        name: text("Name")?,
        query: text("Query")?,
        change_vector: text("ChangeVector")?,
        is_disabled: flag("Disabled")?,
        mentor_node: text("MentorNode")?,
        pins_mentor_node: flag("PinToMentorNode")?.unwrap_or_default(),
        archived,
    })
}

fn made(status: StatusCode, name: &str, id: u64) -> Reply {
    reply::object(status, |json| _ = json.name("Name").string(name).name("RaftCommandIndex").unsigned(id))
}

/// PUT `/databases/{name}/subscriptions`: body `{Name, Query, ChangeVector, MentorNode, PinToMentorNode, Disabled,
/// ArchivedDataProcessingBehavior}`; with `id` one that is there is changed. 201 `{Name, RaftCommandIndex}`.
pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let id = exchange.query().number("id")?;
    let request = request_of(&exchange.read_whole_object().await?)?;
    let database = exchange.database().clone();
    let change = move || {
        Ok(match id {
            Some(id) => database.update_subscription(Some(id), request)?,
            None => database.create_subscription(request)?,
        })
    };
    let made_one = exchange.node.bridge.run(Pool::Short, change).await?;
    Ok(made(StatusCode::CREATED, &made_one.name, made_one.id))
}

/// POST `/databases/{name}/subscriptions/update`: body as for [`put`], with `Id`, and `CreateNew` to make one that is not there.
pub(crate) async fn update(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_whole_object().await?;
    let request = request_of(&body)?;
    let id = match body.get("Id") {
        None | Some(Value::Null) => None,
        Some(id) => {
            let id = id.as_i64().and_then(|id| u64::try_from(id).ok());
            Some(id.ok_or_else(|| Error::Argument("'Id' must be a whole number".to_owned()))?)
        }
    };
    let creates = body.get("CreateNew").and_then(Value::as_bool).unwrap_or_default();
    let database = exchange.database().clone();
    let change = move || match database.update_subscription(id, request.clone()) {
        Err(database::Error::NoSubscription { .. }) if creates => Ok(database.create_subscription(request)?),
        changed => Ok(changed?),
    };
    let changed = exchange.node.bridge.run(Pool::Short, change).await?;
    Ok(made(StatusCode::OK, &changed.name, changed.id))
}

/// GET `/databases/{name}/subscriptions`: `start`, `pageSize`, or one by `name`. `{Results}`
pub(crate) fn list(exchange: &Exchange) -> Result<Reply> {
    let query = exchange.query();
    let (start, count) = (query.page_start()?, query.page_size()?);
    let states = match query.get_nonempty("name") {
        Some(name) => exchange.database().subscription(&name)?.into_iter().collect(),
        None => exchange.database().subscriptions()?,
    };
    let skipped = usize::try_from(start).unwrap_or(usize::MAX);
    let page = states.iter().skip(skipped).take(usize::try_from(count).unwrap_or(usize::MAX));
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Results").array(|json| {
            for state in page {
                json.object(|json| write(json, exchange, state));
            }
        });
    }))
}

/// GET `/databases/{name}/subscriptions/state`: `name`. An error if there is none: clients take an empty 404 for a result without a body.
pub(crate) fn state(exchange: &Exchange) -> Result<Reply> {
    let (name, database) = (exchange.required("name")?, exchange.database());
    let state = database.subscription(&name)?.ok_or_else(|| database::Error::NoSubscription {
        name: name.into_owned(),
        database: database.name().to_owned(),
    })?;
    Ok(reply::object(StatusCode::OK, |json| write(json, exchange, &state)))
}

/// Writes a subscription as an ongoing task.
pub(super) fn write_task(json: &mut Writer<'_>, exchange: &Exchange, state: &SubscriptionState) {
    let subscription = &state.subscription;
    let is_active = !subscription.is_disabled && !state.connections.is_empty();
    json.name("TaskId").unsigned(subscription.id).name("TaskName").string(&subscription.name);
    json.name("TaskType").string("Subscription");
    json.name("TaskState").string(if subscription.is_disabled { "Disabled" } else { "Enabled" });
    json.name("TaskConnectionStatus").string(if is_active { "Active" } else { "NotActive" });
    json.name("ResponsibleNode").object(|json| {
        json.name("NodeTag").string(exchange.node.databases.node_tag()).name("NodeUrl").string(&exchange.own_url());
        json.name("ResponsibleNode").null();
    });
    json.name("Error").null();
    write(json, exchange, state);
}

fn write(json: &mut Writer<'_>, exchange: &Exchange, state: &SubscriptionState) {
    let SubscriptionState { subscription, progress, connections } = state;
    json.name("SubscriptionId").unsigned(subscription.id).name("SubscriptionName").string(&subscription.name);
    json.name("ChangeVectorForNextBatchStartingPoint").optional_string(progress.change_vector.as_deref());
    json.name("ShardingState").null().name("Query").string(&subscription.query);
    json.name("Disabled").bool(subscription.is_disabled);
    for (name, date) in [("LastClientConnectionTime", progress.connected), ("LastBatchAckTime", progress.acknowledged)]
    {
        json.name(name).optional_string(date.map(|date| date.to_string()).as_deref());
    }
    json.name("MentorNode").optional_string(subscription.mentor_node.as_deref());
    json.name("PinToMentorNode").bool(subscription.pins_mentor_node);
    json.name("NodeTag").string(exchange.node.databases.node_tag());
    json.name("RaftCommandIndex").unsigned(subscription.id);
    json.name("ArchivedDataProcessingBehavior").string(subscription.archived.wire_name());
    json.name("Connections").array(|json| {
        for connection in connections {
            json.object(|json| {
                json.name("ClientUri").string(&connection.address);
                json.name("Strategy").string(strategy_name(connection.strategy));
                json.name("WorkerId").optional_string(connection.worker_id.as_deref());
                json.name("ConnectedAt").string(&connection.since.to_string());
            });
        }
    });
    for name in ["RecentConnections", "RecentRejectedConnections", "CurrentPendingConnections"] {
        json.name(name).array(|_| {});
    }
}

fn strategy_name(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::OpenIfFree => "OpenIfFree",
        Strategy::TakeOver => "TakeOver",
        Strategy::WaitForFree => "WaitForFree",
        Strategy::Concurrent => "Concurrent",
    }
}

/// DELETE `/databases/{name}/subscriptions`: `taskName`. 204, also if there is none.
pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("taskName")?.into_owned();
    let database = exchange.database().clone();
    exchange.node.bridge.run(Pool::Short, move || Ok(database.delete_subscription(&name)?)).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// POST `/databases/{name}/subscriptions/drop`: `name`, without which those of all are meant, and `workerId`. 204.
pub(crate) async fn drop_workers(exchange: Exchange) -> Result<Reply> {
    let query = exchange.query();
    let [name, worker_id] = ["name", "workerId"].map(|name| query.get_nonempty(name).map(|text| text.into_owned()));
    let database = exchange.database().clone();
    let send_away = move || Ok(database.drop_subscription_workers(name.as_deref(), worker_id.as_deref())?);
    exchange.node.bridge.run(Pool::Short, send_away).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// POST `/databases/{name}/subscriptions/enable`: `name`. 204.
pub(crate) async fn enable(exchange: Exchange) -> Result<Reply> {
    set_disabled(exchange, false).await
}

/// POST `/databases/{name}/subscriptions/disable`: `name`. 204.
pub(crate) async fn disable(exchange: Exchange) -> Result<Reply> {
    set_disabled(exchange, true).await
}

async fn set_disabled(exchange: Exchange, is_disabled: bool) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    let database = exchange.database().clone();
    let change = move || Ok(database.set_subscription_disabled(&name, is_disabled)?);
    exchange.node.bridge.run(Pool::Short, change).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// POST `/databases/{name}/subscriptions/try`: body `{Query, ChangeVector}`, `pageSize`: what a subscription would send first.
/// `{Results, Includes?, CounterIncludes?, IncludedCounterNames?}`. A document for which a script failed has `Exception`.
pub(crate) async fn try_query(mut exchange: Exchange) -> Result<Reply> {
    let count = exchange.query().number("pageSize")?.unwrap_or(SUBSCRIPTION_TRY_PAGE).min(SUBSCRIPTION_TRY_MAX);
    let request = request_of(&exchange.read_whole_object().await?)?;
    let database = exchange.database().clone();
    let look = move || {
        let mut trial = Trial::default();
        database.try_subscription(&request, count as usize, &mut trial)?;
        Ok(trial.finish())
    };
    Ok(reply::ok(exchange.node.bridge.run(Pool::Reads, look).await?))
}
