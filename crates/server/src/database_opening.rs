//! Opening databases off the network threads: recovery reads the journal, and may wait for who still holds the folder.
//!
//! A request for a database that is open takes it without waiting. For one that is not, a task opens it on the pool, and all
//! requests for it wait for the outcome of that one task; none of them holds a thread.

use std::collections::HashMap;
use std::sync::Arc;

use database::Database;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::node::Node;

/// What an opening came to; None while it goes on.
type Outcome = Option<database::Result<Arc<Database>>>;

/// The databases that are being opened, by their lower-cased names.
#[derive(Debug, Default)]
pub(crate) struct Openings {
    running: Mutex<HashMap<String, watch::Receiver<Outcome>>>,
}

/// Finds a database by its name, and opens it if it is not open.
pub(crate) async fn find(node: &Arc<Node>, name: &str) -> Result<Arc<Database>> {
    if let Some(database) = node.databases.find_open(name)? {
        return Ok(database);
    }
    let mut opened = join(node, name);
    match opened.wait_for(Option::is_some).await.map(|outcome| outcome.clone()) {
        Ok(Some(outcome)) => Ok(outcome?),
        // The pool refused, or the opening panicked; the task has said so.
        Ok(None) | Err(_) => Err(Error::NotOpened),
    }
}

/// Takes part in the opening that runs, or begins one.
fn join(node: &Arc<Node>, name: &str) -> watch::Receiver<Outcome> {
    let key = name.to_ascii_lowercase();
    let mut running = node.openings.running.lock();
    if let Some(opened) = running.get(&key) {
        return opened.clone();
    }
    let (sender, opened) = watch::channel(None);
    running.insert(key.clone(), opened.clone());
    tokio::spawn(open(node.clone(), key, name.to_owned(), sender));
    opened
}

async fn open(node: Arc<Node>, key: String, name: String, sender: watch::Sender<Outcome>) {
    let outcome = {
        let (databases, name) = (node.databases.clone(), name.clone());
        node.bridge.run(Pool::Short, move || Ok(databases.find(&name))).await
    };
    // Who comes now finds it open, or tries again.
    node.openings.running.lock().remove(&key);
    match outcome {
        Ok(outcome) => drop(sender.send(Some(outcome))),
        Err(error) => tracing::warn!(database = name, %error, "a database could not be opened"),
    }
}
