//! `/admin/logs/configuration`: the level of the log, which can be changed while the server runs, until it ends.
//!
//! GET: 200, the form of RavenDB 7 (`Logs`, `AuditLogs`, ..) and that of the versions before in one object, since clients of both read it.
//! POST: `{"Logs":{"MinLevel"}}`, or `{"Mode"}` of the versions before. 204. The log goes to standard error: what configures files, filters
//! or other logs is refused by its name, and so is what should outlive the server.

use database::documents::Feature;
use hyper::StatusCode;
use json::{Value, Writer};

use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::monitoring::log_control::LogThreshold;
use crate::monitoring::recent_log::LogLevel;
use crate::routing::exchange::Exchange;

/// The name of a log that has no lines.
const OFF: &str = "Off";

/// Properties of `Logs` that are read, or that configure nothing while they are empty.
const OF_LOGS: [&str; 3] = ["MinLevel", "Filters", "LogFilterDefaultAction"];

/// Other logs that RavenDB has.
const OTHER_LOGS: [&str; 3] = ["MicrosoftLogs", "AuditLogs", "AdminLogs"];

/// What the versions before 7 had for files.
const OF_FILES: [&str; 3] = ["RetentionTime", "RetentionSize", "Compress"];

/// GET
pub(crate) fn get(exchange: &Exchange) -> Result<Reply> {
    let control = &exchange.node.log_control;
    let (now, at_start) = (control.now(), control.at_start());
    let audit = exchange.node.audit.as_ref();
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Logs").object(|json| {
            json.name("Path").null().name("CurrentMinLevel").string(name(now)).name("MinLevel").string(name(at_start));
            write_files(json);
            json.name("CurrentFilters").array(|_| ()).name("CurrentLogFilterDefaultAction").string("Neutral");
        });
        json.name("AuditLogs").object(|json| {
            let folder = audit.map(|audit| audit.folder().to_string_lossy().into_owned());
            json.name("Path").optional_string(folder.as_deref());
            json.name("Level").string(if audit.is_some() { "Info" } else { OFF });
            write_files(json);
        });
        // There are no such logs.
        json.name("MicrosoftLogs").object(|json| {
            json.name("CurrentMinLevel").string(OFF).name("MinLevel").string(OFF);
        });
        json.name("AdminLogs").object(|json| {
            json.name("CurrentMinLevel").string(OFF);
            json.name("CurrentFilters").array(|_| ()).name("CurrentLogFilterDefaultAction").string("Neutral");
        });
        json.name("CurrentMode").string(mode(now)).name("Mode").string(mode(at_start));
        json.name("Path").null().name("UseUtcTime").bool(true);
        json.name("RetentionTime").null().name("RetentionSize").null().name("Compress").bool(false);
    }))
}

/// Files of a log: there are none that have a limit.
fn write_files(json: &mut Writer<'_>) {
    json.name("ArchiveAboveSizeInMb").unsigned(0).name("MaxArchiveDays").null().name("MaxArchiveFiles").null();
    json.name("EnableArchiveFileCompression").bool(false);
}

