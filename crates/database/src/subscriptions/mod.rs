//! Subscriptions: queries whose documents are sent to workers, each at least once, in the order in which they were written.
//!
//! A subscription is a definition and a row with its progress, both beside the documents, so that backups and archives have them. What is
//! known of connected workers ([`live`]) is in memory. A [`Worker`] reads and acknowledges; it never waits. Its holder calls it again
//! when something was written: [`Database::add_listener`](crate::Database::add_listener).

pub(crate) mod connected;
mod definition;
mod live;
mod source;
mod worker;

use std::sync::Arc;

use documents::{Date, DefinitionChange, Write};

pub use definition::{Subscription, SubscriptionProgress};
use definition::{bad, is_same_name, last_id, put_last_id};
pub use live::{ConnectionInfo, Strategy, Wake, WorkerEnd};
use live::{Live, NotConnected};
pub use query::definition::ArchivedDocuments;
pub use worker::{Acknowledgement, Next, Worker};

use crate::limits::{
    SUBSCRIPTION_BATCH_COUNT_MAX, SUBSCRIPTION_NAME_SIZE_MAX, SUBSCRIPTION_QUERY_SIZE_MAX, SUBSCRIPTIONS_MAX,
};
pub use crate::queries::BatchSink;
use crate::queries::Query;
use crate::{Database, Error, Result};

/// A request to make a subscription, or to change one.
#[derive(Clone, Debug, Default)]
pub struct SubscriptionRequest {
    /// Its name. `None`: the id of a new one; the name that it has.
    pub name: Option<String>,
    /// Its query. `None`: the one that it has.
    pub query: Option<String>,
    /// Where it begins: a change vector, `LastDocument`, `BeginningOfTime`. `None`: a new one as with `BeginningOfTime`; one that is there
    /// stays where it is, as with `DoNotChange`.
    pub change_vector: Option<String>,
    /// Whether it takes no workers. `None`: as it is.
    pub is_disabled: Option<bool>,
    /// The node that clients ask to serve it.
    pub mentor_node: Option<String>,
    /// Whether no other node may serve it.
    pub pins_mentor_node: bool,
    /// What it does with archived documents. `None`: as it is.
    pub archived: Option<ArchivedDocuments>,
}

/// A subscription as lists have it.
#[derive(Clone, Debug)]
pub struct SubscriptionState {
    /// The definition.
    pub subscription: Subscription,
    /// How far it has come.
    pub progress: SubscriptionProgress,
    /// Its workers.
    pub connections: Vec<ConnectionInfo>,
}

/// A request of a worker to connect.
#[derive(Clone)]
pub struct WorkerOptions {
    /// What happens if there is another one.
    pub strategy: Strategy,
    /// Documents that it takes at once; 0 or more than [`SUBSCRIPTION_BATCH_COUNT_MAX`] is that.
    pub count_max: usize,
    /// The name that it gave itself.
    pub worker_id: Option<String>,
    /// Where it is, for people.
    pub address: String,
    /// The includes that its client can read.
    pub reads: ReadIncludes,
    /// Called when it is to ask again.
    pub wake: Wake,
}

/// The includes that a client can read, by the version of its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadIncludes {
    /// Documents that others refer to.
    pub documents: bool,
    /// Counters.
    pub counters: bool,
}

impl ReadIncludes {
    /// What a query includes that the client cannot read, in the words of clients.
    fn lacks_of(self, query: &Query) -> Option<&'static str> {
        let plan = &query.plan;
        let needs = [
            (!self.documents && !plan.includes.is_empty(), "Includes"),
            (!self.counters && !plan.counters.is_empty(), "Counter Includes"),
        ];
        needs.into_iter().find_map(|(is_lacking, name)| is_lacking.then_some(name))
    }
}

