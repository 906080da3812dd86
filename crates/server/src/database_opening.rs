//! Single-flight opening of databases off the network threads: recovery reads the journal, and may wait until the folder is released.
//!
//! A request for an open database gets it without waiting. Otherwise one task opens the database on the pool, and all requests for it
//! wait for that task without holding a thread.

use std::collections::HashMap;
use std::sync::Arc;

use database::Database;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::node::Node;

/// The outcome of an opening; `None` while it runs.
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

/// Joins the running opening, or starts one.
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