/// POST
pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_whole_object().await?;
    let Some(level) = level_of(&body)? else { return Ok(reply::empty(StatusCode::NO_CONTENT)) };
    let before = exchange.node.log_control.set(level);
    if before != level {
        tracing::warn!(
            before = name(before),
            now = name(level),
            "the level of the log was changed, until the server ends"
        );
    }
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// The level that a body asks for; `None`: it asks for none.
fn level_of(body: &Value) -> Result<Option<LogThreshold>> {
    if body.get("Persist").and_then(Value::as_bool) == Some(true) {
        return Err(missing("a configuration that outlives the server ('Persist'; set Log.Level)"));
    }
    if let Some(log) = OTHER_LOGS.into_iter().find(|log| is_given(body, log)) {
        return Err(missing(&format!("'{log}'")));
    }
    if let Some(property) = OF_FILES.into_iter().find(|property| is_given(body, property)) {
        return Err(missing(&format!("'{property}': the log goes to standard error, not into files")));
    }
    if !is_given(body, "Logs") {
        return body.get("Mode").and_then(Value::as_str).map(level_of_mode).transpose();
    }
    let logs = body.get("Logs").unwrap_or(&Value::Null);
    let other = logs.members().iter().find(|(name, _)| !OF_LOGS.contains(&name.as_str()) && is_given(logs, name));
    if let Some((name, _)) = other {
        return Err(missing(&format!("'Logs.{name}'")));
    }
    if is_given(logs, "Filters") {
        return Err(missing("filters ('Logs.Filters')"));
    }
    let level = logs.get("MinLevel").and_then(Value::as_str).unwrap_or_default();
    if level.eq_ignore_ascii_case(OFF) {
        return Ok(Some(None));
    }
    // Nothing is worse than an error.
    if level.eq_ignore_ascii_case("Fatal") {
        return Ok(Some(Some(LogLevel::Error)));
    }
    let wrong =
        || Error::Argument(format!("'Logs.MinLevel' must be Trace, Debug, Info, Warn, Error or Off, but is '{level}'"));
    LogLevel::parse(level).map(|level| Some(Some(level))).ok_or_else(wrong)
}

fn level_of_mode(mode: &str) -> Result<LogThreshold> {
    match mode {
        "None" => Ok(Some(LogLevel::Error)),
        "Operations" => Ok(Some(LogLevel::Info)),
        "Information" => Ok(Some(LogLevel::Debug)),
        other => Err(Error::Argument(format!("'Mode' must be None, Operations or Information, but is '{other}'"))),
    }
}

/// Whether a property configures something: neither absent nor `null`, `false` or empty.
fn is_given(object: &Value, name: &str) -> bool {
    match object.get(name) {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Array(elements)) => !elements.is_empty(),
        Some(_) => true,
    }
}

fn missing(what: &str) -> Error {
    Feature::LogConfiguration.missing_for(what.to_owned()).into()
}

fn name(level: LogThreshold) -> &'static str {
    level.map_or(OFF, LogLevel::name)
}

/// The name that the versions before 7 have for it, as `Logs.Mode` takes it.
fn mode(level: LogThreshold) -> &'static str {
    match level {
        Some(LogLevel::Trace | LogLevel::Debug) => "Information",
        Some(LogLevel::Info | LogLevel::Warn) => "Operations",
        Some(LogLevel::Error) | None => "None",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_a_level_or_refused_by_name() {
        let level = |body: &str| level_of(&Value::parse(body.as_bytes()).unwrap()).map_err(|error| error.message());
        assert_eq!(level(r#"{"Logs":{"MinLevel":"debug"}}"#), Ok(Some(Some(LogLevel::Debug))));
        assert_eq!(level(r#"{"Logs":{"MinLevel":"Off","Filters":[]},"Persist":false}"#), Ok(Some(None)));
        assert_eq!(
            level(r#"{"Mode":"Information","RetentionTime":null,"Compress":false}"#),
            Ok(Some(Some(LogLevel::Debug)))
        );
        assert_eq!(level("{}"), Ok(None));
        for (body, part) in [
            (r#"{"Logs":{"MinLevel":"Loud"}}"#, "must be Trace, Debug"),
            (r#"{"Logs":{"MinLevel":7}}"#, "must be Trace, Debug"),
            (r#"{"Logs":{}}"#, "must be Trace, Debug"),
            (r#"{"Logs":7}"#, "must be Trace, Debug"),
            (r#"{"Mode":"x"}"#, "must be None"),
            (r#"{"Logs":{"MinLevel":"Info"},"Persist":true}"#, "Persist"),
            (r#"{"Logs":{"MinLevel":"Info","Filters":[{}]}}"#, "filters"),
            (r#"{"Logs":{"MinLevel":"Info","Path":"/x"}}"#, "'Logs.Path'"),
            (r#"{"MicrosoftLogs":{"MinLevel":"Info"}}"#, "MicrosoftLogs"),
            (r#"{"Mode":"None","RetentionTime":"1"}"#, "RetentionTime"),
        ] {
            let refused = level(body).expect_err(body);
            assert!(refused.contains(part), "{body}: {refused}");
        }
    }
}
