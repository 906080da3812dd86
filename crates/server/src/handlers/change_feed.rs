//! `/databases/{name}/feed`: what was stored and deleted, for consumers that speak nothing but HTTP.
//!
//! ```text
//! GET feed?after=17&wait=30            a page, as lines of JSON; the last one tells where the next page begins
//! GET feed?after=17&format=sse         an event stream (Server-Sent Events, HTML Living Standard 9.2): page after page, without an end
//! PUT feed/cursors?name=me&after=17    keeps a place with the database, and with it what was deleted since
//! ```
//!
//! A page is made on a thread of the pool of reads, in memory that is there before ([`crate::consumer_memory`]), and sent as it is; nothing
//! is kept for a reader between two pages. Readers that wait cost no thread: a commit wakes those whose kinds and collection it concerns
//! ([`crate::bells`]).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use database::Database;
use database::change_feed::{FeedCursor, FeedPage, FeedPlace, FeedRequest, FeedSink};
use database::documents::Etag;
use database::limits::FEED_PAGE_SIZE_MAX;
use hyper::StatusCode;
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use json::Writer;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use crate::bells::Watched;
use crate::bridge::Pool;
use crate::consumer_memory::Room;
use crate::error::{Error, Result};
use crate::limits::{CONSUMER_ITEM_SIZE, FEED_HEARTBEAT, FEED_PAGE, FEED_PAGES_MAX, FEED_RETRY, FEED_WAIT_MAX};
use crate::messages::reply::{self, BodyPart, Reply, Waits};
use crate::node::Node;
use crate::routing::exchange::Exchange;

/// The place of the last event that a client of an event stream has seen.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How changes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A line of JSON each.
    Lines,
    /// An event each, without an end.
    Events,
}

impl Form {
    fn of(exchange: &Exchange) -> Result<Form> {
        match exchange.query().get_nonempty("format").as_deref() {
            Some("jsonl") => Ok(Form::Lines),
            Some("sse") => Ok(Form::Events),
            Some(other) => Err(Error::parameter("format", other, "jsonl or sse")),
            None => {
                let accepted = exchange.headers.get(ACCEPT).map_or(&b""[..], |value| value.as_bytes());
                let asks = accepted.windows(EVENT_STREAM.len()).any(|part| part.eq_ignore_ascii_case(EVENT_STREAM));
                Ok(if asks { Form::Events } else { Form::Lines })
            }
        }
    }

    fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Form::Lines => "application/x-ndjson; charset=utf-8",
            Form::Events => "text/event-stream; charset=utf-8",
        })
    }
}

const EVENT_STREAM: &[u8] = b"text/event-stream";

/// Why a reader that waited goes on.
enum Woken {
    News,
    Time,
    Stopped,
}

/// A client that reads the feed of a database.
struct Reader {
    node: Arc<Node>,
    database: Arc<Database>,
    request: Arc<FeedRequest>,
    form: Form,
    count_max: usize,
    place: FeedPlace,
    /// The cursor that the request names.
    cursor: Option<String>,
    /// The etag of the last change that the client was told of; 0: of none.
    told: Etag,
    news: watch::Receiver<Etag>,
}

