//! A span of one request, and its form in OTLP.
//!
//! Names of attributes are those of OpenTelemetry's semantic conventions for HTTP servers and databases. It has neither bodies nor
//! headers nor the query string: ids and parameters may be personal data.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::StatusCode;
use json::Writer;

use super::context::{SpanId, TraceId};

/// `SPAN_KIND_SERVER`.
const KIND: u64 = 2;

/// `STATUS_CODE_ERROR`.
const ERROR: u64 = 2;

/// One request that was answered.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) trace: TraceId,
    pub(crate) id: SpanId,
    /// `None`: the trace begins here.
    pub(crate) parent: Option<SpanId>,
    pub(crate) started: SystemTime,
    /// Until its answer began.
    pub(crate) duration: Duration,
    pub(crate) method: Cow<'static, str>,
    /// As in the table of routes, with `{name}` for the database; `None`: there is none.
    pub(crate) route: Option<String>,
    pub(crate) path: String,
    pub(crate) database: Option<String>,
    pub(crate) status: StatusCode,
    pub(crate) client: IpAddr,
    /// Whether it failed for a reason on the server's side.
    pub(crate) has_failed: bool,
}

impl Span {
    pub(crate) fn write(&self, json: &mut Writer<'_>) {
        json.object(|json| {
            json.name("traceId").string(&self.trace.to_string()).name("spanId").string(&self.id.to_string());
            if let Some(parent) = self.parent {
                json.name("parentSpanId").string(&parent.to_string());
            }
            let name =
                self.route.as_ref().map_or_else(|| self.method.to_string(), |route| format!("{} {route}", self.method));
            json.name("name").string(&name).name("kind").unsigned(KIND);
            let started = self.started.duration_since(UNIX_EPOCH).unwrap_or_default();
            // Numbers of 64 bits are texts in the JSON of Protocol Buffers.
            json.name("startTimeUnixNano").string(&started.as_nanos().to_string());
            json.name("endTimeUnixNano").string(&(started + self.duration).as_nanos().to_string());
            json.name("attributes").array(|json| self.write_attributes(json));
            json.name("status").object(|json| {
                if self.has_failed {
                    json.name("code").unsigned(ERROR);
                }
            });
        });
    }

    fn write_attributes(&self, json: &mut Writer<'_>) {
        text_attribute(json, "http.request.method", &self.method);
        text_attribute(json, "url.path", &self.path);
        if let Some(route) = &self.route {
            text_attribute(json, "http.route", route);
        }
        json.object(|json| {
            json.name("key").string("http.response.status_code");
            json.name("value").object(|json| _ = json.name("intValue").string(self.status.as_str()));
        });
        text_attribute(json, "client.address", &self.client.to_string());
        if let Some(database) = &self.database {
            text_attribute(json, "db.system.name", "rookery");
            text_attribute(json, "db.namespace", database);
        }
        if self.has_failed {
            text_attribute(json, "error.type", self.status.as_str());
        }
    }
}

pub(super) fn text_attribute(json: &mut Writer<'_>, key: &str, value: &str) {
    json.object(|json| {
        json.name("key").string(key).name("value").object(|json| _ = json.name("stringValue").string(value));
    });
}
