//! `GET /databases/{name}/changes`: a WebSocket that tells clients what changed.
//!
//! The client sends `{"CommandId","Command","Param"}`; each is confirmed. Every frame of ours is a JSON array of messages.
//! What changed after a command was confirmed is told ([`crate::feed`]). A socket that cannot keep that promise is closed, with
//! the reason in the closing frame and in the log: its client connects again and loads anew what it holds. So is one whose
//! client takes nothing, does not answer pings, or watches too much, and those of a database that is disabled or deleted.
//!
//! Watching time series, a missing feature, is refused: the client gets an error with the feature's name, and no
//! confirmation; then the socket is closed, which ends the client's wait for one. Clients connect again and send the same command, one of
//! them without a pause, so that the closing comes a moment later ([`REFUSED_PAUSE`]).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use database::documents::{Feature, MissingFeature};
use database::{Database, IndexChange, Operation, OperationStatus, Progress};
use futures_util::{SinkExt, StreamExt};
use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderName, HeaderValue, UPGRADE};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::sync::broadcast;
use tokio::time::MissedTickBehavior;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role, WebSocketConfig};

use super::operations;
use crate::error::{Error, Result};
use crate::feed::{Change, Feed, FeedCursor, IndexNews, News};
use crate::limits::{
    CHANGES_COMMAND_SIZE_MAX, CLOSE_REASON_SIZE_MAX, Limits, OPERATION_INTERVAL, PINGS_PER_IDLE, PINGS_UNANSWERED_MAX,
    REFUSED_PAUSE, WATCHED_COUNT_MAX, WATCHED_NAME_SIZE_MAX, WATCHED_SIZE_MAX,
};
use crate::messages::reply::{self, Reply};
use crate::node::Node;
use crate::routing::exchange::{Exchange, Upgrade};

const SEC_WEBSOCKET_KEY: HeaderName = HeaderName::from_static("sec-websocket-key");
const SEC_WEBSOCKET_ACCEPT: HeaderName = HeaderName::from_static("sec-websocket-accept");

pub(crate) async fn get(mut exchange: Exchange) -> Result<Reply> {
    let key = exchange.headers.get(&SEC_WEBSOCKET_KEY).cloned();
    let (Some(key), Some(upgrade)) = (key, exchange.upgrade.take()) else {
        return Err(Error::Argument("This endpoint speaks WebSocket only".to_owned()));
    };
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()));
    let accept = accept.map_err(|_| Error::Argument("Sec-WebSocket-Key is not valid".to_owned()))?;
    let feed = exchange.node.feeds.of(exchange.database())?;
    tokio::spawn(run(exchange.node.clone(), feed, upgrade));
    let mut reply = reply::empty(StatusCode::SWITCHING_PROTOCOLS);
    let headers = reply.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    Ok(reply)
}

/// Why a socket ends.
enum End {
    /// The client closed it, or went away.
    Client(String),
    /// We close it, because of this.
    Server(CloseCode, String),
}

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// How long a client that is sent away may take to hear why.
const GOODBYE: Duration = Duration::from_secs(1);

async fn run(node: Arc<Node>, feed: Arc<Feed>, upgrade: Upgrade) {
    let Upgrade { on_upgrade, place } = upgrade;
    let upgraded = match on_upgrade.await {
        Ok(upgraded) => upgraded,
        Err(error) => return tracing::debug!(%error, "a connection did not become a changes socket"),
    };
    let size_max = Some(CHANGES_COMMAND_SIZE_MAX);
    let config = WebSocketConfig::default().max_message_size(size_max).max_frame_size(size_max);
    let mut socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
    node.metrics.changes_sockets.fetch_add(1, Relaxed);
    let end = tokio::select! {
        biased;
        end = ended(&node, &feed) => end,
        () = place.connection.lost_rights() => {
            End::Server(CloseCode::Policy, "the rights of this connection were changed".to_owned())
        }
        end = talk(&mut socket, &feed, &node.limits) => end,
    };
    node.metrics.changes_sockets.fetch_sub(1, Relaxed);
    let database = feed.database().name();
    match end {
        End::Client(how) => tracing::debug!(database, how, "a changes socket ended"),
        End::Server(code, mut reason) => {
            tracing::info!(database, reason, "a changes socket was closed");
            reason.truncate(reason.floor_char_boundary(CLOSE_REASON_SIZE_MAX));
            let frame = CloseFrame { code, reason: reason.into() };
            let _ = tokio::time::timeout(GOODBYE, socket.close(Some(frame))).await;
        }
    }
}