/// GET: `after` or `cursor`, `collection`, `kinds`, `query`, `pageSize`, `wait`, `format`.
pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    let form = Form::of(&exchange)?;
    let query = exchange.query();
    let [kinds, collection, text] = ["kinds", "collection", "query"].map(|name| query.get_nonempty(name));
    let request = FeedRequest::new(kinds.as_deref(), collection.map(|name| name.into_owned()), text.as_deref())?;
    let (place, count) = (place(&exchange)?, query.number("pageSize")?.unwrap_or(FEED_PAGE));
    if count == 0 {
        return Err(Error::parameter("pageSize", "0", "a number from 1 on"));
    }
    let wait = query.number("wait")?.unwrap_or(0);
    if wait > FEED_WAIT_MAX {
        return Err(Error::Argument(format!(
            "'wait' is {wait} seconds, over the limit FEED_WAIT_MAX of {FEED_WAIT_MAX}. Ask again when the answer has come"
        )));
    }
    let (node, database) = (exchange.node.clone(), exchange.database().clone());
    let watched = Watched {
        kinds: request.kinds().to_vec(),
        collection: request.collection().map(str::to_owned),
        deletions: true,
    };
    // Before the first page: what is written after that rings.
    let bell = node.bells.of(&database);
    let news = bell.watch(watched);
    let count_max = usize::try_from(count).unwrap_or(usize::MAX);
    let cursor = query.get_nonempty("cursor").map(|name| name.into_owned());
    let mut reader =
        Reader { node, database, request: Arc::new(request), form, count_max, place, cursor, told: 0, news };
    let mut reply = match form {
        Form::Lines => {
            let until = Instant::now() + Duration::from_secs(wait);
            let mut lines = reader.page_within(until).await?;
            lines.room.counted_elsewhere();
            reply::ok(lines.into_bytes())
        }
        Form::Events => {
            // Made before the head is sent, so that a refusal is an answer like any other.
            let first = reader.page().await?;
            let (sender, receiver) = mpsc::channel(FEED_PAGES_MAX);
            let task = tokio::spawn(async move {
                let _bell = bell;
                reader.follow(first, &sender).await;
            });
            let mut reply = reply::ok(Bytes::new());
            reply.body_mut().set_parts(receiver);
            // A client that goes away ends the task.
            reply.body_mut().keep_waiting(Arc::new(Waits::for_task(&task)));
            reply
        }
    };
    reply.headers_mut().insert(CONTENT_TYPE, form.content_type());
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(reply)
}

/// Where the reader begins.
fn place(exchange: &Exchange) -> Result<FeedPlace> {
    let query = exchange.query();
    if let Some(seen) = exchange.headers.get(&LAST_EVENT_ID) {
        return place_of("Last-Event-ID", &String::from_utf8_lossy(seen.as_bytes()));
    }
    match (query.get_nonempty("after"), query.get_nonempty("cursor")) {
        (Some(_), Some(_)) => {
            let rule = "'after' and 'cursor' both say where the feed begins. Leave one of them out";
            Err(Error::Argument(rule.to_owned()))
        }
        (Some(after), None) => place_of("after", &after),
        (None, None) => Ok(FeedPlace::default()),
        (None, Some(name)) => Ok(exchange.database().feed_cursor(&name)?.place),
    }
}

fn place_of(parameter: &str, text: &str) -> Result<FeedPlace> {
    FeedPlace::parse(text).ok_or_else(|| Error::parameter(parameter, text, "an etag, or the `After` of a page before"))
}

impl Reader {
    /// Reads a page, on a thread, and goes on behind it. Its memory is there before it is made.
    async fn page(&mut self) -> Result<(FeedPage, Lines)> {
        self.news.mark_unchanged();
        let mut size = FEED_PAGE_SIZE_MAX + CONSUMER_ITEM_SIZE;
        loop {
            let room = self.node.consumers.room_within(size, self.node.limits.blocking_wait).await;
            let mut lines = Lines::new(self.form, room.map_err(database::Error::from)?);
            let (database, request) = (self.database.clone(), self.request.clone());
            let (place, count_max) = (self.place, self.count_max);
            let make = move || {
                let page = database.read_feed(&request, place, count_max, &mut lines)?;
                Ok((page, lines))
            };
            let (page, mut lines) = self.node.bridge.run(Pool::Reads, make).await?;
            let made = lines.bytes.len() + POSITION_SIZE;
            match lines.room.fit(made) {
                Ok(()) => {
                    self.place = page.until;
                    self.told = self.told.max(lines.told);
                    return Ok((page, lines));
                }
                // A large document. The page is made again when there is room for it.
                Err(_) if size < made => size = made,
                Err(error) => return Err(database::Error::from(error).into()),
            }
        }
    }

