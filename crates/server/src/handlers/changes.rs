//! `GET /databases/{name}/changes`: a WebSocket that tells clients what changed.
//!
//! The client sends `{"CommandId","Command","Param"}`; each is confirmed. Every frame of ours is a JSON array of messages.
//! What changed is not pushed here by writers: they only wake this task, which pulls "what changed after etag E" from a
//! snapshot, as everything derived does. So a document that was written twice in between is told once, with its latest
//! state; none is missed, and a slow client holds nobody up.
//!
//! Counters, time series and indexes are not there yet, so that watching them is confirmed and nothing ever happens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use database::documents::Etag;
use database::{ChangeListener, Committed, Database};
use futures_util::{SinkExt, StreamExt};
use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderName, HeaderValue, UPGRADE};
use hyper_util::rt::TokioIo;
use tokio::sync::{Notify, watch};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocketConfig};

use super::operations;
use crate::error::{Error, Result};
use crate::exchange::{Exchange, Upgrade};
use crate::reply::{self, Reply};

const SEC_WEBSOCKET_KEY: HeaderName = HeaderName::from_static("sec-websocket-key");
const SEC_WEBSOCKET_ACCEPT: HeaderName = HeaderName::from_static("sec-websocket-accept");

/// Bytes of one command of a client.
const COMMAND_SIZE_MAX: usize = 64 << 10;

/// Things that one client watches, each an id, prefix, collection or number.
const WATCHED_COUNT_MAX: usize = 10_000;

/// How often the states of watched operations are compared.
const OPERATION_INTERVAL: Duration = Duration::from_millis(200);

/// Changes of one frame, so that a client that was away for long gets several.
const FRAME_CHANGES_MAX: usize = 1024;

pub(crate) async fn get(mut exchange: Exchange) -> Result<Reply> {
    let key = exchange.headers.get(&SEC_WEBSOCKET_KEY).cloned();
    let (Some(key), Some(upgrade)) = (key, exchange.upgrade.take()) else {
        return Err(Error::Argument("This endpoint speaks WebSocket only".to_owned()));
    };
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()));
    let accept = accept.map_err(|_| Error::Argument("Sec-WebSocket-Key is not valid".to_owned()))?;
    let database = exchange.database().clone();
    // Everything after the answer is told, so the start is taken before it.
    let last_etag = database.read().last_etag()?;
    let stopped = exchange.node.stopped.clone();
    tokio::spawn(async move {
        if let Err(error) = run(database, last_etag, upgrade, stopped).await {
            tracing::debug!(error, "a changes socket ended early");
        }
    });
    let mut reply = reply::empty(StatusCode::SWITCHING_PROTOCOLS);
    let headers = reply.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    Ok(reply)
}

/// Wakes a socket's task.
struct Bell(Notify);

impl ChangeListener for Bell {
    fn committed(&self, _: Committed) {
        self.0.notify_one();
    }

    fn closed(&self) {
        self.0.notify_one();
    }
}

/// Rings as long as it lives.
struct Registered {
    database: Arc<Database>,
    listener: Arc<dyn ChangeListener>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.database.remove_listener(&self.listener);
    }
}

