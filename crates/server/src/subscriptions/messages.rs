//! The messages of both sides but for documents.

use database::subscriptions::{ReadIncludes, Strategy, WorkerEnd};
use json::{Value, Writer};

use crate::limits::TCP_TEXT_SIZE_MAX;

/// The versions of the protocol that clients know, the newest first.
const VERSIONS: [i64; 5] = [53_000, 51_000, COUNTERS_VERSION, INCLUDES_VERSION, 40];
/// From here on clients read included counters.
const COUNTERS_VERSION: i64 = 50_000;
/// From here on clients read included documents.
const INCLUDES_VERSION: i64 = 41_400;

/// The version of the message by which servers test a connection.
pub(crate) const TEST_VERSION: i64 = 50;

const SUBSCRIPTION_EXCEPTION: &str = "Raven.Client.Exceptions.Documents.Subscriptions.Subscription";

/// What a connection is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A worker of a subscription of this database.
    Subscription { database: String, version: i64 },
    /// Another server tests whether it reaches this one, perhaps for a database.
    Test { database: Option<String>, version: i64 },
    /// Nothing: the client gives up.
    Drop,
    /// A version or an operation that is not supported, with the reason, and the version that the client may try.
    Refused { reason: String, version: i64 },
}

impl Purpose {
    /// Reads the first message.
    pub fn of(message: &Value) -> Purpose {
        let text = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
        let version = message.get("OperationVersion").and_then(Value::as_i64).unwrap_or_default();
        match text("Operation") {
            "Subscription" if !VERSIONS.contains(&version) => {
                let known: Vec<String> = VERSIONS.iter().rev().map(i64::to_string).collect();
                Purpose::Refused {
                    reason: format!(
                        "the protocol of subscriptions has the versions {}, not {version}",
                        known.join(", ")
                    ),
                    // What the client knows may be newer: the newest one of before is what both have.
                    version: VERSIONS.into_iter().find(|known| *known < version).unwrap_or(VERSIONS[0]),
                }
            }
            "Subscription" => Purpose::Subscription { database: text("DatabaseName").to_owned(), version },
            "TestConnection" => {
                let database = Some(text("DatabaseName").to_owned()).filter(|name| !name.is_empty());
                Purpose::Test { database, version }
            }
            "Drop" => Purpose::Drop,
            operation => Purpose::Refused {
                reason: format!(
                    "'{}' is not supported on this port: it serves subscriptions",
                    operation.chars().take(50).collect::<String>()
                ),
                version: VERSIONS[0],
            },
        }
    }
}

/// What a worker asks for.
#[derive(Debug)]
pub(super) struct WorkerRequest {
    pub name: String,
    pub strategy: Strategy,
    pub count_max: usize,
    pub worker_id: Option<String>,
    /// The connection ends once all documents were sent.
    pub ends_when_caught_up: bool,
}

impl WorkerRequest {
    /// Reads the second message; `Err` says what is wrong.
    pub fn of(message: &Value) -> Result<WorkerRequest, String> {
        let text = |name: &str| match message.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.len() > TCP_TEXT_SIZE_MAX => {
                Err(format!("'{name}' is longer than the limit TCP_TEXT_SIZE_MAX of {TCP_TEXT_SIZE_MAX} bytes"))
            }
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("'{name}' must be a text")),
        };
        let name = text("SubscriptionName")?.filter(|name| !name.is_empty());
        let strategy = match text("Strategy")?.as_deref() {
            None | Some("OpenIfFree") => Strategy::OpenIfFree,
            Some("TakeOver") => Strategy::TakeOver,
            Some("WaitForFree") => Strategy::WaitForFree,
            Some("Concurrent") => Strategy::Concurrent,
            Some(_) => return Err("'Strategy' must be OpenIfFree, TakeOver, WaitForFree or Concurrent".to_owned()),
        };
        let count_max = match message.get("MaxDocsPerBatch") {
            None | Some(Value::Null) => 0,
            Some(value) => {
                let count = value.as_i64().and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0);
                count.ok_or("'MaxDocsPerBatch' must be a whole number above 0")?
            }
        };
        Ok(WorkerRequest {
            name: name.ok_or("'SubscriptionName' is missing")?,
            strategy,
            count_max,
            worker_id: text("WorkerId")?,
            ends_when_caught_up: message.get("CloseWhenNoDocsLeft").and_then(Value::as_bool).unwrap_or_default(),
        })
    }
}