    /// Keeps the cursor of a client that has handled everything it was told: it has nothing to move the cursor for.
    async fn refresh_cursor(&self) {
        let Some(name) = &self.cursor else { return };
        let now = self.node.databases.clock().now();
        let refreshed = match self.database.refresh_feed_cursor(name, self.told, now) {
            Ok(None) => return,
            Ok(Some(write)) => {
                let answer = self.node.bridge.answer(|done| self.database.propose(write, done.into_call_back())).await;
                answer.map(drop)
            }
            Err(error) => Err(error.into()),
        };
        if let Err(error) = refreshed {
            // The cursor is good for days, and the next look tries again.
            tracing::warn!(database = self.database.name(), cursor = name, %error, "a cursor of the change feed could not be refreshed");
        }
    }

    /// The first page that has a change, or what there is at that time.
    async fn page_within(&mut self, until: Instant) -> Result<Lines> {
        let mut is_over = false;
        loop {
            let (page, mut lines) = self.page().await?;
            is_over |= !lines.bytes.is_empty() || Instant::now() >= until || self.database.is_closed();
            if is_over {
                if lines.bytes.is_empty() && page.is_at_end {
                    self.refresh_cursor().await;
                }
                lines.write_position(page);
                return Ok(lines);
            }
            // Who waits holds no memory.
            drop(lines);
            is_over = page.is_at_end && !matches!(self.wait(until).await, Woken::News);
        }
    }

    /// Waits until an item that the reader wants was written, or the database was closed; no longer than until a time.
    async fn wait(&mut self, until: Instant) -> Woken {
        let mut stopped = self.node.stopped.clone();
        let stopped = async { drop(stopped.wait_for(|is_stopped| *is_stopped).await) };
        tokio::select! {
            _ = self.news.changed() => Woken::News,
            () = sleep_until(until) => Woken::Time,
            () = stopped => Woken::Stopped,
        }
    }

    /// Sends page after page, until the client goes away, the server stops, or the feed cannot be read.
    async fn follow(mut self, first: (FeedPage, Lines), sender: &mpsc::Sender<BodyPart>) {
        let (mut first, mut told) = (Some(first), None);
        // A page is made once there is a place for it: a client that takes nothing has one there and one with the network, and no more.
        while let Ok(place) = sender.reserve().await {
            let next = match first.take() {
                Some(first) => Ok(first),
                None => self.page().await,
            };
            let page = match next {
                Ok((page, mut lines)) => {
                    if told != Some(page.until) {
                        lines.write_position(page);
                        told = Some(page.until);
                    }
                    match lines.bytes.is_empty() {
                        true => drop(place),
                        false => place.send(BodyPart::Bytes(lines.into_bytes())),
                    }
                    page
                }
                // Others have the threads or the memory; the changes do not go away.
                Err(error) if error.is_shortage() => {
                    sleep(FEED_RETRY).await;
                    continue;
                }
                Err(error) => {
                    place.send(BodyPart::Bytes(failure(&error).into()));
                    return drop(sender.send(BodyPart::End).await);
                }
            };
            if page.is_at_end && !self.rest(sender).await {
                return;
            }
            if self.database.is_closed() || self.database.has_moved() {
                // The client connects again, to what the database is then.
                return drop(sender.send(BodyPart::End).await);
            }
        }
    }

    /// Waits for news, with a sign of life now and then; false: the stream is over.
    async fn rest(&mut self, sender: &mpsc::Sender<BodyPart>) -> bool {
        loop {
            self.refresh_cursor().await;
            match self.wait(Instant::now() + FEED_HEARTBEAT).await {
                Woken::News => return true,
                Woken::Time => {
                    let sign = BodyPart::Bytes(Bytes::from_static(b": nothing new\n\n"));
                    if sender.send(sign).await.is_err() {
                        return false;
                    }
                }
                Woken::Stopped => {
                    // An error says that the client has gone.
                    _ = sender.send(BodyPart::End).await;
                    return false;
                }
            }
        }
    }
}

/// The last event of a stream that ends by this.
fn failure(error: &Error) -> Vec<u8> {
    let mut event = b"event: Error\ndata: ".to_vec();
    Writer::new(&mut event).object(|json| {
        json.name("Type").string(error.exception()).name("Message").string(&error.message());
    });
    event.extend_from_slice(b"\n\n");
    event
}