/// What became of a request to connect.
pub enum Connected {
    /// It is connected.
    Worker(Box<Worker>),
    /// The subscription has a worker that does not share, or cannot be taken over.
    InUse,
    /// It waits until the subscription is free: after the next wake it may try again. Dropping the place leaves the line.
    Waiting(WaitingPlace),
    /// The subscription is disabled.
    Disabled,
    /// The query includes what the client cannot read: `Includes` or `Counter Includes`.
    Unreadable(&'static str),
}

/// A place in the line of those that wait for a subscription.
pub struct WaitingPlace {
    live: Arc<Live>,
    place: u64,
}

impl Drop for WaitingPlace {
    fn drop(&mut self) {
        self.live.wait_no_more(self.place);
    }
}

impl Subscription {
    /// Checks the name and the query.
    ///
    /// # Errors
    ///
    /// [`Error::BadSubscription`], [`Error::Query`].
    fn check(&self) -> Result<Query> {
        let too_long = |what: &str, size: usize, limit: &str, max: usize| {
            bad(format!("the {what} of a subscription has {size} bytes, over the limit {limit} of {max}"))
        };
        if self.name.len() > SUBSCRIPTION_NAME_SIZE_MAX {
            let (size, max) = (self.name.len(), SUBSCRIPTION_NAME_SIZE_MAX);
            return Err(too_long("name", size, "SUBSCRIPTION_NAME_SIZE_MAX", max));
        }
        if self.query.len() > SUBSCRIPTION_QUERY_SIZE_MAX {
            let (size, max) = (self.query.len(), SUBSCRIPTION_QUERY_SIZE_MAX);
            return Err(too_long("query", size, "SUBSCRIPTION_QUERY_SIZE_MAX", max));
        }
        if self.query.trim().is_empty() {
            return Err(bad("a subscription needs a query: 'from Users' for example".to_owned()));
        }
        Ok(Query::parse_subscription(&self.query)?)
    }
}

impl Database {
    /// All subscriptions, by name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn subscriptions(&self) -> Result<Vec<SubscriptionState>> {
        let snapshot = self.read();
        let all = Subscription::all(&snapshot)?;
        all.into_iter().map(|subscription| self.subscription_state(&snapshot, subscription)).collect()
    }

