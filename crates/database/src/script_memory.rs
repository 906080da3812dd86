//! Lets scripts reserve memory in the account of their caller: `script` knows of no account, `storage` of no script.

use std::rc::Rc;
use std::sync::Arc;

use storage::memory::{Memory, MemoryReservation};

struct EngineReservation(MemoryReservation);

impl script::Reservation for EngineReservation {
    fn grow(&mut self, size: usize) -> Result<(), script::Error> {
        self.0.grow(size).map_err(|error| match error {
            storage::Error::OverMemory { limit, max_mb, .. } => script::Error::OverMemory { limit, max_mb },
            error => script::Error::Host(error.to_string()),
        })
    }
}

/// Does `work`, in which scripts reserve what they need beyond a small size in `memory` ([`script::reserving`]).
pub fn with_script_memory<R>(memory: &Arc<Memory>, work: impl FnOnce() -> R) -> R {
    let memory = memory.clone();
    script::reserving(Rc::new(move || Box::new(EngineReservation(memory.reservation()))), work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use script::{Body, Limits, NoHost, Program, Run};

    #[test]
    fn a_script_reserves_its_memory_in_the_account_and_returns_it() {
        let memory = Memory::new("Limits.Test", 16 << 20);
        let run = |text: &str| {
            let limits = Limits { memory: 64 << 20, ..Limits::default() };
            let program = Program::new("", &[], Body::Statements(text), limits).unwrap();
            with_script_memory(&memory, || program.run(&Run::default(), &mut NoHost).map(|outcome| outcome.json))
        };
        assert_eq!(run("return 'x'.repeat(8e6).length").unwrap(), b"8000000");
        let refused = run("return 'x'.repeat(2e7).length").unwrap_err();
        assert_eq!(refused, script::Error::OverMemory { limit: "Limits.Test", max_mb: 16 });
        assert_eq!(memory.held(), 0);
        let others = memory.reservation_of(12 << 20);
        assert!(matches!(run("return 'x'.repeat(8e6).length"), Err(script::Error::OverMemory { .. })));
        drop(others);
        assert_eq!(run("return 'x'.repeat(8e6).length").unwrap(), b"8000000");
    }
}
