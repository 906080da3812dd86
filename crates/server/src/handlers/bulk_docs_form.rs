//! Batches with contents of attachments: a form whose first part is the JSON of the commands, and then a part for each `AttachmentPUT`, in
//! the order of the commands. Parts are known by their place, for each client names them otherwise.

use bytes::{Bytes, BytesMut};
use database::documents::{BulkDocs, NewContent};
use database::{ContentUpload, InlineRoom};

use super::attachments::ContentReceiver;
use crate::error::{Error, Result};
use crate::limits::BATCH_PARTS_MAX;
use crate::memory::MemoryReservation;
use crate::messages::body::{BodyStream, RequestBody};
use crate::messages::decoding::{self, Decoder};
use crate::messages::form::{Form, FormEvent};
use crate::network::connection::BodyPace;
use crate::routing::exchange::Exchange;

/// The JSON of the commands, while it arrives.
struct Commands {
    text: BytesMut,
    decoder: Option<Decoder>,
    reservation: MemoryReservation,
    size_max: usize,
}

impl Commands {
    fn add(&mut self, mut content: Bytes) -> Result<()> {
        while !content.is_empty() {
            let part = match &mut self.decoder {
                Some(decoder) => decoder.part(&mut content)?,
                None => std::mem::take(&mut content),
            };
            self.take(&part)?;
        }
        Ok(())
    }

    fn take(&mut self, part: &[u8]) -> Result<()> {
        let size = self.text.len() + part.len();
        if size > self.size_max {
            return Err(decoding::too_large(self.size_max));
        }
        self.reservation.grow(2 * size)?;
        self.text.extend_from_slice(part);
        Ok(())
    }

    fn finish(mut self) -> Result<Bytes> {
        let rest = self.decoder.as_mut().map_or(Ok(Bytes::new()), Decoder::finish)?;
        self.take(&rest)?;
        Ok(self.text.freeze())
    }
}

/// Where in the form the reader is.
enum Stage {
    BeforeCommands,
    InCommands(Commands),
    Between,
    InContent(Box<ContentReceiver>),
}

/// Reads the form; gives the batch with its contents, and the uploads that it links.
pub(super) async fn read(exchange: &mut Exchange, has_guards: bool) -> Result<(BulkDocs, Vec<ContentUpload>)> {
    let mut form = Form::of_batch(&exchange.headers, BATCH_PARTS_MAX)?;
    let body = std::mem::replace(&mut exchange.body, RequestBody::empty());
    let mut stream = BodyStream::new(body, &exchange.headers, &exchange.node.limits, BodyPace::Rate, usize::MAX)?;
    let (mut stage, mut commands) = (Stage::BeforeCommands, None);
    let (mut contents, mut uploads, mut room) = (Vec::<NewContent>::new(), Vec::new(), InlineRoom::default());
    loop {
        stage = match (stage, form.next()?) {
            (stage, FormEvent::More) => {
                let missing = || Error::BodyCutOff("the form is not closed".to_owned());
                form.push(&stream.next().await?.ok_or_else(missing)?);
                stage
            }
            (_, FormEvent::End) => break,
            (Stage::BeforeCommands, FormEvent::Part(_)) => {
                let limits = &exchange.node.limits;
                let size_max = limits.request_body_size;
                let decoder = match form.part_encoding() {
                    Some(encoding) => Decoder::named(encoding.as_bytes(), limits, size_max)?,
                    None => None,
                };
                let reservation = exchange.node.bodies.reservation();
                Stage::InCommands(Commands { text: BytesMut::new(), decoder, reservation, size_max })
            }
            (Stage::InCommands(mut text), FormEvent::Content(content)) => {
                text.add(content)?;
                Stage::InCommands(text)
            }
            (Stage::InCommands(text), FormEvent::PartEnd) => {
                let text = text.finish()?;
                let size = text.len();
                let parse = move || Ok(BulkDocs::parse(&text, has_guards)?);
                commands = Some(exchange.node.bridge.run_sized(size, parse).await?);
                Stage::Between
            }
            (Stage::Between, FormEvent::Part(_)) => Stage::InContent(Box::new(ContentReceiver::new(exchange))),
            (Stage::InContent(mut receiver), FormEvent::Content(content)) => {
                receiver.add(&content).await?;
                Stage::InContent(receiver)
            }
            (Stage::InContent(receiver), FormEvent::PartEnd) => {
                let (content, upload) = receiver.finish(&mut room).await?;
                contents.push(content);
                uploads.extend(upload);
                Stage::Between
            }
            // Parts follow each other.
            (stage, FormEvent::Part(_) | FormEvent::Content(_) | FormEvent::PartEnd) => stage,
        };
    }
    let mut commands =
        commands.ok_or_else(|| Error::BadRequest("The form has no part with the commands of the batch".to_owned()))?;
    match &mut commands {
        BulkDocs::Batch(batch) => batch.give_contents(contents)?,
        BulkDocs::ClusterWide(_) if contents.is_empty() => {}
        BulkDocs::ClusterWide(_) => {
            let rule = "A cluster-wide transaction has no attachments: send them in a batch of their own";
            return Err(Error::BadRequest(rule.to_owned()));
        }
    }
    Ok((commands, uploads))
}
