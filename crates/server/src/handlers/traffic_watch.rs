//! `/admin/traffic-watch/configuration`: which requests the traffic watch tells of. There is no traffic watch yet; the configuration is
//! checked, kept until the server ends, and given back, so that tools that set it up before they watch do not fail.

use database::documents::Feature;
use hyper::StatusCode;
use json::{Value, Writer};

use super::databases::strings;
use crate::error::{Error, Result};
use crate::limits::TRAFFIC_WATCH_SIZE_MAX;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// The configuration before it was ever set.
const DEFAULT: &str = r#"{"TrafficWatchMode":"Off","Databases":null,"StatusCodes":null,"MinimumResponseSizeInBytes":0,"MinimumRequestSizeInBytes":0,"MinimumDurationInMs":0,"HttpMethods":null,"ChangeTypes":null,"CertificateThumbprints":null}"#;

const MODES: [&str; 3] = ["None", "Off", "ToLogFile"];

const CHANGE_TYPES: [&str; 14] = [
    "None",
    "Queries",
    "Operations",
    "MultiGet",
    "BulkDocs",
    "Index",
    "Counters",
    "Hilo",
    "Subscriptions",
    "Streams",
    "Documents",
    "TimeSeries",
    "Notifications",
    "ClusterCommands",
];

/// GET
pub(crate) fn get(exchange: &Exchange) -> Result<Reply> {
    let text = exchange.node.traffic_watch.lock().clone();
    Ok(reply::ok(text.unwrap_or_else(|| DEFAULT.into())))
}

/// POST: all properties may be absent. 204.
pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let text = written(&exchange.read_whole_object().await?)?;
    if text.len() > TRAFFIC_WATCH_SIZE_MAX {
        return Err(Error::Argument(format!(
            "The configuration has {} bytes, over the limit TRAFFIC_WATCH_SIZE_MAX ({TRAFFIC_WATCH_SIZE_MAX})",
            text.len()
        )));
    }
    *exchange.node.traffic_watch.lock() = Some(text);
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// The configuration as it is given back.
fn written(body: &Value) -> Result<Vec<u8>> {
    if body.get("Persist").and_then(Value::as_bool) == Some(true) {
        return Err(Feature::TrafficWatch.missing_for("a configuration that outlives the server ('Persist')").into());
    }
    let mode = match body.get("TrafficWatchMode") {
        None | Some(Value::Null) => "None",
        Some(value) => known("TrafficWatchMode", value.as_str().unwrap_or_default(), &MODES)?,
    };
    let change_types = strings(body, "ChangeTypes")?;
    change_types.iter().try_for_each(|name| known("ChangeTypes", name, &CHANGE_TYPES).map(drop))?;
    let (databases, methods) = (strings(body, "Databases")?, strings(body, "HttpMethods")?);
    let (status_codes, thumbprints) = (numbers(body, "StatusCodes")?, strings(body, "CertificateThumbprints")?);
    let minimum = |name: &'static str| number(name, body.get(name)).map(|number| (name, number));
    let minima = [
        minimum("MinimumResponseSizeInBytes")?,
        minimum("MinimumRequestSizeInBytes")?,
        minimum("MinimumDurationInMs")?,
    ];
    let mut text = Vec::new();
    Writer::new(&mut text).object(|json| {
        json.name("TrafficWatchMode").string(mode);
        write_strings(json, "Databases", &databases);
        status_codes.write(json.name("StatusCodes"));
        minima.iter().for_each(|(name, minimum)| _ = json.name(name).signed(*minimum));
        write_strings(json, "HttpMethods", &methods);
        write_strings(json, "ChangeTypes", &change_types);
        write_strings(json, "CertificateThumbprints", &thumbprints);
    });
    Ok(text)
}

/// One of the names that a property may have.
fn known<'a>(property: &str, name: &'a str, names: &[&str]) -> Result<&'a str> {
    match names.contains(&name) {
        true => Ok(name),
        false => Err(Error::Argument(format!("'{property}' cannot be '{name}', only one of: {}", names.join(", ")))),
    }
}

fn number(name: &str, value: Option<&Value>) -> Result<i64> {
    match value {
        None | Some(Value::Null) => Ok(0),
        Some(value) => value.as_i64().ok_or_else(|| Error::Argument(format!("'{name}' must be a whole number"))),
    }
}

/// The numbers of an array, which may be absent.
fn numbers(body: &Value, name: &str) -> Result<Value> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(Value::Array(Vec::new())),
        Some(value @ Value::Array(elements)) if elements.iter().all(|element| element.as_i64().is_some()) => {
            Ok(value.clone())
        }
        Some(_) => Err(Error::Argument(format!("'{name}' must be an array of whole numbers"))),
    }
}

fn write_strings(json: &mut Writer<'_>, name: &str, strings: &[String]) {
    json.name(name).array(|json| strings.iter().for_each(|string| _ = json.string(string)));
}
