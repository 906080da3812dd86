//! HTTP in front of the databases: what goes over the wire, and nothing of how documents are kept.
//!
//! A request passes [`listener`] (connection, limits), [`dispatch`] (route, access, database), a handler, and comes back as an
//! answer or an [`error`]. Async ends here: below, functions are plain and blocking, and `bridge` is the only crossing.
#![forbid(unsafe_code)]

mod access;
mod answers;
#[doc(hidden)]
pub mod bench;
mod body;
mod bridge;
mod cause;
mod compression;
mod connection;
mod database_opening;
mod date;
mod decoding;
mod dispatch;
mod error;
mod exchange;
mod exposition;
mod feed;
mod framing;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod handlers;
mod hosts;
mod humane_size;
mod latency;
mod limits;
mod listener;
mod log_budget;
mod memory;
mod metrics;
mod node;
mod peer;
mod query_string;
mod recent_log;
mod reply;
mod routes;
mod server;
mod setting;
mod slow;
mod system;
mod time_span;

pub use access::Access;
pub use database::QuerySwitch;
pub use dispatch::ACCESS_LOG;
pub use limits::{LimitSetting, Limits};
pub use node::PROTOCOL_VERSION;
pub use recent_log::{LogLevel, RecentLog};
pub use routes::{ROUTES, Route};
pub use server::{Options, Server, StartError};
pub use setting::{GivenSetting, Setting};
