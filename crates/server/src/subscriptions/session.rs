//! A connection from its first message to its last.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use database::Database;
use database::limits::SUBSCRIPTION_BATCH_SIZE_MAX;
use database::subscriptions::{Connected, Next, Wake, Worker, WorkerOptions};
use json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::batch::Frames;
use super::incoming::Incoming;
use super::messages::{self, Ending, Purpose, TEST_VERSION, WorkerRequest};
use crate::bells::Watched;
use crate::bridge::Pool;
use crate::consumer_memory::Room;
use crate::database_opening;
use crate::error::{Error, Result};
use crate::limits::{
    CONSUMER_ITEM_SIZE, SUBSCRIPTION_HEARTBEAT, SUBSCRIPTION_INCLUDES_SIZE_MAX, SUBSCRIPTION_RETRY,
    SUBSCRIPTION_WRITE_SIZE, TCP_GREETINGS_MAX,
};
use crate::network::connection::{Admitted, RequestStart};
use crate::network::peer::Peer;
use crate::node::Node;
use crate::routing::access::{self, Access};

/// What keeps a connection alive while there is nothing to say.
const HEARTBEAT: &[u8] = b"\r\n";

/// How long a client that is sent away may take to hear why.
const GOODBYE: Duration = Duration::from_secs(1);

/// Why a connection ends without an answer to the client.
enum Gone {
    /// The client went away, sends what is no message, or takes nothing.
    Client(String),
    /// It was told.
    Told,
}

impl From<io::Error> for Gone {
    fn from(error: io::Error) -> Gone {
        Gone::Client(error.to_string())
    }
}

type Outcome<T> = std::result::Result<T, Gone>;

/// Serves a worker until one of the two ends it.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    node: Arc<Node>,
    stream: S,
    peer: Peer,
    admitted: Admitted,
) {
    let connection = admitted.connection.clone();
    // Deadlines are those of this protocol.
    let RequestStart { busy: _busy, .. } = connection.request_begins();
    connection.upgraded();
    let (reader, writer) = tokio::io::split(stream);
    let address = peer.address;
    let mut session = Session { node: node.clone(), peer, incoming: Incoming::new(reader), writer };
    let mut stopped = node.stopped.clone();
    let ended = tokio::select! {
        biased;
        () = connection.lost_rights() => Err(Gone::Client("the rights of this connection were changed".to_owned())),
        ended = session.run() => ended,
        () = async { drop(stopped.wait_for(|is_stopped| *is_stopped).await) } => {
            _ = timeout(GOODBYE, session.writer.write_all(&Ending::Stopping.message(""))).await;
            Err(Gone::Told)
        }
    };
    match ended {
        Ok(()) | Err(Gone::Told) => {}
        Err(Gone::Client(how)) => tracing::debug!(client = %address, how, "a connection of a subscription ended"),
    }
    _ = timeout(GOODBYE, session.writer.shutdown()).await;
}

