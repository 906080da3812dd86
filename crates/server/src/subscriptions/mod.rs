//! The TCP protocol of subscriptions: a worker connects, names itself and its subscription, and gets batches of documents. It acknowledges
//! each before it gets the next one.
//!
//! ```text
//! client                                            server
//! {"DatabaseName","Operation","OperationVersion"} ─►
//!                                               ◄── {"Status":"Ok","Version"}
//! {"SubscriptionName","Strategy",..} ──────────────►
//!                                               ◄── {"Type":"ConnectionStatus","Status":"Accepted"}
//!                                               ◄── {"Type":"Data","Data":{..}} .. {"Type":"EndOfBatch"}
//! {"Type":"Acknowledge"} ──────────────────────────►
//!                                               ◄── {"Type":"Confirm"}
//! ```
//!
//! Objects follow each other without separators. What a subscription is, and what it sends, is in `database::subscriptions`; here are
//! the messages, and the waiting: a connection is a task that waits for its client, for new documents ([`crate::bells`]) and for the clock
//! at once, and has a thread only while it makes a batch.

mod batch;
mod incoming;
mod messages;
mod session;

pub(crate) use batch::Trial;
pub(crate) use incoming::Incoming;
pub(crate) use messages::TEST_VERSION;
pub(crate) use session::serve;
