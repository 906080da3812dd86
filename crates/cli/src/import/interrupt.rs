//! Ctrl-C in an import: the first ends it in order, the second ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

/// The exit code of a program that SIGINT ended.
pub(super) const INTERRUPTED: u8 = 130;

/// Whether SIGINT has come.
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From its return on, SIGINT no longer ends the process at once.
    pub fn listen() -> anyhow::Result<Interrupt> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("starting to listen for signals")?;
        let mut interrupts =
            runtime.block_on(async { signal(SignalKind::interrupt()) }).context("listening for SIGINT")?;
        let has_come = Arc::new(AtomicBool::new(false));
        let seen = has_come.clone();
        let wait = move || {
            runtime.block_on(interrupts.recv());
            seen.store(true, Relaxed);
            runtime.block_on(interrupts.recv());
            std::process::exit(i32::from(INTERRUPTED));
        };
        std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).context("listening for SIGINT")?;
        Ok(Interrupt(has_come))
    }

    pub fn has_come(&self) -> bool {
        self.0.load(Relaxed)
    }
}
