//! `/databases/{name}/attachments`: files that belong to documents.
//!
//! | call | parameters | answers |
//! | --- | --- | --- |
//! | GET | `id`, `name`; `Range`, `If-Range`, `If-None-Match` | 200 or 206 with the content, 304, 404, 416 |
//! | POST | `id`, `name`; `{Type, ChangeVector}`; the headers of GET | as GET: of a document, or of a revision |
//! | HEAD | the same | the same, without the content |
//! | PUT | `id`, `name`, `contentType`; `If-Match`; the content | 201 `{ChangeVector, Name, DocumentId, ContentType, Hash, Size}`, 409 |
//! | DELETE | `id`, `name`; `If-Match` | 204, also if there is none; 409 |
//! | POST `/attachments/bulk` | `{AttachmentType, Attachments:[{DocumentId, Name, ChangeVector}]}` | `{AttachmentsMetadata:[…]}…` |
//! | DELETE `/attachments/bulk` | `{Attachments:[{DocumentId, Name}]}` | 204 |
//! | GET `/debug/attachments/hash` | `hash` | `{Hash, Count}`: how many attachments have the content |
//! | GET `/debug/attachments/metadata` | `id` | `{Id, Attachments:[{Name, Hash, ContentType, Size, Count}]}` |

mod bulk;
mod ranges;
mod receive;
mod send;

pub(crate) use bulk::{delete_many, get_many};
use database::documents::{
    self, AttachmentAction, AttachmentCommand, Batch, CommandResult, ContentHash, Expected, NewContent,
};
use hyper::StatusCode;
pub(super) use receive::{ContentReceiver, submit_with};
pub(crate) use send::{get, get_by_type, head};

use super::submit::submit;
use crate::error::{Error, Result};
use crate::messages::body::{BodyStream, RequestBody};
use crate::messages::reply::{self, Reply};
use crate::network::connection::BodyPace;
use crate::routing::exchange::Exchange;

pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let (id, name) = (exchange.required("id")?.into_owned(), exchange.required("name")?.into_owned());
    let content_type = exchange.query().get("contentType").unwrap_or_default().into_owned();
    let expected = Expected::from_wire(exchange.if_match().as_deref());
    // What is refused is refused before the content arrives.
    AttachmentCommand::put(&id, &name, &content_type, NewContent::inline(&[][..]))?;
    if exchange.database().read().get(&id)?.is_none() {
        return Err(documents::Error::NoDocumentForAttachment { document_id: id, name }.into());
    }
    let body = std::mem::replace(&mut exchange.body, RequestBody::empty());
    let mut stream = BodyStream::new(body, &exchange.headers, &exchange.node.limits, BodyPace::Rate, usize::MAX)?;
    let mut receiver = ContentReceiver::new(&exchange);
    while let Some(part) = stream.next().await? {
        receiver.add(&part).await?;
    }
    drop(stream);
    let (content, upload) = receiver.finish(&mut Default::default()).await?;
    let mut batch = Batch::new();
    batch.push_attachment(AttachmentCommand::put(&id, &name, &content_type, content)?, expected);
    let outcome = submit_with(&exchange, batch, upload.into_iter().collect()).await?;
    let Some(CommandResult::AttachmentPut { details, .. }) = outcome.results.first() else {
        return Err(Error::Panicked("a PUT of an attachment had no result".to_owned()));
    };
    Ok(reply::object(StatusCode::CREATED, |json| {
        json.name("ChangeVector").string(&details.change_vector).name("Name").string(&details.name);
        json.name("DocumentId").string(&details.document_id).name("ContentType").string(&details.content_type);
        json.name("Hash").string(&details.hash.to_string()).name("Size").unsigned(details.size);
    }))
}

pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let mut batch = Batch::new();
    let (id, name) = (exchange.required("id")?, exchange.required("name")?);
    let command = AttachmentCommand::new(&id, &name, AttachmentAction::Delete)?;
    batch.push_attachment(command, Expected::from_wire(exchange.if_match().as_deref()));
    submit(&exchange.node, exchange.database(), batch).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

pub(crate) fn count_of_hash(exchange: &Exchange) -> Result<Reply> {
    let text = exchange.required("hash")?;
    let count = match ContentHash::parse(&text) {
        Some(hash) => exchange.database().read().content_references(hash)?,
        None => 0,
    };
    Ok(reply::object(StatusCode::OK, |json| _ = json.name("Hash").string(&text).name("Count").unsigned(count)))
}

pub(crate) fn metadata(exchange: &Exchange) -> Result<Reply> {
    let id = exchange.required("id")?;
    let snapshot = exchange.database().read();
    let mut attachments = Vec::new();
    for attachment in snapshot.attachments(&id)? {
        attachments.push((attachment, snapshot.content_references(attachment.hash())?));
    }
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Id").string(&id).name("Attachments").array(|json| {
            for (attachment, count) in &attachments {
                json.object(|json| {
                    attachment.write_properties(json);
                    json.name("Count").unsigned(*count);
                });
            }
        });
    }))
}
