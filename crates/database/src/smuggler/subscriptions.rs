//! Subscriptions in dumps: definition and progress, as RavenDB writes them.
//!
//! The change vector of the progress says which documents were sent. Documents of a dump get etags of their own where they are imported,
//! which that vector does not cover, so that all of them are sent there. In the database that made the dump a subscription goes on
//! where it was.

use documents::Snapshot;
use json::{Raw, Writer};

use super::indexes::DefinitionRefused;
use crate::subscriptions::{ArchivedDocuments, Subscription, SubscriptionProgress, SubscriptionRequest};
use crate::{Database, Error, Result};

/// The element of a dump for a subscription.
pub(super) fn write(out: &mut Vec<u8>, subscription: &Subscription, progress: &SubscriptionProgress) {
    Writer::new(out).object(|json| {
        json.name("Query").string(&subscription.query);
        json.name("ChangeVectorForNextBatchStartingPoint").optional_string(progress.change_vector.as_deref());
        json.name("SubscriptionId").unsigned(subscription.id).name("SubscriptionName").string(&subscription.name);
        json.name("MentorNode").optional_string(subscription.mentor_node.as_deref());
        json.name("PinToMentorNode").bool(subscription.pins_mentor_node).name("NodeTag").null();
        for (name, date) in
            [("LastBatchAckTime", progress.acknowledged), ("LastClientConnectionTime", progress.connected)]
        {
            json.name(name).optional_string(date.map(|date| date.to_string()).as_deref());
        }
        json.name("Disabled").bool(subscription.is_disabled);
        json.name("ArchivedDataProcessingBehavior").string(subscription.archived.wire_name());
        json.name("RaftCommandIndex").unsigned(subscription.id);
    });
}

/// Appends all definitions, without progress.
pub(super) fn write_all(out: &mut Vec<u8>, snapshot: &Snapshot<'_>) -> Result<()> {
    for subscription in Subscription::all(snapshot)? {
        write(out, &subscription, &SubscriptionProgress::default());
    }
    Ok(())
}

/// Makes the subscription of an element, or changes the one of its name, which keeps its progress. Gives its name, for messages.
pub(super) fn put(database: &Database, element: Raw<'_>) -> (String, std::result::Result<(), DefinitionRefused>) {
    let name = element.get("SubscriptionName").and_then(Raw::as_str).unwrap_or_default();
    let shown = name.chars().take(200).collect();
    (shown, read(element).map_err(DefinitionRefused::Definition).and_then(|request| store(database, request)))
}

fn store(database: &Database, request: SubscriptionRequest) -> std::result::Result<(), DefinitionRefused> {
    let is_there = match &request.name {
        Some(name) => database.subscription(name).map_err(DefinitionRefused::Failed)?.is_some(),
        None => false,
    };
    let stored = match is_there {
        true => database.update_subscription(None, SubscriptionRequest { change_vector: None, ..request }),
        false => database.create_subscription(request),
    };
    match stored {
        Ok(_) => Ok(()),
        Err(error @ (Error::BadSubscription { .. } | Error::Query(_) | Error::SubscriptionExists { .. })) => {
            Err(DefinitionRefused::Definition(error.to_string()))
        }
        Err(error) => Err(DefinitionRefused::Failed(error)),
    }
}

/// What an element asks for; `Err` says what is wrong with it.
fn read(element: Raw<'_>) -> std::result::Result<SubscriptionRequest, String> {
    let text = |name: &str| element.get(name).and_then(Raw::as_str).map(|text| text.into_owned());
    let flag = |name: &str| element.get(name).and_then(Raw::as_bool);
    let needed = |name: &str| {
        text(name).filter(|text| !text.is_empty()).ok_or_else(|| format!("the subscription has no text '{name}'"))
    };
    let archived = text("ArchivedDataProcessingBehavior").map(|given| {
        ArchivedDocuments::from_wire(&given)
            .ok_or_else(|| "its 'ArchivedDataProcessingBehavior' is none that is known".to_owned())
    });
    Ok(SubscriptionRequest {
        name: Some(needed("SubscriptionName")?),
        query: Some(needed("Query")?),
        change_vector: text("ChangeVectorForNextBatchStartingPoint"),
        is_disabled: flag("Disabled"),
        mentor_node: text("MentorNode"),
        pins_mentor_node: flag("PinToMentorNode").unwrap_or_default(),
        archived: archived.transpose()?,
    })
}
