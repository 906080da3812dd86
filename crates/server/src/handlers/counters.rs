//! `/databases/{name}/counters`: counters of documents.
//!
//! GET: `docId`, `counter`* (none: all), `full` (the value of each node). POST: `{"ReplyWithAllNodesValues","Documents":[{"DocumentId",
//! "Operations":[{"Type","CounterName","Delta"}]}]}`, one transaction. Both answer 200 `{"Counters":[…]}`, with an element for each counter
//! that was read or raised, and null for one that is not there. Raising or deleting a counter of a document that does not exist is an
//! error, as is a sum beyond 64 bits.

use bytes::Bytes;
use database::documents::{
    Batch, CommandResult, CounterAction, CounterCommand, CounterDetail, CounterOperation, Feature,
};
use hyper::StatusCode;
use json::{Kind, Minifier, Raw, Writer};

use super::submit::submit;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::answers::{self, AnswerWriter, Out};
use crate::messages::query_string::decode;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    let document_id = exchange.required("docId")?.into_owned();
    let has_values = exchange.query().is_true("full")?;
    let mut operations: Vec<CounterOperation> = Vec::new();
    for (key, value) in exchange.query().pairs() {
        if key.eq_ignore_ascii_case("counter") {
            operations.push(CounterOperation { name: decode(value).into_owned(), action: CounterAction::Get });
        }
    }
    if operations.is_empty() {
        operations.push(CounterOperation { name: String::new(), action: CounterAction::GetAll });
    }
    let command = CounterCommand::new(&document_id, operations, has_values)?;
    answers::produce(exchange, Pool::Reads, move |exchange, out| read(exchange, &[command], out)).await
}

pub(crate) async fn post(mut exchange: Exchange) -> Result<Reply> {
    let commands = exchange.parse_body(commands_of).await?;
    if commands.iter().all(CounterCommand::is_read_only) {
        return answers::produce(exchange, Pool::Reads, move |exchange, out| read(exchange, &commands, out)).await;
    }
    let mut batch = Batch::new();
    commands.into_iter().for_each(|command| batch.push_counters(command));
    let outcome = submit(&exchange.node, exchange.database(), batch).await?;
    let details = outcome.results.iter().flat_map(|result| match result {
        CommandResult::Counters { counters, .. } => counters.as_slice(),
        _ => &[],
    });
    let mut body = Vec::new();
    CounterDetail::write_all(details.map(Option::as_ref), &mut Writer::new(&mut body));
    Ok(reply::json(StatusCode::OK, body))
}

/// The commands in the body of a POST, one for each document.
fn commands_of(body: &[u8]) -> Result<Vec<CounterCommand>> {
    let mut minifier = Minifier::new();
    let object = minifier.minify(if body.trim_ascii().is_empty() { b"{}" } else { body })?;
    if object.kind() != Kind::Object {
        return Err(Error::Argument("The body must be an object with an array 'Documents'".to_owned()));
    }
    let is_true = |name: &str| object.get(name).and_then(Raw::as_bool) == Some(true);
    if is_true("FromEtl") {
        return Err(Feature::Etl.missing_for("'FromEtl'").into());
    }
    match object.get("Documents").filter(|documents| !documents.is_null()) {
        None => Ok(Vec::new()),
        Some(documents) if documents.kind() == Kind::Array => {
            let has_values = is_true("ReplyWithAllNodesValues");
            documents.elements().map(|document| Ok(CounterCommand::of(document, has_values)?)).collect()
        }
        Some(_) => Err(Error::Argument("'Documents' must be an array".to_owned())),
    }
}

/// Answers commands that change nothing, from one snapshot.
fn read(exchange: &Exchange, commands: &[CounterCommand], out: &mut AnswerWriter) -> Result<Option<Reply>> {
    let snapshot = exchange.database().read();
    out.begin(reply::ok(Bytes::new()), &snapshot)?;
    out.buffer().extend_from_slice(b"{\"Counters\":[");
    let mut is_first = true;
    for command in commands {
        for detail in snapshot.read_counters(command)? {
            if !std::mem::take(&mut is_first) {
                out.buffer().push(b',');
            }
            match detail {
                Some(detail) => detail.write(&mut Writer::new(out.buffer())),
                None => out.buffer().extend_from_slice(b"null"),
            }
            out.part_done()?;
        }
    }
    out.buffer().extend_from_slice(b"]}");
    Ok(None)
}
