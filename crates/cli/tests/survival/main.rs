//! The real program as a process, and what befalls processes: kills, power cuts, full disks, damaged files, hostile clients.
//!
//! Whatever happens, what was acknowledged is there, what was refused is not, and what was not answered is there whole or
//! not at all. `cargo test` makes a few rounds of each; `SLOW=1 cargo test --release -p rookery-cli --test survival` the
//! nightly number, `ROUNDS=n` any other. A run prints its seed, and `SEED=n` makes it again, as far as threads and the
//! moment of a kill can be repeated.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod abuse;
mod attachments;
mod backups;
mod client;
mod consumers;
mod creator;
mod damage;
mod full_backups;
mod full_disk;
mod history;
mod kill;
mod ledger;
mod limits;
mod memory;
mod mounts;
mod mutator;
mod neighbour;
mod power_cut;
mod process;
mod registers;
mod revisions;
mod run;
mod vitals;
mod world;
mod writer;