/// Waits until the server stops, or the database is closed.
async fn ended(node: &Node, feed: &Feed) -> End {
    let (mut stopped, mut news) = (node.stopped.clone(), feed.news());
    tokio::select! {
        _ = stopped.wait_for(|is_stopped| *is_stopped) => End::Server(CloseCode::Away, "the server stops".to_owned()),
        news = news.wait_for(|news| matches!(news, News::End(_))) => {
            let reason = match news.as_deref() {
                Ok(News::End(reason)) => reason,
                _ => "its feed of changes ended",
            };
            End::Server(CloseCode::Away, reason.to_owned())
        }
    }
}

/// Obeys the client and tells it what it asked for, until one of the two ends it.
async fn talk(socket: &mut Socket, feed: &Arc<Feed>, limits: &Limits) -> End {
    let mut watched = Watched::default();
    // Only who watches documents has a place in the feed.
    let mut place: Option<FeedCursor> = None;
    let mut index_news: Option<broadcast::Receiver<IndexNews>> = None;
    let mut news = feed.news();
    let mut ticks = tokio::time::interval(OPERATION_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ping_interval = (limits.idle / PINGS_PER_IDLE).max(Duration::from_millis(1));
    let mut pings = tokio::time::interval_at(tokio::time::Instant::now() + ping_interval, ping_interval);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut unanswered = 0;
    let mut message = Some(Message::text("[{\"TopologyChange\":true,\"AggressiveCachingChange\":true}]"));
    loop {
        if let Some(message) = message.take() {
            match tokio::time::timeout(limits.slow_reader, socket.send(message)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return End::Client(error.to_string()),
                Err(_) => return refuse(CLIENT_TAKES_NOTHING),
            }
        }
        message = tokio::select! {
            received = socket.next() => {
                unanswered = 0;
                match received {
                    Some(Ok(Message::Text(text))) => {
                        let confirmed = match watched.take(text.as_bytes()) {
                            Ok(confirmed) => confirmed,
                            Err(Refused::Command(reason)) => return refuse(reason),
                            Err(Refused::Feature(missing)) => return refuse_feature(socket, missing, limits).await,
                        };
                        // Before the confirmation: what comes after it is told.
                        match (watched.has_documents(), &place) {
                            (true, None) => match feed.watch() {
                                Ok(new) => place = Some(new),
                                Err(error) => return End::Server(CloseCode::Error, error.message()),
                            },
                            (false, _) => place = None,
                            (true, Some(_)) => {}
                        }
                        if let Some(place) = &place {
                            place.set_watches_counters(watched.has_counters());
                        }
                        match (watched.has_indexes(), &index_news) {
                            (true, None) => index_news = Some(feed.watch_indexes()),
                            (false, _) => index_news = None,
                            (true, Some(_)) => {}
                        }
                        Some(Message::text(confirmed))
                    }
                    Some(Ok(Message::Ping(data))) => Some(Message::Pong(data)),
                    Some(Ok(Message::Close(_))) | None => return End::Client("closed".to_owned()),
                    Some(Ok(_)) => None,
                    Some(Err(error)) => return End::Client(error.to_string()),
                }
            }
            _ = news.changed(), if place.is_some() => match place.as_ref().and_then(FeedCursor::take) {
                None => return refuse("its client is too far behind (the limit CHANGES_KEPT_SIZE_MAX)"),
                Some(taken) => {
                    if taken.is_cut {
                        news.mark_changed();
                    }
                    watched.document_changes(&taken.changes).map(Message::text)
                }
            },
            news = next_of(&mut index_news) => match news {
                Some(news) => watched.index_change(&news).map(Message::text),
                None => return refuse("its client is too far behind (the limit INDEX_CHANGES_KEPT_MAX)"),
            },
            _ = ticks.tick(), if watched.has_operations() => {
                watched.operation_changes(feed.database()).map(Message::text)
            }
            _ = pings.tick() => {
                if unanswered >= PINGS_UNANSWERED_MAX {
                    return refuse("its client does not answer (the limit Limits.IdleConnectionInSec)");
                }
                unanswered += 1;
                Some(Message::Ping(Vec::new().into()))
            }
        };
    }
}

/// What happens next to an index; `None`: the receiver lacks something. Without one nothing ever happens.
async fn next_of(news: &mut Option<broadcast::Receiver<IndexNews>>) -> Option<IndexNews> {
    match news {
        Some(news) => news.recv().await.ok(),
        None => std::future::pending().await,
    }
}

fn refuse(reason: impl Into<String>) -> End {
    End::Server(CloseCode::Policy, reason.into())
}

/// Tells the client which feature is missing; after a pause its socket is to be closed.
async fn refuse_feature(socket: &mut Socket, missing: MissingFeature, limits: &Limits) -> End {
    let reason = missing.to_string();
    let text = Error::from(missing).text();
    let mut frame = Vec::new();
    json::Writer::new(&mut frame).array(|json| {
        json.object(|json| _ = json.name("Type").string("Error").name("Exception").string(&text));
    });
    let message = Message::text(String::from_utf8_lossy(&frame).into_owned());
    match tokio::time::timeout(limits.slow_reader, socket.send(message)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return End::Client(error.to_string()),
        Err(_) => return refuse(CLIENT_TAKES_NOTHING),
    }
    tokio::time::sleep(REFUSED_PAUSE).await;
    refuse(reason)
}

const CLIENT_TAKES_NOTHING: &str = "its client takes nothing (the limit Limits.SlowReaderInSec)";

/// Why a command is not obeyed.
#[derive(Debug)]
enum Refused {
    /// It is none, or asks for too much: the socket is closed with this reason.
    Command(&'static str),
    /// It needs a missing feature: the client is told which.
    Feature(MissingFeature),
}

impl From<&'static str> for Refused {
    fn from(reason: &'static str) -> Refused {
        Refused::Command(reason)
    }
}

/// The subscriptions of one client.
#[derive(Default)]
struct Watched {
    all_documents: bool,
    /// Lower-cased, as are prefixes and collections.
    ids: BTreeSet<String>,
    prefixes: BTreeSet<String>,
    collections: BTreeSet<String>,
    all_counters: bool,
    /// Lower-cased names of counters, ids of documents, and both with a NUL character between them.
    counters: BTreeSet<String>,
    document_counters: BTreeSet<String>,
    counters_of_documents: BTreeSet<String>,
    all_indexes: bool,
    /// Lower-cased names.
    indexes: BTreeSet<String>,
    aggressive_caching: bool,
    all_operations: bool,
    /// Watched operations that have not ended, as last reported.
    operations: BTreeSet<u64>,
    /// The last reported state of each watched operation.
    reported: BTreeMap<u64, Reported>,
    /// Bytes of all names.
    size: usize,
}

/// A state of an operation.
#[derive(PartialEq)]
struct Reported {
    is_ended: bool,
    progress: Option<Progress>,
}

impl Watched {
    /// Obeys a command and gives its confirmation, or says why it is refused.
    fn take(&mut self, text: &[u8]) -> std::result::Result<String, Refused> {
        const UNKNOWN: &str = "its client sent what is no command";
        let command = json::Value::parse(text).map_err(|_| UNKNOWN)?;
        let name = command.get("Command").and_then(json::Value::as_str).ok_or(UNKNOWN)?.to_ascii_lowercase();
        let parameter = match command.get("Param") {
            Some(json::Value::String(text) | json::Value::Number(text)) => database::documents::id::lower_text(text),
            _ => String::new(),
        };
        let (is_on, kind) = match name.strip_prefix("unwatch-") {
            Some(kind) => (false, kind),
            None => (true, name.strip_prefix("watch-").ok_or(UNKNOWN)?),
        };
        match kind {
            "docs" => self.all_documents = is_on,
            "doc" => change(&mut self.ids, &mut self.size, is_on, parameter)?,
            "prefix" => change(&mut self.prefixes, &mut self.size, is_on, parameter)?,
            "collection" => change(&mut self.collections, &mut self.size, is_on, parameter)?,
            "indexes" => self.all_indexes = is_on,
            "index" => change(&mut self.indexes, &mut self.size, is_on, parameter)?,
            "aggressive-caching" => self.aggressive_caching = is_on,
            "operations" => self.all_operations = is_on,
            "operation" => {
                let id = parameter.parse().map_err(|_| UNKNOWN)?;
                if !is_on {
                    self.operations.remove(&id);
                } else {
                    self.operations.insert(id);
                    self.reported.remove(&id);
                }
            }
            "topology-change" => {}
            "counters" => self.all_counters = is_on,
            "counter" => change(&mut self.counters, &mut self.size, is_on, parameter)?,
            "document-counters" => change(&mut self.document_counters, &mut self.size, is_on, parameter)?,
            "document-counter" => {
                let Some(json::Value::Array(parts)) = command.get("Params") else { return Err(UNKNOWN.into()) };
                let [json::Value::String(id), json::Value::String(name)] = parts.as_slice() else {
                    return Err(UNKNOWN.into());
                };
                let both = database::documents::id::lower_text(&format!("{id}\0{name}"));
                change(&mut self.counters_of_documents, &mut self.size, is_on, both)?;
            }
            "all-timeseries" | "timeseries" | "all-document-timeseries" | "document-timeseries" => {
                refuse_watching(is_on, Feature::TimeSeries, &name)?;
            }
            _ => return Err(UNKNOWN.into()),
        }
        let names = self.ids.len() + self.prefixes.len() + self.collections.len() + self.indexes.len();
        let names = names + self.counters.len() + self.document_counters.len() + self.counters_of_documents.len();
        if names + self.operations.len() > WATCHED_COUNT_MAX {
            return Err("its client watches too much (the limit WATCHED_COUNT_MAX)".into());
        }
        if self.size > WATCHED_SIZE_MAX {
            return Err("its client watches too much (the limit WATCHED_SIZE_MAX)".into());
        }
        let mut confirmed = Vec::new();
        json::Writer::new(&mut confirmed).array(|json| {
            json.object(|json| {
                json.name("CommandId").signed(command.get("CommandId").and_then(json::Value::as_i64).unwrap_or(0));
                json.name("Type").string("Confirm");
            });
        });
        Ok(String::from_utf8(confirmed).map_err(|_| UNKNOWN)?)
    }

    fn has_documents(&self) -> bool {
        let sets = [&self.ids, &self.prefixes, &self.collections];
        self.all_documents || self.aggressive_caching || self.has_counters() || sets.iter().any(|set| !set.is_empty())
    }

    fn has_counters(&self) -> bool {
        let sets = [&self.counters, &self.document_counters, &self.counters_of_documents];
        self.all_counters || sets.iter().any(|set| !set.is_empty())
    }

    fn has_indexes(&self) -> bool {
        self.all_indexes || !self.indexes.is_empty()
    }

    fn has_operations(&self) -> bool {
        self.all_operations || !self.operations.is_empty()
    }

    fn wants(&self, change: &Change) -> bool {
        if let Some((_, name)) = &change.counter {
            return self.all_counters
                || self.counters.contains(name)
                || self.document_counters.contains(&change.id_key)
                || self.counters_of_documents.contains(&format!("{}\0{name}", change.id_key));
        }
        self.all_documents
            || self.ids.contains(&change.id_key)
            || has_prefix_of(&self.prefixes, &change.id_key)
            || change.collection_key.as_ref().is_some_and(|collection| self.collections.contains(collection))
    }

    /// A frame with those changes that this client asked for.
    fn document_changes(&self, changes: &[Arc<Change>]) -> Option<String> {
        if self.aggressive_caching {
            // Such a client gets this instead of documents.
            return changes
                .iter()
                .any(|change| change.counter.is_none())
                .then(|| "[{\"Type\":\"AggressiveCacheChange\"}]".to_owned());
        }
        let mut frame = Vec::new();
        let mut is_empty = true;
        json::Writer::new(&mut frame).array(|json| {
            for change in changes.iter().filter(|change| self.wants(change)) {
                is_empty = false;
                if let Some((counter, _)) = &change.counter {
                    json.object(|json| {
                        json.name("Type").string("CounterChange").name("Value").object(|json| {
                            json.name("Name").string(&counter.name).name("Value").signed(counter.value);
                            json.name("DocumentId").string(&change.id);
                            json.name("CollectionName").optional_string(change.collection.as_deref());
                            json.name("ChangeVector").string(&change.change_vector).name("Type").string(change.kind);
                        });
                    });
                    continue;
                }
                json.object(|json| {
                    json.name("Type").string("DocumentChange").name("Value").object(|json| {
                        json.name("Type").string(change.kind).name("Id").string(&change.id);
                        json.name("CollectionName").optional_string(change.collection.as_deref());
                        json.name("ChangeVector").string(&change.change_vector);
                    });
                });
            }
        });
        String::from_utf8(frame).ok().filter(|_| !is_empty)
    }

    /// A frame with what happened to an index, if this client asked for it.
    fn index_change(&self, news: &IndexNews) -> Option<String> {
        if !self.all_indexes && !self.indexes.contains(&*news.key) {
            return None;
        }
        let kind = match news.change {
            IndexChange::Added => "IndexAdded",
            IndexChange::Removed => "IndexRemoved",
            IndexChange::BatchCompleted => "BatchCompleted",
            IndexChange::Replaced => "SideBySideReplace",
            IndexChange::Failed => "IndexMarkedAsErrored",
            IndexChange::Paused => "IndexPaused",
            IndexChange::Disabled => "IndexDemotedToDisabled",
            IndexChange::LockModeChanged => "LockModeChanged",
            IndexChange::PriorityChanged => "PriorityChanged",
        };
        let mut frame = Vec::new();
        json::Writer::new(&mut frame).array(|json| {
            json.object(|json| {
                json.name("Type").string("IndexChange").name("Value").object(|json| {
                    json.name("Type").string(kind).name("Name").string(&news.name);
                });
            });
        });
        String::from_utf8(frame).ok()
    }

    /// A frame with the operations whose state changed since it was told.
    fn operation_changes(&mut self, database: &Database) -> Option<String> {
        let operations: Vec<Arc<Operation>> = match self.all_operations {
            true => database.operations().all(),
            false => self.operations.iter().filter_map(|id| database.operations().get(*id)).collect(),
        };
        // Both are sorted by number.
        self.reported.retain(|id, _| operations.binary_search_by_key(id, |operation| operation.id()).is_ok());
        let mut frame = Vec::new();
        let mut is_empty = true;
        json::Writer::new(&mut frame).array(|json| {
            for operation in operations {
                let id = operation.id();
                let is_ended = !matches!(operation.status(), OperationStatus::InProgress);
                let now = Reported { is_ended, progress: operation.progress().filter(|_| !is_ended) };
                // Clients read the progress of what goes on without asking whether there is one.
                if self.reported.get(&id) == Some(&now) || (!is_ended && now.progress.is_none()) {
                    continue;
                }
                is_empty = false;
                json.object(|json| {
                    json.name("Type").string("OperationStatusChange").name("Value").object(|json| {
                        json.name("OperationId").unsigned(id);
                        json.name("State").object(|json| operations::write(json, &operation));
                    });
                });
                self.reported.insert(id, now);
                if is_ended {
                    self.operations.remove(&id);
                }
            }
        });
        String::from_utf8(frame).ok().filter(|_| !is_empty)
    }
}

/// Refuses to watch items of a missing feature. Not to watch them any more is no work.
fn refuse_watching(is_on: bool, feature: Feature, command: &str) -> std::result::Result<(), Refused> {
    match is_on {
        true => Err(Refused::Feature(feature.missing_for(format!("'{command}' on the changes socket")))),
        false => Ok(()),
    }
}

/// Adds a name to what is watched, or takes it away.
///
/// * `size`: bytes of all names.
fn change(
    names: &mut BTreeSet<String>,
    size: &mut usize,
    is_on: bool,
    name: String,
) -> std::result::Result<(), &'static str> {
    let name_size = name.len();
    if !is_on {
        *size -= if names.remove(&name) { name_size } else { 0 };
    } else if name_size > WATCHED_NAME_SIZE_MAX {
        return Err("its client watches a name that is too long (the limit WATCHED_NAME_SIZE_MAX)");
    } else {
        *size += if names.insert(name) { name_size } else { 0 };
    }
    Ok(())
}

