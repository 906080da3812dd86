//! API keys: making, listing, editing and deleting them.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::HEXLOWER;
use database::ApiKey;
use hyper::StatusCode;
use json::Writer;

use super::databases::request_id;
use super::principals::{Caller, Definition, date, future, write_permissions};
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::network::tls::Tls;
use crate::node::Node;
use crate::routing::exchange::Exchange;
use crate::routing::{keys, registry};

/// Writes all but the key itself, which the server does not know.
fn write(json: &mut Writer<'_>, key: &ApiKey, tls: Option<&Tls>) {
    let moment = |moment: Option<SystemTime>| moment.map(date);
    json.name("Name").string(&key.name).name("SecurityClearance").string(key.rights.clearance.wire_name());
    write_permissions(json, Some(&key.rights));
    json.name("Created").string(&date(key.created));
    json.name("Expires").optional_string(moment(key.expires).as_deref());
    let last_used = tls.and_then(|tls| tls.registry.last_use(key)).max(key.last_used);
    json.name("LastUsed").optional_string(moment(last_used).as_deref());
}

/// GET `/admin/api-keys`: `start`, `pageSize`; or one by `name`.
pub(crate) async fn list(exchange: Exchange) -> Result<Reply> {
    let query = exchange.query();
    let (start, count) = (query.page_start()?, query.page_size()?);
    let name = query.get_nonempty("name").map(|name| ApiKey::id(&name));
    let node = exchange.node.clone();
    let read = move || {
        let stored = node.databases.principals::<ApiKey>()?;
        let asked = stored.into_iter().filter(|(id, _)| name.as_ref().is_none_or(|name| name == id));
        let bound = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let page = asked.skip(bound(start)).take(bound(count));
        Ok(reply::object(StatusCode::OK, |json| {
            json.name("Results").array(|json| {
                for (_, key) in page {
                    json.object(|json| write(json, &key, node.tls.as_ref()));
                }
            });
        }))
    };
    exchange.node.bridge.run(Pool::Short, read).await
}

/// POST `/admin/api-keys`: body `{"Name","SecurityClearance","Permissions","Expires"}`. 201 with the same and `Key`.
///
/// The answer is the only place where the key is. A request that is sent again finds that the name is taken.
pub(crate) async fn create(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let Definition { name, rights } = Definition::parse::<ApiKey>(&body)?;
    let now = to_the_second(SystemTime::now());
    let expires = future(&body, "Expires", now)?.map(to_the_second);
    let caller = Caller::of(&exchange)?;
    let node = exchange.node.clone();
    let make = move || {
        let text = keys::generate()?;
        let hash = HEXLOWER.encode(&keys::hash(text.as_bytes()));
        let key = ApiKey { name, rights, hash, created: now, expires, last_used: None };
        let add = |stored: Option<ApiKey>| match stored {
            None => Ok(Some(key.clone())),
            Some(stored) => Err(Error::Argument(format!(
                "There is an API key '{}' already. Delete it first, or choose another name",
                stored.name
            ))),
        };
        change(caller, &node, "create api key", &ApiKey::id(&key.name), None, add)?;
        Ok(reply::object(StatusCode::CREATED, |json| {
            write(json, &key, None);
            json.name("Key").string(&text);
        }))
    };
    exchange.node.bridge.run(Pool::Short, make).await
}

/// POST `/admin/api-keys/edit`: body as for a new one, with the name of one that exists. What the body does not say is taken away. 204.
/// Connections with the key are closed; the next requests have the new rights.
pub(crate) async fn edit(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_object().await?;
    let Definition { name, rights } = Definition::parse::<ApiKey>(&body)?;
    let expires = future(&body, "Expires", SystemTime::now())?.map(to_the_second);
    let caller = Caller::of(&exchange)?;
    let (node, request_id) = (exchange.node.clone(), request_id(&exchange));
    let edit = move || {
        let id = ApiKey::id(&name);
        change(caller, &node, "edit api key", &id, request_id.as_deref(), |stored| {
            let stored = stored.ok_or_else(|| Error::InvalidOperation(format!("There is no API key '{name}'")))?;
            Ok(Some(ApiKey { name, rights, expires, ..stored }))
        })
    };
    exchange.node.bridge.run(Pool::Short, edit).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// DELETE `/admin/api-keys`: `name`. 204, also if there is none. Connections with the key are closed.
pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let id = ApiKey::id(&exchange.required("name")?);
    let caller = Caller::of(&exchange)?;
    if let Some(key) = exchange.peer.key.as_ref().filter(|key| ApiKey::id(&key.name) == id) {
        let name = &key.name;
        return Err(Error::InvalidOperation(format!("Cannot delete the API key '{name}': it is that of this request")));
    }
    let (node, request_id) = (exchange.node.clone(), request_id(&exchange));
    let delete = move || change(caller, &node, "delete api key", &id, request_id.as_deref(), |_| Ok(None));
    exchange.node.bridge.run(Pool::Short, delete).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

fn change(
    caller: Caller,
    node: &Arc<Node>,
    operation: &str,
    id: &str,
    request_id: Option<&str>,
    change: impl FnOnce(Option<ApiKey>) -> Result<Option<ApiKey>>,
) -> Result<()> {
    caller.change(node, operation, id, request_id, change, |key: &ApiKey| registry::hash_of_text(&key.hash))
}

/// As it is stored.
fn to_the_second(time: SystemTime) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}
