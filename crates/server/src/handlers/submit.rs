//! Writing a batch on behalf of a request, without holding a thread while it waits for the device.

use std::sync::Arc;

use database::documents::{Batch, Outcome};
use database::{Database, PatchAttempts};

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::node::Node;

/// Writes a batch and returns once it is durable. If the batch has patches their scripts run first, on the pool of reads, and again while
/// another write changes what they read.
pub(crate) async fn submit(node: &Node, database: &Arc<Database>, batch: Batch) -> Result<Outcome> {
    let write = async |batch| node.bridge.answer(|done| database.submit(batch, done.into_call_back())).await;
    if !batch.has_patches() {
        return write(batch).await;
    }
    let batch = Arc::new(batch);
    let mut attempts = PatchAttempts::default();
    loop {
        let (batch, resolving, memory) = (batch.clone(), database.clone(), node.memory_of_request());
        let resolved = node.bridge.run(Pool::Reads, move || Ok(resolving.resolve(&batch, &memory)?)).await?;
        match write(resolved).await {
            Err(Error::Database(error)) if attempts.goes_on_after(&error) => {}
            outcome => return outcome,
        }
    }
}