/// Whether `id` begins with one of `prefixes`. As many look-ups as there are different beginnings to go through, not as many
/// as there are prefixes.
fn has_prefix_of(prefixes: &BTreeSet<String>, id: &str) -> bool {
    let mut start = id;
    // The greatest prefix up to `start` is a prefix of it, or shares a beginning with it; then every prefix of `start` is also
    // one of that beginning, for a longer one would lie in between.
    while let Some(nearest) = prefixes.range::<str, _>((Bound::Unbounded, Bound::Included(start))).next_back() {
        if start.starts_with(nearest.as_str()) {
            return true;
        }
        let shared = start.bytes().zip(nearest.bytes()).take_while(|(left, right)| left == right).count();
        start = &start[..start.floor_char_boundary(shared)];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_found_as_if_all_were_compared() {
        let names =
            ["", "a", "ab", "abc", "abd", "b", "ba", "é", "éa", "ê", "aé", "aéb", "abcdefgh", "users/", "users/1"];
        for mask in 0u32..1 << names.len() {
            // Every set of up to three of them.
            if mask.count_ones() > 3 {
                continue;
            }
            let chosen = names.iter().enumerate().filter(|(place, _)| mask & (1 << place) != 0);
            let prefixes: BTreeSet<String> = chosen.map(|(_, name)| (*name).to_owned()).collect();
            for id in names {
                let expected = prefixes.iter().any(|prefix| id.starts_with(prefix.as_str()));
                assert_eq!(has_prefix_of(&prefixes, id), expected, "{id} {prefixes:?}");
            }
        }
    }

    #[test]
    fn what_is_not_watched_any_more_leaves_no_trace() {
        let mut watched = Watched::default();
        for _ in 0..3 {
            for kind in ["doc", "prefix", "collection"] {
                watched.take(format!(r#"{{"Command":"watch-{kind}","Param":"Name"}}"#).as_bytes()).unwrap();
            }
        }
        assert_eq!(watched.size, 12);
        for kind in ["doc", "prefix", "collection", "doc"] {
            watched.take(format!(r#"{{"Command":"unwatch-{kind}","Param":"NAME"}}"#).as_bytes()).unwrap();
        }
        assert_eq!(watched.size, 0);
        assert!(!watched.has_documents());
    }
}
