//! Several attachments at once: reading and deleting.

use bytes::Bytes;
use database::documents::{AttachmentAction, AttachmentCommand, Batch, Expected};
use hyper::StatusCode;
use json::{Kind, Minifier, Raw, Writer};

use super::send::send;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::handlers::submit::submit;
use crate::messages::answers::{self, Out};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// An attachment that a body names.
struct Named {
    document_id: String,
    name: String,
    /// Of the revision that has it; `None`: the document has it.
    revision: Option<String>,
}

pub(crate) async fn get_many(mut exchange: Exchange) -> Result<Reply> {
    let named = exchange.parse_body(|body| named_in(body, true)).await?;
    answers::produce(exchange, Pool::Streams, move |exchange, out| {
        let mut contents = Vec::new();
        {
            let snapshot = exchange.database().read();
            out.begin(reply::ok(Bytes::new()), &snapshot)?;
            out.buffer().extend_from_slice(b"{\"AttachmentsMetadata\":[");
            for Named { document_id, name, revision } in &named {
                let mut text = Vec::new();
                let content = match revision {
                    None => snapshot.attachment(document_id, name)?.map(|attachment| {
                        Writer::new(&mut text).object(|json| {
                            attachment.write_properties(json);
                            json.name("ChangeVector").string(&attachment.item().change_vector());
                            json.name("DocumentId").string(attachment.document_id());
                        });
                        (attachment.hash(), attachment.size())
                    }),
                    Some(vector) => snapshot.revision_attachment(document_id, vector, name)?.map(|attachment| {
                        Writer::new(&mut text).object(|json| {
                            json.name("Name").string(&attachment.name);
                            json.name("Hash").string(&attachment.hash.to_string());
                            json.name("ContentType").string(&attachment.content_type);
                            json.name("Size").unsigned(attachment.size);
                            json.name("ChangeVector").string(vector).name("DocumentId").string(document_id);
                        });
                        (attachment.hash, attachment.size)
                    }),
                };
                // What is not there is left out.
                let Some(content) = content else { continue };
                if !contents.is_empty() {
                    out.buffer().push(b',');
                }
                contents.push(content);
                out.buffer().append(&mut text);
                out.part_done()?;
            }
            out.buffer().extend_from_slice(b"]}");
        }
        for (hash, size) in contents {
            send(exchange.database(), hash, 0..size, out)?;
        }
        Ok(None)
    })
    .await
}

pub(crate) async fn delete_many(mut exchange: Exchange) -> Result<Reply> {
    let named = exchange.parse_body(|body| named_in(body, false)).await?;
    let mut batch = Batch::new();
    for Named { document_id, name, .. } in named {
        batch.push_attachment(AttachmentCommand::new(&document_id, &name, AttachmentAction::Delete)?, Expected::Any);
    }
    if !batch.is_empty() {
        submit(&exchange.node, exchange.database(), batch).await?;
    }
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// The attachments that a body names.
///
/// * `has_type`: whether `AttachmentType` must be there.
fn named_in(body: &[u8], has_type: bool) -> Result<Vec<Named>> {
    let mut minifier = Minifier::new();
    let object = minifier.minify(if body.trim_ascii().is_empty() { b"{}" } else { body })?;
    let of_type = object.get("AttachmentType").and_then(Raw::as_str);
    let is_of_revisions = match of_type.as_deref() {
        None if has_type => {
            return Err(Error::Argument("The 'AttachmentType' field in the body request is mandatory".to_owned()));
        }
        None | Some("Document") => false,
        Some("Revision") if has_type => true,
        Some("Revision") => {
            let rule = "Attachments of revisions cannot be deleted: delete the revisions, DELETE /databases/{name}/admin/revisions";
            return Err(Error::Argument(rule.to_owned()));
        }
        Some(_) => return Err(Error::Argument("'AttachmentType' must be 'Document' or 'Revision'".to_owned())),
    };
    let attachments = object.get("Attachments").filter(|attachments| attachments.kind() == Kind::Array);
    let attachments =
        attachments.ok_or_else(|| Error::Argument("The body must have an array 'Attachments'".to_owned()))?;
    let text = |element: Raw<'_>, name: &str| {
        let text = element.get(name).and_then(Raw::as_str).filter(|text| !text.is_empty());
        let missing = || Error::Argument(format!("An element of 'Attachments' must have a text '{name}'"));
        Ok::<_, Error>(text.ok_or_else(missing)?.into_owned())
    };
    let named = |element| {
        let revision = is_of_revisions.then(|| text(element, "ChangeVector")).transpose()?;
        Ok(Named { document_id: text(element, "DocumentId")?, name: text(element, "Name")?, revision })
    };
    attachments.elements().map(named).collect()
}