struct Session<S> {
    node: Arc<Node>,
    peer: Peer,
    incoming: Incoming<ReadHalf<S>>,
    writer: WriteHalf<S>,
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Session<S> {
    async fn run(&mut self) -> Outcome<()> {
        let Some((database, version)) = self.greet().await? else { return Ok(()) };
        let message = self.first_message().await?;
        let request = match WorkerRequest::of(&message) {
            Ok(request) => request,
            Err(reason) => return self.fail("System.ArgumentException", &reason).await,
        };
        let bell = Arc::new(Notify::new());
        let Some(worker) = self.connect(&database, &request, version, &bell).await? else { return Ok(()) };
        self.node.metrics.subscription_workers.fetch_add(1, Relaxed);
        tracing::info!(database = database.name(), subscription = request.name, client = %self.peer.address, "a worker is connected");
        let ended = self.work(Arc::new(*worker), &request, &bell).await;
        self.node.metrics.subscription_workers.fetch_sub(1, Relaxed);
        tracing::info!(database = database.name(), subscription = request.name, client = %self.peer.address, "a worker has left");
        ended
    }

    /// Answers the first message, and gives the database and the version of the protocol; `None`: there is nothing more to do.
    async fn greet(&mut self) -> Outcome<Option<(Arc<Database>, i64)>> {
        let mut refusals = 0;
        let (name, version) = loop {
            match Purpose::of(&self.first_message().await?) {
                Purpose::Subscription { database, version } => break (database, version),
                Purpose::Test { database, version } => {
                    self.answer_test(database.as_deref(), version).await?;
                    return Ok(None);
                }
                Purpose::Drop => return Ok(None),
                // The client may try the version that it is given, or say that it gives up.
                Purpose::Refused { reason, version } => {
                    self.send(&messages::mismatch(version, &reason)).await?;
                    refusals += 1;
                    if refusals == TCP_GREETINGS_MAX {
                        return Err(Gone::Client("it does not know our versions".to_owned()));
                    }
                }
            }
        };
        if let Err(refused) = access::check(&self.peer.identity, Access::ReadWrite, Some(&name)) {
            let refusal = messages::greeting("AuthorizationFailed", version, Some(&refused.message()));
            self.send(&refusal).await?;
            return Ok(None);
        }
        self.send(&messages::greeting("Ok", version, None)).await?;
        match database_opening::find(&self.node, &name).await {
            Ok(database) => Ok(Some((database, version))),
            Err(error) => {
                self.fail_with(&error).await?;
                Ok(None)
            }
        }
    }

    /// Answers another server that tests the connection.
    async fn answer_test(&mut self, database: Option<&str>, version: i64) -> Outcome<()> {
        let access = if database.is_some() { Access::Read } else { Access::ValidUser };
        let answer = match access::check(&self.peer.identity, access, database) {
            Err(refused) => messages::greeting("AuthorizationFailed", TEST_VERSION, Some(&refused.message())),
            Ok(_) if version != TEST_VERSION => {
                let reason = format!("Not supporting version {version} for TestConnection");
                messages::greeting("TcpVersionMismatch", TEST_VERSION, Some(&reason))
            }
            Ok(_) => messages::greeting("Ok", TEST_VERSION, None),
        };
        self.send(&answer).await
    }

    /// Connects to the subscription, perhaps after others have left; `None`: the client was told why not.
    async fn connect(
        &mut self,
        database: &Arc<Database>,
        request: &WorkerRequest,
        version: i64,
        bell: &Arc<Notify>,
    ) -> Outcome<Option<Box<Worker>>> {
        let rung = bell.clone();
        let wake: Wake = Arc::new(move || rung.notify_one());
        loop {
            let options = WorkerOptions {
                strategy: request.strategy,
                count_max: request.count_max,
                worker_id: request.worker_id.clone(),
                address: self.peer.address.to_string(),
                reads: messages::read_includes(version),
                wake: wake.clone(),
            };
            let (database, name) = (database.clone(), request.name.clone());
            let connect = move || Ok(database.connect_worker(&name, options)?);
            let ending = match self.node.bridge.run(Pool::Short, connect).await {
                Ok(Connected::Worker(worker)) => {
                    self.send(&messages::accepted()).await?;
                    return Ok(Some(worker));
                }
                Ok(Connected::Waiting(_place)) => {
                    self.wait(bell, std::future::pending()).await?;
                    continue;
                }
                Ok(Connected::InUse) => Ending::InUse,
                Ok(Connected::Disabled) => Ending::Disabled,
                Ok(Connected::Unreadable(includes)) => Ending::Unreadable(includes),
                Err(Error::Database(database::Error::NoSubscription { .. })) => Ending::NotFound,
                Err(Error::Database(database::Error::NoRevisions { .. })) => Ending::NoRevisions,
                Err(error) => {
                    self.fail_with(&error).await?;
                    return Ok(None);
                }
            };
            self.send(&ending.message(&request.name)).await?;
            return Ok(None);
        }
    }

    /// Sends batches until one of the two ends it.
    async fn work(&mut self, worker: Arc<Worker>, request: &WorkerRequest, bell: &Notify) -> Outcome<()> {
        // Before the first look: what is written after that rings.
        let news = self.node.bells.of(worker.database());
        let watched = Watched { kinds: vec![worker.kind()], collection: worker.collection(), deletions: false };
        let mut news = news.watch(watched);
        let mut heartbeat = Instant::now() + SUBSCRIPTION_HEARTBEAT;
        loop {
            news.mark_unchanged();
            let Some(room) = self.room(&worker, bell).await? else {
                match worker.end() {
                    Some(end) => return self.send(&Ending::Of(end).message(&request.name)).await,
                    None => continue,
                }
            };
            let (next, frames) = match self.next(&worker).await {
                Ok(next) => next,
                // Too many read at once; the documents do not go away.
                Err(Error::Busy { .. }) => {
                    drop(room);
                    self.wait(bell, tokio::time::sleep(SUBSCRIPTION_RETRY)).await?;
                    continue;
                }
                Err(error) => return self.fail_with(&error).await,
            };
            let ending = match next {
                Next::Batch(number) => match self.deliver(&worker, number, (frames, room), bell).await? {
                    None => continue,
                    Some(ending) => ending,
                },
                Next::Searching => {
                    drop(room);
                    if Instant::now() >= heartbeat {
                        self.send(HEARTBEAT).await?;
                        heartbeat = Instant::now() + SUBSCRIPTION_HEARTBEAT;
                    }
                    continue;
                }
                Next::CaughtUp if request.ends_when_caught_up => Ending::CaughtUp,
                Next::CaughtUp => {
                    drop(room);
                    self.wait(bell, async { _ = news.changed().await }).await?;
                    continue;
                }
                Next::Ended(end) => Ending::Of(end),
            };
            return self.send(&ending.message(&request.name)).await;
        }
    }

    /// Waits for the memory of a batch, which workers who take nothing may hold; `None`: the bell rang.
    async fn room(&mut self, worker: &Worker, bell: &Notify) -> Outcome<Option<Room>> {
        let includes = if worker.has_includes() { SUBSCRIPTION_INCLUDES_SIZE_MAX } else { 0 };
        let (node, mut room) = (self.node.clone(), None);
        let size = SUBSCRIPTION_BATCH_SIZE_MAX + CONSUMER_ITEM_SIZE + includes;
        self.wait(bell, async { room = Some(node.consumers.room(size).await) }).await?;
        Ok(room)
    }

    /// Makes the next batch, on a thread.
    async fn next(&self, worker: &Arc<Worker>) -> Result<(Next, Vec<u8>)> {
        let worker = worker.clone();
        let make = move || {
            let mut frames = Frames::default();
            let next = worker.next(&mut frames)?;
            Ok((next, if matches!(next, Next::Batch(_)) { frames.finish() } else { Vec::new() }))
        };
        self.node.bridge.run(Pool::Reads, make).await
    }

    /// Sends a batch, waits for its acknowledgement, and confirms that; `Some`: why the connection ends in place of that.
    async fn deliver(
        &mut self,
        worker: &Arc<Worker>,
        number: u64,
        (frames, mut room): (Vec<u8>, Room),
        bell: &Notify,
    ) -> Outcome<Option<Ending>> {
        if let Err(error) = room.fit(frames.len()) {
            self.fail_with(&Error::Database(error.into())).await?;
            return Err(Gone::Told);
        }
        self.send(&frames).await?;
        drop(frames);
        drop(room);
        loop {
            let message = tokio::select! {
                message = self.incoming.next() => message?.ok_or_else(|| Gone::Client("closed".to_owned()))?,
                () = bell.notified() => match worker.end() {
                    Some(end) => return Ok(Some(Ending::Of(end))),
                    None => continue,
                },
                () = tokio::time::sleep(SUBSCRIPTION_HEARTBEAT) => {
                    self.send(HEARTBEAT).await?;
                    continue;
                }
            };
            match message.get("Type").and_then(Value::as_str) {
                Some("Acknowledge") => break,
                Some("DisposedNotification") => return Err(Gone::Client("disposed".to_owned())),
                _ => {
                    self.fail("System.InvalidOperationException", "an acknowledgement of the batch was expected")
                        .await?;
                    return Err(Gone::Told);
                }
            }
        }
        // It means the batch that was sent last, whatever change vector it names.
        let acknowledgement = match worker.acknowledge(number) {
            Ok(acknowledgement) => acknowledgement,
            Err(Some(end)) => return Ok(Some(Ending::Of(end))),
            Err(None) => return Err(Gone::Client("it acknowledged what it does not have".to_owned())),
        };
        let (database, write) = (worker.database(), acknowledgement.write.clone());
        let stored = self.node.bridge.answer(|done| database.propose(write, done.into_call_back())).await;
        drop(acknowledgement);
        if let Err(error) = stored {
            self.fail_with(&error).await?;
            return Err(Gone::Told);
        }
        self.send(&messages::confirm()).await?;
        Ok(None)
    }

    /// Waits for something new, with a sign of life now and then.
    async fn wait(&mut self, bell: &Notify, news: impl Future<Output = ()>) -> Outcome<()> {
        let mut news = std::pin::pin!(news);
        loop {
            tokio::select! {
                () = &mut news => return Ok(()),
                () = bell.notified() => return Ok(()),
                message = self.incoming.next() => match message? {
                    // Nothing is to be said now but goodbye.
                    Some(_) => return Err(Gone::Client("it left".to_owned())),
                    None => return Err(Gone::Client("closed".to_owned())),
                },
                () = tokio::time::sleep(SUBSCRIPTION_HEARTBEAT) => self.send(HEARTBEAT).await?,
            }
        }
    }

    /// One of the first messages, which has the time of a request's head.
    async fn first_message(&mut self) -> Outcome<Value> {
        match timeout(self.node.limits.header_deadline, self.incoming.next()).await {
            Ok(message) => message?.ok_or_else(|| Gone::Client("closed".to_owned())),
            Err(_) => Err(Gone::Client("it was slower than the limit Limits.HeaderDeadlineInSec allows".to_owned())),
        }
    }

    /// Sends bytes. A client has to take a piece of them within the time of a slow reader.
    async fn send(&mut self, bytes: &[u8]) -> Outcome<()> {
        let (rate, slow_reader) = (self.node.limits.reader_rate, self.node.limits.slow_reader);
        let seconds = usize::try_from(slow_reader.as_secs()).unwrap_or(usize::MAX);
        for piece in bytes.chunks(SUBSCRIPTION_WRITE_SIZE.max(rate.saturating_mul(seconds))) {
            match timeout(slow_reader, self.writer.write_all(piece)).await {
                Ok(written) => written?,
                Err(_) => {
                    let how =
                        "it takes too little (the limits Limits.SlowReaderInSec and Limits.ReaderRateInBytesPerSec)";
                    return Err(Gone::Client(how.to_owned()));
                }
            }
        }
        self.writer.flush().await?;
        Ok(())
    }

    async fn fail(&mut self, exception: &str, message: &str) -> Outcome<()> {
        self.send(&messages::error(exception, message)).await
    }

    async fn fail_with(&mut self, error: &Error) -> Outcome<()> {
        tracing::info!(client = %self.peer.address, reason = error.message(), "a worker of a subscription is refused");
        self.send(&messages::error(error.exception(), &error.message())).await
    }
}