    /// The subscription of this name, in any case.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn subscription(&self, name: &str) -> Result<Option<SubscriptionState>> {
        let snapshot = self.read();
        let found = Subscription::find(&snapshot, name)?;
        found.map(|subscription| self.subscription_state(&snapshot, subscription)).transpose()
    }

    fn subscription_state(
        &self,
        snapshot: &documents::Snapshot<'_>,
        subscription: Subscription,
    ) -> Result<SubscriptionState> {
        let mut progress = SubscriptionProgress::of(snapshot, subscription.id)?;
        let live = self.subscriptions_in_memory().find(subscription.id);
        let connected = live.as_ref().and_then(|live| live.connected());
        progress.connected = progress.connected.max(connected);
        let connections = live.map_or_else(Vec::new, |live| live.connections());
        Ok(SubscriptionState { subscription, progress, connections })
    }

    /// Makes a subscription.
    ///
    /// # Errors
    ///
    /// [`Error::SubscriptionExists`], [`Error::BadSubscription`], [`Error::Query`]; storage fails.
    pub fn create_subscription(&self, request: SubscriptionRequest) -> Result<Subscription> {
        let _changing = self.subscriptions_in_memory().changing.write();
        let (subscription, progress) = {
            let snapshot = self.read();
            if Subscription::all(&snapshot)?.len() >= SUBSCRIPTIONS_MAX {
                return Err(bad(format!(
                    "the database has as many subscriptions as the limit SUBSCRIPTIONS_MAX of {SUBSCRIPTIONS_MAX} allows. Delete some"
                )));
            }
            let id = last_id(&snapshot)? + 1;
            let name = request.name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| id.to_string());
            if Subscription::find(&snapshot, &name)?.is_some() {
                return Err(Error::SubscriptionExists { name, database: self.name().to_owned() });
            }
            let subscription = Subscription {
                id,
                name,
                query: request.query.unwrap_or_default(),
                is_disabled: request.is_disabled.unwrap_or_default(),
                mentor_node: request.mentor_node,
                pins_mentor_node: request.pins_mentor_node,
                archived: request.archived.unwrap_or_default(),
            };
            let query = subscription.check()?;
            let begin = request.change_vector.as_deref();
            (subscription, SubscriptionProgress::begin(&snapshot, begin, query.plan.is_of_revisions)?)
        };
        let id = subscription.id;
        self.change_definitions(vec![put_last_id(id), subscription.put(), progress.put(id)])?;
        Ok(subscription)
    }

    /// Changes a subscription. Its workers are sent away, and get what is new when they connect again.
    ///
    /// * `known`: the id that it has, or `None` to go by the name.
    ///
    /// # Errors
    ///
    /// [`Error::NoSubscription`], and as [`Self::create_subscription`].
    pub fn update_subscription(&self, known: Option<u64>, request: SubscriptionRequest) -> Result<Subscription> {
        let in_memory = self.subscriptions_in_memory();
        let _changing = in_memory.changing.write();
        let (before, after, begin) = {
            let snapshot = self.read();
            let before = match (known, &request.name) {
                (Some(id), _) => Subscription::all(&snapshot)?.into_iter().find(|known| known.id == id),
                (None, Some(name)) => Subscription::find(&snapshot, name)?,
                (None, None) => {
                    return Err(bad("name the subscription that is to be updated: 'Name' or 'Id'".to_owned()));
                }
            };
            let asked = || request.name.clone().or(known.map(|id| id.to_string())).unwrap_or_default();
            let before =
                before.ok_or_else(|| Error::NoSubscription { name: asked(), database: self.name().to_owned() })?;
            let name = request.name.unwrap_or_else(|| before.name.clone());
            if !is_same_name(&name, &before.name) && Subscription::find(&snapshot, &name)?.is_some() {
                return Err(Error::SubscriptionExists { name, database: self.name().to_owned() });
            }
            let after = Subscription {
                id: before.id,
                name,
                query: request.query.unwrap_or_else(|| before.query.clone()),
                is_disabled: request.is_disabled.unwrap_or(before.is_disabled),
                mentor_node: request.mentor_node.or_else(|| before.mentor_node.clone()),
                pins_mentor_node: request.pins_mentor_node,
                archived: request.archived.unwrap_or(before.archived),
            };
            let is_of_revisions = after.check()?.plan.is_of_revisions;
            let begin = request.change_vector.as_deref().filter(|text| *text != DO_NOT_CHANGE);
            let begin = begin.map(|text| SubscriptionProgress::begin(&snapshot, Some(text), is_of_revisions));
            let begin = begin.transpose()?;
            (before, after, begin)
        };
        // Before it is stored: an acknowledgement that is on its way must not come behind the new beginning.
        let end = if after.is_disabled && !before.is_disabled { WorkerEnd::Disabled } else { WorkerEnd::Changed };
        if after != before || begin.is_some() {
            in_memory.send_away(before.id, end, None);
        }
        let mut changes = vec![after.put()];
        if !is_same_name(&after.name, &before.name) {
            changes.insert(0, before.remove());
        }
        changes.extend(begin.map(|begin| begin.put(after.id)));
        self.change_definitions(changes)?;
        Ok(after)
    }

    /// Enables or disables a subscription.
    ///
    /// # Errors
    ///
    /// As [`Self::update_subscription`].
    pub fn set_subscription_disabled(&self, name: &str, is_disabled: bool) -> Result<Subscription> {
        let pins_mentor_node = self.subscription(name)?.is_some_and(|known| known.subscription.pins_mentor_node);
        let name = Some(name.to_owned());
        let request =
            SubscriptionRequest { name, is_disabled: Some(is_disabled), pins_mentor_node, ..Default::default() };
        self.update_subscription(None, request)
    }

    /// Deletes a subscription and its progress; false if there is none of that name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn delete_subscription(&self, name: &str) -> Result<bool> {
        let in_memory = self.subscriptions_in_memory();
        let _changing = in_memory.changing.write();
        let Some(subscription) = Subscription::find(&self.read(), name)? else { return Ok(false) };
        in_memory.send_away(subscription.id, WorkerEnd::Deleted, None);
        self.change_definitions(vec![subscription.remove(), subscription.remove_progress()])?;
        Ok(true)
    }

    /// Ends the connections of a subscription.
    ///
    /// * `name`: `None`: of all subscriptions. `worker_id`: of workers that gave themselves this name alone.
    ///
    /// # Errors
    ///
    /// [`Error::NoSubscription`], or storage fails.
    pub fn drop_subscription_workers(&self, name: Option<&str>, worker_id: Option<&str>) -> Result<()> {
        let in_memory = self.subscriptions_in_memory();
        match name {
            Some(name) => {
                let found = Subscription::find(&self.read(), name)?;
                let subscription = found.ok_or_else(|| self.no_subscription(name))?;
                in_memory.send_away(subscription.id, WorkerEnd::Dropped, worker_id);
            }
            None => {
                let all: Vec<u64> = in_memory.live.lock().keys().copied().collect();
                all.into_iter().for_each(|id| in_memory.send_away(id, WorkerEnd::Dropped, worker_id));
            }
        }
        Ok(())
    }

    /// Writes what a subscription would send first, with what it includes. Looks for some time.
    ///
    /// * `request`: its query, and where it begins.
    ///
    /// # Errors
    ///
    /// As [`Self::create_subscription`].
    pub fn try_subscription(
        &self,
        request: &SubscriptionRequest,
        count_max: usize,
        sink: &mut dyn BatchSink,
    ) -> Result<()> {
        let subscription = Subscription {
            id: 0,
            name: String::new(),
            query: request.query.clone().unwrap_or_default(),
            is_disabled: false,
            mentor_node: None,
            pins_mentor_node: false,
            archived: request.archived.unwrap_or_default(),
        };
        let query = subscription.check()?;
        self.check_revisions_are_configured(&query)?;
        let from = request.change_vector.as_deref();
        let begin = SubscriptionProgress::begin(&self.read(), from, query.plan.is_of_revisions)?;
        worker::look(self, &query, &subscription, begin.etag, count_max, sink)
    }

    /// Connects a worker.
    ///
    /// # Errors
    ///
    /// [`Error::NoSubscription`], [`Error::Query`] if this version cannot run the stored query, [`Error::BadSubscription`] if there are as
    /// many workers as there may be; storage fails.
    pub fn connect_worker(self: &Arc<Self>, name: &str, options: WorkerOptions) -> Result<Connected> {
        let in_memory = self.subscriptions_in_memory();
        let _connecting = in_memory.changing.read();
        let snapshot = self.read();
        let subscription = Subscription::find(&snapshot, name)?.ok_or_else(|| self.no_subscription(name))?;
        if subscription.is_disabled {
            return Ok(Connected::Disabled);
        }
        let query = Query::parse_subscription(&subscription.query)?;
        self.check_revisions_are_configured(&query)?;
        let WorkerOptions { strategy, count_max, worker_id, address, reads, wake } = options;
        if let Some(includes) = reads.lacks_of(&query) {
            return Ok(Connected::Unreadable(includes));
        }
        let live = in_memory.live(subscription.id);
        let info = ConnectionInfo { address, strategy, worker_id, since: Date::now() };
        // Read anew: an acknowledgement may have been stored since.
        let connected = live.connect(info, wake.clone(), || SubscriptionProgress::of(&self.read(), subscription.id))?;
        let too_many = |limit: &str| bad(format!("the subscription has as many workers as the limit {limit} allows"));
        match connected {
            Ok(member) => {
                let count_max = match count_max {
                    0 => SUBSCRIPTION_BATCH_COUNT_MAX,
                    count => count.min(SUBSCRIPTION_BATCH_COUNT_MAX),
                };
                let database = self.clone();
                Ok(Connected::Worker(Box::new(Worker::new(database, subscription, query, live, member, count_max))))
            }
            Err(NotConnected::TooMany(limit)) => Err(too_many(limit)),
            Err(NotConnected::InUse | NotConnected::InUseAlone) if strategy == Strategy::WaitForFree => {
                match live.wait(wake) {
                    Ok(place) => Ok(Connected::Waiting(WaitingPlace { live, place })),
                    Err(_) => Err(too_many("SUBSCRIPTION_WAITING_MAX")),
                }
            }
            Err(_) => Ok(Connected::InUse),
        }
    }

    /// A subscription to revisions would wait for ever where none are made.
    fn check_revisions_are_configured(&self, query: &Query) -> Result<()> {
        let configuration = self.documents().stamp().revisions;
        let is_configured = match query.plan.subscribed_collection() {
            Some(collection) => configuration.enabled(collection).is_some(),
            None => !configuration.is_empty(),
        };
        match query.plan.is_of_revisions && !is_configured {
            true => Err(Error::NoRevisions { database: self.name().to_owned() }),
            false => Ok(()),
        }
    }

    fn no_subscription(&self, name: &str) -> Error {
        Error::NoSubscription { name: name.to_owned(), database: self.name().to_owned() }
    }

    fn change_definitions(&self, changes: Vec<DefinitionChange>) -> Result<()> {
        self.write(&Write::Definitions(changes)).map(drop)
    }
}

/// What clients send for a beginning that stays, when they change a subscription.
const DO_NOT_CHANGE: &str = "DoNotChange";
