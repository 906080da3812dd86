//! Tools about single documents: reading one; putting, patching and deleting one, if the setting allows it.

use hyper::Method;
use hyper::header::{HeaderName, HeaderValue, IF_MATCH};
use json::Writer;

use super::arguments::Arguments;
use super::inner::{Answered, Caller, Target};
use super::outcome::{Outcome, Output, ToolError};
use super::queries::bounded;
use super::rows::write_members;

fn target(arguments: &Arguments) -> Result<Target, ToolError> {
    Ok(Target::of_database(arguments.text("database"), "/docs")?.with("id", arguments.text("id")))
}

fn absent(arguments: &Arguments) -> String {
    format!("The database '{}' has no document '{}'", arguments.text("database"), arguments.text("id"))
}

pub(super) async fn get(caller: Caller, arguments: Arguments) -> Outcome {
    let answered = caller.get(target(&arguments)?).await?.success(|| absent(&arguments))?;
    let found = answered.json().get("Results").and_then(|results| results.elements().next());
    let found = found.filter(|document| !document.is_null()).ok_or_else(|| ToolError::new(absent(&arguments)))?;
    Ok(bounded(Output { text: String::from_utf8_lossy(found.bytes()).into_owned(), notes: Vec::new() }))
}

/// The header by which a write is done only if the document is what the caller has seen.
fn condition(arguments: &Arguments) -> Result<Option<(HeaderName, HeaderValue)>, ToolError> {
    let value = arguments.optional_text("change_vector").map(HeaderValue::from_str).transpose();
    let value = value.map_err(|_| ToolError::new("'change_vector' is none that a document can have".to_owned()))?;
    Ok(value.map(|value| (IF_MATCH, value)))
}

async fn write(caller: &Caller, method: Method, arguments: &Arguments, body: Vec<u8>) -> Result<Answered, ToolError> {
    let answered = caller.send(method, target(arguments)?, condition(arguments)?, body).await?;
    answered.success(|| absent(arguments))
}

pub(super) async fn put(caller: Caller, arguments: Arguments) -> Outcome {
    let document = arguments.json("document").unwrap_or_default();
    let answered = write(&caller, Method::PUT, &arguments, document.into_bytes()).await?;
    let stored = [("Id", "id"), ("ChangeVector", "change_vector")];
    Ok(Output::object(|json| write_members(json, answered.json(), &stored)))
}

pub(super) async fn patch(caller: Caller, arguments: Arguments) -> Outcome {
    let mut body = Vec::new();
    Writer::new(&mut body).object(|json| {
        json.name("Patch").object(|json| {
            json.name("Script").string(arguments.text("script"));
            if let Some(values) = arguments.json("arguments") {
                json.name("Values").raw(values.as_bytes());
            }
        });
    });
    let answered = write(&caller, Method::PATCH, &arguments, body).await?;
    let patched = [("Status", "status"), ("ChangeVector", "change_vector"), ("ModifiedDocument", "document")];
    Ok(bounded(Output::object(|json| write_members(json, answered.json(), &patched))))
}

pub(super) async fn delete(caller: Caller, arguments: Arguments) -> Outcome {
    write(&caller, Method::DELETE, &arguments, Vec::new()).await?;
    // Deleting what is not there succeeds too.
    Ok(Output::object(|json| {
        json.name("deleted").string(arguments.text("id"));
    }))
}