/// How the server answers the first message.
pub(super) fn greeting(status: &str, version: i64, message: Option<&str>) -> Vec<u8> {
    object(|json| {
        json.name("Status").string(status).name("Version").signed(version).name("LicensedFeatures").null();
        if let Some(message) = message {
            json.name("Message").string(message);
        }
    })
}

/// The refusal of a version or an operation. Clients try again with the version that it names.
pub(super) fn mismatch(version: i64, message: &str) -> Vec<u8> {
    greeting("TcpVersionMismatch", version, Some(message))
}

/// The includes that a client of a version can read.
pub(super) fn read_includes(version: i64) -> ReadIncludes {
    ReadIncludes { documents: version >= INCLUDES_VERSION, counters: version >= COUNTERS_VERSION }
}

pub(super) fn accepted() -> Vec<u8> {
    object(|json| _ = json.name("Type").string("ConnectionStatus").name("Status").string("Accepted"))
}

pub(super) fn confirm() -> Vec<u8> {
    object(|json| _ = json.name("Type").string("Confirm"))
}

/// An error of the whole connection. `exception`: the .NET name of its type, by which clients rebuild it.
pub(super) fn error(exception: &str, message: &str) -> Vec<u8> {
    object(|json| {
        json.name("Type").string("Error").name("Exception").string(&format!("{exception}: {message}"));
        json.name("Message").string(message);
    })
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The subscription has another worker.
    InUse,
    /// The client wanted to end here.
    CaughtUp,
    /// The server stops.
    Stopping,
    /// There is no such subscription.
    NotFound,
    /// It is disabled.
    Disabled,
    /// It reads revisions, and its collection has none.
    NoRevisions,
    /// Its query includes what the version of the client cannot read.
    Unreadable(&'static str),
    /// As the database says.
    Of(WorkerEnd),
}

impl Ending {
    /// The message that tells it.
    ///
    /// * `name`: the subscription.
    pub fn message(self, name: &str) -> Vec<u8> {
        let closed = |can_reconnect: bool, message: String| {
            let is_caught_up = self == Ending::CaughtUp;
            object(|json| {
                json.name("Type").string("ConnectionStatus").name("Status").string("Closed");
                json.name("Exception").string(&format!("{SUBSCRIPTION_EXCEPTION}ClosedException: {message}"));
                json.name("Message").string(&message).name("Data").object(|json| {
                    _ = json.name("CanReconnect").bool(can_reconnect).name("NoDocsLeft").bool(is_caught_up);
                });
            })
        };
        let status = |status: &str, exception: &str, message: String| {
            object(|json| {
                json.name("Type").string("ConnectionStatus").name("Status").string(status);
                json.name("Exception").string(&format!("{SUBSCRIPTION_EXCEPTION}{exception}: {message}"));
                json.name("Message").string(&message);
            })
        };
        match self {
            Ending::InUse => status(
                "InUse",
                "InUseException",
                format!("Subscription '{name}' is occupied by another worker, and cannot be opened by this one"),
            ),
            Ending::Of(WorkerEnd::TakenOver) => status("InUse", "InUseException", "Closed by TakeOver".to_owned()),
            Ending::NotFound | Ending::Of(WorkerEnd::Deleted) => {
                status("NotFound", "DoesNotExistException", format!("Subscription with name '{name}' was not found"))
            }
            Ending::NoRevisions => status(
                "Invalid",
                "InvalidStateException",
                format!(
                    "Cannot use a revisions subscription, database does not have revisions configuration for '{name}'. \
                     Configure its collection with POST /databases/{{name}}/admin/revisions/config"
                ),
            ),
            Ending::Unreadable(includes) => status(
                "Invalid",
                "InvalidStateException",
                format!(
                    "A connection to subscription '{name}' cannot be opened because it requires the protocol to support {includes}. \
                     Use a newer client, or remove the 'include' from the query"
                ),
            ),
            Ending::CaughtUp => closed(false, format!("No documents are left for subscription '{name}'")),
            Ending::Of(WorkerEnd::Dropped) => closed(false, format!("Subscription '{name}' was dropped")),
            Ending::Disabled | Ending::Of(WorkerEnd::Disabled) => {
                closed(false, format!("Subscription '{name}' is disabled. Enable it, then connect again"))
            }
            Ending::Of(WorkerEnd::Changed) => closed(true, format!("Subscription '{name}' was changed")),
            Ending::Of(WorkerEnd::DatabaseClosed) => closed(true, "The database was closed".to_owned()),
            Ending::Stopping => closed(true, "The server stops".to_owned()),
        }
    }
}

fn object(content: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    Writer::new(&mut bytes).object(content);
    bytes
}