/// A page as it is sent.
struct Lines {
    form: Form,
    bytes: Vec<u8>,
    /// An event has its content, but not its end.
    is_open: bool,
    /// The etag of the last change.
    told: Etag,
    /// A line has come whose place has not.
    has_line: bool,
    room: Room,
}

impl FeedSink for Lines {
    fn begin(&mut self) {
        if self.form == Form::Events {
            self.close();
            self.bytes.extend_from_slice(b"data: ");
        }
    }

    fn line(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    fn end(&mut self, change: &'static str) {
        self.has_line = true;
        self.bytes.push(b'\n');
        if self.form == Form::Events {
            self.bytes.extend_from_slice(format!("event: {change}\n").as_bytes());
            self.is_open = true;
        }
    }

    /// The last event of an etag alone has its place as id: a client that connects again has handled all before it.
    fn passed(&mut self, place: FeedPlace) {
        if std::mem::take(&mut self.has_line) {
            self.told = place.after;
        }
        if self.is_open {
            self.bytes.extend_from_slice(format!("id: {place}\n").as_bytes());
            self.close();
        }
    }

    fn size(&self) -> usize {
        self.bytes.len()
    }
}

impl Lines {
    fn new(form: Form, room: Room) -> Lines {
        Lines { form, bytes: Vec::new(), is_open: false, told: 0, has_line: false, room }
    }

    fn into_bytes(self) -> Bytes {
        self.room.fill(self.bytes)
    }

    fn close(&mut self) {
        if self.is_open {
            self.bytes.push(b'\n');
            self.is_open = false;
        }
    }

    /// Tells where the next page begins.
    fn write_position(&mut self, page: FeedPage) {
        self.begin();
        Writer::new(&mut self.bytes).object(|json| {
            json.name("Change").string(POSITION).name("After").string(&page.until.to_string());
            json.name("Etag").unsigned(page.until.after).name("IsAtEnd").bool(page.is_at_end);
        });
        self.end(POSITION);
        self.passed(page.until);
    }
}

/// Bytes of the line that ends a page, or less.
const POSITION_SIZE: usize = 256;

/// The value of `Change` of the line that ends a page.
const POSITION: &str = "Position";

fn write_cursor(json: &mut Writer<'_>, cursor: &FeedCursor, exchange: &Exchange) {
    json.name("Name").string(&cursor.name).name("After").string(&cursor.place.to_string());
    json.name("MovedAt").string(&cursor.moved.to_string());
    let now = exchange.node.databases.clock().now();
    json.name("KeepsDeletions").bool(cursor.holds_tombstones(exchange.database(), now));
}

/// GET `cursors`: `{Results, LastEtag}`.
pub(crate) fn cursors(exchange: &Exchange) -> Result<Reply> {
    let cursors = exchange.database().feed_cursors()?;
    let last = exchange.database().read().last_etag()?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("LastEtag").unsigned(last).name("Results").array(|json| {
            for cursor in &cursors {
                json.object(|json| write_cursor(json, cursor, exchange));
            }
        });
    }))
}

/// PUT `cursors`: `name`, `after`: makes a cursor, or moves it. The answer comes when that is durable.
pub(crate) async fn move_cursor(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    let place =
        exchange.query().get_nonempty("after").map_or(Ok(FeedPlace::default()), |text| place_of("after", &text))?;
    let (database, now) = (exchange.database().clone(), exchange.node.databases.clock().now());
    let (cursor, write) = database.move_feed_cursor(&name, place, now)?;
    exchange.node.bridge.answer(|done| database.propose(write, done.into_call_back())).await?;
    Ok(reply::object(StatusCode::OK, |json| write_cursor(json, &cursor, &exchange)))
}

/// DELETE `cursors`: `name`. 204; 404 if there is none.
pub(crate) async fn delete_cursor(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    let database = exchange.database().clone();
    let deleted = exchange.node.bridge.run(Pool::Short, move || Ok(database.delete_feed_cursor(&name)?)).await?;
    match deleted {
        true => Ok(reply::empty(StatusCode::NO_CONTENT)),
        false => {
            let (name, database) = (exchange.required("name")?.into_owned(), exchange.database().name().to_owned());
            Err(database::Error::NoFeedCursor { name, database }.into())
        }
    }
}
