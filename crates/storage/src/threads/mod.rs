//! Threads of the engine: background work, what one environment has of it, and how the system schedules those that wait.

pub(crate) mod background;
pub(crate) mod scheduling;
pub(crate) mod tasks;