async fn run(
    database: Arc<Database>,
    mut last_etag: Etag,
    upgrade: Upgrade,
    mut stopped: watch::Receiver<bool>,
) -> std::result::Result<(), String> {
    let Upgrade { on_upgrade, place: _place } = upgrade;
    let upgraded = on_upgrade.await.map_err(|error| error.to_string())?;
    let config =
        WebSocketConfig::default().max_message_size(Some(COMMAND_SIZE_MAX)).max_frame_size(Some(COMMAND_SIZE_MAX));
    let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
    let (mut sink, mut commands) = socket.split();
    let bell = Arc::new(Bell(Notify::new()));
    let listener: Arc<dyn ChangeListener> = bell.clone();
    database.add_listener(listener.clone());
    let _registered = Registered { database: database.clone(), listener };
    let mut watched = Watched::default();
    let mut ticks = tokio::time::interval(OPERATION_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let hello = "[{\"TopologyChange\":true,\"AggressiveCachingChange\":true}]";
    let failed = |error: tokio_tungstenite::tungstenite::Error| error.to_string();
    sink.send(Message::text(hello)).await.map_err(failed)?;
    // What was closed is let go of: its files may go, or it may be opened again, when nobody holds it any more.
    while !database.is_closed() {
        let frame = tokio::select! {
            _ = stopped.changed() => break,
            command = commands.next() => match command {
                Some(Ok(Message::Text(text))) => match watched.take(text.as_bytes()) {
                    Some(confirmed) => Some(confirmed),
                    // An unknown command closes the socket without an answer.
                    None => break,
                },
                // Pings are answered by the library with the next frame of ours, or here.
                Some(Ok(Message::Ping(_))) => {
                    sink.flush().await.map_err(failed)?;
                    None
                }
                Some(Ok(Message::Close(_))) | None => break,
                Some(Ok(_)) => None,
                Some(Err(error)) => return Err(error.to_string()),
            },
            () = bell.0.notified() => {
                let pulled = pull(&database, last_etag, &watched);
                let pulled = pulled.map_err(|error| error.to_string())?;
                last_etag = pulled.until;
                if pulled.is_cut {
                    bell.0.notify_one();
                }
                pulled.frame
            }
            _ = ticks.tick(), if watched.has_operations() => watched.operation_changes(&database),
        };
        if let Some(frame) = frame {
            sink.send(Message::text(frame)).await.map_err(failed)?;
        }
    }
    let _ = sink.close().await;
    Ok(())
}

/// What one client asked for.
#[derive(Default)]
struct Watched {
    all_documents: bool,
    /// Lower-cased, as are prefixes and collections.
    ids: BTreeSet<String>,
    prefixes: BTreeSet<String>,
    collections: BTreeSet<String>,
    aggressive_caching: bool,
    all_operations: bool,
    /// With the state that was told last.
    operations: BTreeMap<u64, Vec<u8>>,
}

impl Watched {
    /// Obeys a command and gives its confirmation; `None` if there is no such command.
    fn take(&mut self, text: &[u8]) -> Option<String> {
        let command = json::Value::parse(text).ok()?;
        let name = command.get("Command").and_then(json::Value::as_str)?.to_ascii_lowercase();
        let parameter = match command.get("Param") {
            Some(json::Value::String(text) | json::Value::Number(text)) => text.to_lowercase(),
            _ => String::new(),
        };
        let (is_on, kind) = match name.strip_prefix("unwatch-") {
            Some(kind) => (false, kind),
            None => (true, name.strip_prefix("watch-")?),
        };
        let set = |set: &mut BTreeSet<String>| {
            if !is_on {
                set.remove(&parameter);
            } else if set.len() < WATCHED_COUNT_MAX {
                set.insert(parameter.clone());
            }
        };
        match kind {
            "docs" => self.all_documents = is_on,
            "doc" => set(&mut self.ids),
            "prefix" => set(&mut self.prefixes),
            "collection" => set(&mut self.collections),
            "aggressive-caching" => self.aggressive_caching = is_on,
            "operations" => self.all_operations = is_on,
            "operation" => {
                let id = parameter.parse().ok()?;
                if !is_on {
                    self.operations.remove(&id);
                } else if self.operations.len() < WATCHED_COUNT_MAX {
                    self.operations.entry(id).or_default();
                }
            }
            "topology-change"
            | "index"
            | "indexes"
            | "counters"
            | "counter"
            | "document-counters"
            | "document-counter"
            | "all-timeseries"
            | "timeseries"
            | "all-document-timeseries"
            | "document-timeseries" => {}
            _ => return None,
        }
        let mut confirmed = Vec::new();
        json::Writer::new(&mut confirmed).array(|json| {
            json.object(|json| {
                json.name("CommandId").signed(command.get("CommandId").and_then(json::Value::as_i64).unwrap_or(0));
                json.name("Type").string("Confirm");
            });
        });
        String::from_utf8(confirmed).ok()
    }

    fn has_documents(&self) -> bool {
        let sets = [&self.ids, &self.prefixes, &self.collections];
        self.all_documents || self.aggressive_caching || sets.iter().any(|set| !set.is_empty())
    }

    fn has_operations(&self) -> bool {
        self.all_operations || !self.operations.is_empty()
    }

    fn wants(&self, id: &str, collection: Option<&str>) -> bool {
        if self.all_documents {
            return true;
        }
        let id = id.to_lowercase();
        self.ids.contains(&id)
            || self.prefixes.iter().any(|prefix| id.starts_with(prefix.as_str()))
            || collection.is_some_and(|collection| self.collections.contains(&collection.to_lowercase()))
    }

    /// A frame with the operations whose state changed since it was told.
    fn operation_changes(&mut self, database: &Database) -> Option<String> {
        let mut frame = Vec::new();
        let mut is_empty = true;
        json::Writer::new(&mut frame).array(|json| {
            for operation in database.operations().all() {
                let id = operation.id();
                if !self.all_operations && !self.operations.contains_key(&id) {
                    continue;
                }
                let mut state = Vec::new();
                json::Writer::new(&mut state).object(|json| operations::write(json, &operation));
                let told = self.operations.entry(id).or_default();
                if *told == state {
                    continue;
                }
                is_empty = false;
                json.object(|json| {
                    json.name("Type").string("OperationStatusChange").name("Value").object(|json| {
                        json.name("OperationId").unsigned(id).name("State").raw(&state);
                    });
                });
                *told = state;
            }
        });
        String::from_utf8(frame).ok().filter(|_| !is_empty)
    }
}

/// One change of a document.
struct Change {
    etag: Etag,
    kind: &'static str,
    id: String,
    collection: Option<String>,
    change_vector: String,
}

/// What a look at the database came to.
struct Pulled {
    /// Something for this client.
    frame: Option<String>,
    /// The etag up to which everything was seen.
    until: Etag,
    /// There is more behind it already.
    is_cut: bool,
}

/// What changed after `last_etag`.
fn pull(database: &Database, last_etag: Etag, watched: &Watched) -> Result<Pulled> {
    let snapshot = database.read();
    let now = snapshot.last_etag()?;
    if !watched.has_documents() || now == last_etag {
        return Ok(Pulled { frame: None, until: now, is_cut: false });
    }
    if watched.aggressive_caching {
        // Such a client gets this instead of documents.
        let frame = Some("[{\"Type\":\"AggressiveCacheChange\"}]".to_owned());
        return Ok(Pulled { frame, until: now, is_cut: false });
    }
    let store = database.documents();
    let mut changes = Vec::new();
    for document in snapshot.after(last_etag).take(FRAME_CHANGES_MAX) {
        let document = document?;
        changes.push(Change {
            etag: document.etag(),
            kind: "Put",
            id: document.id().to_owned(),
            collection: document.collection().map(std::borrow::Cow::into_owned),
            change_vector: document.change_vector(),
        });
    }
    for collection in snapshot.collections()? {
        for tombstone in snapshot.collection_tombstones_after(&collection.name, last_etag)?.take(FRAME_CHANGES_MAX) {
            let tombstone = tombstone?;
            changes.push(Change {
                etag: tombstone.etag(),
                kind: "Delete",
                id: tombstone.id().to_owned(),
                collection: Some(collection.name.clone()),
                change_vector: format!("{}:{}-{}", store.node_tag(), tombstone.etag(), store.database_id()),
            });
        }
    }
    changes.sort_unstable_by_key(|change| change.etag);
    // Where one of the lists was cut, others may lack what lies behind: go only as far as all of them do.
    let mut until = now;
    if changes.len() >= FRAME_CHANGES_MAX {
        changes.truncate(FRAME_CHANGES_MAX);
        until = changes.last().map_or(now, |change| change.etag);
    }
    let mut frame = Vec::new();
    let mut is_empty = true;
    json::Writer::new(&mut frame).array(|json| {
        for change in changes.iter().filter(|change| watched.wants(&change.id, change.collection.as_deref())) {
            is_empty = false;
            json.object(|json| {
                json.name("Type").string("DocumentChange").name("Value").object(|json| {
                    json.name("Type").string(change.kind).name("Id").string(&change.id);
                    json.name("CollectionName").optional_string(change.collection.as_deref());
                    json.name("ChangeVector").string(&change.change_vector);
                });
            });
        }
    });
    let frame = String::from_utf8(frame).ok().filter(|_| !is_empty);
    Ok(Pulled { frame, until, is_cut: until < now })
}
