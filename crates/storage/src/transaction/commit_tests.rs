//! What the queue leaves in the environment's own state.

use crate::io::aio::AsyncWrites;
use crate::io::simulated::SimulatedIo;
use crate::{Environment, Job, Options, Result, TransactionId, Tree, WriteTransaction};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// A value that goes straight to the data file, before the record.
struct Large(Tree, Sender<bool>);

impl Job for Large {
    fn short_size(&self) -> Option<usize> {
        Some(0)
    }
    fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
        self.0.put(tx, b"large", &vec![7; 1 << 20]).is_ok()
    }
    fn done(self: Box<Self>, outcome: Result<TransactionId>) {
        self.1.send(outcome.is_ok()).unwrap();
    }
}

#[test]
fn a_thread_of_the_pool_that_writes_a_record_gives_its_buffer_back() {
    let writes = Arc::new(AsyncWrites::new().unwrap());
    let (io, async_writes) = (Arc::new(SimulatedIo::new()), Some(writes.clone()));
    let options = Options { io, async_writes, background: false, ..Options::default() };
    let environment = Environment::open("/x", options).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    while environment.inner.take_buffer().capacity() > 0 {}
    let (answered, answers) = channel();
    environment.submit(Box::new(Large(tree, answered))).expect("no thread leads").begin(&writes);
    assert_eq!(answers.recv_timeout(testing::wait::LONG), Ok(true), "without a call of `reap`");
    assert!(environment.inner.take_buffer().capacity() > 0);
}
