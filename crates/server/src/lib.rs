//! HTTP in front of the databases: what goes over the wire, and nothing of how documents are kept.
//!
//! A request passes the [`network`] (connection, limits), [`routing`] (route, access, database), a handler, and comes back as an
//! answer or an [`error`]. Async ends here: below, functions are plain and blocking, and `bridge` is the only crossing.
#![forbid(unsafe_code)]

mod bells;
#[doc(hidden)]
pub mod bench;
mod bridge;
mod cause;
mod certificates;
mod consumer_memory;
mod database_opening;
mod error;
mod exceptions;
mod feed;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod handlers;
mod limits;
mod memory;
mod messages;
mod monitoring;
mod network;
mod node;
mod routing;
mod server;
mod setting;
mod storage_errors;
mod subscriptions;
mod traces;
mod writable;

pub use certificates::certificate::{Certificate, Thumbprint, TrustedThumbprint};
pub use certificates::files::{CertificateError, CertificateFiles, Password};
pub use certificates::issuing::{Authority, IssueError, Issued, VALIDITY_DAYS_MAX};
pub use database::QuerySwitch;
pub use database::documents::Date;
pub use limits::{LimitSetting, Limits};
pub use monitoring::audit::{AUDIT_RETENTION, AuditOptions};
pub use monitoring::log_control::{LogControl, LogThreshold};
pub use monitoring::recent_log::{LogLevel, RecentLog};
pub use network::peer::Scheme;
pub use node::PROTOCOL_VERSION;
pub use routing::access::Access;
pub use routing::dispatch::ACCESS_LOG;
pub use routing::routes::{ROUTES, Route};
pub use server::{CertificateOptions, Options, Server, StartError};
pub use setting::{GivenSetting, Setting};
pub use traces::TraceOptions;
